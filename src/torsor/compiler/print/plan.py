"""How a long program runs: its steps in order, pieces of straight-line code and blocks, and the places their values wait in.

Compiling one function of n instructions takes more than linear time, so that long programs are cut into pieces, each a function
of its own. Values that cross a cut go through numbered slots of a scratch area, or lie where a block takes or leaves them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Calls, Graph, Op, Product, Program
from torsor.compiler.print.block_step import BlockStep
from torsor.compiler.print.printer import folded_products

PIECE = 500
WIDTH = 8  # columns of a product that are summed together
ALIGNED = 16  # slots: for one state, vectors begin there too
OWN = 0.5  # of a block's arguments, from which on they have slots of their own if pieces compute as many


class Place(NamedTuple):
    """Where a number is: so many behind ``%scratch``; in a program called also behind one of these.

    ``%carried``: what the row before has left; ``%given``: arguments of the row; ``%fixed``: those that are constants in every
    row; ``%made``: results of the row.
    """

    base: str
    number: int


class Chunk(NamedTuple):
    """A piece of a program: some nodes, the places of values it takes, and places for values it leaves: (node, place)."""

    nodes: list[int]
    loads: list[tuple[int, Place]]
    stores: list[tuple[int, Place]]


class Plan(NamedTuple):
    """The steps of a program in so many lanes, and the slot of each root; input numbers are in the first slots.

    A program called has what is behind ``%fixed`` once for all lanes if it ``spreads`` it. Of its roots some come from their
    slots to ``%made`` in the end (``left``). From slot ``area`` on, blocks work on what they have picked, and programs called
    have their slots.
    """

    program: Program
    lanes: int
    folded: set[int]
    steps: list[Chunk | BlockStep]
    root_slots: list[int]
    left: list[tuple[int, int]]
    area: int
    spreads: bool

    def plans(self) -> list[Plan]:
        """This one and those of all programs called, each once."""
        seen: dict[int, Plan] = {}
        waiting = [self]
        while waiting:
            if id(plan := waiting.pop()) not in seen:
                seen[id(plan)] = plan
                waiting += [step.inner for step in plan.steps if isinstance(step, BlockStep) and step.inner]
        return list(seen.values())

    @property
    def size(self) -> int:
        """How many numbers its slots hold, in all lanes, and those of programs called."""
        return self.lanes * self.area + max((self._working(step) for step in self.steps), default=0)

    def _working(self, step: Chunk | BlockStep) -> int:
        if isinstance(step, Chunk):
            return 0
        picked = 0 if step.own is not None else self.lanes * rounded(step.block.carried + step.taken)
        return picked + (0 if step.inner is None else step.inner.size)


class _How(NamedTuple):
    """How programs are cut, with so many lanes at most; and the plans of programs called, by digest and lanes."""

    piece: int
    fma: bool
    widest: int
    known: dict[tuple[object, ...], Plan]


def plan(
    program: Program, whole: int, piece: int, fma: bool, lanes: int, widest: int, folded: set[int] | None = None
) -> Plan:
    """Cut a program at its blocks, and one of more than ``whole`` nodes and outputs into pieces of about ``piece`` nodes.

    ``folded``: the products of the program that are folded into sums, if that is known.
    """
    folded = folded_products(program, program.live(), fma) if folded is None else folded
    return _Planner(program, lanes, _How(piece, fma, widest, {}), folded).planned(whole)


class _Planner:
    """Finds the places of all values of a program.

    A slot is used again once the last step that reads it is done; those of blocks stay. Truth values do not cross a cut: a piece
    makes those it needs. What no piece computes, constants and inputs of programs called, is stored by the first piece.
    """

    def __init__(
        self, program: Program, lanes: int, how: _How, folded: set[int], step: BlockStep | None = None
    ) -> None:
        self.program, self.graph, self.lanes, self.how, self.folded = program, program.graph, lanes, how, folded
        self.called, self.step = step is not None, step
        inputs = [] if self.called else self.graph.input_nodes
        self.slot = {node: k for k, node in enumerate(inputs)}
        self.places: dict[int, list[Place]] = defaultdict(list)  # among arguments of blocks, and results
        self.placed = set[int]()  # what has its slot among arguments
        self.total = len(inputs)
        self.entries: dict[int, list[int]] = defaultdict(list)  # of each block, those that are needed
        for node in program.live():
            if self.graph.ops[node] is Op.ENTRY:
                self.entries[self.graph.args[node][0]].append(node)

    def planned(self, whole: int) -> Plan:
        """The plan; a program of more than ``whole`` nodes and outputs is cut into pieces."""
        graph, roots = self.graph, self.program.roots()
        printed = [n for n in self.program.live() if n not in self.folded]
        pieces, home = _cut(graph, printed, self.how.piece if len(printed) + len(roots) > whole else whole)
        blocks = {
            k: self._block(nodes[0]) for k, nodes in enumerate(pieces) if nodes and graph.ops[nodes[0]] is Op.BLOCK
        }
        left = self._results(roots)
        truths = [_truths(graph, nodes) for nodes in pieces]
        needs = [
            sorted(self._read(blocks[k]) if k in blocks else _needed(graph, (*nodes, *truths[k]), self.folded))
            for k, nodes in enumerate(pieces)
        ]
        last = {
            node: k
            for k, wanted in enumerate(needs)
            for node in wanted
            if home.get(node, -1) != k and (k in blocks or not self._is_given(node))
        }
        last |= {} if self.called else dict.fromkeys(roots, len(pieces))
        done: list[list[int]] = [[] for _ in range(len(pieces) + 1)]
        for node, final in last.items():
            if graph.ops[node] is not Op.ENTRY and node not in self.placed:
                done[final].append(node)
        unmade = sorted(n for n in {*last, *self.places} if graph.ops[n] is Op.CONSTANT or self._is_given(n))
        free: list[int] = []
        steps: list[Chunk | BlockStep] = []
        for k, nodes in enumerate(pieces):
            if k in blocks:
                if blocks[k].own is None:
                    blocks[k].sources = self._sources(blocks[k])
                steps.append(blocks[k])
            else:
                here = [*nodes, *(unmade if k == 0 else [])]
                read = [*(n for n in needs[k] if home.get(n, -1) != k), *filter(self._is_given, here)]
                loads = [
                    (n, self._given_place(n) if self._is_given(n) else Place("%scratch", self.slot[n])) for n in read
                ]
                for node in here:  # before slots are freed: a piece reads all its values after it may have stored some
                    if node in last and node not in self.placed:
                        self.slot[node] = free.pop() if free else self._more(1)
                stores = [(n, Place("%scratch", self.slot[n])) for n in here if n in last and n not in self.placed]
                stores += [(n, place) for n in here for place in self.places.get(n, ())]
                steps.append(Chunk(sorted((*nodes, *truths[k])), loads, stores))
            free += [self.slot[node] for node in done[k]]
        root_slots = [] if self.called else [self.slot[root] for root in roots]
        spreads = self.step is not None and self.step.abreast == 1 and self.lanes > 1
        return Plan(self.program, self.lanes, self.folded, steps, root_slots, left, rounded(self.total), spreads)

    def _more(self, count: int, *, aligned: bool = False) -> int:
        """The first of so many new slots."""
        first = rounded(self.total) if aligned else self.total
        self.total = first + count
        return first

    def _is_given(self, node: int) -> bool:
        """Whether a node is an input of a program called, which pieces read where it is."""
        return self.called and self.graph.ops[node] is Op.INPUT

    def _given_place(self, node: int) -> Place:
        """Where the caller of a program leaves one of its inputs."""
        number, step = self.graph.values[node], self.step
        assert step is not None
        if number < step.block.carried:
            return Place("%carried", number)
        if number in step.fixed:
            return Place("%fixed", step.fixed.index(number))
        return Place(
            "%given", number - step.block.carried if step.stride is None else step.at[number - step.block.carried]
        )

    def _is_stored(self, node: int) -> bool:
        """Whether a piece stores it wherever it is wanted."""
        op = self.graph.ops[node]
        return op is not Op.ENTRY and (op is not Op.INPUT or self.called)

    def _read(self, step: BlockStep) -> set[int]:
        """The numbers that a block reads from slots that are not its own."""
        taken = [x for k, x in enumerate(step.args) if not step.is_fixed(k)]
        return {x for x in taken if step.own is None or not self._is_stored(x)}

    def _sources(self, step: BlockStep) -> list[int]:
        """The slots of a block's arguments; where there is none to be read, any will do."""
        return [0 if step.is_fixed(k) else self.slot[x] for k, x in enumerate(step.args)]

    def _results(self, roots: list[int]) -> list[tuple[int, int]]:
        """Of a program called, the slots of results that no piece stores, and where they belong."""
        left = []
        for number, root in enumerate(roots if self.called else ()):
            if self._is_stored(root):
                self.places[root].append(Place("%made", number))
            else:
                left.append((self.slot[root], number))
        return left

    def _block(self, node: int) -> BlockStep:
        graph, block, args = self.graph, self.graph.values[node], self.graph.args[node]
        entries = {n: graph.values[n] for n in self.entries[node]}
        step = BlockStep(block, args, 0, set(entries.values()), None, 1, [])
        if isinstance(block, Calls):
            alone = self.lanes > 1 or block.carried or block.times < self.how.widest
            step.abreast = 1 if alone else self.how.widest
            step.fixed = _fixed(graph, block, args)
            self._find_stride(step, block)
            step.inner = self._inner(block.program, step)
        elif isinstance(block, Product):
            zero = [graph.ops[x] is Op.CONSTANT and graph.values[x] == 0.0 for x in args[block.n * block.k :]]
            step.terms = [_terms(block, zero, start) for start in starts(block.m, WIDTH)]
        step.first = self._more(step.turns * step.given, aligned=True)
        self.slot |= {n: step.first + step.place_of_result(number) for n, number in entries.items()}
        computed = {x for x in args if self._is_stored(x) and graph.ops[x] is not Op.CONSTANT}
        others = sum(graph.ops[x] is not Op.CONSTANT for x in args)
        if step.stride is not None or len(computed) >= OWN * others:
            self._give_slots(step)
        return step

    def _find_stride(self, step: BlockStep, block: Calls) -> None:
        """By how many slots arguments follow each other from row to row, if they are inputs of the whole or made by blocks."""
        own = {k: x for k, x in enumerate(step.args[block.carried :]) if not step.is_fixed(block.carried + k)}
        if block.times == 1 or step.abreast > 1 or any(self._is_stored(x) for x in own.values()):
            return
        slots = {k: self.slot[x] for k, x in own.items()}
        strides = {slots[k + block.taken] - slot for k, slot in slots.items() if k + block.taken in slots}
        if len(strides) <= 1:
            step.stride = min(strides, default=0)
            step.at = tuple(slots.get(k, 0) for k in range(block.taken))

    def _give_slots(self, step: BlockStep) -> None:
        """Slots of its own for each argument of a block."""
        graph, rows = self.graph, 0 if step.stride is not None else step.turns
        step.own = self._more(step.block.carried + rows * step.taken, aligned=True)
        for k, x in enumerate(step.args):
            slot = step.own + step.place_of_argument(k)
            if step.is_fixed(k) or (step.stride is not None and k >= step.block.carried):
                continue
            if graph.ops[x] is Op.CONSTANT:
                step.filled.append((slot, graph.values[x]))
            elif self._is_stored(x):
                self.places[x].append(Place("%scratch", slot))
                self.slot.setdefault(x, slot)
                self.placed.add(x)
            else:
                step.copied.append((self.slot[x], slot))
        step.copied += [(step.own + x, step.own + y) for x, y in step.spare()]

    def _inner(self, program: Program, step: BlockStep) -> Plan:
        lanes = self.lanes * step.abreast
        key = program.digest(), lanes, step.abreast, step.block.carried, step.fixed, step.stride is not None, step.at
        if key not in self.how.known:
            # Cut, however short: beside the calls around it, a long piece keeps more than the registers hold.
            folded = folded_products(program, program.live(), self.how.fma)
            self.how.known[key] = _Planner(program, lanes, self.how, folded, step).planned(0)
        return self.how.known[key]


