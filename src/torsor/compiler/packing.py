"""Between memory and lanes: states lie one after the other in memory, a vector holds one number of several states.

Four states by four columns are transposed in registers; the last window of a row overlaps the one before instead of
being masked. Ports with fewer than four numbers are gathered one by one.
"""

from __future__ import annotations

from typing import Protocol


class Printer(Protocol):
    """What is needed of the printer: its types, and a way to add a line."""

    element: str
    type: str
    lanes: int
    lines: list[str]

    def line(self, text: str) -> str:
        """A new value defined by ``text``."""


def _windows(size: int) -> list[int]:
    """Starts of windows of four columns that cover all; the last overlaps instead of being masked."""
    return [*range(0, size - 3, 4), *([size - 4] if size % 4 else [])]


def load_columns(p: Printer, rows: list[str], size: int) -> list[str]:
    """Column values (one per lane) of a port whose states lie in ``rows``."""
    if p.lanes == 1:
        return [p.line(f"load {p.element}, ptr {_place(p, rows[0], column)}") for column in range(size)]
    if size < 4:
        return [_gather(p, rows, column) for column in range(size)]
    columns = [""] * size
    quad = f"<4 x {p.element}>"
    for start in _windows(size):
        groups = []
        for first in range(0, p.lanes, 4):
            loaded = []
            for row in rows[first : first + 4]:
                place = _place(p, row, start)
                loaded.append(p.line(f"load {quad}, ptr {place}, align {_align(p.element)}"))
            groups.append(_transpose(p, quad, loaded))
        for k in range(4):
            columns[start + k] = _join(p, [group[k] for group in groups])
    return columns


def store_columns(p: Printer, rows: list[str], columns: list[str]) -> None:
    """Store values (one per lane) as the columns of a port whose states lie in ``rows``."""
    if p.lanes == 1:
        p.lines += [f"  store {p.element} {x}, ptr {_place(p, rows[0], column)}" for column, x in enumerate(columns)]
        return
    if len(columns) < 4:
        for column, value in enumerate(columns):
            for lane, row in enumerate(rows):
                place = _place(p, row, column)
                x = p.line(f"extractelement {p.type} {value}, i32 {lane}")
                p.lines.append(f"  store {p.element} {x}, ptr {place}, align {_align(p.element)}")
        return
    quad = f"<4 x {p.element}>"
    for start in _windows(len(columns)):
        window = columns[start : start + 4]
        for first in range(0, p.lanes, 4):
            parts = [_part(p, value, first) for value in window]
            for row, values in zip(rows[first : first + 4], _transpose(p, quad, parts), strict=True):
                place = _place(p, row, start)
                p.lines.append(f"  store {quad} {values}, ptr {place}, align {_align(p.element)}")


def _gather(p: Printer, rows: list[str], column: int) -> str:
    value = "poison"
    for lane, row in enumerate(rows):
        place = _place(p, row, column)
        x = p.line(f"load {p.element}, ptr {place}, align {_align(p.element)}")
        value = p.line(f"insertelement {p.type} {value}, {p.element} {x}, i32 {lane}")
    return value


def _transpose(p: Printer, quad: str, r: list[str]) -> list[str]:
    def shuffle(x: str, y: str, *order: int) -> str:
        mask = ", ".join(f"i32 {k}" for k in order)
        return p.line(f"shufflevector {quad} {x}, {quad} {y}, <4 x i32> <{mask}>")

    a, b = shuffle(r[0], r[1], 0, 4, 2, 6), shuffle(r[0], r[1], 1, 5, 3, 7)
    c, d = shuffle(r[2], r[3], 0, 4, 2, 6), shuffle(r[2], r[3], 1, 5, 3, 7)
    return [shuffle(a, c, 0, 1, 4, 5), shuffle(b, d, 0, 1, 4, 5), shuffle(a, c, 2, 3, 6, 7), shuffle(b, d, 2, 3, 6, 7)]


def _join(p: Printer, parts: list[str]) -> str:
    size = 4
    while len(parts) > 1:
        mask = ", ".join(f"i32 {k}" for k in range(2 * size))
        kind = f"<{size} x {p.element}>"
        parts = [
            p.line(f"shufflevector {kind} {x}, {kind} {y}, <{2 * size} x i32> <{mask}>")
            for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
        size *= 2
    return parts[0]


def _part(p: Printer, value: str, first: int) -> str:
    if p.lanes == 4:
        return value
    mask = ", ".join(f"i32 {k}" for k in range(first, first + 4))
    return p.line(f"shufflevector {p.type} {value}, {p.type} poison, <4 x i32> <{mask}>")


def _align(element: str) -> int:
    return 8 if element == "double" else 4


def _place(p: Printer, row: str, column: int) -> str:
    return p.line(f"getelementptr {p.element}, ptr {row}, i64 {column}")
