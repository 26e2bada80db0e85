"""Riemannian geometry of SE(3), or of any Lie group, with a left-invariant metric, in the frame of body velocities.

A left-invariant metric is one symmetric positive definite matrix (..., n, n): ⟨X, Y⟩ = Xᵀ metric Y for body velocities X, Y,
at every element of the group. The kinetic energy of a free rigid body is one, ½⟨V, V⟩ with its 6×6 inertia, and what follows
is then the geometry of its motion: the tensors of `torsor.geometry.riemann_curvature` for a robot with one free joint. The group
enters through its structure constants, [e_i, e_j] = Σ_r s_ij^r e_r, those of SE(3) with twists (angular, linear) by default.

Some metrics of SE(3), with the sectional curvatures of the planes of the six unit twists (ω ω: two rotations, and so on):

=============================================  =========================================  =====  =====
metric                                         ω ω                                        ω v    v v
=============================================  =========================================  =====  =====
identity                                       1/4                                        0      0
diag(α, α, α, β, β, β), "double geodesic"      1/(4α)                                     0      0
diag(I₁, I₂, I₃, m, m, m), rigid body          SO(3) with diag(I₁, I₂, I₃): any sign      0      0
=============================================  =========================================  =====  =====

For with v = Rᵀ ṗ the length of (ω, v) is that of (ω, ṗ): these are products of SO(3) with Euclidean space, which is flat and
adds nothing. It is the metric that is a product: the group is not, and ∇_ω v = ω × v is not zero.
"""

from __future__ import annotations

from typing import Annotated

import numpy

from torsor.arrays import (
    as_numbers,
    concat,
    cross,
    dot,
    factor,
    identity,
    inverse,
    is_concrete,
    matmul,
    matvec,
    outer,
    permute,
    reshape,
    solve,
    transpose,
    where,
)
from torsor.arrays.typing import Array, Coordinates, Scalar, Twist
from torsor.border import checked
from torsor.errors import ModelError, ShapeError
from torsor.lie import unchecked as lie

Metric = Annotated[Array, "... * *"]  # symmetric positive definite (..., n, n)
Tensor3 = Annotated[Array, "... * * *"]
Tensor4 = Annotated[Array, "... * * * *"]

EPSILON = float(numpy.finfo(float).eps)
PARALLEL = 100 * EPSILON  # of |X|² |Y|²: what rounding leaves of the area two parallel vectors span
ASYMMETRIC = 1e-9  # of √(m_ii m_jj): more than what products of a few matrices leave

SE3 = lie.bracket(identity(6)[:, None, :], identity(6)[None, :, :])  # s[i, j, r] of twists (angular, linear)
SO3 = SE3[:3, :3, :3]  # of angular velocities
SE2 = SE3[2:5, 2:5, 2:5]  # of planar twists (ω, v_x, v_y)
for _table in (SE3, SO3, SE2):
    _table.setflags(write=False)


@checked
def connection(metric: Metric, structure: Array | None = None) -> Tensor3:
    """Γ[i, j, k] = ⟨∇_{e_i} e_j, e_k⟩, lowered index last, by Koszul's formula with a constant metric [Alt04, §II.B; BSP93, (3)].

    2 Γ_ijk = ⟨[e_i, e_j], e_k⟩ − ⟨[e_i, e_k], e_j⟩ − ⟨[e_j, e_k], e_i⟩, so that Γ_ijk − Γ_jik = ⟨[e_i, e_j], e_k⟩ (no torsion)
    and Γ_ijk = −Γ_ikj (lengths are kept). ``metric`` (..., n, n), kg·m², kg·m, kg of a rigid body; ``structure`` (n, n, n), by
    default `SE3` with n = 6. Returns (..., n, n, n).
    """
    s = _structure(metric, structure)
    c = matmul(s, metric[..., None, :, :])  # ⟨[e_i, e_j], e_k⟩
    return 0.5 * (c - permute(c, (0, 2, 1)) - permute(c, (2, 0, 1)))


