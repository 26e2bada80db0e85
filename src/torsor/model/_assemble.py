"""From a list of joints, each with the link it moves, to a robot; and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, exact_constants, is_concrete, known_numbers, stack_matrices, stack_vectors
from torsor.arrays.typing import Array, GivenVector3, Pose, Vector3
from torsor.border import explained
from torsor.errors import ModelError, unknown_name
from torsor.lie import unchecked as lie
from torsor.model.inertia import Inertia
from torsor.model.joint_kinds import KINDS
from torsor.model.joints import Joint, Mimic, UnitScrew, field_numbers, unit_screw
from torsor.model.parameters import Parameters, refuse_impossible_springs
from torsor.model.poses import AT_REST, check_pose, composed, settled_pose
from torsor.model.robot import Robot
from torsor.model.structure import Coordinate, Coupling, Frame, Limits, Structure, coordinates_in_order

EARTH = (0.0, 0.0, -9.81)
_OF_FREEDOMS = ("armature", "viscous_friction", "coulomb_friction", "stiffness", "rest")
_STRUCTURAL = ("lower", "upper", "velocity_limit", "effort_limit")
_LARGEST = float(np.finfo(float).max)
_LIMITS = {"lower": (-np.inf, _LARGEST), "upper": (-_LARGEST, np.inf)} | dict.fromkeys(_STRUCTURAL[2:], (0.0, np.inf))


class Placement(NamedTuple):
    """Where a described link ended up: on which moving link (−1: the base), and at which pose of it."""

    link: int
    pose: Pose


@explained
@exact_constants()
def assemble(
    joints: Iterable[Joint],
    *,
    name: str = "robot",
    gravity: GivenVector3 = EARTH,
    frames: Mapping[str, tuple[str, Pose]] | None = None,
    base: str = "base",
    base_inertia: Inertia | None = None,
    coulomb_width: float = 0.0,
    order: Iterable[str] | None = None,
) -> Robot:
    """A robot from its joints, given in any order (lengths m, angles rad, masses kg) [PBP95, (23)].

    Joints are numbered depth first, siblings in the order given; q, v and links follow (or ``order``, joint names).
    Fixed joints are lumped: their inertia joins the link they are fixed to and their link stays as a named frame.

    Parameters
    ----------
    joints : iterable of Joint
    name : str, optional
        Name of the robot.
    gravity : (3,) array, optional
        Acceleration of free fall in base axes, m/s².
    frames : mapping, optional
        Name → (link name, pose (4, 4) in that link's frame) of further frames.
    base : str, optional
        Name of the base link.
    base_inertia : Inertia, optional
        Inertia of the base link, which moves only with a moving base.
    coulomb_width : float, optional
        Velocity, rad/s or m/s, within which Coulomb friction is smooth: tanh(v / width); 0 is the sign of v.
    order : iterable of str, optional
        Names of the joints in the order of q.

    Returns
    -------
    Robot
    """
    described = list(joints)
    _check_names(described, base)
    ordered = depth_first(described, base, attrgetter("link"))
    if len(ordered) < len(described):
        lost = sorted({joint.name for joint in described} - {joint.name for joint in ordered})
        raise ModelError(f"joints {', '.join(lost)} do not hang on the base {base!r}: their parents form a cycle.")
    moving = [joint for joint in ordered if joint.kind != "fixed"]
    if not moving:
        raise ModelError(f"robot {name!r} has no moving joint: nothing is left to compute.")

    placed, parents, poses, (base_row, *rows) = _lumped(ordered, base, (base_inertia or Inertia.zero()).row)
    screws = [_motion(joint) for joint in moving]
    coordinates = _coordinates(moving, screws, order)
    named_frames, frame_poses = _frames(placed, moving, base, frames or {})
    structure = Structure(
        name=name,
        base=base,
        joints=tuple(joint.name for joint in moving),
        links=tuple(joint.link for joint in moving),
        parents=tuple(parents),
        kinds=tuple(screw.kind for screw in screws),
        couplings=_couplings(moving, screws, coordinates),
        coordinates=coordinates,
        frames=named_frames,
        limits=limits_of(moving, coordinates),
        coulomb_width=float(coulomb_width),
    )
    parameters = Parameters(
        poses=stack_matrices(poses),
        screws=stack_vectors([screw.screw for screw in screws]),
        inertias=stack_vectors(rows),
        gravity=_vector3(name, "gravity", gravity),
        **{field: _per_freedom(moving, coordinates, field) for field in _OF_FREEDOMS},
        frame_poses=frame_poses,
        base_inertia=base_row,
    ).frozen()
    parameters.refuse_non_finite(name)
    refuse_impossible_springs(structure, parameters)
    return Robot(structure, parameters)


@exact_constants()
def disassemble(robot: Robot) -> list[Joint]:
    """The joints of a robot, such that `assemble` gives the robot back (its frames apart)."""
    s, p = robot.structure, robot.parameters
    described = []
    for i, name in enumerate(s.joints):
        c, coupling = s.coordinate_of(i), s.couplings[i]
        joint = Joint(
            name=name,
            kind=s.kinds[i],
            parent=s.base if s.parents[i] < 0 else s.links[s.parents[i]],
            link=s.links[i],
            pose=p.poses[i],
            screw=p.screws[i] if s.kind_of(i).has_screw else None,
            inertia=Inertia.unchecked(p.inertias[i]),
        )
        if c.name == name:
            joint = replace(
                joint,
                screw=None if joint.screw is None else coupling.ratio * joint.screw,
                lower=np.array(s.limits.lower[c.q]),
                upper=np.array(s.limits.upper[c.q]),
                velocity_limit=np.array(s.limits.velocity[c.v]),
                effort_limit=np.array(s.limits.effort[c.v]),
                armature=p.armature[c.v],
                viscous_friction=p.viscous_friction[c.v],
                coulomb_friction=p.coulomb_friction[c.v],
                stiffness=p.stiffness[c.v],
                rest=p.rest[c.v],
            )
        else:
            joint = replace(joint, mimic=Mimic(c.name, coupling.ratio, coupling.offset))
        described.append(joint)
    return described


def frames_of(robot: Robot) -> dict[str, tuple[str, Pose]]:
    """The named frames of a robot (links and base apart), as `assemble` takes them."""
    s = robot.structure
    return {
        frame.name: (s.base if frame.link < 0 else s.links[frame.link], robot.parameters.frame_poses[frame.pose_row])
        for frame in s.frames
        if frame.pose_row is not None
    }


def _check_names(joints: list[Joint], base: str) -> None:
    for what, names in (("joint", [j.name for j in joints]), ("link", [base, *(j.link for j in joints)])):
        doubled = {name for name, times in Counter(names).items() if times > 1}
        if doubled:
            raise ModelError(f"{what} names must be unique, repeated: {', '.join(sorted(doubled))}.")
    known = dict.fromkeys([base, *(joint.link for joint in joints)])
    for joint in joints:
        if joint.parent not in known:
            where = f"the parent of joint {joint.name!r} is unknown; the robot"
            raise unknown_name(where, "link", joint.parent, known, ", ".join(known))


def depth_first(joints: Iterable[Any], base: str, link: Callable[[Any], str]) -> list[Any]:
    """The joints that hang on the base, outwards, siblings in their order; ``link`` names what a joint carries."""
    children: dict[str, list[Any]] = {}
    for joint in joints:
        children.setdefault(joint.parent, []).append(joint)
    ordered: list[Any] = []
    waiting = children.get(base, [])[::-1]
    while waiting:
        ordered.append(waiting.pop())
        waiting += children.get(link(ordered[-1]), [])[::-1]
    return ordered


def _lumped(
    ordered: list[Joint], base: str, base_row: Array
) -> tuple[dict[str, Placement], list[int], list[Pose], list[Array]]:
    """Where each link is; parents, poses and inertias of what moves, the base's inertia first. Fixed links join their parents."""
    placed: dict[str, Placement] = {base: Placement(-1, AT_REST)}
    parents: list[int] = []
    poses: list[Pose] = []
    rows: list[Array] = [base_row]
    for joint in ordered:
        parent = placed[joint.parent]
        pose = check_pose(f"joint {joint.name!r}: pose", joint.pose)
        pose = settled_pose(pose) if parent.pose is AT_REST else composed(parent.pose, pose)
        if joint.kind == "fixed":
            placed[joint.link] = Placement(parent.link, pose)
            rows[parent.link + 1] = rows[parent.link + 1] + lie.transform_inertia(pose, joint.inertia.row)
            continue
        placed[joint.link] = Placement(len(parents), AT_REST)
        parents.append(parent.link)
        poses.append(pose)
        rows.append(joint.inertia.row)
    return placed, parents, poses, rows


def _motion(joint: Joint) -> UnitScrew:
    if joint.kind in KINDS and not KINDS[joint.kind].has_screw:
        return UnitScrew(joint.kind, np.zeros(6), 1.0)
    return unit_screw(joint)


def _coordinates(moving: list[Joint], screws: list[UnitScrew], order: Iterable[str] | None) -> tuple[Coordinate, ...]:
    kinds = {joint.name: screw.kind for joint, screw in zip(moving, screws, strict=True) if joint.mimic is None}
    names = list(kinds) if order is None else list(order)
    if sorted(names) != sorted(kinds):
        raise ModelError(
            f"the order of coordinates must name each of {', '.join(kinds)} exactly once, got {', '.join(names)}."
        )
    return coordinates_in_order([(name, kinds[name]) for name in names])


def _couplings(
    moving: list[Joint], screws: list[UnitScrew], coordinates: tuple[Coordinate, ...]
) -> tuple[Coupling, ...]:
    index = {c.name: k for k, c in enumerate(coordinates)}
    kinds = {joint.name: screw.kind for joint, screw in zip(moving, screws, strict=True)}
    couplings = []
    for joint, screw in zip(moving, screws, strict=True):
        if joint.mimic is None:
            couplings.append(Coupling(index[joint.name], float(screw.ratio)))
            continue
        leader, ratio, offset = joint.mimic
        if not is_concrete(ratio, offset):
            raise ModelError(
                f"joint {joint.name!r}: ratio and offset of a mimic joint are part of a robot's structure, and cannot be traced."
            )
        if leader not in index or KINDS[kinds[leader]].nv != 1 or not KINDS[screw.kind].has_screw:
            raise ModelError(
                f"joint {joint.name!r} mimics {leader!r}: both must be moving joints with one degree of freedom, "
                "and the leader must not itself be a mimic joint."
            )
        couplings.append(Coupling(index[leader], float(screw.ratio * ratio), float(screw.ratio * offset)))
    return tuple(couplings)


def _frames(
    placed: dict[str, Placement], moving: list[Joint], base: str, extra: Mapping[str, tuple[str, Pose]]
) -> tuple[tuple[Frame, ...], Array]:
    links = {joint.link for joint in moving}
    frames: list[Frame] = []
    poses: list[Pose] = []
    for name, place in placed.items():
        if name == base or name in links:
            frames.append(Frame(name, place.link))
        else:
            frames.append(Frame(name, place.link, len(poses)))
            poses.append(place.pose)
    for name, (link, pose) in extra.items():
        if name in placed:
            raise ModelError(f"frame {name!r} has the name of a link.")
        if link not in placed:
            raise unknown_name(
                f"frame {name!r} sits on an unknown link; the robot", "link", link, placed, ", ".join(placed)
            )
        frames.append(Frame(name, placed[link].link, len(poses)))
        poses.append(composed(placed[link].pose, check_pose(f"frame {name!r}: pose", pose)))
    return tuple(frames), stack_matrices(poses) if poses else np.zeros((0, 4, 4))


def limits_of(moving: list[Joint], coordinates: tuple[Coordinate, ...]) -> Limits:
    """Limits of all coordinates; those of a joint that follows another bind its leader."""
    for joint in moving:
        _refuse_bad_limits(joint)
    own = {joint.name: joint for joint in moving}
    if all(c.nq == 1 and _has_plain_limits(own[c.name]) for c in coordinates) and len(coordinates) == len(moving):
        return Limits(*(tuple(getattr(own[c.name], field) for c in coordinates) for field in _STRUCTURAL))
    lower = {c.name: _bounds(own[c.name], "lower", c.nq, -np.inf) for c in coordinates}
    upper = {c.name: _bounds(own[c.name], "upper", c.nq, np.inf) for c in coordinates}
    velocity = {c.name: _spread(own[c.name], "velocity_limit", c.nv) for c in coordinates}
    effort = {c.name: _spread(own[c.name], "effort_limit", c.nv) for c in coordinates}
    # A follower's limits bind its leader: q_f = ratio q + offset, v_f = ratio v, and its force does ratio f.
    for joint in moving:
        if joint.mimic is not None and joint.mimic.ratio:
            leader, ratio = joint.mimic.joint, joint.mimic.ratio
            ends = (np.array([joint.lower, joint.upper], float).ravel() - joint.mimic.offset) / ratio
            lower[leader] = np.maximum(lower[leader], ends.min()) + 0.0  # no −0.0, which sorts below 0.0 for some
            upper[leader] = np.minimum(upper[leader], ends.max()) + 0.0
            velocity[leader] = np.minimum(velocity[leader], _of_follower(joint, "velocity_limit") / abs(ratio))
            effort[leader] = np.minimum(effort[leader], _of_follower(joint, "effort_limit") * abs(ratio))
    for name in lower:
        if (lower[name] > upper[name]).any():
            raise ModelError(
                f"joint {name!r}: lower limit {lower[name].tolist()} exceeds upper limit {upper[name].tolist()}."
            )
    return Limits(
        *(tuple(float(x) for c in coordinates for x in limit[c.name]) for limit in (lower, upper, velocity, effort))
    )


def _has_plain_limits(joint: Joint) -> bool:
    """Whether there is one number for each, in their order: nothing to spread, and nothing wrong."""
    return all(type(getattr(joint, field)) is float for field in _STRUCTURAL) and joint.lower <= joint.upper


def _refuse_bad_limits(joint: Joint) -> None:
    for field in _STRUCTURAL:
        if type(given := getattr(joint, field)) is float and _LIMITS[field][0] <= given <= _LIMITS[field][1]:
            continue  # one number, as nearly every file gives
        value = _plain_limit(joint, field)
        if np.isnan(value).any():
            raise ModelError(
                f"joint {joint.name!r}: `{field}` must not be NaN; where there is no limit, it is infinite."
            )
        if (field == "lower" and np.any(value == np.inf)) or (field == "upper" and np.any(value == -np.inf)):
            raise ModelError(f"joint {joint.name!r}: no position is within the limit `{field}` {value.tolist()}.")
        if field.endswith("_limit") and np.any(value < 0):
            raise ModelError(f"joint {joint.name!r}: `{field}` must not be negative, got {value.tolist()}.")


def _plain_limit(joint: Joint, field: str) -> Array:
    """A limit as plain numbers of any shape."""
    value = field_numbers(joint, field, more="; where there is no limit, it is infinite")
    if not is_concrete(value):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` is traced, but limits are part of a robot's structure: give plain numbers."
        )
    return value


def _of_follower(joint: Joint, field: str) -> Array:
    """A follower's limit (1,); none if it is zero, as files say it of joints without a motor."""
    value = _spread(joint, field, 1)
    return np.where(value == 0, np.inf, value)


def _bounds(joint: Joint, field: str, size: int, none: float) -> Array:
    """Bounds (nq,) of one joint's numbers. One number for all of them bounds no quaternion: of a free joint its place alone."""
    bounds = _spread(joint, field, size)
    place = KINDS[joint.kind].bounded if joint.kind in KINDS else size
    if place == size or np.size(getattr(joint, field)) > 1:
        return bounds
    if not place and np.isfinite(bounds[0]):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` {bounds[0]:g} cannot bound a spherical joint, whose numbers are a quaternion; "
            "ranges of angles need joints with one number each: three revolute ones, say."
        )
    return np.append(bounds[:place], np.full(size - place, none))


