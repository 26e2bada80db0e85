"""Arrays of other libraries, known by their classes, for no library is imported here: none is taken for numbers unasked.

JAX's arrays are no strangers: `namespace` knows them, and algorithms run on them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy

from torsor.errors import ShapeError


class ForeignArray(ShapeError):
    """An array of another library came where numbers are read. Functions with a bridge to the library take it from there."""


class Kind(NamedTuple):
    """A class of arrays: what it is called, what to type where it is not taken, and if there is a bridge, its module and how a
    list of such arrays becomes one of them.
    """

    called: str
    instead: str
    bridge: str | None = None
    joined: str = ""


_NOT_HERE = ", which is not taken here: pass its numbers, "
_UNITS = ", and numbers here have no units (they are in SI units, angles in radians): pass numbers, as in "
_KINDS = {
    ("torch", "Tensor"): Kind("a torch tensor", f"{_NOT_HERE}x.detach().numpy()", "torch", "torch.stack(x)"),
    ("dask", "Array"): Kind("a dask array", f"{_NOT_HERE}x.compute()", "dask", "dask.array.stack(x)"),
    ("xarray", "DataArray"): Kind("an xarray DataArray", f"{_NOT_HERE}x.values", "xarray", "xarray.concat(x, 'time')"),
    ("xarray", "Dataset"): Kind("an xarray Dataset", " of several arrays: pass one of them, as in x['q']"),
    ("xarray", "NamedArray"): Kind("an xarray Variable", ": pass xarray.DataArray(x)"),
    ("pint", "Quantity"): Kind("a pint Quantity", f"{_UNITS}x.to('rad').magnitude"),
    ("unyt", "unyt_array"): Kind("a unyt array", f"{_UNITS}x.to_value('rad')"),
    ("astropy", "Quantity"): Kind("an astropy Quantity", f"{_UNITS}x.to_value('rad')"),
    ("numpy", "MaskedArray"): Kind(
        "a masked array", ", and what is masked is no number: pass x.filled(0.0), or x.data if nothing is masked"
    ),
}
_LISTS = (list, tuple)
_PLAIN = (float, int, numpy.ndarray)


def kind_of(value: Any) -> Kind | None:
    """Which of the known arrays of other libraries a value is, if any; a class that a user has made of one counts as well."""
    if type(value) is numpy.ndarray:
        return None
    for base in type(value).__mro__:
        if (kind := _KINDS.get((base.__module__.partition(".")[0], base.__name__))) is not None:
            return kind
    return None


def refuse_foreign(value: Any, name: str = "") -> None:
    """Raise a `ForeignArray` if a value, or what lists hold, is an array of another library; ``name`` of the argument."""
    said = f"`{name}`: " if name else ""
    if isinstance(value, _LISTS):
        _refuse_foreign_parts(value, said)
    elif (kind := kind_of(value)) is not None:
        raise ForeignArray(f"{said}this is {kind.called}{kind.instead}.")
    elif _is_unknown_array(value):
        called = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}"
        raise ForeignArray(f"{said}this is a {called}, an array of another library{_NOT_HERE}numpy.from_dlpack(x).")


def _is_unknown_array(value: Any) -> bool:
    """Whether a value hands over its memory as arrays do, and is neither NumPy's nor one that `namespace` knows."""
    known = isinstance(value, (numpy.ndarray, numpy.generic)) or hasattr(value, "__array_namespace__")
    return not known and hasattr(value, "__dlpack__")


def _refuse_foreign_parts(values: Sequence[Any], said: str) -> None:
    """As `refuse_foreign`; of many numbers in a list, each kind is looked at once."""
    kinds = {type(part): part for part in values}
    for part in values if any(issubclass(kind, _LISTS) for kind in kinds) else kinds.values():
        if isinstance(part, _LISTS):
            _refuse_foreign_parts(part, said)
        elif type(part) not in _PLAIN and (kind := kind_of(part)) is not None:
            what = f": make one array of them first, as in {kind.joined}" if kind.joined else kind.instead
            raise ForeignArray(f"{said}in a list there is {kind.called}{what}.")
