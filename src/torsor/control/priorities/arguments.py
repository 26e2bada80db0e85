"""What is given to functions of priorities, checked: plain numbers, of one state or of a batch of states."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import refuse_strangers
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.tasks import Task, as_task
from torsor.tasks._task_space_dynamics import check_rows
from torsor.tasks.weighted_inverse import ASYMMETRIC


def plain_tasks(who: str, robot: Any, tasks: Any, given: tuple[Any, ...]) -> list[Any]:
    """The list of tasks; an error unless the robot is one, and all are plain numbers: nothing that JAX or torsor traces."""
    refuse_strangers(robot, *_entries(given))
    try:
        listed = list(tasks)
    except TypeError:
        raise ArgumentError(f"{who}: `tasks` are a list of pairs, highest priority first, got {tasks!r:.60}.") from None
    refuse_strangers(robot, *_entries(listed))
    return listed


def _entries(values: Any) -> list[Any]:
    """Of nested lists and tuples, but for tasks, which are not made of numbers that could be traced."""
    entries: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            entries += _entries(value)
        elif not isinstance(value, Task):
            entries.append(value)
    return entries


def pairs_of(who: str, name: str, robot: Robot, tasks: Sequence[Any]) -> list[tuple[Task, Array]]:
    """Pairs (task, what it wants (..., m)), checked; ``name`` says what that is."""
    return [_pair(who, name, robot, pair) for pair in tasks]


def _pair(who: str, name: str, robot: Robot, pair: Any) -> tuple[Task, Array]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentError(f"{who}: `tasks` are pairs (task, {name}), highest priority first, got {pair!r:.60}.")
    task = as_task(robot, pair[0])
    y = pair[1] if _are_numbers(pair[1]) else _numbers(who, f"the {name} of task {task.title!r}", pair[1])
    if not y.ndim:
        raise ShapeError(f"{who}: the {name} of task {task.title!r} must have shape (..., {task.size}), got a number.")
    check_rows(who, name, y, task)
    if not all_finite(y):
        raise ArgumentError(f"{who}: the {name} of task {task.title!r} has numbers that are not finite.")
    return task, y


def metric_root(who: str, robot: Robot, metric: Any) -> Array | None:
    """L (..., nv, nv) with Lᵀ L = W, of a metric W that is checked; None if there is none."""
    if metric is None:
        return None
    W, nv = _numbers(who, "`metric`", metric), robot.nv
    if W.shape[-2:] != (nv, nv):
        raise ShapeError(f"{who}: `metric` must have shape (..., {nv}, {nv}), got {W.shape}.")
    if not np.isfinite(W).all():
        raise ArgumentError(f"{who}: `metric` has numbers that are not finite.")
    off = np.abs(W - np.swapaxes(W, -1, -2)).max(axis=(-1, -2))
    if np.any(off > ASYMMETRIC * np.trace(np.abs(W), axis1=-2, axis2=-1)):
        raise ArgumentError(
            f"{who}: `metric` must be symmetric, and differs from its transpose by {off.max():.3g}. "
            "Pass 0.5 * (metric + metric.T) if that is what is meant."
        )
    try:
        return np.swapaxes(np.linalg.cholesky(W), -1, -2)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(W).min())
        raise ArgumentError(
            f"{who}: `metric` must be positive definite, and its least eigenvalue is {least:.3g}."
        ) from None


def vectors(who: str, name: str, value: Any, size: int) -> Array:
    """Vectors (..., size) of finite numbers."""
    x: Array = value if _are_numbers(value) else _numbers(who, f"`{name}`", value)
    if x.ndim == 0 or x.shape[-1] != size:
        raise ShapeError(f"{who}: `{name}` must have shape (..., {size}), got {x.shape}.")
    if not all_finite(x):
        raise ArgumentError(f"{who}: `{name}` has numbers that are not finite.")
    return x


def all_finite(x: Array) -> bool:
    """Whether all numbers are finite; the sum of squares says so at once, unless it is too large itself."""
    return math.isfinite(np.vdot(x, x)) or bool(np.isfinite(x).all())


def batch_of(who: str, **given: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes that arguments with such axes have together."""
    try:
        return np.broadcast_shapes(*given.values())
    except ValueError:
        listing = ", ".join(f"{name} {axes}" for name, axes in given.items() if axes)
        raise ShapeError(f"{who}: batch axes must agree, or be 1; got {listing}.") from None


def _are_numbers(value: Any) -> bool:
    """Whether it is an array as it must be, which most often it is."""
    return type(value) is np.ndarray and value.dtype == float


def _numbers(who: str, what: str, value: Any) -> Array:
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise ShapeError(f"{who}: {what} must be numbers, got {value!r:.60}.") from None


def acceleration_limits_from(who: str, value: Any, nv: int) -> Array:
    """Acceleration limits (nv,) of a number or a vector; all infinite if None."""
    if value is None:
        return np.full(nv, np.inf)
    x = _numbers(who, "`acceleration_limits`", value)
    if x.shape not in ((), (nv,)):
        raise ShapeError(f"{who}: `acceleration_limits` must be a number or of shape ({nv},), got {x.shape}.")
    if not np.all(x > 0.0):
        raise ArgumentError(f"{who}: `acceleration_limits` must be positive (infinite for none), got {x.min()}.")
    return np.array(np.broadcast_to(x, (nv,)))


def kinds_kept(who: str, within_limits: Any, kinds: tuple[str, ...]) -> dict[str, bool]:
    """Which kinds of limits of the robot are kept: all if True, none if False, or those that are listed."""
    if isinstance(within_limits, (bool, np.bool_)):
        return dict.fromkeys(kinds, bool(within_limits))
    try:
        listed = [within_limits] if isinstance(within_limits, str) else list(within_limits)
    except TypeError:
        listed = [None]
    if any(word not in kinds for word in listed):
        known = ", ".join(map(repr, kinds))
        raise ArgumentError(
            f"{who}: `within_limits` must be True, False, or some of {known}, got {within_limits!r:.60}."
        )
    return {kind: kind in listed for kind in kinds}


def check_numbers(who: str, **given: tuple[Any, bool]) -> None:
    """Refuse what is not one number, not finite, negative, or 0 where it says positive."""
    for name, (x, positive) in given.items():
        if type(x) is float and (0.0 < x < math.inf or (x == 0.0 and not positive)):
            continue
        wanted = "positive" if positive else "not negative"
        try:
            sound = np.ndim(x) == 0 and np.isfinite(x) and (x > 0.0 or (x == 0.0 and not positive))
        except TypeError:
            sound = False
        if not sound:
            raise ArgumentError(f"{who}: `{name}` must be finite and {wanted}, got {x!r:.60}.")
