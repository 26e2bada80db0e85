"""Is this matrix a rotation, is it a pose, are these screws? Asked of plain numbers where they come in from outside.

Lists of screws come with what belongs to them: one number for each screw, one pose for each screw.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any

import numpy

from torsor.arrays.foreign import ForeignArray
from torsor.arrays.primitives import as_numbers
from torsor.arrays.typing import POSE, Array, Pose, Twist
from torsor.errors import ModelError, ShapeError

PRINTED = 2e-3  # of R Rᵀ − 1: what three printed digits of a rotation may leave, 2 √3 · 5e-4; it is used as it is


def refuse_what_is_none(name: str, value: Any, group: str) -> None:
    """Raise unless ``value`` (..., 3, 3) is a rotation, or (..., 4, 4) a pose; NaN, and what is not NumPy's, passes."""
    if type(value) is not numpy.ndarray:
        return
    if value.ndim == 2:
        _refuse(name, value, group)
    else:
        with numpy.errstate(all="ignore"):  # what is infinite, or nearly, is refused in words and not with warnings
            _refuse(name, value, group)


def screw_list(screws: Twist) -> Twist:
    """``screws`` as numbers (k, 6), or a ShapeError."""
    numbers = _numbers("screws", screws, "(k, 6)")
    if len(numbers.shape) != 2 or numbers.shape[1] != 6:
        raise ShapeError(f"`screws` must have shape (k, 6), one row for each screw, got {numbers.shape}.")
    return numbers


def one_for_each(screws: Twist, **coordinates: Array) -> list[Array]:
    """Coordinates (..., k) by name, as numbers: as many as there are screws (k, 6), or a ShapeError."""
    count = len(screw_list(screws))
    found = []
    for name, value in coordinates.items():
        numbers = _numbers(name, value, f"(..., {count})")
        if not numbers.shape or numbers.shape[-1] != count:
            raise ShapeError(
                f"`{name}` must have shape (..., {count}), one number for each of {count} screws, got {numbers.shape}."
            )
        found.append(numbers)
    return found


def poses_for_each(screws: Twist, name: str, poses: Pose) -> tuple[Twist, Pose]:
    """Screws (k, 6) and as many poses (k, 4, 4), as numbers, or an error that says what is wrong with them."""
    screws = screw_list(screws)
    count, numbers = len(screws), _numbers(name, poses, "(k, 4, 4)")
    if tuple(numbers.shape) != (count, 4, 4):
        raise ShapeError(
            f"`{name}` must have shape ({count}, 4, 4), one pose for each of {count} screws, got {numbers.shape}."
        )
    refuse_what_is_none(name, numbers, POSE)
    return screws, numbers


def one_pose(name: str, pose: Pose) -> Pose:
    """One pose (4, 4) as numbers, or an error that says what is wrong with it."""
    numbers = _numbers(name, pose, "(4, 4)")
    if tuple(numbers.shape) != (4, 4):
        raise ShapeError(f"`{name}` must have shape (4, 4), one pose, got {tuple(numbers.shape)}.")
    refuse_what_is_none(name, numbers, POSE)
    return numbers


def _numbers(name: str, value: Array, shape: str) -> Array:
    try:
        return as_numbers(value)
    except ForeignArray as error:
        raise ForeignArray(f"`{name}`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{name}` must be real numbers of shape {shape}, got {value!r:.60}.") from error


def _refuse(name: str, value: Array, group: str) -> None:
    rows, is_pose = _entries(value), group == POSE
    if is_pose and _some(wrong := _away_from(rows[3], (0.0, 0.0, 0.0, 1.0))):
        at, first = _first(value, wrong)
        transposed = not _some(_away_from(first[:, 3].tolist(), (0.0, 0.0, 0.0, 1.0)))
        raise ModelError(
            f"`{name}`{at} must be a pose, 4×4 (R, p; 0, 1), but its bottom row is {first[3].tolist()}."
            + (" A matrix for row vectors is transposed: pass `T.T`." if transposed else "")
        )
    kind = "a pose, 4×4 (R, p; 0, 1)" if is_pose else "a rotation, 3×3"
    x, y, z = rows[:3]
    if _some(wrong := reduce(or_, [abs(defect) > PRINTED for defect in _defects(x, y, z)])):
        at, first = _first(value, wrong)
        worst = max(map(abs, _defects(*_entries(first)[:3])))
        raise ModelError(
            f"`{name}`{at} must be {kind}, but R Rᵀ differs from 1 by up to {worst:.3g}. "
            "`torsor.modern_robotics.ProjectToSE3` (ProjectToSO3) gives the nearest one, if this one is only rounded."
        )
    if _some(wrong := _determinant(x, y, z) < 0.0):
        at, _ = _first(value, wrong)
        raise ModelError(f"`{name}`{at} must be {kind}, but R is a reflection (determinant −1): an axis is flipped.")


def _entries(T: Array) -> Any:
    """Rows of numbers, or of arrays over the batch: numbers are ten times as fast."""
    return T.tolist() if T.ndim == 2 else numpy.moveaxis(T, (-2, -1), (0, 1))


def _defects(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    """The six different entries of R Rᵀ − 1, of the rows of R (or longer ones, whose first three count)."""
    return (_dot(x, x) - 1.0, _dot(y, y) - 1.0, _dot(z, z) - 1.0, _dot(x, y), _dot(x, z), _dot(y, z))


def _determinant(x: Any, y: Any, z: Any) -> Any:
    (a, b, c, *_), (d, e, f, *_) = x, y
    return _dot((b * f - c * e, c * d - a * f, a * e - b * d), z)


def _dot(x: Any, y: Any) -> Any:
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2]


def _away_from(row: Any, wanted: tuple[float, ...]) -> Any:
    return reduce(or_, [abs(x - y) > PRINTED for x, y in zip(row, wanted, strict=True)])


def _some(wrong: Any) -> bool:
    return wrong if wrong.__class__ is bool else bool(wrong.any())


def _first(value: Array, wrong: Any) -> tuple[str, Array]:
    """Where the first wrong matrix of a batch stands, as text, and the matrix."""
    if value.ndim == 2:
        return "", value
    at = numpy.unravel_index(int(numpy.argmax(wrong)), value.shape[:-2])
    return f"[{', '.join(map(str, at))}]", value[at]
