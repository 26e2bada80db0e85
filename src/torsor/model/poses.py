"""Poses as people give them: checked 4×4 matrices, roll-pitch-yaw, elementary rotations and translations."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Pose, Rotation, Vector3
from torsor.errors import ModelError

_ROTATION_TOLERANCE = 1e-8  # what ten printed digits of a rotation matrix may be off


def check_pose(what: str, T: Pose) -> Pose:
    """``T`` as a finite 4×4 rigid motion, or an error that says which condition fails by how much."""
    pose = np.asarray(T, dtype=np.float64)
    if pose.shape != (4, 4):
        raise ModelError(f"{what}: must be a 4×4 matrix (R, p; 0, 1), got shape {pose.shape}.")
    if not np.all(np.isfinite(pose)):
        raise ModelError(f"{what}: holds a NaN or infinite number.")
    if np.abs(pose[3] - (0, 0, 0, 1)).max() > _ROTATION_TOLERANCE:
        raise ModelError(f"{what}: bottom row must be (0, 0, 0, 1), got {pose[3].tolist()}.")
    pose = np.concatenate([pose[:3], [[0.0, 0.0, 0.0, 1.0]]])  # exactly, whatever the rounding of whoever made it
    R = pose[:3, :3]
    defect = np.abs(R @ R.T - np.eye(3)).max()
    if defect > _ROTATION_TOLERANCE:
        raise ModelError(f"{what}: its 3×3 block is not a rotation: R Rᵀ differs from 1 by up to {defect:.3g}.")
    if np.linalg.det(R) < 0:
        raise ModelError(
            f"{what}: its 3×3 block is a reflection (determinant −1), not a rotation; one axis is flipped."
        )
    return pose


def pose_from(xyz: Vector3 = (0.0, 0.0, 0.0), rpy: Vector3 = (0.0, 0.0, 0.0)) -> Pose:
    """The pose with translation ``xyz`` (3,), m, and roll, pitch, yaw ``rpy`` (3,), rad: R = R_z R_y R_x (fixed axes).

    This is how robot files give a pose.
    """
    roll, pitch, yaw = np.asarray(rpy, float)
    T = np.eye(4)
    T[:3, :3] = rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)
    T[:3, 3] = xyz
    return T


def rotation_x(angle: float) -> Rotation:
    """Rotation about x by ``angle``, rad; returns (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: float) -> Rotation:
    """Rotation about y by ``angle``, rad; returns (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: float) -> Rotation:
    """Rotation about z by ``angle``, rad; returns (3, 3)."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
