"""First and second derivatives of the mass matrix by the configuration, exact.

For freedoms a ≤ b < c on one way outwards (≤: the same joint or one further out) M_ab feels q_c only through the inertia
that c moves, and M_ac feels q_b through all that lies beyond b. In the twists of the freedoms [PBP95, (40), (53), (54)]::

    ∂_c M_ab = J_aᵀ Ġ_c J_b                  a ≤ b < c
    ∂_b M_ac = [J_a, J_b]ᵀ G_c J_c           a < b ≤ c
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import concat, dot, matmul, permute, reshape, take, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3, JointTensor4
from torsor.geometry.freedoms import first_derivative_places, second_derivative_index
from torsor.geometry.inertia_metric import InertiaMetric, gathered, inertia_metric, spread
from torsor.model import Robot

Indices = tuple[Array, Array, Array, Array]


def mass_matrix_derivative(robot: Robot, q: ConfigurationVector) -> JointTensor3:
    """dM[i, j, k] = ∂M_ij/∂q_k, derivative index last, in O(n d²) for a tree of depth d [PBP95, (52), (53); EW21, §4].

    For planar, spherical and free joints ∂_k is the derivative along the body velocity v_k, and M is that of body
    velocities: Ṁ = Σ_k dM[..., k] v_k for every joint kind.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv) array
        Symmetric in i and j, kg·m² or kg·m per rad or m.
    """
    return mass_matrix_derivative_of(inertia_metric(robot, q))


def mass_matrix_second_derivative(robot: Robot, q: ConfigurationVector) -> JointTensor4:
    """d2M[i, j, k, l] = ∂_l (∂M_ij/∂q_k), derivative indices last, exact [PBP95, (54), E001-7].

    For planar, spherical and free joints ∂_k and ∂_l are along body velocities, whose order matters within a joint.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv, nv) array
        Symmetric in i and j, kg·m² or kg·m per rad² or m².
    """
    return mass_matrix_second_derivative_of(inertia_metric(robot, q))


def mass_matrix_derivative_of(metric: InertiaMetric) -> JointTensor3:
    """∂_k M_ij at [i, j, k], of a metric that is already there."""
    return permute(derivative_of(metric), (1, 2, 0))


def mass_matrix_second_derivative_of(metric: InertiaMetric) -> JointTensor4:
    """∂_l ∂_k M_ij at [i, j, k, l], of a metric that is already there."""
    return permute(second_derivative_of(metric), (2, 3, 1, 0))


def derivative_of(metric: InertiaMetric) -> JointTensor3:
    """∂_k M_ij at [k, i, j], derivative index first as all sums over it want it."""
    places, number = first_derivative_places(metric.robot.structure), metric.pairs.number
    a, b, c = places.sorts[0]
    inner = dot(metric.J[..., a, :], metric.rate_momenta()[..., number[b, c], :])
    a, b, c = places.sorts[1]
    outer = dot(metric.J[..., a, :], metric.turned_momenta()[..., number[b, c], :])
    return spread(metric.robot, places, [inner, outer])


def second_derivative_of(metric: InertiaMetric) -> JointTensor4:
    """∂_l ∂_k M_ij at [l, k, i, j], derivative indices first."""
    robot = metric.robot
    return gathered(robot, take(_products(metric), second_derivative_index(robot.structure)), 4)


def second_derivative_entries(metric: InertiaMetric, wanted: Sequence[Indices]) -> list[Array]:
    """Some of the entries ∂_l ∂_k M_ij alone: (..., K) for each quadruple of lists l, k, i, j (K,)."""
    n, structure = metric.robot.nv, metric.robot.structure
    if structure.has_couplings:
        full = reshape(second_derivative_of(metric), 4, n**4)
        return [take(full, n * (n * (n * l + k) + i) + j) for l, k, i, j in wanted]
    products, index = _products(metric), second_derivative_index(structure)
    return [take(products, index[lkij]) for lkij in wanted]


def _products(metric: InertiaMetric) -> Array:
    """A zero, and the products of every pair of freedoms (a, b) with every pair (c, d) that second derivatives are::

    ∂_c ∂_d M_ab = J_aᵀ (∂_c Ġ_d) J_b,     ∂_b ∂_d M_ac = [J_a, J_b]ᵀ Ġ_d J_c,     ∂_b ∂_c M_ad = [J_a, J_b]ᵀ ∂_c p_d
    """
    P, brackets = len(metric.pairs.first), metric.brackets()
    inner = matmul(metric.energy_rows(), transpose(metric.second_inertia_rates()))
    middle = matmul(brackets, transpose(metric.rate_momenta()))
    outer = matmul(brackets, transpose(metric.turned_momenta()))
    return concat([zeros(1), *(reshape(matrix, 2, P * P) for matrix in (inner, middle, outer))])
