"""Targets of tasks as people give them: of the right shape, rotations that are ones, and then one vector (..., k)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from torsor.arrays import as_numbers, concat, constant, is_concrete, reshape
from torsor.arrays.foreign import ForeignArray, refuse_foreign
from torsor.arrays.typing import Array, Rotation, TaskVector
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.model.poses import check_pose
from torsor.tasks.task import Part, Shape, Task, Value, joined, leaves
from torsor.tasks.task_groups import MOTIONS, ROTATIONS

TOLERANCE = 1e-6  # of rotations: what single precision, or many steps of an integration, may be off
ROUNDING = 1e-12  # how far R Rᵀ of a rotation of doubles may be from 1
_WORDS = {MOTIONS: "a pose", ROTATIONS: "a rotation matrix"}
_OTHERS = {(3, 3): "orientation_task", (3,): "position_task"}  # for targets that are no poses


def target_size(task: Task) -> int:
    """How many numbers a target has."""
    return sum(math.prod(part.task.target_shape) for part in task.parts)


def entries(task: Task, value: Value) -> TaskVector:
    """The numbers y (..., m) of a value, of a task whose rows are their rates."""
    asked = [(part, leaf) for part, leaf in zip(task.parts, leaves(value), strict=True) if part.rows]
    return joined([part for part, _ in asked], [leaf[..., constant(part.rows)] for part, leaf in asked])


def flat_target(task: Task, target: Value) -> TaskVector:
    """The numbers (..., k) of a target, one part after the other; poses and rotations that are known are checked."""
    found = []
    for part, one in _parts("`target`", task, target):
        numbers = _array("`target`", part.task, one, as_numbers)
        if part.task.group in _WORDS and is_concrete(numbers):
            _refuse_others(f"`target` of task {part.task.name!r}", numbers)
        found.append(_flat(part.task, numbers))
    return concat(found)


def plain_targets(task: Task, targets: Value) -> Array:
    """The same of finite plain numbers; what is nearly a rotation is replaced by the nearest one, and what is not refused."""
    found = []
    for part, one in _parts("a target", task, targets):
        goals = _array("a target", part.task, one, plain_numbers)
        if part.task.group in _WORDS:
            goals = goals if is_sound(goals) else _nearest_sound(goals)
        elif not np.isfinite(goals[..., list(part.rows)] if part.has_coordinates else goals).all():
            raise ModelError("targets must be finite numbers, got NaN or infinity.")
        found.append(_flat(part.task, goals))
    if len(found) == 1:
        return found[0]
    try:
        return concat(found)
    except ValueError:
        shapes = ", ".join(str(x.shape[:-1]) for x in found)
        raise ShapeError(f"the batch axes of the targets of task {task.name!r} do not broadcast: {shapes}.") from None


def flat_value(value: Value, task: Task) -> TaskVector:
    """A value of a task as one vector (..., k)."""
    return concat([_flat(part.task, leaf) for part, leaf in zip(task.parts, leaves(value), strict=True)])


def leaves_of(task: Task, flat: TaskVector) -> list[Array]:
    """The values of all parts of a task, of their numbers (..., k)."""
    found, first = [], 0
    for part in task.parts:
        shape = part.task.target_shape
        last = first + math.prod(shape)
        found.append(reshape(flat[..., first:last], 1, *shape))
        first = last
    return found


def unflattened(task: Task, flat: TaskVector) -> Value:
    """A value as people give it, an array or a tuple of them, of its numbers (..., k)."""
    return _as_value(task.target_shape, iter(leaves_of(task, flat)))


def _as_value(shape: Shape, parts: Iterator[Array]) -> Value:
    """The values of all parts, nested as a target of this shape is."""
    if not shape or isinstance(shape[0], int):
        return next(parts)
    return tuple(_as_value(one, parts) for one in shape)


def _parts(name: str, task: Task, target: Value) -> Iterable[tuple[Part, Any]]:
    return zip(task.parts, _nested(name, task, task.target_shape, target), strict=True)


def _nested(name: str, task: Task, shape: Shape, target: Value) -> list[Any]:
    """The targets of all parts, of a target that is nested as the shape is."""
    if not shape or isinstance(shape[0], int):
        return [target]
    if not isinstance(target, (tuple, list)) or len(target) != len(shape):
        listed = ", ".join(f"(..., {', '.join(map(str, one))})" for one in shape)
        raise ShapeError(
            f"{name} of task {task.name!r} must be a tuple of {len(shape)}, one for each of its parts, of shapes {listed}; "
            f"got {_got(target)}."
        )
    return [leaf for one, part in zip(shape, target, strict=True) for leaf in _nested(name, task, one, part)]


def _array(name: str, task: Task, target: Any, numbers_of: Any) -> Array:
    """A target of one part as an array (..., *shape)."""
    shape = task.target_shape
    try:
        numbers: Array | None = numbers_of(target)
    except ForeignArray as error:
        raise ForeignArray(f"{name}: {error}") from None
    except (TypeError, ValueError):
        numbers = None
    got = None if numbers is None else tuple(numbers.shape)
    if numbers is None or got is None or len(got) < len(shape) or got[len(got) - len(shape) :] != shape:
        wanted, what = ", ".join(map(str, shape)), _WORDS.get(task.group, "a vector" if len(shape) == 1 else "an array")
        raise ShapeError(
            f"{name} of task {task.name!r} is {what} with shape (..., {wanted}), got "
            f"{_got(target) if got is None else got}.{_hint(task, got)}"
        )
    return numbers


def _hint(task: Task, got: tuple[int, ...] | None) -> str:
    """What to type instead, where that can be guessed."""
    if got is None or task.group is not MOTIONS:
        return ""
    for shape, other in _OTHERS.items():
        if got[len(got) - len(shape) :] == shape and len(got) >= len(shape):
            return f" For this pass the task torsor.{other}({task.name!r})."
    return ""


def _got(target: Any) -> str:
    return str(np.shape(target)) if isinstance(target, np.ndarray) else f"{target!r:.60}"


def plain_numbers(value: Any) -> Array:
    """As float64; texts, complex numbers, ragged lists, None and arrays of other libraries are refused."""
    refuse_foreign(value)
    given = np.asarray(value)
    if given.dtype.kind in "cOSUTMm":
        raise TypeError
    return given.astype(np.float64, copy=False)


def _flat(task: Task, numbers: Array) -> Array:
    shape = task.target_shape
    return numbers if len(shape) == 1 else reshape(numbers, len(shape), math.prod(shape))


def _refuse_others(what: str, T: Array) -> None:
    """Refuse what is not a pose (..., 4, 4), or not a rotation (..., 3, 3), to the tolerance."""
    if not is_sound(T, TOLERANCE):
        place = next(place for place in np.ndindex(T.shape[:-2]) if not is_sound(T[place], TOLERANCE))
        state = f" in state {', '.join(map(str, place))}" if place else ""
        try:
            check_pose(what + state, _as_poses(T[place]))  # says what is wrong with it
        except ModelError as error:
            raise ArgumentError(str(error)) from None


def is_sound(T: Array, tolerance: float = ROUNDING) -> bool:
    """Whether these are poses (..., 4, 4), or rotations (..., 3, 3), all of them."""
    if T.ndim == 2:
        return bool(_is_sound(T.tolist(), tolerance))  # Python's numbers are quicker than NumPy's where there are few
    with np.errstate(all="ignore"):
        return bool(np.all(_is_sound(np.ascontiguousarray(np.moveaxis(T, (-2, -1), (0, 1))), tolerance)))


def _is_sound(rows: Any, tolerance: float) -> Any:
    """Whether R is a rotation to the tolerance: two rows of unit length and at right angles, the third their cross product.

    Of poses, that all else is as it should be too. Rows of numbers or of arrays; NaN is not sound.
    """
    (a, b, c, *x), (d, e, f, *y), (g, h, i, *z), *bottom = rows
    t = tolerance
    sound = (
        (abs(a * a + b * b + c * c - 1.0) <= t)
        & (abs(d * d + e * e + f * f - 1.0) <= t)
        & (abs(a * d + b * e + c * f) <= t)
        & (abs(b * f - c * e - g) <= t)
        & (abs(c * d - a * f - h) <= t)
        & (abs(a * e - b * d - i) <= t)
    )
    if bottom:
        j, k, l, m = bottom[0]
        edge = 0.0 if tolerance == ROUNDING else tolerance
        sound &= (abs(j) <= edge) & (abs(k) <= edge) & (abs(l) <= edge) & (abs(m - 1.0) <= edge)
        sound &= 0.0 * (x[0] + y[0] + z[0]) == 0.0  # where it is need only be finite
    return sound


def _as_poses(T: Array) -> Array:
    """Rotations (..., 3, 3) as poses (..., 4, 4); poses as they are."""
    if T.shape[-1] == 4:
        return T
    poses = np.zeros((*T.shape[:-2], 4, 4))
    poses[..., :3, :3], poses[..., 3, 3] = T, 1.0
    return poses


def _nearest_sound(goals: Array) -> Array:
    """The same with rotations in place of what differs from them by rounding in single precision; the rest is refused."""
    poses = _as_poses(goals)
    rows = np.moveaxis(poses, (-2, -1), (0, 1))
    with np.errstate(all="ignore"):
        exact, nearly = np.asarray(_is_sound(rows, ROUNDING)), np.asarray(_is_sound(rows, TOLERANCE))
    for k in map(tuple, np.argwhere(~nearly)):
        at = f" {list(map(int, k))}" if k else ""
        check_pose(f"inverse_kinematics: target{at}", poses[k])
    goals = np.array(goals)
    goals[~exact, :3, :3] = nearest_rotation(goals[~exact, :3, :3])
    return goals


def nearest_rotation(R: Array) -> Rotation:
    """The rotation nearest to what is nearly one: the Newton–Schulz iteration for the orthogonal polar factor.

    R ← ½ R (3 − Rᵀ R) squares the defect: twice is enough from 1e-6.
    """
    for _ in range(2):
        R = 1.5 * R - 0.5 * R @ (R.mT @ R)
    return R
