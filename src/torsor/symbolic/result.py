"""Equations of motion in closed form: to read, to print, to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.errors import ShapeError, printable
from torsor.once import once
from torsor.symbolic.notation import Latex, MathML, Text, lines
from torsor.text_files import path_to_write, write_text

WIDTH = 100  # letters per line


class Quantity(NamedTuple):
    """A symbol of the equations, its value for the robot, and the unit of that."""

    symbol: Any
    value: float
    unit: str


@dataclass(frozen=True, eq=False)
class Equations:
    """τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction, in SymPy expressions (rad, m, s, kg, N) [LP, (9.12)].

    ``M`` and ``C`` (nv, nv), ``c`` = C q̇, ``g``, ``friction`` and ``tau`` (nv, 1) are SymPy matrices; ``q``, ``v``, ``a``
    the symbols of q, q̇ and q̈; ``symbols`` maps each other name to (symbol, value, unit). ``print(equations)`` for text.
    """

    name: str
    M: Any
    C: Any
    c: Any
    g: Any
    friction: Any
    tau: Any
    symbols: dict[str, Quantity]
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    order: tuple[Any, ...] = ()

    def evaluate(self, q: ConfigurationVector, v: JointVector, a: JointVector) -> JointVector:
        """τ for the robot's own numbers, which is `torsor.inverse_dynamics` again [LP, (9.12)].

        ``q``, ``v``, ``a`` (..., nv), rad or m, and s. Returns (..., nv), N·m or N.
        """
        state = []
        for name, given in zip("qva", (q, v, a), strict=True):
            try:
                x = np.asarray(given, float)
            except (TypeError, ValueError) as error:
                raise ShapeError(
                    f"evaluate: `{name}` must be numbers of shape (..., {len(self.q)}), got {given!r}."
                ) from error
            if x.shape[-1:] != (len(self.q),):
                raise ShapeError(f"evaluate: `{name}` must have shape (..., {len(self.q)}), got {x.shape}.")
            state.append(x)
        try:
            batch = np.broadcast_shapes(*(x.shape[:-1] for x in state))
        except ValueError as error:
            shapes = ", ".join(str(x.shape) for x in state)
            raise ShapeError(f"evaluate: `q`, `v` and `a` must have the same leading shape, got {shapes}.") from error
        entries = self._function(*(np.moveaxis(x, -1, 0) for x in state), [s.value for s in self.symbols.values()])
        return np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in self.__dict__.items() if name != "_function"}  # it is made again when needed

    @once
    def _function(self) -> Callable[..., Any]:
        import sympy

        given = [s.symbol for s in self.symbols.values()]
        function: Callable[..., Any] = sympy.lambdify(
            [self.q, self.v, self.a, given], list(self.tau), "numpy", cse=True
        )
        return function

    def entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Every entry: the letter of its matrix, its indices (two where a symmetric one has two), the expression."""
        n = len(self.q)
        for i in range(n):
            for j in range(i, n):
                yield "M", tuple(dict.fromkeys((f"{i + 1}{j + 1}", f"{j + 1}{i + 1}"))), self.M[i, j]
        for i in range(n):
            for j in range(n):
                yield "C", (f"{i + 1}{j + 1}",), self.C[i, j]
        for letter, vector in (("c", self.c), ("g", self.g), ("tau", self.tau)):
            for i in range(n):
                yield letter, (f"{i + 1}",), vector[i]

    def __str__(self) -> str:
        """The equations as plain text."""
        text = Text(list(self.order))
        extra = " + friction" if any(self.friction) else ""
        rows = [f"{printable(self.name)}: τ = M(q) q̈ + C(q, q̇) q̇ + g(q){extra}, c = C q̇"]
        before = ""
        for letter, indices, expression in self.entries():
            if letter != before:
                rows.append("")
            before = letter
            head = " = ".join(text.symbol(f"{letter}_{index}") for index in indices) + " = "
            first, *others = lines(text, text.expression(expression), WIDTH - len(head))
            rows += [head + first, *(" " * len(head) + other for other in others)]
        values = [f"{text.symbol(name)} = {x.value:.6g} {x.unit}".rstrip() for name, x in self.symbols.items()]
        if values:
            rows += ["", *_filled("where ", values)]
        return "\n".join(rows)

    def latex(self) -> str:
        """The equations as LaTeX, an ``aligned`` environment with one entry per line, long ones broken."""
        rows = []
        for head, parts in self._latex_lines():
            rows += [f"{head} &= {parts[0]}", *(f"&\\quad {part}" for part in parts[1:])]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _latex_lines(self, width: int = WIDTH) -> Iterator[tuple[str, list[str]]]:
        notation = Latex(list(self.order))
        for letter, indices, expression in self.entries():
            head = " = ".join(notation.symbol(f"{letter}_{index}") for index in indices)
            yield head, lines(notation, notation.expression(expression), width)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        """The equations as MathML, which browsers show by themselves."""
        notation = MathML(list(self.order))
        rows = []
        for letter, indices, expression in self.entries():
            head = "<mo>=</mo>".join(notation.symbol(f"{letter}_{index}") for index in indices)
            parts = lines(notation, notation.expression(expression), WIDTH)
            for k, part in enumerate(parts):
                left = f"{head}<mo>=</mo>" if k == 0 else ""
                rows.append(
                    f"<mtr><mtd style='text-align:right'>{left}</mtd><mtd style='text-align:left'>{part}</mtd></mtr>"
                )
        table = "".join(rows)
        values = "; ".join(
            f"<math>{notation.symbol(name)}</math> = {x.value:.6g} {x.unit}" for name, x in self.symbols.items()
        )
        return f"<math display='block'><mtable columnalign='right left'>{table}</mtable></math><p>{values}</p>"

    def to_html(self, path: str | Path) -> Path:
        """Write a page (MathML, no script, nothing loaded from elsewhere); returns its path."""
        from html import escape

        title = escape(f"Equations of motion of {self.name}")
        page = (
            f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>\n"
            f"<body style='font-family:serif;margin:2em'><h1>{title}</h1>\n{self._repr_html_()}\n</body></html>\n"
        )
        return write_text("to_html", path, page)

    def to_png(self, path: str | Path, *, dpi: int = 150) -> Path:
        """Write a picture (needs matplotlib, pip install 'torsor[plot]'); returns its path."""
        from torsor.symbolic.picture import draw

        rows = []
        for head, parts in self._latex_lines(90):
            rows += [(f"${head} =$", f"${parts[0]}$"), *(("", f"$\\quad {part}$") for part in parts[1:])]
        return draw(rows, path_to_write("to_png", path), dpi)

    def __repr__(self) -> str:
        return f"<Equations of {self.name!r}: {len(self.q)} degrees of freedom, {len(self.symbols)} symbols; print() shows them>"


def _filled(head: str, words: list[str]) -> list[str]:
    rows, row = [], head
    for k, word in enumerate(words):
        piece = word + ("" if k == len(words) - 1 else ", ")
        if len(row) + len(piece) > WIDTH:
            rows.append(row.rstrip())
            row = " " * len(head)
        row += piece
    return [*rows, row]
