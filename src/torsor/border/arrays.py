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

from torsor.arrays.foreign import ForeignArray
from torsor.arrays.primitives import as_numbers, namespace
from torsor.arrays.typing import POSE, ROTATION
from torsor.border.arguments import RAW, exchanged, mistake, wrong_names
from torsor.border.rigid_motions import refuse_what_is_none
from torsor.bridges import Crossing, across, alone, evaluated_by, foreign_among, in_a_tuple, taken_apart
from torsor.errors import ShapeError, TorsorError

MOST_BATCH_AXES = 28  # with those of the largest results, NumPy's iterators take no more
P = ParamSpec("P")
R = TypeVar("R")


class Argument(NamedTuple):
    """What the border knows of one array argument: its trailing axes, and their sizes if fixed; whether it may be absent."""

    axes: tuple[str, ...]
    sizes: tuple[int | None, ...] | None  # None: any
    container: type | None  # dict: name → array; tuple: a pair of arrays; None: one array
    required: bool


class Signature(NamedTuple):
    """Parameter names in order, which of them are arrays, the trailing axes of the result, and what cannot be left out.

    ``groups``: of which group an argument must be an element, for rotations and poses. ``positional``: how many of the names,
    from the first, may be given by position; those behind are given by name.
    """

    names: tuple[str, ...]
    arrays: dict[str, Argument]
    returned: tuple[str, ...] | None
    required: tuple[str, ...]
    groups: dict[str, str]
    positional: int


class Call(NamedTuple):
    """A call with its arrays converted: all arguments by name, and the batch shape they have in common."""

    values: dict[str, Any]
    batch: tuple[int, ...]


def checked(function: Callable[P, R], *, called: Callable[..., Any] | None = None) -> Callable[P, R]:
    """``function`` with every array argument checked against its annotated shape and converted to numbers.

    Of rotations and poses the numbers are looked at as well. ``called``: the public function that people call, if ``function``
    is another algorithm for its numbers: errors are its own.
    """
    own = function if called is None else called

    @functools.wraps(function)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            values, batch = prepare(own, args, kwargs)
            signature = signature_of(own)
            for name, group in signature.groups.items():
                refuse_what_is_none(name, values.get(name), group)
            result = function(**values)  # type: ignore[call-arg]
        except ForeignArray as error:
            return _crossed(border, own, args, kwargs, error)  # type: ignore[no-any-return]
        except TorsorError as error:
            raise error.told_by(own.__name__, (*args, *kwargs.values()))  # noqa: B904 the same error
        except RAW as error:
            if (wrong := mistake(own, args, kwargs)) is None:
                raise
            raise wrong from error
        if signature.returned is not None:
            return spread(result, batch, len(signature.returned))  # type: ignore[no-any-return]
        if isinstance(result, tuple) and hasattr(result, "_fields"):
            parts = zip(result, axes_of_fields(type(result)), strict=True)
            return type(result)(*(x if axes is None else spread(x, batch, len(axes)) for x, axes in parts))
        return result

    return border


def _crossed(
    border: Callable[..., Any],
    own: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    error: ForeignArray,
) -> Any:
    """The answer to a call with arrays of another library, across its bridge; where there is none, the error."""
    crossing = _crossing(border, own, args, kwargs)
    try:
        if crossing is None or not foreign_among(*crossing.arrays.values()):
            raise error
        return across(crossing)
    except TorsorError as refused:
        raise refused.told_by(own.__name__, (*args, *kwargs.values())) from None


