"""Coordinates of a motion in which joint limits are a box: what a step changes, and how far it may.

Along the joints that move a task, a step u has one entry per degree of freedom. Numbers of q that have limits are moved by
adding: the number of a one-number joint, the place (x, y) and angle of a planar joint, the position of a free one. Only
rotations of spherical and free joints move by the exponential, q ∘ exp(u), in body axes. So u is v with the linear part of
planar and free joints turned into the axes of their parent::

    planar   u = (ẋ, ẏ, ω)       v = (ω, Rᵀ (ẋ, ẏ))
    free     u = (ṗ, ω)          v = (ω, Rᵀ ṗ)

To first order a step is the same as along `torsor.integrate`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays import concat, cos, dot, matmul, matrix, sin, sqrt, transpose, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.lie.unchecked import quaternion
from torsor.model import Robot
from torsor.model.structure import Coordinate


class Block(NamedTuple):
    """A coordinate that moves the task: its place in q and v, its kind, and where its entries of the step begin."""

    coordinate: Coordinate
    kind: str
    start: int

    @property
    def bounded(self) -> int:
        """How many of its numbers add up and may have limits; the rest of it is a quaternion."""
        return {"spherical": 0, "free": 3}.get(self.kind, self.coordinate.nq)

    @property
    def u(self) -> slice:
        """Its entries in a step."""
        return slice(self.start, self.start + self.coordinate.nv)


@dataclass(frozen=True, eq=False)
class Box:
    """The coordinates that move a task, and the limits (k,) of what a step may reach, infinite where there are none.

    ``limits`` (2, nq) are those of all of q, of what does not move the task too; None where limits are not asked for.
    """

    blocks: tuple[Block, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    limits: Array | None = None

    @property
    def size(self) -> int:
        """Entries of a step."""
        return len(self.lower)

    @property
    def names(self) -> list[str]:
        """The joint of every entry of a step."""
        return [b.coordinate.name for b in self.blocks for _ in range(b.coordinate.nv)]

    @once
    def entries(self) -> list[tuple[Block, int]]:
        """The numbers that add up, each by its block and which of the block's it is."""
        return [(b, j) for b in self.blocks for j in range(b.bounded)]

    @once
    def places(self) -> Array:
        """Where in q the numbers that add up are."""
        return np.array([b.coordinate.q_start + j for b, j in self.entries], int)

    @once
    def bounds(self) -> tuple[Array, Array]:
        """Limits of the numbers that add up."""
        at = [b.start + j for b, j in self.entries]
        return np.array(self.lower)[at], np.array(self.upper)[at]

    @once
    def quaternions(self) -> list[slice]:
        """Where in q the quaternions are."""
        ends = [b.coordinate.q.stop for b in self.blocks if b.kind in ("spherical", "free")]
        return [slice(end - 4, end) for end in ends]


def box_of(robot: Robot, coordinates: Sequence[int], limits: bool) -> Box:
    """The box of some coordinates of a robot, by number; without ``limits``, all of space."""
    s = robot.structure
    blocks: list[Block] = []
    lower: list[float] = []
    upper: list[float] = []
    for k in coordinates:
        kind = next(kind for kind, coupling in zip(s.kinds, s.couplings, strict=True) if coupling.coordinate == k)
        block = Block(s.coordinates[k], kind, len(lower))
        free = [np.inf] * (block.coordinate.nv - block.bounded)
        span = slice(block.coordinate.q_start, block.coordinate.q_start + block.bounded)
        for bounds, given, sign in ((lower, s.limits.lower, -1.0), (upper, s.limits.upper, 1.0)):
            bounds += list(given[span]) if limits else [sign * np.inf] * block.bounded
            bounds += [sign * x for x in free]
        blocks.append(block)
    whole = np.array([s.limits.lower, s.limits.upper]) if limits else None
    return Box(tuple(blocks), tuple(lower), tuple(upper), whole)


def numbers(box: Box, q: ConfigurationVector) -> Array:
    """The numbers (..., k) of q that a step adds to; zero in place of rotations, which have no limits."""
    parts = []
    for b in box.blocks:
        first = b.coordinate.q_start
        parts += [q[..., first : first + b.bounded]] if b.bounded else []
        parts += [zeros(b.coordinate.nv - b.bounded)] if b.bounded < b.coordinate.nv else []
    return concat(parts)


def columns(box: Box, q: ConfigurationVector, J: Array) -> Array:
    """The Jacobian (..., m, k) by u, from that by v (..., m, nv)."""
    parts = []
    for b in box.blocks:
        part = J[..., b.coordinate.v]
        if b.kind == "planar":
            angle = q[..., b.coordinate.q_start + 2]
            c, s = cos(angle), sin(angle)
            part = matmul(part, matrix([[0.0, 0.0, 1.0], [c, s, 0.0], [-s, c, 0.0]]))
        elif b.kind == "free":
            R = quaternion.to_rotation(q[..., b.coordinate.q_start + 3 : b.coordinate.q_start + 7])
            part = concat([matmul(part[..., 3:], transpose(R)), part[..., :3]])
        parts.append(part)
    return concat(parts)


def moved(robot: Robot, box: Box, q: ConfigurationVector, u: Array) -> ConfigurationVector:
    """The configuration after a step, exactly within the limits."""
    own = {b.coordinate.name: b for b in box.blocks}
    parts = []
    for c in robot.structure.coordinates:
        b = own.get(c.name)
        if b is None:
            parts.append(q[..., c.q])
            continue
        step = u[..., b.u]
        for j in range(b.bounded):
            value = q[..., c.q_start + j] + step[..., j]
            low, high = box.lower[b.start + j], box.upper[b.start + j]
            value = where(value > high, high, value) if high < np.inf else value
            value = where(value < low, low, value) if low > -np.inf else value
            parts.append(value[..., None])
        if b.bounded < c.nq:
            quat = quaternion.product(q[..., c.q_start + b.bounded : c.q.stop], quaternion.exp(step[..., b.bounded :]))
            parts.append(quat / sqrt(dot(quat, quat))[..., None])
    return concat(parts)


def towards(box: Box, q: ConfigurationVector, goal: ConfigurationVector) -> Array:
    """The step (..., k) that leads from q to another configuration, rotations by the shorter way: what `moved` undoes."""
    parts = []
    for b in box.blocks:
        c, first = b.coordinate, b.coordinate.q_start + b.bounded
        parts += [goal[..., c.q_start : first] - q[..., c.q_start : first]] if b.bounded else []
        if b.bounded < c.nq:
            parts.append(
                quaternion.log(
                    quaternion.product(quaternion.conjugate(q[..., first : c.q.stop]), goal[..., first : c.q.stop])
                )
            )
    return concat(parts)
