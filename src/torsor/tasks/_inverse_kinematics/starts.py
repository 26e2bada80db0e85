"""Where searches start, and which of equal configurations is meant: random ones within limits, angles next to given ones."""

from __future__ import annotations

import functools

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import Box

TURN = 2 * np.pi
FEW = 64  # starts of which what is drawn is kept


def random_starts(box: Box, like: Array, source: int | np.random.Generator) -> Array:
    """Configurations ``like`` (K, nq), with the coordinates that move the frame drawn at random within their limits.

    As `torsor.random_configuration` does: uniform between limits; where there are none, in (−π, π) for angles and (−1, 1) m
    for lengths; rotations uniform over SO(3). What is drawn from a number is always the same.
    """
    q = np.array(like)
    draw = _few_drawn if isinstance(source, int) and len(q) <= FEW else _drawn
    q[:, box.places], quaternions = draw(box, len(q), source)
    for quat, drawn in zip(box.quaternions, quaternions, strict=True):
        q[:, quat] = drawn
    return q


def _drawn(box: Box, count: int, source: int | np.random.Generator) -> tuple[Array, list[Array]]:
    """The numbers that add up, (count, ...), and quaternions (count, 4)."""
    generator = np.random.default_rng(source)
    low, span = _ranges(box)
    numbers = low + span * generator.random((count, len(low)))
    normal = [generator.normal(size=(count, 4)) for _ in box.quaternions]
    return numbers, [x / np.linalg.norm(x, axis=-1, keepdims=True) for x in normal]


_few_drawn = functools.lru_cache(maxsize=256)(_drawn)  # for one target a call: drawing takes as long as ten steps


@functools.lru_cache(maxsize=256)
def _ranges(box: Box) -> tuple[Array, Array]:
    """The least that is drawn for the numbers that add up, and how much more at most."""
    lower, upper = box.bounds
    turns = [b.kind in ("revolute", "helical") or (b.kind == "planar" and j == 2) for b, j in box.entries]
    free = np.where(turns, np.pi, 1.0)
    below, above = np.isfinite(lower), np.isfinite(upper)
    low = np.where(below, lower, np.where(above, upper - 2 * free, -free))
    high = np.where(above, upper, np.where(below, lower + 2 * free, free))
    return low, high - low


def within(box: Box, q: Array) -> Array:
    """The configurations with every number of q that has limits moved to them, if it is beyond; and the quaternions of what
    moves the frame of unit length.
    """
    q = np.array(q) if box.limits is None else np.minimum(np.maximum(q, box.limits[0]), box.limits[1])
    for quat in box.quaternions:
        q[..., quat] /= np.linalg.norm(q[..., quat], axis=-1, keepdims=True)
    return q


def unwound(robot: Robot, box: Box, q: Array, near: Array) -> Array:
    """The same configurations, with angles changed by whole turns towards those of ``near``, as far as limits allow."""
    if not (np.abs(near - q) > 0.5 * TURN).any():
        return q
    places, lower, upper = _turning(robot, box)
    angle = q[..., places]
    turns = np.rint((near[..., places] - angle) / TURN)
    moved = angle + TURN * turns
    moved = np.where(moved > upper, moved - TURN, np.where(moved < lower, moved + TURN, moved))
    q = np.array(q)
    q[..., places] = np.where((turns != 0) & (moved <= upper) & (moved >= lower), moved, angle)
    return q


@remembered(256)
def _turning(robot: Robot, box: Box) -> tuple[Array, Array, Array]:
    """Where in q the angles are that a whole turn does not change, and their limits; no mimic joint follows them."""
    owners = [c.coordinate for c in robot.structure.couplings]
    names = robot.coordinates
    own = [
        b for b in box.blocks if b.kind in ("revolute", "planar") and owners.count(names.index(b.coordinate.name)) == 1
    ]
    own = [b for b in own if b.kind == "planar" or abs(_ratio(robot, b.coordinate.name)) == 1.0]
    entries = [b.start + b.bounded - 1 for b in own]
    return (
        np.array([b.coordinate.q.stop - 1 for b in own], int),
        np.array(box.lower)[entries],
        np.array(box.upper)[entries],
    )


def _ratio(robot: Robot, joint: str) -> float:
    return robot.structure.couplings[robot.structure.joint_index(joint)].ratio
