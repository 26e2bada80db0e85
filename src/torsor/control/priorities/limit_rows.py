"""Limits as they bind what is chosen for a step, velocities or accelerations x: l ≤ C x ≤ u, row by row.

Each row knows the limit it comes from and what it means, so that what stands in the way can be named. `velocity_rows`,
`acceleration_rows` and `added_limits` make them, for one state or a batch of states.
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
from torsor.control.objectives import rate_columns
from torsor.control.priorities.braking import ROUNDING
from torsor.control.priorities.joint_limit import JointLimit, NamedLimits, Pair
from torsor.control.priorities.quadratic_program import FEASIBLE
from torsor.model import Robot

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

    def allow(self, x: Array) -> bool:
        """Whether x (..., nv) is within the limits of one state, rounding aside."""
        values = x @ self.C.T
        over = np.maximum(values - self.upper, self.lower - values)
        return bool((over <= FEASIBLE).all() or (over <= FEASIBLE * np.maximum(1.0, np.abs(values))).all())

    def allow_nothing(self) -> bool:
        """Whether x = 0 is within the limits of one state, rounding aside."""
        return bool((np.maximum(self.lower, -self.upper) <= FEASIBLE).all())

    def largest(self) -> Array:
        """The largest |x| (nv,) of each entry that its own limits allow in one state, infinite where there are none."""
        most, own = np.full(self.C.shape[1], np.inf), self.entry >= 0
        np.minimum.at(most, self.entry[own], np.maximum(np.abs(self.lower), np.abs(self.upper))[own])
        return most

    def at(self, state: tuple[int, ...]) -> LimitRows:
        """Those of one state of a batch; a row for each of two limits of one number that contradict each other."""
        rows = self
        if state:
            numbers: list[Any] = [x if x.ndim == own else x[state] for x, own in zip(self[:6], _AXES, strict=True)]
            rows = LimitRows._make([*numbers, *self[6:]])
        if not (rows.lower > rows.upper).any():
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
    """The same bounds in as few rows: one for each entry of x, the tightest on both sides, and those that are no entry."""

    C: Array
    lower: Array
    upper: Array
    rank_below: Array
    rank_above: Array
    """`Rank` of the rows that bound each below and above (t,)."""
    entries: Array | None
    """k of each row x_k (t,), rising; None if there are others."""

    def of_places(self, multipliers: Array) -> Array:
        """Which rows (t,) are limits of places, at the sides that the signs of multipliers say."""
        rank: Array = np.where(multipliers > 0.0, self.rank_above, self.rank_below)
        return np.asarray(rank == int(Rank.POSITION))


class Within:
    """The limits of one state that levels keep, which do not contradict each other."""

    def __init__(self, rows: LimitRows) -> None:
        self.rows = rows

    @once
    def tight(self) -> TightRows:
        """The same in as few rows."""
        return tight_rows(self.rows)


def tight_rows(rows: LimitRows) -> TightRows:
    """Rows without those that others of the same entry make idle."""
    C, lower, upper, rank = rows.C, rows.lower, rows.upper, rows.rank
    if not len(lower):
        return TightRows(C, lower, upper, rank, rank, rank)
    others, mine, units, entries = _entries(tuple(rows.entry.tolist()), C.shape[1])
    of_lower, of_upper = np.where(mine, lower, -np.inf), np.where(mine, upper, np.inf)
    below, above = rank[of_lower.argmax(axis=1)], rank[of_upper.argmin(axis=1)]
    tight = TightRows(units, of_lower.max(axis=1), of_upper.min(axis=1), below, above, entries)
    if not len(others):
        return tight
    rest = C[others], lower[others], upper[others], rank[others], rank[others]
    return TightRows._make([*(np.concatenate(parts) for parts in zip(rest, tight[:5], strict=True)), None])


@lru_cache(maxsize=64)
def _entries(entry: tuple[int, ...], nv: int) -> tuple[Array, Array, Array, Array]:
    """Rows that are no entry of x; for each entry that has rows, which those are; the rows x_k of these entries; and k."""
    own = np.array(entry)
    (others,), entries = np.nonzero(own < 0), np.unique(own[own >= 0])
    return others, own == entries[:, None], np.eye(nv)[entries], entries


def no_limits(nv: int) -> LimitRows:
    """No rows at all."""
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


def gaps_of(named: NamedLimits, q: Array) -> Array:
    """How far above their lower and below their upper limits numbers of q are (..., c, 2)."""
    own = q[..., named.q]
    gaps = np.empty((*own.shape, 2))
    np.subtract(own, named.lower, out=gaps[..., 0])
    np.subtract(named.upper, own, out=gaps[..., 1])
    return gaps


def rows_of_numbers(robot: Robot, named: NamedLimits, q: Array) -> Array:
    """G (..., c, nv) of the numbers of q that have limits."""
    if named.are_entries:
        return np.asarray(np.eye(robot.nv)[named.entry])
    G = np.broadcast_to(rate_columns(robot, q), (*q.shape[:-1], robot.nv, robot.nq))
    return np.ascontiguousarray(np.swapaxes(G, -1, -2)[..., named.q, :])


def braking_of_numbers(named: NamedLimits, most: Array) -> Array:
    """The acceleration that each number of q with limits can brake by (c,), of acceleration limits (nv,).

    That of its own entry; for a place whatever the axes, also if several of its numbers brake at once.
    """
    if named.are_entries:
        return np.asarray(most[named.entry])
    return np.array([float(most[list(entries)].min()) / np.sqrt(len(entries)) for entries in named.moved_by])
