"""A program as LLVM modules: ``kernel_one`` for one state, ``kernel_many`` for as many at once as a vector holds.

``kernel_one(ptr operands)`` and ``kernel_many(i64 count, ptr operands, ptr strides)``: ``operands`` points to the addresses
of all inputs, then all outputs, each state's numbers contiguous, a scratch area (null if none is needed), and for
``kernel_many`` the address of ``kernel_one``, which does groups with angles too large for our own sine; ``strides`` to the bytes
between states. They are two modules, so that who asks for one state does not wait for the other. The last group of states
overlaps the one before, so that what is written must not be where anything is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from torsor.compiler.graph import Calls, Op, Product, Program
from torsor.compiler.print.lane_groups import addresses, beginning, fetch, ports_of, row_names, shifted, states
from torsor.compiler.print.packing import Loop, load_columns, store_columns
from torsor.compiler.print.pieces import Pieces
from torsor.compiler.print.plan import PIECE, plan
from torsor.compiler.print.printer import Printer, Target, folded_products
from torsor.compiler.print.streaming import Streaming


class Module(NamedTuple):
    """IR texts that belong together, short enough for LLVM to be done soon with each; the bytes of scratch they need.

    The first calls the functions of the others, whose names are given for each, by a table in it that is filled when loaded.
    ``optimised``: LLVM's passes run over them before they are compiled, which programs do not need: they are straight on.
    """

    texts: tuple[str, ...]
    scratch: int
    functions: tuple[tuple[str, ...], ...] = ()
    optimised: bool = False


PARTS = ("one", "many")
WHOLE = 4500  # instructions up to which a program stays in one piece
TRANSPOSED = 4  # instructions for an output of a group, about
MADE_MOST = 16_384  # numbers that blocks make, beyond which those of a group of states leave the cache: then one by one
TOGETHER = 4  # pieces of a long program in a text: LLVM takes a tenth of a second for one, and memory for each text
# Instructions as the processor has them, but in the order for any: as fast, and a third sooner where LLVM would otherwise
# schedule once more after the registers are assigned.
SCHEDULING = ' "tune-cpu"="generic"'


def emit(
    program: Program, part: str, element: str, target: Target, *, whole: int = WHOLE, piece: int = PIECE
) -> Module:
    """The module of one of `PARTS` in one precision, "double" or "float"; beyond ``whole`` nodes, cut into pieces."""
    made = sum(
        value.size for node in program.live() if isinstance(value := program.graph.values[node], Product | Calls)
    )
    if part == "many" and made > MADE_MOST:
        printer = Printer(program, element, 1, target)
        return Module(("\n".join([*_state_by_state(printer), ""]),), 0)
    functions = {"one": (1, "one", _one), "many": (target.lanes(element), "many", _many)}
    return assemble(program, element, target, [functions[part]], whole, piece)


def assemble(
    program: Program,
    element: str,
    target: Target,
    functions: Sequence[tuple[int, str, Callable[..., Iterable[str]]]],
    whole: int = WHOLE,
    piece: int = PIECE,
) -> Module:
    """A module of ``functions``, each (lanes, name, print), around the program's nodes, inline or in pieces."""
    live = program.live()
    folded = folded_products(program, live, target.fma)
    widest = max(lanes for lanes, _, _ in functions)
    # Outputs count: each is stored, in a group of states after it was transposed, by as many instructions as there are lanes.
    length = len(live) - len(folded) + len(program.roots()) * (1 if widest == 1 else TRANSPOSED)
    is_whole = length <= whole and not any(program.graph.ops[node] is Op.BLOCK for node in live)
    declared: set[str] = set()
    text: list[str] = []
    shared: dict[str, str] = {}
    pieces: dict[str, str] = {}
    scratch = 0
    for lanes, name, function in functions:
        printer = Printer(program, element, lanes, target)
        attributes = SCHEDULING
        if lanes > 1 or not is_whole:
            attributes += f' "min-legal-vector-width"="{target.bits}" "prefer-vector-width"="{target.bits}"'
        if is_whole:
            body: Body = Inline(live, folded)
        else:
            cut = plan(program, whole, piece, target.fma, lanes, printer.widest, folded)
            body = Pieces(f"{name}_piece", cut)
            shared |= body.shared(printer, attributes)
            pieces |= body.functions(printer, attributes)
            text += [*body.tables(printer), *body.products(printer, attributes)]
        text += function(printer, body, attributes)
        scratch = max(scratch, body.size * (8 if element == "double" else 4))
        declared |= printer.declared
    groups = [tuple(islice(pieces, k, k + TOGETHER)) for k in range(0, len(pieces), TOGETHER)]
    bodies = [text, *(_with_shared([pieces[name] for name in group], shared) for group in groups)]
    return Module(tuple("\n".join([*sorted(declared), *body, ""]) for body in bodies), scratch, tuple(groups))


