"""Quaternions (x, y, z, w) for the configuration of spherical and free joints. Everything else uses matrices."""

from __future__ import annotations

from torsor.arrays import atan2, concat, cross, dot, matrix, series, sqrt, stack, where
from torsor.arrays.typing import Quaternion, Rotation, Vector3


def to_rotation(quat: Quaternion) -> Rotation:
    """The rotation of a quaternion of any non-zero length [Fea08, (4.12)].

    Division by |quat|² keeps the matrix a rotation when the quaternion has drifted from unit length.

    Parameters
    ----------
    quat : (..., 4) array
        A quaternion (x, y, z, w), no unit, of any non-zero length.

    Returns
    -------
    (..., 3, 3) array
        A rotation, no unit.
    """
    x, y, z, w = quat[..., 0], quat[..., 1], quat[..., 2], quat[..., 3]
    s = 2.0 / dot(quat, quat)
    return matrix(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - z * w), s * (x * z + y * w)],
            [s * (x * y + z * w), 1.0 - s * (x * x + z * z), s * (y * z - x * w)],
            [s * (x * z - y * w), s * (y * z + x * w), 1.0 - s * (x * x + y * y)],
        ]
    )


def from_rotation(R: Rotation) -> Quaternion:
    """Unit quaternion of a rotation with w ≥ 0, from the largest of its four components [She78]: never ill-conditioned.

    Parameters
    ----------
    R : (..., 3, 3) array
        A rotation, no unit.

    Returns
    -------
    (..., 4) array
        A unit quaternion (x, y, z, w), no unit.
    """
    xx, yy, zz = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    wx, wy, wz = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    # Row k of 4 q qᵀ is the quaternion times its own component k.
    rows = [
        (1.0 + xx - yy - zz, stack([1.0 + xx - yy - zz, xy, xz, wx])),
        (1.0 - xx + yy - zz, stack([xy, 1.0 - xx + yy - zz, yz, wy])),
        (1.0 - xx - yy + zz, stack([xz, yz, 1.0 - xx - yy + zz, wz])),
    ]
    size, best = 1.0 + xx + yy + zz, stack([wx, wy, wz, 1.0 + xx + yy + zz])
    for other, row in rows:
        larger = other > size
        size, best = where(larger, other, size), where(larger[..., None], row, best)
    best = where(best[..., 3:] < 0.0, -best, best)
    return best / sqrt(dot(best, best))[..., None]


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Quaternion of the composed rotation R(a) R(b) [Fea08, §4.5].

    Parameters
    ----------
    a : (..., 4) array
        A quaternion (x, y, z, w), no unit.
    b : (..., 4) array
        The one that acts first.

    Returns
    -------
    (..., 4) array
        A quaternion, no unit.
    """
    u, s, v, t = a[..., :3], a[..., 3:], b[..., :3], b[..., 3:]
    return concat([s * v + t * u + cross(u, v), s * t - dot(u, v)[..., None]])


def conjugate(a: Quaternion) -> Quaternion:
    """Quaternion of the inverse rotation [Fea08, §4.5].

    Parameters
    ----------
    a : (..., 4) array
        A quaternion (x, y, z, w), no unit.

    Returns
    -------
    (..., 4) array
        A quaternion, no unit.
    """
    return concat([-a[..., :3], a[..., 3:]])


def exp(w: Vector3) -> Quaternion:
    """Unit quaternion of the rotation exp([w]): (½ sinc(θ/2) w, cos(θ/2)) [Fea08, §4.5].

    Parameters
    ----------
    w : (..., 3) array
        Rotation vector, rad.

    Returns
    -------
    (..., 4) array
        A unit quaternion (x, y, z, w), no unit.
    """
    x = 0.25 * dot(w, w)
    # cos(θ/2) as 1 − x (1 − cos)/x, since the square root of 0 has no derivative
    return concat(
        [0.5 * series.sine_over_angle(x)[..., None] * w, (1.0 - x * series.versine_over_square(x))[..., None]]
    )


def log(quat: Quaternion) -> Vector3:
    """w with exp(w) the rotation of ``quat`` and |w| ≤ π: 2 atan2(|u|, w) u/|u| [Fea08, §4.5].

    Parameters
    ----------
    quat : (..., 4) array
        A quaternion (x, y, z, w), of any non-zero length.

    Returns
    -------
    (..., 3) array
        Rotation vector, rad.
    """
    quat = where(quat[..., 3:] < 0.0, -quat, quat)
    u, w = quat[..., :3], quat[..., 3]
    squared = dot(u, u)
    small = squared < 1e-6 * w * w
    # atan(t)/t = 1 − t²/3 + t⁴/5 − t⁶/7 with t = |u|/w; the next term is below rounding for t < 1e-3
    safe_w = where(small, w, 1.0)
    t2 = where(small, squared, 0.0) / (safe_w * safe_w)
    near = (1.0 - t2 * (1 / 3 - t2 * (1 / 5 - t2 / 7))) / safe_w
    length = sqrt(where(small, 1.0, squared))
    far = atan2(length, w) / length
    return (2.0 * where(small, near, far))[..., None] * u
