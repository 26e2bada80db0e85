"""The forward pass: as fast as limits allow, as long as the end can still be reached [PP18]."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.controllable import Sets, followed
from torsor.motion.time_optimality.envelopes import lowest
from torsor.motion.time_optimality.intervals import Bounds, Grid


def fastest(bounds: Bounds, grid: Grid, sets: Sets, start: Array) -> Array:
    """x (B, N + 1) of the fastest motion from x = ``start`` (B,) within controllable sets."""
    low, high = (np.ascontiguousarray(x[:, 1:]) for x in sets)
    given = {"bound": bounds.most, "slope": bounds.slope, "low": low, "high": high}
    found = followed(_loop(bounds.lines), {"x": start}, given, 2.0 * grid.spacing)["x"]
    return np.concatenate([start[:, None], found], axis=1)


@lru_cache(maxsize=32)
def _loop(lines: int) -> Scan:
    def step(x: Array, bound: Array, slope: Array, low: Array, high: Array, twice: Array) -> dict[str, Array]:
        reached = x + twice * lowest(bound, slope, x).value
        reached = where(reached > high, high, reached)
        return {"x": where(reached < low, low, reached)}

    shapes = {"x": (), "bound": (lines,), "slope": (lines,), "low": (), "high": (), "twice": ()}
    return Scan(f"fastest, {lines} lines", trace(step, shapes, Level.FULL), Roles(1, len(shapes) - 1, 0))
