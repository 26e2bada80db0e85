"""The same robot with link frames and inertias chosen so that its equations have as many zeros as possible.

For computing what does not depend on where link frames are: torques, accelerations, the mass matrix and what follows from
them; motions of joint axes and named frames, which stay where they are; mass, first moment and momentum of the whole. These are
those of the robot given, to rounding. Link poses, reaction forces, the robot's own inertias and energies of single links are not.

1. Each link frame is moved so that its joint axis is a coordinate axis through its origin.
2. Inertia that a joint cannot feel is moved to the parent. A part H of link i's inertia can live on either side of its
   joint if the joint's motion leaves it unchanged and H S_i = 0, for then H has the same momentum whichever link it
   moves with. For a revolute joint about a: the mass, the first moment along a, and c (1 − a aᵀ); for a prismatic joint
   the whole rotational inertia; for a spherical joint the mass. Roots keep theirs: it costs nothing, and the whole its mass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.arrays import cross, exact_constants
from torsor.arrays.exact import ROUNDING, settled, settled_rotation, unit
from torsor.arrays.typing import Array, InertiaRow, Pose, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model.joint_kinds import JointKind
from torsor.model.link_inertias import may_be_singular
from torsor.model.poses import composed
from torsor.model.remembered import remembered
from torsor.model.robot import Robot
from torsor.model.structure import Frame


@remembered(256)
@exact_constants()
def aligned(robot: Robot) -> Robot:
    """``robot`` in aligned frames with regrouped inertias; joint-space results are the same to rounding."""
    p, s = robot.parameters, robot.structure
    moves = _frame_moves(robot)
    poses, screws, rows = np.empty_like(p.poses), np.empty_like(p.screws), np.empty_like(p.inertias)
    for i, parent in enumerate(s.parents):
        before = np.eye(4) if parent < 0 else moves[parent]
        poses[i] = composed(se3.inverse(before), p.poses[i], moves[i])
        screws[i] = _settled_screw(lie.transform_twist_inverse(moves[i], p.screws[i]), np.abs(p.screws[i, 3:]).max())
        rows[i] = lie.transform_inertia(se3.inverse(moves[i]), p.inertias[i])
    _regroup(robot, poses, screws, rows)
    frames, frame_poses = _frames(robot, moves)
    changed = p._replace(poses=poses, screws=screws, inertias=rows, frame_poses=frame_poses)
    return Robot(replace(s, frames=frames, known_regular=not may_be_singular(robot)), changed.frozen())


def _settled_screw(screw: Twist, length: float) -> Twist:
    """A unit screw with what is 0 or ±1 in its direction, or 0 in the rest, for moments of size ``length`` made so."""
    w, v = settled_rotation(screw[:3]), settled(screw[3:], length)
    return np.concatenate([w, v if np.any(w) else settled_rotation(v)])


def _frames(robot: Robot, moves: list[Pose]) -> tuple[tuple[Frame, ...], Array]:
    """All frames where they were, links included: a link that is a frame for wrenches keeps the frame it was given."""
    frames: list[Frame] = []
    poses: list[Pose] = []
    for frame in robot.structure.frames:
        given = np.eye(4) if frame.pose_row is None else robot.parameters.frame_poses[frame.pose_row]
        move = np.eye(4) if frame.link < 0 else moves[frame.link]
        frames.append(frame._replace(pose_row=len(poses)))
        poses.append(composed(se3.inverse(move), given))
    return tuple(frames), np.array(poses)


def _frame_moves(robot: Robot) -> list[Pose]:
    """Pose of each aligned link frame in the link frame given."""
    moves: list[Pose] = []
    for i, S in enumerate(robot.parameters.screws):
        kind, T = robot.structure.kind_of(i), np.eye(4)
        if kind.turns_about_axis:
            axis = S[:3]
            T[:3, 3] = settled(cross(axis, S[3:]), np.abs(S[3:]).max())  # the point of the axis nearest to the origin
            T[:3, :3] = _turned(axis)
        elif kind.has_screw:
            T[:3, :3] = _turned(S[3:])
        moves.append(T)
    return moves


def _turned(axis: Array) -> Array:
    """A rotation with ``axis`` as its z axis; none if it is a coordinate axis already."""
    if np.sum(np.abs(axis) > ROUNDING) == 1:
        return np.eye(3)
    other = np.eye(3)[np.argmin(np.abs(axis))]
    x = unit(cross(other, axis))
    return np.stack([x, cross(axis, x), axis], axis=1)


def _regroup(robot: Robot, poses: Array, screws: Array, rows: Array) -> None:
    """Move what each joint cannot feel to its parent's row, leaves first."""
    s = robot.structure
    for i in range(robot.n - 1, -1, -1):
        if (parent := s.parents[i]) < 0:
            continue
        H = _unfelt(s.kind_of(i), screws[i], rows[i])
        parts = (slice(0, 1), slice(1, 4), slice(4, 10))  # mass, first moment, rotational inertia: each of its own size
        rows[i] = np.concatenate([settled(rows[i, part] - H[part], np.abs(rows[i, part]).max()) for part in parts])
        rows[parent] = rows[parent] + lie.transform_inertia(poses[i], H)


def _unfelt(kind: JointKind, screw: Array, row: InertiaRow) -> InertiaRow:
    H = np.zeros(10)
    if kind.has_screw and kind.has_fixed_point:
        k = int(np.argmax(np.abs(screw[:3])))
        H[0], H[1 + k] = row[0], row[1 + k]
        across = [j for j in range(3) if j != k]
        c = row[_DIAGONAL[across[0]]]
        for j in across:
            H[_DIAGONAL[j]] = c
    elif kind.has_screw and not kind.turns_about_axis:
        H[4:] = row[4:]
    elif kind.has_fixed_point:
        H[0] = row[0]
    return H


_DIAGONAL = (4, 7, 9)  # where Ixx, Iyy, Izz are in a row
