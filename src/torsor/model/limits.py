"""Other limits for a robot: of positions, velocities and forces, by joint name or for all joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.arrays import plain_numbers
from torsor.errors import ModelError, ShapeError, unknown_name
from torsor.model._assemble import limits_of
from torsor.model.joints import Joint, Mimic
from torsor.model.robot import Robot
from torsor.model.structure import Coordinate

WHO = "with_limits"
FIELDS = {"position": ("lower", "upper"), "velocity": ("velocity_limit",), "effort": ("effort_limit",)}
NONE = {"lower": -np.inf, "upper": np.inf, "velocity_limit": np.inf, "effort_limit": np.inf}


def with_limits(robot: Robot, position: Any, velocity: Any, effort: Any) -> Robot:
    """``robot`` with other limits; None keeps what there is. See `Robot.with_limits`."""
    s = robot.structure
    joints = {joint.name: joint for joint in _limited_joints(robot)}
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


def _limited_joints(robot: Robot) -> list[Joint]:
    """Joints as the limits of the model know them: a joint that follows another has none of its own left."""
    s = robot.structure
    joints = []
    for i, name in enumerate(s.joints):
        c, coupling = s.coordinate_of(i), s.couplings[i]
        if c.name != name:
            joints.append(Joint(name=name, kind=s.kinds[i], mimic=Mimic(c.name, coupling.ratio, coupling.offset)))
            continue
        own = Joint(
            name=name,
            kind=s.kinds[i],
            lower=np.array(s.limits.lower[c.q]),
            upper=np.array(s.limits.upper[c.q]),
            velocity_limit=np.array(s.limits.velocity[c.v]),
            effort_limit=np.array(s.limits.effort[c.v]),
        )
        joints.append(own)
    return joints


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
