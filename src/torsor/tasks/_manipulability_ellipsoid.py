"""The ellipsoid of what a robot can do along a task with bounded joint velocities, energy or joint forces [Yos85]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border.numbers import refuse_strangers
from torsor.errors import unknown_name
from torsor.functions.public import dynamics
from torsor.model import Robot
from torsor.tasks.singular_directions import half_axes, root_of
from torsor.tasks.task import Task, as_task

BOUNDED = ("velocity", "energy", "force")


class ManipulabilityEllipsoid(NamedTuple):
    """An ellipsoid in task coordinates: its half axes, longest first."""

    axes: Array
    """(..., m, m): column i is the unit vector of axis i; no unit."""
    lengths: Array
    """(..., m): half its length, in units of the task; 0 in directions that are lost."""

    @property
    def volume(self) -> Array:
        """The product of all lengths (...): `manipulability` and its kin."""
        return np.prod(self.lengths, axis=-1)


def manipulability_ellipsoid(
    robot: Robot, q: ConfigurationVector, task: Task | str, bounded: str = "velocity"
) -> ManipulabilityEllipsoid:
    """Half axes of the set of task velocities J v, or accelerations J M⁻¹ τ, for what is bounded by one [Yos85].

    ``bounded``: "velocity", |v| ≤ 1; "energy", vᵀ M v ≤ 1, which does not depend on joint coordinates; "force", |τ| ≤ 1, the
    dynamic manipulability ellipsoid, from rest and without gravity. ``q`` (..., nq), rad or m. For NumPy arrays.
    """
    if bounded not in BOUNDED:
        raise unknown_name("manipulability_ellipsoid", "bound", bounded, BOUNDED, ", ".join(BOUNDED))
    refuse_strangers(robot, q)
    q = np.asarray(q, dtype=float)
    B = as_task(robot, task).jacobian(robot, q)
    if bounded != "velocity":
        M_inverse = dynamics.inverse_mass_matrix(robot, q)
        root, sound = root_of(M_inverse)
        B = B @ (root if bounded == "energy" else np.where(sound[..., None, None], M_inverse, 0.0))
    U, s = half_axes(B)
    if bounded != "velocity":
        s = np.where(sound[..., None], s, np.nan)
    return ManipulabilityEllipsoid(U, s)
