"""How a long program runs: its steps in order, pieces of straight-line code and blocks, and the slots their values wait in.

Compiling one function of n instructions takes more than linear time, so that long programs are cut into pieces, each a function
of its own. Values that cross a cut go through numbered slots of a scratch area. A block (`graph.Product`, `graph.Calls`) is a
loop over slots: its arguments are picked by a table of slots, and all that it makes lies together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Block, Calls, Graph, Op, Product, Program
from torsor.compiler.print.printer import folded_products

PIECE = 500
WIDTH = 8  # columns of a product that are summed together


class Chunk(NamedTuple):
    """A piece of a program: some nodes, the values they take from slots, and the values they leave in slots: (node, slot)."""

    nodes: list[int]
    loads: list[tuple[int, int]]
    stores: list[tuple[int, int]]


class BlockStep(NamedTuple):
    """A block: the slots of its arguments, the first slot of what it makes; for calls, how the program called runs.

    ``ranges``: for each block of columns of a product, where rows of the second matrix are not known to be zero.
    """

    block: Block
    sources: list[int]
    first: int
    inner: Plan | None
    ranges: list[list[tuple[int, int]]]


class Plan(NamedTuple):
    """The steps of a program, the slot of each root, and how many slots there are; input numbers are in the first ones.

    Beyond slot ``area`` blocks work on what they have picked.
    """

    program: Program
    folded: set[int]
    steps: list[Chunk | BlockStep]
    root_slots: list[int]
    area: int
    slots: int

    def plans(self) -> Iterator[Plan]:
        """This one and those of all programs called, each once."""
        seen: dict[int, Plan] = {}
        waiting = [self]
        while waiting:
            plan = waiting.pop()
            if id(plan) not in seen:
                seen[id(plan)] = plan
                waiting += [step.inner for step in plan.steps if isinstance(step, BlockStep) and step.inner]
        return iter(seen.values())


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
            step = _block_step(graph, nodes[0], slot, total, (piece, fma, known))
            slot |= {node: total + graph.values[node] for node in entries[nodes[0]]}
            steps.append(step)
            total += step.block.size
        else:
            loads = [(node, slot[node]) for node in needs[k] if home.get(node, -1) != k]
            stored = [node for node in nodes if node in last] + (constants if k == 0 else [])
            for node in stored:  # before slots are freed: a piece reads all its values after it may have stored some
                slot[node], total = (free.pop(), total) if free else (total, total + 1)
            steps.append(Chunk(sorted((*nodes, *truths[k])), loads, [(node, slot[node]) for node in stored]))
        free += [slot[node] for node in done[k]]
    most = max((_working(step) for step in steps), default=0)
    return Plan(program, folded, steps, [slot[root] for root in roots], total, total + most)


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
    graph: Graph, node: int, slot: dict[int, int], first: int, how: tuple[int, bool, dict[str, Plan]]
) -> BlockStep:
    block, args, inner, ranges = graph.values[node], graph.args[node], None, []
    if isinstance(block, Calls):
        # Cut, however short: beside the calls around it, a long piece keeps more than the registers hold.
        inner = how[2].get(digest := block.program.digest()) or how[2].setdefault(digest, plan(block.program, 0, *how))
    elif isinstance(block, Product):
        zero = [graph.ops[x] is Op.CONSTANT and graph.values[x] == 0.0 for x in args[block.n * block.k :]]
        ranges = [_ranges(block, zero, start) for start in starts(block.m, WIDTH)]
    return BlockStep(block, [slot[x] for x in args], first, inner, ranges)


def starts(size: int, step: int) -> list[int]:
    """Where blocks begin that cover all; the last overlaps the one before instead of being cut."""
    return [max(0, min(start, size - step)) for start in range(0, size, step)]


def _ranges(block: Product, zero: list[bool], start: int) -> list[tuple[int, int]]:
    """The ranges of rows in which some of the columns from ``start`` on are not known to be zero."""
    found: list[tuple[int, int]] = []
    for row in range(block.k):
        if not all(zero[row * block.m + start : row * block.m + min(start + WIDTH, block.m)]):
            if found and found[-1][1] == row:
                found[-1] = (found[-1][0], row + 1)
            else:
                found.append((row, row + 1))
    return found


def _working(step: Chunk | BlockStep) -> int:
    """Slots that a step works on besides those of values."""
    if isinstance(step, Chunk):
        return 0
    return len(step.sources) if step.inner is None else step.inner.slots


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
