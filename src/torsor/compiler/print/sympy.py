"""A program as SymPy expressions, for small robots: equations one can read."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from torsor.compiler.graph import LIBRARY, OPERATORS, Op, Program


def emit(program: Program) -> dict[str, Any]:
    """Outputs by name: a SymPy expression (shape ()), or an array of them. Input numbers are symbols q_0, q_1, …

    A program answers with NaN where a result is not defined, by a pivot of M that is not positive, say; the expression is the
    one for where it is.
    """
    import sympy

    program = program.written_out()
    graph = program.graph
    symbols = [sympy.Symbol(name, real=True) for name in _symbols(program)]
    values = dict(zip(graph.input_nodes, symbols, strict=True))
    meaning = _meaning(sympy)
    for node, args in _where_defined(program).items():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = _number(sympy, graph.values[node])
        elif op is Op.SELECT and len(args) == 1:
            values[node] = values[args[0]]
        elif op is not Op.INPUT:
            values[node] = meaning[op](*(values[x] for x in args))
    results = {}
    for port, nodes in zip(program.outputs, program.results, strict=True):
        entries = [values[node] for node in nodes]
        results[port.name] = entries[0] if not port.shape else sympy.ImmutableDenseNDimArray(entries, port.shape)
    return results


def _symbols(program: Program) -> list[str]:
    """A name for each input number: that of a scalar, else with its place behind, after one _ or as many as it takes."""
    ports = program.graph.inputs
    taken = {port.name for port in ports if not port.shape}
    found: list[str] = []
    for port in ports:
        join = "_"
        while taken & {f"{port.name}{join}{k}" for k in range(port.size)}:
            join += "_"
        names = [f"{port.name}{join}{k}" for k in range(port.size)] if port.shape else [port.name]
        taken.update(names)
        found += names
    return found


def _where_defined(program: Program) -> dict[int, tuple[int, ...]]:
    """The nodes that outputs need where they are defined, in order, with what they are made of.

    A choice between a value and NaN is made of the value alone: how it is decided, by how far rounding reaches, is not
    needed, and SymPy would try for seconds to decide it.
    """
    graph, needed = program.graph, set(program.roots())
    found: dict[int, tuple[int, ...]] = {}

    def is_nan(node: int) -> bool:
        return graph.ops[node] is Op.CONSTANT and math.isnan(graph.values[node])

    for node in range(len(graph) - 1, -1, -1):
        if node in needed:
            args = graph.args[node]
            if graph.ops[node] is Op.SELECT and sum(map(is_nan, args[1:])) == 1:
                args = tuple(x for x in args[1:] if not is_nan(x))
            found[node] = args
            needed.update(args)
    return dict(reversed(found.items()))


def _number(sympy: Any, value: float) -> Any:
    """Whole numbers and fractions such as 1/2 and 3/8 exactly, everything else as the decimal it is."""
    if not math.isfinite(value):
        return sympy.nan if math.isnan(value) else sympy.oo if value > 0 else -sympy.oo
    top, bottom = value.as_integer_ratio()
    return sympy.Rational(top, bottom) if abs(top) < _EXACT and bottom <= _SIMPLE else sympy.Float(value)


_EXACT, _SIMPLE = 10**6, 1024  # up to which numerators and denominators are easy to read


def _meaning(sympy: Any) -> dict[Op, Callable[..., Any]]:
    return {
        **OPERATORS,
        Op.EQUAL: sympy.Eq,
        **{op: getattr(sympy, op.name.lower()) for op in (Op.SQRT, Op.SIN, Op.COS, Op.SIGN, Op.FLOOR)},
        **{op: getattr(sympy, op.name.title()) for op in (Op.ABS, Op.MIN, Op.MAX, Op.NOT, Op.AND, Op.OR)},
        **{op: getattr(sympy, name) for op, (name, _) in LIBRARY.items() if hasattr(sympy, name)},
        Op.EXPM1: lambda x: sympy.exp(x) - 1,
        Op.LOG1P: lambda x: sympy.log(1 + x),
        Op.POW: operator.pow,
        Op.CBRT: lambda x: sympy.sign(x) * sympy.Abs(x) ** sympy.Rational(1, 3),
        Op.HYPOT: lambda x, y: sympy.sqrt(x**2 + y**2),
        Op.FMOD: lambda x, y: sympy.sign(x) * sympy.Mod(sympy.Abs(x), sympy.Abs(y)),
        Op.SELECT: lambda c, x, y: sympy.Piecewise((x, c), (y, True)),
    }
