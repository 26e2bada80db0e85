"""SE(3), the rigid motions as 4×4 matrices T_ab (pose of frame b seen from a): exp, log, Jacobians, paths.

Twists are (angular, linear); the inner letters of a product cancel, T_ab T_bc = T_ac.
"""

from __future__ import annotations

from torsor.arrays import block, concat, dot, identity, matmul, matvec, series, transpose, zeros
from torsor.arrays.typing import Algebra, Matrix3, Matrix6, Pose, Rotation, Twist, Vector3
from torsor.lie.unchecked import so3

_BOTTOM = concat([zeros(1, 3), identity(1)])


def pose(R: Rotation, p: Vector3) -> Pose:
    """T = (R, p) as a 4×4 matrix [PBP95, §2.1].

    Parameters
    ----------
    R : (..., 3, 3) array
        A rotation.
    p : (..., 3) array
        The origin, m.

    Returns
    -------
    (..., 4, 4) array
        A pose.
    """
    return concat([concat([R, p[..., :, None]]), _BOTTOM], axis=-2)


def rotation(T_ab: Pose) -> Rotation:
    """R_ab, whose columns are the axes of b seen from a [BSP93, §2.1].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        A pose, m.

    Returns
    -------
    (..., 3, 3) array
        A rotation, no unit.
    """
    return T_ab[..., :3, :3]


def translation(T_ab: Pose) -> Vector3:
    """p_ab, the origin of b seen from a [BSP93, §2.1].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        A pose, m.

    Returns
    -------
    (..., 3) array
        m.
    """
    return T_ab[..., :3, 3]


def compose(T_ab: Pose, T_bc: Pose) -> Pose:
    """T_ac = T_ab T_bc [BSP93, §2.1].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.
    T_bc : (..., 4, 4) array
        The pose of c seen from b, m.

    Returns
    -------
    (..., 4, 4) array
        The pose of c seen from a, m.
    """
    return matmul(T_ab, T_bc)


def inverse(T_ab: Pose) -> Pose:
    """T_ba = (Rᵀ, −Rᵀ p) [PBP95, §2.1].

    Parameters
    ----------
    T_ab : (..., 4, 4) array
        The pose of b seen from a, m.

    Returns
    -------
    (..., 4, 4) array
        The pose of a seen from b, m.
    """
    R_ba = transpose(rotation(T_ab))
    return pose(R_ba, -matvec(R_ba, translation(T_ab)))


def hat(V: Twist) -> Algebra:
    """The 4×4 matrix ([ω], v; 0, 0) of a twist [PBP95, §2.1].

    Parameters
    ----------
    V : (..., 6) array
        A twist (angular, linear), rad/s and m/s.

    Returns
    -------
    (..., 4, 4) array
        An element of se(3), 1/s and m/s.
    """
    return concat([concat([so3.hat(V[..., :3]), V[..., 3:, None]]), zeros(1, 4)], axis=-2)


def vee(X: Algebra) -> Twist:
    """The twist of a matrix ([ω], v; 0, 0) [PBP95, §2.1].

    Parameters
    ----------
    X : (..., 4, 4) array
        An element of se(3), 1/s and m/s.

    Returns
    -------
    (..., 6) array
        A twist (angular, linear), rad/s and m/s.
    """
    return concat([so3.vee(X[..., :3, :3]), X[..., :3, 3]])


def exp(S: Twist) -> Pose:
    """Motion along the screw S for unit time: (exp [ω], J_l(ω) v) [PBP95, (15)–(17), E001-13].

    Exact for any length of ω, ω = 0 (a translation) included.

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    (..., 4, 4) array
        A pose, m.
    """
    w, v = S[..., :3], S[..., 3:]
    return pose(so3.exp(w), matvec(so3.left_jacobian(w), v))


def log(T: Pose) -> Twist:
    """The screw S with exp(S) = T and angle ≤ π: (ω, J_l(ω)⁻¹ p) [PBP95, (15)–(17)].

    Parameters
    ----------
    T : (..., 4, 4) array
        A pose, m.

    Returns
    -------
    (..., 6) array
        A screw (angular, linear), rad and m.
    """
    w = so3.log(rotation(T))
    return concat([w, matvec(so3.left_jacobian_inverse(w), translation(T))])


def left_jacobian(S: Twist) -> Matrix6:
    """J with (d/dt exp S) exp(−S) = [J Ṡ], block triangular (J_l, 0; Q, J_l) [Bar17, (7.85)–(7.86)].

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    (..., 6, 6) array
        No unit, and m in its lower left block.
    """
    J = so3.left_jacobian(S[..., :3])
    return block([[J, zeros(3, 3)], [_coupling(S), J]])


def right_jacobian(S: Twist) -> Matrix6:
    """J with exp(−S) (d/dt exp S) = [J Ṡ], the left Jacobian of −S [Bar17, (7.83)].

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    (..., 6, 6) array
        No unit, and m in its lower left block.
    """
    return left_jacobian(-S)


def left_jacobian_inverse(S: Twist) -> Matrix6:
    """Inverse of the left Jacobian [Bar17, (7.95)]; singular at rotations of 2π, 4π, ….

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    (..., 6, 6) array
        No unit, and m in its lower left block.
    """
    K = so3.left_jacobian_inverse(S[..., :3])
    return block([[K, zeros(3, 3)], [-matmul(matmul(K, _coupling(S)), K), K]])


def right_jacobian_inverse(S: Twist) -> Matrix6:
    """Inverse of the right Jacobian [Bar17, (7.95)].

    Parameters
    ----------
    S : (..., 6) array
        A screw (angular, linear), rad and m.

    Returns
    -------
    (..., 6, 6) array
        No unit, and m in its lower left block.
    """
    return left_jacobian_inverse(-S)


def body_velocity(T: Pose, T_dot: Algebra) -> Twist:
    """V with [V] = T⁻¹ Ṫ, the twist in the moving frame [BSP93, §2.1; PBP95, §2.2].

    Parameters
    ----------
    T : (..., 4, 4) array
        A pose, m.
    T_dot : (..., 4, 4) array
        Its rate, 1/s and m/s.

    Returns
    -------
    (..., 6) array
        Twist in the moving frame, rad/s and m/s.
    """
    return vee(matmul(inverse(T), T_dot))


def spatial_velocity(T: Pose, T_dot: Algebra) -> Twist:
    """V with [V] = Ṫ T⁻¹, the twist in the fixed frame [BSP93, §2.1; PBP95, §2.2].

    Parameters
    ----------
    T : (..., 4, 4) array
        A pose, m.
    T_dot : (..., 4, 4) array
        Its rate, 1/s and m/s.

    Returns
    -------
    (..., 6) array
        Twist in the fixed frame, rad/s and m/s.
    """
    return vee(matmul(T_dot, inverse(T)))


def _coupling(S: Twist) -> Matrix3:
    """Q(S), the lower left block of the left Jacobian [Bar17, (7.86b)]."""
    w, v = S[..., :3], S[..., 3:]
    x = dot(w, w)[..., None, None]
    W, U = so3.hat(w), so3.hat(v)
    WU, UW = matmul(W, U), matmul(U, W)
    WUW = matmul(W, UW)
    return (
        0.5 * U
        + series.cubic_remainder(x) * (WU + UW + WUW)
        + series.quartic_remainder(x) * (matmul(W, WU) + matmul(UW, W) - 3.0 * WUW)
        + series.quintic_remainder(x) * (matmul(WUW, W) + matmul(W, WUW))
    )
