"""One rigid body, in all the forms the papers give its energy, momentum and equations of motion.

``G`` is the body's inertia row (..., 10) about the frame in use (`Inertia.row`), ``V`` the body twist of that frame.
They all say the same; the tests hold them against each other.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import (
    absolute,
    block,
    concat,
    cross,
    dot,
    identity,
    is_concrete,
    matmul,
    matvec,
    sqrt,
    transpose,
    zeros,
)
from torsor.arrays.symmetric_eigen import symmetric_eigen
from torsor.arrays.typing import Algebra, Array, InertiaRow, Matrix3, Pose, Scalar, Twist, Vector3, Wrench
from torsor.border import checked
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.lie.unchecked.inertias import rotational

ROUNDING = 64 * 2.0**-52  # of the moments that a moment was computed from: what should have been zero

# Kinetic energy


@checked
def kinetic_energy(G: InertiaRow, V: Twist) -> Scalar:
    """Kinetic energy ½ Vᵀ G V [LP, (9.24); PBP95, §2.3].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V : (..., 6) array
        Body twist, rad/s, m/s.

    Returns
    -------
    (...) array
        Energy, J.
    """
    return 0.5 * dot(V, lie.apply_inertia(G, V))


@checked
def kinetic_energy_of_rotation(I: Matrix3, w: Vector3) -> Scalar:
    """Kinetic energy ½ ω · I · ω of a turn about the centre of mass [Sil81, (2.10)].

    Parameters
    ----------
    I : (..., 3, 3) array
        Inertia about the centre of mass, kg·m².
    w : (..., 3) array
        Angular velocity, rad/s.

    Returns
    -------
    (...) array
        Energy, J.
    """
    return 0.5 * dot(w, matvec(I, w))


@checked
def kinetic_energy_of_rotation_rate(J: Matrix3, W_dot: Matrix3) -> Scalar:
    """Kinetic energy ½ tr(Ẇ J Ẇᵀ), with J the second moment in body axes [Sil81, (2.8)].

    Parameters
    ----------
    J : (..., 3, 3) array
        Second moment in body axes, kg·m².
    W_dot : (..., 3, 3) array
        Rate of the rotation matrix, 1/s.

    Returns
    -------
    (...) array
        Energy, J.
    """
    return 0.5 * _trace(matmul(matmul(W_dot, J), transpose(W_dot)))


@checked
def kinetic_energy_by_pseudo_inertia(G: InertiaRow, V: Twist) -> Scalar:
    """Kinetic energy ½ tr(V Ĵ Vᵀ) with the 4×4 pseudo-inertia Ĵ: of every body, rods and points too [BSP93, (2), E000-1b].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V : (..., 6) array
        Body twist, rad/s, m/s.

    Returns
    -------
    (...) array
        Energy, J.
    """
    X = se3.hat(V)
    return 0.5 * _trace(matmul(matmul(X, lie.pseudo_inertia(G)), transpose(X)))


class TraceForm(NamedTuple):
    """The matrices G_p, M_p, J_p (4, 4) of a body about a frame p, kg, m [BSP93, §3.1, E000-1, E000-8]."""

    G: Pose
    M: Pose
    J: Pose


@checked
def trace_form(mass: Scalar, I: Matrix3, T_pc: Pose) -> TraceForm:
    """Matrices G_p = T_cpᵀ T_cp, M_p = T_pc M T_pcᵀ, J_p = T_pc J T_pcᵀ of one body [BSP93, §3.1, E000-1].

    J = √(det I / 2) diag(I⁻¹, 0), which exists only if all principal moments are positive: a rod and a point are refused, and
    `kinetic_energy_by_pseudo_inertia` is for them.

    Parameters
    ----------
    mass : float
        Mass, kg.
    I : (3, 3) array
        Inertia about the centre of mass c, kg·m².
    T_pc : (4, 4) array
        Pose of the centre-of-mass frame in p, m.

    Returns
    -------
    TraceForm
        G, M and J (4, 4), kg, m.
    """
    adjugate, determinant = _adjugate(I)
    _refuse_thin(
        "trace_form: there is no √(det I / 2) I⁻¹ of a body",
        I,
        absolute(_trace(I)),
        "`rigid_body.kinetic_energy_by_pseudo_inertia(G, V)` gives the energy of every body, with G = torsor.Inertia(…).row.",
    )
    J3 = adjugate / sqrt(2.0 * determinant)  # √(det/2) I⁻¹
    M = block([[zeros(3, 3), zeros(3, 1)], [zeros(1, 3), mass * identity(1)]])
    J = block([[J3, zeros(3, 1)], [zeros(1, 3), zeros(1, 1)]])
    T_cp = se3.inverse(T_pc)
    return TraceForm(
        matmul(transpose(T_cp), T_cp),
        matmul(matmul(T_pc, M), transpose(T_pc)),
        matmul(matmul(T_pc, J), transpose(T_pc)),
    )


@checked
def trace_inner_product(form: TraceForm, V: Twist, W: Twist) -> Scalar:
    """Inner product ⟨V, W⟩_p = tr(G_p V M_p Wᵀ) + tr(J_p V J_p Wᵀ) = Vᵀ G W; ½⟨V, V⟩ is the energy [BSP93, §3.1, E000-8].

    Parameters
    ----------
    form : TraceForm
        What `trace_form` gives.
    V : (..., 6) array
        Body twist, rad/s, m/s.
    W : (..., 6) array
        Another twist, rad/s, m/s.

    Returns
    -------
    (...) array
        In J.
    """
    X, Y = se3.hat(V), transpose(se3.hat(W))
    G, M, J = form
    return _trace(matmul(matmul(matmul(G, X), M), Y)) + _trace(matmul(matmul(matmul(J, X), J), Y))


# Momentum


@checked
def momentum(G: InertiaRow, V: Twist) -> Wrench:
    """Momentum P = G V [LP, (9.25)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V : (..., 6) array
        Body twist, rad/s, m/s.

    Returns
    -------
    (..., 6) array
        Angular and linear momentum, kg·m²/s, kg·m/s.
    """
    return lie.apply_inertia(G, V)


# Equations of motion


@checked
def wrench(G: InertiaRow, V: Twist, V_dot: Twist) -> Wrench:
    """Wrench F = G V̇ − ad(V)ᵀ G V that makes the body move so [LP, (9.32), (9.33); PBP95, (26)].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V, V_dot : (..., 6) array
        Body twist, rad/s, m/s, and its rate, rad/s², m/s².

    Returns
    -------
    (..., 6) array
        Wrench, N·m, N.
    """
    return lie.apply_inertia(G, V_dot) - lie.bracket_dual(V, lie.apply_inertia(G, V))


@checked
def wrench_classical(mass: Scalar, I: Matrix3, V: Twist, V_dot: Twist) -> Wrench:
    """Wrench (I ω̇ + ω × I ω, m (v̇ + ω × v)), frame at the centre of mass [LP, (9.17), (9.20); Sil81, (1.3)].

    Parameters
    ----------
    mass : (...) array
        Mass, kg.
    I : (..., 3, 3) array
        Inertia about the centre of mass, kg·m².
    V, V_dot : (..., 6) array
        Body twist, rad/s, m/s, and its rate, rad/s², m/s².

    Returns
    -------
    (..., 6) array
        Wrench, N·m, N.
    """
    w, v, w_dot, v_dot = V[..., :3], V[..., 3:], V_dot[..., :3], V_dot[..., 3:]
    moment = matvec(I, w_dot) + cross(w, matvec(I, w))
    return concat([moment, mass[..., None] * (v_dot + cross(w, v))])


@checked
def wrench_about_frame(mass: Scalar, com: Vector3, I: Matrix3, V: Twist, V_dot: Twist) -> Wrench:
    """Wrench f = m ā and moment I ω̇ + ω × I ω + r × m ā, ā the acceleration of the centre of mass r [PBP95, (74)–(77)].

    Parameters
    ----------
    mass : (...) array
        Mass, kg.
    com : (..., 3) array
        Centre of mass, m.
    I : (..., 3, 3) array
        Inertia about the centre of mass, kg·m².
    V, V_dot : (..., 6) array
        Body twist, rad/s, m/s, and its rate, rad/s², m/s².

    Returns
    -------
    (..., 6) array
        Wrench about the frame's origin, N·m, N.
    """
    w, v, w_dot, v_dot = V[..., :3], V[..., 3:], V_dot[..., :3], V_dot[..., 3:]
    a = v_dot + cross(w, v)
    f = mass[..., None] * (a + cross(w_dot, com) + cross(w, cross(w, com)))
    return concat([matvec(I, w_dot) + cross(w, matvec(I, w)) + cross(com, f), f])


@checked
def free_acceleration(G: InertiaRow, V: Twist) -> Twist:
    """Rate V̇ of the twist of a body left alone: G V̇ = ad(V)ᵀ G V, the Euler–Poincaré equation [BSP93, (3), E000-2].

    The mass and moments must be positive: a rod's spin about its own axis is not determined, and it is refused like a point.

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V : (..., 6) array
        Body twist, rad/s, m/s.

    Returns
    -------
    (..., 6) array
        Rate of the twist, rad/s², m/s².
    """
    P = lie.bracket_dual(V, lie.apply_inertia(G, V))
    m, h = G[..., :1], G[..., 1:4]
    if is_concrete(m) and (m <= 0.0).any():
        raise ModelError(f"the mass must be positive, got {float(m.min()):.6g} kg.")
    # Eliminate v̇ = (f + h × ω̇)/m and solve 3×3 for ω̇ with the inertia about the centre of mass.
    com = h / m
    at_com = lie.transform_inertia(se3.pose(identity(3), -com), G)
    adjugate, determinant = _adjugate(rotational(at_com))
    _refuse_thin(
        "free_acceleration: G V̇ = ad(V)ᵀ G V does not determine V̇ of a body",
        rotational(at_com),
        absolute(_trace(rotational(G))),
        "Give it its small moments, `torsor.Inertia.cylinder(radius, length, mass=…)`; `rigid_body.weak_residual` tests a "
        "motion of any body, `rigid_body.kinetic_energy_by_pseudo_inertia` is its energy.",
    )
    w_dot = matvec(adjugate, P[..., :3] - cross(com, P[..., 3:])) / determinant[..., None]
    return concat([w_dot, P[..., 3:] / m + cross(com, w_dot)])


@checked
def weak_residual(G: InertiaRow, V: Twist, V_dot: Twist, W: Twist) -> Scalar:
    """Residual ⟨V̇, W⟩ − ⟨V, [V, W]⟩: zero for every W if and only if the body moves freely [BSP93, (3), E000-2].

    Parameters
    ----------
    G : (..., 10) array
        Inertia row of the body about the frame in use, kg, m.
    V, V_dot : (..., 6) array
        Body twist, rad/s, m/s, and its rate, rad/s², m/s².
    W : (..., 6) array
        Another twist, rad/s, m/s.

    Returns
    -------
    (...) array
        In W.
    """
    return dot(lie.apply_inertia(G, V_dot), W) - dot(lie.apply_inertia(G, V), lie.bracket(V, W))


@checked
def matrix_residual(form: TraceForm, V: Twist, V_dot: Twist) -> Algebra:
    """Residual P(G V̇ M + J V̇ J) − P([Vᵀ, G V M + J V J]): zero if the body moves freely [BSP93, §3.2, E000-3].

    All are 4×4 matrices. P keeps the skew part of the 3×3 block and the last column.

    Parameters
    ----------
    form : TraceForm
        What `trace_form` gives.
    V, V_dot : (6,) array
        Body twist, rad/s, m/s, and its rate, rad/s², m/s².

    Returns
    -------
    (4, 4) array
        In N·m, N.
    """
    X, Y = se3.hat(V), se3.hat(V_dot)
    G, M, J = form

    def lowered(Z: Algebra) -> Algebra:
        return matmul(matmul(G, Z), M) + matmul(matmul(J, Z), J)

    L, Xt = lowered(X), transpose(X)
    return _project(lowered(Y) - (matmul(Xt, L) - matmul(L, Xt)))


def _project(X: Algebra) -> Algebra:
    R, p = X[..., :3, :3], X[..., :3, 3:]
    return concat([concat([0.5 * (R - transpose(R)), p]), zeros(1, 4)], axis=-2)


def _trace(X: Array) -> Scalar:
    total = X[..., 0, 0]
    for k in range(1, X.shape[-1]):
        total = total + X[..., k, k]
    return total


def _refuse_thin(what: str, I: Matrix3, scale: Scalar, instead: str) -> None:
    """Refuse bodies whose inertia I (..., 3, 3), computed from moments of size ``scale``, has no inverse; NaN passes as NaN.

    All principal moments are positive if and only if tr I, tr adj I and det I are. The least of them is between one and three
    times det I / tr adj I.
    """
    if not is_concrete(I):
        return
    adjugate, determinant = _adjugate(I)
    pairs = _trace(adjugate)
    thin = (determinant <= ROUNDING * scale * pairs) | (pairs <= 0.0) | (_trace(I) <= 0.0)
    if thin.any():
        moments = ", ".join(f"{x:.3g}" for x in symmetric_eigen(I[thin][0])[0])
        raise ModelError(
            f"{what} whose principal moments about its centre of mass are {moments} kg·m², not all of them positive (a rod or a "
            f"point has such). {instead}"
        )


def _adjugate(A: Matrix3) -> tuple[Matrix3, Scalar]:
    """Adjugate and determinant of a symmetric 3×3 matrix: A⁻¹ = adjugate / determinant."""
    a, b, c = A[..., :, 0], A[..., :, 1], A[..., :, 2]
    rows = concat([cross(b, c)[..., None, :], cross(c, a)[..., None, :], cross(a, b)[..., None, :]], axis=-2)
    return rows, dot(a, cross(b, c))
