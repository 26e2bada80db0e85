"""The maximum velocity curve: beyond which ṡ² no acceleration keeps all limits, and below which, if anything is.

u has room where the lowest of its upper bounds is not below the highest of its lower bounds. Their difference is concave in x,
so that Newton's method, started beyond the last x with room, comes down to it without passing it, in as many steps as corners
are met; and up to the first one from below.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.envelopes import highest, lowest
from torsor.motion.time_optimality.intervals import Bounds

MOST_CALLS, STEPS_A_CALL = 30, 4
ROUNDING = 1e-14  # part of x that does not matter
NOWHERE = -1.0  # x where there is none


def ceiling(bounds: Bounds, start: Array, room: Array) -> Array:
    """The largest x ≤ ``start`` (B, N) of each interval, where ``room`` (B, N) is left; −1 where there is none."""
    return _converged("down", bounds, start, room)


def floor(bounds: Bounds) -> Array:
    """The smallest x ≥ 0 of each interval (B, N); infinite where there is none."""
    room = bounds.most.min(axis=-1) - bounds.least.max(axis=-1)
    return _converged("up", bounds, np.zeros(room.shape), room)


def _converged(direction: str, bounds: Bounds, start: Array, room: Array) -> Array:
    without = np.flatnonzero(room < 0.0)
    x = np.array(start, float).reshape(-1)
    if not len(without):
        return x.reshape(start.shape)
    lines, now = bounds.lines, x[without]
    given = [values.reshape(-1, lines)[without] for values in bounds]
    kernel = _newton_kernel(direction, lines)
    for _ in range(MOST_CALLS):
        before, now = now, kernel(*given, now)
        with np.errstate(invalid="ignore"):  # where there is none, now and before
            settled = (now == before) | (np.abs(now - before) <= ROUNDING * np.abs(now))
        if np.all(settled):
            break
    x[without] = now
    return x.reshape(start.shape)


@lru_cache(maxsize=64)
def _newton_kernel(direction: str, lines: int) -> Kernel:
    """Some steps of Newton's method, one interval for each lane."""

    def moved(least: Array, most: Array, slope: Array, x: Array) -> Array:
        for _ in range(STEPS_A_CALL):
            low, high = highest(least, slope, x), lowest(most, slope, x)
            missing, fall = low.value - high.value, low.slope - high.slope  # of the room, as x grows
            root = (high.start - low.start) / where(fall == 0.0, 1.0, fall)
            if direction == "down":
                found = where(missing > 0.0, where((fall > 0.0) & (root >= 0.0), root, NOWHERE), x)
                x = where(x < 0.0, NOWHERE, found)
            else:
                x = where(missing > 0.0, where(fall < 0.0, root, np.inf), x)
        return x

    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(Bounds._fields, (lines,))
    return Kernel(f"room of {lines} lines, {direction}", trace(moved, {**shapes, "x": ()}, Level.FULL))
