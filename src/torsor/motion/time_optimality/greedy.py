"""The forward pass: as fast as limits allow, as long as the end can still be reached [PP18, §III-C, Algorithm 1]."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.controllable import Sets
from torsor.motion.time_optimality.envelopes import groups_of, lowest, shapes_of
from torsor.motion.time_optimality.intervals import Bounds, Grid


def fastest(bounds: Bounds, grid: Grid, sets: Sets, start: Array) -> Array:
    """x (B, N + 1) of the fastest motion from x = ``start`` (B,) within controllable sets."""
    given = {name: x for name, x in bounds.named().items() if not name.startswith("least")}
    reach = {name: np.ascontiguousarray(x[:, 1:]) for name, x in zip(("low", "high"), sets, strict=True)}
    loop, twice = _loop(bounds.rows), 2.0 * grid.spacing
    found = loop(steps=len(twice), x=start, **given, **reach, twice=twice)["x"]
    return np.concatenate([start[:, None], found], axis=1)


@lru_cache(maxsize=32)
def _loop(rows: int) -> Scan:
    def step(x: Array, low: Array, high: Array, twice: Array, **given: Array) -> dict[str, Array]:
        reached = x + twice * lowest(groups_of(given, "most"), groups_of(given, "slope"), x).value
        reached = where(reached > high, high, reached)
        return {"x": where(reached < low, low, reached)}

    shapes = {"x": (), "low": (), "high": (), "twice": (), **shapes_of(rows, "most", "slope")}
    return Scan(f"fastest, {rows} rows", trace(step, shapes, Level.FULL), Roles(1, len(shapes) - 1, 0))
