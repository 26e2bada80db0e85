"""A function as a graph of scalar operations: what tracing records, simplification rewrites and emitters print.

A node is a number (its position); its arguments are smaller numbers, so the order of nodes is an order of evaluation.
"""

from __future__ import annotations

import functools
import hashlib
import math
import operator
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from itertools import compress
from typing import Any, NamedTuple


class Op(IntEnum):
    """The operations. Comparisons give a truth value, which only SELECT (and NOT, AND, OR) take."""

    CONSTANT, INPUT = range(2)
    ADD, SUB, MUL, DIV, NEG, SQRT, SIN, COS, ATAN2, ABS, MIN, MAX, SIGN, TANH = range(2, 16)
    GREATER, GREATER_EQUAL, EQUAL, NOT, AND, OR = range(16, 22)
    SELECT = 22  # SELECT(condition, yes, no)
    FLOOR, FMOD, EXP, EXPM1, LOG, LOG1P, POW, CBRT, HYPOT, SINH, COSH, ASINH, ACOSH, ATANH = range(23, 37)
    BLOCK, ENTRY = 37, 38  # many numbers made of many, as a `Product` or `Calls` says; ENTRY k is one of them


TRUTH_VALUED = frozenset({Op.GREATER, Op.GREATER_EQUAL, Op.EQUAL, Op.NOT, Op.AND, Op.OR})
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.EQUAL, Op.AND, Op.OR})
BLOCKS = frozenset({Op.BLOCK, Op.ENTRY})
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


# What Python's operators mean on numbers, and on the symbols of other libraries, with their signs in Python and in C
OPERATORS: dict[Op, Callable[..., Any]] = {
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.NEG: operator.neg,
    Op.GREATER: operator.gt,
    Op.GREATER_EQUAL: operator.ge,
    Op.EQUAL: operator.eq,
}
_SIGNS = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/", Op.GREATER: ">", Op.GREATER_EQUAL: ">=", Op.EQUAL: "=="}
WITH_SIGNS = {Op.NEG: "-{}", **{op: f"{{}} {sign} {{}}" for op, sign in _SIGNS.items()}}


def single(value: float) -> float:
    """A number in single precision; a finite one stays finite."""
    if not math.isfinite(value):
        return value
    largest = (2.0 - 2.0**-23) * 2.0**127
    return float(struct.unpack("<f", struct.pack("<f", min(max(value, -largest), largest)))[0])


Shape = tuple[int, ...]


class Port(NamedTuple):
    """A named array that goes into or comes out of a graph."""

    name: str
    shape: Shape

    @property
    def size(self) -> int:
        """How many numbers it holds."""
        return math.prod(self.shape)


class Product(NamedTuple):
    """A block: the product of two matrices, n × k and k × m, whose numbers are the block's arguments row by row."""

    n: int
    k: int
    m: int

    @property
    def times(self) -> int:
        """It is made once of all its arguments, as if a program were called once (`Calls`)."""
        return 1

    @property
    def carried(self) -> int:
        """None of them is for a first row alone."""
        return 0

    @property
    def taken(self) -> int:
        """How many arguments it has."""
        return self.k * (self.n + self.m)

    @property
    def size(self) -> int:
        """How many numbers it makes."""
        return self.n * self.m

    def recorded(self, graph: Any, args: Sequence[int], kept: Kept) -> list[int]:
        """The same operation by operation: products summed from left to right."""
        made, split = [], self.n * self.k
        for i in range(self.n):
            for j in range(self.m):
                factors = zip(args[i * self.k : (i + 1) * self.k], args[split + j :: self.m], strict=True)
                terms = [graph.apply(Op.MUL, x, y) for x, y in factors]
                made.append(functools.reduce(lambda x, y: graph.apply(Op.ADD, x, y), terms))
        return made

    def operations(self) -> Counter[Op]:
        """How many of each kind it takes."""
        return Counter({Op.MUL: self.size * self.k, Op.ADD: self.size * (self.k - 1)})


class Calls(NamedTuple):
    """A block: one program for each of ``times`` rows of arguments, compiled once; the results row by row.

    Of each row's arguments the first ``carried`` are the first results of the row before; for the first row they come first.
    """

    program: Program
    times: int
    carried: int = 0

    @property
    def size(self) -> int:
        """How many numbers it makes."""
        return self.times * len(self.program.roots())

    def recorded(self, graph: Any, args: Sequence[int], kept: Kept) -> list[int]:
        """The same operation by operation, but for blocks in it that are ``kept``."""
        made, state, own = list[int](), args[: self.carried], args[self.carried :]
        for k in range(self.times):
            row = replayed(self.program, graph, [*state, *own[k * self.taken : (k + 1) * self.taken]], kept)
            made, state = [*made, *row], row[: self.carried]
        return made

    @property
    def taken(self) -> int:
        """How many arguments of a row are its own."""
        return len(self.program.graph.input_nodes) - self.carried

    def operations(self) -> Counter[Op]:
        """How many of each kind it takes."""
        return Counter({op: self.times * number for op, number in _operations(self.program).items()})


Block = Product | Calls
Kept = Callable[[Block], bool]


def every(block: Block) -> bool:
    """All blocks stay as they are."""
    return True


def none(block: Block) -> bool:
    """All blocks are written out, operation by operation."""
    return False


