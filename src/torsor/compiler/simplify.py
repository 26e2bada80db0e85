"""Make a program smaller without changing what it computes: rules as a table, and sharing of equal operations.

Every rule is exact in floating point for finite inputs, up to the sign of zero. Nothing is re-associated.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

from torsor.arrays import correctly_rounded
from torsor.compiler.graph import COMMUTATIVE, LIBRARY, OPERATORS, Block, Graph, Kept, Op, Program, every, nodes_in


class Level(Enum):
    """How much to simplify: not at all, only operations with 0, 1 and −1, or everything."""

    OFF = "off"
    ZEROS_AND_ONES = "zeros and ones"
    FULL = "full"


class TooLong(Exception):
    """A program has become longer than its maker wants."""


class Rewriter:
    """Builds the simplified graph; rules ask it about nodes and make new ones through it.

    It takes operations as a `Graph` does (``constant``, ``apply``), so that a function can be traced straight into it.
    """

    def __init__(self, graph: Graph, level: Level) -> None:
        self.graph = graph
        self.ops, self.truths, self.constant = graph.ops, graph.truths, graph.constant
        self.most = math.inf  # nodes, beyond which `TooLong` is raised
        self.full = level is Level.FULL
        self.zero, self.one, self.minus_one = graph.constant(0.0), graph.constant(1.0), graph.constant(-1.0)
        self._minus_zero = graph.constant(-0.0)
        self._special = graph.special
        self._special |= {self.zero, self.one, self.minus_one, self._minus_zero}
        self._known: dict[Op, dict[tuple[int, ...], int]] = {op: {} for op in Op}
        self.programs: dict[str, Program] = {}  # those called, by digest
        self._blocks: dict[tuple[Block, tuple[int, ...]], list[int]] = {}
        used = {op: [rule for rule in RULES.get(op, ()) if self.full or rule.structural] for op in Op}
        self._rewritings = {op: [rule.rewrite for rule in rules] for op, rules in used.items()}

    def block(self, block: Block, args: Sequence[int]) -> list[int]:
        """The nodes of all numbers that a block makes; it stays as it is, and an equal one made before is the same."""
        if len(self.ops) > self.most:
            raise TooLong
        args = tuple(self.zero if x == self._minus_zero else x for x in args)
        if (block, args) not in self._blocks:
            self._blocks[block, args] = self.graph.block(block, args)
        return self._blocks[block, args]

    def value(self, node: int) -> float | None:
        """The number of a constant node, else None."""
        return self.graph.values[node] if self.graph.ops[node] is Op.CONSTANT else None

    def negated(self, node: int) -> int | None:
        """x if the node is −x, else None."""
        return self.graph.args[node][0] if self.graph.ops[node] is Op.NEG else None

    def apply(self, op: Op, *args: int) -> int:
        """The node of an operation: by the first rule that applies, an equal one made before, or a new one."""
        ops = self.ops
        # The rules of x + y, x − y and x · y are about 0, ±1, negations, two constants and x = y.
        if (
            op not in _SUMS_AND_PRODUCTS
            or args[0] == args[1]
            or not self._special.isdisjoint(args)
            or (ops[args[0]] is Op.CONSTANT and ops[args[1]] is Op.CONSTANT)
        ):
            if self._minus_zero in args:
                args = tuple(self.zero if x == self._minus_zero else x for x in args)
            for rewrite in self._rewritings[op]:
                if (node := rewrite(self, *args)) is not None:
                    return node
        if not self.full:
            return self._new(op, args)
        if op in COMMUTATIVE and args[0] > args[1]:
            args = (args[1], args[0])
        known = self._known[op]
        node = known.get(args)
        if node is None:
            node = known[args] = self._new(op, args)
        return node

    def _new(self, op: Op, args: tuple[int, ...]) -> int:
        if len(self.ops) > self.most:
            raise TooLong
        return self.graph.apply(op, *args)

    def each(self, op: Op, xs: Sequence[int], ys: Sequence[int]) -> list[int]:
        """`apply` of one operation to pairs of nodes. Most have a zero among them: what the rules say of it is said here."""
        zero, minus_zero, apply = self.zero, self._minus_zero, self.apply
        if op is Op.MUL:
            return [zero if x == zero or y == zero else apply(op, x, y) for x, y in zip(xs, ys, strict=True)]
        made = []
        for x, y in zip(xs, ys, strict=True):
            if y == zero and x != minus_zero and (op is Op.ADD or op is Op.SUB):
                made.append(x)
            elif x == zero and y != minus_zero and op is Op.ADD:
                made.append(y)
            else:
                made.append(apply(op, x, y))
        return made


_SUMS_AND_PRODUCTS = frozenset({Op.ADD, Op.SUB, Op.MUL})


class Rule(NamedTuple):
    """One rewriting: ``rewrite(w, *args)`` gives the node to use instead, or None. ``structural``: only about 0 and ±1."""

    name: str
    rewrite: Callable[..., int | None]
    structural: bool = False


def simplify(program: Program, level: Level = Level.FULL, kept: Kept = every) -> Program:
    """A program with the same outputs and fewer operations; blocks that are not ``kept`` are written out."""
    if level is Level.OFF:
        return program
    rewriter = Rewriter(Graph(program.graph.inputs), level)
    return compact(program.recorded(rewriter.graph, rewriter, kept))


def compact(program: Program) -> Program:
    """The same program without nodes that no output needs."""
    target = Graph(program.graph.inputs)
    new = target.take(program.graph, program.live())
    return Program(target, program.outputs, tuple(tuple(new[node] for node in nodes) for nodes in program.results))


# What the operations mean on numbers


def compute(op: Op, *x: float) -> float:
    """The value of an operation on numbers, as IEEE arithmetic has it (truth values as 1 and 0)."""
    return float(_MEANING[op](*x))


def _divide(x: float, y: float) -> float:
    if y != 0.0 or math.isnan(y):
        return x / y
    return math.nan if x == 0.0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)


def _sign(x: float) -> float:
    return x if x == 0.0 or math.isnan(x) else math.copysign(1.0, x)


def _extreme(better: Callable[[float, float], bool]) -> Callable[[float, float], float]:
    def pick(x: float, y: float) -> float:
        if math.isnan(x) or math.isnan(y):
            return math.nan
        return x if better(x, y) else y

    return pick


_MEANING: dict[Op, Callable[..., float]] = {
    **OPERATORS,
    Op.DIV: _divide,
    **{op: getattr(correctly_rounded, op.name.lower()) for op in (Op.SQRT, Op.SIN, Op.COS, Op.FLOOR)},
    Op.ABS: abs,
    Op.MIN: _extreme(lambda x, y: x < y),
    Op.MAX: _extreme(lambda x, y: x > y),
    Op.SIGN: _sign,
    Op.NOT: operator.not_,
    Op.AND: lambda x, y: bool(x and y),
    Op.OR: lambda x, y: bool(x or y),
    Op.SELECT: lambda c, x, y: x if c else y,
    **{op: getattr(correctly_rounded, "power" if op is Op.POW else name) for op, (name, _) in LIBRARY.items()},
}

# The rules


def _fold(op: Op) -> Rule:
    def rewrite(w: Rewriter, *args: int) -> int | None:
        graph = w.graph
        for x in args:
            if graph.ops[x] is not Op.CONSTANT:
                return None
        return graph.constant(compute(op, *[graph.values[x] for x in args]))

    return Rule(f"{op.name.lower()} of constants", rewrite)


def _of_negated(op: Op, *, is_odd: bool) -> Rule:
    def rewrite(w: Rewriter, x: int) -> int | None:
        if (inner := w.negated(x)) is None:
            return None
        return w.apply(Op.NEG, w.apply(op, inner)) if is_odd else w.apply(op, inner)

    return Rule(f"{op.name.lower()}(−x) = {'−' * is_odd}{op.name.lower()}(x)", rewrite)


_odd, _even = partial(_of_negated, is_odd=True), partial(_of_negated, is_odd=False)


def _add_negated(w: Rewriter, x: int, y: int) -> int | None:
    if (inner := w.negated(y)) is not None:
        return w.apply(Op.SUB, x, inner)
    if (inner := w.negated(x)) is not None:
        return w.apply(Op.SUB, y, inner)
    return None


def _subtract_negated(w: Rewriter, x: int, y: int) -> int | None:
    if (inner := w.negated(y)) is not None:
        return w.apply(Op.ADD, x, inner)
    if (inner := w.negated(x)) is not None:
        return w.apply(Op.NEG, w.apply(Op.ADD, inner, y))
    return None


def _multiply_negated(w: Rewriter, x: int, y: int) -> int | None:
    for one, other in ((x, y), (y, x)):
        inner = w.negated(one)
        if inner is None:
            continue
        value = w.value(other)
        if value is not None:  # the sign goes into the constant
            return w.apply(Op.MUL, inner, w.graph.constant(-value))
        return w.apply(Op.NEG, w.apply(Op.MUL, inner, other))
    return None


def _divide_negated(w: Rewriter, x: int, y: int) -> int | None:
    if (inner := w.negated(x)) is not None:
        return w.apply(Op.NEG, w.apply(Op.DIV, inner, y))
    if (inner := w.negated(y)) is not None:
        return w.apply(Op.NEG, w.apply(Op.DIV, x, inner))
    return None


def _divide_by_power_of_two(w: Rewriter, x: int, y: int) -> int | None:
    value = w.value(y)
    if value is None or not math.isfinite(value) or abs(math.frexp(value)[0]) != 0.5 or abs(value) > 2.0**1000:
        return None
    return w.apply(Op.MUL, x, w.graph.constant(1.0 / value))


def _negate_difference(w: Rewriter, x: int) -> int | None:
    if w.graph.ops[x] is not Op.SUB:
        return None
    a, b = w.graph.args[x]
    return w.apply(Op.SUB, b, a)


def _with_constant(neutral: bool) -> Callable[..., int | None]:
    """Of two truth values one is a constant: the ``neutral`` one, or one that decides."""

    def rewrite(w: Rewriter, x: int, y: int) -> int | None:
        for known, other in ((x, y), (y, x)):
            if (value := w.value(known)) is not None:
                return other if bool(value) is neutral else known
        return None

    return rewrite


def _select_constant(w: Rewriter, c: int, x: int, y: int) -> int | None:
    value = w.value(c)
    return None if value is None else (x if value else y)


def _select_not(w: Rewriter, c: int, x: int, y: int) -> int | None:
    return w.apply(Op.SELECT, w.graph.args[c][0], y, x) if w.graph.ops[c] is Op.NOT else None


RULES: dict[Op, tuple[Rule, ...]] = {
    **{op: (_fold(op),) for op in _MEANING},
    Op.ADD: (
        Rule("x + 0 = x", lambda w, x, y: x if y == w.zero else None, True),
        Rule("0 + x = x", lambda w, x, y: y if x == w.zero else None, True),
        _fold(Op.ADD),
        Rule("x + (−y) = x − y, (−x) + y = y − x", _add_negated),
    ),
    Op.SUB: (
        Rule("x − 0 = x", lambda w, x, y: x if y == w.zero else None, True),
        Rule("0 − x = −x", lambda w, x, y: w.apply(Op.NEG, y) if x == w.zero else None, True),
        _fold(Op.SUB),
        Rule("x − x = 0", lambda w, x, y: w.zero if x == y else None),
        Rule("x − (−y) = x + y, (−x) − y = −(x + y)", _subtract_negated),
    ),
    Op.MUL: (
        Rule("x · 0 = 0", lambda w, x, y: w.zero if w.zero in (x, y) else None, True),
        Rule("x · 1 = x", lambda w, x, y: x if y == w.one else None, True),
        Rule("1 · x = x", lambda w, x, y: y if x == w.one else None, True),
        Rule("x · (−1) = −x", lambda w, x, y: w.apply(Op.NEG, x) if y == w.minus_one else None, True),
        Rule("(−1) · x = −x", lambda w, x, y: w.apply(Op.NEG, y) if x == w.minus_one else None, True),
        _fold(Op.MUL),
        Rule("(−x) · y = −(x · y)", _multiply_negated),
    ),
    Op.DIV: (
        Rule("x / 1 = x", lambda w, x, y: x if y == w.one else None, True),
        Rule("x / (−1) = −x", lambda w, x, y: w.apply(Op.NEG, x) if y == w.minus_one else None, True),
        _fold(Op.DIV),
        Rule("0 / x = 0", lambda w, x, y: w.zero if x == w.zero else None, True),
        Rule("(−x) / y = x / (−y) = −(x / y)", _divide_negated),
        Rule("x / 2ᵏ = x · 2⁻ᵏ", _divide_by_power_of_two),
    ),
    Op.NEG: (
        Rule("−0 = 0", lambda w, x: w.zero if x == w.zero else None, True),
        _fold(Op.NEG),
        Rule("−(−x) = x", lambda w, x: w.negated(x)),
        Rule("−(x − y) = y − x", _negate_difference),
    ),
    Op.SIN: (_fold(Op.SIN), _odd(Op.SIN)),
    Op.COS: (_fold(Op.COS), _even(Op.COS)),
    Op.SIGN: (_fold(Op.SIGN), _odd(Op.SIGN)),
    Op.ABS: (_fold(Op.ABS), _even(Op.ABS)),
    Op.MIN: (_fold(Op.MIN), Rule("min(x, x) = x", lambda w, x, y: x if x == y else None)),
    Op.MAX: (_fold(Op.MAX), Rule("max(x, x) = x", lambda w, x, y: x if x == y else None)),
    **{op: (_fold(op), _odd(op)) for op in (Op.TANH, Op.SINH, Op.ASINH, Op.ATANH, Op.CBRT)},
    Op.COSH: (_fold(Op.COSH), _even(Op.COSH)),
    Op.GREATER: (
        _fold(Op.GREATER),
        Rule("0 > |x| is false", lambda w, x, y: w.zero if x == w.zero and w.ops[y] is Op.ABS else None),
    ),
    Op.AND: (
        Rule("x and constant", _with_constant(neutral=True), True),
        Rule("x and x = x", lambda w, x, y: x if x == y else None),
    ),
    Op.OR: (
        Rule("x or constant", _with_constant(neutral=False), True),
        Rule("x or x = x", lambda w, x, y: x if x == y else None),
    ),
    Op.SELECT: (
        Rule("select(constant, x, y)", _select_constant, True),
        Rule("select(c, x, x) = x", lambda w, c, x, y: x if x == y else None),
        Rule("select(not c, x, y) = select(c, y, x)", _select_not),
    ),
}


def evaluate(program: Program, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a program for one set of inputs, each of its shape, in plain numbers.

    It is slow, and the same to the last digit on every machine: operations are rounded once, sines and arc functions included.
    """
    given = [x for array in inputs for x in np.asarray(array, dtype=float).ravel().tolist()]
    values = nodes_in(program, SimpleNamespace(constant=float, apply=compute), given)
    each = zip(program.outputs, program.results, strict=True)
    return [np.array([values[node] for node in nodes]).reshape(port.shape) for port, nodes in each]