def rounded(slots: int) -> int:
    """So many slots, or some more: what comes next is aligned."""
    return -(-slots // ALIGNED) * ALIGNED


def _cut(graph: Graph, nodes: Sequence[int], piece: int) -> tuple[list[list[int]], dict[int, int]]:
    """The nodes of each step, a block alone; and in which step each number is made. The first step is no block."""
    unprinted, pieces = TRUTH_VALUED | {Op.CONSTANT, Op.INPUT, Op.ENTRY}, [list[int]()]
    for node in nodes:
        if graph.ops[node] is Op.BLOCK:
            pieces += [[node], []]
        elif graph.ops[node] not in unprinted:
            if len(pieces[-1]) == piece:
                pieces.append([])
            pieces[-1].append(node)
    pieces = [pieces[0], *(part for part in pieces[1:] if part)]
    home = {node: k for k, part in enumerate(pieces) for node in part}
    return pieces, home | {node: home[graph.args[node][0]] for node in nodes if graph.ops[node] is Op.ENTRY}


def _fixed(graph: Graph, block: Calls, args: Sequence[int]) -> tuple[int, ...]:
    """The inputs of a program that are constants in every row."""
    own = args[block.carried :]
    columns = [own[number :: block.taken] for number in range(block.taken)]
    are_fixed = [all(graph.ops[x] is Op.CONSTANT for x in column) for column in columns]
    return tuple(block.carried + number for number, is_fixed in enumerate(are_fixed) if is_fixed)


def starts(size: int, step: int) -> list[int]:
    """Where blocks begin that cover all; the last overlaps the one before instead of being cut."""
    return [max(0, min(start, size - step)) for start in range(0, size, step)]


def _terms(block: Product, zero: list[bool], start: int) -> list[int]:
    """The rows in which some of the columns from ``start`` on are not known to be zero."""
    columns = range(start, min(start + WIDTH, block.m))
    return [row for row in range(block.k) if not all(zero[row * block.m + column] for column in columns)]


def _truths(graph: Graph, nodes: list[int]) -> set[int]:
    """The truth values that some of ``nodes`` depend on directly."""
    found: set[int] = set()
    waiting = list(nodes) if graph.truths else []
    while waiting:
        for x in graph.args[waiting.pop()]:
            if x in graph.truths and x not in found:
                found.add(x)
                waiting.append(x)
    return found


def _needed(graph: Graph, nodes: Iterable[int], folded: Set[int]) -> set[int]:
    """The numbers that nodes read: arguments, or for a product folded into one the product's own; no constants."""
    found: set[int] = set()
    for node in nodes:
        for x in graph.args[node]:
            if x in folded:
                found.update(graph.args[x])
            else:
                found.add(x)
    return {x for x in found if graph.ops[x] is not Op.CONSTANT and x not in graph.truths}
