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
from typing import NamedTuple, TypeVar

from torsor.compiler.graph import Calls, Op, Product, Program
from torsor.compiler.print import blocks
from torsor.compiler.print.lane_groups import addresses, beginning, ports_of, row_names, shifted
from torsor.compiler.print.packing import Loop, load_columns, load_into_slots, store_columns, store_from_slots
from torsor.compiler.print.plan import PIECE, BlockStep, Chunk, Plan, plan
from torsor.compiler.print.printer import Printer, Target, folded_products


class Module(NamedTuple):
    """IR texts that belong together, short enough for LLVM to be done soon with each; the bytes of scratch they need.

    The first calls the functions of the others, whose names are given for each, by a table in it that is filled when loaded.
    ``optimised``: LLVM's passes run over them before they are compiled, which programs do not need: they are straight on.
    """

    texts: tuple[str, ...]
    scratch: int
    functions: tuple[tuple[str, ...], ...] = ()
    optimised: bool = False


S = TypeVar("S", Chunk, BlockStep)
PARTS = ("one", "many")
WHOLE = 4500  # instructions up to which a program stays in one piece
TRANSPOSED = 4  # instructions for an output of a group, about
TOGETHER = 4  # pieces of a long program in a text: LLVM takes a tenth of a second for one, and memory for each text
# Instructions as the processor has them, but in the order for any: as fast, and a third sooner where LLVM would otherwise
# schedule once more after the registers are assigned.
SCHEDULING = ' "tune-cpu"="generic"'


def emit(
    program: Program, part: str, element: str, target: Target, *, whole: int = WHOLE, piece: int = PIECE
) -> Module:
    """The module of one of `PARTS` in one precision, "double" or "float"; beyond ``whole`` nodes, cut into pieces."""
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
    has_blocks = any(program.graph.ops[node] is Op.BLOCK for node in live)
    cut = plan(program, whole, piece, target.fma, folded=folded) if length > whole or has_blocks else None
    declared: set[str] = set()
    text: list[str] = []
    shared: dict[str, str] = {}
    pieces: dict[str, str] = {}
    scratch = 0
    for lanes, name, function in functions:
        printer = Printer(program, element, lanes, target)
        attributes = SCHEDULING
        if lanes > 1:
            attributes += f' "min-legal-vector-width"="{target.bits}" "prefer-vector-width"="{target.bits}"'
        if cut is None:
            body: Body = Inline(live, folded)
        else:
            body = Pieces(f"{name}_piece", cut)
            shared |= body.shared(printer, attributes)
            pieces |= body.functions(printer, attributes)
            text += body.tables()
            scratch = max(scratch, cut.slots * lanes * (8 if element == "double" else 4))
        text += function(printer, body, attributes)
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


