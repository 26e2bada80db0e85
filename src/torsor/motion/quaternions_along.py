"""Curves of configurations: whether their numbers are plain, and quaternions that follow each other."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.model import Robot


def has_plain_velocities(robot: Robot) -> bool:
    """Whether v = q̇ and q ⊕ v = q + v: every joint has one number."""
    return robot.structure.has_plain_velocities


def with_unit_quaternions(robot: Robot, q: ConfigurationVector) -> ConfigurationVector:
    """The same configurations (..., nq), quaternions of length one."""
    parts = [place for _, place in robot.structure.quaternions]
    q = np.array(q) if parts else q
    for part in parts:
        q[..., part] /= np.linalg.norm(q[..., part], axis=-1, keepdims=True)
    return q


def with_nearby_quaternions(robot: Robot, path: Array) -> Array:
    """The same configurations (..., K, nq), each quaternion with the length one and the sign nearest to the one before."""
    path = with_unit_quaternions(robot, path)
    for _, part in robot.structure.quaternions:
        quats = path[..., part]
        flips = np.where(np.sum(quats[..., 1:, :] * quats[..., :-1, :], axis=-1) < 0.0, -1.0, 1.0)
        quats[..., 1:, :] *= np.cumprod(flips, axis=-1)[..., None]
    return path
