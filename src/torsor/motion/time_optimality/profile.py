"""ṡ² along a path in least time: limits, controllable sets, the greedy pass, and again where limits were not met quite."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.time_optimality.between_points import Excess, excess, with_middles
from torsor.motion.time_optimality.ceiling import ceiling, floor
from torsor.motion.time_optimality.controllable import Sets, controllable, controllable_from_rest
from torsor.motion.time_optimality.greedy import fastest
from torsor.motion.time_optimality.intervals import Grid, Limits, bounds_of_intervals
from torsor.motion.time_optimality.retimed import times_of_intervals
from torsor.motion.time_optimality.rows import Derivatives, JointLimits, Rows
from torsor.motion.time_optimality.speeds import at_points

TOLERANCE = 1e-4  # part of a limit by which it may be left between points
SETTLED = 1e-7  # part of the duration that tangents of friction may still change
MOST_PASSES = 20
SLOWER = 0.1  # part of ṡ² about which friction is linear next where a tangent leaves no motion
FIRST_PASSES = 3  # in which tangents of friction settle, before bounds are drawn in


@dataclass(frozen=True, eq=False)
class Profile:
    """What was found: ``x`` = ṡ² (B, N + 1), NaN for paths that cannot be followed.

    ``duration`` (B,) is how long it takes, s, ``ceilings`` (B, N + 1) the maximum velocity curve, ``sets`` the controllable sets,
    ``excess`` (B,) the largest part of a limit by which it is left between points, ``settled`` (B,) whether nothing was left to
    be done, ``can_rest`` whether the limits allow for rest anywhere on all paths.
    """

    x: Array
    duration: Array
    ceilings: Array
    sets: Sets
    excess: Array
    settled: Array
    passes: int
    can_rest: bool

    def where(self, chosen: Array, other: Profile) -> Profile:
        """This profile for the ``chosen`` (B,), the other for the rest."""
        column = chosen[:, None]
        sets = Sets(*(np.where(column, x, y) for x, y in zip(self.sets, other.sets, strict=True)))
        return Profile(
            np.where(column, self.x, other.x),
            np.where(chosen, self.duration, other.duration),
            np.where(column, self.ceilings, other.ceilings),
            sets,
            np.where(chosen, self.excess, other.excess),
            np.where(chosen, self.settled, other.settled),
            other.passes,
            other.can_rest,
        )

    def only(self, some: slice) -> Profile:
        """The profiles of some paths."""
        return replace(
            self,
            x=self.x[some],
            duration=self.duration[some],
            ceilings=self.ceilings[some],
            sets=Sets(*(y[some] for y in self.sets)),
            excess=self.excess[some],
            settled=self.settled[some],
        )

    @classmethod
    def joined(cls, parts: list[Profile]) -> Profile:
        """The profiles of several groups of paths."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.x for part in parts]),
            np.concatenate([part.duration for part in parts]),
            np.concatenate([part.ceilings for part in parts]),
            Sets(*(np.concatenate(x) for x in zip(*(part.sets for part in parts), strict=True))),
            np.concatenate([part.excess for part in parts]),
            np.concatenate([part.settled for part in parts]),
            max(part.passes for part in parts),
            all(part.can_rest for part in parts),
        )


class Ends(NamedTuple):
    """x = ṡ² at the beginning and at the end of each path (B,), and the points where it must be 0 (B, N + 1)."""

    start: Array
    end: Array
    halts: Array


def fastest_profile(robot: Robot, path: Derivatives, grid: Grid, limits: JointLimits, ends: Ends) -> Profile:
    """The profile of least time."""
    rows = Rows(robot, path, limits)
    speeds = np.where(ends.halts, 0.0, at_points(path.fastest))
    margin, kept = Excess(0.0, 0.0), None
    x, took, done = None, np.full(len(ends.start), np.inf), np.zeros(len(ends.start), bool)
    for passes in range(1, MOST_PASSES + 1):
        found = _passes(rows.about(x, margin, grid), grid, speeds, ends)
        before, took = took, found.duration
        feasible = ~np.isnan(took)
        x, again = _linear_about(rows, x, found.x, speeds)
        beyond = excess(rows.at(with_middles(x)), grid, x, rows.scale, sudden=rows.friction.depends_on_speed)
        worst = np.maximum(beyond.below, beyond.above).max(axis=(1, 2), initial=0.0)
        found = replace(found, excess=np.where(feasible, worst, 0.0), passes=passes)
        kept = found if kept is None else kept.where(done, found)  # those that are done do not wait for the others
        settled = np.abs(took - before) <= SETTLED * took if rows.friction.depends_on_speed else True
        done |= ~again & (~feasible | (settled & (worst <= TOLERANCE)))
        if np.all(done):
            break
        if not rows.friction.depends_on_speed or passes > FIRST_PASSES:
            growing = (feasible & (worst > TOLERANCE))[:, None, None]
            margin = Excess(
                *(
                    m + np.where(growing, np.maximum(v * rows.scale, 0.0), 0.0)
                    for m, v in zip(margin, beyond, strict=True)
                )
            )
    assert kept is not None
    return replace(kept, settled=done)


def _linear_about(rows: Rows, before: Array | None, found: Array, speeds: Array) -> tuple[Array, Array]:
    """ṡ² (B, N + 1) about which friction is linear next, and which paths must be followed again for that (B,)."""
    feasible = ~np.isnan(found[:, 0])
    if not rows.friction.depends_on_speed:
        return np.where(feasible[:, None], found, speeds), np.zeros(len(found), bool)
    if before is None:
        return np.where(feasible[:, None], found, speeds), feasible
    if np.all(feasible):
        return found, ~feasible
    # A tangent about too fast a motion has friction at rest: it says nothing of slower ones
    return np.where(feasible[:, None], found, np.minimum(SLOWER * before, rows.lasting())), ~feasible


def _passes(limits: Limits, grid: Grid, speeds: Array, ends: Ends) -> Profile:
    """The speeds found by a pass backward over the intervals and then one forward."""
    start, end, halts = ends
    count = len(grid.spacing)
    bounds, room, rests = bounds_of_intervals(limits, grid, speeds[:, :count])
    can_rest = rests and not np.any(end)
    ceilings = ceiling(bounds, speeds[:, :count], room)
    if can_rest:
        sets = controllable_from_rest(bounds, grid, ceilings, end)
    else:
        sets = controllable(bounds, grid, floor(bounds), ceilings, end)
    rounding = 1e-9 * np.abs(start)
    feasible = np.all(sets.most >= 0.0, axis=1) & (start <= sets.most[:, 0] + rounding)
    feasible &= (start >= sets.least[:, 0] - rounding) & (end <= speeds[:, count] * (1.0 + 1e-9))
    x = fastest(bounds, grid, sets, np.clip(start, sets.least[:, 0], np.maximum(sets.most[:, 0], 0.0)))
    x = np.where(feasible[:, None], x, np.nan)
    whole = np.concatenate([ceilings, speeds[:, count : count + 1]], axis=1)
    took = np.cumsum(times_of_intervals(x, grid.points, halts), axis=-1)[:, -1]  # added up as the motion does
    return Profile(x, took, whole, sets, np.zeros(len(start)), feasible, 1, can_rest)
