"""What torsor raises. One base class, so that callers can catch everything we say with one name."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Self

# "inverse_dynamics: `v` must have shape ...": who says it, and of which argument
_WHERE = re.compile(r"([A-Za-z_][\w.]*): ")
_ARGUMENT = re.compile(r"`(\w+)`")


def printable(text: str) -> str:
    """``text`` on one line, with escapes for letters that a terminal would obey, or not show: names come from anywhere."""
    return text if text.isprintable() else "".join(x if x.isprintable() else repr(x)[1:-1] for x in text)


class TorsorError(Exception):
    """Base class of all errors raised by torsor; it is never raised itself.

    Messages are written as "where: `argument` must be ..., got ...". Who refused which argument is read from the message, so that
    words and data agree. Lines of a message are plain text, whatever names are in it.

    Attributes
    ----------
    where : str or None
        The public function, method or class that refused.
    argument : str or None
        The name of the argument that was refused.
    value : object
        What was given, if the error knows; None otherwise.
    """

    def __init__(self, message: str = "", *, value: object = None) -> None:
        text = "\n".join(map(printable, message.split("\n")))
        who, which = _WHERE.match(text), _ARGUMENT.search(text)
        self.where = who[1] if who else None
        self.argument = which[1] if which else None
        self.value = value
        super().__init__(text)

    def at(self, where: str) -> Self:
        """This error as said by a public function, if its message does not say yet who refused."""
        if self.where is None:
            self.where = where
            self.args = (f"{where}: {self.args[0]}",)
        return self

    def told_by(self, where: str, given: Iterable[object]) -> Self:
        """This error as said by the public function that was called with ``given``.

        A function that it calls may have found that a name is unknown, or a task none. If that was given to the one that was
        called, it is this one that refuses.
        """
        if self.where not in (None, where) and self.value is not None and any(_holds(x, self.value) for x in given):
            self.args = (str(self.args[0]).removeprefix(f"{self.where}: "),)
            self.where = None
        return self.at(where)


def _holds(given: object, value: object) -> bool:
    """Whether what was given to a function is or names a value: itself, in a sequence, or as the frame of a task."""
    if given is value or (isinstance(value, str) and isinstance(given, str) and given == value):
        return True
    if isinstance(given, (list, tuple)):
        return any(_holds(one, value) for one in given)
    return isinstance(value, str) and hasattr(given, "key_for") and repr(value) in repr(given)


class ArgumentError(TorsorError, ValueError):
    """An argument has a value that cannot be: out of range, not finite, or against another argument."""


class ShapeError(ArgumentError):
    """An array argument has the wrong shape or cannot be read as numbers."""


class ModelError(ArgumentError):
    """A robot, link, joint or inertia cannot be what was asked for."""


class UnknownName(ArgumentError, KeyError):
    """A joint, link, frame or option of that name does not exist."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


class ArgumentTypeError(TorsorError, TypeError):
    """A call lacks an argument, has one too many, or has something else where one should be."""


class MissingDependency(TorsorError, ImportError):
    """A library that is needed here is not installed; the message says what to type."""

    def __str__(self) -> str:  # ImportError would print what it was made with, without who refused
        return str(self.args[0])


def needed(module: str, message: str) -> Any:
    """A module of another library, imported when it is first needed, or a `MissingDependency` with a message."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingDependency(message) from error


class SimulationDiverged(TorsorError, ArithmeticError):
    """A simulated motion became infinite or NaN; ``trajectory`` is what there is of it."""

    def __init__(self, message: str, trajectory: Any = None) -> None:
        super().__init__(message)
        self.trajectory = trajectory


class FileError(TorsorError, ValueError):
    """A robot file that cannot be what it says; ``findings`` are its errors, each with file, line and rule."""

    def __init__(self, message: str, findings: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings

    def at(self, where: str) -> Self:
        """This error as said by a public function; the message of a file that was read begins with the file and its line."""
        if not self.findings:
            return super().at(where)
        self.where = where
        return self


class ModelWarning(UserWarning):
    """Something in a robot file that was accepted, though it is probably a mistake."""


def warn_of_model(message: str) -> None:
    """Give a `ModelWarning`, at the line outside torsor that led to it."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in (
        "torsor",
        "contextlib",
    ):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, ModelWarning, stacklevel=level)


def unknown_name(
    where: str,
    kind: str,
    name: object,
    known: Iterable[str],
    listing: str,
    *,
    plural: str = "",
    meant: Iterable[str] = (),
) -> UnknownName:
    """The error for a name that does not exist: says which are nearest and where all of them are listed.

    ``plural`` of ``kind``, if it is not made by adding s; ``meant``: known names that people call so.
    """
    names = list(known)
    near = list(meant) or get_close_matches(str(name), names, n=3, cutoff=0.4)
    nearest = f"; nearest: {', '.join(map(repr, near))}" if near else ""
    text = f"{where} has no {kind} {name!r:.80}{nearest}. All {plural or kind + 's'}: {listing}."
    return UnknownName(text, value=name)
