"""Lists of screws with what belongs to them: one number for each screw, one pose for each screw."""

from __future__ import annotations

from torsor.arrays import as_numbers
from torsor.arrays.typing import POSE, Array, Pose, Twist
from torsor.border.rigid_motions import refuse_what_is_none
from torsor.errors import ShapeError


def screw_list(where: str, screws: Twist) -> Twist:
    """``screws`` as numbers (k, 6), or a ShapeError."""
    numbers = _numbers(where, "screws", screws, "(k, 6)")
    if len(numbers.shape) != 2 or numbers.shape[1] != 6:
        raise ShapeError(f"{where}: `screws` must have shape (k, 6), one row for each screw, got {numbers.shape}.")
    return numbers


def one_for_each(where: str, screws: Twist, **coordinates: Array) -> list[Array]:
    """Coordinates (..., k) by name, as numbers: as many as there are screws (k, 6), or a ShapeError."""
    count = len(screw_list(where, screws))
    found = []
    for name, value in coordinates.items():
        numbers = _numbers(where, name, value, f"(..., {count})")
        if not numbers.shape or numbers.shape[-1] != count:
            raise ShapeError(
                f"{where}: `{name}` must have shape (..., {count}), one number for each of {count} screws, got {numbers.shape}."
            )
        found.append(numbers)
    return found


def poses_for_each(where: str, screws: Twist, name: str, poses: Pose) -> tuple[Twist, Pose]:
    """Screws (k, 6) and as many poses (k, 4, 4), as numbers, or an error that says what is wrong with them."""
    screws = screw_list(where, screws)
    count, numbers = len(screws), _numbers(where, name, poses, "(k, 4, 4)")
    if tuple(numbers.shape) != (count, 4, 4):
        raise ShapeError(
            f"{where}: `{name}` must have shape ({count}, 4, 4), one pose for each of {count} screws, got {numbers.shape}."
        )
    refuse_what_is_none(where, name, numbers, POSE)
    return screws, numbers


def one_pose(where: str, name: str, pose: Pose) -> Pose:
    """One pose (4, 4) as numbers, or an error that says what is wrong with it."""
    numbers = _numbers(where, name, pose, "(4, 4)")
    if tuple(numbers.shape) != (4, 4):
        raise ShapeError(f"{where}: `{name}` must have shape (4, 4), one pose, got {tuple(numbers.shape)}.")
    refuse_what_is_none(where, name, numbers, POSE)
    return numbers


def _numbers(where: str, name: str, value: Array, shape: str) -> Array:
    try:
        return as_numbers(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{where}: `{name}` must be real numbers of shape {shape}, got {value!r:.60}.") from error
