"""Curvature of the inertia metric: the tensor, its contractions, and what they say about a plane of motion.

R_ijkl = ⟨R(e_k, e_l) e_j, e_i⟩, all indices lowered, with the sign that makes R_ijij and the curvature of a sphere positive
[PBP95, (66)]. For planar, spherical and free joints these are the components of the same tensor in the frame of body
velocities. Where M is singular the result is NaN.

Planes of motion are bivectors over pairs i < j. A tensor with R_ijkl = −R_jikl = −R_ijlk = R_klij is a symmetric matrix R_AB over
the pairs A = (i, j), B = (k, l); its *entries* are those with A ≤ B, n²(n² − 1)/8 or so numbers instead of n⁴.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import by_rows, concat, dot, matmul, matvec, permute, reshape, sqrt, take, transpose, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointTensor4, JointVector, Scalar
from torsor.geometry.christoffel import connection_of, inverse_of, twisted
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.geometry.mass_matrix_derivatives import derivative_of, second_derivative_table, second_derivatives
from torsor.model import Robot, Structure


class Planes(NamedTuple):
    """Of n dimensions: pairs ``first`` < ``second`` (P,); entries by their four indices ``ijkl`` (4, E); the entry of each
    pair of pairs, ``matrix`` (P, P); and of all four indices, ``tensor`` (n, n, n, n): 0 for zero, e + 1, or E + e + 1 for −.
    """

    first: Array
    second: Array
    ijkl: Array
    matrix: Array
    tensor: Array

    @property
    def weights(self) -> Array:
        """How often each entry stands in the matrix (E,): once on the diagonal, twice off it."""
        i, j, k, l = self.ijkl
        return np.where((i == k) & (j == l), 1.0, 2.0)


@lru_cache(maxsize=64)
def planes_of(n: int) -> Planes:
    """The tables for n dimensions."""
    first, second = np.triu_indices(n, 1)
    A, B = np.triu_indices(len(first))
    ijkl = np.array([first[A], second[A], first[B], second[B]])
    entries = np.arange(len(A))
    matrix = np.zeros((len(first),) * 2, int)
    matrix[A, B] = matrix[B, A] = entries
    tensor = np.zeros((n,) * 4, int)
    for order in ((0, 1, 2, 3), (2, 3, 0, 1)):
        i, j, k, l = ijkl[list(order)]
        tensor[i, j, k, l] = tensor[j, i, l, k] = 1 + entries
        tensor[j, i, k, l] = tensor[i, j, l, k] = 1 + len(A) + entries
    return Planes(first, second, ijkl, matrix, tensor)


def tensor_of(entries: Array, n: int) -> Array:
    """All n⁴ components (..., n, n, n, n) from the entries (..., E)."""
    negative = by_rows(lambda x: -x, entries[..., None])[..., 0]
    return take(concat([zeros(1), entries, negative]), planes_of(n).tensor)


def matrix_of(entries: Array, n: int) -> Array:
    """The operator on planes (..., P, P) from its entries (..., E)."""
    return take(entries, planes_of(n).matrix)


def wedge(u: Array, w: Array) -> Array:
    """u ∧ w (..., P), the plane two vectors (..., n) span: u_i w_j − u_j w_i for i < j."""
    p = planes_of(u.shape[-1])
    return u[..., p.first] * w[..., p.second] - u[..., p.second] * w[..., p.first]


def wedge_square(X: Array) -> Array:
    """X ∧ X: the entries (..., E) of X_ik X_jl − X_il X_jk, the metric of planes if X is one of vectors (..., n, n)."""
    n = X.shape[-1]
    i, j, k, l = planes_of(n).ijkl
    corners = np.stack([n * i + k, n * j + l, n * i + l, n * j + k], axis=-1)
    return by_rows(_determinant, take(reshape(X, 2, n * n), corners))[..., 0]


def _determinant(x: Array) -> Array:
    """x₀ x₁ − x₂ x₃ (..., 1)."""
    return x[..., :1] * x[..., 1:2] - x[..., 2:3] * x[..., 3:]


PARALLEL = 1e-14  # |u ∧ w|² of |u|² |w|² that is all rounding
NAN = float("nan")


def riemann_curvature(robot: Robot, q: ConfigurationVector) -> JointTensor4:
    """R[i, j, k, l] = ∂_k Γ_jli − ∂_l Γ_jki + Σ_r (Γ_ilr Γ^r_jk − Γ_ikr Γ^r_jl), all indices lowered [PBP95, (66)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv, nv, nv) array
        kg·m² (of rotations, per rad⁴); NaN where M is singular.
    """
    return riemann_of(inertia_metric(robot, q, 0.5))


def ricci_curvature(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """Ric[j, l] = Σ m^ik R_ijkl: along a unit vector, the sum of the curvatures of all planes through it [PBP95, (66)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv) array
        Symmetric, no unit (of rotations, per rad²); NaN where M is singular.
    """
    return ricci_of(inertia_metric(robot, q, 0.5))


def scalar_curvature(robot: Robot, q: ConfigurationVector) -> Scalar:
    """Σ m^ik m^jl R_ijkl, twice the sum of the curvatures of all planes of an orthonormal basis [PBP95, (66)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (...) array
        1/(kg·m²); NaN where M is singular.
    """
    return scalar_of(inertia_metric(robot, q, 0.5))


def sectional_curvature(robot: Robot, q: ConfigurationVector, u: JointVector, w: JointVector) -> Scalar:
    """Curvature R(u, w, u, w) / (|u|² |w|² − ⟨u, w⟩²) of the plane of motion that u and w span [PBP95, (66)].

    Positive: motions that start side by side draw together.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    u : (..., nv) array
        Direction that spans the plane, in any unit.
    w : (..., nv) array
        Direction that spans the plane, in any unit.

    Returns
    -------
    (...) array
        1/(kg·m²); NaN where u and w are parallel or M is singular.
    """
    return sectional_of(inertia_metric(robot, q, 0.5), u, w)


def curvature_norm(robot: Robot, q: ConfigurationVector) -> Scalar:
    """√(R_ijkl R^ijkl), zero only where all curvature vanishes, whatever the coordinates [PBP95, (66)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (...) array
        1/(kg·m²); NaN where M is singular.
    """
    return norm_of(inertia_metric(robot, q, 0.5))


def riemann_of(half: InertiaMetric) -> JointTensor4:
    """R_ijkl from half the metric."""
    return tensor_of(curvature_of(half).entries, half.robot.nv)


def ricci_of(half: InertiaMetric) -> JointMatrix:
    """Ric_jl = m^ik R_ijkl from half the metric."""
    entries, _, M_inverse = curvature_of(half)
    n = M_inverse.shape[-1]
    rows = reshape(permute(tensor_of(entries, n), (1, 3, 0, 2)), 4, n * n, n * n)
    return reshape(matvec(rows, reshape(M_inverse, 2, n * n)), 1, n, n)


def scalar_of(half: InertiaMetric) -> Scalar:
    """m^ik m^jl R_ijkl = 2 Σ (m^ik m^jl − m^il m^jk) R_ijkl over pairs of planes, from half the metric."""
    entries, _, M_inverse = curvature_of(half)
    n = M_inverse.shape[-1]
    P = len(planes_of(n).first)
    W, R = (reshape(matrix_of(x, n), 2, P * P) for x in (wedge_square(M_inverse), entries))
    return 2.0 * dot(W, R)


def sectional_of(half: InertiaMetric, u: JointVector, w: JointVector) -> Scalar:
    """R(u, w, u, w) / |u ∧ w|² from half the metric."""
    entries, M, _ = curvature_of(half)
    plane = wedge(u, w)
    uu, uw, ww = dot(u, matvec(M, u)), dot(u, matvec(M, w)), dot(w, matvec(M, w))
    area = uu * ww - uw * uw
    area = where(area > PARALLEL * uu * ww, area, NAN)
    n = M.shape[-1]
    if n == 1:
        return area  # no plane: NaN
    return dot(plane, matvec(matrix_of(entries, n), plane)) / area


def norm_of(half: InertiaMetric) -> Scalar:
    """√(R_ijkl R^ijkl) = 2 √tr((g⁻¹R)²), g the metric of planes, from half the metric."""
    entries, _, M_inverse = curvature_of(half)
    n = M_inverse.shape[-1]
    P = len(planes_of(n).first)
    mixed = matmul(matrix_of(wedge_square(M_inverse), n), matrix_of(entries, n))
    square = dot(reshape(mixed, 2, P * P), reshape(transpose(mixed), 2, P * P))
    return 2.0 * sqrt(where(square < 0.0, 0.0, square))  # a sum that rounding may leave below zero


class Curvature(NamedTuple):
    """Entries of the tensor over planes (..., E), with the metric and its inverse (..., nv, nv) they were made with."""

    entries: Array
    M: JointMatrix
    M_inverse: JointMatrix


def curvature_of(half: InertiaMetric) -> Curvature:
    """R_ijkl from half the metric, for i < j, k < l, (i, j) ≤ (k, l), by (66), which in the frame of body velocities e_i reads::

    R_ijkl = ∂_k Γ_lji − ∂_l Γ_kji + ⟨∇_k e_j, ∇_l e_i⟩ − ⟨∇_l e_j, ∇_k e_i⟩ − Σ_r s_kl^r Γ_rji
    """
    n, robot = half.robot.nv, half.robot
    M = 2.0 * half.mass_matrix()
    M_inverse = inverse_of(robot, M)
    Gamma, s = connection_of(half), structure_constants(robot.structure)
    first, second, _ = _fields(robot.structure)
    fields = Gamma[..., first, second, :]  # ∇_i e_j, lowered
    products = matmul(fields, transpose(matmul(fields, M_inverse)))
    parts = [second_derivatives(half), reshape(products, 2, len(first) ** 2)]
    if s is not None:
        dM = derivative_of(half)
        turning = twisted(matmul(s, dM[..., None, :, :]))  # what ∂_k Γ_lji has besides second derivatives of M
        bent = reshape(matmul(s, reshape(Gamma, 2, n * n)[..., None, :, :]), 3, n**4)  # Σ_r s_kl^r Γ_rji
        parts += [reshape(turning, 4, n**4), bent]
    terms = _terms(robot.structure, tuple(part.shape[-1] for part in parts))
    return Curvature(by_rows(_entry, take(concat(parts), terms))[..., 0], M, M_inverse)


def _entry(x: Array) -> Array:
    """x₀ − x₁ + x₂ − …, (..., 1)."""
    total = x[..., :1]
    for k in range(1, x.shape[-1], 2):
        total = total - x[..., k : k + 1]
        total = total + x[..., k + 1 : k + 2] if k + 1 < x.shape[-1] else total
    return total


@lru_cache(maxsize=32)
def _terms(structure: Structure, sizes: tuple[int, ...]) -> Array:
    """Which numbers each entry of the curvature is made of, with signs in turn (E, .), in lists of these sizes.

    ∂_k ∂_j M_li − ∂_l ∂_j M_ki + ∂_l ∂_i M_kj − ∂_k ∂_i M_lj, and ⟨∇_k e_j, ∇_l e_i⟩ − ⟨∇_l e_j, ∇_k e_i⟩. Where velocities do
    not commute also ∂_k ∂_l M_ji − ∂_l ∂_k M_ji, what brackets add to ∂_k Γ_lji − ∂_l Γ_kji, and the last sum of (66).
    """
    n, number, at = structure.nv, _fields(structure)[2], second_derivative_table(structure)
    i, j, k, l = planes_of(n).ijkl
    starts = np.cumsum([0, *sizes])
    terms = [at[k, j, l, i], at[l, j, k, i], at[l, i, k, j], at[k, i, l, j]]
    terms += [starts[1] + _product(number, (k, j), (l, i)), starts[1] + _product(number, (l, j), (k, i))]
    if len(sizes) > 2:
        flat = n * (n * (n * k + l) + j) + i
        other = n * (n * (n * l + k) + j) + i
        terms += [at[k, l, j, i], at[l, k, j, i], starts[2] + flat, starts[2] + other, 0 * k, starts[3] + flat]
    return np.stack(terms, axis=-1)


@lru_cache(maxsize=64)
def _fields(structure: Structure) -> tuple[Array, Array, Array]:
    """The fields ∇_i e_j that differ: i and j (F,), and the number of each in a table (n, n)."""
    n, s = structure.nv, structure_constants(structure)
    differ = np.triu(np.ones((n, n), bool)) if s is None else np.triu(np.ones((n, n), bool)) | s.any(axis=2)
    first, second = np.nonzero(differ)
    number = np.zeros((n, n), int)
    number[second, first] = np.arange(len(first))
    number[first, second] = np.arange(len(first))
    return first, second, number


def _product(number: Array, one: tuple[Array, Array], other: tuple[Array, Array]) -> Array:
    """Where the product of two fields stands in the matrix of all, the smaller number first."""
    a, b = number[one], number[other]
    return (number.max(initial=0) + 1) * np.minimum(a, b) + np.maximum(a, b)
