"""How much room a configuration has within the limits of its robot."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot


def room(robot: Robot, q: Array) -> Array:
    """The least distance (...) of q (..., nq) from a limit, rad or m; negative outside."""
    return np.asarray(np.min(_rooms(robot, q), axis=-1))


def nearest_limit(robot: Robot, q: Array) -> str:
    """The coordinate of q (nq,) that is nearest to a limit, or furthest outside, by its name."""
    k = int(np.argmin(_rooms(robot, q)))
    owners = [name for name in robot.coordinates if robot.q_slice(name).start <= k]
    return repr(owners[-1])


def _rooms(robot: Robot, q: Array) -> Array:
    limits = robot.limits
    return np.asarray(np.minimum(q - np.array(limits.lower), np.array(limits.upper) - q))
