"""Named expressions in print: plain text, LaTeX, a page for browsers and a picture."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from torsor._text_files import path_to_write, write_text
from torsor.errors import ArgumentError, needed, printable
from torsor.symbolic.notation import Latex, MathML, Text, lines

WIDTH = 100  # letters per line
SIZE = 12  # points: letters of a picture
_RIGHT = "text-align:right;text-align:-webkit-right"  # some browsers know only the second of a cell
LINE = 2.0  # of the size of these letters


class Quantity(NamedTuple):
    """A symbol of the equations, its value for the robot, and the unit of that."""

    symbol: Any
    value: float
    unit: str


class Printed:
    """What can be printed: entries with a letter and indices each, a title, and the values of the symbols in them."""

    symbols: dict[str, Quantity]
    order: tuple[Any, ...]

    def entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Every entry: its letter, its indices (several where a symmetric one has several), the expression."""
        raise NotImplementedError

    def title(self) -> str:
        """One line on what is printed, in plain text."""
        raise NotImplementedError

    def heading(self) -> str:
        """The title of a page."""
        raise NotImplementedError

    def _head(self, notation: Text, letter: str, index: str) -> str:
        """What stands left of the equals sign."""
        return notation.symbol(f"{letter}_{index}")

    def __str__(self) -> str:
        """The equations as plain text."""
        text = Text(list(self.order))
        return "\n".join([self.title(), *self._text_rows(text, apart=True), *where(text, self.symbols)])

    def _text_rows(self, text: Text, *, apart: bool = False) -> list[str]:
        """The entries as lines of text, those of different letters ``apart`` or not."""
        rows = []
        before = ""
        for letter, indices, expression in self.entries():
            if letter != before and apart:
                rows.append("")
            before = letter
            head = " = ".join(self._head(text, letter, index) for index in indices) + " = "
            first, *others = lines(text, text.expression(expression), WIDTH - len(head))
            rows += [head + first, *(" " * len(head) + other for other in others)]
        return rows

    def latex(self) -> str:
        """The equations as LaTeX, an ``aligned`` environment with one entry per line, long ones broken."""
        rows = []
        for head, parts in self._latex_lines():
            rows += [f"{head} &= {parts[0]}", *(f"&\\quad {part}" for part in parts[1:])]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _latex_lines(self, width: int = WIDTH) -> Iterator[tuple[str, list[str]]]:
        """Left side, and lines of the right side, of every entry."""
        notation = Latex(list(self.order))
        for letter, indices, expression in self.entries():
            head = " = ".join(self._head(notation, letter, index) for index in indices)
            yield head, lines(notation, notation.expression(expression), width)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"

    def _repr_html_(self) -> str:
        """The equations as MathML, which browsers show by themselves."""
        notation = MathML(list(self.order))
        return self._math_table(notation) + values_in_html(notation, self.symbols)

    def _math_table(self, notation: MathML) -> str:
        """The entries as a table of MathML, aligned at the equals signs."""
        rows = []
        for letter, indices, expression in self.entries():
            head = "<mo>=</mo>".join(self._head(notation, letter, index) for index in indices)
            parts = lines(notation, notation.expression(expression), WIDTH)
            for k, part in enumerate(parts):
                left = f"{head}<mo>=</mo>" if k == 0 else ""
                rows.append(f"<mtr><mtd style='{_RIGHT}'>{left}</mtd><mtd style='text-align:left'>{part}</mtd></mtr>")
        return f"<math display='block'><mtable columnalign='right left' displaystyle='true'>{''.join(rows)}</mtable></math>"

    def to_html(self, path: str | Path) -> Path:
        """Write a page (MathML, no script, nothing loaded from elsewhere); returns its path."""
        title = escape(self.heading())
        page = (
            f"<!DOCTYPE html>\n<html lang='en'><head><meta charset='utf-8'><title>{title}</title></head>\n"
            f"<body style='font-family:serif;margin:2em'><h1>{title}</h1>\n{self._repr_html_()}\n</body></html>\n"
        )
        return write_text("to_html", path, page)

    def to_png(self, path: str | Path, *, dpi: int = 150) -> Path:
        """Write a picture (needs matplotlib, pip install 'torsor[plot]'); returns its path."""
        return _draw(self._picture_rows(), path_to_write("to_png", path), dpi)

    def _picture_rows(self) -> list[tuple[str, str]]:
        """Left and right side of every line of a picture."""
        rows = []
        for head, parts in self._latex_lines(90):
            rows += [(f"${head} =$", f"${parts[0]}$"), *(("", f"$\\quad {part}$") for part in parts[1:])]
        return rows


def where(text: Text, symbols: dict[str, Quantity]) -> list[str]:
    """Lines of text with the values of the symbols, after an empty one; none if there are no symbols."""
    values = [f"{text.symbol(name)} = {x.value:.6g} {x.unit}".rstrip() for name, x in symbols.items()]
    return ["", *_filled("where ", values)] if values else []


def values_in_html(notation: MathML, symbols: dict[str, Quantity]) -> str:
    """A paragraph with the values of the symbols."""
    values = (f"<math>{notation.symbol(name)}</math> = {x.value:.6g} {x.unit}" for name, x in symbols.items())
    return f"<p>{'; '.join(values)}</p>"


def _filled(head: str, words: list[str]) -> list[str]:
    rows, row = [], head
    for k, word in enumerate(words):
        piece = word + ("" if k == len(words) - 1 else ", ")
        if len(row) + len(piece) > WIDTH:
            rows.append(row.rstrip())
            row = " " * len(head)
        row += piece
    return [*rows, row]


def _draw(rows: list[tuple[str, str]], path: Path, dpi: int) -> Path:
    """Write rows of (left side, right side) as a picture, typeset by matplotlib, aligned between the two; returns the path."""
    missing = "to_png typesets with matplotlib, which is missing: pip install 'torsor[plot]'."
    figures, agg = (needed(f"matplotlib.{name}", missing) for name in ("figure", "backends.backend_agg"))
    if path.suffix != ".png":
        raise ArgumentError(f"to_png writes PNG files; name it {path.with_suffix('.png')}, not {path}.")
    height = LINE * SIZE / 72 * (len(rows) + 1)
    figure = figures.Figure(figsize=(1.0, height))
    canvas = agg.FigureCanvasAgg(figure)
    texts = []
    for k, row in enumerate(rows):
        y = 1 - LINE * SIZE / 72 * (k + 1) / height
        texts.append([
            figure.text(0.0, y, side, size=SIZE, ha=align, va="baseline", math_fontfamily="cm")
            for side, align in zip(row, ("right", "left"), strict=True)
        ])  # fmt: skip
    renderer = canvas.get_renderer()
    left, right = (max(text[side].get_window_extent(renderer).width for text in texts) / figure.dpi for side in (0, 1))
    margin = 0.25
    width = left + right + 2 * margin + 0.1
    figure.set_size_inches(width, height)
    for text in texts:
        text[0].set_x((margin + left) / width)
        text[1].set_x((margin + left + 0.1) / width)
    try:
        figure.savefig(path, dpi=dpi, facecolor="white", format="png")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(printable(f"to_png: cannot write {path}: {reason}.")) from error
    return path
