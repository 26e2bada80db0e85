"""Changes to a robot: its structure, taken apart, changed and assembled anew; its limits, by joint name or for all joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from torsor.arrays import exact_constants, matmul, matvec
from torsor.arrays.typing import Array
from torsor.border.arrays import plain_numbers
from torsor.errors import ArgumentError, ArgumentTypeError, ModelError, ShapeError, unknown_name
from torsor.lie.unchecked import se3
from torsor.model._assemble import assemble, disassemble, frames_of
from torsor.model.inertia import Inertia
from torsor.model.joint_kinds import KINDS
from torsor.model.joint_limits import limits_of
from torsor.model.joints import Joint
from torsor.model.poses import composed
from torsor.model.robot import Robot
from torsor.model.structure import Coordinate
from torsor.model.visuals import renamed

SAME = 1e-9  # rad or m, or of the position: how far apart two positions of one joint may be to be the same


@exact_constants()
def lock(robot: Robot, positions: Mapping[str, Array]) -> Robot:
    """``robot`` with the named joints held at positions (rad, m); their links' inertia joins the parent's.

    A joint that follows another is held by holding its leader, and so is all that follows the same leader.
    """
    if not isinstance(positions, Mapping):
        some = positions if isinstance(positions, (list, tuple, set)) else [positions]
        joints_at = (
            ", ".join(f"{name!r}: 0.0" for name in some if isinstance(name, str)) or f"{robot.coordinates[0]!r}: 0.0"
        )
        raise ArgumentTypeError(
            f"lock: `positions` must say where each joint is held, as in robot.lock({{{joints_at}}}), got "
            f"{type(positions).__name__} {positions!r:.60}."
        )
    positions = _of_leaders(robot, positions)
    joints = []
    for joint in disassemble(_concrete("lock", robot)):
        leader = joint.mimic.joint if joint.mimic else joint.name
        if leader in positions:
            value = _position(robot, leader, positions[leader])
            if joint.mimic:
                value = joint.mimic.ratio * value + joint.mimic.offset
            pose = composed(joint.pose, _motion(joint, value))
            joint = replace(joint, kind="fixed", pose=pose, screw=None, mimic=None)
        joints.append(joint)
    order = [name for name in robot.coordinates if name not in positions]
    return _rebuild(robot, joints, order).with_source(robot.source)


@exact_constants()
def subtree(robot: Robot, joint: str) -> Robot:
    """The part of ``robot`` from ``joint`` outwards, on a base held where the joint's parent link is at neutral."""
    s = _concrete("subtree", robot).structure
    root = s.joint_index(joint)
    kept = [i for i in range(s.n) if root in s.path_from_base(i)]
    names = [s.joints[i] for i in kept]
    for i in kept:
        if s.coordinate_of(i).name not in names:
            raise ModelError(
                f"subtree: joint {s.joints[i]!r} follows {s.coordinate_of(i).name!r}, which is not part of it. "
                "Lock the leader first."
            )
    joints = [j for j in disassemble(robot) if j.name in names]
    base = s.base if s.parents[root] < 0 else s.links[s.parents[root]]
    links = {base, *(j.link for j in joints)}
    frames = {name: place for name, place in frames_of(robot).items() if place[0] in links}
    row = robot.parameters.base_inertia if s.parents[root] < 0 else robot.parameters.inertias[s.parents[root]]
    order, gravity = [name for name in robot.coordinates if name in names], _gravity_at(robot, s.parents[root])
    name, inertia = f"{robot.name}/{joint}", Inertia.unchecked(row)
    return _rebuild(robot, joints, order, name=name, gravity=gravity, frames=frames, base=base, base_inertia=inertia)


