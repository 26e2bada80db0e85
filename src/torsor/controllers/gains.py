"""Gains as people give them: one number for all, or one for each."""

from __future__ import annotations

import numpy as np

from torsor.arrays import as_numbers, concat
from torsor.arrays.typing import Array
from torsor.errors import ShapeError


def gains(where: str, name: str, value: Array, size: int, of: str) -> Array:
    """``value`` as an array that multiplies vectors (..., size): a number, (..., 1) or (..., size)."""
    try:
        k = as_numbers(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{where}: `{name}` must be a number or {size} numbers, got {value!r:.60}.") from error
    shape = tuple(np.shape(k))
    if shape and shape[-1] not in (1, size):
        raise ShapeError(
            f"{where}: `{name}` must be a number or have shape (..., {size}), one for each {of}, got {shape}."
        )
    return k


def one_for_each(k: Array, size: int) -> Array:
    """Gains (..., size), from what `gains` gives."""
    if not np.shape(k):
        k = k[..., None]
    return k if k.shape[-1] == size else concat([k] * size)
