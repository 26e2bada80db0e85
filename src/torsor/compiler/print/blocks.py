"""Blocks as loops in LLVM IR, over slots of a scratch area: picks by a table, products of matrices, programs called row by row.

For a group of states each slot is a vector with a lane for each state. For one state a slot is one number, and a product holds
columns in vectors instead. Every sum has one order, so that the bits are the same either way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from torsor.compiler.graph import Product
from torsor.compiler.print.packing import Loop
from torsor.compiler.print.plan import WIDTH, starts
from torsor.compiler.print.printer import Printer

ROWS, COLUMNS = 4, 4  # of a product that are held in registers


def table(name: str, slots: Sequence[int]) -> str:
    """Slots as a constant of a module."""
    return f"@{name} = internal constant [{len(slots)} x i64] [{', '.join(f'i64 {slot}' for slot in slots)}]"


def at(p: Printer, base: str, slot: int | str) -> str:
    """The address of a slot."""
    return p.line(f"getelementptr {p.type}, ptr {base}, i64 {slot}")


def pick(p: Printer, source: str, name: str, first: str, count: int, target: str) -> None:
    """Copy slots of ``source``, numbered by a table from ``first`` on, to ``target``, where they lie together."""
    with Loop(p, count, 1) as k:
        entry = p.line(f"getelementptr i64, ptr @{name}, i64 {p.line(f'add i64 {k}, {first}')}")
        value = p.line(f"load {p.type}, ptr {at(p, source, p.line(f'load i64, ptr {entry}'))}")
        p.lines.append(f"  store {p.type} {value}, ptr {at(p, target, k)}")


def copy(p: Printer, source: str, count: int, target: str) -> None:
    """Copy slots that lie together."""
    with Loop(p, count, 1) as k:
        p.lines.append(f"  store {p.type} {p.line(f'load {p.type}, ptr {at(p, source, k)}')}, ptr {at(p, target, k)}")


def product(p: Printer, shape: Product, A: str, B: str, C: str, ranges: Sequence[Sequence[tuple[int, int]]]) -> None:
    """C = A B: a few rows by a few columns at a time in registers; sums run over what is not known to be zero."""
    n, k, m = shape
    wide = p.lanes == 1 and m >= WIDTH
    step = 4 if wide else 1  # columns in one vector
    with Loop(p, n, min(n, ROWS)) as row:
        a, c = (at(p, base, p.line(f"mul i64 {row}, {size}")) for base, size in ((A, k), (C, m)))
        for start, spans in zip(starts(m, WIDTH), ranges, strict=True):
            columns = range(start, min(start + WIDTH, m), step)
            for some in range(0, len(columns), COLUMNS):
                part = _Part(p, wide, min(n, ROWS), columns[some : some + COLUMNS], shape)
                for span in spans:
                    part.add(a, B, span)
                part.store(c)


class _Part:
    """Some rows by some columns of a product, which are held in registers."""

    def __init__(self, p: Printer, wide: bool, rows: int, columns: range, shape: Product) -> None:
        self.p, self.wide, self.columns, self.shape = p, wide, columns, shape
        self.type = f"<4 x {p.element}>" if wide else p.type
        self.suffix = f"v4{p.suffix}" if wide else p.suffix
        self.align = f", align {8 if p.element == 'double' else 4}" if wide else ""
        self.sums = {(r, c): p.number(0.0) if not wide else "zeroinitializer" for c in columns for r in range(rows)}
        self.rows = range(rows)

    def add(self, a: str, B: str, span: tuple[int, int]) -> None:
        """Add the products of a range of the sum."""
        p, (_, k, m) = self.p, self.shape
        mark = p.line("add i64 0, 0")[1:]  # a name of its own
        p.lines += [f"  br label %begin_{mark}", f"begin_{mark}:", f"  br label %sum_{mark}", f"sum_{mark}:"]
        p.lines.append(f"  %q_{mark} = phi i64 [{span[0]}, %begin_{mark}], [%next_{mark}, %sum_{mark}]")
        for (r, c), x in self.sums.items():
            p.lines.append(
                f"  %x_{mark}_{r}_{c} = phi {self.type} [{x}, %begin_{mark}], [%y_{mark}_{r}_{c}, %sum_{mark}]"
            )
        row = at(p, B, p.line(f"mul i64 %q_{mark}, {m}"))
        right = {c: p.line(f"load {self.type}, ptr {at(p, row, c)}{self.align}") for c in self.columns}
        here = at(p, a, f"%q_{mark}")
        left = {r: self._spread(p.line(f"load {p.type}, ptr {at(p, here, r * k)}")) for r in self.rows}
        for r, c in self.sums:
            made = f"%y_{mark}_{r}_{c}"
            p.lines += self._multiply_add(made, left[r], right[c], f"%x_{mark}_{r}_{c}")
            self.sums[r, c] = made
        p.lines.append(f"  %next_{mark} = add i64 %q_{mark}, 1")
        more = p.line(f"icmp ult i64 %next_{mark}, {span[1]}")
        p.lines += [f"  br i1 {more}, label %sum_{mark}, label %end_{mark}", f"end_{mark}:"]

    def store(self, c: str) -> None:
        """Put the sums where they belong."""
        for (r, column), x in self.sums.items():
            place = at(self.p, c, r * self.shape.m + column)
            self.p.lines.append(f"  store {self.type} {x}, ptr {place}{self.align}")

    def _spread(self, x: str) -> str:
        if not self.wide:
            return x
        one = self.p.line(f"insertelement {self.type} poison, {self.p.element} {x}, i32 0")
        return self.p.line(f"shufflevector {self.type} {one}, {self.type} poison, <4 x i32> zeroinitializer")

    def _multiply_add(self, name: str, x: str, y: str, z: str) -> Iterator[str]:
        kind = self.type
        if self.p.fma:
            function = f"{kind} @llvm.fma.{self.suffix}"
            self.p.declared.add(f"declare {function}({kind}, {kind}, {kind})")
            yield f"  {name} = call {function}({kind} {x}, {kind} {y}, {kind} {z})"
        else:
            yield f"  {name}_ = fmul {kind} {x}, {y}"
            yield f"  {name} = fadd {kind} {name}_, {z}"
