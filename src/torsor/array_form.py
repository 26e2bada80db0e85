"""Tensors too large to be written out operation by operation: evaluated as products of whole arrays, slice by slice.

A straight line of machine code is the fastest road for a robot arm. With the fourth power of twenty joints it would take
too long to compile; there NumPy's matrix products do the work, and the batch is cut so that what lies between fits the cache.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.checked import signature_of
from torsor.errors import ShapeError
from torsor.model import Robot

UNROLLED_MOST = 60_000  # operations: a few seconds of compiling, once per robot
SLICE = 8_000_000  # bytes at a time, of the result or of what lies between, whichever is more


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
    names = signature.names[1:]
    if any(name not in values for name in names):
        inspect.signature(algorithm).bind(**values)  # raises the TypeError Python would
    robot, count = values[signature.names[0]], prod(batch)
    dtype = np.dtype(np.float32 if all(values[name].dtype == np.float32 for name in names) else np.float64)
    flat = []
    for name in names:
        x, rank = values[name], len(signature.arrays[name].axes)
        core = x.shape[x.ndim - rank :]
        flat.append(np.broadcast_to(np.asarray(x, np.float64), (*batch, *core)).reshape(count, *core))
    size = tuple(int(getattr(robot, axis)) for axis in signature.returned or ())
    out = _checked_out(out, (*batch, *size), dtype)
    apart = not out.flags.c_contiguous or dtype != np.float64 or any(np.may_share_memory(out, x) for x in flat)
    rows = np.empty((count, *size)) if apart else out.reshape(count, *size)
    between = min(form.operations(robot) // 8, robot.nv**4)  # numbers, about: the tensor a scalar is contracted from
    step = max(1, SLICE // (8 * max(between, prod(size))))
    with np.errstate(all="ignore"):  # what is not finite is answered with NaN, not with warnings
        for start in range(0, count, step):
            part = slice(start, start + step)
            rows[part] = form.evaluate(robot, *(x[part] for x in flat))
    if apart:
        out[...] = rows.reshape(out.shape)
    return out


def in_jax(form: ArrayForm, algorithm: Callable[..., Any], plain: Callable[..., Any], values: Mapping[str, Any]) -> Any:
    """The function of JAX arrays: XLA calls back to `in_slices`; derivatives are those of the algorithm under ``jax.numpy``.

    Whole tensors as XLA operations would take it half a minute to compile where NumPy's products take milliseconds.
    """
    import jax

    signature = signature_of(algorithm)
    names, robot = signature.names[1:], values[signature.names[0]]
    size = tuple(int(getattr(robot, axis)) for axis in signature.returned or ())

    def batch_of(arrays: tuple[Any, ...]) -> tuple[int, ...]:
        ranks = [len(signature.arrays[name].axes) for name in names]
        return np.broadcast_shapes(*(x.shape[: x.ndim - rank] for x, rank in zip(arrays, ranks, strict=True)))

    def back(*arrays: Any) -> Any:
        given = dict(zip(names, map(np.asarray, arrays), strict=True))
        return in_slices(form, algorithm, {signature.names[0]: robot, **given}, batch_of(arrays), None)

    def call(*arrays: Any) -> Any:
        result = jax.ShapeDtypeStruct((*batch_of(arrays), *size), jax.numpy.result_type(*arrays))
        return jax.pure_callback(back, result, *arrays, vmap_method="broadcast_all")

    def slopes(primals: Any, tangents: Any) -> Any:
        return call(*primals), jax.jvp(lambda *x: plain(robot, *x), primals, tangents)[1]

    function = jax.custom_jvp(call)
    function.defjvp(slopes)
    return function(*(jax.numpy.asarray(values[name]) for name in names))


def _checked_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """``out`` if it can hold the result, as for a kernel; a new array if there is none."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{getattr(out, 'shape', None)} of {getattr(out, 'dtype', type(out).__name__)}"
        raise ShapeError(f"out: must be an array of shape {shape} of {dtype}, got {found}.")
    if not out.flags.writeable:
        raise ShapeError("out: is read-only.")
    return out