class Pieces(NamedTuple):
    """The program as functions called one after the other, with their values in scratch; in the same two ways."""

    name: str
    cut: Plan

    def compute(self, p: Printer, inputs: list[str]) -> list[str]:
        """Input values → root values, by way of their slots."""
        for slot, value in enumerate(inputs):
            p.lines.append(f"  store {p.type} {value}, ptr {_slot(p, slot)}")
        self._run(p, self.cut, "%scratch")
        return [p.line(f"load {p.type}, ptr {_slot(p, slot)}") for slot in self.cut.root_slots]

    def rows_to_rows(self, p: Printer, rows: Callable[[int], list[str]], *, guarded: bool = False) -> bool:
        """Rows into slots and slots into rows by loops: printed out, thousands of outputs would take minutes to compile.

        Each sine has its own guard: it is in a function.
        """
        ports, inputs, start = ports_of(p.program), len(p.program.graph.inputs), 0
        for k, port in enumerate(ports[:inputs]):
            load_into_slots(p, rows(k), port.size, start)
            start += port.size
        self._run(p, self.cut, "%scratch")
        start = 0
        for k, port in enumerate(ports[inputs:], inputs):
            store_from_slots(p, rows(k), port.size, f"@{self.name}_roots0", start)
            start += port.size
        return False

    def _run(self, p: Printer, part: Plan, scratch: str) -> None:
        """The steps of a plan, whose slots begin at ``scratch``."""
        numbers = {id(step): k for k, (_, step) in enumerate(self._steps(Chunk))}
        tables = {id(step): f"{self.name}_sources{k}" for k, (_, step) in enumerate(self._steps(BlockStep))}
        for step in part.steps:
            if isinstance(step, Chunk):
                place = f"getelementptr (ptr, ptr @{self.name}_table, i64 {numbers[id(step)]})"
                p.lines.append(f"  call void {p.line(f'load ptr, ptr {place}')}(ptr {scratch})")
                continue
            area, made = blocks.at(p, scratch, part.area), blocks.at(p, scratch, step.first)
            if isinstance(step.block, Product):
                blocks.pick(p, scratch, tables[id(step)], "0", len(step.sources), area)
                B = blocks.at(p, area, step.block.n * step.block.k)
                blocks.product(p, step.block, area, B, made, step.ranges)
                continue
            self._calls(p, step.block, step, tables[id(step)], scratch, area, made)

    def _calls(self, p: Printer, block: Calls, step: BlockStep, table: str, scratch: str, area: str, made: str) -> None:
        """A program called row by row in ``area``; what a row leaves for the next is copied there."""
        assert step.inner is not None
        carried, given = block.carried, block.size // block.times
        roots = f"{self.name}_roots{[id(x) for x in self.cut.plans()].index(id(step.inner))}"
        blocks.pick(p, scratch, table, "0", carried, area)
        with Loop(p, block.times, 1) as row:
            first = p.line(f"add i64 {p.line(f'mul i64 {row}, {block.taken}')}, {carried}")
            blocks.pick(p, scratch, table, first, block.taken, blocks.at(p, area, carried))
            self._run(p, step.inner, area)
            here = blocks.at(p, made, p.line(f"mul i64 {row}, {given}"))
            blocks.pick(p, area, roots, "0", given, here)
            blocks.copy(p, here, carried, area)

    def _steps(self, kind: type[S]) -> list[tuple[Plan, S]]:
        """All pieces, or all blocks, of the program and those it calls, each with its plan."""
        return [(part, step) for part in self.cut.plans() for step in part.steps if isinstance(step, kind)]

    def tables(self) -> Iterator[str]:
        """The slots of roots and of what blocks take, and the addresses of the pieces."""
        for k, part in enumerate(self.cut.plans()):
            yield blocks.table(f"{self.name}_roots{k}", part.root_slots)
        for k, (_, step) in enumerate(self._steps(BlockStep)):
            yield blocks.table(f"{self.name}_sources{k}", step.sources)
        yield f"@{self.name}_table = global [{len(self._steps(Chunk))} x ptr] zeroinitializer"

    def shared(self, p: Printer, attributes: str) -> dict[str, str]:
        """What several pieces call, by name: sine and cosine, if any needs them."""
        name = f"{self.name}_sine_and_cosine"
        needed = (part.program.graph.ops[node] for part, chunk in self._steps(Chunk) for node in chunk.nodes)
        if not any(op in (Op.SIN, Op.COS) for op in needed):
            return {}
        return {name: "\n".join(p.shared_sine_and_cosine(name, attributes))}

    def functions(self, p: Printer, attributes: str) -> dict[str, str]:
        """The pieces, by name."""
        functions: dict[str, str] = {}
        for k, (part, chunk) in enumerate(self._steps(Chunk)):
            p.lines, p.program = ["entry:"], part.program
            values = _PieceValues(p, chunk)
            p.nodes(chunk.nodes, values, part.folded)
            values.store_constants()
            start = f"define void @{self.name}{k}(ptr %scratch){attributes} {{"
            functions[f"{self.name}{k}"] = "\n".join([start, *p.lines, "  ret void", "}"])
        p.program = self.cut.program
        return functions


class _PieceValues(dict[int, str]):
    """The values of a piece, by node: read from its slot when first needed, and stored as soon as it is computed.

    So few values are alive at a time, whatever the length of the piece: registers are assigned many times sooner than if all
    slots were read first and written last. Constants are printed where they are used.
    """

    def __init__(self, p: Printer, chunk: Chunk) -> None:
        super().__init__()
        self._p, self._loads, self._stores = p, dict(chunk.loads), dict(chunk.stores)

    def __missing__(self, node: int) -> str:
        p, graph = self._p, self._p.program.graph
        if graph.ops[node] is Op.CONSTANT:
            value = p.number(graph.values[node])
        else:
            value = p.line(f"load {p.type}, ptr {_slot(p, self._loads[node])}")
        super().__setitem__(node, value)
        return value

    def __setitem__(self, node: int, value: str) -> None:
        super().__setitem__(node, value)
        if node in self._stores:
            self._store(node)

    def store_constants(self) -> None:
        """Constants that are results: nothing computes them, so that no assignment has stored them."""
        for node in self._stores:
            if self._p.program.graph.ops[node] is Op.CONSTANT:
                self._store(node)

    def _store(self, node: int) -> None:
        # Volatile: LLVM would weigh moving each past every other, for half of its time.
        self._p.lines.append(f"  store volatile {self._p.type} {self[node]}, ptr {_slot(self._p, self._stores[node])}")


Body = Inline | Pieces


def _slot(p: Printer, slot: int) -> str:
    return p.line(f"getelementptr {p.type}, ptr %scratch, i64 {slot}")


def _one(p: Printer, body: Body, attributes: str) -> Iterator[str]:
    p.lines = ["entry:", *addresses(p.program)]
    body.rows_to_rows(p, lambda k: [f"%base{k}"])
    yield f"define void @kernel_one(ptr %operands){attributes} {{"
    yield from p.lines
    yield "  ret void"
    yield "}"


def _many(p: Printer, body: Body, attributes: str) -> Iterator[str]:
    p.lines = []
    is_guarded = body.rows_to_rows(p, lambda k: row_names(p, k), guarded=True)
    one_at = f"  %kernel_one_at = getelementptr ptr, ptr %operands, i64 {len(ports_of(p.program)) + 1}"
    yield f"define void @kernel_many(i64 %count, ptr %operands, ptr %strides){attributes} {{"
    yield from beginning(p, [one_at, "  %kernel_one = load ptr, ptr %kernel_one_at"])
    yield from p.lines
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
    yield "  ret void"
    yield "}"
