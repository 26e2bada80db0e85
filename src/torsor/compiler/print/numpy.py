"""A program as Python source over NumPy: readable, batched, slow; the oracle for the other emitters."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

from torsor.compiler.graph import ARITY, LIBRARY, WITH_SIGNS, Calls, Op, Port, Program
from torsor.compiler.print.names import Names, is_python_argument

_FUNCTIONS = {
    **{op: op.name.lower() for op in (Op.SQRT, Op.SIN, Op.COS, Op.ABS, Op.SIGN, Op.FLOOR)},
    **{op: f"logical_{op.name.lower()}" for op in (Op.NOT, Op.AND, Op.OR)},
    Op.MIN: "minimum",
    Op.MAX: "maximum",
    Op.SELECT: "where",
    **{op: name for op, (_, name) in LIBRARY.items()},
}
_CALLS = {op: f"{{np}}.{name}({', '.join(['{}'] * ARITY[op])})" for op, name in _FUNCTIONS.items()}
_TEMPLATES = WITH_SIGNS | _CALLS


def emit(program: Program, name: str = "kernel", library: str = "numpy") -> str:
    """Source of a function of the inputs (*batch, *shape) that returns a dict of the outputs.

    A program that is called row by row is a function, in a loop; products of matrices are written out: their sums have an order.
    """
    program = program.written_out(lambda block: isinstance(block, Calls))
    ports = program.graph.inputs
    names = Names(is_python_argument)
    inputs, _ = names.of_ports([port.name for port in ports])
    np, batch, results, rows = (names.fresh(wish) for wish in ("np", "batch", "results", "rows"))
    body = _Body(np, rows, names.numbered("called"), names.numbered("t"), {}, [])
    values = body.values(program, _places(inputs, ports))
    lines = [f"import {library} as {np}", ""]
    lines += [*ROWS.format(rows=rows).splitlines(), ""] if body.functions else []
    lines += [line for function in body.functions.values() for line in (*function, "")]
    lines += ["", f"def {name}({', '.join(inputs)}):", *(f"    {x} = {np}.asarray({x})" for x in inputs), *body.lines]
    ranks = [(x, len(port.shape)) for x, port in zip(inputs, ports, strict=True)]
    shapes = ", ".join(f"{np}.shape({x})[: {np}.ndim({x}) - {rank}]" for x, rank in ranks)
    lines.append(f"    {batch} = {np}.broadcast_shapes({shapes})")
    lines.append(f"    {results} = {{}}")
    for port, nodes in zip(program.outputs, program.results, strict=True):
        entries = ", ".join(f"{np}.broadcast_to({values[node]}, {batch})" for node in nodes)
        stacked = f"{np}.stack([{entries}], axis=-1)" if nodes else f"{np}.zeros((*{batch}, 0))"
        lines.append(f"    {results}[{port.name!r}] = {stacked}.reshape((*{batch}, *{port.shape!r}))")
    return "\n".join([*lines, f"    return {results}", ""])


ROWS = """
def {rows}(function, times, carried, numbers):
    state, own, made = numbers[:carried], numbers[carried:], []
    taken = len(own) // times
    for k in range(times):
        row = function(*state, *own[k * taken : (k + 1) * taken])
        made += row
        state = row[:carried]
    return made
"""


class _Body(NamedTuple):
    """The lines of a function, with the names that it uses; ``functions`` has the sources of programs called, by digest."""

    np: str
    rows: str
    called: str
    t: str
    functions: dict[str, list[str]]
    lines: list[str]

    def values(self, program: Program, inputs: list[str]) -> dict[int, str]:
        """Print a program, for its inputs as they are called here; the names of its nodes."""
        graph = program.graph
        values = dict(zip(graph.input_nodes, inputs, strict=True))
        for node in program.live():
            op, args = graph.ops[node], graph.args[node]
            if op is Op.CONSTANT:
                values[node] = _number(graph.values[node], self.np)
            elif op is Op.ENTRY:
                values[node] = f"{values[args[0]]}[{graph.values[node]}]"
            elif op is not Op.INPUT:
                given, is_block = [values[x] for x in args], op is Op.BLOCK
                text = self._rows(graph.values[node], given) if is_block else _TEMPLATES[op].format(*given, np=self.np)
                self.lines.append(f"    {self.t}{node} = {text}")
                values[node] = f"{self.t}{node}"
        return values

    def _rows(self, block: Calls, given: list[str]) -> str:
        """The call of a program for each of its rows."""
        key = block.program.digest()
        if key not in self.functions:
            name = f"{self.called}{len(self.functions)}"
            self.functions[key] = []  # its place, before those of functions that it calls
            inner = block.program.written_out(lambda block: isinstance(block, Calls))
            inputs = [f"x{k}" for k in range(len(inner.graph.input_nodes))]
            body = self._replace(lines=[])
            values = body.values(inner, inputs)
            found = ", ".join(values[node] for node in inner.roots())
            self.functions[key] = [f"def {name}({', '.join(inputs)}):", *body.lines, f"    return [{found}]", ""]
        number = list(self.functions).index(key)
        return f"{self.rows}({self.called}{number}, {block.times}, {block.carried}, [{', '.join(given)}])"


def build(program: Program, library: str = "numpy") -> Callable[..., dict[str, Any]]:
    """The function itself; ``library`` may be another that answers as NumPy does, such as ``jax.numpy``."""
    seen: dict[str, Any] = {}
    exec(compile(emit(program, library=library), "<torsor kernel>", "exec"), seen)
    return seen["kernel"]  # type: ignore[no-any-return]


def _places(names: list[str], ports: tuple[Port, ...]) -> list[str]:
    """The entries of all inputs."""
    return [
        f"{name}[{', '.join(['...', *map(str, place)])}]"
        for name, port in zip(names, ports, strict=True)
        for place in product(*map(range, port.shape))
    ]


def _number(value: float, np: str) -> str:
    if math.isfinite(value):
        return repr(value) if value >= 0 and not math.copysign(1.0, value) < 0 else f"({value!r})"
    return f"{np}.nan" if math.isnan(value) else f"{np}.inf" if value > 0 else f"(-{np}.inf)"
