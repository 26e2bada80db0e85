"""Triangles into pixels with a depth buffer, in NumPy: pictures without a browser, a display or a graphics card.

Every triangle is cut into rows of pixels, all triangles at once; for each pixel the nearest one is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array

FAR = np.uint64(2**64 - 1)
DEPTHS = 2.0**31  # steps of depth between the nearest and the farthest point


class Pixels(NamedTuple):
    """Places (k,) in a picture that triangles cover, which triangle (k,), and its weights (k, 3) of the corners."""

    place: Array
    triangle: Array
    weights: Array


def visible(corners: Array, size: tuple[int, int], depth: Array | None = None) -> Pixels:
    """What is seen of triangles (T, 3, 3) in a picture of ``size`` (width, height).

    Corners are x and y in pixels, and depth from 0 (near) to 1. ``depth`` (height · width,) hides what is behind it.
    """
    rows = _rows(corners, size)
    x, y, z = (corners[rows.triangle, 0, k] for k in range(3))
    across, down = _slopes(corners, rows.triangle)
    # Depth is linear in x and y: that of the first pixel of each row, and how much it grows with each pixel
    start = z + across * (rows.first + 0.5 - x) + down * (rows.line + 0.5 - y)
    step, row = _steps(rows.count)
    place = (rows.line * size[0] + rows.first)[row] + step
    z = np.clip(start[row] + across[row] * step, 0.0, 1.0)
    if depth is not None:
        keep = z < depth[place]
        place, row, z = place[keep], row[keep], z[keep]
    # The depth in the upper bits and the row in the lower ones: the least is the nearest, without a sort
    key = (z * DEPTHS).astype(np.uint64) << np.uint64(32) | row.astype(np.uint64)
    nearest = np.full(size[0] * size[1], FAR)
    np.minimum.at(nearest, place, key)
    filled = np.flatnonzero(nearest != FAR)
    triangle = rows.triangle[(nearest[filled] & np.uint64(0xFFFFFFFF)).astype(np.int64)]
    return Pixels(filled, triangle, _weights(corners, triangle, filled % size[0] + 0.5, filled // size[0] + 0.5))


def covered(corners: Array, size: tuple[int, int]) -> Array:
    """Places in a picture that triangles cover, wherever they are in depth."""
    rows = _rows(corners, size)
    step, row = _steps(rows.count)
    hit = np.zeros(size[0] * size[1], bool)
    hit[(rows.line * size[0] + rows.first)[row] + step] = True
    return np.flatnonzero(hit)


class _Rows(NamedTuple):
    """Rows of pixels whose centres lie in a triangle: which one, on which line, from which column on, and how many."""

    triangle: Array
    line: Array
    first: Array
    count: Array


def _rows(corners: Array, size: tuple[int, int]) -> _Rows:
    width, height = size
    x, y = corners[..., 0], corners[..., 1]
    top = np.maximum(np.ceil(y.min(axis=1) - 0.5), 0).astype(np.int64)
    bottom = np.minimum(np.floor(y.max(axis=1) - 0.5), height - 1).astype(np.int64)
    drawn = np.flatnonzero(
        (bottom >= top) & (np.abs(_area(corners)) > 1e-9) & (x.max(axis=1) > 0) & (x.min(axis=1) < width)
    )
    step, which = _steps(bottom[drawn] - top[drawn] + 1)
    triangle = drawn[which]
    line = top[triangle] + step
    left, right = np.full(len(line), np.inf), np.full(len(line), -np.inf)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        y0, rise = y[triangle, a], y[triangle, b] - y[triangle, a]
        level = rise == 0
        part = (line + 0.5 - y0) / np.where(level, 1.0, rise)
        crosses = ~level & (part >= 0) & (part <= 1)
        at = x[triangle, a] + part * (x[triangle, b] - x[triangle, a])
        left, right = np.where(crosses & (at < left), at, left), np.where(crosses & (at > right), at, right)
    first = np.maximum(np.ceil(np.minimum(left, width) - 0.5), 0).astype(np.int64)
    last = np.minimum(np.floor(np.maximum(right, -1) - 0.5), width - 1).astype(np.int64)
    some = np.flatnonzero(last >= first)
    return _Rows(triangle[some], line[some], first[some], (last - first + 1)[some])


def _steps(counts: Array) -> tuple[Array, Array]:
    """0, 1, … up to each of ``counts``, one after another, and of which count each number is."""
    which = np.repeat(np.arange(len(counts)), counts)
    return np.arange(len(which)) - (np.cumsum(counts) - counts)[which], which


def _area(corners: Array) -> Array:
    """Twice the area of triangles (T, 3, 3) on the picture, with a sign."""
    x, y = corners[..., 0], corners[..., 1]
    area: Array = (x[:, 1] - x[:, 0]) * (y[:, 2] - y[:, 0]) - (x[:, 2] - x[:, 0]) * (y[:, 1] - y[:, 0])
    return area


def _slopes(corners: Array, triangle: Array) -> tuple[Array, Array]:
    """How depth grows with x and with y on triangles; those of no area are not asked for."""
    u, v = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = _area(corners)
    inverse = 1.0 / np.where(area == 0, 1.0, area)
    across = (u[:, 2] * v[:, 1] - v[:, 2] * u[:, 1]) * inverse
    down = (v[:, 2] * u[:, 0] - u[:, 2] * v[:, 0]) * inverse
    return across[triangle], down[triangle]


def _weights(corners: Array, triangle: Array, x: Array, y: Array) -> Array:
    """Weights (k, 3) of the corners of triangles at points of them."""
    at = corners[triangle, 0, :2]
    u, v = corners[triangle, 1, :2] - at, corners[triangle, 2, :2] - at
    dx, dy = x - at[:, 0], y - at[:, 1]
    area = u[:, 0] * v[:, 1] - v[:, 0] * u[:, 1]
    second, third = (dx * v[:, 1] - dy * v[:, 0]) / area, (dy * u[:, 0] - dx * u[:, 1]) / area
    return np.clip(np.stack([1.0 - second - third, second, third], axis=-1), 0.0, 1.0)
