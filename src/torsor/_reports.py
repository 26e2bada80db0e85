"""How results show themselves: one short line as `repr`, words and tables as `str`, a small page in notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from torsor._html import words
from torsor.errors import printable

T = TypeVar("T")

LONGEST = 60  # letters of one value in a repr


class Report:
    """Base of the dataclasses that tell what was found: their ``__str__`` says it in words.

    They are made with ``@dataclass(frozen=True, repr=False)``, so that the `repr` is the one below.
    """

    def __repr__(self) -> str:
        """One line: the fields, arrays by their shape alone."""
        return _line(self, {field.name: getattr(self, field.name) for field in fields(self) if field.repr})  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        """The words of ``__str__``, for notebooks."""
        return words(str(self))


def one_line(result: Any) -> str:
    """The ``repr`` of a named tuple: its fields, arrays by their shapes."""
    return _line(result, result._asdict())


def in_one_line(kind: type[T]) -> type[T]:
    """A class of named tuples whose ``repr`` is `one_line`."""
    kind.__repr__ = one_line  # type: ignore[method-assign]
    return kind


def _line(result: Any, values: Mapping[str, Any]) -> str:
    return f"{type(result).__name__}({', '.join(f'{name}={short(value)}' for name, value in values.items())})"


def short(value: Any) -> str:
    """A value on one line: arrays by shape, long sequences by length, robots by name."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"<array {value.shape}>"
    if isinstance(value, (tuple, list)) and len(value) > 3:
        return f"<{len(value)} {type(value).__name__} entries>"
    if type(value).__name__ == "Robot":
        return f"<Robot {value.name!r}>"
    text = repr(value)
    return text if len(text) <= LONGEST and "\n" not in text else f"<{type(value).__name__}>"


def table(rows: Sequence[Sequence[str]], align: str = "<", *, least: Sequence[int] = (), indent: str = "") -> list[str]:
    """Lines of a table: each column as wide as its longest cell, two spaces between columns, none at the end of a line.

    Parameters
    ----------
    rows : sequence of rows of texts
        The heading, if there is one, is the first.
    align : str
        "<" (left) or ">" (right) for each column; the last one stands for all further columns.
    least : sequence of int
        How wide columns are at least, in characters.
    indent : str
        What every line begins with.
    """
    cells = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for k, width in enumerate(least):
        widths[k] = max(widths[k], width)
    sides = align.ljust(len(widths), align[-1])
    return [
        indent
        + "  ".join(f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)).rstrip()
        for row in cells
    ]
