"""What torsor raises. One base class, so that callers can catch everything we say with one name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


def printable(text: str) -> str:
    """``text`` on one line, with escapes for letters that a terminal would obey, or not show: names come from anywhere."""
    return text if text.isprintable() else "".join(x if x.isprintable() else repr(x)[1:-1] for x in text)


class TorsorError(Exception):
    """Base class of all errors raised by torsor. Lines of a message are plain text, whatever names are in it."""

    def __init__(self, message: str = "") -> None:
        super().__init__("\n".join(map(printable, message.split("\n"))))


class ShapeError(TorsorError, ValueError):
    """An array argument has the wrong shape or cannot be read as numbers."""


class ModelError(TorsorError, ValueError):
    """A robot, link, joint or inertia cannot be what was asked for."""


class FileError(ModelError):
    """A robot file that cannot be what it says; ``findings`` are its errors, each with file, line and rule."""

    def __init__(self, message: str, findings: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.findings = findings


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


class ArgumentTypeError(TorsorError, TypeError):
    """A call lacks an argument, has one too many, or has something else where one should be."""


class UnknownName(TorsorError, KeyError):
    """A joint, link or frame of that name does not exist."""

    def __str__(self) -> str:  # KeyError would print the repr of the message
        return str(self.args[0])


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
    return UnknownName(f"{where} has no {kind} {name!r:.80}{nearest}. All {plural or kind + 's'}: {listing}.")
