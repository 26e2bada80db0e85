"""What a caller may pass: lists or arrays of numbers, read once and checked, with the book's words in the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Algebra, Array, Matrix3, Pose, Rotation
from torsor.errors import ModelError, ShapeError

PRINTED = 0.02  # what two printed digits of a rotation matrix may leave in R Rᵀ − 1
_SKEW = 1e-6  # of the largest entry: what a computed matrix of so(3) may have on its symmetric side


def numbers(where: str, name: str, value: Any, shape: tuple[int, ...], meaning: str) -> Array:
    """``value`` as float64 of exactly ``shape``, or a ShapeError that says what ``name`` means in the book."""
    array = as_floats(where, name, value, meaning)
    if array.shape != shape:
        wanted = f"shape {shape}" if shape else "one number"
        raise ShapeError(f"{where}: `{name}` must be {meaning}: {wanted}; got shape {array.shape}.")
    return array


def as_floats(where: str, name: str, value: Any, meaning: str) -> Array:
    """``value`` as an array of float64 of any shape."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ShapeError(f"{where}: `{name}` must be {meaning}; got {value!r:.80}.") from None


def rotation(where: str, name: str, value: Any) -> Rotation:
    """A rotation matrix (3, 3); one that was rounded when it was printed is let through as it is."""
    R = numbers(where, name, value, (3, 3), "a rotation matrix, 3×3")
    _check_rotation(f"{where}: `{name}` must be a rotation matrix", R, "ProjectToSO3")
    return R


def pose(where: str, name: str, value: Any) -> Pose:
    """A homogeneous transformation (4, 4), m; rounded entries are let through as they are."""
    T = numbers(where, name, value, (4, 4), "a homogeneous transformation (R, p; 0, 1), 4×4")
    what = f"{where}: `{name}` must be a homogeneous transformation (R, p; 0, 1)"
    if np.any(np.abs(T[3] - (0.0, 0.0, 0.0, 1.0)) > PRINTED):
        raise ModelError(f"{what}; its bottom row is {T[3].tolist()}.")
    _check_rotation(what, T[:3, :3], "ProjectToSE3")
    return T


def so3_matrix(where: str, name: str, value: Any) -> Matrix3:
    """A skew-symmetric matrix (3, 3)."""
    W = numbers(where, name, value, (3, 3), "a matrix of so(3), skew-symmetric, 3×3")
    _check_skew(f"{where}: `{name}` must be skew-symmetric, a matrix of so(3)", W, "MatrixLog3")
    return W


def se3_matrix(where: str, name: str, value: Any) -> Algebra:
    """A matrix ([ω], v; 0, 0) of se(3), (4, 4)."""
    X = numbers(where, name, value, (4, 4), "a matrix ([ω], v; 0, 0) of se(3), 4×4")
    what = f"{where}: `{name}` must be a matrix ([ω], v; 0, 0) of se(3)"
    if np.any(X[3] != 0.0):
        raise ModelError(f"{what}; its bottom row is {X[3].tolist()}. A pose becomes one by MatrixLog6.")
    _check_skew(what, X[:3, :3], "MatrixLog6")
    return X


def positive(where: str, name: str, value: Any, meaning: str) -> float:
    """A positive finite number."""
    number = float(numbers(where, name, value, (), meaning))
    if not 0.0 < number < np.inf:
        raise ModelError(f"{where}: `{name}` must be {meaning}, positive and finite; got {number:g}.")
    return number


def whole(where: str, name: str, value: Any, least: int, meaning: str) -> int:
    """A whole number, at least ``least`` (4.0 will do)."""
    number = float(numbers(where, name, value, (), meaning))
    if not (np.isfinite(number) and number == int(number) and number >= least):
        raise ModelError(f"{where}: `{name}` must be {meaning}, a whole number of at least {least}; got {number:g}.")
    return int(number)


def _check_rotation(what: str, R: Rotation, cure: str) -> None:
    defect = np.abs(R @ R.T - np.eye(3)).max()
    if defect > PRINTED:
        raise ModelError(
            f"{what}: R Rᵀ differs from 1 by up to {defect:.3g}. {cure} gives the nearest one, if this one is only rounded."
        )
    if np.linalg.det(R) < 0:
        raise ModelError(f"{what}: this one is a reflection (determinant −1); one axis is flipped.")


def _check_skew(what: str, W: Matrix3, source: str) -> None:
    if np.abs(W + W.T).max() > _SKEW * np.abs(W).max():
        raise ModelError(
            f"{what}; W + Wᵀ has entries up to {np.abs(W + W.T).max():.3g}. A rotation becomes one by {source}."
        )
