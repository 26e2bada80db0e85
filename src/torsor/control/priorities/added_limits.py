"""Limits that a user adds to those of the robot: of places and velocities of a task, or linear ones of the user's own.

Over a step dt, a task y within l ≤ y ≤ u and |ẏ| ≤ w has the rows of a number of q with such limits, J in place of G::

    (l − y)/dt ≤ J v ≤ (u − y)/dt,       |J v| ≤ w                       velocities
    a_l − J̇ v ≤ J a ≤ a_u − J̇ v,        |J v + (J a + J̇ v) dt| ≤ w      accelerations, with a_l and a_u of `joint_limit_rows`, (3)

to first order in dt. What is beyond comes back over the time ``recovery``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, GivenTaskVector, JointVector, Scalar
from torsor.border import explained
from torsor.control.priorities.joint_limit import Pair, pair_of
from torsor.control.priorities.joint_limit_rows import acceleration_towards, velocity_towards
from torsor.control.priorities.limit_rows import ROUNDING, LimitRows, Rank, no_further
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.tasks import Task
from torsor.tasks.targets import entries

Bounds = tuple[Any, Any, Any]


class Limit:
    """Linear limits of a user's own, l ≤ C x ≤ u for the velocities or accelerations x of a step; as ``limits`` of priorities.

    A subclass says what its rows are called, and what they are in `velocities`, in `accelerations`, or in both. They are hard, as
    those of the robot are; where limits contradict each other, these give way with the position limits.
    """

    names: tuple[str, ...] = ()
    """What the rows are called in reports, one name for each."""
    unit: str = ""
    """Of C x, for reports."""

    def velocities(self, robot: Robot, q: ConfigurationVector, dt: float) -> Bounds:
        """C (..., c, nv), l and u (..., c), infinite where there is none, for the velocities of a step from ``q`` (..., nq)."""
        raise ArgumentError(f"limit {type(self).__name__}: it has no `velocities(robot, q, dt)`, so it limits none.")

    def accelerations(self, robot: Robot, q: ConfigurationVector, v: JointVector, dt: float) -> Bounds:
        """The same for the accelerations of a step from ``q`` (..., nq) and ``v`` (..., nv)."""
        raise ArgumentError(
            f"limit {type(self).__name__}: it has no `accelerations(robot, q, v, dt)`, so it limits none."
        )

    def rows(self, robot: Robot, q: Array, v: Array | None, dt: float, recovery: float) -> list[LimitRows]:
        """As priorities take them; of accelerations if ``v`` is given."""
        given = self.velocities(robot, q, dt) if v is None else self.accelerations(robot, q, v, dt)
        C, lower, upper = self._checked(robot, q.shape[:-1], given)
        pairs = tuple(pair_of(name, "", -np.inf, np.inf, self.unit) for name in self.names)
        return [_rows(C, lower, upper, pairs, Rank.POSITION, self.unit)]

    def _checked(self, robot: Robot, batch: tuple[int, ...], given: Any) -> tuple[Array, Array, Array]:
        who, c = f"limit {type(self).__name__}", len(self.names)
        try:
            C, lower, upper = (np.asarray(x, float) for x in given)
        except (TypeError, ValueError):
            raise ArgumentError(
                f"{who}: it must give C, lower and upper as arrays of numbers, got {given!r:.60}."
            ) from None
        try:
            C = np.broadcast_to(C, (*batch, c, robot.nv)) if C.ndim > 2 else np.broadcast_to(C, (c, robot.nv))
            lower, upper = (np.broadcast_to(x, (*batch, c) if x.ndim > 1 else (c,)) for x in (lower, upper))
        except ValueError:
            raise ShapeError(
                f"{who}: for {c} names, C must have shape (..., {c}, {robot.nv}) and bounds (..., {c}), got {C.shape}, "
                f"{lower.shape} and {upper.shape}."
            ) from None
        if not np.isfinite(C).all() or np.isnan(lower).any() or np.isnan(upper).any():
            raise ArgumentError(f"{who}: C must be finite, and bounds numbers or infinite.")
        if (lower == np.inf).any() or (upper == -np.inf).any() or (lower > upper).any():
            raise ArgumentError(f"{who}: lower bounds must not be above upper ones, got {lower} and {upper}.")
        return C, lower, upper


@dataclass(frozen=True)
class TaskLimit(Limit):
    """Limits of a task, made by `task_limit`: its place within ``lower`` and ``upper``, |ẏ| at most ``velocity``."""

    task: Task
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    velocity: tuple[float, ...]

    def rows(self, robot: Robot, q: Array, v: Array | None, dt: float, recovery: float) -> list[LimitRows]:
        """As priorities take them; of accelerations if ``v`` is given."""
        J = np.asarray(self.task.jacobian(robot, q))
        rate = drift = np.zeros(self.task.size)
        if v is not None:
            rate, drift = np.einsum("...mv,...v->...m", J, v), np.asarray(self.task.drift(robot, q, v))
        blocks = []
        if np.isfinite(self.velocity).any():
            blocks.append(self._speeds(J, rate, drift, dt, recovery, v is not None))
        if np.isfinite([*self.lower, *self.upper]).any():
            blocks.append(self._places(robot, q, J, rate, drift, dt, recovery, v is not None))
        return blocks

    def _speeds(self, J: Array, rate: Array, drift: Array, dt: float, recovery: float, accelerated: bool) -> LimitRows:
        most, unit = np.array(self.velocity), f"{_unit(self.task)}/s" if _unit(self.task) else ""
        pairs = self._pairs("velocity", -most, most, unit)
        if not accelerated:
            return _rows(J, -most, most, pairs, Rank.VELOCITY, unit)
        below, above = rate + most, most - rate

        def towards(gap: Array) -> Array:
            return np.asarray(np.where(gap < -ROUNDING, gap / max(dt, recovery), np.maximum(gap, 0.0) / dt))

        rows = _rows(J, -towards(below) - drift, towards(above) - drift, pairs, Rank.VELOCITY, unit)
        said = np.minimum(np.stack([below, above], axis=-1), 0.0)
        return rows._replace(gaps=said, scale=np.full(len(most), dt), offset=rate + drift * dt)

    def _places(
        self,
        robot: Robot,
        q: Array,
        J: Array,
        rate: Array,
        drift: Array,
        dt: float,
        recovery: float,
        accelerated: bool,
    ) -> LimitRows:
        y, unit = np.asarray(entries(self.task, self.task.value(robot, q))), _unit(self.task)
        gaps = np.stack([y - np.array(self.lower), np.array(self.upper) - y], axis=-1)
        if accelerated:
            free = np.full(self.task.size, np.inf)
            lower = -acceleration_towards(gaps[..., 0], -rate, dt, recovery, free)
            upper = acceleration_towards(gaps[..., 1], rate, dt, recovery, free)
        else:
            lower = -velocity_towards(gaps[..., 0], dt, recovery, None, rate)
            upper = velocity_towards(gaps[..., 1], dt, recovery, None, rate)
        lower, upper = no_further(lower, upper, gaps)
        pairs = self._pairs("position", np.array(self.lower), np.array(self.upper), unit)
        per = "/s²" if accelerated else "/s"
        rows = _rows(J, lower - drift, upper - drift, pairs, Rank.POSITION, f"{unit}{per}" if unit else "")
        return rows._replace(gaps=gaps if accelerated else np.minimum(gaps, 0.0), offset=drift)

    def _pairs(self, kind: str, lower: Array, upper: Array, unit: str) -> tuple[Pair, ...]:
        name = self.task.name
        return tuple(
            pair_of(f"{name} {label}", kind, low, high, unit)
            for label, low, high in zip(self.task.labels, lower.tolist(), upper.tolist(), strict=True)
        )


@explained
def task_limit(
    task: Task,
    *,
    lower: GivenTaskVector | Scalar | None = None,
    upper: GivenTaskVector | Scalar | None = None,
    velocity: GivenTaskVector | Scalar | None = None,
) -> TaskLimit:
    """A limit of a task, for ``limits`` of `prioritised_velocities` and `prioritised_accelerations`.

    Parameters
    ----------
    task : Task
        Of which the place is limited: a position task, a function task, or rows or stacks of such; of any task the velocity.
    lower, upper : (m,) or a number, optional
        Bounds of y, m or the unit of the function.
    velocity : (m,) or a number, optional
        Bound of |ẏ|, per s.

    Returns
    -------
    TaskLimit
        Kept to first order in the step: ``task_limit(torsor.position_task("tool", ["vz"]), lower=0.1)`` keeps a tool above
        0.1 m.
    """
    if not isinstance(task, Task):
        raise ArgumentError(
            f"`task` is made by position_task, function_task and others, got {type(task).__name__} {task!r:.60}."
        )
    bounds = [
        _numbers(task, name, x, empty)
        for name, x, empty in (("lower", lower, -np.inf), ("upper", upper, np.inf), ("velocity", velocity, np.inf))
    ]
    if lower is None and upper is None and velocity is None:
        raise ArgumentError("there is nothing to limit; pass `lower`, `upper` or `velocity`.")
    if any(low > high for low, high in zip(bounds[0], bounds[1], strict=True)):
        raise ArgumentError(f"`lower` must not be above `upper`, got {lower!r} and {upper!r}.")
    if max(bounds[0]) == np.inf or min(bounds[1]) == -np.inf:
        raise ArgumentError(f"no place is within lower={lower!r} and upper={upper!r}; None is no limit.")
    if min(bounds[2]) < 0.0:
        raise ArgumentError(f"`velocity` must not be negative, got {velocity!r}.")
    if (lower is not None or upper is not None) and not task.has_coordinates:
        raise ArgumentError(
            f"the task {task.title!r} says how fast it moves, not where it is, so only its `velocity` can be "
            "limited. Places are known of position_task and function_task, and of classes whose values are numbers."
        )
    return TaskLimit(task, *bounds)


def added_rows(limits: Any, robot: Robot, q: Array, v: Array | None, dt: float, recovery: float) -> list[LimitRows]:
    """The rows of all limits that a user adds."""
    if isinstance(limits, Limit) or not isinstance(limits, Sequence):
        raise ArgumentError(f"`limits` are a list of limits, got {limits!r:.60}.")
    blocks = []
    for limit in limits:
        if not isinstance(limit, Limit):
            raise ArgumentError(
                f"`limits` are made by task_limit, or of a class of your own derived from torsor.control.Limit, got "
                f"{type(limit).__name__} {limit!r:.60}."
            )
        blocks += limit.rows(robot, q, v, dt, recovery)
    return blocks


def _rows(C: Array, lower: Array, upper: Array, pairs: tuple[Pair, ...], rank: Rank, unit: str) -> LimitRows:
    c = len(pairs)
    return LimitRows(
        C,
        lower,
        upper,
        np.zeros((c, 2)),
        np.ones(c),
        np.zeros(c),
        np.full(c, rank),
        np.full(c, -1),
        pairs,
        (unit,) * c,
    )


def _numbers(task: Task, name: str, given: Any, empty: float) -> tuple[float, ...]:
    if given is None:
        return (empty,) * task.size
    try:
        x = np.asarray(given, float)
    except (TypeError, ValueError):
        raise ShapeError(f"`{name}` must be numbers, got {given!r:.60}.") from None
    if x.shape not in ((), (task.size,)) or np.isnan(x).any():
        raise ShapeError(
            f"`{name}` must be a number, or {task.size} for task {task.title!r} ({', '.join(task.labels)}), got "
            f"{given!r:.60}."
        )
    return tuple(float(entry) for entry in np.broadcast_to(x, (task.size,)))


def _unit(task: Task) -> str:
    """Of y, if all rows have the same."""
    units = set(task.units)
    return units.pop() if len(units) == 1 else ""
