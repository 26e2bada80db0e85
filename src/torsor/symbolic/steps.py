"""A derivation in print: an ordered sequence of steps, each with a title in words and its expressions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from torsor.errors import printable, unknown_name
from torsor.symbolic.notation import MathML, Text
from torsor.symbolic.printed import Printed, Quantity, values_in_html, where

Entry = tuple[str, tuple[str, ...], Any]  # letter, indices, expression
SLOPE, SLOPE_RATE = "dL_d", "ddt_dL_d"  # letters of ∂𝓛/∂q and of d/dt ∂𝓛/∂q̇; their index is the name of q or q̇
_SCRIPT = {"K": "calK", "P": "calP", "L": "calL"}


@dataclass(frozen=True, eq=False)
class Step(Printed):
    """One step: ``name``, a title in words, where it is in the book, and ``value``, a SymPy matrix, array or expression.

    ``expressions`` has the entries that are printed by their names. ``print(step)`` for text.
    """

    name: str
    words: str
    reference: str
    value: Any
    rows: tuple[Entry, ...]
    symbols: dict[str, Quantity]
    order: tuple[Any, ...]

    @property
    def expressions(self) -> dict[str, Any]:
        """The entries that are printed, by name: "K_1", "J_41", "dL_dqdot_1"."""
        found = {}
        for letter, indices, expression in self.rows:
            for index in indices:
                found[letter + index if letter in (SLOPE, SLOPE_RATE) else f"{letter}_{index}".rstrip("_")] = expression
        return found

    def entries(self) -> Iterator[Entry]:
        """Every entry that is printed: its letter, its indices, the expression."""
        yield from self.rows

    def _head(self, notation: Text, letter: str, index: str) -> str:
        if letter in (SLOPE, SLOPE_RATE):
            return notation.slope("calL", index, in_time=letter == SLOPE_RATE)
        return super()._head(notation, _SCRIPT.get(letter, letter), index)

    def title(self) -> str:
        """The title in words, and where it is in the book."""
        return f"{printable(self.words)} [{self.reference}]"

    def heading(self) -> str:
        """The title of a page."""
        return self.words

    def __str__(self) -> str:
        """The step as plain text."""
        text = Text(list(self.order))
        return "\n".join([self.title(), "", *self._text_rows(text), *where(text, self.symbols)])

    def __repr__(self) -> str:
        return f"<Step {self.name!r}: {printable(self.words)}; print() shows it>"


@dataclass(frozen=True, eq=False)
class Steps(Printed):
    """An ordered sequence of steps, to be read, printed, looped over, or asked for one: ``steps["lagrangian"]``."""

    name: str
    steps: tuple[Step, ...]
    symbols: dict[str, Quantity]
    order: tuple[Any, ...]

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, name: str) -> Step:
        for step in self.steps:
            if step.name == name:
                return step
        names = [step.name for step in self.steps]
        raise unknown_name(f"the derivation of {self.name!r}", "step", name, names, ", ".join(names))

    def entries(self) -> Iterator[Entry]:
        """Every entry of every step."""
        for step in self.steps:
            yield from step.entries()

    def title(self) -> str:
        """What is derived."""
        return printable(self.heading())

    def heading(self) -> str:
        """The title of a page."""
        return f"Equations of motion of {self.name}, step by step"

    def __str__(self) -> str:
        """The steps as plain text."""
        text, rows = Text(list(self.order)), [self.title()]
        for k, step in enumerate(self.steps, 1):
            rows += ["", f"{k}. {step.title()}", "", *(f"  {row}" for row in step._text_rows(text))]
        return "\n".join([*rows, *where(text, self.symbols)])

    def latex(self) -> str:
        """The steps as LaTeX for a document: a paragraph and an ``aligned`` environment for each."""
        parts = [
            f"\\paragraph{{{k}. {_for_latex(step.words)}}} [{step.reference}]\n\\[\n{step.latex()}\n\\]"
            for k, step in enumerate(self.steps, 1)
        ]
        return "\n\n".join(parts)

    def _repr_latex_(self) -> str:
        return self.latex()

    def _repr_html_(self) -> str:
        """The steps with their equations as MathML, which browsers show by themselves."""
        notation = MathML(list(self.order))
        parts = [
            f"<h3>{k}. {escape(printable(step.words))} <small>[{escape(step.reference)}]</small></h3>"
            f"{step._math_table(notation)}"
            for k, step in enumerate(self.steps, 1)
        ]
        return "\n".join([*parts, values_in_html(notation, self.symbols)])

    def _picture_rows(self) -> list[tuple[str, str]]:
        rows = []
        for k, step in enumerate(self.steps, 1):
            rows += [("", ""), ("", f"{k}. {step.title()}".replace("$", "\\$")), *step._picture_rows()]
        return rows[1:]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}: {len(self.steps)} steps; print() shows them>"


def entries_of(letter: str, numbered: Sequence[tuple[str, Any]]) -> list[Entry]:
    """Entries of one letter by their indices: equal ones in one line, none that vanish, or one line if all do."""
    lines: dict[Any, list[str]] = {}
    for index, expression in numbered:
        if expression != 0:
            lines.setdefault(expression, []).append(index)
    found = [(letter, tuple(indices), expression) for expression, indices in lines.items()]
    return found or [(letter, ("",), 0 * numbered[0][1])]


def _for_latex(words: str) -> str:
    """Plain words for LaTeX: names of frames may have letters in them that mean something there."""
    words = printable(words).replace("\\", "\\textbackslash ")
    return re.sub(r"([&%$#_{}])", r"\\\1", words).replace("^", "\\^{}").replace("~", "\\~{}")
