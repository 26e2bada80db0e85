"""Between memory and lanes: states lie one after the other in memory, a vector holds one number of several states.

Four states by four columns are transposed in registers, of single precision and from slots eight by eight where there are as
many; the last window of a row overlaps the one before instead of being masked. (Wider ones were tried for all vectors of 512
bits: their shuffles across the halves of a register made short programs up to a quarter slower.) Ports with fewer than four
numbers are gathered one by one. Programs in pieces have their numbers in slots of a scratch area, ``%scratch``; between slots
and rows they are moved by loops.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

AT_ONCE = 8  # numbers of one state that a turn of a loop moves


class Printer(Protocol):
    """What is needed of the printer: its types, and a way to add a line."""

    element: str
    type: str
    lanes: int
    lines: list[str]
    declared: set[str]

    def line(self, text: str) -> str:
        """A new value defined by ``text``."""


def _width(p: Printer, size: int) -> int:
    """How many columns to transpose at once: those of 256 bits, or four where there are fewer of them."""
    return 8 if p.element == "float" and min(p.lanes, size) >= 8 else 4


def _windows(size: int, width: int) -> list[int]:
    """Starts of windows of so many columns that cover all; the last overlaps instead of being masked."""
    return [*range(0, size - width + 1, width), *([size - width] if size % width else [])]


def load_columns(p: Printer, rows: list[str], size: int) -> list[str]:
    """Column values (one per lane) of a port whose states lie in ``rows``."""
    if p.lanes == 1:
        return [p.line(f"load {p.element}, ptr {_place(p, rows[0], column)}") for column in range(size)]
    if size < 4:
        return [_gather(p, rows, column) for column in range(size)]
    columns, width = [""] * size, _width(p, size)
    for start in _windows(size, width):
        groups = []
        for first in range(0, p.lanes, width):
            loaded = []
            for row in rows[first : first + width]:
                place = _place(p, row, start)
                loaded.append(p.line(f"load <{width} x {p.element}>, ptr {place}, align {_align(p.element)}"))
            groups.append(_transpose(p, loaded))
        for k in range(width):
            columns[start + k] = _join(p, [group[k] for group in groups], width)
    return columns


def store_columns(p: Printer, rows: list[str], columns: list[str], width: int = 0) -> None:
    """Store values (one per lane) as the columns of a port whose states lie in ``rows``; ``width``: so many at once."""
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
    width = width or _width(p, len(columns))
    for start in _windows(len(columns), width):
        window = columns[start : start + width]
        for first in range(0, p.lanes, width):
            parts = [_part(p, value, first, width) for value in window]
            for row, values in zip(rows[first : first + width], _transpose(p, parts), strict=True):
                place = _place(p, row, start)
                p.lines.append(f"  store <{width} x {p.element}> {values}, ptr {place}, align {_align(p.element)}")


def load_into_slots(p: Printer, rows: list[str], size: int, first: int) -> None:
    """A port whose states lie in ``rows``, into consecutive slots from ``first``."""
    step = min(_width(p, size) if p.lanes > 1 else AT_ONCE, size)
    with Loop(p, size, step) as start:
        here = [_place(p, row, start) for row in rows]
        slot = p.line(f"add i64 {start}, {first}")
        for k, column in enumerate(load_columns(p, here, step)):
            p.lines.append(f"  store {p.type} {column}, ptr {_slot(p, p.line(f'add i64 {slot}, {k}'))}")


class Windows(NamedTuple):
    """How slots become the columns of a port, some at a time: each window a first column and ``width`` slots, in ``table``.

    ``cleared``: for one state, if much of it is known to be zero, all is set to zero first, and windows of zeros are left out.
    For groups, whose rows are far apart, writing twice took longer than reading zeros.
    """

    size: int
    width: int
    table: list[int]
    cleared: bool

    @classmethod
    def of(cls, p: Printer, slots: Sequence[int], is_zero: Sequence[bool] = ()) -> Windows:
        """For a port whose columns are in ``slots``, some of them known to be zero."""
        size = len(slots)
        is_wide = p.lanes == 1 or min(p.lanes, size) >= AT_ONCE
        width = min(AT_ONCE if is_wide else _width(p, size), size)
        windows = _windows(size, width) if size else []
        cleared = p.lanes == 1 and 2 * sum(is_zero) > size
        if cleared:
            windows = [k for k in windows if not all(is_zero[k : k + width])]
        return cls(size, width, [x for k in windows for x in (k, *slots[k : k + width])], cleared)


def store_from_slots(
    p: Printer,
    rows: list[str],
    windows: Windows,
    table: str,
    source: str,
    beside: Callable[[str, int], None] = lambda number, count: None,
) -> None:
    """Slots of ``source`` as the columns of a port whose states lie in ``rows``, by the table of its windows.

    ``beside``: what else is done with each window, by its number and how many there are.
    """
    if windows.cleared:
        p.declared.add("declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)")
        size = windows.size * _align(p.element)
        p.lines.append(f"  call void @llvm.memset.p0.i64(ptr {rows[0]}, i8 0, i64 {size}, i1 false)")
    step = windows.width + 1
    with Loop(p, count := len(windows.table) // step, 1) as number:
        entry = p.line(f"getelementptr [{step} x i32], ptr {table}, i64 {number}")
        column, *slots = (number_in(p, entry, k) for k in range(step))
        places = [p.line(f"getelementptr {p.type}, ptr {source}, i64 {slot}") for slot in slots]
        columns = [p.line(f"load {p.type}, ptr {place}") for place in places]
        store_columns(p, [_place(p, row, column) for row in rows], columns, windows.width)
        beside(number, count)


def number_in(p: Printer, table: str, k: int | str) -> str:
    """Number k of a table."""
    place = p.line(f"getelementptr i32, ptr {table}, i64 {k}")
    return p.line(f"zext i32 {p.line(f'load i32, ptr {place}')} to i64")


class Loop:
    """Lines within are repeated with the start of each window of ``step`` columns; the last overlaps the one before."""

    def __init__(self, p: Printer, size: int | str, step: int) -> None:
        self.p, self.size, self.step = p, size, step

    def __enter__(self) -> str:
        p = self.p
        self.mark = p.line("add i64 0, 0")[1:]  # a name of its own
        p.lines += [f"  br label %before_{self.mark}", f"before_{self.mark}:"]
        go = p.line(f"icmp ne i64 {self.size}, 0")
        last = p.line(f"sub i64 {self.size}, {self.step}")
        p.lines += [f"  br i1 {go}, label %loop_{self.mark}, label %beyond_{self.mark}", f"loop_{self.mark}:"]
        p.lines.append(f"  %at_{self.mark} = phi i64 [0, %before_{self.mark}], [%to_{self.mark}, %latch_{self.mark}]")
        late = p.line(f"icmp ugt i64 %at_{self.mark}, {last}")
        return p.line(f"select i1 {late}, i64 {last}, i64 %at_{self.mark}")

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


def _transpose(p: Printer, rows: list[str]) -> list[str]:
    """Of as many rows as each has numbers: blocks of one, two, four … are exchanged across the diagonal."""
    width = len(rows)
    kind, block = f"<{width} x {p.element}>", 1
    while block < width:
        low = [j if not j & block else width + j - block for j in range(width)]
        high = [j + block if not j & block else width + j for j in range(width)]
        rows = list(rows)
        for i in (i for i in range(width) if not i & block):
            x, y = rows[i], rows[i | block]
            for at, order in ((i, low), (i | block, high)):
                mask = ", ".join(f"i32 {k}" for k in order)
                rows[at] = p.line(f"shufflevector {kind} {x}, {kind} {y}, <{width} x i32> <{mask}>")
        block *= 2
    return rows


def _join(p: Printer, parts: list[str], size: int) -> str:
    while len(parts) > 1:
        mask = ", ".join(f"i32 {k}" for k in range(2 * size))
        kind = f"<{size} x {p.element}>"
        parts = [
            p.line(f"shufflevector {kind} {x}, {kind} {y}, <{2 * size} x i32> <{mask}>")
            for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
        size *= 2
    return parts[0]


def _part(p: Printer, value: str, first: int, width: int) -> str:
    if p.lanes == width:
        return value
    mask = ", ".join(f"i32 {k}" for k in range(first, first + width))
    return p.line(f"shufflevector {p.type} {value}, {p.type} poison, <{width} x i32> <{mask}>")


def _align(element: str) -> int:
    return 8 if element == "double" else 4


def _place(p: Printer, row: str, column: int | str) -> str:
    return p.line(f"getelementptr {p.element}, ptr {row}, i64 {column}")
