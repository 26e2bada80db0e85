"""Limits as they bind what is chosen for a step, velocities or accelerations x: l ≤ C x ≤ u, row by row.

Each row knows the limit it comes from and what it means, so that what stands in the way can be named. `joint_limit_rows`
and `added_limits` make them, for one state or a batch of states.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.control.priorities.joint_limit import JointLimit, Pair
from torsor.control.priorities.quadratic_program import FEASIBLE, least_squares_within

ROUNDING = 1e-9  # rad or m, rad/s or m/s: what is no more than this beyond a limit, or too fast, is not
AHEAD = 1e-6  # rad or m: a limit no further away than this is not ahead


class Rank(IntEnum):
    """What gives way where limits contradict each other: the highest first, as little as can be.

    A robot cannot do what its motors cannot. Of the others, those on the present come before those on the future: an
    acceleration is had now, a velocity at the end of the step, and rows of positions ask for room to brake in what may yet be
    many steps. A robot that was within all of them is in no such conflict; one that was too fast brakes as well as it can.
    """

    EFFORT = 0
    ACCELERATION = 1
    VELOCITY = 2
    POSITION = 3


_OF_PLACES = int(Rank.POSITION)


class LimitRows(NamedTuple):
    """l ≤ C x ≤ u: ``C`` (..., c, nv), ``lower`` and ``upper`` (..., c), finite or not, and the limits behind both sides."""

    C: Array
    lower: Array
    upper: Array
    gaps: Array
    """How far within both limits the robot is (..., c, 2), in units of the limits, as far as that is worth saying."""
    scale: Array
    offset: Array
    """What a row means is ``scale`` C x + ``offset`` (..., c), in ``units``."""
    rank: Array
    """`Rank` of each row (c,)."""
    entry: Array
    """k of the rows that are x_k itself (c,), −1 of others."""
    pairs: tuple[Pair, ...]
    units: tuple[str, ...]

    def limit(self, k: int, side: int) -> JointLimit:
        """The limit behind a row of one state, 0 the lower and 1 the upper one, with where the robot is."""
        limit, gap = self.pairs[k][side], float(self.gaps[k, side])
        if gap < -ROUNDING:
            return replace(limit, beyond=-gap)
        return replace(limit, before=gap) if gap > AHEAD else limit

    def meaning(self, k: int, value: float) -> float:
        """What a value of C x is, in ``units``."""
        return float(self.scale[k] * value + self.offset[k])

    def allow_nothing(self) -> bool:
        """Whether x = 0 is within the limits of one state, rounding aside."""
        return max(np.maximum(self.lower, -self.upper).tolist(), default=0.0) <= FEASIBLE

    def largest(self) -> Array:
        """The largest |x| (nv,) of each entry that its own limits allow in one state, infinite where there are none."""
        nv = self.C.shape[1]
        own = _own_rows(tuple(self.entry.tolist()), nv)
        if not len(own.entries):
            return np.full(nv, np.inf)
        most: Array = np.minimum.reduceat(np.maximum(np.abs(self.lower), np.abs(self.upper))[own.rows], own.starts)
        return most if own.are_all else _spread(most, own.entries, nv, np.inf)

    def at(self, state: tuple[int, ...]) -> LimitRows:
        """Those of one state of a batch; a row for each of two limits of one number that contradict each other."""
        rows = self
        if state:
            numbers: list[Any] = [x if x.ndim == own else x[state] for x, own in zip(self[:6], _AXES, strict=True)]
            rows = LimitRows._make([*numbers, *self[6:]])
        if True not in (rows.lower > rows.upper).tolist():
            return rows
        contrary = np.flatnonzero(rows.lower > rows.upper)
        # As of a number too fast in a narrow range: two rows, so that both can yield.
        split = rows.some(contrary)
        lower = rows.lower.copy()
        lower[contrary] = -np.inf
        return all_rows(
            rows.C.shape[1], [rows._replace(lower=lower), split._replace(upper=np.full(len(contrary), np.inf))]
        )

    def some(self, at: Array) -> LimitRows:
        """Some rows of one state."""

        def take(x: Any) -> Any:
            return tuple(x[k] for k in at) if isinstance(x, tuple) else x[at]

        return LimitRows(*(take(x) for x in self))


_AXES = 2, 1, 1, 2, 1, 1  # of the numbers of one state, in the order of the fields


class TightRows(NamedTuple):
    """The same bounds in as few rows: those that are no entry, and one for each entry of x, the tightest on both sides."""

    C: Array
    lower: Array
    upper: Array
    entries: Array | None
    """k of each row x_k (t,), rising; None if there are others."""
    are_all: bool
    """Whether the rows are x itself, C = 1."""

    def values(self, x: Array) -> Array:
        """C x (t,)."""
        return x if self.are_all else self.C.dot(x)

    def bounds_of_entries(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds of all entries of x (nv,), of those of the rows (t,) that have entries."""
        if self.are_all or self.entries is None:
            return lower, upper
        nv = self.C.shape[1]
        return _spread(lower, self.entries, nv, -np.inf), _spread(upper, self.entries, nv, np.inf)


