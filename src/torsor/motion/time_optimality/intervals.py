"""Limits along a path as lines in the plane of ṡ² and s̈, interval by interval.

With x = ṡ² and u = s̈ every limit of the motion q(s(t)) is a pair of bounds on a(s) u + b(s) x: joint forces are
M q' s̈ + (M q'' + C(q, q') q') ṡ² + g + springs + friction, accelerations q' s̈ + q'' ṡ² [BDG85; PP18, §III-A]. Between two
points of the grid, Δ apart, u is constant and x grows linearly, so that at the fraction θ of an interval that starts with x::

    low ≤ (a + 2 θ Δ b) u + b x ≤ high

is linear in (x, u) as well. It is asked for at θ = 0, ½ and 1 ([PP18, §III-D] has θ = 0 and 1). Divided by the factor of u each
row is a lower and an upper bound on it, p + r x ≤ u ≤ P + r x.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array

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
    points, own = np.linspace(0.0, 1.0, intervals + 1), knots
    if corners is not None:
        own = own[np.abs(own[:, None] - corners).min(axis=1, initial=1.0) > 100.0 * BESIDE]
        own = np.concatenate([own, corners - BESIDE, corners + BESIDE])
    own = own[(own > 0.0) & (own < 1.0)]
    if len(own):
        near = np.setdiff1d(np.round(own * intervals).astype(int), [0, intervals])
        points = np.union1d(np.delete(points, near), own)
    return Grid(np.concatenate([points, 0.5 * (points[1:] + points[:-1])]), np.diff(points))


class Limits(NamedTuple):
    """low ≤ a u + b x ≤ high of R rows at the places of a grid, (B, 2 N + 1, R) each."""

    a: Array
    b: Array
    low: Array
    high: Array


class Bounds(NamedTuple):
    """p + r x ≤ u ≤ P + r x for intervals that start with x, at three places (B, N, R) each."""

    least: tuple[Array, ...]
    most: tuple[Array, ...]
    slope: tuple[Array, ...]

    @property
    def rows(self) -> int:
        """How many at each place."""
        return int(self.slope[0].shape[-1])

    def named(self) -> dict[str, Array]:
        """All of them by the names that compiled loops have for them: least0, least1, …"""
        return {f"{name}{k}": x for name, columns in self._asdict().items() for k, x in enumerate(columns)}


def at_places(values: Array) -> tuple[Array, Array, Array]:
    """Numbers at the places of a grid (B, 2 N + 1, …), at left ends, middles and right ends of its intervals (B, N, …)."""
    count = values.shape[1] // 2
    return values[:, :count], values[:, count + 1 :], values[:, 1 : count + 1]


def bounds_of_intervals(limits: Limits, grid: Grid) -> Bounds:
    """The bounds on u of each interval."""
    steps = -(-len(grid.s) // SOME)
    smallest = SMALLEST * np.abs(limits.a[:, ::steps]).max(axis=1, keepdims=True, initial=0.0) + 1e-150
    columns = []
    for k, (a, b, low, high) in enumerate(zip(*map(at_places, limits), strict=True)):
        factor = a + (k * grid.spacing)[:, None] * b if k else a  # 2 θ Δ with θ = k/2
        tiny = np.abs(factor) <= smallest
        if np.any(tiny):
            factor = np.where(tiny, np.where(factor < 0.0, -smallest, smallest), factor)
        inverse = 1.0 / factor
        one, other = low * inverse, high * inverse
        columns.append((np.minimum(one, other), np.maximum(one, other), -b * inverse))
    return Bounds(*zip(*columns, strict=True))
