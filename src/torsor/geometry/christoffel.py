"""Christoffel symbols of the inertia metric, and the connection they define.

Lowered index last: Γ_ijk multiplies v_i v_j in equation k, as in [BSP93] and [PBP95]; [LP] writes it first, Γ_ijk of [LP,
(9.86)] is Γ_jki here. For planar, spherical and free joints, velocities are body twists e_i that do not commute, and
Γ_ijk = ⟨∇_{e_i} e_j, e_k⟩ are the coefficients of the same connection in that frame, by Koszul's formula::

    2 Γ_ijk = ∂_i M_jk + ∂_j M_ik − ∂_k M_ij + ⟨[e_i, e_j], e_k⟩ − ⟨[e_i, e_k], e_j⟩ − ⟨[e_j, e_k], e_i⟩
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import by_rows, concat, factor, inverse, matmul, permute, reshape, take, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3, JointTensor4
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import (
    derivative_of,
    first_derivative_table,
    first_derivatives,
    second_derivative_table,
    second_derivatives,
)
from torsor.model import Robot, Structure
from torsor.model.link_inertias import may_be_singular


def christoffel_symbols(robot: Robot, q: ConfigurationVector) -> JointTensor3:
    """Γ[i, j, k] = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k), in O(n d²) for a tree of depth d [PBP95, (52); EW21, §4].

    The Coriolis forces are Σ Γ[i, j, k] v_i v_j and the Coriolis matrix is C_kj = Σ_i Γ[i, j, k] v_i. Symmetric in i and j,
    except within planar, spherical and free joints, where body velocities do not commute: Γ_ijk − Γ_jik = ⟨[e_i, e_j], e_k⟩.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv) array
        kg·m², kg·m or kg.
    """
    return connection_of(inertia_metric(robot, q, 0.5))


def christoffel_symbols_second_kind(robot: Robot, q: ConfigurationVector) -> JointTensor3:
    """Γ2[i, j, k] = Γ^k_ij = Σ_h m^kh Γ_ijh, the raised index last: v̇_k = −Σ Γ^k_ij v_i v_j on a geodesic [Alt04, (6)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv) array
        1/rad or 1/m; NaN where M is singular.
    """
    return second_kind_of(inertia_metric(robot, q, 0.5))


def christoffel_symbols_derivative(robot: Robot, q: ConfigurationVector) -> JointTensor4:
    """dΓ[i, j, k, l] = ∂Γ_ijk/∂q_l, derivative index last, exact [PBP95, §4.2, (54), E001-7].

    For planar, spherical and free joints ∂_l is the derivative along the body velocity v_l.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv, nv) array
        kg·m², kg·m or kg per rad or m.
    """
    return christoffel_symbols_derivative_of(inertia_metric(robot, q, 0.5))


def connection_of(half: InertiaMetric) -> JointTensor3:
    """Γ_ijk from half the metric: ½ ∂M is what enters."""
    Gamma = summed(first_derivatives(half), _connection_sums(half.robot.structure))
    s = structure_constants(half.robot.structure)
    return Gamma if s is None else Gamma + twisted(matmul(s, half.mass_matrix()[..., None, :, :]))


def second_kind_of(half: InertiaMetric) -> JointTensor3:
    """Γ^k_ij from half the metric."""
    n, M_inverse = half.robot.nv, inverse_of(half.robot, 2.0 * half.mass_matrix())
    return reshape(matmul(reshape(connection_of(half), 3, n * n, n), M_inverse), 2, n, n, n)


def christoffel_symbols_derivative_of(half: InertiaMetric) -> JointTensor4:
    """∂_l Γ_ijk at [i, j, k, l], from half the metric."""
    return permute(connection_derivative_of(half), (1, 2, 3, 0))


def connection_derivative_of(half: InertiaMetric) -> JointTensor4:
    """∂_l Γ_ijk at [l, i, j, k], derivative index first, from half the metric."""
    dGamma = summed(second_derivatives(half), _connection_derivative_sums(half.robot.structure))
    s = structure_constants(half.robot.structure)
    return dGamma if s is None else dGamma + twisted(matmul(s, derivative_of(half)[..., None, :, :]))


class Sums(NamedTuple):
    """Sums x + y − z of three numbers of a list: which these are (N, 3), each sum once; after a zero, which sum an entry is."""

    terms: Array
    index: Array


def summed(values: Array, sums: Sums) -> Array:
    """The tensor whose entries are sums of three of ``values`` (..., K), the first of which is zero."""
    found = by_rows(lambda x: x[..., :1] + x[..., 1:2] - x[..., 2:], take(values, sums.terms))
    return take(concat([zeros(1), found[..., 0]]), sums.index)


@lru_cache(maxsize=256)
def _connection_sums(structure: Structure) -> Sums:
    """∂_i M_jk + ∂_j M_ik − ∂_k M_ij at [i, j, k]."""
    at = first_derivative_table(structure)
    return _sums_of(at, at.transpose(1, 0, 2), at.transpose(1, 2, 0))


@lru_cache(maxsize=32)
def _connection_derivative_sums(structure: Structure) -> Sums:
    """The same of ∂_l at [l, i, j, k]."""
    at = second_derivative_table(structure)
    return _sums_of(at, at.transpose(0, 2, 1, 3), at.transpose(0, 2, 3, 1))


def _sums_of(x: Array, y: Array, z: Array) -> Sums:
    size = int(x.max(initial=0)) + 1
    _, pair = np.unique(
        size * np.minimum(x, y).ravel().astype(np.int64) + np.maximum(x, y).ravel(), return_inverse=True
    )
    _, place, index = np.unique(size * pair.astype(np.int64) + z.ravel(), return_index=True, return_inverse=True)
    terms = np.stack([part.ravel()[place] for part in (x, y, z)], axis=-1)
    some = terms.any(axis=1)
    return Sums(terms[some], np.where(some, np.cumsum(some), 0)[index].reshape(x.shape))


def inverse_of(robot: Robot, M: Array) -> Array:
    """M⁻¹ (..., nv, nv); NaN where M is singular."""
    return inverse(factor(M, guarded=may_be_singular(robot)))


def twisted(c: Array) -> Array:
    """c_ijk − c_ikj − c_jki of c_ijk = ⟨[e_i, e_j], e_k⟩ over the last three axes."""
    return c - permute(c, (0, 2, 1)) - permute(c, (2, 0, 1))
