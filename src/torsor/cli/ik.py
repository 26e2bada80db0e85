"""Joint positions that bring a frame to a target (inverse kinematics); exit code 1 if it is out of reach."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from torsor.cli.main import DONE, NO
from torsor.cli.messages import say
from torsor.cli.robot_argument import add_robot, robot_of
from torsor.cli.typed_numbers import configuration, numbers
from torsor.errors import ArgumentError, printable

if TYPE_CHECKING:
    from torsor.model import Robot

EXAMPLES = """\
  torsor ik panda hand_tcp --position 0.4,0.1,0.5
  torsor ik panda hand_tcp --position 0.4,0.1,0.5 --rpy 180deg,0,0 --start middle
  torsor ik arm.urdf tool0 --quaternion 0,0,0,1 --json
  torsor ik panda hand_tcp --position 0.4,0.1,0.5 --json | jq .q
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The robot, the frame, its target, and where the search begins."""
    add_robot(parser)
    parser.add_argument("frame", help="the frame or link to be moved, one of `torsor info ROBOT`")
    parser.add_argument("--position", metavar="X,Y,Z", help="in the base frame, m; without it, any")
    turn = parser.add_mutually_exclusive_group()
    turn.add_argument("--rpy", metavar="R,P,Y", help="roll, pitch, yaw about fixed axes, rad, or with deg: 90deg,0,0")
    turn.add_argument("--quaternion", metavar="X,Y,Z,W", help="the real part last; of any length but zero")
    turn.add_argument("--pose", metavar="JSON", help="4 × 4 matrix: [[1,0,0,0.4],[0,1,0,0],[0,0,1,0.5],[0,0,0,1]]")
    parser.add_argument(
        "--start", metavar="Q", help="where the search begins (default neutral); see torsor simulate --help"
    )
    parser.add_argument("--nearest", action="store_true", help="the solution nearest to --start")
    parser.add_argument("--without-limits", action="store_true", help="joints may go anywhere")
    parser.add_argument("--json", action="store_true", help="joints by name, q, success, errors and reason as JSON")


def run(options: argparse.Namespace) -> int:
    """Print joint names and values; 1 if the target is not reached, with what comes nearest."""
    import torsor

    robot = robot_of(options)
    task, target = _target(options)
    start = None if options.start is None else configuration(robot, options.start, "--start")
    if options.nearest and start is None:
        raise ArgumentError("ik: --nearest takes --start Q: nearest to what?")
    found = torsor.inverse_kinematics(
        robot, task, target, start=start, nearest=options.nearest, within_limits=not options.without_limits
    )
    values = _by_joint(robot, found.q)
    reached = bool(found.success)
    if options.json:
        said = {
            "robot": robot.name,
            "frame": options.frame,
            "success": reached,
            "reason": str(found.reason),
            "joints": values,
            "q": [float(x) for x in found.q],
            "residual": float(found.residual),
        }
        sys.stdout.write(json.dumps(said, indent=1) + "\n")
    else:
        width = max((len(printable(name)) for name in values), default=0)
        for name, value in values.items():
            shown = [value] if isinstance(value, float) else value
            sys.stdout.write(f"{printable(name):{width}}  {' '.join(repr(x) for x in shown)}\n")
    if not reached:
        say(f"{options.frame}: {found.reason}; the joints above come nearest.")
    return DONE if reached else NO


def _target(options: argparse.Namespace) -> tuple[Any, Any]:
    """A task, and its target."""
    import numpy as np

    import torsor

    frame = options.frame
    if options.pose is not None:
        if options.position is not None:
            raise ArgumentError("ik: --pose has a position already; leave --position out.")
        return frame, _pose(options.pose)
    R = None
    if options.rpy is not None:
        R = torsor.pose_from(rpy=numbers(options.rpy, 3, "--rpy", "roll, pitch, yaw"))[:3, :3]
    elif options.quaternion is not None:
        R = _rotation(numbers(options.quaternion, 4, "--quaternion", "x, y, z, w"))
    p = None if options.position is None else np.array(numbers(options.position, 3, "--position", "x, y, z, m"))
    if p is None and R is None:
        raise ArgumentError("ik: say where to: --position X,Y,Z, --rpy R,P,Y, --quaternion X,Y,Z,W or --pose JSON.")
    if R is None:
        return torsor.position_task(frame), p
    if p is None:
        return torsor.orientation_task(frame), R
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R, p
    return frame, T


def _pose(text: str) -> Any:
    import numpy as np

    try:
        T = np.array(json.loads(text), dtype=float)
    except (ValueError, TypeError):
        T = np.zeros(0)
    if T.shape != (4, 4):
        raise ArgumentError(f"ik: --pose takes a matrix of 4 × 4 numbers as JSON, got {text!r:.60}.")
    return T


def _rotation(given: list[float]) -> Any:
    import numpy as np

    from torsor.lie import quaternion

    if not any(given):
        raise ArgumentError("ik: --quaternion must not be zero.")
    return quaternion.to_rotation(np.array(given))


def _by_joint(robot: Robot, q: Any) -> dict[str, Any]:
    return {c.name: float(q[c.q][0]) if c.nq == 1 else [float(x) for x in q[c.q]] for c in robot.structure.coordinates}
