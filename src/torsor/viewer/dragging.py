"""A frame is dragged, and the robot follows: inverse kinematics from where it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Pose
from torsor.errors import TorsorError
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.tasks._inverse_kinematics.solve import inverse_kinematics
from torsor.tasks.task_kinds import position_task

CLOSE = 1e-6  # rad and m: reached
AT_LIMIT = 1e-6


class Followed(NamedTuple):
    """The configuration (nq,) that comes nearest, whether it is there, and what is to be said of it."""

    q: Array
    reached: bool
    words: str


def movable_frames(robot: Robot) -> list[str]:
    """Frames that joints move, the outermost first."""
    return [frame.name for frame in reversed(robot.structure.frames) if frame.link >= 0]


def follow(robot: Robot, frame: str, target: Pose, q: Array, *, whole_pose: bool = True) -> Followed:
    """Bring a frame to ``target`` (4, 4) in base axes, or its origin only, from ``q`` and without a jump."""
    task, goal = (frame, target) if whole_pose else (position_task(frame), target[:3, 3])
    try:
        found = inverse_kinematics(robot, task, np.asarray(goal), start=q, starts=1, tolerance=CLOSE, iterations=30)
    except TorsorError as error:
        return Followed(q, False, str(error))
    reached = bool(found.success)
    there = np.asarray(found.q, float)
    pressed = at_limits(robot, there)
    words = "reached" if reached else _how_far(float(found.position_error), float(found.angle_error))
    return Followed(there, reached, words + (f"; at the limit: {', '.join(pressed)}" if pressed else ""))


def _how_far(position: float, angle: float) -> str:
    parts = [f"{1000 * position:.3g} mm"] if position > CLOSE else []
    parts += [f"{np.rad2deg(angle):.3g}°"] if angle > CLOSE else []
    return f"{' and '.join(parts) or 'a little'} away"


def at_limits(robot: Robot, q: Array) -> list[str]:
    """Names of joints that are at a limit of theirs, or beyond."""
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    pressed = ((lower > -HUGE) & (q <= lower + AT_LIMIT)) | ((upper < HUGE) & (q >= upper - AT_LIMIT))
    return [coordinate.name for coordinate in robot.structure.coordinates if np.any(pressed[coordinate.q])]
