"""Between memory and lanes: states lie one after the other in memory, a vector holds one number of several states.

Four states by four columns are transposed in registers; the last window of a row overlaps the one before instead of
being masked. Ports with fewer than four numbers are gathered one by one. Programs in pieces have their numbers in slots of
a scratch area, ``%scratch``; between slots and rows they are moved by loops.
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


def load_into_slots(p: Printer, rows: list[str], size: int, first: int) -> None:
    """A port whose states lie in ``rows``, into consecutive slots from ``first``."""
    step = min(4, size) if p.lanes > 1 else 1
    with Loop(p, size, step) as start:
        here = [_place(p, row, start) for row in rows]
        slot = p.line(f"add i64 {start}, {first}")
        for k, column in enumerate(load_columns(p, here, step)):
            p.lines.append(f"  store {p.type} {column}, ptr {_slot(p, p.line(f'add i64 {slot}, {k}'))}")


def store_from_slots(p: Printer, rows: list[str], size: int, table: str, first: int) -> None:
    """Slots, numbered by ``table`` from ``first``, as a port whose states lie in ``rows``."""
    step = min(4, size) if p.lanes > 1 else 1
    with Loop(p, size, step) as start:
        here = [_place(p, row, start) for row in rows]
        columns = []
        for k in range(step):
            entry = p.line(f"getelementptr i64, ptr {table}, i64 {p.line(f'add i64 {start}, {first + k}')}")
            columns.append(p.line(f"load {p.type}, ptr {_slot(p, p.line(f'load i64, ptr {entry}'))}"))
        store_columns(p, here, columns)


class Loop:
    """Lines within are repeated with the start of each window of ``step`` columns; the last overlaps the one before."""

    def __init__(self, p: Printer, size: int, step: int) -> None:
        self.p, self.size, self.step = p, size, step

    def __enter__(self) -> str:
        p = self.p
        self.mark = p.line("add i64 0, 0")[1:]  # a name of its own
        p.lines += [f"  br label %before_{self.mark}", f"before_{self.mark}:"]
        go = f"  br i1 {'true' if self.size else 'false'}, label %loop_{self.mark}, label %beyond_{self.mark}"
        p.lines += [go, f"loop_{self.mark}:"]
        p.lines.append(f"  %at_{self.mark} = phi i64 [0, %before_{self.mark}], [%to_{self.mark}, %latch_{self.mark}]")
        late = p.line(f"icmp ugt i64 %at_{self.mark}, {self.size - self.step}")
        return p.line(f"select i1 {late}, i64 {self.size - self.step}, i64 %at_{self.mark}")

    def __exit__(self, *_: object) -> None:
        p = self.p
        p.lines += [
            f"  br label %latch_{self.mark}",
            f"latch_{self.mark}:",
        ]  # whatever blocks the lines within have made
        p.lines.append(f"  %to_{self.mark} = add i64 %at_{self.mark}, {max(1, self.step)}")
        more = p.line(f"icmp ult i64 %to_{self.mark}, {self.size}")
        p.lines += [f"  br i1 {more}, label %loop_{self.mark}, label %beyond_{self.mark}", f"beyond_{self.mark}:"]


def _slot(p: Printer, number: str) -> str:
    return p.line(f"getelementptr {p.type}, ptr %scratch, i64 {number}")


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


def _place(p: Printer, row: str, column: int | str) -> str:
    return p.line(f"getelementptr {p.element}, ptr {row}, i64 {column}")
