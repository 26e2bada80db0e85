"""Tensors too large to be written out operation by operation: evaluated as products of whole arrays, slice by slice.

A straight line of machine code is the fastest road for a robot arm. With the fourth power of twenty joints it would take
minutes to compile; there NumPy's matrix products do the work, and the batch is cut so that what lies between fits the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.checked import signature_of
from torsor.errors import ShapeError
from torsor.model import Robot

UNROLLED_MOST = 60_000  # operations: a few seconds of compiling, once per robot
SLICE = 8_000_000  # bytes of result at a time


class ArrayForm(NamedTuple):
    """The same function by whole arrays, and the operations it would take one by one for a robot."""

    evaluate: Callable[..., Any]
    operations: Callable[[Robot], int]

    def is_better_for(self, robot: Robot) -> bool:
        """Whether the function is too long to be written out for a robot."""
        return self.operations(robot) > UNROLLED_MOST


def in_slices(
    form: ArrayForm, algorithm: Callable[..., Any], values: Mapping[str, Any], batch: tuple[int, ...], out: Any
) -> Any:
    """The function of checked arguments, by slices of the batch, into ``out`` if it is given."""
    signature = signature_of(algorithm)
    robot = values[signature.names[0]]
    names = [name for name in signature.names[1:] if name in values]
    count = prod(batch)
    flat = []
    for name in names:
        x, rank = values[name], len(signature.arrays[name].axes)
        core = x.shape[x.ndim - rank :]
        flat.append(np.broadcast_to(x, (*batch, *core)).reshape(count, *core))
    size = tuple(int(getattr(robot, axis)) for axis in signature.returned or ())
    if out is None:
        out = np.empty((*batch, *size))
    elif out.shape != (*batch, *size):
        raise ShapeError(f"out: must have shape {(*batch, *size)}, got {out.shape}.")
    result = np.empty((count, *size)) if not out.flags.c_contiguous or out.dtype != np.float64 else None
    rows = out.reshape(count, *size) if result is None else result
    step = max(1, SLICE // (8 * max(1, prod(size))))
    with np.errstate(all="ignore"):  # what is not finite is answered with NaN, not with warnings
        for start in range(0, count, step):
            part = slice(start, start + step)
            rows[part] = form.evaluate(robot, *(x[part] for x in flat))
    if result is not None:
        out[...] = result.reshape(out.shape)
    return out if out.shape else out[()]
