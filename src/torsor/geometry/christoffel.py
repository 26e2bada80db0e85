"""Christoffel symbols of the inertia metric, and the connection they define.

Lowered index last: Γ_ijk multiplies v_i v_j in equation k, as in [BSP93] and [PBP95]; [LP] writes it first, Γ_ijk of [LP,
(9.86)] is Γ_jki here. For planar, spherical and free joints, velocities are body twists e_i that do not commute, and
Γ_ijk = ⟨∇_{e_i} e_j, e_k⟩ are the coefficients of the same connection in that frame, by Koszul's formula::

    2 Γ_ijk = ∂_i M_jk + ∂_j M_ik − ∂_k M_ij + ⟨[e_i, e_j], e_k⟩ − ⟨[e_i, e_k], e_j⟩ − ⟨[e_j, e_k], e_i⟩
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import factor, inverse, matmul, permute, reshape, take
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3, JointTensor4
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import (
    Indices,
    derivative_of,
    second_derivative_entries,
    second_derivative_of,
)
from torsor.model import Robot
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
    dM = derivative_of(half)
    Gamma = dM + permute(dM, (1, 0, 2)) - permute(dM, (1, 2, 0))
    s = structure_constants(half.robot.structure)
    return Gamma if s is None else Gamma + twisted(matmul(s, half.mass_matrix()[..., None, :, :]))


def second_kind_of(half: InertiaMetric) -> JointTensor3:
    """Γ^k_ij from half the metric."""
    M_inverse = inverse_of(half.robot, 2.0 * half.mass_matrix())
    return matmul(connection_of(half), M_inverse[..., None, :, :])


def christoffel_symbols_derivative_of(half: InertiaMetric) -> JointTensor4:
    """∂_l Γ_ijk at [i, j, k, l], from half the metric."""
    return permute(connection_derivative_of(half), (1, 2, 3, 0))


def connection_derivative_of(half: InertiaMetric) -> JointTensor4:
    """∂_l Γ_ijk at [l, i, j, k], derivative index first, from half the metric."""
    ddM = second_derivative_of(half)
    dGamma = ddM + permute(ddM, (0, 2, 1, 3)) - permute(ddM, (0, 2, 3, 1))
    s = structure_constants(half.robot.structure)
    return dGamma if s is None else dGamma + twisted(matmul(s, derivative_of(half)[..., None, :, :]))


def connection_derivative_entries(half: InertiaMetric, wanted: Sequence[Indices]) -> list[Array]:
    """Some of the ∂_l Γ_ijk alone: (..., K) for each quadruple of lists l, i, j, k (K,)."""
    n = half.robot.nv
    orders = [(l, *order) for l, i, j, k in wanted for order in ((i, j, k), (j, i, k), (k, i, j))]
    parts = iter(second_derivative_entries(half, orders))
    found = [next(parts) + next(parts) - next(parts) for _ in wanted]
    s = structure_constants(half.robot.structure)
    if s is None:
        return found
    turning = reshape(twisted(matmul(s, derivative_of(half)[..., None, :, :])), 4, n**4)
    return [x + take(turning, n * (n * (n * l + i) + j) + k) for x, (l, i, j, k) in zip(found, wanted, strict=True)]


def inverse_of(robot: Robot, M: Array) -> Array:
    """M⁻¹ (..., nv, nv); NaN where M is singular."""
    return inverse(factor(M, guarded=may_be_singular(robot)))


def twisted(c: Array) -> Array:
    """c_ijk − c_ikj − c_jki of c_ijk = ⟨[e_i, e_j], e_k⟩ over the last three axes."""
    return c - permute(c, (0, 2, 1)) - permute(c, (2, 0, 1))
