"""Tensors of the inertia metric: time a state, beside the time of merely writing the numbers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

import torsor
from measure import best
from robots import path_of, torsor_robot
from torsor._lazy import load_everything
from torsor.functions import batched_arrays as array_form
from torsor.functions.dispatch import PUBLIC, about_of

load_everything()  # the registry of public functions has what was imported

TASKS = (
    "mass_matrix_derivative",
    "christoffel_symbols",
    "christoffel_symbols_derivative",
    "riemann_curvature",
    "ricci_curvature",
    "scalar_curvature",
    "curvature_norm",
)
MOST_BYTES = 64_000_000


def tree20() -> torsor.Robot:
    """A trunk of two joints that carries three arms of six: 20 degrees of freedom, eight joints deep."""
    rng = np.random.default_rng(0)
    parents = [-1, 0, *(parent for arm in range(3) for parent in (1, *range(2 + 6 * arm, 7 + 6 * arm)))]
    joints = [
        torsor.Joint(
            name=f"joint_{k}",
            kind="revolute",
            parent="base" if parent < 0 else f"link_{parent}",
            link=f"link_{k}",
            pose=torsor.lie.se3.exp(rng.normal(scale=0.5, size=6)),
            axis=rng.normal(size=3),
            inertia=torsor.Inertia.particles(rng.uniform(0.1, 1.0, 6), rng.normal(scale=0.2, size=(6, 3))),
        )
        for k, parent in enumerate(parents)
    ]
    return torsor.assemble(joints, name="tree20")


@contextmanager
def by_arrays() -> Iterator[None]:
    """By whole arrays, whatever torsor would choose."""
    chosen = array_form.ENTRIES_MOST
    array_form.ENTRIES_MOST = 0
    try:
        yield
    finally:
        array_form.ENTRIES_MOST = chosen


def measure(rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Microseconds a state: one state, a batch on one thread, the write floor, and the road not taken where it compiles."""
    torsor.set_threads(1)
    robots = {"panda7": torsor_robot("panda7"), "tree20": tree20(), "chain20": torsor.robots.chain(20)}
    table: dict[str, dict[str, dict[str, float]]] = {}
    for name, robot in robots.items():
        print(f"\n{name}: geometry, microseconds a state (one thread, at most 64 MB of results)")
        table[name] = {}
        for task in TASKS:
            table[name][task] = row(robot, task, rounds)
            print(f"  {task:<32}" + "  ".join(f"{what} {t:,.2f}" for what, t in table[name][task].items()))
        if name == "panda7":
            table[name]["christoffel_symbols"] |= peer(rounds)
    return table


def row(robot: torsor.Robot, task: str, rounds: int) -> dict[str, float]:
    function, form = PUBLIC[task], about_of(PUBLIC[task]).arrays
    q = torsor.random_configuration(robot, seed=0)
    start = time.process_time()
    one = function(robot, q)
    cold = time.process_time() - start
    count = int(max(4, min(16384, MOST_BYTES // (8 * np.size(one)))))
    arrays = form.is_better_for(robot)
    count = min(count, 64) if arrays else count  # a slice is the same for every length
    Q = torsor.random_configuration(robot, seed=0, batch=(count,))
    out = function(robot, Q)
    calls = {
        "one": lambda: function(robot, q),
        "batch": lambda: function(robot, Q, out=out),
        "write": lambda: out.fill(0.5),
    }
    times = {what: 1e6 * s for what, s in best(calls, rounds=rounds).items()}
    result = {"one": times["one"], "batch": times["batch"] / count, "write floor": times["write"] / count}
    if not arrays:
        few = Q[: min(64, count - 1)]  # another shape than the call before, which would be repeated
        with by_arrays():
            other = best({"x": lambda: function(robot, few, out=out[: len(few)])}, rounds=min(3, rounds))["x"]
        result["by whole arrays"] = 1e6 * other / len(few)
    result["written out"] = float(not arrays)
    result["first call, s"] = cold
    return result


def peer(rounds: int) -> dict[str, float]:
    """Pinocchio has no Christoffel symbols; its Coriolis matrix at each unit velocity contains them."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    model = pin.buildModelFromUrdf(str(path_of("panda7")))
    data, units = model.createData(), np.eye(model.nv)
    q = pin.neutral(model)

    def symbols() -> np.ndarray:
        return np.stack([pin.computeCoriolisMatrix(model, data, q, unit).T for unit in units])

    found = 1e6 * best({"x": symbols}, rounds=rounds)["x"]
    print(f"  Pinocchio, {model.nv} Coriolis matrices for the symbols of one state: {found:.2f}")
    return {"pinocchio, one": found}
