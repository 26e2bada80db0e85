"""Controllable sets, backward along the path: with which ṡ² the end can still be reached [PP18].

The set of a point is an interval of x = ṡ². An interval of the path can be passed with u if p + r x ≤ u ≤ P + r x, and leads into
the next set [least, most] if least ≤ x + 2 Δ u ≤ most. Bounds on u are piecewise linear, so that the largest x follows from the
convex equation x + 2 Δ max(p + r x) = most by Newton's method from beyond it; no linear program is solved.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.ceiling import NOWHERE
from torsor.motion.time_optimality.envelopes import Line, highest, largest, lowest
from torsor.motion.time_optimality.intervals import Bounds, Grid

STEPS = 1  # of Newton's method after the first, from rest
MORE_STEPS = 8  # in both directions


class Sets(NamedTuple):
    """The smallest and the largest controllable x at the points of a grid (B, N + 1); the largest is −1 where there is none."""

    least: Array
    most: Array


def controllable_from_rest(bounds: Bounds, grid: Grid, ceilings: Array, end: Array) -> Sets:
    """The sets of a path on which one may rest anywhere: they begin at 0.

    ``ceilings`` (B, N) are those of `ceiling`; ``end`` (B,) is x at the end.
    """
    given = _reversed({"start": bounds.least, "slope": bounds.slope, "ceiling": ceilings})
    found = followed(_from_rest(bounds.lines), {"most": end}, given, 2.0 * grid.spacing[::-1])
    most = _with_end(found["most"], end)
    return Sets(np.zeros_like(most), most)


def controllable(bounds: Bounds, grid: Grid, floors: Array, ceilings: Array, end: Array) -> Sets:
    """The sets of any path; ``floors`` (B, N) are those of `floor`."""
    low, high, slope = bounds
    given = _reversed({"low": low, "high": high, "slope": slope, "floor": floors, "ceiling": ceilings})
    found = followed(_between(bounds.lines), {"least": end, "most": end}, given, 2.0 * grid.spacing[::-1])
    return Sets(*(_with_end(found[name], end) for name in Sets._fields))


def followed(loop: Scan, state: dict[str, Array], given: dict[str, Array], twice: Array) -> dict[str, Array]:
    """A loop over intervals of all paths; of one path without a batch axis, which takes less to call."""
    steps, twice = len(twice), np.ascontiguousarray(twice)
    if len(next(iter(state.values()))) != 1:
        return loop(steps=steps, **state, **given, twice=twice)
    alone = {name: x[0] for name, x in {**state, **given}.items()}
    return {name: x[None] for name, x in loop(steps=steps, **alone, twice=twice).items()}


def _with_end(found: Array, end: Array) -> Array:
    return np.concatenate([found[:, ::-1], end[:, None]], axis=1)


def _reversed(given: dict[str, Array]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(x[:, ::-1]) for name, x in given.items()}


@lru_cache(maxsize=32)
def _from_rest(lines: int) -> Scan:
    def step(most: Array, start: Array, slope: Array, ceiling: Array, twice: Array) -> dict[str, Array]:
        x = where(most < ceiling, most, ceiling)
        for k in range(1 + STEPS):
            line = highest(start, slope, x)
            beyond, rise = x + twice * line.value - most, 1.0 + twice * line.slope
            root = (most - twice * line.start) / where(rise == 0.0, 1.0, rise)
            root = where((rise > 0.0) & (root < ceiling), root, ceiling)
            # The root of a tangent from any x is not before that of the function: from there on, down to it
            x = root if k == 0 else where((beyond > 0.0) & (root < x), root, x)
        # What is still beyond goes to the chord from rest, below which a convex function stays
        rest, above = twice * largest(start) - most, x + twice * highest(start, slope, x).value - most
        x = where(above > 0.0, x * (-rest) / (above - rest), x)
        return {"most": where((rest > 0.0) | (x < 0.0) | (ceiling < 0.0), NOWHERE, x)}

    shapes = {"most": (), "start": (lines,), "slope": (lines,), "ceiling": (), "twice": ()}
    return Scan(f"controllable from rest, {lines} lines", trace(step, shapes, Level.FULL), Roles(1, len(shapes) - 1, 0))


@lru_cache(maxsize=32)
def _between(lines: int) -> Scan:
    def step(
        least: Array, most: Array, low: Array, high: Array, slope: Array, floor: Array, ceiling: Array, twice: Array
    ) -> dict[str, Array]:
        possible = (most >= 0.0) & (ceiling >= floor)
        top, bottom = where(possible, ceiling, 0.0), where(possible, floor, 0.0)
        for _ in range(MORE_STEPS):
            for downwards in (True, False):
                x = top if downwards else bottom
                reach = _Reach(x, highest(low, slope, x), lowest(high, slope, x), twice, least, most)
                moved, fine = _moved(reach, downwards=downwards)
                possible = possible & fine
                top, bottom = (moved, bottom) if downwards else (top, moved)
        possible = possible & (bottom <= top + 1e-12 * (abs(top) + abs(bottom)))
        return {"least": where(possible, where(bottom < top, bottom, top), 0.0), "most": where(possible, top, NOWHERE)}

    shapes: dict[str, tuple[int, ...]] = {"least": (), "most": ()}
    shapes |= {"low": (lines,), "high": (lines,), "slope": (lines,), "floor": (), "ceiling": (), "twice": ()}
    return Scan(f"controllable, {lines} lines", trace(step, shapes, Level.FULL), Roles(2, len(shapes) - 2, 0))


class _Reach(NamedTuple):
    """Where the slowest and the fastest u lead from x, and where they should."""

    x: Array
    slowest: Line
    fastest: Line
    twice: Array
    least: Array
    most: Array


def _moved(reach: _Reach, *, downwards: bool) -> tuple[Array, Array]:
    """A step of Newton's method to where the slowest u leads to at most ``most``, the fastest to at least ``least``."""
    x, moved, possible = reach.x, reach.x, reach.most >= NOWHERE
    for line, value, too_fast in ((reach.slowest, reach.most, True), (reach.fastest, reach.least, False)):
        beyond, rise = x + reach.twice * line.value - value, 1.0 + reach.twice * line.slope
        missing = beyond > 0.0 if too_fast else beyond < 0.0
        root = (value - reach.twice * line.start) / where(rise == 0.0, 1.0, rise)
        # A convex excess becomes smaller towards smaller x where it grows, and towards larger x where it falls
        helps = rise > 0.0 if too_fast == downwards else rise < 0.0
        rounding = 1e-12 * (abs(x) + abs(value))
        possible = possible & ~(missing & ~helps & (abs(beyond) > rounding)) & ~(missing & helps & (root < -rounding))
        nearer = where(root < moved, root, moved) if downwards else where(root > moved, root, moved)
        moved = where(missing & helps, nearer, moved)
    return where(moved < 0.0, 0.0, moved), possible
