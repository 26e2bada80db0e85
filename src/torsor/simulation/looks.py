"""What was found when a user's function was looked at, kept as long as everything it refers to is still the same.

To look at a function takes longer than many a step of a simulation. What it refers to is noted meanwhile: names and their values,
and the content of arrays. The next time these are compared, one after the other.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

_MISSING = object()


class Looked(NamedTuple):
    """The text that tells a function from others, and whether it refers to arrays, and to numbers by their names."""

    text: str
    has_arrays: bool
    has_numbers: bool


class References(NamedTuple):
    """What a function refers to: values by name in a dict, values in cells, and arrays with type, shape and content."""

    names: list[tuple[dict[str, Any] | None, str, Any]]  # None: where the function itself is defined
    cells: list[tuple[types.CellType, Any]]
    arrays: list[tuple[np.ndarray, np.dtype[Any], tuple[int, ...], bytes]]
    functions: list[tuple[types.FunctionType, Any, Any, Any]]  # with code and defaults
    mappings: list[tuple[Mapping[Any, Any], tuple[Any, ...]]]

    def are_the_same(self, home: dict[str, Any]) -> bool:
        """Whether all of it is what it was, for a function with the names of ``home``."""
        # This is asked before every simulation, so it is written out
        for known, name, value in self.names:
            if (home if known is None else known).get(name, _MISSING) is not value:
                return False
        for cell, value in self.cells:
            if cell.cell_contents is not value:
                return False
        for function, code, defaults, named in self.functions:
            own = function.__code__ is code and function.__defaults__ is defaults
            if not own or function.__kwdefaults__ is not named:
                return False
        for mapping, items in self.mappings:
            if not _same(tuple(mapping.items()), items):
                return False
        for array, dtype, shape, content in self.arrays:
            if array.dtype is not dtype or array.shape != shape or array.tobytes() != content:
                return False
        return True


# Nothing in it refers to its function, which goes when nobody else has it
_LOOKS: WeakKeyDictionary[Any, tuple[Looked, tuple[Any, ...], References]] = WeakKeyDictionary()
_NOTES: ContextVar[References | None] = ContextVar("notes", default=None)


def known_before(function: Any) -> Looked | None:
    """What was found when the function was looked at, if that still holds."""
    if type(function) is not types.FunctionType:
        return None
    found = _LOOKS.get(function)
    if found is None:
        return None
    looked, own, references = found
    if not (function.__code__ is own[0] and function.__defaults__ is own[1] and function.__kwdefaults__ is own[2]):
        return None
    try:
        return looked if references.are_the_same(function.__globals__) else None
    except ValueError:  # a cell has become empty
        return None


def remember_look(function: Any, looked: Looked, references: References) -> None:
    """Keep what was found."""
    if type(function) is not types.FunctionType:
        return
    home = function.__globals__
    names = [(None if known is home else known, name, value) for known, name, value in references.names]
    others = [entry for entry in references.functions if entry[0] is not function]
    own = (function.__code__, function.__defaults__, function.__kwdefaults__)
    _LOOKS[function] = (looked, own, references._replace(names=names, functions=others))


@contextmanager
def looking() -> Iterator[References]:
    """Notes what is referred to while a function is looked at."""
    references = References([], [], [], [], [])
    token = _NOTES.set(references)
    try:
        yield references
    finally:
        _NOTES.reset(token)


def note(array: np.ndarray, content: bytes) -> None:
    """An array with its content."""
    if (notes := _NOTES.get()) is not None:
        notes.arrays.append((array, array.dtype, array.shape, content))


def note_mapping(mapping: Mapping[Any, Any]) -> None:
    """A mapping with its items."""
    if (notes := _NOTES.get()) is not None:
        notes.mappings.append((mapping, tuple(mapping.items())))


def note_function(function: types.FunctionType, names: tuple[str, ...]) -> None:
    """A function with its code, defaults, cells, and what its names mean, or that they mean nothing."""
    if (notes := _NOTES.get()) is None:
        return
    known = function.__globals__
    notes.functions.append((function, function.__code__, function.__defaults__, function.__kwdefaults__))
    if function.__kwdefaults__:
        note_mapping(function.__kwdefaults__)
    notes.names.extend((known, name, known.get(name, _MISSING)) for name in names)
    notes.cells.extend((cell, cell.cell_contents) for cell in function.__closure__ or ())


def _same(now: tuple[Any, ...], before: tuple[Any, ...]) -> bool:
    """Whether pairs of names and values are the very same."""
    return len(now) == len(before) and all(x[0] == y[0] and x[1] is y[1] for x, y in zip(now, before, strict=True))
