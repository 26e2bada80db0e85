"""How a long program runs: its steps in order, pieces of straight-line code and blocks, and the slots their values wait in.

Compiling one function of n instructions takes more than linear time, so that long programs are cut into pieces, each a function
of its own. Values that cross a cut go through numbered slots of a scratch area. A block (`graph.Product`, `graph.Calls`) is a
loop over slots: its arguments are picked by a table of slots, and all that it makes lies together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Block, Calls, Graph, Op, Product, Program
from torsor.compiler.print.printer import folded_products

PIECE = 500
WIDTH = 8  # columns of a product that are summed together
ALIGNED = 16  # slots: for one state, vectors begin there too


class Chunk(NamedTuple):
    """A piece of a program: some nodes, the values they take from slots, and the values they leave in slots: (node, slot)."""

    nodes: list[int]
    loads: list[tuple[int, int]]
    stores: list[tuple[int, int]]


class BlockStep(NamedTuple):
    """A block: the slots of its arguments, the first slot of what it makes, which of that is needed; for calls, how the program
    called runs.

    ``terms``: for each block of columns of a product, the rows of the second matrix that are not known to be zero.
    """

    block: Block
    sources: list[int]
    first: int
    needed: set[int]
    inner: Plan | None
    terms: list[list[int]]

    def lanes(self, lanes: int, widest: int) -> int:
        """How many lanes a program called has: for one state as many as can be, each a row, if none needs another's results."""
        alone = isinstance(self.block, Product) or self.block.carried or self.block.times < widest
        return lanes if lanes > 1 or alone else widest


class Plan(NamedTuple):
    """The steps of a program, and the slot of each root; input numbers are in the first slots.

    From slot ``area`` on, blocks work on what they have picked.
    """

    program: Program
    folded: set[int]
    steps: list[Chunk | BlockStep]
    root_slots: list[int]
    area: int

    def plans(self, lanes: int, widest: int) -> list[tuple[Plan, int]]:
        """This one and those of all programs called, each once in as many lanes as it runs in."""
        seen: dict[tuple[int, int], Plan] = {}
        waiting = [(self, lanes)]
        while waiting:
            plan, lanes = waiting.pop()
            if (id(plan), lanes) not in seen:
                seen[id(plan), lanes] = plan
                blocks = (step for step in plan.steps if isinstance(step, BlockStep))
                waiting += [(step.inner, step.lanes(lanes, widest)) for step in blocks if step.inner]
        return [(plan, lanes) for (_, lanes), plan in seen.items()]

    def size(self, lanes: int, widest: int) -> int:
        """How many numbers its slots hold, in so many lanes."""
        return lanes * self.area + max((_working(step, lanes, widest) for step in self.steps), default=0)


