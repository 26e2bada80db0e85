"""The names that inputs and outputs of a compiled function are given: checked here, printed as `compiler.print.names` says."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from typing import Any

from torsor.compiler.print.names import identifier, is_python_argument
from torsor.errors import ArgumentError


def check_inputs(names: Iterable[Any], taken: Collection[str]) -> None:
    """Raise unless all names can be arguments of a Python function; ``taken`` are those that a kernel's call has itself."""
    for name in names:
        _check_identifier("input", name)
        if not is_python_argument(name):
            raise ArgumentError(
                f"an input cannot be named {name!r}, which is a keyword of Python; name it {name.strip('_')}_, say."
            )
        if name in taken:
            raise ArgumentError(
                f"an input cannot be named {name!r}, which a call has as an argument of its own; name it {name}_, say."
            )


def check_outputs(names: Iterable[Any]) -> None:
    """Raise unless all names are identifiers (which a keyword of Python is: outputs are found in a dict)."""
    for name in names:
        _check_identifier("output", name)


def _check_identifier(kind: str, name: Any) -> None:
    if not isinstance(name, str):
        raise ArgumentError(f"an {kind} needs a name in quotes, such as 'q', got {name!r:.60}.")
    if not name.isidentifier() or unicodedata.normalize("NFKC", name) != name:
        raise ArgumentError(
            f"an {kind} cannot be named {name!r:.60}: a name has letters, digits and _, and no digit first; "
            f"name it {identifier(name)!r:.60}, say."
        )
