"""From a description that has been checked to a robot. Numbers of the file that building would only round are kept to the bit."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from typing import Any

import numpy as np

from torsor.arrays import cross, exact_constants, matmul
from torsor.arrays.exact import unit
from torsor.arrays.typing import Array, InertiaRow, Pose, Twist, Vector3
from torsor.errors import TorsorError
from torsor.formats.check_mechanism import ONE_FREEDOM
from torsor.formats.description import MOTION, Description, Exact, JointPart, LinkPart, unused
from torsor.lie import se3
from torsor.model import Inertia, Joint, Robot
from torsor.model._assemble import EARTH, NO_INERTIA, assembled
from torsor.model.poses import check_pose, composed
from torsor.model.shapes import moved_from_com
from torsor.model.structure import Coupling

_NOT_TURNED = np.eye(3).tolist()
NOTHING = Inertia.zero()
_motion_of = attrgetter(*MOTION.values())
FLOATING = "floating"
WORLD = "world"
# What making a screw a unit may change, of 1 in its direction and of its largest number in its moment.
ROUNDING = 32 * float(np.finfo(float).eps)


@exact_constants()
def build(described: Description, *, base: str = "fixed", gravity: Vector3 | None = None) -> Robot:
    """The robot; with ``base`` "floating" its root link moves freely, on a joint of the same name."""
    inertias = {link.name: _inertia_row(link) for link in described.links}
    joints = [part for joint in described.joints for part in _joints(joint, inertias)]
    root = described.base
    if base == FLOATING:
        outside = unused(WORLD, {*inertias, *(frame.name for frame in described.frames)})
        name = unused("floating_base", {joint.name for joint in joints})
        joints.insert(0, Joint(name=name, kind="free", parent=outside, link=root, inertia=NOTHING))
        root = outside
    try:
        robot = assembled(
            _with_shared_springs(_with_shared_friction(joints)),
            {root: NO_INERTIA} | inertias,
            name=described.name,
            gravity=gravity if gravity is not None else EARTH if described.gravity is None else described.gravity,
            frames={frame.name: (frame.link, frame.pose) for frame in described.frames},
            base=root,
            coulomb_width=described.coulomb_width,
            order=_order(described.order, joints),
            rigid=described.rigid,
        )
    except TorsorError as error:
        raise error.at("assemble") from None
    if described.exact is not None:
        robot = _with_exact_numbers(robot, described, described.exact)
    return robot.with_visuals(described.visuals) if described.visuals else robot


@exact_constants()
def inertia_of(link: LinkPart) -> Inertia:
    """The inertia of a link, in its frame."""
    if link.mass is None:
        return Inertia.zero()
    straight = link.turn.tolist() == _NOT_TURNED
    matrix = link.matrix if straight else matmul(link.turn, matmul(link.matrix, link.turn.T))
    if link.unchecked:
        six = matrix[np.triu_indices(3)].tolist()
        return Inertia.unchecked(moved_from_com(link.mass, link.com.tolist(), six))
    return Inertia(link.mass, link.com, matrix)


def _inertia_row(link: LinkPart) -> InertiaRow:
    """The ten numbers of `inertia_of`: most links need no more, for their numbers have been checked."""
    if link.mass is None:
        return NO_INERTIA
    if link.sound and link.turn.tolist() == _NOT_TURNED:
        return moved_from_com(link.mass, link.com.tolist(), link.moments.tolist())
    return inertia_of(link).row


def _joints(joint: JointPart, inertias: dict[str, InertiaRow]) -> list[Joint]:
    """The joint of the model, or two: their own inertias do not count, ``inertias`` by link do."""
    bounds: dict[str, Any] = dict(zip(MOTION, _motion_of(joint), strict=True))
    bounds = {name: value for name, value in bounds.items() if value is not None}  # where there is no limit
    one_freedom, moves = joint.kind in ONE_FREEDOM, joint.kind != "fixed"
    one = Joint(
        name=joint.name,
        kind=joint.kind,
        parent=joint.parent,
        link=joint.child,
        pose=joint.pose,
        axis=joint.axis if one_freedom else None,
        pitch=joint.pitch if one_freedom else 0.0,
        screw=joint.screw if one_freedom else None,
        inertia=NOTHING,
        mimic=joint.mimic if moves else None,
        **(bounds if moves else {}),
    )
    turn = None if joint.kind != "planar" or joint.axis is None else _to_axis(joint.axis)
    if turn is None:
        return [one]
    # The plane of motion is normal to the axis, ours is x-y: move in turned axes, and turn back.
    plane = f"{joint.child}_plane"
    inertias[plane] = NO_INERTIA
    there, back = (
        check_pose(f"joint {joint.name!r}: pose", T) for T in (composed(joint.pose, turn), se3.inverse(turn))
    )
    moving = replace(one, link=plane, pose=there)
    turned = Joint(name=f"{joint.name}_turn", kind="fixed", parent=plane, link=joint.child, pose=back, inertia=NOTHING)
    return [moving, turned]


def _to_axis(axis: Vector3) -> Pose | None:
    """A pose (4, 4) whose z axis is ``axis``; None if that is z already."""
    z = unit(axis)
    if z[0] == 0 and z[1] == 0 and z[2] > 0:
        return None
    x = unit(cross(np.eye(3)[np.argmin(np.abs(z))], z))
    turn = np.eye(4)
    turn[:3, :3] = np.stack([x, cross(z, x), z], axis=-1)
    return turn


def _with_shared_friction(joints: list[Joint]) -> list[Joint]:
    """A follower's friction and armature act on its leader: by the ratio squared, Coulomb friction by its size."""
    added: dict[str, dict[str, Array]] = {}
    result = []
    for joint in joints:
        fields = ("armature", "viscous_friction", "coulomb_friction")
        if joint.mimic is not None and any(np.any(getattr(joint, field)) for field in fields):
            r = joint.mimic.ratio
            weights = dict(zip(fields, (r * r, r * r, abs(r)), strict=True))
            mine = added.setdefault(joint.mimic.joint, dict.fromkeys(weights, 0.0))
            for field, weight in weights.items():
                mine[field] = mine[field] + weight * np.asarray(getattr(joint, field), float)
            joint = replace(joint, armature=0.0, viscous_friction=0.0, coulomb_friction=0.0)
        result.append(joint)
    return [
        replace(joint, **{field: getattr(joint, field) + extra for field, extra in added[joint.name].items()})
        if joint.name in added
        else joint
        for joint in result
    ]


