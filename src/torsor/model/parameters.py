"""The numerical half of a robot: what one may want to differentiate by, identify, or randomise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays import is_concrete
from torsor.arrays.typing import Array
from torsor.errors import ModelError, UnknownName, unknown_name


class Parameters(NamedTuple):
    """Arrays that describe a robot, in SI units; the leaves of the JAX pytree.

    ``poses`` (n, 4, 4): link frame in the parent's at q = 0 (before the coupling offset), m. ``screws`` (n, 6): unit
    screw of each joint in its link frame (zero for planar, spherical and free). ``inertias`` (n, 10): rows
    (m, m c, I about the link frame). ``gravity`` (3,): acceleration, m/s². ``armature``, ``viscous_friction``,
    ``coulomb_friction`` (nv,). ``frame_poses`` (k, 4, 4): named frames in their link's frame. ``base_inertia`` (10,).
    """

    poses: Array
    screws: Array
    inertias: Array
    gravity: Array
    armature: Array
    viscous_friction: Array
    coulomb_friction: Array
    frame_poses: Array
    base_inertia: Array

    @property
    def is_concrete(self) -> bool:
        """Whether all are plain numbers, so that content may be inspected and hashed."""
        return all(is_concrete(leaf) for leaf in self)

    def frozen(self) -> Parameters:
        """The same numbers, NumPy ones copied and made read-only, so that a robot can be shared and hashed."""
        return Parameters(*(frozen(leaf) for leaf in self))

    def refuse_non_finite(self, owner: str) -> None:
        """Raise if any plain number is NaN or infinite."""
        for name, leaf in zip(self._fields, self, strict=True):
            if is_concrete(leaf) and not np.all(np.isfinite(leaf)):
                where = np.argwhere(~np.isfinite(leaf))[0].tolist()
                raise ModelError(f"robot {owner!r}: `{name}` holds a NaN or infinite number at index {where}.")


def unknown_group(where: str, name: object) -> UnknownName:
    """The error for a group of a robot's numbers that does not exist."""
    fields = Parameters._fields
    return unknown_name(
        where,
        "group of parameters",
        name,
        fields,
        ", ".join(fields),
        plural="groups of parameters",
        meant=meant_by(name),
    )


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
