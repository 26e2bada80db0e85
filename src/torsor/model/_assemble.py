"""From a list of joints, each with the link it moves, to a robot; and back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, exact_constants, is_concrete, known_numbers, stack_matrices, stack_vectors
from torsor.arrays.typing import Array, GivenVector3, InertiaRow, Pose, Vector3
from torsor.border import explained
from torsor.errors import ModelError, unknown_name
from torsor.lie import unchecked as lie
from torsor.model.inertia import Inertia
from torsor.model.joint_kinds import KINDS
from torsor.model.joint_limits import limits_of
from torsor.model.joints import Joint, Mimic, UnitScrew, spread, unit_screw
from torsor.model.parameters import Parameters, refuse_impossible_springs
from torsor.model.poses import AT_REST, check_pose, check_poses, composed, settled_poses
from torsor.model.robot import Robot
from torsor.model.structure import Coordinate, Coupling, Frame, Structure, coordinates_in_order

EARTH = (0.0, 0.0, -9.81)
NO_INERTIA = np.zeros(10)
_OF_FREEDOMS = ("armature", "viscous_friction", "coulomb_friction", "stiffness", "rest")
_numbers_of_freedoms = attrgetter(*_OF_FREEDOMS)


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
    rows = {joint.link: joint.inertia.row for joint in described}
    rows[base] = NO_INERTIA if base_inertia is None else base_inertia.row
    return assembled(described, rows, name, gravity, frames or {}, base, coulomb_width, order, rigid=False)


@exact_constants()
def assembled(
    described: list[Joint],
    inertias: Mapping[str, InertiaRow],
    name: str,
    gravity: GivenVector3,
    frames: Mapping[str, tuple[str, Pose]],
    base: str,
    coulomb_width: float,
    order: Iterable[str] | None,
    *,
    rigid: bool,
) -> Robot:
    """`assemble` of joints whose own inertias do not count: ``inertias`` (10,) by link do, that of the base too.

    ``rigid``: the poses of all joints are as `check_pose` gives them.
    """
    _check_names(described, base)
    ordered = depth_first(described, base, attrgetter("link"))
    if len(ordered) < len(described):
        lost = sorted({joint.name for joint in described} - {joint.name for joint in ordered})
        raise ModelError(f"joints {', '.join(lost)} do not hang on the base {base!r}: their parents form a cycle.")
    moving = [joint for joint in ordered if joint.kind != "fixed"]
    if not moving:
        raise ModelError(f"robot {name!r} has no moving joint: nothing is left to compute.")

    placed, parents, poses, (base_row, *rows) = _lumped(ordered, base, inertias, rigid=rigid)
    screws = [_motion(joint) for joint in moving]
    coordinates = _coordinates(moving, screws, order)
    named_frames, frame_poses = _frames(placed, moving, base, frames)
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
        **_per_freedom(moving, coordinates),
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
    ordered: list[Joint], base: str, inertias: Mapping[str, InertiaRow], *, rigid: bool
) -> tuple[dict[str, Placement], list[int], list[Pose], list[Array]]:
    """Where each link is; parents, poses and inertias of what moves, the base's inertia first. Fixed links join their parents."""
    placed: dict[str, Placement] = {base: Placement(-1, AT_REST)}
    parents: list[int] = []
    poses: list[Pose] = []
    rows: list[Array] = [inertias[base]]
    given = [joint.pose for joint in ordered]
    if not rigid:
        given = check_poses(lambda i: f"joint {ordered[i].name!r}: pose", given)
    for joint, pose, settled in zip(ordered, given, settled_poses(given), strict=True):
        parent = placed[joint.parent]
        pose = settled if parent.pose is AT_REST else composed(parent.pose, pose)
        if joint.kind == "fixed":
            placed[joint.link] = Placement(parent.link, pose)
            rows[parent.link + 1] = rows[parent.link + 1] + lie.transform_inertia(pose, inertias[joint.link])
            continue
        placed[joint.link] = Placement(len(parents), AT_REST)
        parents.append(parent.link)
        poses.append(pose)
        rows.append(inertias[joint.link])
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


def _per_freedom(moving: list[Joint], coordinates: tuple[Coordinate, ...]) -> dict[str, Array]:
    """Armature, friction and springs of all degrees of freedom."""
    own = {joint.name: joint for joint in moving}
    numbers = [_numbers_of_freedoms(own[c.name]) for c in coordinates if c.nv == 1]
    if len(numbers) == len(moving) and all(type(x) is float for row in numbers for x in row):
        table = np.array(numbers).T
        if not (table[:-1] < 0).any():  # all but where springs rest
            return dict(zip(_OF_FREEDOMS, table, strict=True))
    return {field: _one_per_freedom(moving, coordinates, field) for field in _OF_FREEDOMS}


def _one_per_freedom(moving: list[Joint], coordinates: tuple[Coordinate, ...], field: str) -> Array:
    own = {joint.name: joint for joint in moving}
    values = concat([spread(own[c.name], field, c.nv) for c in coordinates])
    if field != "rest" and is_concrete(values) and np.any(values < 0):
        names = [c.name for c in coordinates if np.any(spread(own[c.name], field, c.nv) < 0)]
        raise ModelError(f"joint {names[0]!r}: `{field}` must not be negative.")
    for joint in moving:
        if joint.mimic is not None and not _is_zero(getattr(joint, field)):
            raise ModelError(
                f"joint {joint.name!r} is a mimic joint: give `{field}` to its leader {joint.mimic.joint!r}."
            )
    return values


def _is_zero(value: Array) -> bool:
    numbers = known_numbers(value)
    return is_concrete(numbers) and not np.any(numbers)


def _vector3(owner: str, field: str, value: Vector3) -> Array:
    vector = known_numbers(value)
    if tuple(vector.shape) != (3,):
        raise ModelError(f"robot {owner!r}: `{field}` must have 3 numbers, got shape {vector.shape}.")
    return vector
