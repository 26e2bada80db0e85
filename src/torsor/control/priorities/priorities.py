"""Tasks in strict order within limits, whatever is chosen: velocities or accelerations x, with what came of every task."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.control.priorities.blocking_limits import InTheWay, in_the_way, limits_reached
from torsor.control.priorities.edge_of_reach import Bend, Edge
from torsor.control.priorities.hierarchy import PRESSED, Aim, Progress, at_start, first_guess, next_level
from torsor.control.priorities.joint_limit import JointLimit
from torsor.control.priorities.limit_rows import LimitRows, Within
from torsor.control.priorities.priority_result import NOTHING, LimitConflict, Said, TaskOutcome
from torsor.tasks import Task


class Level(NamedTuple):
    """One task as least squares: |A x − b|², where b is what it wants less what it has without x."""

    task: Task
    wanted: Array
    A: Array
    b: Array
    least: float
    """What is rounding error in A, of what it usually is."""
    usual: float
    """The length of its rows, as it usually is."""
    bend: Bend
    """J̇(d) d (k, m) along directions d (k, nv)."""

    def is_done_by(self, x: Array) -> bool:
        """Whether x gives it all."""
        left = float(np.abs(self.b - self.A @ x).max(initial=0.0))
        return left <= NOTHING * max(1.0, float(np.abs(self.b).max(initial=0.0)))


class Problem(NamedTuple):
    """The levels of one state in order, its limits, and what is asked of what the levels leave free."""

    levels: Sequence[Level]
    wanted: Array
    """x_0 (nv,), what x is to be near to in the end."""
    metric: Array | None
    """L (nv, nv): near is what has the least |L (x − x_0)|; None for 1."""
    rows: LimitRows
    damping: float
    factor: float
    at_rest: Array
    """As `Edge` has it."""
    who: str

    def aims(self) -> list[Aim]:
        """The levels as they are solved."""
        levels = [(level.A, level.bend) for level in self.levels]
        largest = cache(self.rows.largest)
        return [
            Aim(
                level.A,
                level.b,
                level.least,
                self.damping,
                Edge(level.A, level.bend, levels[:k], level.usual, self.factor, self.at_rest, largest),
                {},
            )
            for k, level in enumerate(self.levels)
        ]


class Resolved:
    """The x (nv,) of a problem, and what is said of it: worked out when it is first asked for."""

    x: Array

    def __init__(self, problem: Problem) -> None:
        self._problem, self._aims = problem, problem.aims()
        nv, who = len(problem.wanted), problem.who
        self._fresh = at_start(np.zeros(nv))
        start, self._eased, self._excess = first_guess(problem.rows, nv, who)
        limits, reached = Within(self._eased), at_start(start) if start.any() else self._fresh
        self._reached = [reached]
        for aim in self._aims:
            reached = next_level(reached, aim, limits, who)
            self._reached.append(reached)
        self.x = next_level(reached, self._last(), limits, who).x

    def _last(self) -> Aim:
        """What is left is to be near to what is wanted."""
        wanted, L = self._problem.wanted, self._problem.metric
        return Aim(None, wanted) if L is None else Aim(L, L @ wanted)

    @once
    def _unlimited(self) -> list[Progress]:
        """After each level, had there been no limits."""
        free, found = self._fresh, []
        for aim in self._aims:
            free = next_level(free, aim, None, self._problem.who)
            found.append(free)
        return found

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept."""
        return not self._excess.any()

    @property
    def residuals(self) -> tuple[Array, ...]:
        """What each task was not given (m,)."""
        return tuple(level.b - level.A @ self.x for level in self._problem.levels)

    @once
    def tasks(self) -> tuple[TaskOutcome, ...]:
        """What each task was given."""
        problem, outcomes = self._problem, list[TaskOutcome]()
        bound = bool(self._reached[0].x.any())
        for k, level in enumerate(problem.levels):
            before, after = self._reached[k : k + 2]
            bound = bound or after.pressed
            unlimited = self._unlimited[k].x if bound else after.x
            alone = unlimited
            if outcomes and not level.is_done_by(unlimited):
                aim = self._aims[k] if after.at_edge else self._aims[k]._replace(edge=None, known=None)
                alone = next_level(self._fresh, aim, None, problem.who).x
            way = self._way(level, before, after) if bound else InTheWay((), ())
            outcomes.append(self._outcome(level, way, after.at_edge, unlimited, alone, outcomes))
        return tuple(outcomes)

    def _outcome(
        self,
        level: Level,
        way: InTheWay,
        at_edge: bool,
        unlimited: Array,
        alone: Array,
        before: Sequence[TaskOutcome],
    ) -> TaskOutcome:
        A, b = level.A, level.b
        own, together = (_named(self._problem.rows, limits) for limits in way)
        held = [(k + 1, limit) for k, other in enumerate(before) for limit in (*other.limits, *other.limits_together)]
        return TaskOutcome(
            level.task.title,
            level.task.labels,
            level.wanted,
            b - A @ self.x,
            b - A @ unlimited,
            b - A @ alone,
            own,
            tuple(limit for limit in together if limit not in [other for _, other in held]),
            tuple((k, limit) for k, limit in held if limit not in own),
            self._problem.damping > 0.0,
            at_edge,
        )

    def _way(self, level: Level, before: Progress, after: Progress) -> InTheWay:
        if level.is_done_by(after.x):
            return InTheWay((), ())
        small = PRESSED * max(1.0, float(np.abs(level.A.T @ level.b).max(initial=0.0)))
        return in_the_way(after.slope, before.kernel, self._eased, after.x, small, self._problem.who)

    @once
    def active_limits(self) -> tuple[JointLimit, ...]:
        """All limits that x is at."""
        at = limits_reached(self._problem.rows, self.x) & (self._excess == 0.0)[:, None]
        # The upper side first: where a row leaves no choice, both are named.
        return _named(self._problem.rows, tuple((int(k), 1 - int(side)) for k, side in np.argwhere(at[:, ::-1])))

    @once
    def conflicts(self) -> tuple[LimitConflict, ...]:
        """Limits that are not kept because others contradict them."""
        found, rows = [], self._problem.rows
        for k in map(int, np.flatnonzero(self._excess)):
            side = 0 if self._excess[k] > 0.0 else 1
            needed, given = (rows.lower, rows.upper)[side][k], rows.C[k] @ self.x
            limit = rows.limit(k, side)
            found.append(LimitConflict(limit, rows.meaning(k, needed), rows.meaning(k, given), rows.units[k]))
        return tuple(found)

    def __reduce__(self) -> tuple[Any, ...]:
        return Said, (self.x, self.tasks, self.active_limits, self.conflicts, self.feasible, self.residuals)


def _named(rows: LimitRows, limits: tuple[tuple[int, int], ...]) -> tuple[JointLimit, ...]:
    return tuple(dict.fromkeys(rows.limit(k, side) for k, side in limits))
