"""How far a motion leaves its limits within intervals, where they were asked for at three places only.

In an interval u is constant and x grows linearly, so that forces and accelerations are smooth functions of s: the parabola
through their values at both ends and in the middle tells their extremes to the third order in Δ.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.intervals import Grid, Limits, at_places


class Excess(NamedTuple):
    """By how much rows are beyond their bounds in each interval (B, N, R), negative where they keep them."""

    below: Array
    above: Array


def excess(limits: Limits, grid: Grid, x: Array, scale: Array, *, sudden: bool) -> Excess:
    """The excess of a motion with x = ṡ² at the points of the grid (B, N + 1), as parts of ``scale`` (R,).

    Where friction sets in with the motion, it is ``sudden`` beside rest: no parabola is like it there.
    """
    batch, _, _, rows = limits.rows.shape
    places = (y.reshape(-1, 4, rows) for y in at_places(limits.rows))
    spacing, ends = np.tile(grid.spacing, batch), (np.ascontiguousarray(y).reshape(-1) for y in (x[:, :-1], x[:, 1:]))
    found = _kernel(rows)(*places, *ends, spacing, scale, float(sudden))
    return Excess(*(y.reshape(batch, len(grid.spacing), rows) for y in found.values()))


@lru_cache(maxsize=32)
def _kernel(rows: int) -> Kernel:
    """`_beyond` as machine code, one interval for each lane."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("left", "middle", "right"), (4, rows))
    shapes |= {"begin": (), "end": (), "spacing": (), "scale": (rows,), "sudden": ()}
    return Kernel(f"excess of {rows} rows", trace(_beyond, shapes, Level.FULL))


def _beyond(
    left: Array, middle: Array, right: Array, begin: Array, end: Array, spacing: Array, scale: Array, sudden: Array
) -> dict[str, Array]:
    """The excess of one interval with x from ``begin`` to ``end``."""
    u = (end - begin) / (2.0 * spacing)
    below, above, smooth = [], [], (sudden == 0.0) | ((begin > 0.0) & (end > 0.0))
    for (a, b, low, high), x in ((left, begin), (middle, 0.5 * (begin + end)), (right, end)):
        value = a * u + b * x
        below.append(low - value)
        above.append(value - high)
    return {"below": _largest(*below, smooth=smooth) / scale, "above": _largest(*above, smooth=smooth) / scale}


def with_middles(x: Array) -> Array:
    """Values at all places of a grid (B, 2 N + 1) of a function that is linear between its points (B, N + 1)."""
    return np.concatenate([x, 0.5 * (x[:, :-1] + x[:, 1:])], axis=1)


def _largest(left: Array, middle: Array, right: Array, *, smooth: Array) -> Array:
    """The largest of three values, at −1, 0 and 1, or of the parabola through them where that is a ``smooth`` function."""
    bend, slope = left - 2.0 * middle + right, 0.5 * (right - left)
    most = where(left > right, left, right)
    most = where(middle > most, middle, most)
    within = (abs(slope) < -bend) & smooth
    return where(within, middle - slope * slope / (2.0 * where(within, bend, -1.0)), most)
