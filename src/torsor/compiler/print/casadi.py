"""A program as a CasADi function: the same operations in the same order, as expressions of CasADi's symbols."""

from __future__ import annotations

import re
from collections.abc import Callable
from math import prod
from typing import Any

from torsor.compiler.graph import LIBRARY, Op, Port, Program
from torsor.compiler.print.names import Names


def emit(casadi: Any, name: str, program: Program) -> Any:
    """A `casadi.Function` of symbols for all input numbers. CasADi's matrices are stored by columns, ports by rows."""
    program = program.written_out()
    graph = program.graph
    symbols = [casadi.SX.sym(port.name, *_rows_and_columns(port)) for port in graph.inputs]
    values: dict[int, Any] = {}
    numbers = iter(graph.input_nodes)
    for port, matrix in zip(graph.inputs, symbols, strict=True):
        _, columns = _rows_and_columns(port)
        for k in range(port.size):
            values[next(numbers)] = matrix[k // columns, k % columns]
    meaning = _meaning(casadi)
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = casadi.SX(graph.values[node])
        elif op is not Op.INPUT:
            values[node] = meaning[op](*(values[x] for x in graph.args[node]))
    results = []
    for port, nodes in zip(program.outputs, program.results, strict=True):
        rows, columns = _rows_and_columns(port)
        matrix = casadi.SX.zeros(rows, columns)  # dense, also where it is always zero
        for k, node in enumerate(nodes):
            matrix[k // columns, k % columns] = values[node]
        results.append(casadi.densify(matrix))
    names = Names(_is_free)
    inputs, outputs = names.of_ports([p.name for p in graph.inputs], [p.name for p in program.outputs])
    return casadi.Function(_function_name(name), symbols, results, inputs, outputs)


def _rows_and_columns(port: Port) -> tuple[int, int]:
    """A vector is a column; of more than two axes the first counts the rows."""
    return (port.shape[0], prod(port.shape[1:])) if port.shape else (1, 1)


def _meaning(casadi: Any) -> dict[Op, Callable[..., Any]]:
    choose = casadi.if_else
    return {
        Op.ADD: lambda x, y: x + y,
        Op.SUB: lambda x, y: x - y,
        Op.MUL: lambda x, y: x * y,
        Op.DIV: lambda x, y: x / y,
        Op.NEG: lambda x: -x,
        Op.SQRT: casadi.sqrt,
        Op.SIN: casadi.sin,
        Op.COS: casadi.cos,
        Op.ABS: casadi.fabs,
        # CasADi's own fmin and fmax pass NaN over
        Op.MIN: lambda x, y: choose(x <= y, x, choose(y < x, y, x + y)),
        Op.MAX: lambda x, y: choose(x >= y, x, choose(y > x, y, x + y)),
        Op.SIGN: casadi.sign,
        **{op: getattr(casadi, name) for op, (name, _) in LIBRARY.items() if op not in (Op.POW, Op.CBRT)},
        Op.POW: lambda x, y: x**y,
        Op.CBRT: lambda x: casadi.sign(x) * casadi.fabs(x) ** (1.0 / 3.0),
        Op.FLOOR: casadi.floor,
        Op.GREATER: lambda x, y: x > y,
        Op.GREATER_EQUAL: lambda x, y: x >= y,
        Op.EQUAL: lambda x, y: x == y,
        Op.NOT: casadi.logic_not,
        Op.AND: casadi.logic_and,
        Op.OR: casadi.logic_or,
        Op.SELECT: choose,
    }


def _is_free(name: str) -> bool:
    """Whether an input or output can have this name: ASCII letters, digits and single underscores between them."""
    return re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name) is not None and name not in ("null", "jac", "hess")


def _function_name(name: str) -> str:
    """Letters, digits and single underscores, after a letter: what CasADi takes for the name of a function."""
    word = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_")
    return word if _is_free(word) else f"kernel_{word}".rstrip("_")
