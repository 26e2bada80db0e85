"""A program as LLVM modules: ``kernel_one`` for one state, ``kernel_many`` for as many at once as a vector holds.

``kernel_one(ptr operands)`` and ``kernel_many(i64 count, ptr operands, ptr strides)``: ``operands`` points to the addresses
of all inputs, then all outputs, each state's numbers contiguous, a scratch area (null if none is needed), and for
``kernel_many`` the address of ``kernel_one``, which does the last states; ``strides`` to the bytes between states. They are
two modules, so that who asks for one state does not wait for the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from itertools import islice
from typing import NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Op, Program
from torsor.compiler.print.packing import load_columns, load_into_slots, store_columns, store_from_slots
from torsor.compiler.print.printer import (
    Printer,
    Target,
    addresses,
    beginning,
    folded_products,
    ports_of,
    row_names,
    shifted,
)


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
PIECE = 500
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
    length = len(live) - len(folded) + len(program.roots())  # outputs count: each is stored
    cut = plan(program, live, folded, piece) if length > whole else None
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
            pieces |= body.functions(printer, folded, attributes)
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

    def rows_to_rows(self, p: Printer, rows: Callable[[int], list[str]]) -> None:
        """Print all from reading the inputs' rows to writing the outputs' (``rows(k)`` are those of port k)."""
        ports, inputs = ports_of(p.program), len(p.program.graph.inputs)
        values: list[str] = []
        for k, port in enumerate(ports[:inputs]):
            values += load_columns(p, rows(k), port.size)
        results, start = self.compute(p, values), 0
        for k, port in enumerate(ports[inputs:], inputs):
            store_columns(p, rows(k), results[start : start + port.size])
            start += port.size


class Pieces(NamedTuple):
    """The program as functions called one after the other, with their values in scratch; in the same two ways."""

    name: str
    cut: Plan

    def compute(self, p: Printer, inputs: list[str]) -> list[str]:
        """Input values → root values, by way of their slots."""
        for slot, value in enumerate(inputs):
            p.lines.append(f"  store {p.type} {value}, ptr {_slot(p, slot)}")
        self._calls(p)
        return [p.line(f"load {p.type}, ptr {_slot(p, slot)}") for slot in self.cut.root_slots]

    def rows_to_rows(self, p: Printer, rows: Callable[[int], list[str]]) -> None:
        """Rows into slots and slots into rows by loops: printed out, thousands of outputs would take minutes to compile."""
        ports, inputs, start = ports_of(p.program), len(p.program.graph.inputs), 0
        for k, port in enumerate(ports[:inputs]):
            load_into_slots(p, rows(k), port.size, start)
            start += port.size
        self._calls(p)
        start = 0
        for k, port in enumerate(ports[inputs:], inputs):
            store_from_slots(p, rows(k), port.size, f"@{self.name}_roots", start)
            start += port.size

    def _calls(self, p: Printer) -> None:
        for k in range(len(self.cut.chunks)):
            function = p.line(f"load ptr, ptr getelementptr (ptr, ptr @{self.name}_table, i64 {k})")
            p.lines.append(f"  call void {function}(ptr %scratch)")

    def tables(self) -> Iterator[str]:
        """The slots of the roots, and the addresses of the pieces."""
        roots = self.cut.root_slots
        yield f"@{self.name}_roots = internal constant [{len(roots)} x i64] [{', '.join(f'i64 {slot}' for slot in roots)}]"
        yield f"@{self.name}_table = global [{len(self.cut.chunks)} x ptr] zeroinitializer"

    def shared(self, p: Printer, attributes: str) -> dict[str, str]:
        """What several pieces call, by name: sine and cosine, if any needs them."""
        graph, name = p.program.graph, f"{self.name}_sine_and_cosine"
        if not any(graph.ops[node] in (Op.SIN, Op.COS) for chunk in self.cut.chunks for node in chunk.nodes):
            return {}
        return {name: "\n".join(p.shared_sine_and_cosine(name, attributes))}

    def functions(self, p: Printer, folded: set[int], attributes: str) -> dict[str, str]:
        """The pieces, by name."""
        functions: dict[str, str] = {}
        for k, chunk in enumerate(self.cut.chunks):
            p.lines = ["entry:"]
            values = _PieceValues(p, chunk)
            p.nodes(chunk.nodes, values, folded)
            values.store_constants()
            start = f"define void @{self.name}{k}(ptr %scratch){attributes} {{"
            functions[f"{self.name}{k}"] = "\n".join([start, *p.lines, "  ret void", "}"])
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
            value = p.number(graph.values[node])  # type: ignore[arg-type]
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
    body.rows_to_rows(p, lambda k: row_names(p, k))
    one_at = f"  %kernel_one_at = getelementptr ptr, ptr %operands, i64 {len(ports_of(p.program)) + 1}"
    yield f"define void @kernel_many(i64 %count, ptr %operands, ptr %strides){attributes} {{"
    yield from beginning(p, [one_at, "  %kernel_one = load ptr, ptr %kernel_one_at"])
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


class Chunk(NamedTuple):
    """A piece of a program: some nodes, the values they take from slots, and the values they leave in slots: (node, slot)."""

    nodes: list[int]
    loads: list[tuple[int, int]]
    stores: list[tuple[int, int]]


class Plan(NamedTuple):
    """The pieces in order, the slot of each root, and how many slots there are; input numbers are in the first ones."""

    chunks: list[Chunk]
    root_slots: list[int]
    slots: int


def plan(program: Program, live: Sequence[int], folded: Set[int], piece: int = PIECE) -> Plan:
    """Cut a program into pieces of about ``piece`` nodes: compiling one function of n instructions takes more than linear time.

    Each piece is a function of its own. Values that cross a cut go through numbered slots of a scratch area; a slot is used
    again once the last piece that reads it is done. Truth values do not cross: a piece makes those it needs.
    """
    graph = program.graph
    unprinted = TRUTH_VALUED | {Op.CONSTANT, Op.INPUT}
    printed = [n for n in live if graph.ops[n] not in unprinted and n not in folded]
    pieces = [printed[k : k + piece] for k in range(0, len(printed), piece)] or [[]]
    home = {node: k for k, nodes in enumerate(pieces) for node in nodes}
    end = len(pieces)
    truths = [_truths(program, nodes) for nodes in pieces]
    needs = [
        sorted({x for node in (*nodes, *made) for x in _arguments(program, node, folded)})
        for nodes, made in zip(pieces, truths, strict=True)
    ]
    last: dict[int, int] = {}
    for k, wanted in enumerate(needs):
        for node in wanted:
            if home.get(node, -1) != k:
                last[node] = k
    roots = program.roots()
    constants = [node for node in dict.fromkeys(roots) if graph.ops[node] is Op.CONSTANT]
    last |= dict.fromkeys(roots, end)
    done: list[list[int]] = [[] for _ in range(end + 1)]
    for node, final in last.items():
        done[final].append(node)
    slot = {node: k for k, node in enumerate(graph.input_nodes)}
    free: list[int] = []
    total = len(slot)

    def assign(node: int) -> None:
        nonlocal total
        if free:
            slot[node] = free.pop()
        else:
            slot[node], total = total, total + 1

    chunks = []
    for k, nodes in enumerate(pieces):
        loads = [(node, slot[node]) for node in needs[k] if home.get(node, -1) != k]
        stored = [node for node in nodes if node in last] + (constants if k == end - 1 else [])
        for node in stored:  # before slots are freed: a piece reads all its values after it may have stored some
            assign(node)
        free += [slot[node] for node in done[k]]
        stores = [(node, slot[node]) for node in stored]
        chunks.append(Chunk(sorted((*nodes, *truths[k])), loads, stores))
    return Plan(chunks, [slot[root] for root in roots], total)


def _truths(program: Program, nodes: list[int]) -> set[int]:
    """The truth values that some of ``nodes`` depend on directly."""
    graph = program.graph
    found: set[int] = set()
    waiting = list(nodes)
    while waiting:
        for x in graph.args[waiting.pop()]:
            if graph.ops[x] in TRUTH_VALUED and x not in found:
                found.add(x)
                waiting.append(x)
    return found


def _arguments(program: Program, node: int, folded: Set[int]) -> list[int]:
    """The numbers a node reads: its arguments, or for a product folded into it the product's own; constants are free."""
    graph = program.graph
    result: list[int] = []
    for x in graph.args[node]:
        result += graph.args[x] if x in folded else [x]
    return [x for x in result if graph.ops[x] is not Op.CONSTANT and graph.ops[x] not in TRUTH_VALUED]
