"""Poses as people give them: checked 4×4 matrices, roll-pitch-yaw, elementary rotations and translations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from torsor.arrays import cos, cross, dot, exact_constants, is_concrete, known_numbers, matmul, matrix, sin
from torsor.arrays.exact import roll_pitch_yaw_rotation, settled, settled_entry, settled_rotation
from torsor.arrays.typing import Array, GivenVector3, Pose, Rotation
from torsor.border import explained
from torsor.errors import ModelError
from torsor.lie.unchecked import se3

AT_REST = np.eye(4)  # where it is this very array, there is nothing to multiply by
_PRINTED = 1e-8  # what ten printed digits of a rotation matrix may be off
_SINGLE = 1e-6  # what numbers in single precision may be off: some units of 2⁻²³


def tolerance_of(given: Array) -> float:
    """What unit vectors and rotations made of these numbers may be off: their last printed digit, or single precision."""
    return _SINGLE if getattr(given, "dtype", None) == np.float32 else _PRINTED


def check_pose(what: str, T: Pose, tolerance: float = _PRINTED) -> Pose:
    """``T`` as a finite 4×4 rigid motion, or an error that says which condition fails by how much.

    Entries of its rotation that are 0 or ±1 but for rounding are made so. Of JAX and traced values the shape alone is known.
    ``tolerance``: what R Rᵀ − 1 may be off.
    """
    try:
        pose = known_numbers(T)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{what}: must be a 4×4 matrix (R, p; 0, 1) of real numbers, got {T!r:.60}.") from error
    if tuple(pose.shape) != (4, 4):
        raise ModelError(f"{what}: must be a 4×4 matrix (R, p; 0, 1), got shape {pose.shape}.")
    if not is_concrete(pose):
        return pose
    rows = pose.tolist()
    if _is_plainly_rigid(rows, tolerance):
        return np.array([[*map(settled_entry, row[:3]), row[3]] for row in rows])
    if not np.all(np.isfinite(pose)):
        raise ModelError(f"{what}: holds a NaN or infinite number.")
    if np.abs(pose[3] - (0, 0, 0, 1)).max() > tolerance:
        raise ModelError(f"{what}: bottom row must be (0, 0, 0, 1), got {pose[3].tolist()}.")
    pose = np.concatenate([pose[:3], [[0.0, 0.0, 0.0, 1.0]]])  # exactly, whatever the rounding of whoever made it
    R = pose[:3, :3]
    defect = np.abs(np.sum(R[:, None] * R, axis=-1) - np.eye(3)).max()
    if defect > tolerance:
        raise ModelError(f"{what}: its 3×3 block is not a rotation: R Rᵀ differs from 1 by up to {defect:.3g}.")
    if dot(cross(R[0], R[1]), R[2]) < 0:
        raise ModelError(
            f"{what}: its 3×3 block is a reflection (determinant −1), not a rotation; one axis is flipped."
        )
    pose[:3, :3] = settled_rotation(R)
    return pose


def check_poses(what: Callable[[int], str], poses: Sequence[Pose]) -> Array:
    """`check_pose` of several (n, 4, 4), a list if some are traced; ``what(i)`` is what messages call number i.

    All at once, where each is plainly a rigid motion: rounding could not have made it so.
    """
    plain = all(type(pose) is np.ndarray and pose.dtype == np.float64 and pose.shape == (4, 4) for pose in poses)
    if plain and poses:
        T = np.array(poses)
        R = T[:, :3, :3]
        with np.errstate(all="ignore"):
            defect = np.abs(R @ R.swapaxes(1, 2) - np.eye(3)).max()
            volume = np.linalg.det(R).min() if defect < 0.5 * _PRINTED else -1.0
        if volume > 0.5 and np.isfinite(T).all() and (T[:, 3] == AT_REST[3]).all():
            T[:, :3, :3] = settled_rotation(R)
            return T
    return [check_pose(what(i), pose) for i, pose in enumerate(poses)]


def _is_plainly_rigid(numbers: list[list[float]], tolerance: float) -> bool:
    """Whether `check_pose` finds nothing: the same conditions on Python's numbers, before NumPy has begun."""
    *rows, bottom = numbers
    if bottom != [0.0, 0.0, 0.0, 1.0] or not all(map(math.isfinite, (x for row in rows for x in row))):
        return False
    (a, b, c, _), (d, e, f, _), (g, h, i, _) = rows
    lengths = (a * a + b * b + c * c, d * d + e * e + f * f, g * g + h * h + i * i)
    products = (a * d + b * e + c * f, a * g + b * h + c * i, d * g + e * h + f * i)
    defect = max(*(abs(x - 1.0) for x in lengths), *map(abs, products))
    return bool(defect <= tolerance and (b * f - c * e) * g + (c * d - a * f) * h + (a * e - b * d) * i > 0.5)


