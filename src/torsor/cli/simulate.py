"""A motion from a state: left to itself, under forces, or driven to a target."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torsor.cli.main import DONE, INTERRUPTED, NO
from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of
from torsor.cli.shell_words import in_shell_words
from torsor.cli.torques import written
from torsor.cli.typed_numbers import configuration, freedoms
from torsor.errors import ArgumentError, SimulationDiverged, printable

if TYPE_CHECKING:
    from torsor.model import Robot
    from torsor.motion.trajectory import Trajectory

EXAMPLES = """\
  torsor simulate pendulum --start 1.2 --duration 5
  torsor simulate panda --start middle --target panda_joint4=-1.2 --duration 2 -o run.npz
  torsor simulate arm.urdf --start elbow=0.3 --velocity elbow=1 --forces 0,2.5 --duration 1 -o run.csv
  torsor simulate planar2r --start random:7 --duration 10 --adaptive --rtol 1e-10
states and forces:
  Numbers in the order of `torsor info` (0,0.3,-1), some by joint (elbow=0.3,wrist=90deg),
  or JSON. For --start and --target also neutral, middle (of the limits), random, random:7.
"""
ADAPTIVE = ("dop853", "dopri5")
METHODS = ("rk4", "implicit_midpoint", "variational", "semi_implicit_euler", "euler", *ADAPTIVE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, where it starts, what drives it, how to integrate, and where to write."""
    add_robot(parser)
    parser.add_argument("--start", default="neutral", metavar="Q", help="configuration, rad or m (default neutral)")
    parser.add_argument("--velocity", metavar="V", help="at the start, rad/s or m/s (default zero)")
    parser.add_argument("--duration", type=float, required=True, metavar="S", help="how long, s")
    drive = parser.add_mutually_exclusive_group()
    drive.add_argument("--forces", metavar="TAU", help="constant joint forces, N·m or N (default none)")
    drive.add_argument("--target", metavar="Q", help="configuration to go to, by computed torque")
    parser.add_argument("--kp", type=float, default=100.0, metavar="K", help="of --target, 1/s² (default 100)")
    parser.add_argument("--kd", type=float, default=20.0, metavar="K", help="of --target, 1/s (default 20)")
    parser.add_argument("--dt", type=float, default=1e-3, metavar="S", help="time step, s (default 0.001)")
    parser.add_argument("--adaptive", action="store_true", help="steps of chosen accuracy instead of --dt")
    parser.add_argument("--rtol", type=float, default=1e-8, help="of --adaptive (default 1e-8)")
    parser.add_argument(
        "--method", choices=METHODS, help="default rk4, or dop853 with --adaptive; the last two are adaptive"
    )
    parser.add_argument("--without-limits", action="store_true", help="no joint stops and no effort limits")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="save every K-th step")
    parser.add_argument("-o", "--output", metavar="OUT", help=".npz, .csv or .parquet; - is CSV on standard output")


def run(options: argparse.Namespace) -> int:
    """Simulate, write, and report; 1 if the motion diverged, 130 if it was interrupted, both with what there is until then."""
    if options.output not in (None, "-") and Path(options.output).suffix.lower() not in (".npz", ".csv", ".parquet"):
        raise ArgumentError(
            f"simulate: --output must end in .npz, .csv or .parquet, or be - for CSV, got {options.output!r:.80}."
        )
    robot = robot_of(options)
    options.adaptive |= options.method in ADAPTIVE
    code = DONE
    try:
        motion = _motion(robot, options)
    except SimulationDiverged as error:
        say(in_shell_words(error))
        code, motion = NO, error.trajectory
    if motion is None:
        return code
    if options.output is not None:
        _save(motion, options.output)
    report = "\n".join(map(printable, [*_report(motion), *(str(motion.audit()).split("\n") if code == DONE else ())]))
    (sys.stderr if options.output == "-" else sys.stdout).write(f"{report}\n")
    return INTERRUPTED if motion.interrupted and code == DONE else code


def _motion(robot: Robot, options: argparse.Namespace) -> Trajectory:
    import numpy as np

    import torsor

    q = configuration(robot, options.start, "--start")
    v = np.zeros(robot.nv) if options.velocity is None else freedoms(robot, options.velocity, "--velocity")
    more: dict[str, Any] = {"dt": options.dt, "every": options.every}
    if options.adaptive:
        more = {"rtol": options.rtol, "atol": 1e-2 * options.rtol}
    if options.forces is not None:
        more["tau"] = freedoms(robot, options.forces, "--forces")
    if options.target is not None:
        goal, still = configuration(robot, options.target, "--target"), np.zeros(robot.nv)
        more["control_dt"] = options.dt if options.adaptive else None
        more["controller"] = lambda t, q, v: torsor.control.computed_torque(
            robot, q, v, goal, still, still, options.kp, options.kd
        )
    return torsor.simulate(
        robot,
        q,
        v,
        duration=options.duration,
        method=options.method,
        within_limits=not options.without_limits,
        **more,
    )


def _save(motion: Trajectory, path: str) -> None:
    from torsor.motion.trajectory_files import write_csv

    if path == "-" or Path(path).suffix.lower() == ".csv":
        with written(path) as out:
            write_csv(motion, out)
    else:
        motion.save(path)


def _report(motion: Trajectory) -> list[str]:
    cut = ", interrupted" if motion.interrupted else ""
    first = f"{motion.robot.name!r}: {len(motion)} samples over {motion.duration:.6g} s{cut}"
    last = [f"  {name}  {value:.6g}" for name, value in _by_name(motion.robot, motion.q[-1])]
    return [first, *(f"note: {note}" for note in motion.notes), "at the end:", *last]


def _by_name(robot: Robot, q: Any) -> list[tuple[str, float]]:
    found = []
    for c in robot.structure.coordinates:
        names = [c.name] if c.nq == 1 else [f"{c.name}[{k}]" for k in range(c.nq)]
        found += list(zip(names, map(float, q[c.q]), strict=True))
    return found
