"""A step of time as a loop in machine code: state in, N steps, every k-th state out, one trajectory per vector lane.

``scan_many(i64 count, ptr operands, ptr strides, i64 steps, i64 every)``: ``operands`` points to the addresses of the
initial state, the per-step inputs and the constants (the program's inputs, in this order), the saved outputs, and scratch.
Per-step inputs and outputs of one trajectory lie one step after the other; ``strides`` are bytes between trajectories. A loop
that goes backward begins with the last of them. The last group of trajectories overlaps the one before, so that what is written
must not be where anything is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from torsor.compiler.graph import Port, Program
from torsor.compiler.print.lane_groups import beginning, ports_of, row_names
from torsor.compiler.print.llvm import Body, Module, assemble
from torsor.compiler.print.packing import load_columns, store_columns
from torsor.compiler.print.printer import Printer, Target


class Roles(NamedTuple):
    """How many of a step program's inputs are state (also its first outputs), then per-step inputs, then constants.

    ``backward``: the last per-step inputs come first, and what a step gives lies where its inputs do.
    """

    state: int
    inputs: int
    constants: int
    backward: bool = False


def emit(program: Program, roles: Roles, element: str, target: Target) -> Module:
    """The module of a scan in one precision."""
    one = partial(_scan, roles=roles, name="scan_one", narrow=None)
    many = partial(_scan, roles=roles, name="scan_many", narrow="scan_one")
    return assemble(program, element, target, ((1, "one", one), (target.lanes(element), "many", many)))


def _scan(p: Printer, body: Body, attributes: str, roles: Roles, name: str, narrow: str | None) -> Iterator[str]:
    ports, inputs = ports_of(p.program), len(p.program.graph.inputs)
    kept = [*range(roles.state), *range(roles.state + roles.inputs, inputs)]  # in memory of the loop's own
    yield f"define void @{name}(i64 %count, ptr %operands, ptr %strides, i64 %steps, i64 %every){attributes} {{"
    places = [f"  %kept{k} = alloca {p.type}, i64 {max(1, ports[k].size)}" for k in kept]
    alone = ["  %alone = icmp eq i64 %count, 1", "  br i1 %alone, label %one, label %several", "several:"]
    alone = [] if narrow is None else alone
    yield from beginning(p, places + alone, entry="several" if alone else "entry")
    p.lines = []
    for k in kept:
        for column, value in enumerate(load_columns(p, row_names(p, k), ports[k].size)):
            p.lines.append(f"  store {p.type} {value}, ptr {_cell(p, k, column)}")
    p.lines += ["  br label %before", "before:", "  br label %loop", "loop:"]
    p.lines.append("  %time = phi i64 [0, %before], [%time1, %latch]")
    p.lines += ["  %more = icmp ult i64 %time, %steps", "  br i1 %more, label %body, label %last", "body:"]
    values: list[str] = []
    p.lines += ["  %before_last = sub i64 %steps, 1", "  %from_end = sub i64 %before_last, %time"]
    for k in range(inputs):
        if k in kept:
            values += [p.line(f"load {p.type}, ptr {_cell(p, k, column)}") for column in range(ports[k].size)]
        else:
            row = "%from_end" if roles.backward else "%time"
            values += load_columns(p, _rows_at(p, k, ports[k], row), ports[k].size)
    results = body.compute(p, values)
    start = 0
    for k in range(roles.state):
        for column in range(ports[k].size):
            p.lines.append(f"  store {p.type} {results[start + column]}, ptr {_cell(p, k, column)}")
        start += ports[k].size
    p.lines += ["  %time1 = add i64 %time, 1", "  %left = urem i64 %time1, %every", "  %due = icmp eq i64 %left, 0"]
    p.lines += ["  br i1 %due, label %save, label %latch", "save:", "  %saved1 = udiv i64 %time1, %every"]
    p.lines.append("  %saved = sub i64 %saved1, 1")
    start = 0
    for k in range(inputs, len(ports)):
        row = "%from_end" if roles.backward else "%saved"
        store_columns(p, _rows_at(p, k, ports[k], row), results[start : start + ports[k].size])
        start += ports[k].size
    p.lines += ["  br label %latch", "latch:", "  br label %loop", "last:", "  br label %test"]
    yield from p.lines
    yield "tail:"
    yield "  ret void"
    if narrow is not None:  # a single trajectory takes half as long by itself
        yield "one:"
        yield f"  call void @{narrow}(i64 %count, ptr %operands, ptr %strides, i64 %steps, i64 %every)"
        yield "  ret void"
    yield "}"


def _rows_at(p: Printer, k: int, port: Port, index: str) -> list[str]:
    """Rows of a port that has one entry per step, at step ``index``."""
    numbers = p.line(f"mul i64 {index}, {port.size}")
    return [p.line(f"getelementptr {p.element}, ptr {row}, i64 {numbers}") for row in row_names(p, k)]


def _cell(p: Printer, k: int, column: int) -> str:
    return p.line(f"getelementptr {p.type}, ptr %kept{k}, i64 {column}")
