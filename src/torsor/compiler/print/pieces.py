"""A long program as functions called one after the other, with its values in scratch, and loops between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from torsor.compiler.graph import Calls, Op, Product
from torsor.compiler.print import blocks
from torsor.compiler.print.block_step import BlockStep
from torsor.compiler.print.lane_groups import fetch, ports_of
from torsor.compiler.print.packing import Loop, Windows, load_into_slots, store_from_slots
from torsor.compiler.print.plan import Chunk, Place, Plan, rounded
from torsor.compiler.print.printer import Printer
from torsor.compiler.print.streaming import Streaming

S = TypeVar("S", Chunk, BlockStep)


class Pieces:
    """The program as functions called one after the other, with their values in scratch; in the same two ways."""

    def __init__(self, name: str, cut: Plan) -> None:
        self.name, self.cut = name, cut
        self.streaming: Streaming | None = None  # of results of a kernel for many states
        self._plans = cut.plans()
        self._numbers = {id(part): k for k, part in enumerate(self._plans)}
        self._numbers |= {id(step): k for k, (_, step) in enumerate(self._steps(Chunk))}
        self._numbers |= {id(step): k for k, (_, step) in enumerate(self._steps(BlockStep))}

    @property
    def size(self) -> int:
        """How many numbers of scratch it takes, with results that wait to be streamed."""
        return self.cut.size + (self.streaming.room if self.streaming else 0)

    def compute(self, p: Printer, inputs: list[str]) -> list[str]:
        """Input values → root values, by way of their slots."""
        for slot, value in enumerate(inputs):
            p.lines.append(f"  store {p.type} {value}, ptr {blocks.at(p, '%scratch', slot)}")
        self._run(p, self.cut, "%scratch")
        return [p.line(f"load {p.type}, ptr {blocks.at(p, '%scratch', slot)}") for slot in self.cut.root_slots]

    def rows_to_rows(self, p: Printer, rows: Callable[[int], list[str]], *, guarded: bool = False) -> bool:
        """Rows into slots and slots into rows by loops: printed out, thousands of outputs would take minutes to compile.

        Each sine has its own guard: it is in a function. ``guarded``, in a kernel for many states: long results are streamed.
        """
        ports, inputs, start = ports_of(p.program), len(p.program.graph.inputs), 0
        streaming = Streaming(p, self.cut.size)
        if guarded and streaming.ports:
            self.streaming = streaming
        for k, port in enumerate(ports[:inputs]):
            load_into_slots(p, rows(k), port.size, start)
            start += port.size
        self._run(p, self.cut, "%scratch", fetching=guarded)
        for k, windows in enumerate(self._outputs(p)):
            there, table = rows(inputs + k), f"@{self.name}_columns{k}"
            if self.streaming is None or inputs + k not in self.streaming.ports:
                store_from_slots(p, there, windows, table, "%scratch")
            else:
                self.streaming.begin(inputs + k)
                there = self.streaming.rows(inputs + k, there)
                store_from_slots(p, there, windows, table, "%scratch", self.streaming.some)
        return False

    def _outputs(self, p: Printer) -> Iterator[Windows]:
        graph, start = self.cut.program.graph, 0
        for nodes in self.cut.program.results:
            zero = [graph.ops[x] is Op.CONSTANT and str(graph.values[x]) == "0.0" for x in nodes]
            yield Windows.of(p, self.cut.root_slots[start : start + len(nodes)], zero)
            start += len(nodes)

    def _run(
        self, p: Printer, part: Plan, scratch: str, beside: Sequence[str] = ("null",) * 4, *, fetching: bool = False
    ) -> None:
        """The steps of a plan, whose slots begin at ``scratch``; with a share of what is fetched before each.

        ``beside``: what is carried to a program called, given to it, or fixed, and where its results belong.
        """
        for number, step in enumerate(part.steps):
            if fetching:
                fetch(p, number, len(part.steps))
            if isinstance(step, Chunk):
                place = f"getelementptr (ptr, ptr @{self.name}_table, i64 {self._numbers[id(step)]})"
                code = p.line(f"load ptr, ptr {place}")
                p.lines.append(f"  call void {code}({', '.join(f'ptr {x}' for x in (scratch, *beside))})")
                continue
            results, area = blocks.at(p, scratch, step.first), blocks.at(p, scratch, part.area)
            if step.own is None:
                arguments = area
            else:
                arguments = blocks.at(p, scratch, step.own)
                blocks.fill(p, self._table("filled", step), self._table("numbers", step), len(step.filled), scratch)
                blocks.move(p, scratch, self._table("copied", step), len(step.copied), scratch)
            if isinstance(step.block, Product):
                if step.own is None:
                    blocks.pick(p, scratch, self._table("sources", step), 0, step.taken, arguments)
                self._product(p, step.block, step, arguments, results)
            else:
                self._calls(p, step.block, step, scratch, arguments, results, area)
        if part.left:
            blocks.move(p, scratch, self._table("left", part), len(part.left), beside[3])

    def _product(self, p: Printer, block: Product, step: BlockStep, A: str, C: str) -> None:
        """A product of matrices whose numbers lie together, by the function for its size."""
        B, tile = blocks.at(p, A, block.n * block.k), blocks.Tile.of(p, block)
        tiles, terms = (self._table(what, step) for what in ("tiles", "terms"))
        count = len(blocks.tiles(block, step, tile)[0]) // 4
        parts = f"i64 {block.k}, i64 {block.m}, ptr {tiles}, i64 {count}, ptr {terms}"
        p.lines.append(f"  call void @{tile.name(p)}(ptr {A}, ptr {B}, ptr {C}, {parts})")

    def _calls(
        self, p: Printer, block: Calls, step: BlockStep, scratch: str, arguments: str, results: str, area: str
    ) -> None:
        """A program called turn by turn; what a row leaves for the next is read among its results."""
        assert step.inner is not None
        wide, carried, taken = p.with_lanes(step.inner.lanes), block.carried, step.taken
        table = self._table("sources", step)
        if step.own is None:
            area = blocks.at(p, area, rounded(carried + taken))
            blocks.pick(p, scratch, table, 0, carried, arguments)
        with Loop(p, step.turns, 1) as turn:
            row = p.line(f"mul i64 {turn}, {taken if step.stride is None else step.stride}")
            if step.stride is not None:
                given = blocks.at(p, scratch, row)
            elif step.own is not None:
                given = blocks.at(p, arguments, p.line(f"add i64 {row}, {carried}"))
            else:
                given = blocks.at(p, arguments, carried)
                blocks.pick(p, scratch, table, p.line(f"add i64 {row}, {carried}"), taken, given)
            here = blocks.at(p, results, p.line(f"mul i64 {turn}, {step.given}"))
            is_first = p.line(f"icmp eq i64 {turn}, 0")
            before = p.line(f"select i1 {is_first}, ptr {arguments}, ptr {blocks.at(p, here, -step.given)}")
            number = p.line(f"mul i64 {turn}, {step.abreast * len(step.fixed)}")
            fixed = p.line(f"getelementptr {p.element}, ptr {self._table('fixed', step)}, i64 {number}")
            self._run(wide, step.inner, area, (before, given, fixed, here))

    def _steps(self, kind: type[S]) -> list[tuple[Plan, S]]:
        """All pieces, or all blocks, of the program and those it calls, each with its plan."""
        return [(part, step) for part in self._plans for step in part.steps if isinstance(step, kind)]

    def _table(self, what: str, of: Plan | BlockStep) -> str:
        return f"@{self.name}_{what}{self._numbers[id(of)]}"

    def tables(self, p: Printer) -> Iterator[str]:
        """The slots of what blocks take and leave, constants, the tiles of products, and the addresses of the pieces."""
        for part in self._plans:
            yield blocks.table(self._table("left", part), [x for pair in part.left for x in pair])
        for part, step in self._steps(BlockStep):
            if isinstance(step.block, Product):
                found = blocks.tiles(step.block, step, blocks.Tile.of(p.with_lanes(part.lanes), step.block))
                for what, numbers in zip(("tiles", "terms"), found, strict=True):
                    yield blocks.table(self._table(what, step), numbers)
            yield blocks.constants(p, self._table("fixed", step), step.constants(part.program.graph))
            if step.own is None:
                yield blocks.table(self._table("sources", step), step.picked())
                continue
            yield blocks.table(self._table("copied", step), [x for pair in step.copied for x in pair])
            yield blocks.table(self._table("filled", step), [slot for slot, _ in step.filled])
            yield blocks.constants(p, self._table("numbers", step), [value for _, value in step.filled])
        for k, windows in enumerate(self._outputs(p)):
            yield blocks.table(f"@{self.name}_columns{k}", windows.table)
        yield f"@{self.name}_table = global [{len(self._steps(Chunk))} x ptr] zeroinitializer"

    def products(self, p: Printer, attributes: str) -> Iterator[str]:
        """The functions that multiply matrices, one for each kind of tile."""
        known = set[str]()
        for part, step in self._steps(BlockStep):
            if isinstance(step.block, Product):
                kind = p.with_lanes(part.lanes)
                tile = blocks.Tile.of(kind, step.block)
                if tile.name(kind) not in known:
                    known.add(tile.name(kind))
                    yield from blocks.product(kind, tile, attributes)

    def shared(self, p: Printer, attributes: str) -> dict[str, str]:
        """What several pieces call, by name: sine and cosine, if any needs them."""
        found: dict[str, str] = {}
        for part, chunk in self._steps(Chunk):
            name = f"{self.name}_sine_and_cosine_{part.lanes}"
            if name not in found and any(part.program.graph.ops[node] in (Op.SIN, Op.COS) for node in chunk.nodes):
                found[name] = "\n".join(p.with_lanes(part.lanes).shared_sine_and_cosine(name, attributes))
        return found

    def functions(self, p: Printer, attributes: str) -> dict[str, str]:
        """The pieces, by name."""
        functions: dict[str, str] = {}
        for k, (part, chunk) in enumerate(self._steps(Chunk)):
            own = p.in_piece(part.program, part.lanes, f"{self.name}_sine_and_cosine_{part.lanes}")
            values = _PieceValues(own, chunk, spreads=part.spreads)
            own.nodes(chunk.nodes, values, part.folded)
            values.store_unmade()
            start = f"define void @{self.name}{k}(ptr %scratch, ptr %carried, ptr %given, ptr %fixed, ptr %made){attributes} {{"
            functions[f"{self.name}{k}"] = "\n".join([start, *own.lines, "  ret void", "}"])
        return functions


class _PieceValues(dict[int, str]):
    """The values of a piece, by node: read from its slot when first needed, and stored as soon as it is computed.

    So few values are alive at a time, whatever the length of the piece: registers are assigned many times sooner than if all
    slots were read first and written last. Constants are printed where they are used.
    """

    def __init__(self, p: Printer, chunk: Chunk, *, spreads: bool) -> None:
        super().__init__()
        self._spreads = spreads
        self._p, self._loads, self._stores = p, dict(chunk.loads), defaultdict[int, list[Place]](list)
        for node, place in chunk.stores:
            self._stores[node].append(place)

    def __missing__(self, node: int) -> str:
        p, graph = self._p, self._p.program.graph
        if graph.ops[node] is Op.CONSTANT:
            value = p.number(graph.values[node])
        else:
            base, number = self._loads[node]
            if base == "%fixed" and self._spreads:
                place = p.line(f"getelementptr {p.element}, ptr {base}, i64 {number}")
                value = blocks.spread(p, p.line(f"load {p.element}, ptr {place}"))
            else:
                value = p.line(f"load {p.type}, ptr {blocks.at(p, base, number)}")
        super().__setitem__(node, value)
        return value

    def __setitem__(self, node: int, value: str) -> None:
        super().__setitem__(node, value)
        if node in self._stores:
            self._store(node)

    def store_unmade(self) -> None:
        """Constants and arguments that are results, or that blocks take: no assignment has stored them."""
        for node in self._stores:
            if self._p.program.graph.ops[node] in (Op.CONSTANT, Op.INPUT):
                self._store(node)

    def _store(self, node: int) -> None:
        # Volatile: LLVM would weigh moving each past every other, for half of its time.
        for place in self._stores[node]:
            target = blocks.at(self._p, *place)
            self._p.lines.append(f"  store volatile {self._p.type} {self[node]}, ptr {target}")