def _spread(x: Array, entries: Array, nv: int, empty: float) -> Array:
    """Numbers of entries among all (nv,)."""
    spread = np.full(nv, empty)
    spread[entries] = x
    return spread


class Within:
    """The limits of one state that levels keep, which do not contradict each other."""

    def __init__(self, rows: LimitRows) -> None:
        self.rows = rows

    @once
    def tight(self) -> TightRows:
        """The same limits in as few rows."""
        return tight_rows(self.rows)

    def allow(self, x: Array) -> bool:
        """Whether x (nv,) is within them, rounding aside."""
        tight = self.tight
        values = tight.values(x)
        over = np.maximum(values - tight.upper, tight.lower - values)
        most = max(over.tolist(), default=0.0)
        if most <= FEASIBLE or most > FEASIBLE * max(1.0, *map(abs, values.tolist())):
            return most <= FEASIBLE
        return bool((over <= FEASIBLE * np.maximum(1.0, np.abs(values))).all())

    def room(self, x: Array, towards: Array) -> float:
        """How far from x (nv,) along ``towards`` (nv,) they allow, 0 from beyond them."""
        tight = self.tight
        values, rates = tight.values(x), tight.values(towards)
        moving = np.abs(rates) > FEASIBLE
        bounds = np.where(rates > 0.0, tight.upper, tight.lower)
        return max(float(((bounds - values)[moving] / rates[moving]).min(initial=np.inf)), 0.0)

    def of_places(self, multipliers: Array, held: Array) -> Array:
        """Which of the tight rows ``held`` (t,) are limits of places, at the sides that the signs of multipliers say."""
        rows, places = self.rows, np.zeros(len(held), bool)
        lower, upper, rank = rows.lower.tolist(), rows.upper.tolist(), rows.rank.tolist()
        sources, signs = _own_rows(tuple(rows.entry.tolist()), rows.C.shape[1]).sources, multipliers.tolist()
        for k in held.nonzero()[0].tolist():
            mine = sources[k]
            row = min(mine, key=upper.__getitem__) if signs[k] > 0.0 else max(mine, key=lower.__getitem__)
            if rank[row] == _OF_PLACES:
                places[k] = True
        return places


def tight_rows(rows: LimitRows) -> TightRows:
    """Rows without those that others of the same entry make idle."""
    C, lower, upper = rows.C, rows.lower, rows.upper
    own = _own_rows(tuple(rows.entry.tolist()), C.shape[1])
    if not len(own.entries):
        return TightRows(C, lower, upper, None, False)
    highest: Array = np.maximum.reduceat(lower[own.rows], own.starts)
    lowest: Array = np.minimum.reduceat(upper[own.rows], own.starts)
    if not len(own.others):
        return TightRows(own.units, highest, lowest, own.entries, own.are_all)
    C, lower, upper = (
        np.concatenate([x[own.others], y]) for x, y in ((C, own.units), (lower, highest), (upper, lowest))
    )
    return TightRows(C, lower, upper, None, False)


class _OwnRows(NamedTuple):
    """Which rows are entries of x, and which are not."""

    others: Array
    """Rows that are no entry of x."""
    rows: Array
    """Rows that are entries, in the order of entries."""
    starts: Array
    """Where in ``rows`` those of each entry begin (t,)."""
    entries: Array
    """k of each entry that has rows (t,), rising."""
    sources: tuple[list[int], ...]
    """The rows that each tight row is made of: ``others``, one each, then those of ``entries``."""
    units: Array
    """The rows x_k of these entries (t, nv)."""
    are_all: bool
    """Whether all entries have rows, and there are no others."""


@lru_cache(maxsize=64)
def _own_rows(entry: tuple[int, ...], nv: int) -> _OwnRows:
    """Of the entries k of rows, −1 of others."""
    own = np.array(entry, int)
    (others,), rows = np.nonzero(own < 0), np.argsort(own, kind="stable")
    rows = rows[len(others) :]
    entries, starts = np.unique(own[rows], return_index=True)
    are_all = not len(others) and len(entries) == nv
    sources = [[int(k)] for k in others] + [np.flatnonzero(own == entry).tolist() for entry in entries]
    return _OwnRows(others, rows, starts, entries, tuple(sources), np.eye(nv)[entries], are_all)


def first_guess(rows: LimitRows, nv: int) -> tuple[Array, LimitRows, Array]:
    """An x within limits; where they contradict each other, as near as can be to those that give way first.

    Also the rows with which that is feasible, and how much each had to give way (c,).
    """
    excess, x = np.zeros(len(rows.lower)), np.zeros(nv)
    if rows.allow_nothing():
        return x, rows, excess
    x = _nearest_to_nothing(rows, nv)
    if not _outside(rows, x).any():
        return x, rows, excess
    for rank in np.unique(rows.rank):
        at = np.flatnonzero(rows.rank == rank)
        if _outside(rows, x)[at].any():
            x, excess[at] = _within(rows, excess, at, x)
    eased = rows._replace(lower=rows.lower - np.maximum(excess, 0.0), upper=rows.upper - np.minimum(excess, 0.0))
    return x, eased, excess


