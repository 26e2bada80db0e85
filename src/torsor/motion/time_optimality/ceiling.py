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


def room(bounds: Bounds, x: Array) -> Array:
    """The highest lower and the lowest upper bound on u of each interval at x (B, N): (B, N, 2)."""
    lines = bounds.lines
    flat = (values.reshape(-1, lines) for values in bounds)
    found: Array = _room_kernel(lines)(*flat, x.reshape(-1)).reshape(*x.shape, 2)
    return found


def ceiling(bounds: Bounds, start: Array) -> Array:
    """The largest x ≤ ``start`` (B, N) of each interval; −1 where there is none."""
    return _converged("down", bounds, start)


def floor(bounds: Bounds, start: Array) -> Array:
    """The smallest x ≥ ``start`` (B, N) of each interval; infinite where there is none."""
    return _converged("up", bounds, start)


def _converged(direction: str, bounds: Bounds, start: Array) -> Array:
    low, high = np.moveaxis(room(bounds, start), -1, 0)
    without = np.flatnonzero(low > high)
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


@lru_cache(maxsize=32)
def _room_kernel(lines: int) -> Kernel:
    def bounds_of_u(least: Array, most: Array, slope: Array, x: Array) -> Array:
        both: Array = np.stack([highest(least, slope, x).value, lowest(most, slope, x).value])
        return both

    return Kernel(f"room of {lines} lines", trace(bounds_of_u, _shapes(lines), Level.FULL))


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

    return Kernel(f"room of {lines} lines, {direction}", trace(moved, _shapes(lines), Level.FULL))


def _shapes(lines: int) -> dict[str, tuple[int, ...]]:
    return {"least": (lines,), "most": (lines,), "slope": (lines,), "x": ()}