def plan(
    program: Program,
    whole: int,
    piece: int,
    fma: bool,
    known: dict[str, Plan] | None = None,
    folded: set[int] | None = None,
) -> Plan:
    """Cut a program at its blocks, and one of more than ``whole`` nodes and outputs into pieces of about ``piece`` nodes.

    ``known``: plans of programs called, by digest; ``folded``: the products of the program that are folded into sums, if that is
    known. A slot is used again once the last step that reads it is done; those of blocks stay. Truth values do not cross a cut: a
    piece makes those it needs. Constants that a block or an output takes are stored by the first piece.
    """
    known = {} if known is None else known
    graph, live, roots = program.graph, program.live(), program.roots()
    folded = folded_products(program, live, fma) if folded is None else folded
    printed = [n for n in live if n not in folded]
    pieces, home = _cut(graph, printed, piece if len(printed) + len(roots) > whole else whole)
    end = len(pieces)
    truths = [_truths(graph, nodes) for nodes in pieces]
    needs = [sorted(_needed(graph, (*nodes, *made), folded)) for nodes, made in zip(pieces, truths, strict=True)]
    last = {node: k for k, wanted in enumerate(needs) for node in wanted if home.get(node, -1) != k}
    last |= dict.fromkeys(roots, end)
    constants = [node for node in last if graph.ops[node] is Op.CONSTANT]
    done: list[list[int]] = [[] for _ in range(end + 1)]
    for node, final in last.items():
        if graph.ops[node] is not Op.ENTRY:
            done[final].append(node)
    entries: dict[int, list[int]] = {nodes[0]: [] for nodes in pieces if nodes}
    for node in live:
        if graph.ops[node] is Op.ENTRY:
            entries[graph.args[node][0]].append(node)
    slot = {node: k for k, node in enumerate(graph.input_nodes)}
    free: list[int] = []
    total = len(slot)
    steps: list[Chunk | BlockStep] = []
    for k, nodes in enumerate(pieces):
        if nodes and graph.ops[nodes[0]] is Op.BLOCK:
            made = {node: graph.values[node] for node in entries[nodes[0]]}
            step = _block_step(graph, nodes[0], slot, (total, set(made.values())), (piece, fma, known))
            slot |= {node: total + number for node, number in made.items()}
            steps.append(step)
            total += step.block.size
        else:
            loads = [(node, slot[node]) for node in needs[k] if home.get(node, -1) != k]
            stored = [node for node in nodes if node in last] + (constants if k == 0 else [])
            for node in stored:  # before slots are freed: a piece reads all its values after it may have stored some
                slot[node], total = (free.pop(), total) if free else (total, total + 1)
            steps.append(Chunk(sorted((*nodes, *truths[k])), loads, [(node, slot[node]) for node in stored]))
        free += [slot[node] for node in done[k]]
    return Plan(program, folded, steps, [slot[root] for root in roots], -(-total // ALIGNED) * ALIGNED)


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


def _block_step(
    graph: Graph, node: int, slot: dict[int, int], made: tuple[int, set[int]], how: tuple[int, bool, dict[str, Plan]]
) -> BlockStep:
    block, args, inner, terms = graph.values[node], graph.args[node], None, []
    if isinstance(block, Calls):
        # Cut, however short: beside the calls around it, a long piece keeps more than the registers hold.
        inner = how[2].get(digest := block.program.digest()) or how[2].setdefault(digest, plan(block.program, 0, *how))
    elif isinstance(block, Product):
        zero = [graph.ops[x] is Op.CONSTANT and graph.values[x] == 0.0 for x in args[block.n * block.k :]]
        terms = [_terms(block, zero, start) for start in starts(block.m, WIDTH)]
    return BlockStep(block, [slot[x] for x in args], *made, inner, terms)


def starts(size: int, step: int) -> list[int]:
    """Where blocks begin that cover all; the last overlaps the one before instead of being cut."""
    return [max(0, min(start, size - step)) for start in range(0, size, step)]


def _terms(block: Product, zero: list[bool], start: int) -> list[int]:
    """The rows in which some of the columns from ``start`` on are not known to be zero."""
    columns = range(start, min(start + WIDTH, block.m))
    return [row for row in range(block.k) if not all(zero[row * block.m + column] for column in columns)]


def _working(step: Chunk | BlockStep, lanes: int, widest: int) -> int:
    """Numbers that a step works on besides those of values."""
    if isinstance(step, Chunk):
        return 0
    return lanes * len(step.sources) if step.inner is None else step.inner.size(step.lanes(lanes, widest), widest)


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
    """The numbers that nodes read: arguments, or for a product folded into one the product's own; constants only for blocks."""
    found: set[int] = set()
    for node in nodes:
        if graph.ops[node] is Op.BLOCK:  # alone
            return set(graph.args[node])
        for x in graph.args[node]:
            if x in folded:
                found.update(graph.args[x])
            else:
                found.add(x)
    return {x for x in found if graph.ops[x] is not Op.CONSTANT and x not in graph.truths}
