"""The loop of a kernel over its states: addresses of inputs and outputs, groups of states, one lane each.

While a group is computed, what the next one reads is fetched, and the places where its own results go, if all states together are
more than what stays in the cache. Else the processor would wait for memory at both ends of each group, and memory for the
processor in between. Long results are not fetched: they go past the cache (`streaming`).

``%operands``, ``%strides`` and ``%count`` are the kernel's arguments; ``%base{k}`` and ``%stride{k}`` belong to port k.
"""

from __future__ import annotations

from collections.abc import Iterator

from torsor.compiler.graph import Port, Program
from torsor.compiler.print.packing import Loop
from torsor.compiler.print.printer import Printer

CACHE = 1 << 20  # bytes that stay in the cache, at least
LINE = 64  # bytes that are fetched, or streamed, together
LONG = 128  # numbers of a result, from which on it is streamed and not fetched


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


def states(program: Program) -> Iterator[str]:
    """The entry of a function for many states: addresses, ``%stride{k}``, and room for the addresses of a state, ``%moved``."""
    ports = ports_of(program)
    yield "entry:"
    yield from addresses(program)
    for k in range(len(ports)):
        yield f"  %stride_at{k} = getelementptr i64, ptr %strides, i64 {k}"
        yield f"  %stride{k} = load i64, ptr %stride_at{k}"
    yield f"  %moved = alloca ptr, i64 {len(ports) + 1}"


def beginning(p: Printer, extra: list[str], entry: str = "entry") -> Iterator[str]:
    """From the entry (with ``extra`` lines in it, the last of them in the block ``entry``) to the start of a group's body.

    The last group has the last states, of which some were in the group before, and are computed again; where there are fewer than
    lanes, several lanes have the last one. All of them write the same numbers.
    """
    ports = ports_of(p.program)
    yield from states(p.program)
    yield from _reach(p.lanes)
    yield from _is_large(p)
    yield from extra
    yield "  br label %test"
    yield "test:"
    yield f"  %done = phi i64 [0, %{entry}], [%next, %last]"
    yield f"  %first_before = phi i64 [0, %{entry}], [%first_state, %last]"
    yield f"  %next = add i64 %done, {p.lanes}"
    yield "  %is_left = icmp ult i64 %done, %count"
    yield "  br i1 %is_left, label %group, label %tail"
    yield "group:"
    yield "  %is_early = icmp ult i64 %done, %latest_start"
    yield "  %first_state = select i1 %is_early, i64 %done, i64 %latest_start"
    for lane in range(p.lanes):
        yield f"  %at{lane} = add i64 %first_state, %reach{lane}"
    for k in range(len(ports)):
        for lane, row in enumerate(row_names(p, k)):
            yield f"  %off{k}_{lane} = mul i64 %at{lane}, %stride{k}"
            yield f"  {row} = getelementptr i8, ptr %base{k}, i64 %off{k}_{lane}"


def _is_large(p: Printer) -> Iterator[str]:
    """``%is_large``: whether the numbers of all states are more than what stays in the cache."""
    total = "0"
    for k in range(len(ports_of(p.program))):
        yield f"  %bytes{k} = mul i64 %stride{k}, %count"
        yield f"  %bytes_to{k} = add i64 %bytes{k}, {total}"
        total = f"%bytes_to{k}"
    yield f"  %is_large = icmp ugt i64 {total}, {CACHE}"


def _reach(lanes: int) -> Iterator[str]:
    """``%latest_start``: the first state of the last group; ``%reach{lane}``: how far the state of a lane is from the first."""
    yield "  %final_state = sub i64 %count, 1"
    yield f"  %whole_before = sub i64 %count, {lanes}"
    yield f"  %has_enough = icmp uge i64 %count, {lanes}"
    yield "  %latest_start = select i1 %has_enough, i64 %whole_before, i64 0"
    for lane in range(lanes):
        yield f"  %there{lane} = icmp ult i64 {lane}, %count"
        yield f"  %reach{lane} = select i1 %there{lane}, i64 {lane}, i64 %final_state"


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


def fetch(p: Printer, part: int = 0, parts: int = 1) -> None:
    """Fetch one of some parts of the inputs of the next group and of the places for the results of this one, if they are short.

    They are taken to lie one state after the other; where they do not, nothing is gained. A fetch never fails, wherever it is.
    """
    size, inputs = 8 if p.element == "double" else 4, len(p.program.graph.inputs)
    fetched = [(k, port) for k, port in enumerate(ports_of(p.program)) if k < inputs or port.size < LONG]
    lines = [(k, at) for k, port in fetched for at in range(0, p.lanes * port.size * size, LINE)]
    share = lines[part * len(lines) // parts : (part + 1) * len(lines) // parts]
    mark = p.line("add i64 0, 0")[1:]  # a name of its own
    p.lines += [f"  br i1 %is_large, label %fetch_{mark}, label %fetched_{mark}", f"fetch_{mark}:"]
    p.declared.add("declare void @llvm.prefetch.p0(ptr, i32, i32, i32)")
    for k in sorted({k for k, _ in share}):
        own = [at for port, at in share if port == k]
        first = p.line(f"mul i64 {'%next' if k < inputs else '%first_state'}, %stride{k}")
        start = p.line(f"getelementptr i8, ptr %base{k}, i64 {p.line(f'add i64 {first}, {own[0]}')}")
        with Loop(p, len(own), 1) as number:
            place = p.line(f"getelementptr [{LINE} x i8], ptr {start}, i64 {number}")
            p.lines.append(f"  call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 2, i32 1)")
    p.lines += [f"  br label %fetched_{mark}", f"fetched_{mark}:"]
