"""Arrays of other libraries in, arrays of theirs out: one module for each library, imported when such an array comes.

A bridge is given a `Crossing`: a call of any function, with the trailing axes of its arrays and how it is evaluated with NumPy
arrays. It says nothing about robots. Functions that cannot be crossed refuse such arrays in words (`arrays.foreign`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import as_numbers, namespace
from torsor.arrays.foreign import ForeignArray, kind_of
from torsor.errors import ArgumentTypeError, ShapeError

Axes = tuple[str, ...]  # words of trailing axes: "nv" is one thing wherever it stands, "6" is a size
Parts = Callable[[Any], Sequence[Any]]  # the outputs of what a function returns
Pullback = Callable[[Sequence[str], Sequence[Any]], Callable[..., Any]]


class Crossing(NamedTuple):
    """A call with arrays of another library among its arguments.

    ``arrays`` are what was given, by name, each with its trailing ``axes``. ``evaluate`` is the same call with NumPy arrays in
    their place, in order, to a list of NumPy arrays (which may be given behind): the ``outputs`` with theirs. ``gather`` makes of
    these what the caller is given. ``pullback``, for names of arrays and NumPy arrays in place of all, gives the function
    (*arrays, *weights) → dict of Σ weights times derivatives of the outputs; None if there are none.
    ``out``: where the results go.
    """

    arrays: dict[str, Any]
    axes: dict[str, Axes]
    outputs: dict[str, Axes]
    evaluate: Callable[..., Sequence[Any]]
    gather: Callable[[Sequence[Any]], Any]
    pullback: Pullback | None = None
    out: Sequence[Any] | None = None

    def probe(self, shapes: Sequence[tuple[int, ...]], dtypes: Sequence[Any]) -> list[Any]:
        """Outputs for no state at all: shapes are checked, and those of the results become known, before there are numbers."""
        cores = [shape[len(shape) - len(axes) :] for shape, axes in zip(shapes, self.axes.values(), strict=True)]
        leads = [shape[: len(shape) - len(axes)] for shape, axes in zip(shapes, self.axes.values(), strict=True)]
        empty = [np.empty((0, *core), dtype) for core, dtype in zip(cores, dtypes, strict=True)]
        try:
            np.broadcast_shapes(*leads)
            return list(self.evaluate(empty))
        except ValueError:  # say it of the shapes that came
            self.evaluate([np.broadcast_to(np.zeros((), dtype), s) for s, dtype in zip(shapes, dtypes, strict=True)])
            raise


def foreign_among(*values: Any) -> bool:
    """Whether one of the values, or of those in dicts and tuples, is an array that a bridge could take."""
    return any(
        type(part) is not np.ndarray and (kind := kind_of(part)) is not None and kind.bridge is not None
        for part in _parts(values)
    )


def _parts(values: Sequence[Any]) -> Sequence[Any]:
    found: list[Any] = []
    for value in values:
        if isinstance(value, Mapping) and kind_of(value) is None:  # a Dataset of xarray is a mapping, and one argument
            found.extend(value.values())
        elif isinstance(value, tuple):
            found.extend(value)
        else:
            found.append(value)
    return found


def across(crossing: Crossing) -> Any:
    """What the caller is given: arrays of the library that the arguments are of."""
    kinds = {name: kind for name, x in crossing.arrays.items() if (kind := kind_of(x)) is not None}
    for name, kind in kinds.items():
        if kind.bridge is None:
            raise ForeignArray(f"`{name}`: this is {kind.called}{kind.instead}.")
    one = next(iter(kinds))
    for name, x in crossing.arrays.items():
        other = kinds[name].called if name in kinds else _called(x)
        if other not in (None, kinds[one].called):
            raise ArgumentTypeError(
                f"`{one}` is {kinds[one].called} and `{name}` is {other}: whose should the result be? "
                "Pass arrays of one library; NumPy arrays go with all."
            )
    bridge = import_module(f"torsor.bridges.{kinds[one].bridge}")
    return crossing.gather(bridge.call(crossing))


def _called(value: Any) -> str | None:
    """What an array is that is neither NumPy's nor one of `foreign`, if it is one: JAX's, or an input of a kernel being made."""
    library = namespace(value)
    if library is np:
        return None
    return "an array of JAX" if library.__name__ == "jax.numpy" else "an input of a function that is being compiled"


def numbers(name: str, value: Any) -> Any:
    """An argument that is no array of another library, as a NumPy array."""
    try:
        return as_numbers(value)
    except ShapeError as error:
        raise type(error)(f"`{name}`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{name}` must be an array of numbers, got {value!r:.80}.") from error


def alone(results: Sequence[Any]) -> Any:
    """`Crossing.gather` where there is one output."""
    return results[0]


def in_a_tuple(result: Any) -> tuple[Any, ...]:
    """The outputs of what a function with one output returns."""
    return (result,)


def by_name(names: Sequence[str], results: Sequence[Any]) -> dict[str, Any]:
    """`Crossing.gather`, after the names, where outputs are given in a dict."""
    return dict(zip(names, results, strict=True))


def values_of(results: Mapping[str, Any]) -> list[Any]:
    """The outputs of what a function with a dict of outputs returns."""
    return list(results.values())


class Template(NamedTuple):
    """The arguments of a call without its arrays: which of them are arrays, in which containers, and all others.

    ``layout`` has for each array argument None, the keys of its dict, or the length of its tuple: the order of a kernel's inputs.
    """

    layout: dict[str, tuple[Any, ...] | int | None]
    others: dict[str, Any]

    def filled(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """All arguments, with these arrays."""
        left, given = iter(arrays), dict(self.others)
        for name, inner in self.layout.items():
            if inner is None:
                given[name] = next(left)
            elif isinstance(inner, int):
                given[name] = tuple(next(left) for _ in range(inner))
            else:
                given[name] = {key: next(left) for key in inner}
        return given


def taken_apart(
    axes: Mapping[str, Axes], values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Axes], Template]:
    """The arrays of a call by name ("q", "forces.tool", "plane.0"), their axes, and what is left without them."""
    arrays: dict[str, Any] = {}
    words: dict[str, Axes] = {}
    layout: dict[str, tuple[Any, ...] | int | None] = {}
    for name, own in axes.items():
        value = values.get(name)
        if value is None:
            continue
        inner: dict[Any, Any] | None = None
        if isinstance(value, Mapping) and kind_of(value) is None:
            inner = {key: value[key] for key in sorted(value)}
            layout[name] = tuple(inner)
        elif isinstance(value, tuple):
            inner = dict(enumerate(value))
            layout[name] = len(value)
        else:
            layout[name] = None
        found = {name: value} if inner is None else {f"{name}.{key}": x for key, x in inner.items()}
        arrays |= found
        words |= dict.fromkeys(found, own)
    return arrays, words, Template(layout, {name: x for name, x in values.items() if name not in layout})


def evaluated_by(
    function: Callable[..., Any], template: Template, parts: Parts, gather: Callable[[Sequence[Any]], Any]
) -> Callable[..., Sequence[Any]]:
    """`Crossing.evaluate` of a function: an object that other processes can be sent, where they evaluate a part of a batch."""
    return partial(_evaluated, function, template, parts, gather)


def _evaluated(
    function: Callable[..., Any],
    template: Template,
    parts: Parts,
    gather: Callable[[Sequence[Any]], Any],
    arrays: Sequence[Any],
    out: Sequence[Any] | None = None,
) -> Sequence[Any]:
    given = template.filled(arrays)
    if out is not None:
        given["out"] = gather(out)
    return [np.asarray(part) for part in parts(function(**given))]
