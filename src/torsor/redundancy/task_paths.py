"""Ways for a task to go: a rate for every instant, or legs between points.

Of a pose or orientation, numbers y are exponential coordinates about where it starts, so that a closed curve of y closes::

    T = T₀ exp(y(t))                ẏ of the task is the body twist T⁻¹ Ṫ = J_r(y) dy/dt

Integrating body twists as if they were rates of numbers does not: ∮ V dt = 0 brings no rotation back [Bar17, (7.83)].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor._reports import one_line
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ShapeError
from torsor.lie.unchecked import se3
from torsor.model import Robot
from torsor.redundancy.configurations import vector
from torsor.redundancy.task_places import body_rates
from torsor.tasks import Task, pose_task
from torsor.tasks.task_groups import MOTIONS

FINE = 2001  # points of a curved leg, for its area
AT_START = 1e-6  # rad or m: how near to the hand the first of some poses must be


class Rate(Protocol):
    """t from 0 to 1 → ẏ (m,)."""

    def __call__(self, t: float, /) -> Array:
        """Task velocity (m,) at t."""


class Way(Protocol):
    """A rate dy/dt of coordinates whose integral y is known."""

    def __call__(self, t: float, /) -> Array:
        """Rate dy/dt (m,) of the coordinates at t."""

    def place(self, t: float, /) -> Array:
        """Coordinates y (m,) at t."""


class TaskPath(NamedTuple):
    """Legs of equal duration, each a rate over t from 0 to 1 of the leg: the task velocity (m,) per leg.

    ``area`` (m, m): ½ ∫ (y_a dy_b − y_b dy_a) over all legs; ``size``: the largest |y| on the way.
    """

    legs: tuple[Rate, ...]
    area: Array
    size: float


class Straight(NamedTuple):
    """A straight leg: one rate (m,) all the way, from ``start`` (m,)."""

    rate: Array
    start: Array

    def __call__(self, t: float) -> Array:
        """Rate (m,), the same at any time."""
        return self.rate

    def place(self, t: float) -> Array:
        """Coordinates y (m,) at t."""
        return self.start + t * self.rate


class Circle(NamedTuple):
    """Round a circle that begins where the task is: y = r ((1 − cos 2πt) e_a + sin 2πt e_b), t from 0 to 1."""

    size: int
    radius: float
    a: int
    b: int

    def __repr__(self) -> str:
        return one_line(self)

    def __call__(self, t: float) -> Array:
        """Rate dy/dt (m,) of the coordinates at t."""
        turn = 2 * np.pi
        return self._vector(turn * np.sin(turn * t), turn * np.cos(turn * t))

    def place(self, t: float) -> Array:
        """Coordinates y (m,) at t."""
        return self._vector(1.0 - np.cos(2 * np.pi * t), np.sin(2 * np.pi * t))

    def _vector(self, along_a: float, along_b: float) -> Array:
        y = np.zeros(self.size)
        y[self.a], y[self.b] = self.radius * along_a, self.radius * along_b
        return y


class OnGroup(NamedTuple):
    """A way in exponential coordinates of poses and rotations, as the body twists that follow it."""

    task: Task
    way: Way

    def __call__(self, t: float) -> Array:
        """Task velocity (m,) at t."""
        return body_rates(self.task, self.way.place(t), np.asarray(self.way(t), float))


@explained
def circle(task: Task | str, radius: float, *, rows: Sequence[int | str] = (0, 1)) -> Circle:
    """Circle in two rows of a task, a closed path for `closed_path_drift`.

    It begins where the task is, in the direction of the second row, with the centre in the direction of the first. Of a pose
    or orientation the rows are exponential coordinates about where it begins.

    Parameters
    ----------
    task : Task or str
        The name of a frame means its pose.
    radius : float
        In the unit of the rows, m or rad; a negative one puts the centre on the other side.
    rows : two of int or str
        By number or label.

    Returns
    -------
    Circle
    """
    task = task if isinstance(task, Task) else pose_task(task)
    given = (rows,) if isinstance(rows, (str, int)) else tuple(rows)
    if len(given) != 2:
        raise ArgumentError(f"needs two rows of the task, got {list(given)!r}.")
    a, b = (task.labels.index(row) if isinstance(row, str) and row in task.labels else row for row in given)
    if not all(isinstance(row, int) and 0 <= row < task.size for row in (a, b)) or a == b:
        raise ArgumentError(
            f"rows are two of {', '.join(task.labels)}, or of 0 … {task.size - 1}, got {list(given)!r}."
        )
    if not (np.ndim(radius) == 0 and np.isfinite(radius) and radius != 0):
        raise ArgumentError(f"`radius` must be one finite number other than zero, got {radius!r:.60}.")
    return Circle(task.size, float(radius), int(a), int(b))


def task_path(robot: Robot, q: Array, task: Task, path: Any, *, closed: bool) -> TaskPath:
    """What the user has passed, as legs from where q (nq,) is; ``closed`` adds the way back to the first point."""
    if isinstance(path, Circle):
        if path.size != task.size:
            raise ShapeError(f"this circle is for a task of {path.size} rows, and the task has {task.size}.")
        return _measured([_on_group(task, path)], [path])
    if callable(path):
        rate = np.asarray(path(0.0), float)
        if rate.shape != (task.size,):
            raise ShapeError(f"a path as a function gives the task velocity ({task.size},), got {rate.shape}.")
        return _measured([path], [path])
    points = np.asarray(path, float)
    takes_poses = task.group is MOTIONS
    poses = takes_poses and points.ndim == 3 and points.shape[1:] == (4, 4)
    if not poses and not (points.ndim == 2 and points.shape[1] == task.size):
        also = " or poses (k, 4, 4)" if takes_poses else ""
        raise ShapeError(
            f"a path of this task is a function t → ẏ ({task.size},), t from 0 to 1, or points (k, {task.size}){also}; "
            f"got shape {points.shape}."
        )
    if len(points) < 2:
        raise ShapeError(f"a path has two points or more, got {len(points)}.")
    if not np.isfinite(points).all():
        raise ArgumentError("the points of a path must be finite numbers, got NaN or infinity.")
    if poses:
        _refuse_other_start(robot, q, task, points)
    if closed:
        points = np.concatenate([points, points[:1]])
    if poses:  # screw motions, each from the frame where the last one ended
        steps = se3.log(se3.inverse(points[:-1]) @ points[1:])
        starts = np.concatenate([np.zeros((1, 6)), np.cumsum(steps, axis=0)[:-1]])
        screws = [Straight(step, start) for step, start in zip(steps, starts, strict=True)]
        return _measured(screws, screws)
    y = points - points[0]
    ways = [Straight(end - start, start) for start, end in pairwise(y)]
    return _measured([_on_group(task, way) for way in ways], ways)


def _on_group(task: Task, way: Way) -> Rate:
    return way if task.has_coordinates else OnGroup(task, way)


def _refuse_other_start(robot: Robot, q: Array, task: Task, poses: Array) -> None:
    R = poses[:, :3, :3]
    off = max(np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(), np.abs(poses[:, 3] - [0, 0, 0, 1]).max())
    if off > AT_START:
        raise ArgumentError(f"poses are rotations and places, (R, p; 0, 1); these are off by {off:.2g}.")
    apart = np.asarray(task.error(task.value(robot, q), poses[0]))
    if np.linalg.norm(apart) > AT_START:
        raise ArgumentError(
            f"the first pose is not where {task.name!r} is at this q: it is {np.linalg.norm(apart[:3]):.3g} rad and "
            f"{np.linalg.norm(apart[3:]):.3g} m away, by {vector(apart)}. Poses are absolute: for moves relative to the frame "
            f"pass torsor.frame_pose(robot, q, {task.name!r}) @ moves, the first of them the identity."
        )


def _measured(legs: Sequence[Rate], coordinates: Sequence[Rate]) -> TaskPath:
    """The path with its area ½ ∮ (y_a dy_b − y_b dy_a), by trapezoids where legs are curved."""
    y = [np.zeros((1, len(np.asarray(coordinates[0](0.0)))))]
    for leg in coordinates:
        times = np.linspace(0.0, 1.0, 2 if isinstance(leg, Straight) else FINE)
        rates = np.array([leg(float(t)) for t in times], float)
        steps = 0.5 * (rates[1:] + rates[:-1]) * np.diff(times)[:, None]
        y.append(y[-1][-1] + np.cumsum(steps, axis=0))
    points = np.concatenate(y)
    moment = np.einsum("ka,kb->ab", points[:-1], np.diff(points, axis=0))
    return TaskPath(tuple(legs), 0.5 * (moment - moment.T), float(np.max(np.linalg.norm(points, axis=-1))))
