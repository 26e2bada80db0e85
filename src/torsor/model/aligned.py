"""The same robot with link frames and inertias chosen so that its equations have as many zeros as possible.

For computing what does not depend on where link frames are: torques, accelerations, the mass matrix and what follows from
them; motions of joint axes and named frames, which stay where they are; mass, first moment and momentum of the whole. These are
those of the robot given, to rounding. Link poses, reaction forces, the robot's own inertias and energies of single links are not.

1. Each link frame is moved so that its joint axis is a coordinate axis through its origin. Where it is along and about that axis
   is free: as given, or along the common normals of neighbouring axes, whichever needs fewer operations.
2. Inertia that a joint cannot feel is moved to the parent. A part H of link i's inertia can live on either side of its
   joint if the joint's motion leaves it unchanged and H S_i = 0, for then H has the same momentum whichever link it
   moves with. For a revolute joint about a: the mass, the first moment along a, and c (1 − a aᵀ); for a prismatic joint
   the whole rotational inertia; for a spherical joint the mass. Roots keep theirs: it costs nothing, and the whole its mass.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from torsor.arrays import cross, dot, exact_constants, is_concrete, matmul, transpose
from torsor.arrays.exact import ROUNDING, settled, settled_rotation, unit
from torsor.arrays.typing import Array, InertiaRow, Pose, Rotation, Twist
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
    return min(candidates(robot), key=_operations)


@exact_constants()
def candidates(robot: Robot) -> list[Robot]:
    """The robot in frames along common normals, where these differ, and in frames that stay near those given."""
    near = _moved(robot, _frame_moves(robot))
    # From frames whose inertias are regrouped: a frame slides without mass, so that nothing small is added to m t² and lost.
    moves = _moves_to_common_normals(near)
    return [_moved(near, moves), near] if any(np.any(move != np.eye(4)) for move in moves) else [near]


@remembered(64)
@exact_constants()
def uniform(robot: Robot) -> Robot:
    """A robot of revolute joints in frames that are all alike: z along the axis, x along the common normal with that of the first
    child; inertias regrouped. The equations of all links are then the same [DH55].
    """
    turned = _moved(robot, _frame_moves(robot, always=True))
    return _moved(turned, _moves_to_common_normals(turned, always=True))


def two_turns(robot: Robot, i: int) -> tuple[Rotation, Rotation] | None:
    """R_1, R_2 (3, 3), R_1 R_2 being the rotation of link i in its parent at q = 0, each about a coordinate axis, or None.

    R_2 is about the joint's axis, and R_1 about another but for the order of axes. This needs a joint's axis that is a
    coordinate axis, and normal to one of the parent's, as in frames along common normals. A vector is turned by both
    with 8 products; by a whole matrix, which must be made first, with 9.
    """
    R, S = se3.rotation(robot.parameters.poses[i]), robot.parameters.screws[i]
    if not (robot.structure.kind_of(i).turns_about_axis and is_concrete(R, S)) or np.count_nonzero(S[:3]) != 1:
        return None
    k = int(np.flatnonzero(S[:3])[0])
    axis = R[:, k]
    if np.count_nonzero(axis) != 2:  # three: impossible; one: the whole matrix has as few products
        return None
    normal = np.where(axis == 0.0, 1.0, 0.0)
    columns = {k: axis, (k + 1) % 3: normal, (k + 2) % 3: cross(axis, normal)}
    first = np.stack([columns[c] for c in range(3)], axis=1)
    return first, settled_rotation(matmul(transpose(first), R))


def _moved(robot: Robot, moves: list[Pose]) -> Robot:
    """The robot with link frames where ``moves`` puts them, and regrouped inertias."""
    p, s = robot.parameters, robot.structure
    poses, screws, rows = np.empty_like(p.poses), np.empty_like(p.screws), np.empty_like(p.inertias)
    for i, parent in enumerate(s.parents):
        before = np.eye(4) if parent < 0 else moves[parent]
        poses[i] = composed(se3.inverse(before), p.poses[i], moves[i])
        length = max(np.abs(p.screws[i, 3:]).max(), np.abs(moves[i][:3, 3]).max())
        screws[i] = _settled_screw(lie.transform_twist_inverse(moves[i], p.screws[i]), length)
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


def _frame_moves(robot: Robot, *, always: bool = False) -> list[Pose]:
    """Pose of each aligned link frame in the link frame given; ``always``: z is the axis, whatever axis it was."""
    moves: list[Pose] = []
    for i, S in enumerate(robot.parameters.screws):
        kind, T = robot.structure.kind_of(i), np.eye(4)
        if kind.turns_about_axis:
            axis = S[:3]
            T[:3, 3] = settled(cross(axis, S[3:]), np.abs(S[3:]).max())  # the point of the axis nearest to the origin
            T[:3, :3] = _turned(axis, always=always)
        elif kind.has_screw:
            T[:3, :3] = _turned(S[3:])
        moves.append(T)
    return moves


def _moves_to_common_normals(robot: Robot, *, always: bool = False) -> list[Pose]:
    """Of an aligned robot, for each revolute or helical joint a slide of its frame along its axis and a turn about it [DH55].

    It slides to the foot of the common normal with its parent's axis: its position there has one zero. If the axis of its first
    child has three numbers in it (``always``: unless it is parallel), the frame turns until one of its axes is along the common
    normal with that child: then one of the three is zero.
    """
    s, poses = robot.structure, robot.parameters.poses
    axes = [_axis(robot, i) for i in range(robot.n)]
    first_child = {s.parents[i]: i for i in range(robot.n - 1, -1, -1) if axes[i] >= 0}
    moves = []
    for i, k in enumerate(axes):
        parent, child, move = s.parents[i], first_child.get(i), np.eye(4)
        if s.kind_of(i).turns_about_axis:
            if parent >= 0 and s.kind_of(parent).turns_about_axis:
                move[k, 3] = _slide(axes[parent], poses[i, :3, k], poses[i, :3, 3])
            axis = np.eye(3)[k] if child is None else poses[child, :3, axes[child]]
            if np.count_nonzero(axis) == 3 or (always and np.count_nonzero(np.delete(axis, k))):
                move[:3, :3] = _turn(k, axis)
        moves.append(move)
    return moves


def _axis(robot: Robot, i: int) -> int:
    """Which coordinate axis of its frame the axis of joint i of an aligned robot is; −1 if it has none."""
    kind = robot.structure.kind_of(i)
    return int(np.argmax(np.abs(kind.axis_of(robot.parameters.screws[i])))) if kind.has_screw else -1


def _slide(k: int, axis: Array, point: Array) -> float:
    """How far to go from ``point`` along ``axis`` to be nearest to the coordinate axis k; 0 if that is far.

    Nearly parallel axes are nearest anywhere: numbers that belong to a far point would be large, and cancel.
    """
    across = 1.0 - axis[k] * axis[k]
    if across < _NEARLY_PARALLEL:
        return 0.0
    distance = float((axis[k] * point[k] - dot(point, axis)) / across)
    return distance if abs(distance) <= _FAR * np.abs(point).max() else 0.0


def _turn(k: int, axis: Array) -> Array:
    """A rotation about the coordinate axis k that makes another one normal to ``axis``."""
    along = np.eye(3)[k]
    normal = unit(cross(along, axis))
    columns = {k: along, (k + 1) % 3: normal, (k + 2) % 3: cross(along, normal)}
    return np.stack([columns[c] for c in range(3)], axis=1)


def _turned(axis: Array, *, always: bool = False) -> Array:
    """A rotation with ``axis`` as its z axis; none if it is a coordinate axis already, but ``always`` if it is another."""
    if np.sum(np.abs(axis) > ROUNDING) == 1 and not (always and abs(axis[2]) < 1.0):
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
_NEARLY_PARALLEL = 0.01  # the square of a sine
_FAR = 2.0  # times the distance from the parent's origin


def _operations(robot: Robot) -> int:
    """Operations of a recursion over the links that depend on where link frames are, nearly: to compare frames of one robot."""
    s, p = robot.structure, robot.parameters
    total = 0
    for i, (T, G) in enumerate(zip(p.poses, p.inertias, strict=True)):
        kind, parent = s.kind_of(i), s.parents[i]
        if kind.has_screw:
            axis = T[:3, _axis(robot, i)]
            offset = 6 * bool(np.any(~np.isin(np.abs(T[:3, :3]), (0.0, 1.0))))  # a constant turn about the joint's axis
            # Five vectors, each turned by one angle, by two, or by a whole matrix that is made first.
            total += (5 * 6 + offset, 5 * 12 + offset, 5 * 15 + 18)[np.count_nonzero(axis) - 1]
        if parent >= 0:
            free = s.parents[parent] < 0 and s.kind_of(parent).turns_about_axis  # points of a root's axis do not move
            total += 10 * int(np.count_nonzero(T[:3, 3] * (p.screws[parent, :3] == 0.0) if free else T[:3, 3]))
        if parent >= 0 or not kind.has_screw:
            total += 10 * int(np.count_nonzero(G[1:4])) + 6 * int(np.count_nonzero(G[[5, 6, 8]]))
    return total
