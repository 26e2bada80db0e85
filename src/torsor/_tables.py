"""Tables as text."""

from __future__ import annotations

from collections.abc import Sequence

from torsor.errors import printable


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
