"""Which limits stand in the way of a level: those by whose loosening alone it would be given more, all levels before it held.

With K a basis of what the levels before leave free and f the slope that is left of this one, an optimum has multipliers ::

    Kᵀ f = Σ μ_i Kᵀ c_i,    μ ≥ 0       over all limits c_i that it is at                          (1)

They need not be unique: limits may be dependent in what K leaves of them. Loosening limit i lowers what is left at first by the
least μ_i of all solutions of (1), and by nothing at all if that is 0, for what is left is convex in the limits. So it is in the
way if and only if (1) has no solution without it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.limit_rows import LimitRows
from torsor.control.priorities.quadratic_program import least_squares_within

AT_LIMIT = 1e-7  # how near to a limit a value is at it, relative
RANK = 1e-9  # of rows of limits, all about 1: what is left of one by less than this cannot be changed


class InTheWay(NamedTuple):
    """Limits as pairs (row, side), side 0 the lower and 1 the upper one."""

    alone: tuple[tuple[int, int], ...]
    """Without any one of them there would be more."""
    together: tuple[tuple[int, int], ...]
    """Each could take the place of others: only without several of them there would be more."""


def limits_reached(rows: LimitRows, x: Array) -> Array:
    """Which limits x is at (c, 2), at the lower and the upper side."""
    values = rows.C @ x
    near = AT_LIMIT * np.maximum(1.0, np.abs(values))
    return np.stack([values <= rows.lower + near, values >= rows.upper - near], axis=-1)


def in_the_way(f: Array, K: Array, rows: LimitRows, x: Array, small: float, who: str) -> InTheWay:
    """The limits in the way at an optimum ``x`` (n,), of its slope ``f`` (n,) and K (n, k); forces below ``small`` are none."""
    at = np.argwhere(limits_reached(rows, x))
    B = ((2 * at[:, 1] - 1)[:, None] * rows.C[at[:, 0]] @ K).T
    sizes, g = np.linalg.norm(B, axis=0), K.T @ f
    at, B = at[sizes > RANK], B[:, sizes > RANK] / sizes[sizes > RANK]
    if float(np.linalg.norm(g)) <= small or not len(at):
        return InTheWay((), ())
    unique, _, rank, _ = np.linalg.lstsq(B, g, rcond=RANK)
    if rank == len(at):
        return InTheWay(_pairs(at, unique > small), ())
    mu = _multipliers(B, g, who)
    used = mu > small
    alone = np.array([used[i] and _left(np.delete(B, i, axis=1), g, who) > small for i in range(len(at))])
    if _left(B[:, alone], g, who) <= small:
        return InTheWay(_pairs(at, alone), ())
    # The others that (1) can have: with a little of them taken for granted, it still has a solution.
    some = 1e-3 * float(mu.max())
    others = [used[i] or _left(B, g - some * B[:, i], who) <= small for i in range(len(at))]
    return InTheWay(_pairs(at, alone), _pairs(at, np.array(others) & ~alone))


def _multipliers(B: Array, g: Array, who: str) -> Array:
    """μ ≥ 0 (c,) with the least |B μ − g|."""
    size, c = float(np.linalg.norm(g)), B.shape[1]
    return size * least_squares_within(B, g / size, np.eye(c), np.zeros(c), np.full(c, np.inf), who).w


def _left(B: Array, g: Array, who: str) -> float:
    if not B.shape[1]:
        return float(np.linalg.norm(g))
    return float(np.linalg.norm(g - B @ _multipliers(B, g, who)))


def _pairs(at: Array, chosen: Array) -> tuple[tuple[int, int], ...]:
    return tuple((int(k), int(side)) for k, side in at[chosen])
