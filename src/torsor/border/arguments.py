"""What is wrong with the arguments of a call, in words; asked only after a call has failed, so that good calls pay nothing.

What a function takes is read from its signature, as at the border of arrays (`torsor.border.arrays`).
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy

from torsor.arrays.primitives import as_numbers
from torsor.errors import ArgumentTypeError, TorsorError, UnknownName

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K")
_NUMBERS = typing.Annotated[Any, "..."]
RAW = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError)


def explained(function: Callable[P, R]) -> Callable[P, R]:
    """``function``, whose errors for wrong arguments say which argument, what it must be and what came."""

    @functools.wraps(function)
    def border(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except TorsorError as error:
            title = _title(function, args)
            said = isinstance(error, ArgumentTypeError) and error.where in (None, title)
            if not said and (wrong := exchanged(function, args, kwargs)) is not None:
                raise wrong from error
            raise error.told_by(title, (*args, *kwargs.values()))  # noqa: B904 the same error
        except RAW as error:
            wrong = exchanged(function, args, kwargs) or mistake(function, args, kwargs)
            if wrong is None:
                raise
            raise wrong from error

    return border


def explained_when_made(hint: str = "") -> Callable[[type[K]], type[K]]:
    """For classes of data: says which argument is missing, unknown or one too many; ``hint``: what people may mean."""

    def decorate(kind: type[K]) -> type[K]:
        init = kind.__init__

        @functools.wraps(init)
        def made(self: Any, *args: Any, **kwargs: Any) -> None:
            try:
                init(self, *args, **kwargs)
            except TypeError as error:
                wrong = wrong_names(init, (self, *args), kwargs)
                if wrong is None:
                    raise
                raise ArgumentTypeError(f"{wrong}{hint}") from error

        kind.__init__ = made  # type: ignore[method-assign]
        return kind

    return decorate


def mistake(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ArgumentTypeError | None:
    """The first argument that does not fit the signature, as an error; None if all do."""
    signature = inspect.signature(function)
    if (wrong := wrong_names(function, args, kwargs)) is not None:
        return wrong
    for name, value in signature.bind(*args, **kwargs).arguments.items():
        parameter = signature.parameters[name]
        words = None if name == "self" else wanted(function, parameter, value)
        if words is not None:
            return ArgumentTypeError(f"{_title(function, args)}: `{name}` must be {words}, got {_described(value)}.")
    return None


def _described(value: Any) -> str:
    """What was given, in words."""
    if isinstance(value, numpy.ndarray):
        return f"an array of shape {value.shape}" + (f" of {value.dtype}" if value.dtype.kind not in "fiu" else "")
    if value is None:
        return "nothing"
    text = repr(value)
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    return shown if shown.lstrip("<").startswith(type(value).__name__) else f"{type(value).__name__} {shown}"


def wrong_names(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ArgumentTypeError | None:
    """The error for an argument that is missing, unknown, given twice or one too many; None if the call has what it takes."""
    where, signature = _title(function, args), inspect.signature(function)
    parameters = signature.parameters
    given = set(kwargs)
    positional = [name for name, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given |= set(positional[: len(args)])
    kinds = {p.kind for p in parameters.values()}
    call = f"It is {where.rsplit('.', 1)[-1]}{_without_types(signature)}."
    for name in kwargs:
        if name not in parameters and inspect.Parameter.VAR_KEYWORD not in kinds:
            near = get_close_matches(name, [n for n in parameters if n not in given], n=1, cutoff=0.5)
            meant = f"; did you mean `{near[0]}`?" if near else "."
            return ArgumentTypeError(f"{where}: no argument is called `{name}`{meant} {call}")
        if name in positional[: len(args)]:
            return ArgumentTypeError(f"{where}: `{name}` is given twice, by position and by name. {call}")
    if len(args) > len(positional) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        extra = args[len(positional)]
        named = [f"{name}=" for name, p in parameters.items() if p.kind is p.KEYWORD_ONLY and name not in kwargs]
        rest = f"; these are passed by name: {', '.join(named)}" if named else ""
        return ArgumentTypeError(f"{where}: {extra!r:.60} is one argument too many{rest}. {call}")
    any_number = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    missing = [n for n, p in parameters.items() if p.default is p.empty and p.kind not in any_number and n not in given]
    if missing:
        listed = ", ".join(f"`{name}`" for name in missing)
        return ArgumentTypeError(f"{where}: {listed} {'is' if len(missing) == 1 else 'are'} missing. {call}")
    return None


def refuse_unknown_word(argument: str, value: object, known: Iterable[str], *, also: str = "", of: str = "") -> None:
    """Refuse what is not one of the words that an option takes, with the nearest.

    ``also``: what else it takes, in words; ``of``: what it is an option of, if there are several.
    """
    words = list(known)
    if isinstance(value, str) and value in words:
        return
    near = get_close_matches(value, words, n=1, cutoff=0.5) if isinstance(value, str) else []
    meant = f"; did you mean {near[0]!r}?" if near else "."
    listed = [*map(repr, words), *([also] if also else [])]
    choice = " or ".join([", ".join(listed[:-1]), listed[-1]]) if len(listed) > 1 else listed[0]
    raise UnknownName(
        f"`{argument}`{f' of {of}' if of else ''} must be {choice}, got {value!r:.60}{meant}", value=value
    )


def exchanged(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ArgumentTypeError | None:
    """The error for a frame or task that stands where numbers are expected, and numbers in its place; None if that is not so."""
    parameters = inspect.signature(function).parameters
    given = dict(zip(parameters, args, strict=False)) | dict(kwargs)
    place = next((name for name in ("frame", "task") if name in given), None)
    if place is None or given[place] is None or _is_place(given[place]):
        return None
    needed = [n for n, p in parameters.items() if p.default is p.empty and n != "self"]
    for name, value in given.items():
        if _is_place(value) and name in needed and "str" not in str(parameters[name].annotation):
            what = f"the name {value!r:.60}" if isinstance(value, str) else f"the task {value.title!r:.60}"
            shown = repr(value) if isinstance(value, str) else place
            call = f"{_title(function, args)}({', '.join(shown if n == place else n for n in needed)})"
            words = wanted(function, parameters[name], value) or ""
            words = words if words.startswith("a torsor.") else "numbers"
            return ArgumentTypeError(
                f"{_title(function, args)}: `{name}` must be {words}, but {what} stands in its place, and `{place}` is "
                f"{_described(given[place])}. Write {call}."
            )
    return None


def _is_place(value: Any) -> bool:
    """Whether this is the name of a frame, or a task."""
    return isinstance(value, str) or hasattr(value, "key_for")


def wanted(function: Callable[..., Any], parameter: inspect.Parameter, value: Any) -> str | None:
    """What an argument must be, in words, if it is not that; None if it is, or if nobody knows."""
    if parameter.annotation is parameter.empty or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        return None
    if value is parameter.default:
        return None
    text = parameter.annotation
    try:
        hint = eval(text, inspect.unwrap(function).__globals__) if isinstance(text, str) else text
    except NameError:  # a name for type checkers alone
        return None
    if text in ("Array", "Array | None"):
        hint = _NUMBERS if text == "Array" else _NUMBERS | None
    return None if _fits(hint, value) else _words(hint)


def _title(function: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The name people call it by: with that of its class if it is a method, that of the class alone if it makes one."""
    if function.__name__ == "__init__":
        return type(args[0]).__name__
    if isinstance(function, types.BuiltinFunctionType):  # one with a fast entry, whose class is no matter of users
        return function.__name__
    names = function.__qualname__.split(".")
    if len(names) > 1 and args and isinstance(args[0], type):  # a class method, perhaps inherited
        return f"{args[0].__name__}.{names[-1]}"
    return ".".join(names[-2:]) if len(names) > 1 and names[-2] != "<locals>" else names[-1]