@checked
def covariant_derivative(
    metric: Metric, X: Coordinates, Y: Coordinates, Y_rate: Coordinates | None = None, structure: Array | None = None
) -> Coordinates:
    """∇_X Y = Ẏ + ½ ([X, Y] − metric⁻¹ (ad_Xᵀ metric Y + ad_Yᵀ metric X)), in body components [Alt04, §II.B, (18), E004-9].

    ``Y_rate`` (..., n) is the derivative of the components of Y along X, zero for a left-invariant field. Along a motion with
    body velocity V, ∇_V V = V̇ − metric⁻¹ ad_Vᵀ metric V. ``metric`` (..., n, n); ``X``, ``Y`` (..., n), rad/s, m/s;
    ``structure`` as in `connection`. Returns (..., n), rad/s², m/s².
    """
    n, Gamma = metric.shape[-1], connection(metric, structure)
    _refuse_other_sizes(n, X=X, Y=Y, Y_rate=Y_rate)
    lowered = matvec(reshape(permute(Gamma, (2, 0, 1)), 2, n * n), reshape(outer(X, Y), 2, n * n))
    raised = solve(factor(metric, guarded=False), lowered)
    return raised if Y_rate is None else Y_rate + raised


@checked
def geodesic_acceleration(metric: Metric, V: Coordinates, structure: Array | None = None) -> Coordinates:
    """V̇ = metric⁻¹ ad_Vᵀ metric V: the equation of Euler and Poincaré, ∇_V V = 0 [Alt04, (18), E004-9; BSP93, (3), E000-2].

    ``metric`` (..., n, n), kg·m², kg·m, kg; ``V`` (..., n), rad/s, m/s; ``structure`` as in `connection`. Returns (..., n),
    rad/s², m/s².
    """
    s = _structure(metric, structure)
    _refuse_other_sizes(s.shape[-1], V=V)
    momentum = matvec(metric, V)
    force = matvec(transpose(matvec(s, momentum[..., None, :])), V)  # (ad_Vᵀ p)_j = Σ V_i s_ij^r p_r
    return solve(factor(metric, guarded=False), force)


@checked
def riemann_curvature(metric: Metric, structure: Array | None = None) -> Tensor4:
    """R[i, j, k, l] = ⟨∇_k e_j, ∇_l e_i⟩ − ⟨∇_l e_j, ∇_k e_i⟩ − Σ_r s_kl^r Γ_rji, as in `riemann_curvature` [PBP95, (66)].

    All indices lowered; a sphere's R_ijij is positive. ``metric`` (..., n, n), kg·m², kg·m, kg; ``structure`` as in
    `connection`. Returns (..., n, n, n, n), the same at every element of the group.
    """
    n, s = metric.shape[-1], _structure(metric, structure)
    Gamma = connection(metric, structure)
    fields = reshape(Gamma, 3, n * n, n)  # ∇_i e_j, lowered
    products = reshape(matmul(fields, transpose(matmul(fields, _inverse(metric)))), 2, n, n, n, n)
    turning = reshape(matmul(reshape(s, 3, n * n, n), reshape(Gamma, 3, n, n * n)), 2, n, n, n, n)  # Σ_r s_kl^r Γ_rji
    return permute(products, (3, 1, 0, 2)) - permute(products, (3, 1, 2, 0)) - permute(turning, (3, 2, 0, 1))


@checked
def ricci_curvature(metric: Metric, structure: Array | None = None) -> Metric:
    """Ric[j, l] = Σ m^ik R_ijkl: along a unit vector, the sum of the curvatures of all planes through it [PBP95, (66)].

    ``metric`` (..., n, n), kg·m², kg·m, kg; ``structure`` as in `connection`. Returns (..., n, n), symmetric, no unit
    (of rotations, per rad²).
    """
    n = metric.shape[-1]
    rows = reshape(permute(riemann_curvature(metric, structure), (1, 3, 0, 2)), 4, n * n, n * n)
    return reshape(matvec(rows, reshape(_inverse(metric), 2, n * n)), 1, n, n)


