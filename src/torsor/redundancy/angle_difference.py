"""From one configuration to another the shortest way round: joints that turn freely are the same after a whole turn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import difference
from torsor.model import Robot, Structure
from torsor.model.structure import Coordinate

SAME = 1e-6  # rad or m


def angle_difference(robot: Robot, start: Array, end: Array) -> Array:
    """`torsor.difference` from start to end (..., nv), angles of revolute joints between −π and π."""
    d = np.array(difference(robot, np.broadcast_to(start, np.shape(end)), end))
    turning = _turning(robot.structure)
    d[..., turning] = (d[..., turning] + np.pi) % (2 * np.pi) - np.pi
    return d


def turned_inside(robot: Robot, q: Array) -> Array:
    """The same q (..., nq), revolute joints that are beyond a limit by whole turns turned back within it."""
    q = np.array(q)
    turning = [c.q_start for c in _turning_alone(robot.structure)]
    lower, upper = (np.array(bound)[turning] for bound in robot.limits[:2])
    angle = q[..., turning]
    back = np.ceil(np.maximum(angle - upper, 0.0) / (2 * np.pi))
    forth = np.ceil(np.maximum(lower - angle, 0.0) / (2 * np.pi))
    q[..., turning] = angle + 2 * np.pi * (forth - back)
    return q


def same_configuration(robot: Robot, one: Array, other: Array) -> bool:
    """Whether two configurations (nq,) are the same up to whole turns and what Newton's method leaves."""
    return bool(np.linalg.norm(angle_difference(robot, one, other)) < SAME)


def turns_between(robot: Robot, start: Array, end: Array) -> Array:
    """How many whole turns (..., nv) separate the two, for configurations that are the same up to these."""
    turns = np.zeros((*np.shape(end)[:-1], robot.nv))
    turning = _turning(robot.structure)
    turns[..., turning] = np.round(np.asarray(difference(robot, start, end))[..., turning] / (2 * np.pi))
    return turns


@lru_cache(maxsize=256)
def _turning(structure: Structure) -> Array:
    """Places in v of revolute joints that share their coordinate with no other."""
    return np.array([c.v_start for c in _turning_alone(structure)], int)


def _turning_alone(structure: Structure) -> list[Coordinate]:
    """Coordinates of revolute joints that share them with no other."""
    shared = [coupling.coordinate for coupling in structure.couplings]
    own = enumerate(structure.blocks)
    return [c for k, (c, kind) in own if kind.nq == 1 and kind.whole_turns and shared.count(k) == 1]
