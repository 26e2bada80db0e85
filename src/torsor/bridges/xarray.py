"""Labelled arrays of xarray: batch axes are matched by their names, and keep these and their coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray

from torsor.bridges import Crossing, numbers
from torsor.errors import ArgumentError, ShapeError, TorsorError


def call(crossing: Crossing) -> list[Any]:
    """The outputs as DataArrays, named as they are; their dimensions are those of the batch, then their own (`_own`)."""
    if crossing.out is not None:
        raise ArgumentError("out= takes NumPy arrays, and the results here are DataArrays: leave it out.")
    given = {name: x if isinstance(x, xarray.DataArray) else numbers(name, x) for name, x in crossing.arrays.items()}
    if any(x.ndim < len(crossing.axes[name]) for name, x in given.items()):
        crossing.evaluate([np.asarray(x) for x in given.values()])  # says of which shape it must be
    _refuse_nameless(crossing, given)
    inner = {name: _last(name, x, len(crossing.axes[name])) for name, x in given.items()}
    known = _names_of_words(crossing, given, inner)
    own = {name: _own(name, axes, known) for name, axes in crossing.outputs.items()}
    try:
        results = xarray.apply_ufunc(
            lambda *arrays: _results(crossing.evaluate(arrays)),
            *given.values(),
            input_core_dims=list(inner.values()),
            output_core_dims=list(own.values()),
            join="exact",
            **_lazily(crossing, given, inner, own),
        )
    except TorsorError:
        raise
    except ValueError as error:  # xarray's own words: names or coordinates do not go together
        raise ShapeError(f"xarray cannot match the arguments: {error}") from error
    results = results if len(own) > 1 else (results,)
    return [_labelled(x.rename(name), known) for name, x in zip(own, results, strict=True)]


def _refuse_nameless(crossing: Crossing, given: dict[str, Any]) -> None:
    """Batch axes of arrays without names are the last of those with names; there may be no more of them."""
    leads = {name: x.ndim - len(crossing.axes[name]) for name, x in given.items()}
    named = {dim for name, x in given.items() if isinstance(x, xarray.DataArray) for dim in x.dims[: leads[name]]}
    for name, x in given.items():
        if leads[name] > len(named) and not isinstance(x, xarray.DataArray):
            raise ShapeError(
                f"`{name}` has {leads[name]} batch axes without names, and the DataArrays beside it have {len(named)}: pass "
                f"xarray.DataArray({name.partition('.')[0]}, dims=...)."
            )


def _results(arrays: Sequence[Any]) -> Any:
    return tuple(arrays) if len(arrays) > 1 else arrays[0]


def _last(name: str, x: Any, rank: int) -> list[str]:
    """The names of the axes of one state: the last ones, batch axes come first. Arrays without names get some of their own."""
    if isinstance(x, xarray.DataArray):
        return list(x.dims[x.ndim - rank :])
    return [f"{name} axis {k}" for k in range(rank)]


def _names_of_words(crossing: Crossing, given: dict[str, Any], inner: dict[str, list[str]]) -> dict[str, str]:
    """What the arguments call the axes "nv", "n", …, where they agree."""
    called: dict[str, set[str]] = {}
    sizes: dict[str, tuple[str, int]] = {}
    for name, x in given.items():
        if not isinstance(x, xarray.DataArray):
            continue
        for word, dim in zip(crossing.axes[name], inner[name], strict=True):
            other, size = sizes.setdefault(dim, (name, x.sizes[dim]))
            if size != x.sizes[dim]:
                raise ShapeError(
                    f"the dimension {dim!r} has size {size} in `{other}` and {x.sizes[dim]} in `{name}`: they are not the same "
                    f"thing, so rename one, as in {name}.rename({dim}='other')."
                )
            if not word.isdigit():
                called.setdefault(word, set()).add(dim)
    return {word: dims.pop() for word, dims in called.items() if len(dims) == 1}


def _own(output: str, axes: Sequence[str], known: dict[str, str]) -> list[str]:
    """The names of an output's own axes: as the arguments call the same thing, else the word for it ("nv"); a second one of the
    same name ends in _2. Axes that are only sizes are counted: T_0, T_1.
    """
    found: list[str] = []
    for k, word in enumerate(axes):
        name = f"{output}_{k}" if word.isdigit() else known.get(word, word)
        before = sum(known.get(other, other) == name for other in axes[:k])
        found.append(f"{name}_{before + 1}" if before else name)
    return found


def _labelled(x: Any, known: dict[str, str]) -> Any:
    """A result whose second axis of the same thing has the labels of the first."""
    for dim in known.values():
        others = [other for other in x.dims if other.rpartition("_")[0] == dim and other.rpartition("_")[2].isdigit()]
        for other in others if dim in x.coords else ():
            x = x.assign_coords({other: x.coords[dim].values})
    return x


def _lazily(
    crossing: Crossing, given: dict[str, Any], inner: dict[str, list[str]], own: dict[str, list[str]]
) -> dict[str, Any]:
    """What xarray has to know beforehand if dask is behind the arrays."""
    if all(getattr(x, "chunks", None) is None for x in given.values()):
        return {}
    found = crossing.probe([x.shape for x in given.values()], [x.dtype for x in given.values()])
    there = {dim for dims in inner.values() for dim in dims}
    sizes = {
        dim: size
        for dims, part in zip(own.values(), found, strict=True)
        for dim, size in zip(dims, part.shape[1:], strict=True)
        if dim not in there
    }
    types = [part.dtype for part in found]
    return {"dask": "parallelized", "output_dtypes": types, "dask_gufunc_kwargs": {"output_sizes": sizes}}
