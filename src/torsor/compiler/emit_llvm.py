"""A program as LLVM modules: ``kernel_one`` for one state, ``kernel_many`` for as many at once as a vector holds.

``kernel_one(ptr operands)`` and ``kernel_many(i64 count, ptr operands, ptr strides)``: ``operands`` points to the addresses
of all inputs, then all outputs, each state's numbers contiguous, a scratch area (null if none is needed), and for
``kernel_many`` the address of ``kernel_one``, which does the last states; ``strides`` to the bytes between states. They are
two modules, so that who asks for one state does not wait for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from torsor.compiler import chunks
from torsor.compiler.batch_loop import addresses, opening, ports_of, row_names, shifted
from torsor.compiler.graph import Op, Program
from torsor.compiler.packing import load_columns, store_columns
from torsor.compiler.printer import Printer, Target, folded_products


class Module(NamedTuple):
    """IR text, and the bytes of scratch that its functions need."""

    text: str
    scratch: int


PARTS = ("one", "many")
# Instructions as the processor has them, but in the order for any: as fast, and a third sooner where LLVM would otherwise
# schedule once more after the registers are assigned.
SCHEDULING = ' "tune-cpu"="generic"'


def emit(
    program: Program, part: str, element: str, target: Target, *, whole: int = chunks.WHOLE, piece: int = chunks.PIECE
) -> Module:
    """The module of one of `PARTS` in one precision, "double" or "float"; beyond ``whole`` nodes, cut into pieces."""
    functions = {"one": (1, "one", _one), "many": (target.lanes(element), "many", _many)}
    return assemble(program, element, target, [functions[part]], whole, piece)


def assemble(
    program: Program,
    element: str,
    target: Target,
    functions: Sequence[tuple[int, str, Callable[..., Iterable[str]]]],
    whole: int = chunks.WHOLE,
    piece: int = chunks.PIECE,
) -> Module:
    """A module of ``functions``, each (lanes, name, print), around the program's nodes, inline or in pieces."""
    live = program.live()
    folded = folded_products(program, live, target.fma)
    cut = chunks.plan(program, live, folded, piece) if len(live) - len(folded) > whole else None
    declared: set[str] = set()
    text: list[str] = []
    scratch = 0
    for lanes, name, function in functions:
        printer = Printer(program, element, lanes, target)
        attributes = SCHEDULING
        if lanes > 1:
            attributes += f' "min-legal-vector-width"="{target.bits}" "prefer-vector-width"="{target.bits}"'
        if cut is None:
            compute: Compute = _inline(live, folded)
        else:
            text += _functions(printer, f"{name}_piece", cut, folded, attributes)
            compute = _called(f"{name}_piece", cut)
            scratch = max(scratch, cut.slots * lanes * (8 if element == "double" else 4))
        text += function(printer, compute, attributes)
        declared |= printer.declared
    return Module("\n".join([*sorted(declared), *text, ""]), scratch)


Compute = Callable[[Printer, list[str]], list[str]]  # input values → root values, printing what lies between


def _inline(live: list[int], folded: set[int]) -> Compute:
    def compute(p: Printer, inputs: list[str]) -> list[str]:
        values = dict(zip(p.program.graph.input_nodes, inputs, strict=True))
        p.nodes(live, values, folded)
        return [values[root] for root in p.program.roots()]

    return compute


def _called(name: str, cut: chunks.Plan) -> Compute:
    def compute(p: Printer, inputs: list[str]) -> list[str]:
        graph = p.program.graph
        given = dict(zip(graph.input_nodes, inputs, strict=True))
        for node, slot in cut.input_slots:
            p.lines.append(f"  store {p.type} {given[node]}, ptr {_slot(p, slot)}")
        p.lines += [f"  call void @{name}{k}(ptr %scratch)" for k in range(len(cut.chunks))]
        results = []
        for root in p.program.roots():
            if graph.ops[root] is Op.CONSTANT:
                results.append(p.number(graph.values[root]))  # type: ignore[arg-type]
            else:
                results.append(p.line(f"load {p.type}, ptr {_slot(p, cut.root_slots[root])}"))
        return results

    return compute


def _functions(p: Printer, name: str, cut: chunks.Plan, folded: set[int], attributes: str) -> Iterator[str]:
    graph = p.program.graph
    constants = [node for node in p.program.live() if graph.ops[node] is Op.CONSTANT]
    for k, chunk in enumerate(cut.chunks):
        p.lines = ["entry:"]
        values: dict[int, str] = {}
        p.nodes(constants, values, folded)
        for node, slot in chunk.loads:
            values[node] = p.line(f"load {p.type}, ptr {_slot(p, slot)}")
        p.nodes(chunk.nodes, values, folded)
        for node, slot in chunk.stores:
            p.lines.append(f"  store {p.type} {values[node]}, ptr {_slot(p, slot)}")
        yield f"define internal void @{name}{k}(ptr %scratch){attributes} {{"
        yield from p.lines
        yield "  ret void"
        yield "}"


def _slot(p: Printer, slot: int) -> str:
    return p.line(f"getelementptr {p.type}, ptr %scratch, i64 {slot}")


def _one(p: Printer, compute: Compute, attributes: str) -> Iterator[str]:
    ports, inputs = ports_of(p.program), len(p.program.graph.inputs)
    p.lines = ["entry:", *addresses(p.program)]
    values: list[str] = []
    for k, port in enumerate(ports[:inputs]):
        values += load_columns(p, [f"%base{k}"], port.size)
    results, start = compute(p, values), 0
    for k, port in enumerate(ports[inputs:], inputs):
        store_columns(p, [f"%base{k}"], results[start : start + port.size])
        start += port.size
    yield f"define void @kernel_one(ptr %operands){attributes} {{"
    yield from p.lines
    yield "  ret void"
    yield "}"


def _many(p: Printer, compute: Compute, attributes: str) -> Iterator[str]:
    ports, inputs = ports_of(p.program), len(p.program.graph.inputs)
    p.lines = []
    values: list[str] = []
    for k, port in enumerate(ports[:inputs]):
        values += load_columns(p, row_names(p, k), port.size)
    results, start = compute(p, values), 0
    for k, port in enumerate(ports[inputs:], inputs):
        store_columns(p, row_names(p, k), results[start : start + port.size])
        start += port.size
    one_at = f"  %kernel_one_at = getelementptr ptr, ptr %operands, i64 {len(ports) + 1}"
    yield f"define void @kernel_many(i64 %count, ptr %operands, ptr %strides){attributes} {{"
    yield from opening(p, [one_at, "  %kernel_one = load ptr, ptr %kernel_one_at"])
    yield from p.lines
    yield "  br label %last"
    yield "last:"
    yield "  br label %test"
    yield "tail:"  # fewer states than lanes: one by one, with the same bits
    yield "  %index = phi i64 [%done, %test], [%after, %single]"
    yield "  %more = icmp ult i64 %index, %count"
    yield "  br i1 %more, label %single, label %end"
    yield "single:"
    yield from shifted(p.program, "%index")
    yield "  call void %kernel_one(ptr %moved)"
    yield "  %after = add i64 %index, 1"
    yield "  br label %tail"
    yield "end:"
    yield "  ret void"
    yield "}"
