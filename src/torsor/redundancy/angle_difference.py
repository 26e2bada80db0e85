"""From one configuration to another the shortest way round: joints that turn freely are the same after a whole turn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions import difference
from torsor.model import Robot, Structure


def angle_difference(robot: Robot, start: Array, end: Array) -> Array:
    """`torsor.difference` from start to end (..., nv), angles of revolute joints between −π and π."""
    d = np.array(difference(robot, np.broadcast_to(start, np.shape(end)), end))
    turning = _turning(robot.structure)
    d[..., turning] = (d[..., turning] + np.pi) % (2 * np.pi) - np.pi
    return d


def turns_between(robot: Robot, start: Array, end: Array) -> Array:
    """How many whole turns (..., nv) separate the two, for configurations that are the same up to these."""
    turns = np.zeros((*np.shape(end)[:-1], robot.nv))
    turning = _turning(robot.structure)
    turns[..., turning] = np.round(np.asarray(difference(robot, start, end))[..., turning] / (2 * np.pi))
    return turns


@lru_cache(maxsize=256)
def _turning(structure: Structure) -> Array:
    """Places in v of revolute joints that share their coordinate with no other."""
    coordinates = [coupling.coordinate for coupling in structure.couplings]
    alone = [
        i for i, kind in enumerate(structure.kinds) if kind == "revolute" and coordinates.count(coordinates[i]) == 1
    ]
    return np.array([structure.coordinate_of(i).v_start for i in alone], int)
