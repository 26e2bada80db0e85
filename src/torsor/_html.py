"""Small pieces of HTML, for notebooks and for the page of the demonstration: everything that comes from elsewhere is escaped.

No colours are set, only a grey that can be seen on white and on black: notebooks are light or dark, and bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import import_module
from typing import Any

from torsor.errors import printable

LONGEST = 40  # letters of a name
MOST_ROWS = 200  # of a table
FOLDED = 25  # rows beyond which a table is closed at first
GREY = "rgba(128,128,128,.35)"


def plain(value: object, longest: int = LONGEST) -> str:
    """A text as HTML shows it, letter for letter: escaped, on one line, its middle left out if it is long."""
    words = printable(str(value))
    if len(words) > longest:
        half = (longest - 1) // 2
        words = f"{words[: longest - 1 - half]}…{words[-half:]}"
    return escape(words, quote=True)


def heading(title: str, facts: Sequence[str] = ()) -> str:
    """A title, and facts behind it; both are texts that are escaped here."""
    behind = "".join(f" · {plain(fact, 200)}" for fact in facts)
    return f"<div><strong>{plain(title)}</strong>{behind}</div>"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1, fold: str = "", more: str = "") -> str:
    """A table of cells that are HTML already (see `plain`).

    Parameters
    ----------
    head : sequence of str
        Titles of the columns; empty strings if there are none to show.
    rows : sequence of rows
        At most 200 are shown.
    left : int
        How many columns from the left are texts; the others are numbers, written to the right.
    fold : str
        What stands in place of the table, until it is opened, if it has more than 25 rows; never folded if empty.
    more : str
        Where the rows are that are not shown.
    """

    def cell(tag: str, k: int, words: str) -> str:
        side = "left" if k < left else "right"
        style = f"text-align:{side};padding:.1em .7em;border-bottom:1px solid {GREY};white-space:nowrap"
        return f'<{tag} style="{style}">{words}</{tag}>'

    lines = ["<tr>" + "".join(cell("th", k, words) for k, words in enumerate(head)) + "</tr>"] if any(head) else []
    for row in rows[:MOST_ROWS]:
        lines.append("<tr>" + "".join(cell("td", k, words) for k, words in enumerate(row)) + "</tr>")
    body = f'<table style="border-collapse:collapse;margin:.3em 0">{"".join(lines)}</table>'
    if len(rows) > MOST_ROWS:
        body += f"<div>… and {len(rows) - MOST_ROWS} more{f': {plain(more)}' if more else ''}</div>"
    return folded(fold, body) if fold and len(rows) > FOLDED else body


def folded(summary: str, body: str) -> str:
    """HTML that is closed at first, behind the text ``summary``."""
    return f'<details><summary style="cursor:pointer">{plain(summary, 200)}</summary>{body}</details>'


def items(texts: Sequence[str]) -> str:
    """A list of texts."""
    listed = "".join(f"<li>{plain(words, 400)}</li>" for words in texts[:MOST_ROWS])
    return f'<ul style="margin:.3em 0">{listed}</ul>' if texts else ""


def words(text: str) -> str:
    """Text of several lines, as it is: the words and tables of a report."""
    return f"<pre>{escape(text)}</pre>"


def block(*parts: str) -> str:
    """Pieces one below the other, as one, in which notebooks look for no formulas: names may have dollar signs."""
    return f'<div class="tex2jax_ignore mathjax_ignore">{"".join(parts)}</div>'


def number(x: float, digits: int = 4) -> str:
    """A number with a few digits; "–" for one that is none or has no bound."""
    if x != x or x in (float("inf"), -float("inf")):
        return "–"
    return f"{x + 0.0:.{digits}g}".replace("-", "−")


def shown_by(module: str, function: str) -> Callable[[Any], str]:
    """A method ``_repr_html_`` that is a function of another module, imported when a notebook asks."""

    def _repr_html_(self: Any) -> str:
        shown: str = getattr(import_module(module), function)(self)
        return shown

    return _repr_html_
