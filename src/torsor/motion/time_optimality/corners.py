"""Corners of a path, where its direction jumps: a robot must stop there, for its velocity cannot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.time_optimality.arc_length import jumps
from torsor.motion.time_optimality.intervals import BESIDE, Grid
from torsor.motion.time_optimality.paths import Path

SHARP = 1e-2  # part of |q'| by which it jumps at a corner, beside what q'' says
KINK = 1e-3  # part of |q''| by which it jumps at a kink, beside what q''' says
STRAIGHT = 1e-3  # part of |q'| that q'' counts as at least: a line is straight but for rounding
AT_ENDS = 1e-5  # of s: how near to the ends no kink is looked for, since the robot rests there
HALVINGS = 36


def corners_of(path: Path, first: Array, second: Array, grid: Grid, weights: Array) -> list[Array]:
    """The s of the corners of each path (B,), whose derivatives at the places of the grid are known (B, 2 N + 1, nv)."""
    least = SHARP * np.linalg.norm(first * weights, axis=-1).max(axis=1)
    return _jumps_of(path, 1, jumps(first, second, grid, weights), least, (grid, weights))


def kinks_of(path: Path, derivatives: list[Array], grid: Grid, weights: Array) -> list[Array]:
    """The s where the curvature of each path (B,) jumps: there a robot whose jerk is limited must stop.

    ``derivatives`` are the first three at the places of the grid (B, 2 N + 1, nv).
    """
    first, second = (np.linalg.norm(x * weights, axis=-1).max(axis=1) for x in derivatives[:2])
    least = KINK * np.maximum(second, STRAIGHT * first)
    found = _jumps_of(path, 2, jumps(derivatives[1], derivatives[2], grid, weights), least, (grid, weights))
    return [s[(s > AT_ENDS) & (s < 1.0 - AT_ENDS)] for s in found]


def _jumps_of(path: Path, order: int, by: Array, least: Array, along: tuple[Grid, Array]) -> list[Array]:
    """The s where a derivative of some order jumps by more than ``least`` (B,), known to within intervals (B, N)."""
    grid, weights = along
    found = []
    for k in range(len(by)):
        own = path.member(k) if path.batch else path

        def at(*s: float, own: Path = own) -> Array:
            value: Array = own.at(np.array(s))[order] * weights
            return value

        sharp = np.flatnonzero(by[k] > least[k])
        places = [_located(at, grid.points[i], grid.points[i + 1]) for i in sharp]
        found.append(np.array([s for s in places if _jump(at, s) > 0.5 * least[k]]))
    return found


def _jump(at: Callable[..., Array], s: float) -> float:
    before, after = at(s - BESIDE, s + BESIDE)
    return float(np.linalg.norm(after - before))


def _located(at: Callable[..., Array], low: float, high: float) -> float:
    """Where between two points a derivative jumps most, by halving."""
    before, after = at(low, high)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        there = at(middle)[0]
        if np.linalg.norm(there - before) > np.linalg.norm(after - there):
            high, after = middle, there
        else:
            low, before = middle, there
        if high - low < BESIDE / 10.0:
            break
    return 0.5 * (low + high)


def halts_at(points: Array, corners: list[Array]) -> Array:
    """Which points (N + 1,) are the two sides of corners of each path: (B, N + 1)."""
    if not any(len(own) for own in corners):
        return np.zeros((len(corners), len(points)), bool)
    return np.stack([is_beside(points, own) for own in corners])


def is_beside(points: Array, corners: Array) -> Array:
    """Which points (N + 1,) are the two sides of corners."""
    if not len(corners):
        return np.zeros(len(points), bool)
    found: Array = np.abs(points[:, None] - corners).min(axis=1) <= 1.5 * BESIDE
    return found
