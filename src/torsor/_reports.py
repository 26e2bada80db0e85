"""How results show themselves: one short line as `repr`, words as `str`, a small page in notebooks."""

from __future__ import annotations

from dataclasses import fields
from html import escape
from typing import Any

import numpy as np

LONGEST = 60  # letters of one value in a repr


class Report:
    """Base of the dataclasses that tell what was found: their ``__str__`` says it in words.

    They are made with ``@dataclass(frozen=True, repr=False)``, so that the `repr` is the one below.
    """

    def __repr__(self) -> str:
        """One line: the fields, arrays by their shape alone."""
        parts = [f"{field.name}={short(getattr(self, field.name))}" for field in fields(self) if field.repr]  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(parts)})"

    def _repr_html_(self) -> str:
        """The words of ``__str__``, for notebooks."""
        return f"<pre>{escape(str(self))}</pre>"


def one_line(result: Any) -> str:
    """The ``repr`` of a named tuple: its fields, arrays by their shapes."""
    parts = [f"{name}={short(value)}" for name, value in zip(result._fields, result, strict=True)]
    return f"{type(result).__name__}({', '.join(parts)})"


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
