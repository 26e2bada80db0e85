"""Curves of configurations: whether their numbers are plain, and quaternions that follow each other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.model import Robot
from torsor.model.joints import SCREW_KINDS
from torsor.model.structure import Coordinate


def has_plain_velocities(robot: Robot) -> bool:
    """Whether v = q̇ and q ⊕ v = q + v: every joint has one number."""
    return all(kind in SCREW_KINDS for kind in robot.structure.kinds)


def with_unit_quaternions(robot: Robot, q: ConfigurationVector) -> ConfigurationVector:
    """The same configurations (..., nq), quaternions of length one."""
    parts = _quaternions(robot)
    q = np.array(q) if parts else q
    for part in parts:
        q[..., part] /= np.linalg.norm(q[..., part], axis=-1, keepdims=True)
    return q


def with_nearby_quaternions(robot: Robot, path: Array) -> Array:
    """The same configurations (..., K, nq), each quaternion with the length one and the sign nearest to the one before."""
    path = with_unit_quaternions(robot, path)
    for part in _quaternions(robot):
        quats = path[..., part]
        flips = np.where(np.sum(quats[..., 1:, :] * quats[..., :-1, :], axis=-1) < 0.0, -1.0, 1.0)
        quats[..., 1:, :] *= np.cumprod(flips, axis=-1)[..., None]
    return path


def _blocks(robot: Robot) -> Iterator[tuple[Coordinate, str]]:
    """Each block of q and v, with the kind of the joint that owns it."""
    s = robot.structure
    for i, kind in enumerate(s.kinds):
        if (c := s.coordinate_of(i)).name == s.joints[i]:
            yield c, kind


def _quaternions(robot: Robot) -> list[slice]:
    return [slice(c.q.stop - 4, c.q.stop) for c, kind in _blocks(robot) if kind in ("spherical", "free")]
