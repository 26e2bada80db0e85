"""Blocks as loops in LLVM IR, over slots of a scratch area: picks by a table, products of matrices, programs called row by row.

For a group of states each slot is a vector with a lane for each state. For one state a slot is one number, and a product holds
columns in vectors instead, a program called the rows. Every sum has one order, so that the bits are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from torsor.compiler.graph import Product
from torsor.compiler.print.block_step import BlockStep
from torsor.compiler.print.packing import AT_ONCE, Loop, number_in
from torsor.compiler.print.plan import WIDTH, starts
from torsor.compiler.print.printer import Printer, hexadecimal

COLUMNS = 4  # of a product that are held in registers, of a group of states


def table(name: str, slots: Sequence[int]) -> str:
    """Slots as a constant of a module."""
    return f"{name} = internal constant [{len(slots)} x i32] [{', '.join(f'i32 {slot}' for slot in slots)}]"


def at(p: Printer, base: str, slot: int | str) -> str:
    """The address of a slot."""
    return p.line(f"getelementptr {p.type}, ptr {base}, i64 {slot}")


def pick(p: Printer, source: str, table: str, first: int | str, count: int, target: str) -> None:
    """Copy slots of ``source``, numbered by a table from ``first`` on, to ``target``, where they lie together."""
    step = min(AT_ONCE, count)
    with Loop(p, count, step) as start:
        entry = p.line(f"getelementptr i32, ptr {table}, i64 {p.line(f'add i64 {start}, {first}')}")
        here = at(p, target, start)
        for k in range(step):
            slot = number_in(p, entry, k)
            p.lines.append(
                f"  store {p.type} {p.line(f'load {p.type}, ptr {at(p, source, slot)}')}, ptr {at(p, here, k)}"
            )


def move(p: Printer, source: str, table: str, count: int, target: str) -> None:
    """Copy slots one by one, by a table of pairs: from which, to which."""
    with Loop(p, count, 1) as number:
        entry = p.line(f"getelementptr [2 x i32], ptr {table}, i64 {number}")
        here, there = (number_in(p, entry, k) for k in range(2))
        p.lines.append(
            f"  store {p.type} {p.line(f'load {p.type}, ptr {at(p, source, here)}')}, ptr {at(p, target, there)}"
        )


def fill(p: Printer, slots: str, numbers: str, count: int, target: str) -> None:
    """Constants into slots, by a table of each."""
    with Loop(p, count, 1) as k:
        place = p.line(f"getelementptr {p.element}, ptr {numbers}, i64 {k}")
        value = spread(p, p.line(f"load {p.element}, ptr {place}"))
        p.lines.append(f"  store {p.type} {value}, ptr {at(p, target, number_in(p, slots, k))}")


def constants(p: Printer, name: str, values: Sequence[float]) -> str:
    """Numbers as a constant of a module."""
    numbers = ", ".join(f"{p.element} {hexadecimal(value, p.element)}" for value in values)
    return f"{name} = internal constant [{len(values)} x {p.element}] [{numbers}], align 64"


class Tile(NamedTuple):
    """Rows by columns of a product that are summed together, and how many columns a vector has."""

    rows: int
    columns: int
    wide: int

    @classmethod
    def of(cls, p: Printer, shape: Product) -> Tile:
        """For a group of states a vector has one number of each, for one state neighbouring columns."""
        wide = min(p.widest, WIDTH) if p.lanes == 1 and shape.m >= WIDTH else 1
        return cls(min(shape.n, WIDTH if wide == WIDTH else COLUMNS), min(shape.m, WIDTH), wide)

    def name(self, p: Printer) -> str:
        """Of the function that multiplies in such tiles."""
        return f"product_{p.lanes}_{self.rows}_{self.columns}"


def tiles(block: Product, step: BlockStep, tile: Tile) -> tuple[list[int], list[int]]:
    """The tiles in which something is needed: first row, first column, where its terms begin and how many; and all terms."""
    found, firsts, terms = list[int](), list[int](), list[int]()
    for rows in step.terms:
        firsts.append(len(terms))
        terms += rows
    for row in starts(block.n, tile.rows):
        for column, first, own in zip(starts(block.m, WIDTH), firsts, step.terms, strict=True):
            places = (block.m * (row + r) + column + c for r in range(tile.rows) for c in range(tile.columns))
            if not step.needed.isdisjoint(places):
                found += [row, column, first, len(own)]
    return found, terms


def product(p: Printer, tile: Tile, attributes: str) -> Iterator[str]:
    """A function C = A B of matrices (., k) and (k, m), tile by tile: sums in registers, over what is not known to be zero."""
    kind = p if tile.wide == 1 else p.with_lanes(tile.wide)
    p.lines = kind.lines = ["entry:"]
    arguments = "ptr %A, ptr %B, ptr %C, i64 %k, i64 %m, ptr %tiles, i64 %count, ptr %terms"
    yield f"define internal void @{tile.name(p)}({arguments}){attributes} {{"
    with Loop(p, "%count", 1) as number:
        entry = p.line(f"getelementptr [4 x i32], ptr %tiles, i64 {number}")
        row, start, first, count = (number_in(p, entry, k) for k in range(4))
        terms = p.line(f"getelementptr i32, ptr %terms, i64 {first}")
        rows = [p.line(f"add i64 {row}, {r}") for r in range(tile.rows)]
        for first_column in range(0, tile.columns, COLUMNS * tile.wide):
            columns = range(first_column, min(first_column + COLUMNS * tile.wide, tile.columns), tile.wide)
            there = [p.line(f"add i64 {start}, {column}") for column in columns]
            places = [(r, column) for r in range(tile.rows) for column in there]
            for (r, column), x in zip(places, _sums(p, kind, terms, count, rows, places), strict=True):
                place = at(p, "%C", p.line(f"add i64 {p.line(f'mul i64 {rows[r]}, %m')}, {column}"))
                p.lines.append(f"  store {kind.type} {x}, ptr {place}{_unaligned(p, kind)}")
    yield from p.lines
    yield "  ret void"
    yield "}"


def _sums(
    p: Printer, kind: Printer, terms: str, count: str, rows: list[str], places: list[tuple[int, str]]
) -> list[str]:
    """The entries of a product at ``places``, each of a row and a first column, in a loop over the numbers of a sum."""
    mark = p.line("add i64 0, 0")[1:]  # a name of its own
    some = p.line(f"icmp ne i64 {count}, 0")
    left = [at(p, "%A", p.line(f"mul i64 {row}, %k")) for row in rows]
    names = [f"{mark}_{k}" for k in range(len(places))]
    p.lines += [f"  br label %begin_{mark}", f"begin_{mark}:", f"  br i1 {some}, label %sum_{mark}, label %end_{mark}"]
    p.lines += [f"sum_{mark}:", f"  %q_{mark} = phi i64 [0, %begin_{mark}], [%next_{mark}, %sum_{mark}]"]
    zero = kind.number(0.0)
    for name in names:
        p.lines.append(f"  %x_{name} = phi {kind.type} [{zero}, %begin_{mark}], [%y_{name}, %sum_{mark}]")
    term = number_in(p, terms, f"%q_{mark}")
    row = p.line(f"mul i64 {term}, %m")
    right: dict[str, str] = {}
    for _, column in places:
        if column not in right:
            place = at(p, "%B", p.line(f"add i64 {row}, {column}"))
            right[column] = p.line(f"load {kind.type}, ptr {place}{_unaligned(p, kind)}")
    factors = [p.line(f"load {p.type}, ptr {at(p, start, term)}") for start in left]
    factors = factors if kind is p else [spread(kind, x) for x in factors]
    for name, (r, column) in zip(names, places, strict=True):
        total = kind.multiply_add(factors[r], right[column], f"%x_{name}")
        p.lines.append(f"  %y_{name} = bitcast {kind.type} {total} to {kind.type}")
    p.lines += [f"  %next_{mark} = add i64 %q_{mark}, 1"]
    more = p.line(f"icmp ult i64 %next_{mark}, {count}")
    p.lines += [f"  br i1 {more}, label %sum_{mark}, label %end_{mark}", f"end_{mark}:"]
    return [p.line(f"phi {kind.type} [{zero}, %begin_{mark}], [%y_{name}, %sum_{mark}]") for name in names]


def _unaligned(p: Printer, kind: Printer) -> str:
    return "" if kind is p else f", align {8 if p.element == 'double' else 4}"


def spread(p: Printer, x: str) -> str:
    """One number in all lanes."""
    if p.lanes == 1:
        return x
    one = p.line(f"insertelement {p.type} poison, {p.element} {x}, i32 0")
    return p.line(f"shufflevector {p.type} {one}, {p.type} poison, <{p.lanes} x i32> zeroinitializer")
