"""A program as SymPy expressions, for small robots: equations one can read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torsor.compiler.graph import Op, Program


def emit(program: Program) -> dict[str, Any]:
    """Outputs by name: a SymPy expression (shape ()), or an array of them. Input numbers are symbols q_0, q_1, …"""
    import sympy

    graph = program.graph
    values: dict[int, Any] = {}
    names = [port.name if not port.shape else f"{port.name}_{k}" for port in graph.inputs for k in range(port.size)]
    for node, name in zip(graph.input_nodes, names, strict=True):
        values[node] = sympy.Symbol(name, real=True)
    meaning = _meaning(sympy)
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = _number(sympy, graph.values[node])  # type: ignore[arg-type]
        elif op is not Op.INPUT:
            values[node] = meaning[op](*(values[x] for x in graph.args[node]))
    results = {}
    for port, nodes in zip(program.outputs, program.results, strict=True):
        entries = [values[node] for node in nodes]
        results[port.name] = entries[0] if not port.shape else sympy.ImmutableDenseNDimArray(entries, port.shape)
    return results


def _number(sympy: Any, value: float) -> Any:
    """Whole numbers and simple fractions exactly, everything else as the decimal it is."""
    return sympy.Integer(int(value)) if value == int(value) else sympy.Float(value)


def _meaning(sympy: Any) -> dict[Op, Callable[..., Any]]:
    return {
        Op.ADD: lambda x, y: x + y,
        Op.SUB: lambda x, y: x - y,
        Op.MUL: lambda x, y: x * y,
        Op.DIV: lambda x, y: x / y,
        Op.NEG: lambda x: -x,
        Op.SQRT: sympy.sqrt,
        Op.SIN: sympy.sin,
        Op.COS: sympy.cos,
        Op.ATAN2: sympy.atan2,
        Op.ABS: sympy.Abs,
        Op.MIN: sympy.Min,
        Op.MAX: sympy.Max,
        Op.SIGN: sympy.sign,
        Op.TANH: sympy.tanh,
        Op.GREATER: sympy.Gt,
        Op.GREATER_EQUAL: sympy.Ge,
        Op.EQUAL: sympy.Eq,
        Op.NOT: sympy.Not,
        Op.AND: sympy.And,
        Op.OR: sympy.Or,
        Op.SELECT: lambda c, x, y: sympy.Piecewise((x, c), (y, True)),
    }
