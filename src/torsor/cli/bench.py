"""How fast torsor is with one robot on this machine: compiled for it, and as NumPy."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from torsor._progress import progress
from torsor.cli.main import DONE, NO
from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of

if TYPE_CHECKING:
    from torsor.model import Robot

EXAMPLES = """\
  torsor bench panda
  torsor bench arm.urdf --states 100000
  torsor bench panda --json
"""
LEAST = 0.02  # s that a measurement lasts
REPEATS = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, and how many states."""
    add_robot(parser)
    parser.add_argument("--states", type=int, default=1000, metavar="N", help="of a batch (default 1000)")
    parser.add_argument("--json", action="store_true", help="seconds as JSON")


def run(options: argparse.Namespace) -> int:
    """Measure and print the table; 1 if nothing is compiled on this machine."""
    import torsor
    from torsor._reports import table
    from torsor.compiler.run import engine
    from torsor.errors import ArgumentError

    if options.states < 1:
        raise ArgumentError(f"bench: --states must be at least 1, got {options.states}.")
    robot = robot_of(options)
    found = measured(robot, options.states)
    if options.json:
        said = {"robot": robot.name, "nv": robot.nv, "states": options.states, "seconds": found}
        sys.stdout.write(json.dumps(said, indent=1) + "\n")
    else:
        rows = [heading(options.states), *(row(name, times, options.states) for name, times in found.items())]
        sys.stdout.write("\n".join(table(rows, "<>")) + "\n")
        least = "the least of five measurements, calls from Python included"
        say(f"{robot.name!r}: {robot.nv} degrees of freedom, {torsor.get_threads()} threads; {least}.")
    if (reason := engine.why_missing()) is not None:
        say(f"Nothing was compiled here: {reason}.")
        return NO
    return DONE


def measured(robot: Robot, states: int, names: Collection[str] = ()) -> dict[str, dict[str, float]]:
    """Seconds of each function, or of those named: for one state and for many, compiled and as NumPy."""
    import torsor

    calls = {name: pair for name, pair in _calls(robot, states).items() if not names or name in names}
    found = {}
    with progress(len(calls), "measuring", "function") as done:
        for name, (one, many) in calls.items():
            with torsor.backend("compiled"):
                fast = _seconds(one), _seconds(many)
            with torsor.backend("numpy"):
                slow = _seconds(one), _seconds(many)
            found[name] = {"one": fast[0], "one_numpy": slow[0], "many": fast[1], "many_numpy": slow[1]}
            done(1)
    return found


def heading(states: int) -> tuple[str, ...]:
    """The first row of a table."""
    return ("", "one state", "as NumPy", "", f"each of {states}", "as NumPy", "")


def row(name: str, times: dict[str, float], states: int) -> tuple[str, ...]:
    """A row of a table."""
    return (
        name,
        _time(times["one"]),
        _time(times["one_numpy"]),
        f"{times['one_numpy'] / times['one']:.0f}×",
        _time(times["many"] / states),
        _time(times["many_numpy"] / states),
        f"{times['many_numpy'] / times['many']:.0f}×",
    )


def _time(seconds: float) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _calls(robot: Robot, states: int) -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Each function for one state and for many."""
    import torsor

    one, many = torsor.random_state(robot, seed=0), torsor.random_state(robot, seed=1, batch=(states,))
    frame = robot.frames[-1]
    functions: dict[str, Callable[[Any, Any, Any], Any]] = {
        "inverse_dynamics": lambda q, v, a: torsor.inverse_dynamics(robot, q, v, a),
        "forward_dynamics": lambda q, v, a: torsor.forward_dynamics(robot, q, v, a),
        "mass_matrix": lambda q, v, a: torsor.mass_matrix(robot, q),
        "gravity_forces": lambda q, v, a: torsor.gravity_forces(robot, q),
        "frame_pose": lambda q, v, a: torsor.frame_pose(robot, q, frame),
        "body_jacobian": lambda q, v, a: torsor.body_jacobian(robot, q, frame),
        "inverse_dynamics_derivatives": lambda q, v, a: torsor.inverse_dynamics_derivatives(robot, q, v, a),
    }
    return {
        name: (lambda f=f: f(*one), lambda f=f: f(*many))  # type: ignore[misc]
        for name, f in functions.items()
    }


def _seconds(call: Callable[[], Any]) -> float:
    """The least time of a call, after one that compiles."""
    from time import perf_counter
    from timeit import Timer

    call()
    start = perf_counter()
    call()
    once = perf_counter() - start
    if once > LEAST:
        return once
    timer = Timer(call)
    number = max(1, int(LEAST / REPEATS / max(once, 1e-7)))
    return min(timer.repeat(REPEATS, number)) / number
