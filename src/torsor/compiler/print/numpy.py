"""A program as Python source over NumPy: readable, batched, slow; the oracle for the other emitters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torsor.compiler.graph import ARITY, LIBRARY, Op, Port, Program
from torsor.compiler.print.names import Names, is_python_argument

_TEMPLATES = {
    Op.ADD: "{} + {}",
    Op.SUB: "{} - {}",
    Op.MUL: "{} * {}",
    Op.DIV: "{} / {}",
    Op.NEG: "-{}",
    Op.SQRT: "{np}.sqrt({})",
    Op.SIN: "{np}.sin({})",
    Op.COS: "{np}.cos({})",
    Op.ABS: "{np}.abs({})",
    Op.MIN: "{np}.minimum({}, {})",
    Op.MAX: "{np}.maximum({}, {})",
    Op.SIGN: "{np}.sign({})",
    Op.FLOOR: "{np}.floor({})",
    Op.GREATER: "{} > {}",
    Op.GREATER_EQUAL: "{} >= {}",
    Op.EQUAL: "{} == {}",
    Op.NOT: "{np}.logical_not({})",
    Op.AND: "{np}.logical_and({}, {})",
    Op.OR: "{np}.logical_or({}, {})",
    Op.SELECT: "{np}.where({}, {}, {})",
    **{op: f"{{np}}.{name}({', '.join(['{}'] * ARITY[op])})" for op, (_, name) in LIBRARY.items()},
}


def emit(program: Program, name: str = "kernel", library: str = "numpy") -> str:
    """Source of a function of the inputs (*batch, *shape) that returns a dict of the outputs."""
    program = program.written_out()
    graph = program.graph
    ports = graph.inputs
    names = Names(is_python_argument)
    inputs, _ = names.of_ports([port.name for port in ports])
    np, batch, results = (names.fresh(wish) for wish in ("np", "batch", "results"))
    t = names.numbered("t")
    lines = [f"import {library} as {np}", "", "", f"def {name}({', '.join(inputs)}):"]
    lines += [f"    {x} = {np}.asarray({x})" for x in inputs]
    values = dict(zip(graph.input_nodes, _places(inputs, ports), strict=True))
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = _number(graph.values[node], np)
        elif op is not Op.INPUT:
            text = _TEMPLATES[op].format(*(values[x] for x in graph.args[node]), np=np)
            lines.append(f"    {t}{node} = {text}")
            values[node] = f"{t}{node}"
    shapes = ", ".join(
        f"{np}.shape({x})[: {np}.ndim({x}) - {len(port.shape)}]" for x, port in zip(inputs, ports, strict=True)
    )
    lines.append(f"    {batch} = {np}.broadcast_shapes({shapes})")
    lines.append(f"    {results} = {{}}")
    for port, nodes in zip(program.outputs, program.results, strict=True):
        entries = ", ".join(f"{np}.broadcast_to({values[node]}, {batch})" for node in nodes)
        stacked = f"{np}.stack([{entries}], axis=-1)" if nodes else f"{np}.zeros((*{batch}, 0))"
        lines.append(f"    {results}[{port.name!r}] = {stacked}.reshape((*{batch}, *{port.shape!r}))")
    return "\n".join([*lines, f"    return {results}", ""])


def build(program: Program, library: str = "numpy") -> Callable[..., dict[str, Any]]:
    """The function itself; ``library`` may be another that answers as NumPy does, such as ``jax.numpy``."""
    seen: dict[str, Any] = {}
    exec(compile(emit(program, library=library), "<torsor kernel>", "exec"), seen)
    return seen["kernel"]  # type: ignore[no-any-return]


def _places(names: list[str], ports: tuple[Port, ...]) -> list[str]:
    places = []
    for name, port in zip(names, ports, strict=True):
        for k in range(port.size):
            index = []
            for size in reversed(port.shape):
                index.append(k % size)
                k //= size
            places.append(f"{name}[{', '.join(['...', *map(str, reversed(index))])}]")
    return places


def _number(value: float, np: str) -> str:
    if math.isfinite(value):
        return repr(value) if value >= 0 and not math.copysign(1.0, value) < 0 else f"({value!r})"
    return f"{np}.nan" if math.isnan(value) else f"{np}.inf" if value > 0 else f"(-{np}.inf)"
