"""The numerical half of a robot: what one may want to differentiate by, identify, or randomise.

When a robot is given other screws or poses, numbers are refused that its joints, as they are, cannot have. Velocities use a screw
as it is given, the joint's motion the closed form of a unit screw of the joint's kind: with any other screw the two would belong
to different mechanisms.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import NamedTuple

import numpy as np

from torsor.arrays import is_concrete
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array, Twist
from torsor.errors import ModelError, ShapeError, UnknownName, unknown_name
from torsor.model.joint_kinds import KINDS
from torsor.model.poses import check_pose, tolerance_of
from torsor.model.structure import Structure

FOR_ALL = ("armature", "viscous_friction", "coulomb_friction")  # may be given as one number for all degrees of freedom


class Parameters(NamedTuple):
    """Arrays that describe a robot, in SI units; the leaves of the JAX pytree.

    ``poses`` (n, 4, 4): link frame in the parent's at q = 0 (before the coupling offset), m. ``screws`` (n, 6): unit
    screw of each joint in its link frame (zero for planar, spherical and free). ``inertias`` (n, 10): rows
    (m, m c, I about the link frame). ``gravity`` (3,): acceleration, m/s². ``armature``, ``viscous_friction``,
    ``coulomb_friction`` (nv,). ``stiffness`` (nv,), N·m/rad or N/m, and ``rest`` (nv,), rad or m: springs, zero for joints with
    several numbers. ``frame_poses`` (k, 4, 4): named frames in their link's frame. ``base_inertia`` (10,).
    """

    poses: Array
    screws: Array
    inertias: Array
    gravity: Array
    armature: Array
    viscous_friction: Array
    coulomb_friction: Array
    stiffness: Array
    rest: Array
    frame_poses: Array
    base_inertia: Array

    @property
    def is_concrete(self) -> bool:
        """Whether all are plain numbers, so that content may be inspected and hashed."""
        return all(is_concrete(leaf) for leaf in self)

    def replaced(self, changes: Mapping[str, Array], owner: str) -> Parameters:
        """These with some groups replaced, for `Robot.with_parameters` of the robot ``owner``; wrong shapes are refused."""
        groups = {}
        for name, value in changes.items():
            if name not in self._fields:
                raise unknown_group("with_parameters: a robot", name)
            refuse_foreign(value, name)
            shape = np.shape(getattr(self, name))
            one = name in FOR_ALL and (isinstance(value, Real) or getattr(value, "shape", None) == ())
            groups[name] = value * np.ones(shape) if one else value
            if np.shape(groups[name]) != shape:
                raise ShapeError(
                    f"with_parameters: `{name}` must have shape {shape} for robot {owner!r}, got {np.shape(value)}."
                )
        return self._replace(**groups).frozen()

    def frozen(self) -> Parameters:
        """The same numbers, NumPy ones copied and made read-only, so that a robot can be shared and hashed."""
        return Parameters(*(frozen(leaf) for leaf in self))

    def refuse_non_finite(self, owner: str) -> None:
        """Raise if any plain number is NaN or infinite."""
        if self.is_concrete and np.isfinite(np.concatenate([np.ravel(leaf) for leaf in self])).all():
            return
        for name, leaf in zip(self._fields, self, strict=True):
            if is_concrete(leaf) and not np.isfinite(leaf).all():
                where = np.argwhere(~np.isfinite(leaf))[0].tolist()
                raise ModelError(f"robot {owner!r}: `{name}` holds a NaN or infinite number at index {where}.")


def unknown_group(where: str, name: object) -> UnknownName:
    """The error for a group of a robot's numbers that does not exist."""
    kind, plural, known = "group of parameters", "groups of parameters", Parameters._fields
    return unknown_name(where, kind, name, known, ", ".join(known), plural=plural, meant=meant_by(name))


def meant_by(name: object) -> tuple[str, ...]:
    """The groups of a robot's numbers that people mean by another word; none if the word is not known."""
    return tuple(group for group, words in _MEANT.items() if str(name).lower() in words.split())


_MEANT = {
    "poses": "pose length lengths link_lengths geometry origin origins",
    "screws": "screw axis axes joint_axes",
    "inertias": "mass masses inertia com centre_of_mass center_of_mass pi payload link_inertias inertial_parameters",
    "gravity": "g",
    "armature": "motor_inertia rotor_inertia reflected_inertia",
    "viscous_friction": "friction damping viscous",
    "coulomb_friction": "friction coulomb frictionloss stiction",
    "stiffness": "spring springs spring_stiffness spring_constant k",
    "rest": "springref spring_reference rest_position rest_length rest_angle q_rest",
    "frame_poses": "frame frames tool tool_pose",
    "base_inertia": "base base_mass",
}


