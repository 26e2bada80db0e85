"""First and second derivatives of the mass matrix by the configuration, exact.

For freedoms a ≤ b < c on one way outwards (≤: the same joint or one further out) M_ab feels q_c only through the inertia
that c moves, and M_ac feels q_b through all that lies beyond b. In the twists of the freedoms [PBP95, (40), (53), (54)]::

    ∂_c M_ab = J_aᵀ Ġ_c J_b                  a ≤ b < c
    ∂_b M_ac = [J_a, J_b]ᵀ G_c J_c           a < b ≤ c
"""

from __future__ import annotations

import numpy as np

from torsor.arrays import concat, looped_matmul, matmul, permute, reshape, take, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointTensor3, JointTensor4
from torsor.geometry.freedoms import (
    factors_of,
    first_derivative_places,
    first_derivative_products,
    second_derivative_index,
)
from torsor.geometry.inertia_metric import InertiaMetric, gathered, inertia_metric, spread
from torsor.model import Robot, Structure

FEW = 64  # pairs of freedoms, up to which all products are written out in machine code


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
    return take(first_derivatives(metric), first_derivative_table(metric.robot.structure))


def second_derivative_of(metric: InertiaMetric) -> JointTensor4:
    """∂_l ∂_k M_ij at [l, k, i, j], derivative indices first."""
    return take(second_derivatives(metric), second_derivative_table(metric.robot.structure))


def first_derivatives(metric: InertiaMetric) -> Array:
    """Zero, and the numbers that are first derivatives (..., N), as in `first_derivative_table`::

    ∂_c M_ab = J_aᵀ Ġ_c J_b,     ∂_b M_ac = J_aᵀ ∂_b p_c
    """
    robot, x = metric.robot, factors_of(metric.robot.structure)
    rates, turned = metric.rate_momenta(), metric.turned_momenta()
    products = []
    for above, own in zip(x.above, x.own, strict=True):
        columns = concat([rates[..., own, :], turned[..., own, :]], axis=-2)
        products.append(_product(metric, metric.J[..., above, :], columns))
    values = take(concat(products), first_derivative_products(robot.structure))
    if robot.structure.has_couplings:
        values = reshape(spread(robot, first_derivative_places(robot.structure), [values]), 3, robot.nv**3)
    return concat([zeros(1), values])


def second_derivatives(metric: InertiaMetric) -> Array:
    """Zero, and the numbers that are second derivatives (..., N), as in `second_derivative_table`, for ways a ≤ b ≤ c ≤ d::

    ∂_c ∂_d M_ab = J_aᵀ (∂_c Ġ_d) J_b,     ∂_b ∂_d M_ac = [J_a, J_b]ᵀ Ġ_d J_c,     ∂_b ∂_c M_ad = [J_a, J_b]ᵀ ∂_c p_d
    """
    robot, x = metric.robot, factors_of(metric.robot.structure)
    brackets, energies, second_rates = metric.second_terms()
    rates, turned = metric.rate_momenta(), metric.turned_momenta()
    products = []
    for into, beyond in zip(x.into, x.beyond, strict=True):
        products.append(_product(metric, energies[..., into, :], second_rates[..., beyond, :]))
        columns = concat([rates[..., beyond, :], turned[..., beyond, :]], axis=-2)
        products.append(_product(metric, brackets[..., into, :], columns))
    values = concat([zeros(1), *products])
    if robot.structure.has_couplings:
        tensor = gathered(robot, take(values, second_derivative_index(robot.structure)), 4)
        values = concat([zeros(1), reshape(tensor, 4, robot.nv**4)])
    return values


def first_derivative_table(structure: Structure) -> Array:
    """Which of `first_derivatives` is ∂_k M_ij, at [k, i, j]."""
    return _everywhere(structure.nv, 3) if structure.has_couplings else first_derivative_places(structure).index


def second_derivative_table(structure: Structure) -> Array:
    """Which of `second_derivatives` is ∂_l ∂_k M_ij, at [l, k, i, j]."""
    return _everywhere(structure.nv, 4) if structure.has_couplings else second_derivative_index(structure)


def _everywhere(n: int, rank: int) -> Array:
    return 1 + np.arange(n**rank).reshape((n,) * rank)


def _product(metric: InertiaMetric, rows: Array, columns: Array) -> Array:
    """The products of all rows with all columns (..., R C); of a large robot as a loop, however few they are."""
    multiply = looped_matmul if len(metric.pairs.first) > FEW else matmul
    return reshape(multiply(rows, transpose(columns)), 2, rows.shape[-2] * columns.shape[-2])
