"""Exact derivatives of a program, as a program: forward mode, reverse mode, and whichever needs fewer operations."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from torsor.compiler.graph import Graph, Op, Port, Program, count, live_nodes, nodes_in, none, replayed
from torsor.compiler.simplify import Level, Rewriter, compact

FAR_LONGER = 2  # times the nodes of the program and of its derivative: few of those made are not used in the end
Partial = tuple[int, int]  # which argument, and the node of the derivative by it


class Wanted(NamedTuple):
    """Which derivatives: of these outputs, by these inputs.

    ``along`` names, for an input that is not to be moved number by number, the output of the program whose last axes count
    the directions: shape of the input + directions. ``at``: inputs that are constants after all, with their numbers.
    """

    outputs: Sequence[str]
    inputs: Sequence[str]
    along: Mapping[str, str] = MappingProxyType({})
    at: Mapping[str, Any] = MappingProxyType({})


def jacobian(program: Program, output: str, *inputs: str) -> Program:
    """A program of the derivatives of one output by inputs, each named "output_by_input", shape output + input."""
    return derivatives(program, Wanted((output,), inputs))


def pullback(program: Program, *inputs: str) -> Program:
    """A program of Σ weights · ∂outputs/∂input for each of the inputs, by one sweep back: the weights are more inputs.

    It takes a few times as many operations as the program, however many numbers the outputs and inputs have. The weights of an
    output x are named "weights_of_x", the result for an input y "pulled_to_y".
    """
    source, taken = program.graph, {port.name for port in program.graph.inputs}
    weights: list[Port] = []
    for port in program.outputs:
        name = f"weights_of_{port.name}"
        while name in taken:
            name += "_"
        taken.add(name)
        weights.append(Port(name, port.shape))
    work, size = Rewriter(Graph((*source.inputs, *weights)), Level.FULL), len(source.input_nodes)
    given, total = work.graph.input_nodes, work.zero
    for weight, result in zip(given[size:], replayed(program, work, given[:size], none), strict=True):
        total = work.apply(Op.ADD, total, work.apply(Op.MUL, weight, result))
    summed = Program(work.graph, (Port("sum", ()),), ((total,),))
    found = reverse(summed, Wanted(("sum",), inputs))
    assert found is not None  # nothing limits it
    return found.renamed([f"pulled_to_{name}" for name in inputs])


def derivatives(program: Program, wanted: Wanted) -> Program:
    """A program of derivatives, each named "output_by_input", shape output + input (or + directions).

    Forward and reverse mode give the same numbers to rounding; the one with fewer operations is kept. The one with fewer sweeps
    is made first, and the other given up when it is far longer: of one number by sixty, sixty sweeps forward are no rival.
    """
    program = program.written_out()
    columns = sum(math.prod(_directions_shape(program, wanted, name)) for name in wanted.inputs)
    is_wide = columns > sum(len(_nodes(program, output)) for output in wanted.outputs)
    first, second = (reverse, forward) if is_wide else (forward, reverse)
    found = first(program, wanted)
    assert found is not None  # nothing limits it
    other = second(program, wanted, FAR_LONGER * (len(program.graph) + len(found.graph)))
    both = [x for x in ((other, found) if is_wide else (found, other)) if x is not None]
    return min(both, key=lambda candidate: sum(count(candidate).values()))


def forward(program: Program, wanted: Wanted, most: int | None = None) -> Program | None:
    """Derivatives carried along from each direction of the inputs to everything that depends on it.

    None if that takes more than ``most`` nodes on the way.
    """
    copy = _Copy(program, wanted)
    order = live_nodes(program.graph, copy.roots)
    columns: dict[str, list[list[int]]] = {}
    for name in wanted.inputs:
        columns[name] = []
        for direction in copy.directions[name]:
            if most is not None and len(copy.work.graph) > most:
                return None
            tangent = dict(direction)
            for node in order:
                total = tangent.get(node)
                for argument, partial in copy.partials(node):
                    if argument in tangent:
                        term = copy.work.apply(Op.MUL, partial, tangent[argument])
                        total = term if total is None else copy.work.apply(Op.ADD, total, term)
                if total is not None and total != copy.work.zero:
                    tangent[node] = total
            columns[name].append([tangent.get(root, copy.work.zero) for root in copy.roots])
    return copy.finish({name: list(zip(*columns[name], strict=True)) for name in wanted.inputs})


def reverse(program: Program, wanted: Wanted, most: int | None = None) -> Program | None:
    """Derivatives carried back from each output number to everything it depends on.

    None if that takes more than ``most`` nodes on the way.
    """
    copy = _Copy(program, wanted)
    order = live_nodes(program.graph, copy.roots)
    rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in wanted.inputs}
    for root in copy.roots:
        if most is not None and len(copy.work.graph) > most:
            return None
        adjoint = {root: copy.work.one}
        for node in reversed(order):
            if node not in adjoint:
                continue
            for argument, partial in copy.partials(node):
                term = copy.work.apply(Op.MUL, adjoint[node], partial)
                if term == copy.work.zero:
                    continue
                known = adjoint.get(argument)
                adjoint[argument] = term if known is None else copy.work.apply(Op.ADD, known, term)
        for name in wanted.inputs:
            rows[name].append(tuple(copy.along(adjoint, direction) for direction in copy.directions[name]))
    return copy.finish(rows)


class _Copy:
    """The program's nodes in a graph of their own, where derivatives are added, and where each went.

    Derivatives belong to nodes of the program as it was: of an input that is a constant in the copy, too.
    """

    def __init__(self, program: Program, wanted: Wanted) -> None:
        self._program, self._wanted, source = program, wanted, program.graph
        free = [port for port in source.inputs if port.name not in wanted.at]
        self.work = Rewriter(Graph(free), Level.FULL)
        self._new = nodes_in(program, self.work, self._inputs())
        self.roots = [node for output in wanted.outputs for node in _nodes(program, output)]
        self.directions = {name: self._directions(name) for name in wanted.inputs}

    def partials(self, node: int) -> list[tuple[int, int]]:
        """The arguments of a node that its value changes with, each with the derivative by it, in the copy."""
        graph = self._program.graph
        rule, arguments = _PARTIALS.get(graph.ops[node]), graph.args[node]
        if rule is None:
            return []
        found = rule(self.work, self._new[node], *[self._new[x] for x in arguments])
        return [(arguments[place], partial) for place, partial in found]

    def along(self, adjoint: Mapping[int, int], direction: Mapping[int, int]) -> int:
        """Σ of the adjoints of an input's numbers times their change in a direction."""
        total = self.work.zero
        for node, change in direction.items():
            if node in adjoint:
                total = self.work.apply(Op.ADD, total, self.work.apply(Op.MUL, adjoint[node], change))
        return total

    def finish(self, rows: Mapping[str, Sequence[tuple[int, ...]]]) -> Program:
        """The program of the derivatives, given for each input as a row for each number of the outputs."""
        shapes = {port.name: port.shape for port in self._program.outputs}
        ports: list[Port] = []
        results: list[tuple[int, ...]] = []
        start = 0
        for output in self._wanted.outputs:
            size = math.prod(shapes[output])
            for name in self._wanted.inputs:
                last = _directions_shape(self._program, self._wanted, name)
                ports.append(Port(f"{output}_by_{name}", (*shapes[output], *last)))
                results.append(tuple(x for row in rows[name][start : start + size] for x in row))
            start += size
        return compact(Program(self.work.graph, tuple(ports), tuple(results)))

    def _inputs(self) -> list[int]:
        """The nodes of all input numbers in the copy, in order."""
        found, free = list[int](), iter(self.work.graph.input_nodes)
        for port in self._program.graph.inputs:
            if port.name in self._wanted.at:
                numbers = np.reshape(self._wanted.at[port.name], port.size)
                found += [self.work.constant(float(number)) for number in numbers]
            else:
                found += itertools.islice(free, port.size)
        return found

    def _directions(self, name: str) -> list[dict[int, int]]:
        places = _places(self._program.graph)[name]
        if name not in self._wanted.along:
            return [{place: self.work.one} for place in places]
        numbers = np.reshape(_nodes(self._program, self._wanted.along[name]), (len(places), -1))
        moved = (zip(places, map(self._new.__getitem__, column), strict=True) for column in numbers.T)
        return [{place: change for place, change in column if change != self.work.zero} for column in moved]