def _per_freedom(moving: list[Joint], coordinates: tuple[Coordinate, ...], field: str) -> Array:
    own = {joint.name: joint for joint in moving}
    if all(c.nv == 1 and type(getattr(own[c.name], field)) is float for c in coordinates):
        values = np.array([getattr(own[c.name], field) for c in coordinates])
    else:
        values = concat([_spread(own[c.name], field, c.nv) for c in coordinates])
    if field != "rest" and is_concrete(values) and np.any(values < 0):
        names = [c.name for c in coordinates if np.any(_spread(own[c.name], field, c.nv) < 0)]
        raise ModelError(f"joint {names[0]!r}: `{field}` must not be negative.")
    for joint in moving:
        if joint.mimic is not None and not _is_zero(getattr(joint, field)):
            raise ModelError(
                f"joint {joint.name!r} is a mimic joint: give `{field}` to its leader {joint.mimic.joint!r}."
            )
    return values


def _spread(joint: Joint, field: str, size: int) -> Array:
    if type(given := getattr(joint, field)) is float:
        return np.full(size, given)
    value = field_numbers(joint, field, f"a number or {size} numbers")
    if tuple(value.shape) not in ((), (1,), (size,)):
        raise ModelError(
            f"joint {joint.name!r}: `{field}` must be a number or {size} numbers, got shape {value.shape}."
        )
    return np.broadcast_to(value, (size,)) if is_concrete(value) else value * np.ones(size)


def _is_zero(value: Array) -> bool:
    numbers = known_numbers(value)
    return is_concrete(numbers) and not np.any(numbers)


def _vector3(owner: str, field: str, value: Vector3) -> Array:
    vector = known_numbers(value)
    if tuple(vector.shape) != (3,):
        raise ModelError(f"robot {owner!r}: `{field}` must have 3 numbers, got shape {vector.shape}.")
    return vector
