"""How twists and wrenches move between frames, and how they act on each other.

Two forms of each: an *action*, structured and cheap (what the recursions use), and a 6×6 *matrix* (what the closed
forms need). Twists are (angular, linear), wrenches (moment, force); the power FᵀV is the same in every frame.
"""

from __future__ import annotations

from torsor.arrays import block, concat, cross, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Matrix6, Pose, Twist, Wrench
from torsor.lie.unchecked import so3
from torsor.lie.unchecked.se3 import rotation, translation


def transform_twist(T_ab: Pose, V_b: Twist) -> Twist:
    """V_a = Ad(T_ab) V_b = (R ω, p × R ω + R v) [PBP95, (2)].

    ``T_ab`` (..., 4, 4), m; ``V_b`` (..., 6), rad/s, m/s; returns (..., 6).
    """
    R = rotation(T_ab)
    w = matvec(R, V_b[..., :3])
    return concat([w, cross(translation(T_ab), w) + matvec(R, V_b[..., 3:])])


def transform_twist_inverse(T_ab: Pose, V_a: Twist) -> Twist:
    """V_b = Ad(T_ab)⁻¹ V_a = (Rᵀ ω, Rᵀ (v − p × ω)), without forming the inverse pose [PBP95, (2)].

    ``T_ab`` (..., 4, 4), m; ``V_a`` (..., 6), rad/s, m/s; returns (..., 6).
    """
    R_ba = transpose(rotation(T_ab))
    w = V_a[..., :3]
    return concat([matvec(R_ba, w), matvec(R_ba, V_a[..., 3:] - cross(translation(T_ab), w))])


def transform_wrench(T_ab: Pose, F_a: Wrench) -> Wrench:
    """F_b = Ad(T_ab)ᵀ F_a = (Rᵀ (m − p × f), Rᵀ f) [PBP95, (4), (11)].

    ``T_ab`` (..., 4, 4), m; ``F_a`` (..., 6), N·m, N; returns (..., 6).
    """
    R_ba = transpose(rotation(T_ab))
    f = F_a[..., 3:]
    return concat([matvec(R_ba, F_a[..., :3] - cross(translation(T_ab), f)), matvec(R_ba, f)])


def transform_wrench_inverse(T_ab: Pose, F_b: Wrench) -> Wrench:
    """F_a = Ad(T_ab)⁻ᵀ F_b = (R m + p × R f, R f), without forming the inverse pose [PBP95, (11)].

    ``T_ab`` (..., 4, 4), m; ``F_b`` (..., 6), N·m, N; returns (..., 6).
    """
    R = rotation(T_ab)
    f = matvec(R, F_b[..., 3:])
    return concat([matvec(R, F_b[..., :3]) + cross(translation(T_ab), f), f])


def bracket(V: Twist, W: Twist) -> Twist:
    """[V, W] = ad(V) W = (ω₁ × ω₂, ω₁ × v₂ − ω₂ × v₁) [PBP95, (1), (5)].

    ``V`` and ``W`` (..., 6), rad/s, m/s; returns (..., 6).
    """
    w1, v1, w2, v2 = V[..., :3], V[..., 3:], W[..., :3], W[..., 3:]
    return concat([cross(w1, w2), cross(w1, v2) + cross(v1, w2)])


def bracket_dual(V: Twist, F: Wrench) -> Wrench:
    """ad(V)ᵀ F = (−ω × m − v × f, −ω × f) [PBP95, (7); LP, (9.31)].

    ``V`` (..., 6), rad/s, m/s; ``F`` (..., 6), N·m, N; returns (..., 6).
    """
    w, v, m, f = V[..., :3], V[..., 3:], F[..., :3], F[..., 3:]
    return concat([cross(m, w) + cross(f, v), cross(f, w)])


def Ad(T: Pose) -> Matrix6:
    """The 6×6 matrix (R, 0; [p] R, R) of the adjoint map [PBP95, (3)]. ``T`` (..., 4, 4), m; returns (..., 6, 6)."""
    R = rotation(T)
    return block([[R, zeros(3, 3)], [matmul(so3.hat(translation(T)), R), R]])


def ad(V: Twist) -> Matrix6:
    """The 6×6 matrix ([ω], 0; [v], [ω]) of the bracket [PBP95, (6); LP, (9.29)].

    ``V`` (..., 6), rad/s, m/s; returns (..., 6, 6).
    """
    W = so3.hat(V[..., :3])
    return block([[W, zeros(3, 3)], [so3.hat(V[..., 3:]), W]])
