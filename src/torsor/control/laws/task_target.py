"""Where tasks should be, as people give it: checked, and as one vector, which is how a control law takes it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torsor.arrays import as_numbers, concat, is_concrete, reshape
from torsor.arrays.typing import Array, TaskVector
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.model.poses import check_pose
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task

Target = Array | Sequence[Array]
TOLERANCE = 1e-6  # of rotations: what single precision, or many steps of an integration, may be off
_SHAPES: dict[str, tuple[int, ...]] = {"pose": (4, 4), "orientation": (3, 3), "position": (3,)}
_WORDS = {"pose": "a pose", "orientation": "a rotation matrix"}


def target_shape(task: Task) -> tuple[int, ...]:
    """What the target of a task of a frame or a function has for its last axes."""
    if isinstance(task, FunctionTask):
        return (task.size,)
    if isinstance(task, FrameTask):
        return _SHAPES[task.kind]
    raise ArgumentError(
        f"the task {task.name!r} says how fast it moves, not where it is: targets are known of tasks of frames and of "
        "functions."
    )


def target_size(task: Task) -> int:
    """How many numbers the target of a task has."""
    if isinstance(task, StackedTask):
        return sum(map(target_size, task.tasks))
    return target_size(task.task) if isinstance(task, SelectedTask) else int(np.prod(target_shape(task)))


def flat_target(where: str, task: Task, target: Target) -> TaskVector:
    """The numbers (..., k) of a target, one task after the other; poses and rotations that are known are checked."""
    if isinstance(task, SelectedTask):
        return flat_target(where, task.task, target)
    if isinstance(task, StackedTask):
        count = len(task.tasks)
        if not isinstance(target, (tuple, list)) or len(target) != count:
            raise ShapeError(
                f"{where}: `target` of task {task.name!r} must be a tuple of {count}, one for each of its parts."
            )
        return concat([flat_target(where, *pair) for pair in zip(task.tasks, target, strict=True)])
    shape = target_shape(task)
    what = _WORDS.get(task.kind, "a vector") if isinstance(task, FrameTask) else "a vector"
    try:
        numbers = as_numbers(target)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{where}: `target` of task {task.name!r} is {what}, got {target!r:.60}.") from error
    got = tuple(numbers.shape)
    if got[len(got) - len(shape) :] != shape:
        wanted = ", ".join(map(str, shape))
        raise ShapeError(f"{where}: `target` of task {task.name!r} is {what} with shape (..., {wanted}), got {got}.")
    if len(shape) == 1:
        return numbers
    if is_concrete(numbers):
        _refuse_others(f"{where}: `target` of task {task.name!r}", numbers)
    return reshape(numbers, 2, shape[0] * shape[1])


def _refuse_others(what: str, T: Array) -> None:
    """Refuse what is not a pose (..., 4, 4), or not a rotation (..., 3, 3)."""
    if T.ndim == 2:
        sound = _is_sound(T)
    else:
        by_entry = np.ascontiguousarray(np.moveaxis(T, (-2, -1), (0, 1)))
        sound = all(np.abs(x).max(initial=0.0) <= TOLERANCE for x in _defects(by_entry))
    if not sound:
        place = next(place for place in np.ndindex(T.shape[:-2]) if not _is_sound(T[place]))
        state = f" in state {', '.join(map(str, place))}" if place else ""
        pose = np.eye(4)
        pose[: T.shape[-1], : T.shape[-1]] = T[place]
        try:
            check_pose(what + state, pose)  # says what is wrong with it
        except ModelError as error:
            raise ArgumentError(str(error)) from None


def _is_sound(T: Array) -> bool:
    """Of one pose or rotation: in Python's numbers, for it is looked at in every call of a loop."""
    return all(abs(x) <= TOLERANCE for x in _defects(T.tolist()))


def _defects(T: Array) -> list[Array]:
    """What is 0 of a pose or a rotation, by its rows: two of unit length and at right angles, the third their cross product."""
    (a, b, c), (d, e, f), (g, h, i) = (row[:3] for row in T[:3])
    found = [a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, a * d + b * e + c * f]
    found += [b * f - c * e - g, c * d - a * f - h, a * e - b * d - i]
    if len(T) == 4:
        found += [*T[3][:3], T[3][3] - 1.0, *(0.0 * row[3] for row in T[:3])]  # where it is need only be finite
    return found
