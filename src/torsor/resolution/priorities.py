"""Tasks in strict order within limits, whatever is chosen: velocities or accelerations x, with what came of every task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import TorsorError
from torsor.model import Robot
from torsor.resolution.hierarchy import PRESSED, Progress, at_start, first_guess, next_level
from torsor.resolution.in_the_way import InTheWay, in_the_way, limits_reached
from torsor.resolution.joint_limit import JointLimit
from torsor.resolution.limit_rows import LimitRows, no_limits, tight_rows
from torsor.resolution.priority_result import NOTHING, LimitConflict, TaskOutcome
from torsor.tasks import Task
from torsor.tasks.usual import VANISHED, usual_rows


class Level(NamedTuple):
    """One task as least squares: |A x − b|², where b is what it wants less what it has without x."""

    task: Task
    wanted: Array
    A: Array
    b: Array
    least: float
    """What is rounding error in A, of what it usually is."""

    def is_done_by(self, x: Array) -> bool:
        """Whether x gives it all."""
        left = float(np.abs(self.b - self.A @ x).max(initial=0.0))
        return left <= NOTHING * max(1.0, float(np.abs(self.b).max(initial=0.0)))


class Resolved(NamedTuple):
    """x (nv,), and what is said of it."""

    x: Array
    tasks: tuple[TaskOutcome, ...]
    active_limits: tuple[JointLimit, ...]
    conflicts: tuple[LimitConflict, ...]


class _Reached(NamedTuple):
    """What is known of a level besides x: the limits in its way, and what it would be given without limits, and alone."""

    way: InTheWay
    unlimited: Array
    alone: Array


def resolve(levels: Sequence[Level], last: tuple[Array, Array], rows: LimitRows, damping: float, who: str) -> Resolved:
    """The x of all levels in order, then of ``last`` (A, b) which has full rank, within limits."""
    nv = rows.C.shape[1]
    start, eased, excess = first_guess(rows, nv, who)
    tight, none = tight_rows(eased), tight_rows(no_limits(nv))
    fresh = at_start(np.zeros(nv))
    limited, unlimited, bound = at_start(start), fresh, bool(start.any())
    reached: list[_Reached] = []
    for level in levels:
        before, free = limited, unlimited if bound else limited
        limited = next_level(limited, level.A, level.b, tight, level.least, damping, who)
        bound = bound or limited.pressed
        unlimited = next_level(free, level.A, level.b, none, level.least, damping, who) if bound else limited
        by_itself = unlimited
        if reached and not level.is_done_by(unlimited.x):
            by_itself = next_level(fresh, level.A, level.b, none, level.least, damping, who)
        way = _way(level, before, limited, eased, who) if bound else InTheWay((), ())
        reached.append(_Reached(way, unlimited.x, by_itself.x))
    x = next_level(limited, *last, tight, 0.0, 0.0, who).x
    outcomes: list[TaskOutcome] = []
    for level, result in zip(levels, reached, strict=True):
        outcomes.append(_outcome(level, x, result, rows, outcomes, damping))
    return Resolved(x, tuple(outcomes), _active(rows, excess, x), _conflicts(rows, excess, x))


def _outcome(
    level: Level, x: Array, reached: _Reached, rows: LimitRows, before: Sequence[TaskOutcome], damping: float
) -> TaskOutcome:
    task, wanted, A, b, _ = level
    alone, together = (_named(rows, limits) for limits in reached.way)
    held = [(k + 1, limit) for k, other in enumerate(before) for limit in (*other.limits, *other.limits_together)]
    return TaskOutcome(
        task.title,
        task.labels,
        wanted,
        b - A @ x,
        b - A @ reached.unlimited,
        b - A @ reached.alone,
        alone,
        tuple(limit for limit in together if limit not in [other for _, other in held]),
        tuple((k, limit) for k, limit in held if limit not in alone),
        damping > 0.0,
    )


def _way(level: Level, before: Progress, after: Progress, rows: LimitRows, who: str) -> InTheWay:
    if level.is_done_by(after.x):
        return InTheWay((), ())
    small = PRESSED * max(1.0, float(np.abs(level.A.T @ level.b).max(initial=0.0)))
    return in_the_way(after.slope, before.kernel, rows, after.x, small, who)


def _named(rows: LimitRows, limits: tuple[tuple[int, int], ...]) -> tuple[JointLimit, ...]:
    return tuple(dict.fromkeys(rows.limit(k, side) for k, side in limits))


def _active(rows: LimitRows, excess: Array, x: Array) -> tuple[JointLimit, ...]:
    at = limits_reached(rows, x) & (excess == 0.0)[:, None]
    # The upper side first: where a row leaves no choice, both are named.
    return _named(rows, tuple((int(k), 1 - int(side)) for k, side in np.argwhere(at[:, ::-1])))


def _conflicts(rows: LimitRows, excess: Array, x: Array) -> tuple[LimitConflict, ...]:
    found = []
    for k in map(int, np.flatnonzero(excess)):
        side = 0 if excess[k] > 0.0 else 1
        needed, given = (rows.lower, rows.upper)[side][k], rows.C[k] @ x
        limit = rows.limit(k, side)
        found.append(LimitConflict(limit, rows.meaning(k, needed), rows.meaning(k, given), rows.units[k]))
    return tuple(found)


def level_of(who: str, robot: Robot, task: Task, wanted: Array, A: Array, b: Array) -> Level:
    """A level of finite numbers; rows of A that are all rounding error, beside what they usually are, become 0."""
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise TorsorError(f"{who}: task {task.title!r} has numbers that are not finite.")
    usual = usual_rows(task, robot)
    never = usual <= VANISHED * max(1.0, float(usual.max(initial=0.0)))
    vanished = never | (np.linalg.norm(A, axis=1) <= VANISHED * usual)
    return Level(task, wanted, np.where(vanished[:, None], 0.0, A), b, VANISHED * float(np.linalg.norm(usual)))
