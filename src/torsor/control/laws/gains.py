"""Gains as people give them, one number for all or one for each: checked, and made one for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from torsor.arrays import as_numbers, concat, is_concrete
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ShapeError

FEW = 64
Batch = tuple[int, ...]
Labels = Callable[[], Sequence[str]]  # asked for where there is something to say of them


def gains(where: str, name: str, value: Array, size: int, labels: Labels, batch: Batch) -> Array:
    """``value`` as (..., size), one for each of the labels, with no batch axes but those of the states.

    Numbers that are known must be finite and not negative; those of a kernel, or of JAX, are not looked at.
    """
    if type(value) is float and 0.0 <= value < math.inf:
        return _repeated(value, size)
    try:
        k = as_numbers(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"{where}: `{name}` must be a number or {size} numbers, got {value!r:.60}.") from error
    shape = tuple(np.shape(k))
    if (shape and shape[-1] not in (1, size)) or not _fits(shape[:-1], batch):
        raise ShapeError(f"{where}: `{name}` must be {_accepted(labels(), batch)}, got shape {shape}.{_advice(shape)}")
    if is_concrete(k) and not _are_sound(k):
        _refuse(where, name, k, labels())
    return _one_for_each(k, size)


def _fits(own: Batch, batch: Batch) -> bool:
    """Whether the batch axes of gains are among those of the states."""
    if not own:
        return True
    try:
        return np.broadcast_shapes(own, batch) == batch
    except ValueError:
        return False


def _accepted(labels: Sequence[str], batch: Batch) -> str:
    size, few = len(labels), ", ".join((*labels[:3], "…") if len(labels) > 4 else labels)
    own = f", or have shape {(*batch, size)}, for each state of the batch" if batch else ""
    return f"a number or have shape ({size},), one for each of {few}{own}"


def _advice(shape: Batch) -> str:
    if len(shape) < 2:
        return ""
    if shape[-1] == shape[-2]:
        return " A diagonal matrix K is given by its diagonal, np.diag(K)."
    return " Gains have no batch axes of their own: for one state under many gains, repeat the state."


def _are_sound(k: Array) -> bool:
    """Whether all are finite and not negative; a few are faster looked at one by one."""
    if k.size <= FEW:
        return all(0.0 <= x < math.inf for x in k.ravel().tolist())
    return bool(k.min() >= 0.0 and k.max() < math.inf)  # neither, if one is NaN


def _refuse(where: str, name: str, k: Array, labels: Sequence[str]) -> None:
    place = next(place for place in np.ndindex(k.shape) if not 0.0 <= k[place] < math.inf)
    own = f" for {labels[place[-1]]}" if place and k.shape[-1] == len(labels) else ""
    state = f" in state {', '.join(map(str, place[:-1]))}" if len(place) > 1 else ""
    raise ArgumentError(f"{where}: `{name}` must be finite and not negative, got {float(k[place])}{own}{state}.")


def _one_for_each(k: Array, size: int) -> Array:
    if not np.shape(k):
        k = k[..., None]
    return k if k.shape[-1] == size else concat([k] * size)


@lru_cache(maxsize=1024)
def _repeated(value: float, size: int) -> Array:
    """The same array for the same number: most gains are the same in every call of a loop."""
    k = np.full(size, value)
    k.flags.writeable = False
    return k
