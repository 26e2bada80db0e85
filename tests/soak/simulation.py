"""Random robots, random plants, random drives and methods: motions that are finite, or an error that says they are not."""

from __future__ import annotations

import argparse
import dataclasses
import warnings

import numpy as np

import torsor
from torsor.simulation import Event, Stops

TIMES = 1000
METHODS = ("rk4", "semi_implicit_euler", "euler", "implicit_midpoint", "variational", "dop853", "dopri5")
KINDS = ("revolute", "prismatic", "helical", "planar", "spherical", "free")


def run(options: argparse.Namespace) -> list[str]:
    failures, diverged = [], 0
    times = options.times or TIMES
    with torsor.backend("numpy"):
        for k in range(times):
            try:
                diverged += not simulated([options.seed, k])
            except Exception as error:
                failures.append(f"seed {[options.seed, k]}: {type(error).__name__}: {error}")
            if k % 100 == 99:
                print(f"{k + 1} motions, {diverged} announced to diverge, {len(failures)} failed", flush=True)
    return failures


def simulated(seed: list[int]) -> bool:
    """Whether a motion drawn at random came to its end; raises AssertionError if it is not what it must be."""
    rng = np.random.default_rng(seed)
    method = str(rng.choice(METHODS))
    adaptive = method in ("dop853", "dopri5")
    robot = plant(rng, strong=1.0 if adaptive else 1e8)
    q, v, _ = torsor.random_state(robot, seed=rng)
    dt = float(rng.choice([1e-3, 1e-2]))
    given = {"duration": 20 * dt, "stops": stops(rng), "within_limits": bool(rng.uniform() < 0.9)}
    if adaptive:
        given |= {"method": method, "rtol": 1e-6, "atol": 1e-8}
    else:
        given |= {"method": method, "dt": dt, "every": int(rng.choice([1, 3]))}
    given |= drive(robot, rng, dt if "dt" in given else None)
    if rng.uniform() < 0.3:
        given["events"] = Event(lambda t, q, v: v[0] - 0.1, action=lambda t, q, v: (q, 0.5 * v))
    if rng.uniform() < 0.3:
        given["wrenches"] = {robot.frames[-1]: rng.normal(size=6)}
    try:
        found = torsor.simulate(robot, q, v, **given)
    except torsor.SimulationDiverged as error:
        check(error.trajectory)
        return False
    check(found)
    assert not found.interrupted and np.isclose(found.time[-1], 20 * dt), "it ended too early"
    if given["within_limits"] and given["stops"].are_hard:
        within(found, q)
    return True


def plant(rng: np.random.Generator, strong: float) -> torsor.Robot:
    """A robot with some friction, which may be ``strong``, and some limits."""
    n = int(rng.integers(1, 5))
    kinds = KINDS if rng.uniform() < 0.5 else KINDS[:2]
    robot = torsor.robots.random_tree(n, seed=int(rng.integers(1 << 30)), kinds=kinds, serial=bool(rng.uniform() < 0.5))
    nv = robot.nv
    robot = robot.with_parameters(
        viscous_friction=rng.choice([0.0, 0.1, min(strong, 1e3), strong], nv),
        coulomb_friction=rng.choice([0.0, 0.1, 2.0, 50.0], nv),
    )
    if rng.uniform() < 0.2:
        robot = robot.with_coulomb_width(0.05)
    limits = robot.structure.limits
    effort = tuple(float(x) for x in rng.choice([np.inf, 1.0, 10.0], nv))
    lower, upper = np.full(robot.nq, -np.inf), np.full(robot.nq, np.inf)
    for c, kind in robot.structure.blocks:
        if kind.nq == 1 and rng.uniform() < 0.6:
            lower[c.q_start], upper[c.q_start] = np.sort(rng.uniform(-1.0, 1.0, 2))
    changed = limits._replace(lower=tuple(lower.tolist()), upper=tuple(upper.tolist()), effort=effort)
    return dataclasses.replace(robot, structure=dataclasses.replace(robot.structure, limits=changed))


def stops(rng: np.random.Generator) -> Stops:
    if rng.uniform() < 0.3:
        return Stops(stiffness=float(10 ** rng.uniform(1, 4)), damping=float(rng.choice([0.0, 1.0, 30.0])))
    return Stops(restitution=float(rng.choice([0.0, 0.3, 0.9, 1.0])))


def drive(robot: torsor.Robot, rng: np.random.Generator, dt: float | None) -> dict[str, object]:
    """Joint forces, or a controller of some kind. ``dt``: None for adaptive steps."""
    tau, gain = rng.normal(size=robot.nv), float(rng.choice([0.1, 1.0, 10.0]))
    choice, held = int(rng.integers(6)), 0.01 if dt is None else dt
    if choice == 0:
        return {"tau": tau}
    if choice == 1 and dt is not None:
        return {"tau": rng.normal(size=(20, robot.nv))}
    if choice == 2:
        return {"tau": lambda t: tau * np.cos(20.0 * t)}
    if choice == 3:
        return {"controller": lambda t, q, v: tau - gain * v, "control_dt": float(rng.choice([0.0, held, 5 * held]))}
    if choice == 4:
        law = {"controller": lambda t, q, v, s: (s - gain * v, s + 0.1 * tau), "controller_state": tau}
        return law if dt is not None else law | {"control_dt": held}
    return {}


def check(found: torsor.Trajectory) -> None:
    for name in ("q", "v", "a", "tau"):
        assert np.all(np.isfinite(getattr(found, name))), f"{name} is not finite, and nobody said so"
    assert all(np.all(np.isfinite(x)) for x in found.work), "work is not finite"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert found.audit() is not None
    effort = np.array(found.robot.structure.limits.effort)
    assert not any("effort" in note for note in found.notes) or np.all(np.abs(found.tau) <= effort)


def within(found: torsor.Trajectory, q: np.ndarray) -> None:
    """No joint beyond its stop, or farther beyond than where it started."""
    limits = found.robot.structure.limits
    low, high = np.minimum(limits.lower, q), np.maximum(limits.upper, q)
    one = np.zeros(found.robot.nq, bool)
    for c, kind in found.robot.structure.blocks:
        one[c.q_start] = kind.nq == kind.nv == 1
    assert np.all((found.q >= low - 1e-12) & (found.q <= high + 1e-12) | ~one), "a joint went through its stop"
