"""Large programs cut into pieces: compiling one function of n instructions takes more than linear time in n.

Each piece is a function of its own. Values that cross a cut go through numbered slots of a scratch area; a slot is used
again once the last piece that reads it is done. Truth values do not cross: a piece makes those it needs.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Op, Program

WHOLE = 4500  # instructions up to which a program stays in one piece
PIECE = 500


class Chunk(NamedTuple):
    """Some nodes, the values they take from slots, and the values they leave in slots: (node, slot)."""

    nodes: list[int]
    loads: list[tuple[int, int]]
    stores: list[tuple[int, int]]


class Plan(NamedTuple):
    """The pieces in order, the slot of each root, and how many slots there are; input numbers are in the first ones."""

    chunks: list[Chunk]
    root_slots: list[int]
    slots: int


def plan(program: Program, live: Sequence[int], folded: Set[int], piece: int = PIECE) -> Plan:
    """Cut a program into pieces of about ``piece`` nodes."""
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
