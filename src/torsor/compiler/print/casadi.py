"""A program as a CasADi function: the same operations in the same order, as expressions of CasADi's symbols."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from itertools import product
from math import prod
from types import SimpleNamespace
from typing import Any

from torsor.compiler.graph import LIBRARY, OPERATORS, Op, Port, Program, none, replayed
from torsor.compiler.print.names import Names


def emit(casadi: Any, name: str, program: Program) -> Any:
    """A `casadi.Function` of symbols for all input numbers. CasADi's matrices are stored by columns, ports by rows."""
    ports, meaning = program.graph.inputs, _meaning(casadi)
    symbols = [casadi.SX.sym(port.name, *_rows_and_columns(port)) for port in ports]
    numbers = [matrix[place] for port, matrix in zip(ports, symbols, strict=True) for place in _places(port)]
    expressions = SimpleNamespace(constant=casadi.SX, apply=lambda op, *x: meaning[op](*x))
    found = iter(replayed(program, expressions, numbers, none))
    results = []
    for port in program.outputs:
        matrix = casadi.SX.zeros(*_rows_and_columns(port))  # dense, also where it is always zero
        for place in _places(port):
            matrix[place] = next(found)
        results.append(casadi.densify(matrix))
    names = Names(_is_free)
    inputs, outputs = names.of_ports([p.name for p in ports], [p.name for p in program.outputs])
    return casadi.Function(_function_name(name), symbols, results, inputs, outputs)


def _rows_and_columns(port: Port) -> tuple[int, int]:
    """A vector is a column; of more than two axes the first counts the rows."""
    return (port.shape[0], prod(port.shape[1:])) if port.shape else (1, 1)


def _places(port: Port) -> Iterator[tuple[int, ...]]:
    rows, columns = _rows_and_columns(port)
    return product(range(rows), range(columns))


def _meaning(casadi: Any) -> dict[Op, Callable[..., Any]]:
    choose = casadi.if_else
    return {
        **OPERATORS,
        **{op: getattr(casadi, op.name.lower()) for op in (Op.SQRT, Op.SIN, Op.COS, Op.SIGN, Op.FLOOR)},
        **{op: getattr(casadi, f"logic_{op.name.lower()}") for op in (Op.NOT, Op.AND, Op.OR)},
        Op.ABS: casadi.fabs,
        # CasADi's own fmin and fmax pass NaN over
        Op.MIN: lambda x, y: choose(x <= y, x, choose(y < x, y, x + y)),
        Op.MAX: lambda x, y: choose(x >= y, x, choose(y > x, y, x + y)),
        **{op: getattr(casadi, name) for op, (name, _) in LIBRARY.items() if op not in (Op.POW, Op.CBRT)},
        Op.POW: operator.pow,
        Op.CBRT: lambda x: casadi.sign(x) * casadi.fabs(x) ** (1.0 / 3.0),
        Op.SELECT: choose,
    }


def _is_free(name: str) -> bool:
    """Whether an input or output can have this name: ASCII letters, digits and single underscores between them."""
    return re.fullmatch(r"[A-Za-z](_?[A-Za-z0-9])*", name) is not None and name not in ("null", "jac", "hess")


def _function_name(name: str) -> str:
    """Letters, digits and single underscores, after a letter: what CasADi takes for the name of a function."""
    word = re.sub(r"_+", "_", re.sub(r"[^A-Za-z0-9]", "_", name)).strip("_")
    return word if _is_free(word) else f"kernel_{word}".rstrip("_")
