"""`make bench`: torsor beside its peers, on this machine, now. Prints tables; saves them with --save results.json."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import platform
import time
from importlib.metadata import version

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("TORSOR_COMPILE", "final")  # what is measured is not exchanged meanwhile

import numpy as np

import calling
import derivatives
import geometry
import long_runs
import simulation
import torsor
from contenders import TASKS, MuJoCo, Pinocchio, Torsor, require_agreement
from measure import best
from robots import path_of, torsor_robot
from slow_cells import show_slow_cells
from starting import show_start, starting
from torsor.compiler.run import engine

FULL = ["panda7", "ur5", "talos38_floating", "chain4", "chain8", "chain16", "chain32", "chain64"]
BATCHES = (4096, 65536)
MOTION = ("optimal_motion", "time_optimal", "optimal_control")  # modules with `measure`, of --motion


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--robots", help="comma-separated names from tests/data/robots")
    parser.add_argument("--quick", action="store_true", help="Panda unless robots are named, fewer rounds")
    parser.add_argument("--save", help="write the numbers to this JSON file")
    parser.add_argument("--geometry", action="store_true", help="the tensors of the inertia metric alone")
    parser.add_argument("--derivatives", action="store_true", help="derivatives of the dynamics alone")
    parser.add_argument("--calls", action="store_true", help="every way of calling a function alone")
    parser.add_argument("--simulation", action="store_true", help="torsor.simulate alone")
    parser.add_argument(
        "--motion", action="store_true", help="optimal motions, paths in least time, optimal control alone"
    )
    options = parser.parse_args()
    rounds = 3 if options.quick else 7
    chosen = options.robots.split(",") if options.robots else ["panda7"] if options.quick else None
    if options.geometry or options.derivatives or options.calls or options.simulation or options.motion:
        about = machine()
        tables = {}
        if options.calls:
            tables["calls"] = calling.measure(rounds)
        if options.geometry:
            tables["geometry"] = geometry.measure(rounds)
        if options.derivatives:
            tables["derivatives"] = derivatives.measure(rounds, chosen or derivatives.ROBOTS)
        if options.simulation:
            tables["simulation"] = simulation.measure(rounds)
            tables["long runs"] = long_runs.measure(rounds, options.quick)
        if options.motion:
            tables |= motions(rounds)
        show_slow_cells(tables)
        if options.save:
            merge(options.save, tables, about)
        return
    names = chosen or FULL
    report = {"machine": machine(), "single": {}, "batch": {}, "operations": {}, "start": starting()}
    show_start(report)
    for name in names:
        report["single"][name] = single(name, rounds)
        report["batch"][name] = batch(name, rounds)
        report["operations"][name] = operations(name)
    report["rollout"] = rollout(rounds)
    report["loading"] = loading(rounds)
    report["floor"] = floors(rounds)
    report["derivatives"] = derivatives.measure(rounds, chosen or derivatives.ROBOTS)
    report["geometry"] = geometry.measure(rounds)
    report["calls"] = calling.measure(rounds)
    report["simulation"] = simulation.measure(rounds)
    report["long runs"] = long_runs.measure(rounds, options.quick)
    report |= motions(rounds)
    show_slow_cells(report)
    if options.save:
        with open(options.save, "w") as file:
            json.dump(report, file, indent=1)


def merge(path: str, part: dict, about: dict[str, str]) -> None:
    """Put one part of a report into a file that holds the others, with the machine that it comes from."""
    with open(path) as file:
        report = json.load(file)
    machines = report.get("machines", {}) | dict.fromkeys(part, about)
    with open(path, "w") as file:
        json.dump(report | part | {"machines": machines}, file, indent=1)


def motions(rounds: int) -> dict[str, dict[str, float]]:
    """The tables of the modules about motions, by their names in words."""
    found = {}
    for name in MOTION:
        if importlib.util.find_spec(name) is not None:
            found[name.replace("_", " ")] = importlib.import_module(name).measure(rounds)
    return found


def machine() -> dict[str, str]:
    cpu, _ = engine.host()
    about = {"cpu": cpu, "vector bits": str(engine.host_target().bits), "python": platform.python_version()}
    for name in ("numpy", "llvmlite", "pin", "mujoco"):
        try:
            about[name] = version(name)
        except Exception:
            about[name] = "not installed"
    about["date"] = time.strftime("%Y-%m-%d")
    print("machine: " + ", ".join(f"{key} {value}" for key, value in about.items()))
    return about


def contenders(name: str) -> dict[str, object]:
    found = {}
    for kind in (Torsor, Pinocchio, MuJoCo):
        try:
            found[kind.name] = kind(name)
        except ImportError as error:
            print(f"  ({kind.name} is not measured on {name}: {error})")
    return found


def single(name: str, rounds: int) -> dict[str, dict[str, float]]:
    """One state from Python, nanoseconds."""
    found = contenders(name)
    states = found["torsor"].states(4)
    print(f"\n{name}: one state, nanoseconds a call (ratio to torsor)")
    table = {}
    for task in TASKS:
        calls = {who: call for who, x in found.items() if (call := x.one(task, states)) is not None}
        require_agreement(task, {who: found[who].in_torsor_terms(task, call()) for who, call in calls.items()})
        times = {who: 1e9 * seconds for who, seconds in best(calls, rounds=rounds).items()}
        table[task] = times
        show(task, times)
    return table


def batch(name: str, rounds: int) -> dict[str, dict[str, dict[str, float]]]:
    """Many states, nanoseconds a state: float64, float32, and two threads (wall clock)."""
    table = {}
    for size in BATCHES:
        found = contenders(name)
        states = found["torsor"].states(size)
        print(f"\n{name}: a batch of {size}, nanoseconds a state, one thread (ratio to torsor)")
        table[str(size)] = {}
        for task in TASKS:
            torsor.set_threads(1)
            calls = {"torsor": found["torsor"].batch(task, states)}
            few = {key: x[:2048] for key, x in states.items()}  # a loop is the same for every length
            peers = found["pinocchio"].batch(task, few) if "pinocchio" in found else []
            times = {who: 1e9 * s / size for who, s in best(calls, rounds=rounds).items()}
            slow = best({f"pinocchio {k}": call for k, call in enumerate(peers)}, rounds=min(3, rounds))
            if slow:
                times["pinocchio"] = 1e9 * min(slow.values()) / 2048
            single_precision = Torsor(name, np.float32)
            call32 = single_precision.batch(task, single_precision.states(size))
            times["torsor float32"] = 1e9 * best({"x": call32}, rounds=rounds)["x"] / size
            torsor.set_threads(2)
            wall = best({"x": calls["torsor"]}, rounds=rounds, clock=time.perf_counter)
            times["torsor 2 threads"] = 1e9 * wall["x"] / size
            torsor.set_threads(1)
            table[str(size)][task] = times
            show(task, times)
    return table


def operations(name: str) -> dict[str, int]:
    """Arithmetic operations of one state, as compiled."""
    robot = torsor_robot(name)
    functions = {"inverse dynamics": torsor.inverse_dynamics, "forward dynamics": torsor.forward_dynamics}
    return {task: sum(torsor.compile(function, robot).count().values()) for task, function in functions.items()}


def show(task: str, times: dict[str, float]) -> None:
    own = times["torsor"]
    print(f"  {task:<18}" + "  ".join(f"{who} {t:,.0f} ({t / own:.1f}×)" for who, t in times.items()))


def rollout(rounds: int) -> dict[str, float]:
    """A step of semi-implicit Euler under PD control with gravity compensation, nanoseconds."""
    arm = torsor_robot("panda7")

    def step(robot, q, v, target):
        a = torsor.forward_dynamics(robot, q, v, torsor.gravity_forces(robot, q) + 50.0 * (target - q) - 10.0 * v)
        v = v + 1e-3 * a
        return {"q": q + 1e-3 * v, "v": v}

    loop = torsor.scan(step, arm, {"q": 7, "v": 7}, constants={"target": 7})
    q, v, _ = torsor.random_state(arm, seed=0, batch=(4096,))
    target = np.zeros(7)
    torsor.set_threads(1)
    calls = {
        "torsor, per step and lane": lambda: loop(steps=100, every=100, q=q, v=v, target=target),
        "torsor, one trajectory": lambda: loop(steps=1000, every=1000, q=q[0], v=v[0], target=target),
    }
    times = best(calls, rounds=rounds)
    result = {
        "torsor, per step and lane": 1e9 * times["torsor, per step and lane"] / 4096 / 100,
        "torsor, one trajectory": 1e9 * times["torsor, one trajectory"] / 1000,
    }
    try:
        peer = Pinocchio("panda7")
    except ImportError:
        peer = None
    if peer is not None:
        pin, model, data = peer.pin, peer.model, peer.data

        def python_loop():
            x, w = q[0].copy(), v[0].copy()
            for _ in range(1000):
                tau = pin.computeGeneralizedGravity(model, data, x) + 50.0 * (target - x) - 10.0 * w
                w = w + 1e-3 * pin.aba(model, data, x, w, tau)
                x = x + 1e-3 * w

        result["pinocchio, Python loop"] = 1e9 * best({"x": python_loop}, rounds=min(3, rounds))["x"] / 1000
    print("\nPanda rollout, nanoseconds a step: " + ", ".join(f"{who} {t:,.0f}" for who, t in result.items()))
    return result


def loading(rounds: int) -> dict[str, dict[str, float]]:
    """A robot file read and checked, milliseconds; Pinocchio's reader checks less."""
    long = torsor.robots.random_tree(200, seed=0, kinds=("revolute",), serial=True).with_gravity((0.0, 0.0, -9.81))
    texts = {name: path_of(name).read_text() for name in ("panda7", "talos38_floating")}
    texts["200 links"] = long.to_urdf()
    table = {}
    for name, text in texts.items():
        calls = {"torsor": lambda text=text: torsor.load(text)}
        try:
            import pinocchio

            calls["pinocchio"] = lambda text=text: pinocchio.buildModelFromXML(text)
        except ImportError:
            pass
        table[name] = {who: 1e3 * seconds for who, seconds in best(calls, rounds=rounds).items()}
    print(
        "\nloading, ms: "
        + "; ".join(f"{n}: " + ", ".join(f"{w} {t:.1f}" for w, t in x.items()) for n, x in table.items())
    )
    return table


def floors(rounds: int) -> dict[str, float]:
    """What memory and arithmetic alone would cost for the Panda, nanoseconds a state at 65,536 states."""
    count = 65536
    arrays = [np.random.default_rng(0).normal(size=(count, 7)) for _ in range(3)]
    out, matrices = np.empty((count, 7)), np.empty((count, 7, 7))
    calls = {
        "stream 3 inputs of 7 and write 7": lambda: np.add(np.add(arrays[0], arrays[1], out=out), arrays[2], out=out),
        "write 49 numbers": lambda: matrices.fill(1.0),
    }
    result = {who: 1e9 * seconds / count for who, seconds in best(calls, rounds=rounds).items()}
    counts = torsor.compile(torsor.inverse_dynamics, torsor_robot("panda7")).count()
    result["operations of inverse dynamics"] = float(sum(counts.values()))
    print("\nfloors: " + ", ".join(f"{who} {t:,.1f}" for who, t in result.items()))
    return result


if __name__ == "__main__":
    main()