def rename(robot: Robot, names: Mapping[str, str], robot_name: str | None) -> Robot:
    """``robot`` with joints, links and frames renamed (old → new)."""
    s = robot.structure
    known = {*s.joints, *robot.frames}
    for old in names:
        if old not in known:
            raise unknown_name(f"robot {robot.name!r}", "name", old, known, "robot.joints, robot.frames")

    def new(name: str) -> str:
        return names.get(name, name)

    structure = replace(
        s,
        name=robot_name or s.name,
        base=new(s.base),
        joints=tuple(map(new, s.joints)),
        links=tuple(map(new, s.links)),
        coordinates=tuple(c._replace(name=new(c.name)) for c in s.coordinates),
        frames=tuple(f._replace(name=new(f.name)) for f in s.frames),
    )
    for what, all_names in (("joint", structure.joints), ("frame", tuple(f.name for f in structure.frames))):
        if len(set(all_names)) < len(all_names):
            raise ModelError(f"rename: two {what}s would have the same name.")
    return Robot(structure, robot.parameters, robot.source, renamed(robot.visuals, names))


@exact_constants()
def reorder(robot: Robot, coordinates: Sequence[str]) -> Robot:
    """``robot`` with q, v and tau in the order of these joint names; links keep their order."""
    return _rebuild(robot, disassemble(_concrete("reorder", robot)), coordinates).with_source(robot.source)


def _rebuild(robot: Robot, joints: list[Joint], order: Sequence[str], **changes: Any) -> Robot:
    """A robot of other joints, and the same for all else but what changes."""
    p, s = robot.parameters, robot.structure
    same = {"name": robot.name, "gravity": p.gravity, "base": s.base, "base_inertia": Inertia.unchecked(p.base_inertia)}
    options: dict[str, Any] = {**same, "frames": frames_of(robot), "coulomb_width": s.coulomb_width, **changes}
    return assemble(joints, order=order, **options).with_visuals(robot.visuals)


def _of_leaders(robot: Robot, positions: Mapping[str, Array]) -> dict[str, Array]:
    """Positions of coordinates, from those of joints: q = (q_f − offset) / ratio of the leader of a joint f that follows."""
    s = robot.structure
    for name in positions:
        if name not in s.joints:
            raise unknown_name(f"robot {robot.name!r}", "joint", name, s.joints, "robot.joints")
    held = {name: value for name, value in positions.items() if name in robot.coordinates}
    said = {name: f"joint {name!r}" for name in held}
    for name in positions:
        if name in robot.coordinates:
            continue
        i = s.joint_index(name)
        leader, (_, ratio, offset) = s.coordinate_of(i).name, s.couplings[i]
        wanted = _position(robot, name, positions[name])
        if ratio == 0.0 and leader not in held:
            raise ModelError(
                f"lock: joint {name!r} follows {leader!r} with ratio 0, so it never leaves {offset:g}; lock {leader!r}, or leave "
                f"{name!r} as it is."
            )
        if leader not in held:
            held[leader], said[leader] = (wanted - offset) / ratio, f"joint {name!r} at {float(wanted):g}"
            continue
        follows = ratio * _position(robot, leader, held[leader]) + offset
        if abs(follows - wanted) > SAME * max(1.0, abs(float(wanted))):
            raise ModelError(
                f"lock: joint {name!r} follows {leader!r} (ratio {ratio:g}, offset {offset:g}): holding {said[leader]} puts it "
                f"at {float(follows):g}, and `positions` wants it at {float(wanted):g}. Name one of them alone."
            )
    return held


def _position(robot: Robot, coordinate: str, value: Array) -> Array:
    width = robot.q_slice(coordinate).stop - robot.q_slice(coordinate).start
    numbers = plain_numbers("lock", f"positions[{coordinate!r}]", value)
    if numbers.size != width or not np.all(np.isfinite(numbers)):
        raise ModelError(
            f"lock: joint {coordinate!r} takes {width} finite number{'s' * (width > 1)}, got {numbers.tolist()}."
        )
    return numbers.reshape(()) if width == 1 else numbers.reshape(width)


def _gravity_at(robot: Robot, link: int) -> Array:
    """Gravity in the axes of a link, with the robot at its neutral configuration."""
    s, p = robot.structure, robot.parameters
    R = np.eye(3)
    for i in s.path_from_base(link):
        R = matmul(R, matmul(p.poses[i], se3.exp(s.couplings[i].offset * p.screws[i]))[:3, :3])
    return matvec(R.T, p.gravity)


