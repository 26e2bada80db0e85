"""Paths in polynomials, at all places of a grid: each piece by machine code, which takes its coefficients from where they are."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.tangent_motion import TangentMotion
from torsor.motion.time_optimality.intervals import Grid


def places_of_pieces(motion: TangentMotion, grid: Grid) -> tuple[Array, Array, Array]:
    """q, q' and q'' (..., 2 N + 1, nv) of a motion in numbers, s being the part of its duration."""
    pieces, nv = motion.segments, motion.robot.nv
    batch = np.broadcast_shapes(pieces.coefficients.shape[:-3], pieces.anchors.shape[:-2])
    c = pieces.coefficients.copy()
    c[..., 0, :] += pieces.anchors  # which numbers are counted from
    c = np.broadcast_to(c, (*batch, *c.shape[-3:])).reshape(-1, *c.shape[-3:])
    found = {name: np.empty((len(c), len(grid.s), nv)) for name in ("q", "first", "second")}
    value = _kernel(c.shape[-2], nv)
    for piece, share, inverse, run in _runs(pieces.knots / motion.duration, grid):
        for k in range(len(c)):
            value(share, c[k, piece], inverse, out={name: x[k, run] for name, x in found.items()})
    q, first, second = (x.reshape(*batch, len(grid.s), nv) for x in found.values())
    return q, first, second


def _runs(knots: Array, grid: Grid) -> list[tuple[int, Array, float, slice]]:
    """Places next to each other on one piece: its number, where they are in it from 0 to 1, 1 by its length, which they are."""
    found, count = [], len(grid.points)
    for start, s in ((0, grid.points), (count, grid.s[count:])):
        edges = [0, *np.searchsorted(s, knots[1:-1], side="left").tolist(), len(s)]
        for piece, (first, last) in enumerate(pairwise(edges)):
            if first < last:
                inverse = 1.0 / float(knots[piece + 1] - knots[piece])
                share = (s[first:last] - knots[piece]) * inverse
                found.append((piece, share, inverse, slice(start + first, start + last)))
    return found


@lru_cache(maxsize=32)
def _kernel(size: int, nv: int) -> Kernel:
    """Horner's rule for a polynomial with ``size`` coefficients and two derivatives."""

    def value(share: Array, coefficients: Array, inverse: Array) -> dict[str, Array]:
        q = coefficients[size - 1]
        first = half = 0.0 * q
        for k in range(size - 2, -1, -1):
            half = half * share + first
            first = first * share + q
            q = q * share + coefficients[k]
        return {"q": q, "first": first * inverse, "second": 2.0 * half * inverse**2}

    shapes = {"share": (), "coefficients": (size, nv), "inverse": ()}
    return Kernel(f"polynomials of {size} coefficients", trace(value, shapes, Level.FULL))
