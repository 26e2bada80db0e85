"""Products of many small matrices, C[s] = A[s] B[s], as loops in machine code made for their sizes.

For tens of rows a library's matrix product spends half of its time on getting ready, and knows nothing of zeros. Here four rows
by eight columns are held in registers, sums run over what is not known to be zero, and the last block of rows, or of columns,
overlaps the one before instead of being cut.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from torsor.compiler.print.llvm import Module
from torsor.compiler.run import engine
from torsor.compiler.run.cache import Source, machine_code
from torsor.compiler.run.threads import in_slices

Array = Any
ROWS, COLUMNS = 4, 8
_QUAD = "<4 x double>"
_PRODUCT = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


Ranges = tuple[tuple[tuple[int, int], ...], ...]  # for each block of columns, where its rows are not known to be zero


def products(A: Array, B: Array, out: Array | None = None, *, ranges: Ranges | None = None) -> Array:
    """A B (..., n, m) of arrays (..., n, k) and (..., k, m), doubles with the same batch axes; as ``numpy.matmul``.

    ``ranges``: where B may differ from zero, by `ranges_of`.
    """
    n, k = A.shape[-2:]
    m = B.shape[-1]
    fits = k > 0 and n >= ROWS and m >= COLUMNS and A.shape[:-2] == B.shape[:-2] and A.dtype == B.dtype == np.float64
    if not fits or engine.why_missing() is not None:
        return np.matmul(A, B, out=out)
    A, B = np.ascontiguousarray(A), np.ascontiguousarray(B)
    direct = out is not None and out.flags.c_contiguous and not any(np.may_share_memory(out, x) for x in (A, B))
    C: Array = out if direct else np.empty((*A.shape[:-1], m))
    code = _code(n, k, m, ranges)
    steps = (8 * n * k, 8 * k * m, 8 * n * m)

    def work(start: int, length: int) -> None:
        code(length, *(x.ctypes.data + start * step for x, step in zip((A, B, C), steps, strict=True)))

    if count := A.size // (n * k):
        in_slices(count, n * k * m // 2, work, sum(steps) // 8)
    if out is None or direct:
        return C
    out[...] = C
    return out


def ranges_of(where: Array) -> Ranges:
    """For each block of columns, the ranges of rows in which ``where`` (k, m) has entries."""
    found = []
    for start in _starts(where.shape[1], COLUMNS):
        rows = np.flatnonzero(where[:, start : start + COLUMNS].any(axis=1))
        cuts = np.flatnonzero(np.diff(rows) > 1) + 1
        found.append(tuple((int(part[0]), int(part[-1]) + 1) for part in np.split(rows, cuts) if len(part)))
    return tuple(found)


def _starts(size: int, step: int) -> list[int]:
    """Starts of blocks that cover all; the last overlaps the one before instead of being cut."""
    return [min(start, size - step) for start in range(0, size, step)]


class _Code(NamedTuple):
    """A function, and the machine code that it is valid with."""

    call: Any
    code: engine.Native

    def __call__(self, *args: int) -> None:
        self.call(*args)


@cache
def _code(n: int, k: int, m: int, ranges: Ranges | None) -> _Code:
    ranges = ranges_of(np.ones((k, m), bool)) if ranges is None else ranges
    text = "\n".join(_module(n, k, m, ranges, "fma" if engine.host_target().fma else "fmuladd"))
    code = machine_code(f"products|{text}", ["product"], lambda: Source(Module((text,), 0), {})).native
    return _Code(_PRODUCT(code.address("product")), code)


def _module(n: int, k: int, m: int, ranges: Ranges, fma: str) -> Iterator[str]:
    """``product(i64 count, ptr A, ptr B, ptr C)``: loops over states, blocks of rows and sums; blocks of columns one by one."""
    yield f"declare {_QUAD} @llvm.{fma}.v4f64({_QUAD}, {_QUAD}, {_QUAD})"
    yield "define void @product(i64 %count, ptr %A, ptr %B, ptr %C) {"
    yield "entry:"
    yield "  br label %state"
    yield "state:"
    yield "  %s = phi i64 [0, %entry], [%s1, %state_end]"
    for name, size in (("A", n * k), ("B", k * m), ("C", n * m)):
        yield f"  %{name}_off = mul i64 %s, {size}"
        yield f"  %{name}_at = getelementptr double, ptr %{name}, i64 %{name}_off"
    yield "  br label %rows"
    starts = _starts(m, COLUMNS)
    yield "rows:"
    yield f"  %i = phi i64 [0, %state], [%i1, %stored{len(starts) - 1}]"
    yield f"  %late = icmp ugt i64 %i, {n - ROWS}"
    yield f"  %row = select i1 %late, i64 {n - ROWS}, i64 %i"
    for name, width in (("A", k), ("C", m)):
        yield f"  %{name}_row = mul i64 %row, {width}"
        yield f"  %{name}_block = getelementptr double, ptr %{name}_at, i64 %{name}_row"
    before = "rows"
    for t, (start, spans) in enumerate(zip(starts, ranges, strict=True)):
        yield from _columns(t, start, spans, before, (k, m), fma)
        before = f"stored{t}"
    yield f"  %i1 = add i64 %i, {ROWS}"
    yield f"  %i_more = icmp ult i64 %i1, {n}"
    yield "  br i1 %i_more, label %rows, label %state_end"
    yield "state_end:"
    yield "  %s1 = add i64 %s, 1"
    yield "  %s_more = icmp ult i64 %s1, %count"
    yield "  br i1 %s_more, label %state, label %end"
    yield "end:"
    yield "  ret void"
    yield "}"


def _columns(
    t: int, start: int, spans: Sequence[tuple[int, int]], before: str, widths: tuple[int, int], fma: str
) -> Iterator[str]:
    """One block of columns: a loop for each range of rows of B, then the block is stored. Follows the label ``before``."""
    (k, m), cells = widths, [(r, c) for r in range(ROWS) for c in range(COLUMNS // 4)]
    sums = dict.fromkeys(cells, "zeroinitializer")
    for u, (first, stop) in enumerate(spans):
        at = f"{t}_{u}"
        yield f"  br label %sum{at}"
        yield f"sum{at}:"
        yield f"  %q{at} = phi i64 [{first}, %{before}], [%r{at}, %sum{at}]"
        for r, c in cells:
            yield f"  %x{at}_{r}{c} = phi {_QUAD} [{sums[r, c]}, %{before}], [%y{at}_{r}{c}, %sum{at}]"
        yield f"  %b_off{at} = mul i64 %q{at}, {m}"
        yield f"  %b_row{at} = getelementptr double, ptr %B_at, i64 %b_off{at}"
        for c in range(COLUMNS // 4):
            yield f"  %b_at{at}_{c} = getelementptr double, ptr %b_row{at}, i64 {start + 4 * c}"
            yield f"  %b{at}_{c} = load {_QUAD}, ptr %b_at{at}_{c}, align 8"
        yield f"  %a_row{at} = getelementptr double, ptr %A_block, i64 %q{at}"
        for r in range(ROWS):
            yield f"  %a_at{at}_{r} = getelementptr double, ptr %a_row{at}, i64 {r * k}"
            yield f"  %a{at}_{r} = load double, ptr %a_at{at}_{r}"
            yield f"  %one{at}_{r} = insertelement {_QUAD} poison, double %a{at}_{r}, i32 0"
            yield f"  %all{at}_{r} = shufflevector {_QUAD} %one{at}_{r}, {_QUAD} poison, <4 x i32> zeroinitializer"
        for r, c in cells:
            terms = f"{_QUAD} %all{at}_{r}, {_QUAD} %b{at}_{c}, {_QUAD} %x{at}_{r}{c}"
            yield f"  %y{at}_{r}{c} = call {_QUAD} @llvm.{fma}.v4f64({terms})"
            sums[r, c] = f"%y{at}_{r}{c}"
        yield f"  %r{at} = add i64 %q{at}, 1"
        yield f"  %more{at} = icmp ult i64 %r{at}, {stop}"
        yield f"  br i1 %more{at}, label %sum{at}, label %done{at}"
        yield f"done{at}:"
        before = f"done{at}"
    yield f"  br label %stored{t}"
    yield f"stored{t}:"
    for r, c in cells:
        yield f"  %c_at{t}_{r}{c} = getelementptr double, ptr %C_block, i64 {start + r * m + 4 * c}"
        yield f"  store {_QUAD} {sums[r, c]}, ptr %c_at{t}_{r}{c}, align 8"
