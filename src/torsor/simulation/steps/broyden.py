"""Broyden's updates of a quasi-Newton iteration, unrolled [Kel03, §4]."""

from __future__ import annotations

from itertools import pairwise

from torsor.arrays import dot, where
from torsor.arrays.typing import Array

NOTHING = 1e-300  # a step whose square is below it says nothing about a slope


def improved(steps: list[Array], z: Array) -> Array:
    """The next step (..., k), from the steps made so far and the one z that the first slope would make now.

    What has not become less is rounding, of which nothing is concluded.
    """
    for s, after in pairwise(steps):
        z = z + after * _share(s, z)[..., None]
    if not steps:
        return z
    share = _share(steps[-1], z)
    return z / (1.0 - where(share < 0.5, share, 0.5))[..., None]


def _share(s: Array, z: Array) -> Array:
    """s·z / s·s (...), nothing where s is so."""
    length = dot(s, s)
    is_some = length > NOTHING
    return where(is_some, dot(s, z) / where(is_some, length, 1.0), 0.0)
