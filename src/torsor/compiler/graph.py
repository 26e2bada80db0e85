"""A function as a graph of scalar operations: what tracing records, simplification rewrites and emitters print.

A node is a number (its position); its arguments are smaller numbers, so the order of nodes is an order of evaluation.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import NamedTuple


class Op(IntEnum):
    """The operations. Comparisons give a truth value, which only SELECT (and NOT, AND, OR) take."""

    CONSTANT = 0
    INPUT = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DIV = 5
    NEG = 6
    SQRT = 7
    SIN = 8
    COS = 9
    ATAN2 = 10
    ABS = 11
    MIN = 12
    MAX = 13
    SIGN = 14
    TANH = 15
    GREATER = 16
    GREATER_EQUAL = 17
    EQUAL = 18
    NOT = 19
    AND = 20
    OR = 21
    SELECT = 22  # SELECT(condition, yes, no)
    FLOOR = 23
    FMOD = 24
    EXP = 25
    EXPM1 = 26
    LOG = 27
    LOG1P = 28
    POW = 29
    CBRT = 30
    HYPOT = 31
    SINH = 32
    COSH = 33
    ASINH = 34
    ACOSH = 35
    ATANH = 36


TRUTH_VALUED = frozenset({Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL, Op.NOT, Op.AND, Op.OR})
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.EQUAL, Op.AND, Op.OR})
ARITY = {
    **dict.fromkeys(Op, 1),
    **dict.fromkeys((Op.CONSTANT, Op.INPUT), 0),
    **dict.fromkeys((Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.ATAN2, Op.MIN, Op.MAX, Op.POW, Op.HYPOT, Op.FMOD), 2),
    **dict.fromkeys((Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL, Op.AND, Op.OR), 2),
    Op.SELECT: 3,
}


# Operations that machine code leaves to the C library, with their names there and in NumPy
LIBRARY = {
    **{op: (op.name.lower(), op.name.lower()) for op in (Op.TANH, Op.FMOD, Op.EXP, Op.EXPM1, Op.LOG, Op.LOG1P)},
    **{op: (op.name.lower(), op.name.lower()) for op in (Op.CBRT, Op.HYPOT, Op.SINH, Op.COSH)},
    **{op: (op.name.lower(), f"arc{op.name.lower()[1:]}") for op in (Op.ATAN2, Op.ASINH, Op.ACOSH, Op.ATANH)},
    Op.POW: ("pow", "power"),
}


def single(value: float) -> float:
    """A number in single precision; a finite one stays finite."""
    largest = (2.0 - 2.0**-23) * 2.0**127
    return (
        struct.unpack("<f", struct.pack("<f", min(max(value, -largest), largest)))[0] if math.isfinite(value) else value
    )


class Port(NamedTuple):
    """A named array that goes into or comes out of a graph."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


class Graph:
    """Nodes, with the inputs they start from. ``ops[k]``, ``args[k]`` describe node k; ``values[k]`` a constant's value or
    an input's place among all input numbers (inputs one after the other, each in row-major order).
    """

    def __init__(self, inputs: Sequence[Port]) -> None:
        self.inputs = tuple(inputs)
        self.ops: list[Op] = []
        self.args: list[tuple[int, ...]] = []
        self.values: list[float | int | None] = []
        self.truths: set[int] = set()  # the nodes that are truth values
        self._constants: dict[bytes, int] = {}
        self.input_nodes = [self._append(Op.INPUT, (), k) for k in range(sum(port.size for port in inputs))]

    def __len__(self) -> int:
        return len(self.ops)

    def constant(self, value: float) -> int:
        """The node of a number; the same number (to the bit) is one node."""
        key = struct.pack("<d", value)
        node = self._constants.get(key)
        if node is None:
            node = self._constants[key] = self._append(Op.CONSTANT, (), float(value))
        return node

    def apply(self, op: Op, *args: int) -> int:
        """A new node for an operation on nodes."""
        if op in TRUTH_VALUED:
            self.truths.add(len(self.ops))
        self.ops.append(op)
        self.args.append(args)
        self.values.append(None)
        return len(self.ops) - 1

    def _append(self, op: Op, args: tuple[int, ...], value: float | int | None) -> int:
        self.ops.append(op)
        self.args.append(args)
        self.values.append(value)
        return len(self.ops) - 1


class Program(NamedTuple):
    """A graph with its outputs: each a port and the nodes that fill it, in row-major order."""

    graph: Graph
    outputs: tuple[Port, ...]
    results: tuple[tuple[int, ...], ...]

    def roots(self) -> list[int]:
        """All output nodes."""
        return [node for nodes in self.results for node in nodes]

    def renamed(self, names: Sequence[str]) -> Program:
        """The same with other names for its outputs."""
        return self._replace(outputs=tuple(Port(n, port.shape) for n, port in zip(names, self.outputs, strict=True)))

    def live(self) -> list[int]:
        """The nodes that some output needs, in order of evaluation."""
        return live_nodes(self.graph, self.roots())

    def digest(self) -> str:
        """Of all it computes: the same for programs of the same operations, in another process too."""
        graph, place = self.graph, {node: k for k, node in enumerate(self.live())}
        sha = hashlib.sha256(repr((graph.inputs, self.outputs)).encode())
        for node in place:
            sha.update(repr((int(graph.ops[node]), [place[x] for x in graph.args[node]], graph.values[node])).encode())
        sha.update(repr([place[node] for node in self.roots()]).encode())
        return sha.hexdigest()


def live_nodes(graph: Graph, roots: Iterable[int]) -> list[int]:
    """The nodes that ``roots`` depend on, in order of evaluation."""
    needed = bytearray(len(graph))
    for root in roots:
        needed[root] = 1
    for node in range(len(graph) - 1, -1, -1):
        if needed[node]:
            for argument in graph.args[node]:
                needed[argument] = 1
    return [node for node in range(len(graph)) if needed[node]]


def count(program: Program) -> dict[str, int]:
    """How many operations of each kind a program performs."""
    ops = program.graph.ops
    counts = Counter(ops[node] for node in program.live())
    return {op.name.lower(): number for op, number in counts.items() if op not in (Op.CONSTANT, Op.INPUT)}
