"""Tasks in strict order within limits, whatever is chosen: velocities or accelerations x, with what came of every task.

**Limits in the way** of a level are those by whose loosening alone it would be given more, all levels before it held. With K a
basis of what the levels before leave free and f the slope that is left of this one, an optimum has multipliers ::

    Kᵀ f = Σ μ_i Kᵀ c_i,    μ ≥ 0       over all limits c_i that it is at                          (1)

They need not be unique: limits may be dependent in what K leaves of them. Loosening limit i lowers what is left at first by the
least μ_i of all solutions of (1), and by nothing at all if that is 0, for what is left is convex in the limits. So it is in the
way if and only if (1) has no solution without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.control.priorities.edge_of_reach import Bend, Edge
from torsor.control.priorities.hierarchy import PRESSED, Aim, Progress, at_start, next_level
from torsor.control.priorities.joint_limit import JointLimit
from torsor.control.priorities.limit_rows import LimitRows, Within, first_guess
from torsor.control.priorities.priority_result import NOTHING, LimitConflict, Said, TaskOutcome
from torsor.control.priorities.quadratic_program import least_squares_within
from torsor.tasks import Task

AT_LIMIT = 1e-7  # how near to a limit a value is at it, relative
RANK = 1e-9  # of rows of limits, all about 1: what is left of one by less than this cannot be changed


class Level(NamedTuple):
    """One task as least squares: |A x − b|², where b is what it wants less what it has without x."""

    task: Task
    wanted: Array
    A: Array
    b: Array
    least: float
    """What counts for nothing in A, of what it usually is."""
    usual: float
    """The length of its rows, as it usually is."""
    bend: Bend
    """J̇(d) d (k, m) along directions d (k, nv)."""

    def is_done_by(self, x: Array) -> bool:
        """Whether x gives the task all that it wants."""
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
    held: bool
    """As `Edge` has them."""

    def aims(self) -> list[Aim]:
        """The levels as they are solved."""
        levels = [(level.A, level.bend, level.usual) for level in self.levels]
        largest = cache(self.rows.largest)
        return [
            Aim(
                level.A,
                level.b,
                level.least,
                self.damping,
                Edge(
                    level.A,
                    level.bend,
                    [before for before in levels[:k] if before[2] > 0.0],  # one that never moves anything holds nothing
                    level.usual,
                    self.factor,
                    self.at_rest,
                    largest,
                    self.held,
                ),
                {},
            )
            for k, level in enumerate(self.levels)
        ]


class Resolved:
    """The x (nv,) of a problem, and what is said of it: worked out when it is first asked for."""

    x: Array

    def __init__(self, problem: Problem) -> None:
        self._problem, self._aims = problem, problem.aims()
        nv = len(problem.wanted)
        self._fresh = at_start(np.zeros(nv))
        start, self._eased, self._excess = first_guess(problem.rows, nv)
        limits, reached = Within(self._eased), at_start(start) if start.any() else self._fresh
        self._reached = [reached]
        self.x = self._lowest(reached, (*self._aims, self._last()), limits, self._reached)

    def _lowest(
        self, reached: Progress, aims: Sequence[Aim], limits: Within, listed: list[Progress] | None = None
    ) -> Array:
        """What is reached by these levels in order (nv,): the mean over what the first of them releases, from 0 to 1.

        ``listed`` is given what is reached after each level but the last where none releases anything.
        """
        if len(aims) == 1:
            return next_level(reached, aims[0], limits).x
        x, released = np.zeros(len(reached.x)), 0.0
        while released < 1.0:
            after = next_level(reached, aims[0], limits, released)
            if listed is not None:
                listed.append(after)
            x = x + (after.until - released) * self._lowest(after, aims[1:], limits, listed)
            released, listed = after.until, None
        return x

    def _last(self) -> Aim:
        """What is left is to be near to what is wanted."""
        wanted, L = self._problem.wanted, self._problem.metric
        return Aim(None, wanted) if L is None else Aim(L, L @ wanted)

    @once
    def _unlimited(self) -> list[Progress]:
        """After each level, had there been no limits."""
        free, found = self._fresh, []
        for aim in self._aims:
            free = next_level(free, aim, None)
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
                alone = next_level(self._fresh, aim, None).x
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
        return in_the_way(after.slope, before.kernel, self._eased, after.x, small)

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


def in_the_way(f: Array, K: Array, rows: LimitRows, x: Array, small: float) -> InTheWay:
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
    mu = _multipliers(B, g)
    used = mu > small
    alone = np.array([used[i] and _left(np.delete(B, i, axis=1), g) > small for i in range(len(at))])
    if _left(B[:, alone], g) <= small:
        return InTheWay(_pairs(at, alone), ())
    # The others that (1) can have: with a little of them taken for granted, it still has a solution.
    some = 1e-3 * float(mu.max())
    others = [used[i] or _left(B, g - some * B[:, i]) <= small for i in range(len(at))]
    return InTheWay(_pairs(at, alone), _pairs(at, np.array(others) & ~alone))


def _multipliers(B: Array, g: Array) -> Array:
    """μ ≥ 0 (c,) with the least |B μ − g|."""
    size, c = float(np.linalg.norm(g)), B.shape[1]
    return size * least_squares_within(B, g / size, np.eye(c), np.zeros(c), np.full(c, np.inf)).w


def _left(B: Array, g: Array) -> float:
    if not B.shape[1]:
        return float(np.linalg.norm(g))
    return float(np.linalg.norm(g - B @ _multipliers(B, g)))


def _pairs(at: Array, chosen: Array) -> tuple[tuple[int, int], ...]:
    return tuple((int(k), int(side)) for k, side in at[chosen])
