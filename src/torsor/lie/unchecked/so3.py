"""SO(3), the rotations: exp, log, their Jacobians, and angular velocity as a vector or as a matrix rate."""

from __future__ import annotations

from torsor.arrays import concat, constant, dot, identity, matmul, outer, series, stack, take, transpose, zeros
from torsor.arrays.typing import Matrix3, Rotation, Scalar, Vector3
from torsor.lie.unchecked import quaternion

# [w] picks its entries out of (w, −w, 0)
_SKEW = constant([[6, 5, 1], [2, 6, 3], [4, 0, 6]])


def hat(w: Vector3) -> Matrix3:
    """[w], the skew matrix with [w] x = w × x [PBP95, §2.1].

    Parameters
    ----------
    w : (..., 3) array
        A vector, of any unit.

    Returns
    -------
    (..., 3, 3) array
        Skew-symmetric, of the same unit.
    """
    return take(concat([w, -w, zeros(1)]), _SKEW)


def vee(W: Matrix3) -> Vector3:
    """w of the skew part of W, the inverse of hat [PBP95, §2.1].

    Parameters
    ----------
    W : (..., 3, 3) array
        A matrix, of any unit.

    Returns
    -------
    (..., 3) array
        Of the same unit.
    """
    return 0.5 * stack([W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]])


def exp(w: Vector3) -> Rotation:
    """The rotation by |w| about w: 1 + (sin θ/θ)[w] + ((1 − cos θ)/θ²)[w]² [PBP95, (16), E001-13].

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad, of any length.

    Returns
    -------
    (..., 3, 3) array
        A rotation, no unit.
    """
    x, W = dot(w, w), hat(w)
    return identity(3) + _scaled(series.sine_over_angle(x), W) + _scaled(series.versine_over_square(x), matmul(W, W))


def log(R: Rotation) -> Vector3:
    """w with exp(w) = R and |w| ≤ π [BSP93, §2.1], accurate at 0 and at π (where w and −w are both right).

    Parameters
    ----------
    R : (..., 3, 3) array
        A rotation, no unit.

    Returns
    -------
    (..., 3) array
        Rotation vector, rad.
    """
    return quaternion.log(quaternion.from_rotation(R))


def left_jacobian(w: Vector3) -> Matrix3:
    """J with d/dt exp(w) = [J ẇ] exp(w): 1 + ((1 − cos θ)/θ²)[w] + ((θ − sin θ)/θ³)[w]² [PBP95, (17)].

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad.

    Returns
    -------
    (..., 3, 3) array
        No unit.
    """
    x, W = dot(w, w), hat(w)
    return identity(3) + _scaled(series.versine_over_square(x), W) + _scaled(series.cubic_remainder(x), matmul(W, W))


def right_jacobian(w: Vector3) -> Matrix3:
    """J with d/dt exp(w) = exp(w) [J ẇ], the left Jacobian of −w [Bar17, (7.87)].

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad.

    Returns
    -------
    (..., 3, 3) array
        No unit.
    """
    return left_jacobian(-w)


def left_jacobian_inverse(w: Vector3) -> Matrix3:
    """Inverse of the left Jacobian, 1 − ½[w] + ((1 − (θ/2) cot(θ/2))/θ²)[w]² [Bar17, (7.76)]; singular at |w| = 2π, 4π, ….

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad.

    Returns
    -------
    (..., 3, 3) array
        No unit.
    """
    W = hat(w)
    return identity(3) - 0.5 * W + _scaled(series.cotangent_defect(dot(w, w)), matmul(W, W))


def right_jacobian_inverse(w: Vector3) -> Matrix3:
    """Inverse of the right Jacobian [Bar17, (7.76)]; singular at |w| = 2π, 4π, ….

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad.

    Returns
    -------
    (..., 3, 3) array
        No unit.
    """
    return left_jacobian_inverse(-w)


def rotation_rate(W: Rotation, w: Vector3) -> Matrix3:
    """Ẇ = [ω] W, with ω the angular velocity in fixed axes [Sil81, (2.5)].

    Parameters
    ----------
    W : (..., 3, 3) array
        A rotation.
    w : (..., 3) array
        Angular velocity in fixed axes, rad/s.

    Returns
    -------
    (..., 3, 3) array
        1/s.
    """
    return matmul(hat(w), W)


def angular_velocity(W: Rotation, W_dot: Matrix3) -> Vector3:
    """ω_i = ½ P_ijk W_jl Ẇ_kl, the angular velocity in fixed axes of the rotation rate Ẇ [Sil81, (2.6)].

    Parameters
    ----------
    W : (..., 3, 3) array
        A rotation.
    W_dot : (..., 3, 3) array
        Its rate, 1/s.

    Returns
    -------
    (..., 3) array
        In fixed axes, rad/s.
    """
    return vee(matmul(W_dot, transpose(W)))


def rotation_about(axis: Vector3, sine: Scalar, cosine: Scalar) -> Rotation:
    """a aᵀ + cos φ (1 − a aᵀ) + sin φ [a] for a unit axis a, from the sine and cosine of φ, rad [PBP95, (16)].

    The same as 1 + sin φ [a] + (1 − cos φ) [a]²; for a coordinate axis its entries are 0, 1, ± sin φ and cos φ exactly.

    Parameters
    ----------
    axis : (..., 3) array
        A unit vector.
    sine : (...) array
        The sine of the angle, rad.
    cosine : (...) array
        Its cosine.

    Returns
    -------
    (..., 3, 3) array
        A rotation.
    """
    along = outer(axis, axis)
    return along + _scaled(cosine, identity(3) - along) + _scaled(sine, hat(axis))


def _scaled(factor: Scalar, W: Matrix3) -> Matrix3:
    return factor[..., None, None] * W