def _with_shared_springs(joints: list[Joint]) -> list[Joint]:
    """A follower's spring acts on its leader: ½ k_f (r q + o − s_f)² is ½ k_f r² (q − (s_f − o)/r)², and two springs are one.

    k = Σ k_i and k · rest = Σ k_i · rest_i; the energy of the two differs from that of the one by a constant.
    """
    added: dict[str, tuple[float, float]] = {}
    for joint in joints:
        if joint.mimic is not None and np.any(joint.stiffness):
            r, o, k = joint.mimic.ratio, joint.mimic.offset, float(np.ravel(joint.stiffness)[0])
            stiffness, moment = added.get(joint.mimic.joint, (0.0, 0.0))
            added[joint.mimic.joint] = stiffness + k * r * r, moment + k * r * (float(np.ravel(joint.rest)[0]) - o)
    result = []
    for joint in joints:
        if joint.mimic is not None:
            joint = replace(joint, stiffness=0.0, rest=0.0)
        elif added.get(joint.name, (0.0,))[0]:
            (k, moment), own = added[joint.name], float(np.ravel(joint.stiffness)[0])
            rest = (moment + own * float(np.ravel(joint.rest)[0])) / (own + k)
            joint = replace(joint, stiffness=own + k, rest=rest)
        result.append(joint)
    return result


def _order(order: list[str] | None, joints: list[Joint]) -> list[str] | None:
    """The order of q, fitted to joints that loading has added (a floating base, first) or made fixed."""
    if order is None:
        return None
    free = [joint.name for joint in joints if joint.kind != "fixed" and joint.mimic is None]
    return [*(name for name in free if name not in order), *(name for name in order if name in free)]


def _with_exact_numbers(robot: Robot, described: Description, exact: Exact) -> Robot:
    """``robot`` with the numbers of the file wherever building gave the same up to rounding; repaired ones stay."""
    s, p = robot.structure, robot.parameters
    poses, screws, couplings = p.poses.copy(), p.screws.copy(), list(s.couplings)
    for i, name in enumerate(s.joints):
        given = exact.joints.get(name)
        if given is None:
            continue
        if np.array_equal(poses[i], given.pose):  # the sign of a zero is all that can differ
            poses[i] = given.pose
        if given.screw is not None and _same_screw(screws[i], given.screw):
            screws[i] = given.screw
            coordinate, ratio, offset = couplings[i]
            if _same(ratio, given.ratio) and _same(offset, given.offset):
                couplings[i] = Coupling(coordinate, given.ratio, given.offset)
    frame_poses = p.frame_poses.copy()
    given_frames = {frame.name: frame.pose for frame in described.frames}
    for frame in s.frames:
        if frame.name in given_frames and np.array_equal(frame_poses[frame.pose_row], given_frames[frame.name]):
            frame_poses[frame.pose_row] = given_frames[frame.name]
    rank = {name: k for k, name in enumerate(exact.frame_order or ())}
    inertias, base_inertia = _inertias(robot, described, exact)
    changed = robot.with_parameters(
        poses=poses, screws=screws, inertias=inertias, base_inertia=base_inertia, frame_poses=frame_poses
    )
    frames = tuple(sorted(s.frames, key=lambda frame: rank.get(frame.name, -1)))
    return replace(changed, structure=replace(s, couplings=tuple(couplings), frames=frames))


def _inertias(robot: Robot, described: Description, exact: Exact) -> tuple[Array, Array]:
    """Inertia rows (n, 10) and that of the base (10,), as given for links that carry nothing fixed and were not repaired."""
    s = robot.structure
    rows, base_row = robot.parameters.inertias.copy(), robot.parameters.base_inertia
    index = {name: i for i, name in enumerate(s.links)}
    carrying = {joint.parent for joint in described.joints if joint.kind == "fixed"}
    for link in described.links:
        given = exact.bodies.get(link.name)
        if given is None or link.moments is not given.moments or link.name in carrying:
            continue
        if link.name == s.base:
            base_row = given.row
        elif link.name in index:
            rows[index[link.name]] = given.row
    return rows, base_row


def _same_screw(made: Twist, given: Twist) -> bool:
    change = np.abs(made - given)
    return bool(
        np.all(change[:3] <= ROUNDING) and np.all(change[3:] <= ROUNDING * max(1.0, float(np.abs(given[3:]).max())))
    )


def _same(made: float, given: float) -> bool:
    return abs(made - given) <= ROUNDING * abs(given)
