"""How fast a path goes by for its joints: the largest ṡ² that their velocities allow, and its own length in shares of them."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.envelopes import largest

FASTEST = 1e12  # 1/s²: the largest ṡ² and s̈ where nothing limits them


class Speeds(NamedTuple):
    """At the places of paths (B, 2 N + 1): the largest ṡ² that velocities allow, |q'|² in shares of them, the largest |q'_k|."""

    limit: Array
    square: Array
    farthest: Array


def weights_of(velocity: Array) -> Array:
    """What joint velocities are measured by (nv,): their limits, the usual one where there is none."""
    finite = velocity[np.isfinite(velocity)]
    usual = float(np.median(finite)) if len(finite) else 1.0
    return 1.0 / np.where(np.isfinite(velocity), velocity, usual)


def speeds_of(first: Array, velocity: Array, weights: Array) -> Speeds:
    """The speeds of paths with derivatives (B, 2 N + 1, nv)."""
    return Speeds(**_kernel(first.shape[-1])(first, 1.0 / velocity, weights))


@lru_cache(maxsize=32)
def _kernel(nv: int) -> Kernel:
    def speeds(first: Array, inverse: Array, weights: Array) -> dict[str, Array]:
        share, slowest = largest(abs(first * inverse)), FASTEST**-0.5
        share, weighted = where(share > slowest, share, slowest), first * weights
        return {"limit": 1.0 / (share * share), "square": np.sum(weighted * weighted), "farthest": largest(abs(first))}

    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("first", "inverse", "weights"), (nv,))
    return Kernel(f"speeds of {nv} joints", trace(speeds, shapes, Level.FULL))


def at_points(limit: Array) -> Array:
    """The largest ṡ² at the points of a grid (B, N + 1) that is not beyond that at its places (B, 2 N + 1) in the middles."""
    count = limit.shape[1] // 2
    points, middle = limit[:, : count + 1].copy(), limit[:, count + 1 :]
    # x is linear in between: where its mean would be too much in the middle, both ends are lowered
    points[:, :-1], points[:, 1:] = np.minimum(points[:, :-1], 4.0 * middle), np.minimum(points[:, 1:], 4.0 * middle)
    part = np.minimum(1.0, 2.0 * middle / (points[:, :-1] + points[:, 1:]))
    points[:, :-1] *= part
    points[:, 1:] *= part
    return points