def _crossing(
    border: Callable[..., Any], own: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> Crossing | None:
    """A call with arrays of another library, if the function says what arrays it gives."""
    signature, kind = signature_of(own), result_kind(own)
    if kind is None and signature.returned is None:
        return None
    outputs = {"result": signature.returned or ()}
    if kind is not None:
        fields = zip(kind._fields, axes_of_fields(kind), strict=True)  # type: ignore[attr-defined]
        outputs = {name: axes for name, axes in fields if axes is not None}
        if len(outputs) < len(kind._fields):  # type: ignore[attr-defined]
            return None
    words = {name: argument.axes for name, argument in signature.arrays.items()}
    given = dict(zip(signature.names, args, strict=False)) | dict(kwargs)
    arrays, axes, template = taken_apart(words, given)
    gather: Callable[..., Any] = alone if kind is None else kind._make  # type: ignore[attr-defined]
    evaluate = evaluated_by(border, template, in_a_tuple if kind is None else tuple, gather)
    return Crossing(arrays, axes, outputs, evaluate, gather)


def result_kind(function: Callable[..., Any]) -> type | None:
    """The class of named tuple that a function is said to return, if it is one."""
    hint = typing.get_type_hints(function).get("return")
    return hint if isinstance(hint, type) and issubclass(hint, tuple) and hasattr(hint, "_fields") else None


@functools.cache
def axes_of_fields(kind: type) -> tuple[tuple[str, ...] | None, ...]:
    """The trailing axes of each field of a named tuple."""
    hints = typing.get_type_hints(kind, include_extras=True)
    return tuple(axes_of(hints.get(name)) for name in kind._fields)  # type: ignore[attr-defined]


@functools.cache
def signature_of(function: Callable[..., Any]) -> Signature:
    """What a function takes and gives; read on first use, for reading type hints at import would cost every user."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters
    names = tuple(parameters)
    arrays = {}
    for name in names:
        required = parameters[name].default is inspect.Parameter.empty
        if (axes := axes_of(hints.get(name))) is not None:
            fixed = all(axis.isdigit() for axis in axes)
            arrays[name] = Argument(axes, tuple(map(int, axes)) if fixed else None, _container(hints[name]), required)
    needed = tuple(name for name in names if parameters[name].default is inspect.Parameter.empty)
    groups = {name: group for name in names if (group := _group(hints.get(name))) is not None}
    positional = sum(p.kind is not p.KEYWORD_ONLY for p in parameters.values())
    return Signature(names, arrays, axes_of(hints.get("return")), needed, groups, positional)


def prepare(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any], *, whole: bool = True
) -> Call:
    """Arguments by name, arrays checked and converted. Not ``whole``: some are left out, and none is missed."""
    names, arrays, _, required, _, positional = signature_of(function)
    values = dict(zip(names[:positional], args, strict=False)) | dict(kwargs)
    misnamed = len(values) != len(args) + len(kwargs) or any(name not in names for name in kwargs)
    if (misnamed or (whole and any(name not in values for name in required))) and (
        wrong := wrong_names(function, args, kwargs)
    ) is not None:
        raise wrong
    try:
        return Call(values, _converted(arrays, values, values.get(names[0])))
    except ForeignArray as error:
        raise error.at(function.__name__)  # noqa: B904 the same error
    except TorsorError as error:
        if (wrong := exchanged(function, args, kwargs)) is not None:
            raise wrong from error
        raise error.at(function.__name__)  # noqa: B904 the same error, which now says who refused


def _converted(arrays: Mapping[str, Argument], values: dict[str, Any], model: Any) -> tuple[int, ...]:
    """The batch shape that all arrays among ``values`` have in common, once these are converted in place."""
    batches: dict[str, tuple[int, ...]] = {}
    for name, argument in arrays.items():
        if (value := values.get(name)) is None and argument.required and name in values:
            wanted = _shape(argument.axes, model)
            raise ShapeError(f"`{name}` must be an array with shape {wanted}, got None.")
        if value is not None:
            values[name] = _convert(name, argument, value, model, batches)
    batch = next(iter(batches.values()), ())
    if any(shape != batch for shape in batches.values()):
        batch = _common_batch(batches)
    if len(batch) > MOST_BATCH_AXES:
        raise ShapeError(
            f"a batch has at most {MOST_BATCH_AXES} axes, got {len(batch)}; join some: x.reshape(-1, ...)."
        )
    return batch


def spread(result: Any, batch: tuple[int, ...], rank: int) -> Any:
    """``result`` with the batch axes of the arguments, for results that happen not to depend on them."""
    shape = numpy.shape(result)
    core = shape[len(shape) - rank :]
    if shape == (*batch, *core):
        return result
    xp = namespace(result)
    full = xp.broadcast_to(result, numpy.broadcast_shapes(shape, (*batch, *core)))
    return full.copy() if xp is numpy else full


def axes_of(hint: Any) -> tuple[str, ...] | None:
    """The named trailing axes of an annotated array type, or None if the hint is not one (or is optional of one)."""
    if typing.get_origin(hint) is Annotated:
        words = typing.get_args(hint)[1]
        return tuple(words.split()[1:]) if isinstance(words, str) and words.startswith("...") else None
    for option in typing.get_args(hint):
        if (axes := axes_of(option)) is not None:
            return axes
    return None


def _group(hint: Any) -> str | None:
    """The group that an annotated array is an element of, if it is a rotation or a pose."""
    words = typing.get_args(hint)[2:] if typing.get_origin(hint) is Annotated else ()
    return next((word for word in words if word in (ROTATION, POSE)), None)


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


def _convert(name: str, argument: Argument, value: Any, model: Any, batches: dict[str, tuple[int, ...]]) -> Any:
    """An argument as numbers of its shape; its batch shape is noted in ``batches``."""
    axes, sizes, container, _ = argument
    if container is not None:
        inner = argument._replace(container=None)
        if container is tuple:
            if not isinstance(value, (tuple, list)) or len(value) != 2:
                raise ShapeError(f"`{name}` must be a pair of arrays {_shape(axes, model)}, got {value!r:.80}.")
            return tuple(_convert(f"{name}[{k}]", inner, part, model, batches) for k, part in enumerate(value))
        if not isinstance(value, Mapping):
            wanted = _shape(axes, model)
            raise ShapeError(f"`{name}` must map frame names to arrays {wanted}, got {value!r:.80}.")
        return {key: _convert(f"{name}[{key!r}]", inner, x, model, batches) for key, x in value.items()}
    if sizes is None:
        sizes = tuple(_size(axis, model) for axis in axes)
    rank = len(sizes)
    if type(value) is not numpy.ndarray or value.dtype.kind != "f" or not _fits(value.shape, sizes):
        value = as_array(name, value, axes, model)
    batches[name] = value.shape[: len(value.shape) - rank]
    return value


def check(where: str, name: str, value: Any, axes: tuple[str, ...], model: Any) -> Any:
    """``value`` as numbers of shape (..., *axes), or a ShapeError that says who refused it and what to pass instead."""
    try:
        return as_array(name, value, axes, model)
    except ShapeError as error:
        raise error.at(where)  # noqa: B904 the same error, which now says who refused


def as_array(name: str, value: Any, axes: tuple[str, ...], model: Any) -> Any:
    """``value`` as numbers of shape (..., *axes), or a ShapeError that says what to pass instead."""
    try:
        array = as_numbers(value)
    except ShapeError as error:  # an array of another library
        raise type(error)(f"`{name}`: {error}") from None
    except (TypeError, ValueError) as error:
        makers: dict[tuple[str, ...], str] = {("nq",): "q_from_dict", ("nv",): "v_from_dict"}
        by_name = makers.get(axes) if isinstance(value, Mapping) else None
        hint = f" Joints by name become one by robot.{by_name}(…)." if by_name is not None else ""
        raise ShapeError(
            f"`{name}` must be an array of numbers with shape {_shape(axes, model)}, got {value!r:.80}.{hint}"
        ) from error
    want = tuple(_size(axis, model) for axis in axes)
    shape = tuple(array.shape)
    if not _fits(shape, want):
        raise ShapeError(
            f"`{name}` must have shape {_shape(axes, model)}{_owner(model)}, got {shape}.{_advice(name, shape, want)}"
        )
    return array


def plain_numbers(where: str, name: str, value: Any) -> Any:
    """``value`` as a NumPy array of float64, or a ShapeError that says who refused it and what came instead."""
    try:
        return as_floats(name, value)
    except ShapeError as error:
        raise error.at(where)  # noqa: B904 the same error, which now says who refused


def as_floats(name: str, value: Any) -> Any:
    """``value`` as a NumPy array of float64, or a ShapeError that says what came instead."""
    try:
        return numpy.asarray(as_numbers(value), numpy.float64)
    except ShapeError as error:  # an array of another library
        raise type(error)(f"`{name}`: {error}") from None
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`{name}` must be real numbers, got {value!r:.80}.") from error


def _size(axis: str, model: Any) -> int | None:
    if axis == "*":
        return None
    return int(axis) if axis.isdigit() else int(getattr(model, axis))


def _fits(shape: tuple[int, ...], sizes: tuple[int | None, ...]) -> bool:
    core = shape[len(shape) - len(sizes) :]
    return core == sizes or (
        len(core) == len(sizes) and all(b is None or a == b for a, b in zip(core, sizes, strict=True))
    )


def _shape(axes: tuple[str, ...], model: Any) -> str:
    return "(" + ", ".join(["...", *("any" if axis == "*" else str(_size(axis, model)) for axis in axes)]) + ")"


def _owner(model: Any) -> str:
    if not hasattr(model, "nv"):
        return ""
    return f" for robot {model.name!r} ({model.nq} configuration numbers, {model.nv} degrees of freedom)"


def _advice(name: str, shape: tuple[int, ...], want: tuple[int | None, ...]) -> str:
    if len(want) == 1 and len(shape) == 2 and shape[0] == want[0]:
        return f" Batch axes come first: pass `{name}.T`."
    if len(want) == 1 and not shape:
        return f" One state is a 1-d array: pass `[{name}]` if there is one number."
    if want == (6,) and shape[-1:] == (3,) and name.startswith("wrench"):
        return " A wrench is six numbers in the axes of its frame: torque (N·m), then force (N)."
    return ""


def _common_batch(batches: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return numpy.broadcast_shapes(*batches.values())
    except ValueError:
        found = ", ".join(f"`{name}` {shape}" for name, shape in batches.items())
        raise ShapeError(
            f"the batch axes of the arguments do not broadcast: {found}. "
            "Pass the same number of states in each, or one state."
        ) from None
