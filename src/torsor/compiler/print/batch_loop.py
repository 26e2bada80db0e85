"""What every function over many states has around its body: addresses, the loop over groups of lanes, the rows of a lane.

Names made here for port k: ``%base{k}`` (address of the first state), ``%stride{k}`` (bytes to the next), and in each group
``%row{k}_{lane}``; also ``%scratch``, ``%done`` (states done) and ``%moved`` (room for shifted addresses). The body follows
the label ``group`` and ends with a jump to ``last``; what is left goes to the label ``tail``.
"""

from __future__ import annotations

from collections.abc import Iterator

from torsor.compiler.graph import Port, Program
from torsor.compiler.print.printer import Printer


def ports_of(program: Program) -> list[Port]:
    """Inputs, then outputs: the order of ``operands`` and ``strides``."""
    return [*program.graph.inputs, *program.outputs]


def row_names(p: Printer, k: int) -> list[str]:
    """The states of port k that the lanes of a group hold."""
    return [f"%row{k}_{lane}" for lane in range(p.lanes)]


def addresses(program: Program) -> Iterator[str]:
    """``%base{k}`` of every port, and ``%scratch``."""
    ports = ports_of(program)
    for k in range(len(ports)):
        yield f"  %slot{k} = getelementptr ptr, ptr %operands, i64 {k}"
        yield f"  %base{k} = load ptr, ptr %slot{k}"
    yield f"  %scratch_at = getelementptr ptr, ptr %operands, i64 {len(ports)}"
    yield "  %scratch = load ptr, ptr %scratch_at"


def beginning(p: Printer, extra: list[str]) -> Iterator[str]:
    """From the entry (with ``extra`` lines in it) to the start of a group's body."""
    ports = ports_of(p.program)
    yield "entry:"
    yield from addresses(p.program)
    for k in range(len(ports)):
        yield f"  %stride_at{k} = getelementptr i64, ptr %strides, i64 {k}"
        yield f"  %stride{k} = load i64, ptr %stride_at{k}"
    yield f"  %moved = alloca ptr, i64 {len(ports) + 1}"
    yield from extra
    yield "  br label %test"
    yield "test:"
    yield "  %done = phi i64 [0, %entry], [%next, %last]"
    yield f"  %next = add i64 %done, {p.lanes}"
    yield "  %full = icmp ule i64 %next, %count"
    yield "  br i1 %full, label %group, label %tail"
    yield "group:"
    for k in range(len(ports)):
        for lane, row in enumerate(row_names(p, k)):
            yield f"  %at{k}_{lane} = add i64 %done, {lane}"
            yield f"  %off{k}_{lane} = mul i64 %at{k}_{lane}, %stride{k}"
            yield f"  {row} = getelementptr i8, ptr %base{k}, i64 %off{k}_{lane}"


def shifted(program: Program, index: str) -> Iterator[str]:
    """Fill ``%moved`` with the addresses of state ``index``, and scratch."""
    ports = ports_of(program)
    for k in range(len(ports)):
        yield f"  %step{k} = mul i64 {index}, %stride{k}"
        yield f"  %here{k} = getelementptr i8, ptr %base{k}, i64 %step{k}"
        yield f"  %cell{k} = getelementptr ptr, ptr %moved, i64 {k}"
        yield f"  store ptr %here{k}, ptr %cell{k}"
    yield f"  %cell_scratch = getelementptr ptr, ptr %moved, i64 {len(ports)}"
    yield "  store ptr %scratch, ptr %cell_scratch"
