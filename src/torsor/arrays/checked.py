"""The border: arguments are checked and converted once, then inner functions trust their callers.

What a function expects is read from its signature (``q: ConfigurationVector`` means shape (..., nq)), so the check,
the documentation and the tests share one source.
"""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, ParamSpec, TypeVar

import numpy

from torsor.arrays.namespace import namespace
from torsor.arrays.primitives import as_numbers
from torsor.errors import ShapeError

P = ParamSpec("P")
R = TypeVar("R")


class Argument(NamedTuple):
    """What the border knows of one array argument: where it stands, its trailing axes, their sizes if fixed."""

    position: int
    name: str
    axes: tuple[str, ...]
    sizes: tuple[int, ...] | None
    container: type | None  # dict: name → array; tuple: several arrays; None: one array


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """``function`` with every array argument checked against its annotated shape and converted to numbers."""
    expected: list[Argument] | None = None
    first = ""
    returned: tuple[str, ...] | None = None

    @functools.wraps(function)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        nonlocal expected, first, returned
        if expected is None:  # on first use: reading type hints at import would cost every user
            first, expected, returned = _signature(function)
        positional, named = list(args), kwargs
        model = positional[0] if positional else named.get(first)
        batches: dict[str, tuple[int, ...]] = {}
        for argument in expected:
            position, name = argument.position, argument.name
            in_place = position < len(positional)
            value = positional[position] if in_place else named.get(name)
            if value is None:
                continue
            converted = _convert(function.__name__, argument, value, model, batches)
            if in_place:
                positional[position] = converted
            else:
                named[name] = converted
        batch = next(iter(batches.values()), ())
        if len(set(batches.values())) > 1:
            batch = _common_batch(function.__name__, batches)
        result = function(*positional, **named)  # type: ignore[arg-type]
        return result if returned is None else _spread(result, batch, len(returned))

    return border


def _convert(where: str, argument: Argument, value: Any, model: Any, batches: dict[str, tuple[int, ...]]) -> Any:
    _, name, axes, sizes, container = argument
    if container is not None:
        inner = argument._replace(container=None)
        if container is dict:
            if not isinstance(value, Mapping):
                raise ShapeError(
                    f"{where}: `{name}` must map frame names to arrays {_shape(axes, model)}, got {value!r:.80}."
                )
            return {
                key: _convert(where, inner._replace(name=f"{name}[{key!r}]"), part, model, batches)
                for key, part in value.items()
            }
        return tuple(
            _convert(where, inner._replace(name=f"{name}[{k}]"), part, model, batches) for k, part in enumerate(value)
        )
    if sizes is None:
        sizes = tuple(_size(axis, model) for axis in axes)
    rank = len(sizes)
    if type(value) is not numpy.ndarray or value.dtype.kind != "f" or value.shape[value.ndim - rank :] != sizes:
        value = check(where, name, value, axes, model)
    batches[name] = value.shape[: len(value.shape) - rank]
    return value


def _signature(function: Callable[..., Any]) -> tuple[str, list[Argument], tuple[str, ...] | None]:
    hints = typing.get_type_hints(function, include_extras=True)
    names = list(inspect.signature(function).parameters)
    expected = []
    for position, name in enumerate(names):
        if (axes := axes_of(hints.get(name))) is not None:
            fixed = all(axis.isdigit() for axis in axes)
            sizes = tuple(map(int, axes)) if fixed else None
            expected.append(Argument(position, name, axes, sizes, _container(hints[name])))
    return names[0], expected, axes_of(hints.get("return"))


def axes_of(hint: Any) -> tuple[str, ...] | None:
    """The named trailing axes of an annotated array type, or None if the hint is not one (or is optional of one)."""
    if typing.get_origin(hint) is Annotated:
        words = typing.get_args(hint)[1]
        return tuple(words.split()[1:]) if isinstance(words, str) and words.startswith("...") else None
    for option in typing.get_args(hint):
        if (axes := axes_of(option)) is not None:
            return axes
    return None


def _container(hint: Any) -> type | None:
    origin = typing.get_origin(hint)
    if origin is Annotated:
        return None
    if origin is tuple:
        return tuple
    if origin is Mapping:
        return dict
    for option in typing.get_args(hint):
        if (found := _container(option)) is not None:
            return found
    return None


def check(where: str, name: str, value: Any, axes: tuple[str, ...], model: Any) -> Any:
    """``value`` as numbers of shape (..., *axes), or a ShapeError that says what to pass instead."""
    try:
        array = as_numbers(value)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"{where}: `{name}` must be an array of numbers with shape {_shape(axes, model)}, got {value!r:.80}."
        ) from error
    want = tuple(_size(axis, model) for axis in axes)
    shape = tuple(array.shape)
    if shape[len(shape) - len(want) :] != want:
        raise ShapeError(
            f"{where}: `{name}` must have shape {_shape(axes, model)}{_owner(model)}, got {shape}."
            f"{_advice(name, shape, want)}"
        )
    return array


def _size(axis: str, model: Any) -> int:
    return int(axis) if axis.isdigit() else int(getattr(model, axis))


def _shape(axes: tuple[str, ...], model: Any) -> str:
    return "(" + ", ".join(["...", *(str(_size(axis, model)) for axis in axes)]) + ")"


def _owner(model: Any) -> str:
    if not hasattr(model, "nv"):
        return ""
    return f" for robot {model.name!r} ({model.nq} configuration numbers, {model.nv} degrees of freedom)"


def _advice(name: str, shape: tuple[int, ...], want: tuple[int, ...]) -> str:
    if len(want) == 1 and len(shape) == 2 and shape[0] == want[0]:
        return f" Batch axes come first: pass `{name}.T`."
    if len(want) == 1 and not shape:
        return f" One state is a 1-d array: pass `[{name}]` if there is one number."
    return ""


def _common_batch(where: str, batches: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*batches.values())
    except ValueError:
        found = ", ".join(f"`{name}` {shape}" for name, shape in batches.items())
        raise ShapeError(
            f"{where}: the batch axes of the arguments do not broadcast: {found}. "
            "Pass the same number of states in each, or one state."
        ) from None


def _spread(result: Any, batch: tuple[int, ...], rank: int) -> Any:
    """``result`` with the batch axes of the arguments, for results that happen not to depend on them."""
    shape = numpy.shape(result)
    core = shape[len(shape) - rank :]
    if shape == (*batch, *core):
        return result
    xp = namespace(result)
    spread = xp.broadcast_to(result, numpy.broadcast_shapes(shape, (*batch, *core)))
    return spread.copy() if xp is numpy else spread