def _motion(joint: Joint, value: Array) -> Array:
    """Pose (4, 4) of a joint away from home, for a configuration of that joint."""
    if joint.screw is not None:
        return se3.exp(np.asarray(joint.screw) * value)
    return KINDS[joint.kind].motion(np.zeros(6), value)


def _concrete(what: str, robot: Robot) -> Robot:
    if not robot.parameters.is_concrete:
        raise ArgumentError(
            f"{what}: robot {robot.name!r} holds traced parameters; change its structure before tracing."
        )
    return robot


WHO = "with_limits"
FIELDS = {"position": ("lower", "upper"), "velocity": ("velocity_limit",), "effort": ("effort_limit",)}
NONE = {"lower": -np.inf, "upper": np.inf, "velocity_limit": np.inf, "effort_limit": np.inf}


def with_limits(robot: Robot, position: Any, velocity: Any, effort: Any) -> Robot:
    """``robot`` with other limits; None keeps what there is. See `Robot.with_limits`."""
    s = robot.structure
    joints = {
        joint.name: joint for joint in disassemble(robot)
    }  # a joint that follows another has no limits of its own left
    for kind, given in (("position", position), ("velocity", velocity), ("effort", effort)):
        if given is None:
            continue
        if isinstance(given, Mapping):
            for name, value in given.items():
                if name not in joints:
                    raise unknown_name(f"{WHO}: robot {robot.name!r}", "joint", name, s.joints, "robot.joints")
                joint = joints[name]
                _refuse_removing(joint, kind, value)
                joints[name] = replace(joint, **_bounds(f"{kind}[{name!r}]", kind, value, lambda x: x))
            continue
        for c in s.coordinates:
            joints[c.name] = replace(joints[c.name], **_bounds(kind, kind, given, _share(robot, c, kind)))
    limits = limits_of(list(joints.values()), s.coordinates)
    return replace(robot, structure=replace(s, limits=limits))


def _bounds(what: str, kind: str, value: Any, share: Callable[[Array], Array]) -> dict[str, Array]:
    """The fields of a `Joint` that a limit sets: ``value`` is a pair (lower, upper) of positions, one bound of the others."""
    fields = FIELDS[kind]
    if value is None:
        return {field: np.asarray(NONE[field]) for field in fields}
    if kind != "position":
        return {fields[0]: share(plain_numbers(WHO, what, value))}
    if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) != 2:
        raise ShapeError(
            f"{WHO}: `{what}` must be a pair (lower, upper), rad or m, as in (-1.0, 1.0); None or infinity where there is no "
            f"limit. Got {value!r:.60}."
        )
    pairs = zip(fields, value, strict=True)
    return {
        field: share(plain_numbers(WHO, f"{what}: {field}", NONE[field] if bound is None else bound))
        for field, bound in pairs
    }


def _share(robot: Robot, c: Coordinate, kind: str) -> Callable[[Array], Array]:
    """What of limits for the whole robot is for one coordinate: a number for all of them, or its part of (nq,) or (nv,)."""
    size, part = (robot.nq, c.q) if kind == "position" else (robot.nv, c.v)

    def share(bounds: Array) -> Array:
        if bounds.shape not in ((), (size,)):
            raise ShapeError(
                f"{WHO}: `{kind}` of all joints of robot {robot.name!r} is one number or {size} of them, got shape "
                f"{bounds.shape}; of some joints it is a mapping from names, as in {{{c.name!r}: ...}}."
            )
        return bounds[part] if bounds.shape else bounds

    return share


def _refuse_removing(joint: Joint, kind: str, value: Any) -> None:
    if value is None and joint.mimic is not None:
        raise ModelError(
            f"{WHO}: joint {joint.name!r} follows {joint.mimic.joint!r}, and its {kind} limit is kept in that of its leader: to "
            f"remove it, give {kind}={{{joint.mimic.joint!r}: None}}."
        )