def _directions_shape(program: Program, wanted: Wanted, name: str) -> tuple[int, ...]:
    """What the directions of an input are counted by: its own numbers, or the last axes of what it moves along."""
    shape = next(port.shape for port in program.graph.inputs if port.name == name)
    if name not in wanted.along:
        return shape
    return next(port.shape for port in program.outputs if port.name == wanted.along[name])[len(shape) :]


def _nodes(program: Program, output: str) -> tuple[int, ...]:
    return program.results[[port.name for port in program.outputs].index(output)]


def _places(graph: Graph) -> dict[str, list[int]]:
    """The nodes of each input."""
    places, start = {}, 0
    for port in graph.inputs:
        places[port.name] = graph.input_nodes[start : start + port.size]
        start += port.size
    return places


def _by_quotient(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
    inverse = w.apply(Op.DIV, w.one, y)
    return [(0, inverse), (1, w.apply(Op.NEG, w.apply(Op.MUL, node, inverse)))]


def _by_atan2(w: Rewriter, node: int, y: int, x: int) -> list[Partial]:
    square = w.apply(Op.ADD, w.apply(Op.MUL, x, x), w.apply(Op.MUL, y, y))
    return [(0, w.apply(Op.DIV, x, square)), (1, w.apply(Op.NEG, w.apply(Op.DIV, y, square)))]


def _by_choice(first: Callable[[Rewriter, int, int], int]) -> Callable[..., list[Partial]]:
    def rule(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
        chosen = first(w, x, y)
        return [(0, w.apply(Op.SELECT, chosen, w.one, w.zero)), (1, w.apply(Op.SELECT, chosen, w.zero, w.one))]

    return rule


def _by_power(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
    less = w.apply(Op.POW, x, w.apply(Op.SUB, y, w.one))
    by_y = w.apply(Op.MUL, node, w.apply(Op.LOG, x))
    flat = w.apply(Op.EQUAL, x, w.zero)  # 0 to any power but 0 is 0
    return [(0, w.apply(Op.MUL, y, less)), (1, w.apply(Op.SELECT, flat, w.zero, by_y))]


def _by_remainder(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
    return [(0, w.one), (1, w.apply(Op.DIV, w.apply(Op.SUB, node, x), y))]  # x − y trunc(x/y)


def _inverse(w: Rewriter, slope: int) -> list[Partial]:
    return [(0, w.apply(Op.DIV, w.one, slope))]


_PARTIALS: dict[Op, Callable[..., list[Partial]]] = {
    Op.ADD: lambda w, node, x, y: [(0, w.one), (1, w.one)],
    Op.SUB: lambda w, node, x, y: [(0, w.one), (1, w.minus_one)],
    Op.MUL: lambda w, node, x, y: [(0, y), (1, x)],
    Op.DIV: _by_quotient,
    Op.NEG: lambda w, node, x: [(0, w.minus_one)],
    Op.SQRT: lambda w, node, x: [(0, w.apply(Op.DIV, w.graph.constant(0.5), node))],
    Op.SIN: lambda w, node, x: [(0, w.apply(Op.COS, x))],
    Op.COS: lambda w, node, x: [(0, w.apply(Op.NEG, w.apply(Op.SIN, x)))],
    Op.ATAN2: _by_atan2,
    Op.ABS: lambda w, node, x: [(0, w.apply(Op.SIGN, x))],
    Op.MIN: _by_choice(lambda w, x, y: w.apply(Op.GREATER, y, x)),
    Op.MAX: _by_choice(lambda w, x, y: w.apply(Op.GREATER, x, y)),
    Op.TANH: lambda w, node, x: [(0, w.apply(Op.SUB, w.one, w.apply(Op.MUL, node, node)))],
    Op.FMOD: _by_remainder,
    Op.POW: _by_power,
    Op.EXP: lambda w, node, x: [(0, node)],
    Op.EXPM1: lambda w, node, x: [(0, w.apply(Op.EXP, x))],
    Op.LOG: lambda w, node, x: _inverse(w, x),
    Op.LOG1P: lambda w, node, x: _inverse(w, w.apply(Op.ADD, w.one, x)),
    Op.CBRT: lambda w, node, x: _inverse(w, w.apply(Op.MUL, w.graph.constant(3.0), w.apply(Op.MUL, node, node))),
    Op.HYPOT: lambda w, node, x, y: [(0, w.apply(Op.DIV, x, node)), (1, w.apply(Op.DIV, y, node))],
    Op.SINH: lambda w, node, x: [(0, w.apply(Op.COSH, x))],
    Op.COSH: lambda w, node, x: [(0, w.apply(Op.SINH, x))],
    Op.ASINH: lambda w, node, x: _inverse(w, w.apply(Op.HYPOT, w.one, x)),
    Op.ACOSH: lambda w, node, x: _inverse(w, w.apply(Op.SINH, node)),
    Op.ATANH: lambda w, node, x: _inverse(w, w.apply(Op.MUL, w.apply(Op.SUB, w.one, x), w.apply(Op.ADD, w.one, x))),
    Op.SELECT: lambda w, node, c, x, y: [
        (1, w.apply(Op.SELECT, c, w.one, w.zero)),
        (2, w.apply(Op.SELECT, c, w.zero, w.one)),
    ],
}
