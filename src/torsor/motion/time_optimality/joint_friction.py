"""Friction along a path: a function of ṡ alone, and a straight line in ṡ² about some motion.

Joints that move as q' ṡ meet viscous · q' ṡ + Coulomb · sign(q') (or tanh(q' ṡ/w)). The second does not change while ṡ > 0, the
others are not linear in x = ṡ². They are replaced by their tangents at the x of the motion found before, until that
motion no longer changes: it then meets the friction that was counted with.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.time_optimality.intervals import at_places

SLOWEST = 1e-9  # part of the largest ṡ² below which the path is at rest: the tangent there would be vertical


class Friction(NamedTuple):
    """Friction of joints at places of a path: least + slope x ≤ friction ≤ most + slope x, (B, 2 N + 1, nv) each."""

    slope: Array
    least: Array
    most: Array


def depends_on_speed(robot: Robot) -> bool:
    """Whether the friction of moving joints depends on how fast they are."""
    p = robot.parameters
    return bool(np.any(p.viscous_friction) or (robot.structure.coulomb_width > 0.0 and np.any(p.coulomb_friction)))


class JointFriction:
    """Friction of a robot's joints along a path with first derivatives (B, 2 N + 1, nv)."""

    def __init__(self, robot: Robot, first: Array) -> None:
        viscous = np.asarray(robot.parameters.viscous_friction, float)
        self.coulomb, self.width = np.asarray(robot.parameters.coulomb_friction, float), robot.structure.coulomb_width
        self.is_there, self.depends_on_speed = bool(np.any(viscous) or np.any(self.coulomb)), depends_on_speed(robot)
        if not self.is_there:
            return
        self.first, self.viscous = first, viscous * first
        if not self.width > 0.0:
            self._steady = _of_both_directions(self.coulomb * np.sign(first))

    def tangent(self, x: Array | None) -> Friction:
        """The tangent at x = ṡ² (B, 2 N + 1); without x as if joints with viscous friction had none."""
        if x is None:
            nothing = np.zeros_like(self.first)
            low, high = _of_both_directions(self.coulomb * np.sign(self.first))
            return Friction(nothing, low, high)
        rate = np.sqrt(np.maximum(x, 0.0))[..., None]
        moving = x[..., None] > SLOWEST * np.max(x, axis=-1, initial=0.0)[..., None, None]
        value, growth = self.viscous * rate, self.viscous
        if self.width > 0.0:
            part = np.tanh(self.first * rate / self.width)
            value = value + self.coulomb * part
            growth = growth + self.coulomb * (1.0 - part**2) * self.first / self.width
        slope = np.where(moving, growth / (2.0 * np.where(moving, rate, 1.0)), 0.0)
        rest = value - slope * np.where(moving, x[..., None], 0.0)
        low, high = (0.0, 0.0) if self.width > 0.0 else self._steady
        return Friction(slope, rest + low, rest + high)

    def at(self, x: Array) -> Friction:
        """The friction at x itself, as a constant."""
        tangent = self.tangent(x)
        more = tangent.slope * x[..., None]
        return Friction(np.zeros_like(more), tangent.least + more, tangent.most + more)


def _of_both_directions(friction: Array) -> tuple[Array, Array]:
    """The least and most (B, 2 N + 1, nv) near each place: of both directions where a joint turns round within an interval."""
    if not np.any(np.diff(np.sign(friction[:, : friction.shape[1] // 2 + 1]), axis=1)):
        return friction, friction
    low, high = friction.copy(), friction.copy()
    for bound, choose in ((low, np.minimum), (high, np.maximum)):
        spread_over_intervals(bound, choose)
    return low, high


def spread_over_intervals(values: Array, choose: np.ufunc) -> None:
    """Give every place (B, 2 N + 1, …) what is chosen of the values in the intervals that it belongs to, in place."""
    left, middle, right = at_places(values)
    whole = choose(choose(left, middle), right)
    choose(left, whole, out=left)
    choose(right, whole, out=right)
    middle[...] = whole