def _without_types(signature: inspect.Signature) -> str:
    plain = [p.replace(annotation=p.empty) for name, p in signature.parameters.items() if name not in ("self", "cls")]
    return str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if typing.get_origin(hint) in (typing.Union, types.UnionType) else (hint,)


def _fits(hint: Any, value: Any) -> bool:
    if len(options := _options(hint)) > 1:
        return any(_fits(option, value) for option in options)
    if hint is None or hint is type(None):
        return value is None
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        return _is_numbers(value, typing.get_args(hint)[1].split()[1:])
    if hint in (float, int):
        return _is_number(value) and (hint is float or not isinstance(value, Real) or isinstance(value, Integral))
    if origin is collections.abc.Callable or hint is collections.abc.Callable:
        return callable(value)
    if origin in (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection):
        inner = typing.get_args(hint)[:1]
        return _is_iterable(value) and (
            not inner or isinstance(value, collections.abc.Iterator) or all(_fits(inner[0], entry) for entry in value)
        )
    kind = origin or hint
    return kind is Any or not isinstance(kind, type) or isinstance(value, kind)


def _is_iterable(value: Any) -> bool:
    return isinstance(value, collections.abc.Iterable) and not isinstance(value, (str, bytes))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) or (getattr(value, "shape", None) == () and _is_numbers(value))


def _is_numbers(value: Any, axes: Sequence[str] = ()) -> bool:
    """Whether these are real numbers, with the trailing axes that are said to have a fixed size."""
    try:
        shape = None if value is None else as_numbers(value).shape
    except (TypeError, ValueError):
        return False
    if shape is None or len(shape) < len(axes):
        return False
    return all(not axis.isdigit() or int(axis) == n for axis, n in zip(axes[::-1], shape[::-1], strict=False))


_WORDS: dict[Any, str] = {
    str: "a name or another text",
    float: "a number",
    int: "a whole number",
    bool: "True or False",
    type(None): "None",
    None: "None",
    tuple: "a tuple",
    Mapping: "a mapping, such as a dict",
    dict: "a dict",
    collections.abc.Callable: "a function",
    numpy.random.Generator: "a numpy.random.Generator",
}
_MANY = (collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)


def _words(hint: Any) -> str:
    if len(options := _options(hint)) > 1:
        one_first = sorted(options, key=lambda option: _words(option).startswith("a sequence"))
        return " or ".join(dict.fromkeys(_words(option) for option in one_first))
    origin = typing.get_origin(hint)
    if origin is typing.Annotated:
        axes = typing.get_args(hint)[1].split()[1:]
        return f"an array of numbers (..., {', '.join(axes)})" if axes else "numbers"
    if origin in _MANY:
        inner = typing.get_args(hint)
        return "a sequence" + (f", each of them {_words(inner[0])}" if inner and inner[0] is not Any else "")
    kind = origin or hint
    return _WORDS.get(kind, f"a torsor.{kind.__name__}" if isinstance(kind, type) else "something else")