class Graph:
    """Nodes, with the inputs they start from. ``ops[k]``, ``args[k]`` describe node k; ``values[k]`` a constant's value, an
    input's place among all input numbers (inputs one after the other, each in row-major order), what a block does, or
    which of a block's numbers an entry is.
    """

    def __init__(self, inputs: Sequence[Port]) -> None:
        self.inputs = tuple(inputs)
        self.ops: list[Op] = []
        self.args: list[tuple[int, ...]] = []
        self.values: list[Any] = []
        self.truths: set[int] = set()  # the nodes that are truth values
        self.special: set[int] = set()  # those that rules of arithmetic are about: negations, and what `Rewriter` adds
        self._constants: dict[bytes, int] = {}
        # Some nodes, and those that they need: asked for again and again
        self._live: tuple[list[int], list[int]] = [], []
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

    def block(self, block: Block, args: Sequence[int]) -> list[int]:
        """The nodes of all numbers that a block makes."""
        node = self._append(Op.BLOCK, tuple(args), block)
        return [self._append(Op.ENTRY, (node,), k) for k in range(block.size)]

    def apply(self, op: Op, *args: int) -> int:
        """A new node for an operation on nodes."""
        if op in TRUTH_VALUED:
            self.truths.add(len(self.ops))
        elif op is Op.NEG:
            self.special.add(len(self.ops))
        return self._append(op, args, None)

    def each(self, op: Op, xs: Sequence[int], ys: Sequence[int]) -> list[int]:
        """`apply` of one operation to pairs of nodes."""
        return [self.apply(op, x, y) for x, y in zip(xs, ys, strict=True)]

    def take(self, source: Graph, nodes: Iterable[int]) -> dict[int, int]:
        """Nodes of another graph of the same inputs, in order, as nodes of this one."""
        new = dict(zip(source.input_nodes, self.input_nodes, strict=True))
        for node in nodes:
            op, value = source.ops[node], source.values[node]
            if op is Op.CONSTANT:
                new[node] = self.constant(value)
            elif op is not Op.INPUT:
                new[node] = self._append(op, tuple(map(new.__getitem__, source.args[node])), value)
        self.truths |= {new[node] for node in source.truths if node in new}
        self.special |= {new[node] for node in source.special if node in new}
        return new

    def live(self, roots: list[int]) -> list[int]:
        """The nodes that ``roots`` depend on, in order of evaluation."""
        if self._live[0] != roots:
            self._live = list(roots), live_nodes(self, roots)
        return self._live[1]

    def _append(self, op: Op, args: tuple[int, ...], value: Any) -> int:
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
        return self.graph.live(self.roots())

    def digest(self) -> str:
        """Of all it computes: the same for programs of the same operations, in another process too."""
        graph, place = self.graph, {node: k for k, node in enumerate(self.live())}
        sha = hashlib.sha256(repr((graph.inputs, self.outputs)).encode())
        for node in place:
            value = graph.values[node]
            value = (value.program.digest(), *value[1:]) if isinstance(value, Calls) else value
            sha.update(repr((int(graph.ops[node]), [place[x] for x in graph.args[node]], value)).encode())
        sha.update(repr([place[node] for node in self.roots()]).encode())
        return sha.hexdigest()

    def recorded(self, graph: Graph, recorder: Any, kept: Kept) -> Program:
        """The same in another graph of the same inputs, its operations told to what records them there."""
        found = iter(replayed(self, recorder, graph.input_nodes, kept))
        return Program(graph, self.outputs, tuple(tuple(next(found) for _ in nodes) for nodes in self.results))

    def written_out(self, kept: Kept = none) -> Program:
        """The same without blocks but those that are ``kept``, operation by operation: what is differentiated and exported."""
        if not any(op is Op.BLOCK for op in self.graph.ops):
            return self
        graph = Graph(self.graph.inputs)
        return self.recorded(graph, graph, kept)


def replayed(program: Program, graph: Any, inputs: Sequence[Any], kept: Kept = every) -> list[Any]:
    """The nodes of all outputs, in order, recorded in another graph for nodes of all inputs; blocks that are ``kept`` stay."""
    new = nodes_in(program, graph, inputs, kept)
    return [new[node] for node in program.roots()]


def nodes_in(program: Program, graph: Any, inputs: Sequence[Any], kept: Kept = none) -> dict[int, Any]:
    """What each node that is needed becomes in another graph, or in whatever else has constants and applies operations."""
    source = program.graph
    new: dict[int, Any] = dict(zip(source.input_nodes, inputs, strict=True))
    for node in program.live():
        op, value, args = source.ops[node], source.values[node], [new[x] for x in source.args[node]]
        if op is Op.CONSTANT:
            new[node] = graph.constant(value)
        elif op is Op.BLOCK:
            new[node] = graph.block(value, args) if kept(value) else value.recorded(graph, args, kept)
        elif op is Op.ENTRY:
            new[node] = args[0][value]
        elif op is not Op.INPUT:
            new[node] = graph.apply(op, *args)
    return new


def live_nodes(graph: Graph, roots: Iterable[int]) -> list[int]:
    """The nodes that ``roots`` depend on, in order of evaluation."""
    needed = bytearray(len(graph))
    for root in roots:
        needed[root] = 1
    node = len(graph)
    for args in reversed(graph.args):
        node -= 1
        if needed[node]:
            for argument in args:
                needed[argument] = 1
    return list(compress(range(len(graph)), needed))


def count(program: Program) -> dict[str, int]:
    """How many operations of each kind a program performs."""
    return {op.name.lower(): number for op, number in _operations(program).items()}


def _operations(program: Program) -> Counter[Op]:
    graph, live = program.graph, program.live()
    counts = Counter(map(graph.ops.__getitem__, live))
    if counts[Op.BLOCK]:
        for node in live:
            if graph.ops[node] is Op.BLOCK:
                counts += graph.values[node].operations()
    return Counter({op: x for op, x in counts.items() if op not in (Op.CONSTANT, Op.INPUT, Op.BLOCK, Op.ENTRY)})