def _nearest_to_nothing(rows: LimitRows, nv: int) -> Array:
    """The x nearest to 0 within all limits of its own entries, if each of them has such values: most often that is all."""
    own = rows.entry >= 0
    lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
    np.maximum.at(lower, rows.entry[own], rows.lower[own])
    np.minimum.at(upper, rows.entry[own], rows.upper[own])
    return np.asarray(np.minimum(np.maximum(lower, 0.0), np.maximum(upper, lower)))


def _outside(rows: LimitRows, x: Array) -> Array:
    """Which rows x does not satisfy (c,), rounding aside."""
    values = rows.C @ x
    far = FEASIBLE * np.maximum(1.0, np.abs(values))
    return np.asarray((values < rows.lower - far) | (values > rows.upper + far))


def _within(rows: LimitRows, excess: Array, at: Array, x: Array) -> tuple[Array, Array]:
    """An x within rows ``at``, or as near as those of lower rank (eased by ``excess``) allow; and how much those lack."""
    nv, k = len(x), len(at)
    before = np.flatnonzero(rows.rank < rows.rank[at[0]])
    # Unknowns (w, s), x + w the result: rows ``at`` have l ≤ C (x + w) + s ≤ u and s is to be small; w = 0 is within limits.
    lacking = np.clip(rows.C[at] @ x, rows.lower[at], rows.upper[at]) - rows.C[at] @ x
    C = np.zeros((len(before) + k, nv + k))
    C[:, :nv] = rows.C[np.concatenate([before, at])]
    C[len(before) :, nv:] = np.eye(k)
    both = np.concatenate([before, at])
    eased = np.maximum(excess[both], 0.0), np.minimum(excess[both], 0.0)
    offset = rows.C[both] @ x + np.concatenate([np.zeros(len(before)), lacking])
    lower = np.minimum(rows.lower[both] - eased[0] - offset, 0.0)
    upper = np.maximum(rows.upper[both] - eased[1] - offset, 0.0)
    A = np.eye(nv + k)[nv:]
    found = least_squares_within(A, -lacking, C, lower, upper).w
    s = found[nv:] + lacking
    far = FEASIBLE * max(1.0, float(np.abs(lacking).max(initial=0.0)))
    return x + found[:nv], np.where(np.abs(s) > far, s, 0.0)


def no_limits(nv: int) -> LimitRows:
    """Limits without any row."""
    none, nowhere = np.zeros(0), np.zeros(0, int)
    return LimitRows(np.zeros((0, nv)), none, none, np.zeros((0, 2)), none, none, nowhere, nowhere, (), ())


def all_rows(nv: int, blocks: Sequence[LimitRows]) -> LimitRows:
    """Those of all blocks, of one state or of batches."""
    if not blocks:
        return no_limits(nv)
    if len(blocks) == 1:
        return blocks[0]
    joined: list[Any] = []
    for given, own in zip(zip(*(block[:6] for block in blocks), strict=True), _AXES, strict=True):
        parts = list(given)
        if any(x.ndim > own for x in parts):
            batch = np.broadcast_shapes(*(x.shape[: x.ndim - own] for x in parts))
            parts = [np.broadcast_to(x, (*batch, *x.shape[x.ndim - own :])) for x in parts]
        joined.append(np.concatenate(parts, axis=-own))
    rank, entry = (np.concatenate([block[k] for block in blocks]) for k in (6, 7))
    pairs = tuple(pair for block in blocks for pair in block.pairs)
    units = tuple(unit for block in blocks for unit in block.units)
    return LimitRows._make([*joined, rank, entry, pairs, units])


def unit_rows(
    nv: int, at: Array, lower: Array, upper: Array, pairs: tuple[Pair, ...], rank: Rank, scale: float, offset: Array
) -> LimitRows:
    """Rows x_k for k in ``at``, with the units of their limits."""
    c = len(at)
    units = tuple(upper.unit for _, upper in pairs)
    return LimitRows(
        np.eye(nv)[at],
        lower,
        upper,
        np.zeros((c, 2)),
        np.full(c, scale),
        offset,
        np.full(c, rank),
        at,
        pairs,
        units,
    )


def no_further(lower: Array, upper: Array, gaps: Array) -> tuple[Array, Array]:
    """Bounds (..., c) with which the way back from beyond one limit never leads past the other."""
    if not (gaps < -ROUNDING).any():
        return lower, upper
    below, above = gaps[..., 0] < -ROUNDING, gaps[..., 1] < -ROUNDING
    return np.where(below, np.minimum(lower, upper), lower), np.where(above, np.maximum(lower, upper), upper)
