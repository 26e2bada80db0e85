"""Dask arrays: nothing is computed when a function is called, and each block of states by itself later."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan
from typing import Any

import dask.array
import numpy as np

from torsor.bridges import Crossing, numbers
from torsor.errors import ArgumentError, ShapeError


def call(crossing: Crossing) -> list[Any]:
    """The outputs as dask arrays: `dask.array.apply_gufunc` over the batch axes."""
    if crossing.out is not None:
        raise ArgumentError("out= is for results that are computed now, and dask arrays are not: leave it out.")
    given = [x if isinstance(x, dask.array.Array) else numbers(name, x) for name, x in crossing.arrays.items()]
    for (name, axes), x in zip(crossing.axes.items(), given, strict=True):
        if x.dtype.kind not in "fiub":
            raise ShapeError(f"`{name}` must be real numbers, got a dask array of {x.dtype}.")
        _refuse_cut_axes(name, len(axes), x)
    shapes = [tuple(1 if isnan(size) else size for size in x.shape) for x in given]  # sizes that dask does not know yet
    found = crossing.probe(shapes, [x.dtype for x in given])
    cores = [part.shape[1:] for part in found]
    sizes = {f"out{k}_{i}": size for k, core in enumerate(cores) for i, size in enumerate(core)}
    left = ",".join(
        f"({','.join(f'in{k}_{i}' for i in range(len(axes)))})" for k, axes in enumerate(crossing.axes.values())
    )
    right = ",".join(f"({','.join(f'out{k}_{i}' for i in range(len(core)))})" for k, core in enumerate(cores))
    results = dask.array.apply_gufunc(
        partial(_block, crossing.evaluate),
        f"{left}->{right}",
        *_cut_alike(given, [len(axes) for axes in crossing.axes.values()]),
        output_dtypes=[part.dtype for part in found] if len(found) > 1 else found[0].dtype,
        output_sizes=sizes,
    )
    return list(results) if len(found) > 1 else [results]


def _cut_alike(given: Sequence[Any], ranks: Sequence[int]) -> Sequence[Any]:
    """The arrays with the same chunks along the batch axes that they have in common."""
    pairs = []
    for k, (x, rank) in enumerate(zip(given, ranks, strict=True)):
        lead = x.ndim - rank
        pairs += [dask.array.asarray(x), (*range(-lead, 0), *(f"in{k}_{i}" for i in range(rank)))]
    return dask.array.unify_chunks(*pairs)[1]  # type: ignore[no-any-return]


def _block(evaluate: Callable[[Sequence[Any]], Sequence[Any]], *blocks: Any) -> Any:
    results = evaluate([np.asarray(block) for block in blocks])
    return tuple(results) if len(results) > 1 else results[0]


def _refuse_cut_axes(name: str, rank: int, x: Any) -> None:
    for axis in range(-rank, 0) if isinstance(x, dask.array.Array) and x.ndim >= rank else ():
        if len(x.chunks[axis]) > 1:
            raise ShapeError(
                f"`{name}` is cut along axis {axis}, which belongs to one state (chunks {x.chunks[axis]}): pass "
                f"{name.partition('.')[0]}.rechunk({{{axis}: -1}})."
            )
