"""Forces that are left when the mass matrix is constant: those of body velocities that do not commute.

In coordinates M is constant if and only if Γ = 0. In the frame of body velocities (planar, spherical and free joints) it is
not so: with M constant, Koszul's formula leaves 2 Γ_ijk = c_ijk − c_ikj − c_jki, c_ijk = ⟨[e_i, e_j], e_k⟩. Its part that is
antisymmetric in i and j makes no force; the rest does: a box on a spherical joint wobbles, a sphere does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.balancing.variation import ROUNDING, sizes
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import inertia_metric
from torsor.model import Robot


class GyroscopicTerm(NamedTuple):
    """A force ``value`` v_i v_j in the equation of k, by the names of the freedoms, and its share of the largest √(D D)."""

    i: str
    j: str
    k: str
    value: float
    relative: float

    def __str__(self) -> str:
        return f"{self.value:.3g} v({self.i}) v({self.j}) acts on {self.k}, {self.relative:.2g} of the largest √(M_ii M_jj)"


def gyroscopic_terms(
    robot: Robot, q: ConfigurationVector, diagonal: Array, tolerance: float
) -> tuple[GyroscopicTerm, ...]:
    """Γ_ijk + Γ_jik (Γ_iik for i = j) of a robot with constant M, at ``q`` (nq,), largest first [BSP93, (3); PBP95, (52)].

    Each over the largest of √(D_i D_j), √(D_j D_k) and √(D_k D_i), D the ``diagonal`` (nv,); those above ``tolerance``, and
    above what rounding explains.
    """
    s = structure_constants(robot.structure)
    if s is None:
        return ()
    metric = inertia_metric(robot, q)
    size = sizes(metric)[1]
    forces = _symmetric(s @ metric.mass_matrix())
    forces[np.abs(forces) <= ROUNDING * np.abs(_symmetric(-np.abs(s) @ np.outer(size, size)))] = 0.0
    root = np.sqrt(np.multiply.outer(diagonal, diagonal))
    scale = np.maximum(np.maximum(root[:, :, None], root[None]), root[:, None])
    relative = np.divide(np.abs(forces), scale, out=np.zeros_like(forces), where=scale > 0)
    names = robot.structure.freedoms
    found = [
        GyroscopicTerm(names[i], names[j], names[k], float(forces[i, j, k]), float(relative[i, j, k]))
        for i, j, k in np.argwhere(relative > tolerance)
        if i <= j
    ]
    return tuple(sorted(found, key=lambda term: -term.relative))


def _symmetric(c: Array) -> Array:
    """−c_ikj − c_jki, what multiplies v_i v_j in equation k; half of it for i = j."""
    both = -np.transpose(c, (0, 2, 1)) - np.transpose(c, (2, 0, 1))
    return np.where(np.eye(len(c), dtype=bool)[:, :, None], 0.5 * both, both)
