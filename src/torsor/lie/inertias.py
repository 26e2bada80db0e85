"""Inertia of a rigid body as ten numbers (m, m c, I): how it acts on twists and moves between frames.

The row is m, m c_x, m c_y, m c_z, Ixx, Ixy, Ixz, Iyy, Iyz, Izz with c the centre of mass and I the rotational inertia
about the frame's *origin*, in its axes: linear in the body's mass distribution, so rows of one frame simply add.
"""

from __future__ import annotations

from torsor.arrays import (
    block,
    checked,
    concat,
    constant,
    cross,
    dot,
    identity,
    matmul,
    matvec,
    outer,
    stack,
    take,
    transpose,
)
from torsor.arrays.typing import InertiaRow, Matrix3, Matrix6, Pose, Scalar, Twist, Vector3, Wrench
from torsor.lie import so3
from torsor.lie.se3 import rotation, translation

_SYMMETRIC = constant([[4, 5, 6], [5, 7, 8], [6, 8, 9]])


@checked
def mass(G: InertiaRow) -> Scalar:
    """m, the first entry [PBP95, (21)]. ``G`` (..., 10), kg; returns (...)."""
    return G[..., 0]


@checked
def first_moment(G: InertiaRow) -> Vector3:
    """h = m c [PBP95, (21)]. ``G`` (..., 10), kg, kg·m, kg·m²; returns (..., 3), kg·m."""
    return G[..., 1:4]


@checked
def rotational(G: InertiaRow) -> Matrix3:
    """I about the origin, symmetric [PBP95, (21)]. ``G`` (..., 10), kg, kg·m, kg·m²; returns (..., 3, 3)."""
    return take(G, _SYMMETRIC)


@checked
def inertia_row(m: Scalar, h: Vector3, I: Matrix3) -> InertiaRow:
    """Ten numbers from mass, first moment and rotational inertia about the origin [PBP95, (21)].

    ``m`` (...), kg; ``h`` (..., 3), kg·m; ``I`` (..., 3, 3), kg·m²; returns (..., 10).
    """
    six = stack([I[..., 0, 0], I[..., 0, 1], I[..., 0, 2], I[..., 1, 1], I[..., 1, 2], I[..., 2, 2]])
    return concat([m[..., None], h, six])


@checked
def apply_inertia(G: InertiaRow, V: Twist) -> Wrench:
    """G V = (I ω + h × v, m v − h × ω), the momentum of the body moving with twist V [PBP95, (21); LP, (9.25)].

    ``G`` (..., 10), kg, m; ``V`` (..., 6), rad/s, m/s; returns (..., 6), kg·m²/s, kg·m/s.
    """
    w, v, h = V[..., :3], V[..., 3:], G[..., 1:4]
    return concat([matvec(rotational(G), w) + cross(h, v), G[..., :1] * v - cross(h, w)])


@checked
def transform_inertia(T_ab: Pose, G_b: InertiaRow) -> InertiaRow:
    """The same body seen from frame a: Ad(T_ba)ᵀ G_b Ad(T_ba) in ten numbers [PBP95, §4; LP, (9.23)].

    h_a = R h + m p and I_a = R I Rᵀ + (2 p·R h + m p·p) 1 − (R h pᵀ + p (R h)ᵀ + m p pᵀ), the parallel-axis theorem.
    ``T_ab`` (..., 4, 4), m; ``G_b`` (..., 10), kg, kg·m, kg·m²; returns (..., 10).
    """
    R, p, m = rotation(T_ab), translation(T_ab), G_b[..., 0]
    Rh = matvec(R, G_b[..., 1:4])
    mp = m[..., None] * p
    I = matmul(matmul(R, rotational(G_b)), transpose(R))
    cross_terms = outer(Rh, p)
    trace = (2.0 * dot(p, Rh) + dot(p, mp))[..., None, None]
    return inertia_row(m, Rh + mp, I + trace * identity(3) - (cross_terms + transpose(cross_terms) + outer(mp, p)))


@checked
def inertia_rate(G: InertiaRow, V: Twist) -> InertiaRow:
    """Ġ = −ad(V)ᵀ G − G ad(V) in ten numbers: how the inertia of a body that moves with twist V changes in axes at rest.

    With J = ½ tr(I) 1 − I: ṁ = 0, ḣ = m v + ω × h, İ = 2 tr(Q) 1 − Q − Qᵀ for Q = v hᵀ + [ω] J [Sil81, (2.7), (2.11)].
    ``G`` (..., 10), kg, kg·m, kg·m²; ``V`` (..., 6), rad/s, m/s; returns (..., 10), per s.
    """
    w, v, h = V[..., :3], V[..., 3:], G[..., 1:4]
    Q = outer(v, h) + matmul(so3.hat(w), second_moment(rotational(G)))
    return inertia_row(0.0 * G[..., 0], G[..., :1] * v + cross(w, h), 2.0 * _trace(Q) * identity(3) - Q - transpose(Q))


@checked
def energy_row(V: Twist, W: Twist) -> InertiaRow:
    """φ with Vᵀ G W = φ · G for every inertia row G: (v₁·v₂, v₁ × ω₂ + v₂ × ω₁, symmetric products of ω₁ and ω₂).

    From Vᵀ G W = ω₁·(I ω₂ + h × v₂) + v₁·(m v₂ − h × ω₂) [PBP95, (21)]. ``V``, ``W`` (..., 6), rad/s, m/s; returns (..., 10).
    """
    w1, v1, w2, v2 = V[..., :3], V[..., 3:], W[..., :3], W[..., 3:]
    once = outer(w1, w2)
    both = once + transpose(once)
    squares = [once[..., 0, 0], both[..., 0, 1], both[..., 0, 2], once[..., 1, 1], both[..., 1, 2], once[..., 2, 2]]
    return concat([dot(v1, v2)[..., None], cross(v1, w2) + cross(v2, w1), stack(squares)])


@checked
def inertia_matrix(G: InertiaRow) -> Matrix6:
    """The 6×6 form (I, [h]; −[h], m 1) [PBP95, (21), (36)]. ``G`` (..., 10), kg, m; returns (..., 6, 6)."""
    H = so3.hat(first_moment(G))
    return block([[rotational(G), H], [-H, mass(G)[..., None, None] * identity(3)]])


@checked
def second_moment(I: Matrix3) -> Matrix3:
    """J = ½ tr(I) 1 − I = ∫ r rᵀ dm, the inertia that goes with Ẇ [Sil81, (2.7), (2.11)].

    ``I`` (..., 3, 3), kg·m²; returns (..., 3, 3), kg·m².
    """
    return _trace(0.5 * I) * identity(3) - I


@checked
def rotational_from_second_moment(J: Matrix3) -> Matrix3:
    """I = tr(J) 1 − J [Sil81, (2.9), (2.11)]. ``J`` (..., 3, 3), kg·m²; returns (..., 3, 3), kg·m²."""
    return _trace(J) * identity(3) - J


@checked
def pseudo_inertia(G: InertiaRow) -> Pose:
    """The 4×4 matrix (J, h; hᵀ, m) of (1.2), positive semi-definite for every real body [Sil81, (1.2)].

    ``G`` (..., 10), kg, kg·m, kg·m²; returns (..., 4, 4).
    """
    h = first_moment(G)[..., :, None]
    return block([[second_moment(rotational(G)), h], [transpose(h), mass(G)[..., None, None]]])


def _trace(A: Matrix3) -> Scalar:
    return (A[..., 0, 0] + A[..., 1, 1] + A[..., 2, 2])[..., None, None]