def frozen(leaf: Array) -> Array:
    """A copy whose memory nobody can write to, not even after ``flags.writeable = True``: it belongs to immutable bytes."""
    if not is_concrete(leaf):
        return leaf
    numbers = np.asarray(leaf, dtype=np.float64)
    if not numbers.size:
        return np.zeros(numbers.shape)
    return np.frombuffer(numbers.tobytes(), np.float64).reshape(numbers.shape)


def refuse_impossible_geometry(structure: Structure, parameters: Parameters, changed: Mapping[str, Array]) -> None:
    """Raise if a changed group holds what is no unit screw of its joint's kind, or no pose; JAX and traced values pass."""
    s, p = structure, parameters
    if "poses" in changed and is_concrete(p.poses):
        for i, T in enumerate(p.poses):
            check_pose(f"with_parameters: poses[{i}], of joint {s.joints[i]!r}", T, tolerance_of(changed["poses"]))
    if "frame_poses" in changed and is_concrete(p.frame_poses):
        names = {frame.pose_row: frame.name for frame in s.frames}
        for k, T in enumerate(p.frame_poses):
            check_pose(
                f"with_parameters: frame_poses[{k}], of frame {names.get(k)!r}", T, tolerance_of(changed["frame_poses"])
            )
    if "screws" in changed and is_concrete(p.screws):
        longest, tolerance = _longest(s, p), tolerance_of(changed["screws"])
        for i, (S, kind) in enumerate(zip(p.screws, s.kinds, strict=True)):
            if (wrong := _what_is_wrong(kind, S, longest, tolerance)) is not None:
                numbers = ", ".join(f"{x:g}" for x in S)
                raise ModelError(
                    f"with_parameters: screws[{i}] = ({numbers}) is no unit screw of joint {s.joints[i]!r}, which is {kind}: "
                    f"{wrong}"
                )


def refuse_impossible_springs(structure: Structure, parameters: Parameters) -> None:
    """Raise if a stiffness is negative, or if joints with several numbers have springs; JAX and traced values pass.

    A spring is ½ k (q − rest)² of one number. On a group there are several, each with terms of its own in every derivative.
    """
    springs = parameters.stiffness, parameters.rest
    if is_concrete(*springs) and not any(leaf.any() for leaf in springs):
        return
    for c, kind in structure.blocks:
        for field, leaf in (("stiffness", parameters.stiffness), ("rest", parameters.rest)):
            values = leaf[c.v]
            if not is_concrete(values):
                continue
            if not kind.has_screw and np.any(values != 0):
                raise ModelError(
                    f"joint {c.name!r} is {kind.name}, and only joints with one number (revolute, prismatic, helical) have "
                    f"springs: its `{field}` must be 0, got {np.asarray(values).tolist()}. Describe it as joints with one number "
                    "each, or add the force of its spring to tau."
                )
            if field == "stiffness" and np.any(values < 0):
                raise ModelError(
                    f"joint {c.name!r}: `stiffness` must not be negative, got {float(values[0]):g}. A force that pushes "
                    "away from `rest` is part of tau."
                )


def _what_is_wrong(kind: str, S: Twist, longest: float, tolerance: float) -> str | None:
    w, v = S[:3], S[3:]
    turning, sliding = float(np.linalg.norm(w)), float(np.linalg.norm(v))
    if not KINDS[kind].has_screw:
        return "it has none, and the row must be zero; turn its pose instead." if np.any(S) else None
    if not KINDS[kind].turns_about_axis:
        if np.any(w):
            return f"it slides and does not turn, so that the first three numbers must be 0. {_REBUILD}"
        return None if abs(sliding - 1.0) <= tolerance else f"|v| must be 1, and is {sliding:.9g}. {_REBUILD}"
    if abs(turning - 1.0) > tolerance:
        return f"|ω| of its first three numbers must be 1, and is {turning:.9g}. {_REBUILD}"
    pitch = float(np.dot(w, v))
    if KINDS[kind].has_fixed_point and abs(pitch) > tolerance * longest:
        return (
            f"it has no pitch, so that ω·v must be 0, and is {pitch:.6g} m per rad. Take it out, v − (ω·v) ω, or make the "
            f"joint helical. {_REBUILD}"
        )
    return None


_REBUILD = "A joint that moves by any other screw is built anew: torsor.Joint(..., kind='helical', screw=...)."


def _longest(structure: Structure, parameters: Parameters) -> float:
    """The largest length, m, in the geometry of a robot: what the rounding of a moment is measured by."""
    turning = [i for i, kind in enumerate(structure.kinds) if KINDS[kind].turns_about_axis]
    groups: list[Array] = [parameters.screws[turning, 3:]]
    groups += [T[:, :3, 3] for T in (parameters.poses, parameters.frame_poses) if is_concrete(T)]
    return max((float(np.abs(group).max()) for group in groups if group.size), default=0.0)
