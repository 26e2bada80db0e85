"""Joint limits as they bind what is chosen for a step, velocities or accelerations x: l ≤ C x ≤ u, row by row.

Each row knows the limit it comes from and what it means, so that what stands in the way can be named. `velocity_rows` and
`acceleration_rows` make them.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.resolution.braking import ROUNDING
from torsor.resolution.joint_limit import JointLimit, NamedLimits, Pair
from torsor.resolution.objectives import rate_columns

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
    """l ≤ C x ≤ u: ``C`` (c, nv), ``lower`` and ``upper`` (c,), finite or not, and the limits behind both sides."""

    C: Array
    lower: Array
    upper: Array
    pairs: tuple[Pair, ...]
    rank: Array
    """`Rank` of each row (c,)."""
    entry: Array
    """k of the rows that are x_k itself (c,), −1 of others."""
    gaps: Array
    """How far within both limits the robot is (c, 2), in units of the limits, as far as that is worth saying."""
    scale: Array
    offset: Array
    """What a row means is ``scale`` C x + ``offset`` (c,), in ``units``."""
    units: tuple[str, ...]

    def limit(self, k: int, side: int) -> JointLimit:
        """The limit behind a row, 0 the lower and 1 the upper one, with where the robot is."""
        limit, gap = self.pairs[k][side], float(self.gaps[k, side])
        if gap < -ROUNDING:
            return replace(limit, beyond=-gap)
        return replace(limit, before=gap) if gap > AHEAD else limit

    def meaning(self, k: int, value: float) -> float:
        """What a value of C x is, in ``units``."""
        return float(self.scale[k] * value + self.offset[k])


class TightRows(NamedTuple):
    """The same bounds in as few rows: one for each entry of x, the tightest on both sides, and those that are no entry."""

    C: Array
    lower: Array
    upper: Array
    of_lower: Array
    of_upper: Array
    """Which of all rows bounds each below and above (t,)."""
    total: int
    """How many rows there are in all."""

    def of_all(self, multipliers: Array) -> Array:
        """Multipliers (t,), negative at lower bounds, as those of all rows."""
        found = np.zeros(self.total)
        at = np.flatnonzero(multipliers)
        found[np.where(multipliers > 0.0, self.of_upper, self.of_lower)[at]] = multipliers[at]
        return found


def tight_rows(rows: LimitRows) -> TightRows:
    """Rows without those that others of the same entry make idle."""
    C, lower, upper = rows.C, rows.lower, rows.upper
    c, (others,) = len(lower), np.nonzero(rows.entry < 0)
    if not c:
        return TightRows(C, lower, upper, others, others, 0)
    entries = np.unique(rows.entry[rows.entry >= 0])
    mine = rows.entry == entries[:, None]
    of_lower, of_upper = np.where(mine, lower, -np.inf), np.where(mine, upper, np.inf)
    return TightRows(
        np.concatenate([C[others], np.eye(C.shape[1])[entries]]),
        np.append(lower[others], of_lower.max(axis=1)),
        np.append(upper[others], of_upper.min(axis=1)),
        np.append(others, of_lower.argmax(axis=1)),
        np.append(others, of_upper.argmin(axis=1)),
        c,
    )


def no_limits(nv: int) -> LimitRows:
    """No rows at all."""
    none = np.zeros(0)
    return LimitRows(
        np.zeros((0, nv)), none, none, (), np.zeros(0, int), np.zeros(0, int), np.zeros((0, 2)), none, none, ()
    )


def all_rows(nv: int, blocks: list[LimitRows]) -> LimitRows:
    """Those of all blocks."""
    if not blocks:
        return no_limits(nv)
    rows = _joined(blocks)
    contrary = np.flatnonzero(rows.lower > rows.upper)
    if not len(contrary):
        return rows
    # Two limits of one number that contradict each other, as of one too fast in a narrow range: two rows, so that both can yield.
    split = _some(rows, contrary)
    lower, upper = rows.lower.copy(), np.full(len(contrary), np.inf)
    lower[contrary] = -np.inf
    return _joined([rows._replace(lower=lower), split._replace(upper=upper)])


def _some(rows: LimitRows, at: Array) -> LimitRows:
    def take(x: Any) -> Any:
        return tuple(x[k] for k in at) if isinstance(x, tuple) else x[at]

    return LimitRows(*(take(x) for x in rows))


def _joined(blocks: list[LimitRows]) -> LimitRows:
    def join(parts: tuple[Any, ...]) -> Any:
        return tuple(x for part in parts for x in part) if isinstance(parts[0], tuple) else np.concatenate(parts)

    return LimitRows(*(join(parts) for parts in zip(*blocks, strict=True)))


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
        pairs,
        np.full(c, rank),
        at,
        np.zeros((c, 2)),
        np.full(c, scale),
        offset,
        units,
    )


def no_further(lower: Array, upper: Array, gaps: Array) -> tuple[Array, Array]:
    """Bounds (c,) with which the way back from beyond one limit never leads past the other."""
    below, above = gaps[:, 0] < -ROUNDING, gaps[:, 1] < -ROUNDING
    return np.where(below, np.minimum(lower, upper), lower), np.where(above, np.maximum(lower, upper), upper)


def gaps_of(robot: Robot, named: NamedLimits, q: Array) -> Array:
    """How far above their lower and below their upper limits numbers of q are (c, 2)."""
    at = named.q
    lower, upper = np.array(robot.limits.lower)[at], np.array(robot.limits.upper)[at]
    return np.stack([q[at] - lower, upper - q[at]], axis=-1)


def rows_of_numbers(robot: Robot, named: NamedLimits, q: Array) -> tuple[Array, Array]:
    """G (c, nv) of the numbers of q that have limits, and the entry of v that each is the integral of (c,), or −1."""
    entry = named.entry
    if np.all(entry >= 0):
        return np.eye(robot.nv)[entry], entry
    G = np.broadcast_to(rate_columns(robot, q), (robot.nv, robot.nq)).T
    return G[named.q], entry


def braking_of_numbers(named: NamedLimits, most: Array) -> Array:
    """The acceleration that each number of q with limits can brake by (c,), of acceleration limits (nv,).

    That of its own entry; for a place whatever the axes, also if several of its numbers brake at once.
    """
    if np.all(named.entry >= 0):
        return np.asarray(most[named.entry])
    return np.array([float(most[list(entries)].min()) / np.sqrt(len(entries)) for entries in named.moved_by])
