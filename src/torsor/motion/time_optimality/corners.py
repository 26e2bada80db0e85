"""Corners of a path, where its direction jumps: a robot must stop there, for its velocity cannot."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.time_optimality.arc_length import jumps
from torsor.motion.time_optimality.intervals import BESIDE, Grid
from torsor.motion.time_optimality.paths import Path

SHARP = 1e-2  # part of |q'| by which it jumps at a corner, beside what q'' says
HALVINGS = 36


def corners_of(path: Path, first: Array, second: Array, grid: Grid, weights: Array) -> list[Array]:
    """The s of the corners of each path (B,), whose derivatives at the places of the grid are known (B, 2 N + 1, nv)."""
    size = np.linalg.norm(first * weights, axis=-1).max(axis=1)
    sharp = jumps(first, second, grid, weights) > SHARP * size[:, None]
    found = []
    for k in range(len(first)):
        own = path.member(k) if path.batch else path
        places = [_located(own, grid.points[i], grid.points[i + 1], weights) for i in np.flatnonzero(sharp[k])]
        found.append(np.array([s for s in places if _jump(own, s, weights) > 0.5 * SHARP * size[k]]))
    return found


def _jump(path: Path, s: float, weights: Array) -> float:
    first = path.at(np.array([s - BESIDE, s + BESIDE])).v * weights
    return float(np.linalg.norm(first[1] - first[0]))


def _located(path: Path, low: float, high: float, weights: Array) -> float:
    """Where between two points the direction jumps most, by halving."""
    first = path.at(np.array([low, high])).v * weights
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        there = path.at(np.array([middle])).v[0] * weights
        if np.linalg.norm(there - first[0]) > np.linalg.norm(first[1] - there):
            high, first = middle, np.stack([first[0], there])
        else:
            low, first = middle, np.stack([there, first[1]])
        if high - low < BESIDE / 10.0:
            break
    return 0.5 * (low + high)


def is_beside(points: Array, corners: Array) -> Array:
    """Which points (N + 1,) are the two sides of corners."""
    if not len(corners):
        return np.zeros(len(points), bool)
    found: Array = np.abs(points[:, None] - corners).min(axis=1) <= 1.5 * BESIDE
    return found
