"""Inertia of a rigid body as ten numbers (m, m c, I): how it acts on twists and moves between frames.

The row is m, m c_x, m c_y, m c_z, Ixx, Ixy, Ixz, Iyy, Iyz, Izz with c the centre of mass and I the rotational inertia
about the frame's *origin*, in its axes: linear in the body's mass distribution, so rows of one frame simply add.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import (
    block,
    concat,
    constant,
    cross,
    dot,
    identity,
    matmul,
    matrix,
    matvec,
    outer,
    stack,
    take,
    transpose,
)
from torsor.arrays.typing import Array, InertiaRow, Matrix3, Matrix6, Pose, Scalar, Twist, Vector3, Wrench
from torsor.lie.unchecked import so3
from torsor.lie.unchecked.se3 import rotation, translation

_SYMMETRIC = constant([[4, 5, 6], [5, 7, 8], [6, 8, 9]])


def mass(G: InertiaRow) -> Scalar:
    """m, the first entry [PBP95, (21)]. ``G`` (..., 10), kg; returns (...)."""
    return G[..., 0]


def first_moment(G: InertiaRow) -> Vector3:
    """h = m c [PBP95, (21)]. ``G`` (..., 10), kg, kg·m, kg·m²; returns (..., 3), kg·m."""
    return G[..., 1:4]


def rotational(G: InertiaRow) -> Matrix3:
    """I about the origin, symmetric [PBP95, (21)]. ``G`` (..., 10), kg, kg·m, kg·m²; returns (..., 3, 3)."""
    return take(G, _SYMMETRIC)


def inertia_row(m: Scalar, h: Vector3, I: Matrix3) -> InertiaRow:
    """Ten numbers from mass, first moment and rotational inertia about the origin [PBP95, (21)].

    Parameters
    ----------
    m : (...) array
        Mass, kg.
    h : (..., 3) array
        First moment m c, kg·m.
    I : (..., 3, 3) array
        Rotational inertia about the origin, kg·m².

    Returns
    -------
    (..., 10) array
        m, m c, Ixx, Ixy, Ixz, Iyy, Iyz, Izz.
    """
    six = stack([I[..., 0, 0], I[..., 0, 1], I[..., 0, 2], I[..., 1, 1], I[..., 1, 2], I[..., 2, 2]])
    return concat([m[..., None], h, six])


def apply_inertia(G: InertiaRow, V: Twist) -> Wrench:
    """G V = (I ω + h × v, m v − h × ω), the momentum of the body moving with twist V [PBP95, (21); LP, (9.25)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row, kg, kg·m, kg·m².
    V : (..., 6) array
        A twist, rad/s and m/s.

    Returns
    -------
    (..., 6) array
        Momentum (angular, linear), kg·m²/s and kg·m/s.
    """
    w, v, h = V[..., :3], V[..., 3:], G[..., 1:4]
    return concat([matvec(rotational(G), w) + cross(h, v), G[..., :1] * v - cross(h, w)])


def transform_inertia(T_ab: Pose, G_b: InertiaRow) -> InertiaRow:
    """The same body seen from frame a: Ad(T_ba)ᵀ G_b Ad(T_ba) in ten numbers [PBP95, §4; LP, (9.23)].

    h_a = R h + m p and I_a = R I Rᵀ + (2 p·R h + m p·p) 1 − (R h pᵀ + p (R h)ᵀ + m p pᵀ), the parallel-axis theorem.

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    G_b : (..., 10) array
        Inertia row in frame b, kg, kg·m, kg·m².

    Returns
    -------
    (..., 10) array
        Inertia row in frame a.
    """
    R, p, m = rotation(T_ab), translation(T_ab), G_b[..., 0]
    Rh = matvec(R, G_b[..., 1:4])
    mp = m[..., None] * p
    I = matmul(matmul(R, rotational(G_b)), transpose(R))
    cross_terms = outer(Rh, p)
    trace = (2.0 * dot(p, Rh) + dot(p, mp))[..., None, None]
    return inertia_row(m, Rh + mp, I + trace * identity(3) - (cross_terms + transpose(cross_terms) + outer(mp, p)))


@in_one_line
class MassFlow(NamedTuple):
    """Sums over the particles x of a body in motion; flows of bodies add.

    Attributes
    ----------
    p : (..., 3) array
        Σ m ẋ, kg·m/s.
    Q : (..., 3, 3) array
        Σ m ẋ xᵀ, kg·m²/s.
    """

    p: Vector3
    Q: Matrix3

    def inertia_rate(self) -> InertiaRow:
        """Ġ in ten numbers: ṁ = 0, ḣ = p, İ = Σ m (2 x·ẋ 1 − ẋ xᵀ − x ẋᵀ) = 2 tr(Q) 1 − Q − Qᵀ."""
        p, Q = self
        return inertia_row(0.0 * p[..., 0], p, 2.0 * _trace(Q) * identity(3) - Q - transpose(Q))


def mass_flow(G: InertiaRow, V: Twist) -> MassFlow:
    """The flow of a body with twist V, whose particles move with ẋ = v + ω × x: p = m v + ω × h, Q = v hᵀ + [ω] J.

    J = ½ tr(I) 1 − I is Silver's second moment [Sil81, (2.7), (2.11)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row, kg, kg·m, kg·m².
    V : (..., 6) array
        A twist, rad/s and m/s.

    Returns
    -------
    MassFlow
        p (..., 3), kg·m/s, and Q (..., 3, 3), kg·m²/s.
    """
    w, v, h = V[..., :3], V[..., 3:], G[..., 1:4]
    Q = outer(v, h) + matmul(so3.hat(w), second_moment(rotational(G)))
    return MassFlow(G[..., :1] * v + cross(w, h), Q)


def inertia_rate(G: InertiaRow, V: Twist) -> InertiaRow:
    """Ġ = −ad(V)ᵀ G − G ad(V) in ten numbers: how the inertia of a body that moves with twist V changes in axes at rest.

    By the flow of its particles [Sil81, (2.7), (2.11)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row, kg, kg·m, kg·m².
    V : (..., 6) array
        A twist, rad/s and m/s.

    Returns
    -------
    (..., 10) array
        Rate of the inertia row, per s.
    """
    return mass_flow(G, V).inertia_rate()


def energy_row(V: Twist, W: Twist) -> InertiaRow:
    """φ with Vᵀ G W = φ · G for every inertia row G: (v₁·v₂, v₁ × ω₂ + v₂ × ω₁, symmetric products of ω₁ and ω₂).

    From Vᵀ G W = ω₁·(I ω₂ + h × v₂) + v₁·(m v₂ − h × ω₂) [PBP95, (21)].

    Parameters
    ----------
    V : (..., 6) array
        A twist, rad/s and m/s.
    W : (..., 6) array
        Another twist of the same frame.

    Returns
    -------
    (..., 10) array
        What is multiplied with an inertia row.
    """
    w1, v1, w2, v2 = V[..., :3], V[..., 3:], W[..., :3], W[..., 3:]
    once = outer(w1, w2)
    both = once + transpose(once)
    squares = [once[..., 0, 0], both[..., 0, 1], both[..., 0, 2], once[..., 1, 1], both[..., 1, 2], once[..., 2, 2]]
    return concat([dot(v1, v2)[..., None], cross(v1, w2) + cross(v2, w1), stack(squares)])


def work_row(V: Twist, L: Vector3, Xi: Matrix3) -> InertiaRow:
    """φ with Σ m (v + ω × x)·(L + Ξ x) = φ · G over the particles x of every body G: the work of an affine field on V.

    Σ m = m, Σ m x = h, and Σ m x × Ξ x is linear in I, for Σ m x xᵀ = ½ tr(I) 1 − I [Sil81, (2.7), (2.11)]:
    φ = (v·L, Ξᵀ v + L × ω, K ω) with the moments K of the six entries of I for rows. A rotation field Ξ = [ω₂] with
    L = v₂ gives `energy_row`.

    Parameters
    ----------
    V : (..., 6) array
        A twist, rad/s and m/s.
    L : (..., 3) array
        The field at the origin, m/s or m/s².
    Xi : (..., 3, 3) array
        How the field changes from place to place, 1/s or 1/s².

    Returns
    -------
    (..., 10) array
        What is multiplied with an inertia row.
    """
    w, v = V[..., :3], V[..., 3:]
    return concat([dot(v, L)[..., None], matvec(transpose(Xi), v) + cross(L, w), matvec(_moments_of_inertias(Xi), w)])


def inertia_matrix(G: InertiaRow) -> Matrix6:
    """The 6×6 form (I, [h]; −[h], m 1) [PBP95, (21), (36)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row, kg, kg·m, kg·m².

    Returns
    -------
    (..., 6, 6) array
        Symmetric.
    """
    H = so3.hat(first_moment(G))
    return block([[rotational(G), H], [-H, mass(G)[..., None, None] * identity(3)]])


def second_moment(I: Matrix3) -> Matrix3:
    """J = ½ tr(I) 1 − I = ∫ r rᵀ dm, the inertia that goes with Ẇ [Sil81, (2.7), (2.11)].

    Parameters
    ----------
    I : (..., 3, 3) array
        Rotational inertia, kg·m².

    Returns
    -------
    (..., 3, 3) array
        kg·m².
    """
    return _trace(0.5 * I) * identity(3) - I


def rotational_from_second_moment(J: Matrix3) -> Matrix3:
    """I = tr(J) 1 − J [Sil81, (2.9), (2.11)].

    Parameters
    ----------
    J : (..., 3, 3) array
        Second moment, kg·m².

    Returns
    -------
    (..., 3, 3) array
        Rotational inertia, kg·m².
    """
    return _trace(J) * identity(3) - J


def pseudo_inertia(G: InertiaRow) -> Pose:
    """The 4×4 matrix (J, h; hᵀ, m) of (1.2), positive semi-definite for every real body [Sil81, (1.2)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row, kg, kg·m, kg·m².

    Returns
    -------
    (..., 4, 4) array
        Symmetric, kg·m², kg·m, kg.
    """
    h = first_moment(G)[..., :, None]
    return block([[second_moment(rotational(G)), h], [transpose(h), mass(G)[..., None, None]]])


def _moments_of_inertias(Xi: Matrix3) -> Array:
    """K (..., 6, 3): the moment Σ m x × Ξ x per unit of Ixx, Ixy, Ixz, Iyy, Iyz, Izz."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = ([Xi[..., i, j] for j in range(3)] for i in range(3))
    # What turns, (Ξ − Ξᵀ)/2 = [a], and what shears, the rest's off-diagonal entries
    a_x, a_y, a_z = 0.5 * (zy - yz), 0.5 * (xz - zx), 0.5 * (yx - xy)
    s_x, s_y, s_z = 0.5 * (zy + yz), 0.5 * (xz + zx), 0.5 * (yx + xy)
    return matrix(
        [
            [a_x, s_y, -s_z],
            [-zx, zy, xx - yy],
            [yx, zz - xx, -yz],
            [-s_x, a_y, s_z],
            [yy - zz, -xy, xz],
            [s_x, -s_y, a_z],
        ]
    )


def _trace(A: Matrix3) -> Scalar:
    return (A[..., 0, 0] + A[..., 1, 1] + A[..., 2, 2])[..., None, None]