@exact_constants()
def composed(*poses: Pose) -> Pose:
    """The product of poses (4, 4), with what is 0 or ±1 in its rotation, or 0 in its translation, but for rounding made so."""
    if not is_concrete(*poses):
        return reduce(matmul, poses)
    T = np.array(poses[0])
    for pose in poses[1:]:
        if np.array_equal(pose, AT_REST):
            continue
        T = np.array(pose) if np.array_equal(T, AT_REST) else matmul(T, pose)
        T[:3, :3] = settled_rotation(T[:3, :3])
    lengths = max(np.abs(pose[:3, 3]).max() for pose in poses)
    T[:3, 3] = settled(T[:3, 3], lengths)
    return T


def settled_poses(poses: Array) -> Array:
    """`composed` of the pose at rest and each of those that `check_poses` gave."""
    if not is_concrete(*poses):
        return [composed(AT_REST, pose) if is_concrete(pose) else pose for pose in poses]
    T = np.array(poses)
    T[:, :3, 3] = settled(T[:, :3, 3], np.abs(T[:, :3, 3]).max(axis=1, keepdims=True))
    return T


@explained
@exact_constants()
def pose_from(xyz: GivenVector3 = (0.0, 0.0, 0.0), rpy: GivenVector3 = (0.0, 0.0, 0.0)) -> Pose:
    """The pose of a translation and of roll, pitch, yaw, R = R_z R_y R_x (fixed axes), as robot files give it.

    Parameters
    ----------
    xyz : (3,) array, optional
        Translation, m.
    rpy : (3,) array, optional
        Roll, pitch and yaw, rad.

    Returns
    -------
    (4, 4) array
        Position in m.
    """
    (roll, pitch, yaw), p = known_numbers(rpy), known_numbers(xyz)
    if tuple(p.shape) != (3,):
        raise ModelError(f"pose_from: `xyz` must be 3 numbers, got shape {tuple(p.shape)}.")
    if not is_concrete(roll, pitch, yaw):
        return se3.pose(matmul(rotation_z(yaw), matmul(rotation_y(pitch), rotation_x(roll))), p)
    if is_concrete(p):
        return plain_pose(p.tolist(), (float(roll), float(pitch), float(yaw)))
    return se3.pose(np.array(roll_pitch_yaw_rotation(float(roll), float(pitch), float(yaw))), p)


def plain_pose(xyz: Sequence[float], rpy: Sequence[float]) -> Pose:
    """`pose_from` of plain numbers that have been checked."""
    (x, y, z), (roll, pitch, yaw) = xyz, rpy
    if roll == pitch == yaw == 0.0:
        pose = AT_REST.copy()
        pose[0, 3], pose[1, 3], pose[2, 3] = x, y, z
        return pose
    upper, middle, lower = roll_pitch_yaw_rotation(roll, pitch, yaw)
    return np.array([[*upper, x], [*middle, y], [*lower, z], [0.0, 0.0, 0.0, 1.0]])


@exact_constants()
def rotation_x(angle: float) -> Rotation:
    """Rotation about x by ``angle``, rad; returns (3, 3)."""
    c, s = cos(known_numbers(angle)), sin(known_numbers(angle))
    return matrix([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


@exact_constants()
def rotation_y(angle: float) -> Rotation:
    """Rotation about y by ``angle``, rad; returns (3, 3)."""
    c, s = cos(known_numbers(angle)), sin(known_numbers(angle))
    return matrix([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


@exact_constants()
def rotation_z(angle: float) -> Rotation:
    """Rotation about z by ``angle``, rad; returns (3, 3)."""
    c, s = cos(known_numbers(angle)), sin(known_numbers(angle))
    return matrix([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
