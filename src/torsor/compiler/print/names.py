"""Names in generated source: those a user may give, and new ones that meet no other.

A kernel's inputs and outputs have names of the user's choice, which become arguments in Python and C. The names of inputs are
checked when a function is compiled; an emitter takes them as they are if its language has them free, and else makes others.
Everything else that an emitter names, temporaries above all, is named after them.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from torsor.compiler.print.c_names import HEADERS, KEYWORDS, LIBRARY
from torsor.errors import ArgumentError


def check_inputs(where: str, names: Iterable[Any], taken: Collection[str]) -> None:
    """Raise unless all names can be arguments of a Python function; ``taken`` are those that a kernel's call has itself."""
    for name in names:
        _check_identifier(where, "input", name)
        if not is_python_argument(name):
            raise ArgumentError(
                f"{where}: an input cannot be named {name!r}, which is a keyword of Python; name it {name.strip('_')}_, say."
            )
        if name in taken:
            raise ArgumentError(
                f"{where}: an input cannot be named {name!r}, which a call has as an argument of its own; name it {name}_, say."
            )


def check_outputs(where: str, names: Iterable[Any]) -> None:
    """Raise unless all names are identifiers (which a keyword of Python is: outputs are found in a dict)."""
    for name in names:
        _check_identifier(where, "output", name)


def _check_identifier(where: str, kind: str, name: Any) -> None:
    if not isinstance(name, str):
        raise ArgumentError(f"{where}: an {kind} needs a name in quotes, such as 'q', got {name!r:.60}.")
    if not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        raise ArgumentError(
            f"{where}: an {kind} cannot be named {name!r:.60}: a name has letters, digits and _, and no digit first; "
            f"name it {identifier(name)!r:.60}, say."
        )


def is_python_argument(name: str) -> bool:
    """Whether an argument of a Python function can have this name."""
    plain = name.isidentifier() and unicodedata.normalize("NFKC", name) == name
    return plain and not keyword.iskeyword(name) and name != "__debug__"


def is_free_in_c(name: str) -> bool:
    """Whether a function or variable in C, and in C++, can have this name in any program."""
    return bool(re.fullmatch(r"(?!_[_A-Z])[A-Za-z_][A-Za-z0-9_]*", name)) and name not in KEYWORDS | LIBRARY


def c_function(stem: str) -> str:
    """The C function that a file of this name holds, or the reason why there is none."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", stem):
        reason = "is no C identifier"
    elif stem in KEYWORDS:
        reason = "is a keyword of C or C++"
    elif stem in HEADERS:
        reason = f"would write {stem}.h, a header of the C library"
    elif not is_free_in_c(stem):
        reason = "is a name of the C library, or one that C keeps for itself"
    else:
        return stem
    raise ArgumentError(
        f"to_c: the file name gives the function its name; {stem!r:.60} {reason}. "
        f"Type another, for instance to_c('{identifier(stem)[:60]}_kernel.c')."
    )


def identifier(name: str) -> str:
    """An identifier of ASCII letters that resembles a name: Greek letters are spelt out, what has no letter becomes _."""
    text = "".join(map(_spelt, unicodedata.normalize("NFKD", name)))
    text = f"x{text}" if text[:1].isdigit() else text
    plain = text.lstrip("_") if re.match(r"_[_A-Z]|_*$", text) else text
    return plain or "x"


def _spelt(letter: str) -> str:
    if letter.isascii():
        return letter if letter.isalnum() else "_"
    words = unicodedata.name(letter, "").split()
    if words[:1] == ["GREEK"] and "LETTER" in words:
        return words[-1].capitalize() if "CAPITAL" in words else words[-1].lower()
    return "" if unicodedata.combining(letter) else "_"


class Names:
    """The names of one piece of source. ``free`` tells whether its language allows a name."""

    def __init__(self, free: Callable[[str], bool], taken: Iterable[str] = ()) -> None:
        self._free, self._taken = free, set(taken)

    def of_ports(self, inputs: Sequence[str], outputs: Sequence[str] = ()) -> tuple[list[str], list[str]]:
        """A name for each input and output: its own if it is free, else one with "_in" or "_out" behind."""
        wanted = [*((name, "in") for name in inputs), *((name, "out") for name in outputs)]
        own = [name if self._take(name) else None for name, _ in wanted]
        found = [
            name or self.fresh(f"{identifier(wish)}_{role}") for name, (wish, role) in zip(own, wanted, strict=True)
        ]
        return found[: len(inputs)], found[len(inputs) :]

    def fresh(self, wish: str) -> str:
        """A name like ``wish`` that nothing else has."""
        name, k = wish, 2
        while not self._take(name):
            name, k = f"{wish}_{k}", k + 1
        return name

    def numbered(self, wish: str) -> str:
        """What gives, with any number behind it, a name that nothing else has; ask for it after all others."""
        while any(re.fullmatch(rf"{wish}\d+", name) for name in self._taken):
            wish += "_"
        return wish

    def _take(self, name: str) -> bool:
        if name in self._taken or not self._free(name):
            return False
        self._taken.add(name)
        return True
