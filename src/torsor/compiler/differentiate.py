"""Exact derivatives of a program, as a program: forward mode, reverse mode, and whichever needs fewer operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torsor.compiler.graph import Graph, Op, Port, Program, count, live_nodes
from torsor.compiler.simplify import Level, Rewriter, compact

Partial = tuple[int, int]  # an argument, and the node of the derivative by it


def jacobian(program: Program, output: str, *inputs: str) -> Program:
    """A program of the derivatives of one output by inputs, each named "output_by_input", shape output + input.

    Forward and reverse mode give the same numbers to rounding; the one with fewer operations is kept.
    """
    both = [differentiate(program, output, inputs) for differentiate in (forward, reverse)]
    return min(both, key=lambda candidate: sum(count(candidate).values()))


def forward(program: Program, output: str, inputs: Sequence[str]) -> Program:
    """Derivatives carried along from each input number to everything that depends on it."""
    work, new = _copy(program)
    roots = _nodes(program, output)
    order = live_nodes(work.graph, [new[root] for root in roots])
    columns: dict[str, list[list[int]]] = {}
    for name in inputs:
        columns[name] = []
        for seed in _places(program.graph, name):
            tangent = {new[seed]: work.one}
            for node in order:
                total = None
                for argument, partial in partials(work, node):
                    if argument in tangent:
                        term = work.apply(Op.MUL, partial, tangent[argument])
                        total = term if total is None else work.apply(Op.ADD, total, term)
                if total is not None and total != work.zero:
                    tangent[node] = total
            columns[name].append([tangent.get(new[root], work.zero) for root in roots])
    return _finish(program, output, inputs, work, {name: list(zip(*columns[name], strict=True)) for name in inputs})


def reverse(program: Program, output: str, inputs: Sequence[str]) -> Program:
    """Derivatives carried back from each output number to everything it depends on."""
    work, new = _copy(program)
    order = live_nodes(work.graph, [new[root] for root in _nodes(program, output)])
    rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in inputs}
    for root in _nodes(program, output):
        adjoint = {new[root]: work.one}
        for node in reversed(order):
            if node not in adjoint:
                continue
            for argument, partial in partials(work, node):
                term = work.apply(Op.MUL, adjoint[node], partial)
                if term == work.zero:
                    continue
                adjoint[argument] = work.apply(Op.ADD, adjoint[argument], term) if argument in adjoint else term
        for name in inputs:
            rows[name].append(tuple(adjoint.get(new[place], work.zero) for place in _places(program.graph, name)))
    return _finish(program, output, inputs, work, rows)


def partials(work: Rewriter, node: int) -> list[Partial]:
    """The arguments of a node that its value changes with, each with the derivative by it."""
    rule = _PARTIALS.get(work.graph.ops[node])
    return [] if rule is None else rule(work, node, *work.graph.args[node])


def _finish(
    program: Program, output: str, inputs: Sequence[str], work: Rewriter, rows: Mapping[str, Sequence[tuple[int, ...]]]
) -> Program:
    shape = next(port.shape for port in program.outputs if port.name == output)
    shapes = {port.name: port.shape for port in program.graph.inputs}
    ports = tuple(Port(f"{output}_by_{name}", (*shape, *shapes[name])) for name in inputs)
    return compact(Program(work.graph, ports, tuple(tuple(x for row in rows[name] for x in row) for name in inputs)))


def _copy(program: Program) -> tuple[Rewriter, list[int]]:
    """The program's nodes in a graph of their own, and where each went."""
    source = program.graph
    work = Rewriter(Graph(source.inputs), Level.FULL)
    new = [-1] * len(source)
    for node in program.live():
        op, value = source.ops[node], source.values[node]
        if op is Op.INPUT:
            new[node] = work.graph.input_nodes[value]  # type: ignore[index]
        elif op is Op.CONSTANT:
            new[node] = work.graph.constant(value)  # type: ignore[arg-type]
        else:
            new[node] = work.apply(op, *[new[x] for x in source.args[node]])
    return work, new


def _nodes(program: Program, output: str) -> tuple[int, ...]:
    return program.results[[port.name for port in program.outputs].index(output)]


def _places(graph: Graph, name: str) -> list[int]:
    start = 0
    for port in graph.inputs:
        if port.name == name:
            return graph.input_nodes[start : start + port.size]
        start += port.size
    raise KeyError(name)


def _by_quotient(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
    inverse = w.apply(Op.DIV, w.one, y)
    return [(x, inverse), (y, w.apply(Op.NEG, w.apply(Op.MUL, node, inverse)))]


def _by_atan2(w: Rewriter, node: int, y: int, x: int) -> list[Partial]:
    square = w.apply(Op.ADD, w.apply(Op.MUL, x, x), w.apply(Op.MUL, y, y))
    return [(y, w.apply(Op.DIV, x, square)), (x, w.apply(Op.NEG, w.apply(Op.DIV, y, square)))]


def _by_choice(first: Callable[[Rewriter, int, int], int]) -> Callable[..., list[Partial]]:
    def rule(w: Rewriter, node: int, x: int, y: int) -> list[Partial]:
        chosen = first(w, x, y)
        return [(x, w.apply(Op.SELECT, chosen, w.one, w.zero)), (y, w.apply(Op.SELECT, chosen, w.zero, w.one))]

    return rule


_PARTIALS: dict[Op, Callable[..., list[Partial]]] = {
    Op.ADD: lambda w, node, x, y: [(x, w.one), (y, w.one)],
    Op.SUB: lambda w, node, x, y: [(x, w.one), (y, w.minus_one)],
    Op.MUL: lambda w, node, x, y: [(x, y), (y, x)],
    Op.DIV: _by_quotient,
    Op.NEG: lambda w, node, x: [(x, w.minus_one)],
    Op.SQRT: lambda w, node, x: [(x, w.apply(Op.DIV, w.graph.constant(0.5), node))],
    Op.SIN: lambda w, node, x: [(x, w.apply(Op.COS, x))],
    Op.COS: lambda w, node, x: [(x, w.apply(Op.NEG, w.apply(Op.SIN, x)))],
    Op.ATAN2: _by_atan2,
    Op.ABS: lambda w, node, x: [(x, w.apply(Op.SIGN, x))],
    Op.MIN: _by_choice(lambda w, x, y: w.apply(Op.GREATER, y, x)),
    Op.MAX: _by_choice(lambda w, x, y: w.apply(Op.GREATER, x, y)),
    Op.TANH: lambda w, node, x: [(x, w.apply(Op.SUB, w.one, w.apply(Op.MUL, node, node)))],
    Op.SELECT: lambda w, node, c, x, y: [
        (x, w.apply(Op.SELECT, c, w.one, w.zero)),
        (y, w.apply(Op.SELECT, c, w.zero, w.one)),
    ],
}
