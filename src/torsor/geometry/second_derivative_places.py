"""Where the second derivatives of inverse dynamics stand in their tensors: tables of a robot's structure."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.geometry.freedoms import Places, freedoms_of
from torsor.model import Structure

Sort = tuple[Array, list[tuple[tuple[int, int, int], Array | None]]]


@lru_cache(maxsize=256)
def by_q_and_q_places(structure: Structure) -> Places:
    """In qq[i, j, k]: ∂_a ∂_b τ_c with a ≤ b ≤ c, ∂_a ∂_c τ_b with a ≤ b < c, then ∂_b ∂_c τ_a with a < b ≤ c.

    In both orders of the derivatives, unless they belong to one joint.
    """
    f = freedoms_of(structure)
    at_c, at_b, at_a = _ways(f.reaches, f.reaches), _ways(f.reaches, f.above), _ways(f.above, f.reaches)
    return _places(
        f.size,
        (at_c, [((2, 1, 0), None), ((2, 0, 1), f.above[at_c[0], at_c[1]])]),
        (at_b, [((1, 2, 0), None), ((1, 0, 2), None)]),
        (at_a, [((0, 2, 1), None), ((0, 1, 2), f.above[at_a[1], at_a[2]])]),
    )


@lru_cache(maxsize=256)
def by_q_and_v_places(structure: Structure) -> Places:
    """In qv[i, j, k], by q_j and v_k: ∂_b ∂τ_c/∂v_a with a < b ≤ c, ∂_c ∂τ_i/∂v_k with i and k < c, ∂_b ∂τ_a/∂v_c with a < b ≤ c,
    then ∂_a ∂τ_b/∂v_c with a ≤ b < c and its negative ∂_a ∂τ_c/∂v_b with a ≤ b ≤ c, which vanishes for b = c.
    """
    f = freedoms_of(structure)
    meet = (f.reaches | f.reaches.T)[:, :, None] & f.above[:, None, :] & f.above[None, :, :]
    once, before = _ways(f.above, f.reaches), _ways(f.reaches, f.reaches)
    before = before[:, before[1] != before[2]]
    return _places(
        f.size,
        (once, [((2, 1, 0), None)]),
        (_sorted(np.array(np.nonzero(meet))), [((0, 2, 1), None)]),
        (once, [((0, 1, 2), None)]),
        (before, [((1, 0, 2), f.above[before[1], before[2]])]),
        (before, [((2, 0, 1), None)]),
    )


def _places(size: int, *sorts: Sort) -> Places:
    """Number the values of all sorts, and set them at their freedoms in each of the orders, or where a condition holds."""
    index, first = np.zeros((size,) * 3, int), 1
    for ways, orders in sorts:
        numbers = first + np.arange(ways.shape[1])
        first += ways.shape[1]
        for order, condition in orders:
            some = slice(None) if condition is None else condition
            index[tuple(ways[list(order)][:, some])] = numbers[some]
    return Places(tuple(ways for ways, _ in sorts), index)


def _ways(first: Array, second: Array) -> Array:
    """All (a, b, c) (3, K) with a related to b by the first table and b to c by the second."""
    return _sorted(np.array(np.nonzero(first[:, :, None] & second[None, :, :])))


def _sorted(ways: Array) -> Array:
    return ways[:, np.lexsort(ways)]  # by the last, then the one before: neighbours share their factors
