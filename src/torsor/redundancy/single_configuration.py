"""What the functions that follow one motion ask of their start."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import refuse_unknown, refuse_zero_quaternions
from torsor.errors import ShapeError
from torsor.model import Robot
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.connection import configurations_of


def single_configuration(robot: Robot, q: Any) -> Array:
    """``q`` (nq,) checked: one configuration of finite numbers, quaternions of length one."""
    q = configurations_of(robot, q)
    if q.ndim != 1:
        raise ShapeError(f"one motion has one start (nq,), got {q.shape}; call it for each of them.")
    refuse_unknown(q, "the configuration")
    refuse_zero_quaternions(robot, q)
    return np.asarray(with_unit_quaternions(robot, q))