@checked
def scalar_curvature(metric: Metric, structure: Array | None = None) -> Scalar:
    """Σ m^jl Ric_jl, twice the sum of the curvatures of all planes of an orthonormal basis [PBP95, (66)].

    ``metric`` (..., n, n), kg·m², kg·m, kg; ``structure`` as in `connection`. Returns (...), 1/(kg·m²); 3/2 for the identity
    metric of SE(3).
    """
    n = metric.shape[-1]
    return dot(reshape(ricci_curvature(metric, structure), 2, n * n), reshape(_inverse(metric), 2, n * n))


@checked
def sectional_curvature(metric: Metric, X: Coordinates, Y: Coordinates, structure: Array | None = None) -> Scalar:
    """Curvature R(X, Y, X, Y) / (|X|² |Y|² − ⟨X, Y⟩²) of the plane that X and Y span [Alt04, §II.B; PBP95, (66)].

    With the identity metric ¼ |ω_X × ω_Y|² of orthonormal X and Y; other metrics of SE(3) are listed at the head of the module.
    ``metric`` (..., n, n), kg·m², kg·m, kg; ``X``, ``Y`` (..., n), any unit; ``structure`` as in `connection`. Returns (...),
    1/(kg·m²); NaN where X and Y are parallel.
    """
    n = metric.shape[-1]
    R = reshape(riemann_curvature(metric, structure), 4, n * n, n * n)
    _refuse_other_sizes(n, X=X, Y=Y)
    plane = reshape(outer(X, Y) - outer(Y, X), 2, n * n)
    XX, XY, YY = dot(X, matvec(metric, X)), dot(X, matvec(metric, Y)), dot(Y, matvec(metric, Y))
    area = XX * YY - XY * XY  # of two parallel velocities, what rounding leaves
    area = where(area > PARALLEL * XX * YY, area, numpy.nan)
    with numpy.errstate(all="ignore"):  # a plane that is none is answered with NaN, not with warnings
        return 0.25 * dot(plane, matvec(R, plane)) / area


@checked
def double_geodesic_connection(X: Twist, Y: Twist) -> Twist:
    """∇_X Y = (½ ω_X × ω_Y, ω_X × v_Y) of left-invariant fields: rotate and translate along geodesics of each [Alt04, §II.B].

    The connection of every metric diag(α, α, α, β, β, β) on SE(3), Altafini's identity metric among them: lengths are kept,
    and ∇_X Y − ∇_Y X = [X, Y], so there is no torsion. Only if the twists are taken for an Abelian ℝ⁶, whose bracket is zero,
    is ∇_X Y − ∇_Y X itself a torsion (proof of his Proposition II.1). Its geodesics turn about a fixed axis while the frame's
    origin moves on a straight line. ``X``, ``Y`` (..., 6), rad/s, m/s; returns (..., 6), rad/s², m/s².
    """
    w, w_Y, v_Y = X[..., :3], Y[..., :3], Y[..., 3:]
    return concat([0.5 * cross(w, w_Y), cross(w, v_Y)])


@checked
def minus_connection(X: Coordinates, Y: Coordinates, Y_rate: Coordinates | None = None) -> Coordinates:
    """∇_X Y = Ẏ in body components: Cartan's (−) connection, the absolute parallelism of the group [Alt04, proof of Prop. II.1].

    A field is parallel along every curve if its body components are constant, that is if it is left-invariant. So transport
    does not depend on the path, and there is no curvature, R(X, Y) Z = 0. In exchange there is torsion, `minus_torsion`. It keeps
    the lengths of every left-invariant metric, as the metric's own connection does, which has curvature and no torsion. But
    whether a map is a Riemannian submersion is a question about lengths, and no connection changes these [E004-6].

    ``Y_rate`` (..., n) is the derivative of the components of Y along X, zero for a left-invariant field. ``X``, ``Y`` (..., n),
    rad/s, m/s; of any group. Returns (..., n), rad/s², m/s².
    """
    _refuse_other_sizes(X.shape[-1], X=X, Y=Y, Y_rate=Y_rate)
    still = 0.0 * (X + Y)  # of the common batch, and NaN where they are
    return still if Y_rate is None else still + Y_rate


