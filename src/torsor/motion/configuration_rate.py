"""q̇ from v and back, for curves of configurations: joints with one number have v = q̇, the others a body twist."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.lie import quaternion
from torsor.model import Robot
from torsor.model.joints import SCREW_KINDS
from torsor.model.structure import Coordinate


def has_plain_velocities(robot: Robot) -> bool:
    """Whether v = q̇ and q ⊕ v = q + v: every joint has one number."""
    return all(kind in SCREW_KINDS for kind in robot.structure.kinds)


def configuration_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> ConfigurationVector:
    """q̇ of the motion with velocity v: ṗ = R v, quaternion rate ½ quat ∘ (ω, 0) [Fea08, §4.5].

    A quaternion of any length keeps it. ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nq).
    """
    if has_plain_velocities(robot):
        return v
    rate = np.empty((*np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), robot.nq))
    for c, kind in _blocks(robot):
        own, u, out = q[..., c.q], v[..., c.v], rate[..., c.q]
        if kind == "planar":
            out[..., 0], out[..., 1] = _turned(own[..., 2], u[..., 1], u[..., 2])
            out[..., 2] = u[..., 0]
        elif kind in ("spherical", "free"):
            if kind == "free":
                out[..., :3] = np.einsum("...ij,...j->...i", quaternion.to_rotation(own[..., 3:]), u[..., 3:])
            spin = np.concatenate([u[..., :3], np.zeros((*u.shape[:-1], 1))], axis=-1)
            out[..., -4:] = 0.5 * quaternion.product(own[..., -4:], spin)
        else:
            out[...] = u
    return rate


def velocity_of_rate(robot: Robot, q: ConfigurationVector, q_rate: ConfigurationVector) -> JointVector:
    """v of a curve of configurations whose numbers change at q̇; ω = 2 vec(quat⁻¹ ∘ quat rate) [Fea08, §4.5].

    ``q``, ``q_rate`` (..., nq), rad or m, and per s; quaternions of any length, which may change. Returns (..., nv).
    """
    if has_plain_velocities(robot):
        return q_rate
    v = np.empty((*np.broadcast_shapes(q.shape[:-1], q_rate.shape[:-1]), robot.nv))
    for c, kind in _blocks(robot):
        own, rate, out = q[..., c.q], q_rate[..., c.q], v[..., c.v]
        if kind == "planar":
            out[..., 0] = rate[..., 2]
            out[..., 1], out[..., 2] = _turned(-own[..., 2], rate[..., 0], rate[..., 1])
        elif kind in ("spherical", "free"):
            if kind == "free":
                out[..., 3:] = np.einsum("...ji,...j->...i", quaternion.to_rotation(own[..., 3:]), rate[..., :3])
            quat = own[..., -4:]
            spin = quaternion.product(quaternion.conjugate(quat), rate[..., -4:])[..., :3]
            out[..., :3] = 2.0 * spin / np.sum(quat * quat, axis=-1, keepdims=True)
        else:
            out[...] = rate
    return v


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


def _turned(angle: Array, x: Array, y: Array) -> tuple[Array, Array]:
    c, s = np.cos(angle), np.sin(angle)
    return c * x - s * y, s * x + c * y
