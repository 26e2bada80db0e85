"""Ways for a task to go: a rate for every instant, or legs between points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ShapeError, TorsorError
from torsor.lie import se3
from torsor.tasks import FrameTask, Task


class Rate(Protocol):
    """t from 0 to 1 → ẏ (m,)."""

    def __call__(self, t: float, /) -> Array:
        """The task velocity at t."""


class TaskPath(NamedTuple):
    """Legs of equal duration, each a rate over t from 0 to 1 of the leg: the task velocity (m,) per leg."""

    legs: tuple[Rate, ...]


class Straight(NamedTuple):
    """The same rate (m,) all the way."""

    rate: Array

    def __call__(self, t: float) -> Array:
        """At any time."""
        return self.rate


class Circle(NamedTuple):
    """Round a circle that begins where the task is: y = r ((1 − cos 2πt) e_a + sin 2πt e_b), t from 0 to 1."""

    size: int
    radius: float
    a: int
    b: int

    def __call__(self, t: float) -> Array:
        """ẏ (m,)."""
        rate = np.zeros(self.size)
        turn = 2 * np.pi
        rate[self.a] += turn * self.radius * np.sin(turn * t)
        rate[self.b] += turn * self.radius * np.cos(turn * t)
        return rate


def circle(task: Task, radius: float, rows: Sequence[int | str] = (0, 1)) -> Circle:
    """A closed path for `closed_loop_drift`: a circle of ``radius``, m or rad, in two ``rows`` of the task, by number or label.

    It begins where the task is, in the direction of the second row, with the centre in the direction of the first.
    """
    if len(rows) != 2:
        raise TorsorError(f"circle: needs two rows of the task, got {list(rows)!r}.")
    a, b = (task.labels.index(row) if isinstance(row, str) and row in task.labels else row for row in rows)
    if not all(isinstance(row, int) and 0 <= row < task.size for row in (a, b)):
        raise TorsorError(f"circle: rows are {', '.join(task.labels)} or 0 … {task.size - 1}, got {list(rows)!r}.")
    return Circle(task.size, float(radius), int(a), int(b))


def task_path(who: str, task: Task, path: Any, *, closed: bool) -> TaskPath:
    """What the user has passed, as legs; ``closed`` adds the way back to the first point."""
    if callable(path):
        rate = np.asarray(path(0.0), float)
        if rate.shape != (task.size,):
            raise ShapeError(f"{who}: a path as a function gives the task velocity ({task.size},), got {rate.shape}.")
        return TaskPath((path,))
    points = np.asarray(path, float)
    poses = isinstance(task, FrameTask) and task.kind == "pose" and points.ndim == 3 and points.shape[1:] == (4, 4)
    if not poses and not (points.ndim == 2 and points.shape[1] == task.size):
        also = " or poses (k, 4, 4)" if isinstance(task, FrameTask) and task.kind == "pose" else ""
        raise ShapeError(
            f"{who}: a path of this task is a function t → ẏ ({task.size},), t from 0 to 1, or points (k, {task.size}){also}; "
            f"got shape {points.shape}."
        )
    if len(points) < 2 or not np.isfinite(points).all():
        raise ShapeError(f"{who}: a path has two finite points or more, got {len(points)}.")
    if closed:
        points = np.concatenate([points, points[:1]])
    steps = se3.log(se3.inverse(points[:-1]) @ points[1:]) if poses else np.diff(points, axis=0)
    return TaskPath(tuple(Straight(step) for step in steps))
