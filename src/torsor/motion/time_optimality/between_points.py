"""How far a motion leaves its limits within intervals, where they were asked for at three places only.

In an interval u is constant and x grows linearly, so that forces and accelerations are smooth functions of s: the parabola through
their values at both ends and in the middle tells their extremes to the third order in Δ.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.time_optimality.intervals import Grid, Limits, at_places


class Excess(NamedTuple):
    """By how much rows are beyond their bounds in each interval (B, N, R), negative where they keep them."""

    below: Array
    above: Array


def excess(limits: Limits, grid: Grid, x: Array) -> Excess:
    """The excess of a motion with x = ṡ² at the points of the grid (B, N + 1)."""
    u = (np.diff(x) / (2.0 * grid.spacing))[..., None]
    here = at_places(with_middles(x)[..., None])
    rows = [a * u + b * now for a, b, now in zip(at_places(limits.a), at_places(limits.b), here, strict=True)]
    above = _largest(*(value - high for value, high in zip(rows, at_places(limits.high), strict=True)))
    below = _largest(*(low - value for value, low in zip(rows, at_places(limits.low), strict=True)))
    return Excess(below, above)


def with_middles(x: Array) -> Array:
    """Values at all places of a grid (B, 2 N + 1) of a function that is linear between its points (B, N + 1)."""
    return np.concatenate([x, 0.5 * (x[:, :-1] + x[:, 1:])], axis=1)


def _largest(left: Array, middle: Array, right: Array) -> Array:
    """The largest value of the parabola through three values, at −1, 0 and 1."""
    bend, slope = left - 2.0 * middle + right, 0.5 * (right - left)
    within = np.abs(slope) < -bend
    peak = np.where(within, middle - slope * slope / (2.0 * np.where(within, bend, -1.0)), -np.inf)
    return np.maximum(np.maximum(left, right), np.maximum(middle, peak))