def _with_shared(functions: list[str], shared: dict[str, str]) -> list[str]:
    """Functions of one text, after those of ``shared`` that they call: each text is compiled alone."""
    called = [text for name, text in shared.items() if any(f"@{name}(" in function for function in functions)]
    return [*called, *functions]


class Inline(NamedTuple):
    """The program printed where it is needed."""

    live: list[int]
    folded: set[int]
    streaming: Streaming | None = None  # there are no steps, during which it could be
    size: int = 0

    def compute(self, p: Printer, inputs: list[str]) -> list[str]:
        """Input values → root values, printing what lies between."""
        values = dict(zip(p.program.graph.input_nodes, inputs, strict=True))
        p.nodes(self.live, values, self.folded)
        return [values[root] for root in p.program.roots()]

    def rows_to_rows(self, p: Printer, rows: Callable[[int], list[str]], *, guarded: bool = False) -> bool:
        """Print all from reading the inputs' rows to writing the outputs' (``rows(k)`` are those of port k).

        ``guarded``: for states with angles too large for our own sine, control goes to ``%far`` before anything is written; the
        result says whether it ever does.
        """
        ports, inputs = ports_of(p.program), len(p.program.graph.inputs)
        values: list[str] = []
        if guarded:
            fetch(p)
        for k, port in enumerate(ports[:inputs]):
            values += load_columns(p, rows(k), port.size)
        if guarded:
            p.begin_guard()
        results, start = self.compute(p, values), 0
        is_guarded = guarded and p.end_guard()
        for k, port in enumerate(ports[inputs:], inputs):
            store_columns(p, rows(k), results[start : start + port.size])
            start += port.size
        return is_guarded


Body = Inline | Pieces


def _one(p: Printer, body: Body, attributes: str) -> Iterator[str]:
    p.lines = ["entry:", *addresses(p.program)]
    body.rows_to_rows(p, lambda k: [f"%base{k}"])
    yield f"define void @kernel_one(ptr %operands){attributes} {{"
    yield from p.lines
    yield "  ret void"
    yield "}"


def _state_by_state(p: Printer) -> Iterator[str]:
    """``kernel_many`` for a program whose blocks have vectors of their own for one state."""
    yield f"define void @kernel_many(i64 %count, ptr %operands, ptr %strides){SCHEDULING} {{"
    yield from states(p.program)
    yield f"  %kernel_one_at = getelementptr ptr, ptr %operands, i64 {len(ports_of(p.program)) + 1}"
    yield "  %kernel_one = load ptr, ptr %kernel_one_at"
    p.lines = []
    with Loop(p, "%count", 1) as index:
        p.lines += [*shifted(p.program, index), "  call void %kernel_one(ptr %moved)"]
    yield from p.lines
    yield "  ret void"
    yield "}"


def _many(p: Printer, body: Body, attributes: str) -> Iterator[str]:
    p.lines = []
    is_guarded = body.rows_to_rows(p, lambda k: row_names(p, k), guarded=True)
    lines, streaming = p.lines, body.streaming
    one_at = f"  %kernel_one_at = getelementptr ptr, ptr %operands, i64 {len(ports_of(p.program)) + 1}"
    yield f"define void @kernel_many(i64 %count, ptr %operands, ptr %strides){attributes} {{"
    yield from beginning(
        p, [one_at, "  %kernel_one = load ptr, ptr %kernel_one_at", *(streaming.is_far() if streaming else ())]
    )
    yield from lines
    yield "  br label %last"
    if is_guarded:  # far angles: the states of the group one by one, with the same bits
        yield "far:"
        yield f"  %group_end = add i64 %first_state, {p.lanes}"
        yield "  %is_whole = icmp ult i64 %group_end, %count"
        yield "  %until = select i1 %is_whole, i64 %group_end, i64 %count"
        yield "  br label %single"
        yield "single:"
        yield "  %index = phi i64 [%first_state, %far], [%after, %single]"
        yield from shifted(p.program, "%index")
        yield "  call void %kernel_one(ptr %moved)"
        yield "  %after = add i64 %index, 1"
        yield "  %more = icmp ult i64 %after, %until"
        yield "  br i1 %more, label %single, label %last"
    yield "last:"
    yield "  br label %test"
    yield "tail:"
    yield from streaming.end() if streaming else ()
    yield "  ret void"
    yield "}"
    yield from streaming.function() if streaming else ()
