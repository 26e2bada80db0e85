"""Limits along a path as lines in the plane of ṡ² and s̈, interval by interval.

With x = ṡ² and u = s̈ every limit of the motion q(s(t)) is a pair of bounds on a(s) u + b(s) x: joint forces are
M q' s̈ + (M q'' + C(q, q') q') ṡ² + g + springs + friction, accelerations q' s̈ + q'' ṡ² [BDG85; PP18]. Between two
points of the grid, Δ apart, u is constant and x grows linearly, so that at the fraction θ of an interval that starts with x::

    low ≤ (a + 2 θ Δ b) u + b x ≤ high

is linear in (x, u) as well. It is asked for at θ = 0, ½ and 1 (θ = 0 and 1 in [PP18]). Divided by the factor of u each
row is a lower and an upper bound on it, p + r x ≤ u ≤ P + r x.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import concat, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.envelopes import highest, largest, lowest

SMALLEST = 1e-9  # part of its usual size along the path below which a factor of u counts as that: a zero-inertia point
BESIDE = 1e-9  # how far in s from a corner its two sides are looked at
SOME = 32  # how many points tell the usual size


class Grid(NamedTuple):
    """Where a path is looked at.

    Attributes
    ----------
    s : (2 N + 1,) array
        The N + 1 points of the grid, then the N middles between them.
    spacing : (N,) array
        From each point to the next.
    """

    s: Array
    spacing: Array

    @property
    def points(self) -> Array:
        """The points (N + 1,), without the middles."""
        return self.s[: len(self.spacing) + 1]


def grid_of(intervals: int, knots: Array, corners: Array | None = None) -> Grid:
    """A grid of even points, those next to knots moved there; a corner has a point on either side."""
    return _grid(intervals, tuple(knots.tolist()), () if corners is None else tuple(corners.tolist()))


@lru_cache(maxsize=64)
def _grid(intervals: int, inner: tuple[float, ...], sharp: tuple[float, ...]) -> Grid:
    points, own, corners = np.linspace(0.0, 1.0, intervals + 1), np.array(inner), np.array(sharp)
    if len(corners):
        own = own[np.abs(own[:, None] - corners).min(axis=1) > 100.0 * BESIDE]
        own = np.concatenate([own, corners - BESIDE, corners + BESIDE])
    own = own[(own > 0.0) & (own < 1.0)]
    if len(own):
        near = np.setdiff1d(np.round(own * intervals).astype(int), [0, intervals])
        points = np.union1d(np.delete(points, near), own)
    return grid_with(points)


def grid_with(points: Array) -> Grid:
    """The grid of some points (N + 1,) from 0 to 1."""
    found = Grid(np.concatenate([points, 0.5 * (points[1:] + points[:-1])]), np.diff(points))
    for x in found:
        x.setflags(write=False)
    return found


class Limits(NamedTuple):
    """low ≤ a u + b x ≤ high of R rows at the places of a grid.

    Attributes
    ----------
    rows : (B, 2 N + 1, 4, R) array
        a, b, low and high.
    """

    rows: Array

    @classmethod
    def of(cls, a: Array, b: Array, low: Array, high: Array) -> Limits:
        """The limits of numbers (B, 2 N + 1, R) each, or what broadcasts with ``a`` to that."""
        rows = np.empty((*a.shape[:2], 4, a.shape[2]))
        for k, x in enumerate((a, b, low, high)):
            rows[:, :, k] = x
        return cls(rows)

    @property
    def low(self) -> Array:
        """The lower bounds (B, 2 N + 1, R)."""
        return self.rows[:, :, 2]

    @property
    def high(self) -> Array:
        """The upper bounds (B, 2 N + 1, R)."""
        return self.rows[:, :, 3]


class Bounds(NamedTuple):
    """p + r x ≤ u ≤ P + r x for intervals that start with x, (B, N, 3 R) each: rows at left ends, middles and right ends."""

    least: Array
    most: Array
    slope: Array

    @property
    def lines(self) -> int:
        """How many bounds an interval has."""
        return int(self.slope.shape[-1])


def at_places(values: Array) -> tuple[Array, Array, Array]:
    """Numbers at the places of a grid (B, 2 N + 1, …), at left ends, middles and right ends of its intervals (B, N, …)."""
    count = values.shape[1] // 2
    return values[:, :count], values[:, count + 1 :], values[:, 1 : count + 1]


class Intervals(NamedTuple):
    """Bounds of each interval, what they leave at some x (B, N), negative if nothing, and whether one may rest anywhere."""

    bounds: Bounds
    room: Array
    can_rest: bool


def bounds_of_intervals(limits: Limits, grid: Grid, x: Array) -> Intervals:
    """The bounds on u of each interval, with the room that they leave at x (B, N)."""
    batch, _, _, rows = limits.rows.shape
    count, steps = len(grid.spacing), -(-len(grid.s) // SOME)
    smallest = SMALLEST * np.abs(limits.rows[:, ::steps, 0]).max(axis=1, initial=0.0) + 1e-150
    given = [x.reshape(-1, 4, rows) for x in at_places(limits.rows)]
    spacing, tiny = np.tile(grid.spacing, batch), np.repeat(smallest, count, axis=0)
    found = _kernel(rows)(*given, spacing, tiny, np.ascontiguousarray(x).reshape(-1))
    bounds = Bounds(*(found[name].reshape(batch, count, 3 * rows) for name in Bounds._fields))
    return Intervals(bounds, found["room"].reshape(batch, count), bool(np.all(found["rests"] >= 0.0)))


@lru_cache(maxsize=32)
def _kernel(rows: int) -> Kernel:
    """`_divided` as machine code, one interval for each lane."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("left", "middle", "right"), (4, rows))
    return Kernel(
        f"bounds of {rows} rows", trace(_divided, {**shapes, "spacing": (), "smallest": (rows,), "x": ()}, Level.FULL)
    )


def _divided(left: Array, middle: Array, right: Array, spacing: Array, smallest: Array, x: Array) -> dict[str, Array]:
    """Rows of one interval, divided by the factor of u, the room at x, and by how much all rows allow for rest."""
    columns, margins = [], []
    for k, place in enumerate((left, middle, right)):
        a, b, low, high = (place[j] for j in range(4))
        factor = a + (k * spacing) * b  # 2 θ Δ with θ = k/2
        factor = where(abs(factor) > smallest, factor, where(factor < 0.0, -smallest, smallest))
        inverse, positive = 1.0 / factor, factor > 0.0
        margins += [-low, high]
        columns.append((where(positive, low, high) * inverse, where(positive, high, low) * inverse, -b * inverse))
    found = {name: concat(list(x)) for name, x in zip(Bounds._fields, zip(*columns, strict=True), strict=True)}
    room = lowest(found["most"], found["slope"], x).value - highest(found["least"], found["slope"], x).value
    return {**found, "room": room, "rests": -largest(-concat(margins))}
