"""Joint velocities for several tasks in strict order of priority, within joint limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, TaskVector
from torsor.errors import ShapeError, TorsorError
from torsor.model import Robot
from torsor.resolution.hierarchy import Progress, first_guess, next_level
from torsor.resolution.limit_rows import JointLimit, LimitRows, limit_rows, no_limits
from torsor.resolution.priority_result import LimitConflict, PrioritisedVelocities, TaskOutcome
from torsor.resolution.quadratic_program import piqp_module
from torsor.resolution.resolved_rate import check_rows
from torsor.tasks import Task, as_task

WHO = "prioritised_velocities"
AT_LIMIT = 1e-7  # how near to a limit a velocity is at it, relative


class Level(NamedTuple):
    """One task as least squares: |A v − b|²."""

    task: Task
    A: Array
    b: Array


def prioritised_velocities(
    robot: Robot,
    q: ConfigurationVector,
    tasks: Sequence[tuple[Task | str, TaskVector]],
    dt: float,
    *,
    null: JointVector | None = None,
    metric: JointMatrix | None = None,
    position_limits: bool = True,
    velocity_limits: bool = True,
    recovery: float = 0.1,
    damping: float = 0.0,
) -> PrioritisedVelocities:
    """The v within limits that does the first task as well as can be, then the second, and so on [KLW11; EMW14].

    Every task is least squares, |ẏ − J v|², among all v that do the tasks before it equally well: none takes anything from those
    before it. What all of them leave free goes to ``null`` v_0: the least (v − v_0)ᵀ W (v − v_0) remains. Without limits in the
    way it is v_0 + K (ẏ − J v_0) of `resolved_rate` for one task, and the recursion of null spaces for several.

    Limits are hard in every level: |v| of the robot's velocity limits, and its position limits at the end of a step ``dt``
    (exactly for joints with one number, to first order for the place of planar and free ones). A robot beyond a position
    limit comes back over the time ``recovery``; if velocity limits do not let it, it comes back as fast as they do and the result
    names the limits. Tasks that contradict each other, limits or the robot's abilities give up what they must: print the
    result.

    One configuration at a time. ``q`` (nq,), rad or m; ``tasks`` pairs (task, ẏ (m,)), highest priority first; ``dt``,
    ``recovery``, s; ``null`` (nv,), rad/s or m/s, zero if not given; ``metric`` W (nv, nv), 1 if not given; ``damping`` d ≥ 0 in
    units of J adds d² |change of v|² to every task, for motions that stay small near singularities where no velocity limit does
    it. Needs the QP solver of ``pip install 'torsor[qp]'``.
    """
    piqp_module(WHO)
    q = _vector("q", q, robot.nq)
    _check_numbers(dt=(dt, True), recovery=(recovery, False), damping=(damping, False))
    levels = [_level(robot, q, *_pair(pair)) for pair in tasks]
    rows = limit_rows(robot, q, dt, recovery, position=position_limits, velocity=velocity_limits)
    start, eased, excess = first_guess(rows, robot.nv, WHO)
    fresh = Progress(np.zeros(robot.nv), np.eye(robot.nv), np.zeros(0))
    limited, unlimited, none = start, fresh, no_limits(robot.nv)
    bound, reached = bool(start.x.any()), []
    for level in levels:
        before = limited if not bound else unlimited
        limited = next_level(limited, level.A, level.b, eased, damping, WHO)
        bound = bound or bool(limited.pressed.any())
        unlimited = next_level(before, level.A, level.b, none, damping, WHO) if bound else limited
        alone = next_level(fresh, level.A, level.b, none, damping, WHO)
        reached.append((limited.pressed, unlimited.x, alone.x))
    v = next_level(limited, *_nearness(robot, null, metric), eased, 0.0, WHO).x
    outcomes = [_outcome(level, v, rows, *how) for level, how in zip(levels, reached, strict=True)]
    return PrioritisedVelocities(v, tuple(outcomes), _active(rows, excess, v), _conflicts(rows, excess, v))


def _nearness(robot: Robot, null: Any, metric: Any) -> tuple[Array, Array]:
    """The last level: |Lᵀ (v − v_0)|² with L Lᵀ = W."""
    wanted = np.zeros(robot.nv) if null is None else _vector("null", null, robot.nv)
    if metric is None:
        return np.eye(robot.nv), wanted
    W = np.asarray(metric, float)
    if W.shape != (robot.nv, robot.nv):
        raise ShapeError(f"{WHO}: `metric` must have shape ({robot.nv}, {robot.nv}), got {W.shape}.")
    try:
        A = np.linalg.cholesky(W).T
    except np.linalg.LinAlgError:
        raise TorsorError(f"{WHO}: `metric` must be symmetric and positive definite.") from None
    return A, A @ wanted


def _outcome(level: Level, v: Array, rows: LimitRows, pressed: Array, unlimited: Array, alone: Array) -> TaskOutcome:
    task, A, b = level
    significant = 1e-7 * max(1.0, float(np.abs(b).max(initial=0.0)))
    sides = np.where(pressed > significant, 1, np.where(pressed < -significant, 0, -1))
    names = _distinct([rows.names[k][side] for k, side in enumerate(sides) if side >= 0])
    return TaskOutcome(task.name, task.labels, b, b - A @ v, b - A @ unlimited, b - A @ alone, names)


def _active(rows: LimitRows, excess: Array, v: Array) -> tuple[JointLimit, ...]:
    values = rows.C @ v
    found = []
    for k in np.flatnonzero(excess == 0.0):
        lower, upper = rows.names[k]
        near = AT_LIMIT * max(1.0, abs(values[k]))
        if values[k] >= rows.upper[k] - near:
            found.append(upper)
        if values[k] <= rows.lower[k] + near:
            found.append(lower)
    return _distinct(found)


def _conflicts(rows: LimitRows, excess: Array, v: Array) -> tuple[LimitConflict, ...]:
    found = []
    for k in np.flatnonzero(excess):
        side = 0 if excess[k] > 0.0 else 1
        needed = (rows.lower, rows.upper)[side][k]
        found.append(LimitConflict(rows.names[k][side], float(needed), float(rows.C[k] @ v)))
    return tuple(found)


def _distinct(limits: list[JointLimit]) -> tuple[JointLimit, ...]:
    return tuple(dict.fromkeys(limits))


def _level(robot: Robot, q: Array, task: Task | str, velocity: Any) -> Level:
    task = as_task(robot, task)
    b = np.asarray(velocity, float)
    if b.ndim != 1:
        raise ShapeError(f"{WHO}: the velocity of task {task.name!r} must be one vector ({task.size},), got {b.shape}.")
    check_rows(WHO, "velocity", b, task)
    A = np.asarray(task.jacobian(robot, q))
    if not (np.isfinite(A).all() and np.isfinite(b).all()):
        raise TorsorError(f"{WHO}: task {task.name!r} has numbers that are not finite.")
    return Level(task, A, b)


def _pair(pair: Any) -> tuple[Any, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TorsorError(f"{WHO}: `tasks` are pairs (task, velocity), highest priority first, got {pair!r:.60}.")
    return pair[0], pair[1]


def _vector(name: str, value: Any, size: int) -> Array:
    x = np.asarray(value, float)
    if x.shape != (size,) or not np.isfinite(x).all():
        raise ShapeError(f"{WHO}: `{name}` must be one vector of {size} finite numbers, got shape {x.shape}.")
    return x


def _check_numbers(**given: tuple[float, bool]) -> None:
    for name, (x, positive) in given.items():
        if not np.isfinite(x) or x < 0.0 or (positive and x == 0.0):
            wanted = "positive" if positive else "not negative"
            raise TorsorError(f"{WHO}: `{name}` must be finite and {wanted}, got {x}.")
