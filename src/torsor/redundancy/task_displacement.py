"""How far a task has come between two configurations, in its own rows: what feedback corrects and reports state."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import frame_pose
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task


def place(robot: Robot, q: Array, task: Task) -> tuple[Array, ...]:
    """Where a task is at q (..., nq): poses of frames and values of functions, in the order of its parts."""
    if isinstance(task, FrameTask):
        return (frame_pose(robot, q, task.frame),)
    if isinstance(task, FunctionTask):
        return (task.value(robot, q),)
    if isinstance(task, SelectedTask):
        return place(robot, q, task.task)
    if isinstance(task, StackedTask):
        return tuple(part for one in task.tasks for part in place(robot, q, one))
    raise ArgumentError(
        f"the task {task.name!r} says how fast it moves, not where it is: feedback and errors are known of tasks of frames and "
        "of functions."
    )


def displacement(task: Task, start: tuple[Array, ...], end: tuple[Array, ...]) -> Array:
    """From one place to another (..., m): to first order y_end − y_start, of poses and rotations their logarithm."""
    if isinstance(task, SelectedTask):
        return displacement(task.task, start, end)[..., list(task.rows)]
    if isinstance(task, StackedTask):
        parts, first = [], 0
        for one in task.tasks:
            last = first + _count(one)
            parts.append(displacement(one, start[first:last], end[first:last]))
            first = last
        return np.concatenate(parts, axis=-1)
    (a,), (b,) = start, end
    if isinstance(task, FrameTask):
        if task.kind == "pose":
            return np.asarray(se3.log(se3.inverse(a) @ b))
        if task.kind == "orientation":
            return np.asarray(so3.log(np.swapaxes(a[..., :3, :3], -1, -2) @ b[..., :3, :3]))
        return np.asarray(b[..., :3, 3] - a[..., :3, 3])
    return np.asarray(b - a)


def displaced(task: Task, start: tuple[Array, ...], y: Array) -> tuple[Array, ...]:
    """The place y (..., m) away from another, so that `displacement` from there to it is y; rows that are not selected stay."""
    if isinstance(task, SelectedTask):
        return displaced(task.task, start, spread(task, y))
    if isinstance(task, StackedTask):
        places: list[Array] = []
        for one, own in zip(
            task.tasks, np.split(y, np.cumsum([one.size for one in task.tasks])[:-1], axis=-1), strict=True
        ):
            places += displaced(one, start[len(places) : len(places) + _count(one)], own)
        return tuple(places)
    (a,) = start
    if not isinstance(task, FrameTask):
        return (a + y,)
    if task.kind == "position":
        moved = np.array(np.broadcast_to(a, (*y.shape[:-1], 4, 4)))
        moved[..., :3, 3] += y
        return (moved,)
    twist = y if task.kind == "pose" else np.concatenate([y, np.zeros_like(y)], axis=-1)
    return (np.asarray(a @ se3.exp(twist)),)


def spread(task: SelectedTask, y: Array) -> Array:
    """Numbers of the selected rows (..., m) among zeros for all others of the whole task."""
    whole = np.zeros((*y.shape[:-1], task.task.size))
    whole[..., list(task.rows)] = y
    return whole


def _count(task: Task) -> int:
    """How many parts `place` gives."""
    if isinstance(task, SelectedTask):
        return _count(task.task)
    return sum(map(_count, task.tasks)) if isinstance(task, StackedTask) else 1
