"""A configuration as numbers that sliders have: a rotation is three of them, its rotation vector."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.lie.unchecked import quaternion
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE

AXES = ("x", "y", "z")


class Slider(NamedTuple):
    """One number: what it is called, its unit ("rad" or "m"), and from where to where it goes."""

    label: str
    unit: str
    lower: float
    upper: float
    bounded: bool


def sliders(robot: Robot) -> list[Slider]:
    """The sliders of a robot; where there is no limit, they go a turn of π or 1 m to each side of where the joint may be."""
    found = []
    for coordinate, kind in robot.structure.blocks:
        q = coordinate.q
        lower, upper = np.array(robot.limits.lower[q]), np.array(robot.limits.upper[q])
        labels = [coordinate.name] if kind.nq == 1 else [f"{coordinate.name} {axis}" for axis in ("x", "y", "angle")]
        if kind.quaternion is not None:
            labels = [f"{coordinate.name} {axis}" for axis in AXES[: kind.bounded]]
        for k in range(kind.bounded):
            free, low, high = kind.half_ranges[k], float(lower[k]), float(upper[k])
            bounded = low > -HUGE and high < HUGE
            low, high = (
                low if low > -HUGE else min(high, free) - 2 * free,
                high if high < HUGE else max(low, -free) + 2 * free,
            )
            found.append(Slider(labels[k], kind.q_units[k], low, max(high, low + 1e-9), bounded))
        if kind.quaternion is not None:
            found += [Slider(f"{coordinate.name} turn {axis}", "rad", -np.pi, np.pi, False) for axis in AXES]
    return found


def to_sliders(robot: Robot, q: Array) -> Array:
    """The numbers of the sliders at ``q`` (nq,)."""
    numbers = [np.zeros(0)]
    for coordinate, kind in robot.structure.blocks:
        own = q[coordinate.q]
        numbers.append(own[: kind.bounded])
        if kind.quaternion is not None:
            numbers.append(np.asarray(quaternion.log(own[kind.quaternion])))
    return np.concatenate(numbers)


def from_sliders(robot: Robot, numbers: Array) -> Array:
    """The configuration (nq,) that the sliders say."""
    blocks, place = [np.zeros(0)], 0
    for _, kind in robot.structure.blocks:
        blocks.append(numbers[place : place + kind.bounded])
        place += kind.bounded
        if kind.quaternion is not None:
            blocks.append(np.asarray(quaternion.exp(numbers[place : place + 3])))
            place += 3
    return np.concatenate(blocks)