@checked
def minus_torsion(X: Coordinates, Y: Coordinates, structure: Array | None = None) -> Coordinates:
    """T(X, Y) = ∇_X Y − ∇_Y X − [X, Y] = −[X, Y] of the (−) connection [Alt04, proof of Prop. II.1].

    Of columns of the body Jacobian of a robot, X = J_i and Y = J_j, it is ∂_i J_j − ∂_j J_i. ``X``, ``Y`` (..., n), rad/s, m/s;
    ``structure`` (n, n, n), by default `SE3` with n = 6. Returns (..., n), rad/s², m/s².
    """
    s = _constants(structure)
    n = s.shape[-1]
    _refuse_other_sizes(n, X=X, Y=Y)
    return -matvec(reshape(permute(s, (2, 0, 1)), 2, n * n), reshape(outer(X, Y), 2, n * n))


def _structure(metric: Array, structure: Array | None) -> Array:
    s = _constants(structure)
    n = s.shape[-1]
    if tuple(metric.shape[-2:]) != (n, n):
        group = "SE(3)" if structure is None else "these structure constants"
        other = " Pass `structure` (n, n, n) for another group." if structure is None else ""
        raise ShapeError(f"`metric` must have shape (..., {n}, {n}) for {group}, got {tuple(metric.shape)}.{other}")
    if is_concrete(metric):
        _refuse_no_metric(numpy.asarray(metric, float))
    return s


def _constants(structure: Array | None) -> Array:
    """Structure constants (n, n, n) as they were given, those of SE(3) by default."""
    s = SE3 if structure is None else as_numbers(structure)
    if len(s.shape) != 3 or len(set(s.shape)) != 1:
        raise ShapeError(f"`structure` must have shape (n, n, n), got {tuple(s.shape)}.")
    return s


def _refuse_other_sizes(n: int, **vectors: Array | None) -> None:
    """Raise unless all vectors that are given are (..., n)."""
    for name, x in vectors.items():
        if x is not None and x.shape[-1] != n:
            raise ShapeError(
                f"`{name}` must have shape (..., {n}), one number for each dimension of the group, got {tuple(x.shape)}."
            )


def _refuse_no_metric(metric: Array) -> None:
    """Refuse a matrix that is not symmetric or not positive definite; NaN passes, to be answered with NaN."""
    some = metric[numpy.all(numpy.isfinite(metric), axis=(-2, -1))]
    diagonal = numpy.einsum("...ii->...i", some)
    least, n = float(numpy.min(diagonal, initial=numpy.inf)), metric.shape[-1]
    if least > 0:
        root = numpy.sqrt(diagonal)
        scaled = some / (root[..., :, None] * root[..., None, :])  # units, and sizes of the axes, no longer count
        uneven = numpy.abs(scaled - transpose(scaled))
        if numpy.max(uneven, initial=0.0) > ASYMMETRIC:
            at = numpy.unravel_index(int(uneven.argmax()), uneven.shape)
            i, j = at[-2:]
            raise ModelError(
                f"`metric` must be symmetric, but its entries [{i}, {j}] and [{j}, {i}] are {some[at]:.6g} and "
                f"{transpose(some)[at]:.6g}. Pass 0.5 * (metric + metric.T) if they should be equal."
            )
        least = float(numpy.min(numpy.linalg.eigvalsh(scaled), initial=numpy.inf))
    if least <= n * EPSILON:
        raise ModelError(
            f"`metric` must be positive definite, ⟨X, X⟩ > 0 for every X but zero, but its least eigenvalue, or diagonal "
            f"entry, with the diagonal scaled to 1 where it is positive, is {least:.3g}. A link without mass, a point mass and a "
            "rod have no such metric."
        )


def _inverse(metric: Array) -> Array:
    return inverse(factor(metric, guarded=False))
