"""Tensors with too many entries for a program: evaluated as products of whole arrays, slice by slice.

A program knows each entry of its results. With the fourth power of thirty joints there are a million of them; there NumPy's
matrix products do the work, and the batch is cut so that what lies between fits the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from torsor.border.arrays import signature_of
from torsor.errors import ShapeError
from torsor.functions.describe import Algorithm, Outputs, Request
from torsor.model import Robot

ENTRIES_MOST = 400_000  # of a tensor, up to which a program is made: a second or two, once per robot
DIFFERENTIATED_MOST = 10_000  # the same, up to which the program is differentiated
SLICE = 8_000_000  # bytes at a time, of the result or of what lies between, whichever is more


class ArrayForm(NamedTuple):
    """The same function by whole arrays; ``rank``: of its largest tensor."""

    evaluate: Callable[..., Any]
    rank: int = 4

    def is_better_for(self, robot: Robot) -> bool:
        """Whether the tensor is too large for a program."""
        return bool(robot.nv**self.rank > ENTRIES_MOST)

    def is_differentiated_for(self, robot: Robot) -> bool:
        """Whether the program is short enough to be differentiated."""
        return bool(robot.nv**self.rank <= min(DIFFERENTIATED_MOST, ENTRIES_MOST))


class InArrays:
    """A function by whole arrays, for one request: its inputs in a kernel's order, its results as a list."""

    def __init__(self, form: ArrayForm, algorithm: Algorithm, outputs: Outputs, request: Request) -> None:
        self.form, self.algorithm, self.outputs, self.request = form, algorithm, outputs, request
        known = signature_of(algorithm).arrays
        self._ranks = [len(known[name].axes) for name, keys in request.keys().items() for _ in keys]
        self._sizes = [
            tuple(int(axis) if axis.isdigit() else int(getattr(request.robot, axis)) for axis in axes)
            for axes in outputs.axes(algorithm)
        ]

    def __call__(self, arrays: Sequence[Any], out: Sequence[Any] | None = None) -> list[Any]:
        """Evaluate for all states of the batch; ``out`` arrays are filled and returned, and may overlap inputs."""
        batch = self._batch(arrays)
        if batch or out is not None or self.request.dtype != "float64":
            return self.in_slices(arrays, batch, out)
        with np.errstate(all="ignore"):  # what is not finite is answered with NaN, not with warnings
            found = self.form.evaluate(self.request.robot, **self.request.arguments(arrays))
        return [np.asarray(value, order="C") for value in self.outputs.named(found).values()]

    def in_slices(self, arrays: Sequence[Any], batch: tuple[int, ...], out: Sequence[Any] | None) -> list[Any]:
        """The results for checked arrays, by slices of the batch, into ``out`` if it is given."""
        count, dtype = prod(batch), np.dtype(self.request.dtype)
        flat = [self._flat(x, rank, batch) for x, rank in zip(arrays, self._ranks, strict=True)]
        sizes = self._sizes
        results = [
            _checked_out(name, None if out is None else out[k], (*batch, *size), dtype)
            for k, (name, size) in enumerate(zip(self.outputs.names, sizes, strict=True))
        ]
        apart = [not r.flags.c_contiguous or dtype != np.float64 or _shared(r, flat) for r in results]
        rows = [
            np.empty((count, *size)) if away else result.reshape(count, *size)
            for result, size, away in zip(results, sizes, apart, strict=True)
        ]
        step = self._states_at_once(sum(map(prod, sizes)))
        with np.errstate(all="ignore"):
            for start in range(0, count, step):
                part = slice(start, start + step)
                given = self.request.arguments([x[part] for x in flat])
                found = self.form.evaluate(self.request.robot, **given)
                for row, value in zip(rows, self.outputs.named(found).values(), strict=True):
                    row[part] = value
        for result, row, away in zip(results, rows, apart, strict=True):
            if away:
                result[...] = row.reshape(result.shape)
        return results

    def in_jax(self, plain: Algorithm, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """The results for JAX arrays: XLA calls back to `in_slices`; derivatives are those of ``plain`` under ``jax.numpy``.

        Whole tensors as XLA operations would take it half a minute to compile where NumPy's products take milliseconds.
        """
        import jax

        def back(*arrays: Any) -> tuple[Any, ...]:
            return tuple(self.in_slices([np.asarray(x) for x in arrays], self._batch(arrays), None))

        def call(*arrays: Any) -> Any:
            batch, dtype = self._batch(arrays), jax.numpy.result_type(*arrays)
            results = tuple(jax.ShapeDtypeStruct((*batch, *size), dtype) for size in self._sizes)
            return jax.pure_callback(back, results, *arrays, vmap_method="broadcast_all")

        def direct(*arrays: Any) -> tuple[Any, ...]:
            result = plain(self.request.robot, **self.request.arguments(arrays))
            return tuple(self.outputs.named(result).values())

        def slopes(primals: Any, tangents: Any) -> Any:
            return call(*primals), jax.jvp(direct, primals, tangents)[1]

        function = jax.custom_jvp(call)
        function.defjvp(slopes)
        return function(*map(jax.numpy.asarray, arrays))  # type: ignore[no-any-return]

    def _batch(self, arrays: Sequence[Any]) -> tuple[int, ...]:
        leads = [x.shape[: x.ndim - rank] for x, rank in zip(arrays, self._ranks, strict=True)]
        return np.broadcast_shapes(*leads) if any(leads) else ()

    def _states_at_once(self, written: int) -> int:
        between: int = self.request.robot.nv ** min(self.form.rank, 4)  # numbers, about: a tensor that is contracted
        return max(1, SLICE // (8 * max(between, written)))

    @staticmethod
    def _flat(x: Any, rank: int, batch: tuple[int, ...]) -> Any:
        core = x.shape[x.ndim - rank :]
        return np.broadcast_to(np.asarray(x, np.float64), (*batch, *core)).reshape(prod(batch), *core)


def _shared(result: Any, arrays: Sequence[Any]) -> bool:
    return any(np.may_share_memory(result, x) for x in arrays)


def _checked_out(name: str, out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """``out`` if it can hold the result, as for a kernel; a new array if there is none."""
    if out is None:
        return np.empty(shape, dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != dtype:
        found = f"{getattr(out, 'shape', None)} of {getattr(out, 'dtype', type(out).__name__)}"
        raise ShapeError(f"out: `{name}` must be an array of shape {shape} of {dtype}, got {found}.")
    if not out.flags.writeable:
        raise ShapeError(f"out: `{name}` is read-only.")
    return out
