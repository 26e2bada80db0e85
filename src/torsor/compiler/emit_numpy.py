"""A program as Python source over NumPy: readable, batched, slow; the oracle for the other emitters."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from torsor.compiler.graph import Op, Port, Program

_TEMPLATES = {
    Op.ADD: "{} + {}",
    Op.SUB: "{} - {}",
    Op.MUL: "{} * {}",
    Op.DIV: "{} / {}",
    Op.NEG: "-{}",
    Op.SQRT: "np.sqrt({})",
    Op.SIN: "np.sin({})",
    Op.COS: "np.cos({})",
    Op.ATAN2: "np.arctan2({}, {})",
    Op.ABS: "np.abs({})",
    Op.MIN: "np.minimum({}, {})",
    Op.MAX: "np.maximum({}, {})",
    Op.SIGN: "np.sign({})",
    Op.TANH: "np.tanh({})",
    Op.GREATER: "{} > {}",
    Op.GREATER_EQUAL: "{} >= {}",
    Op.EQUAL: "{} == {}",
    Op.NOT: "np.logical_not({})",
    Op.AND: "np.logical_and({}, {})",
    Op.OR: "np.logical_or({}, {})",
    Op.SELECT: "np.where({}, {}, {})",
}


def emit(program: Program, name: str = "kernel", library: str = "numpy") -> str:
    """Source of a function of the inputs (*batch, *shape) that returns a dict of the outputs."""
    graph = program.graph
    ports = graph.inputs
    lines = [f"import {library} as np", "", "", f"def {name}({', '.join(port.name for port in ports)}):"]
    values: dict[int, str] = {}
    for node, place in zip(graph.input_nodes, _places(ports), strict=True):
        values[node] = place
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = _number(graph.values[node])  # type: ignore[arg-type]
        elif op is not Op.INPUT:
            lines.append(f"    t{node} = {_TEMPLATES[op].format(*(values[x] for x in graph.args[node]))}")
            values[node] = f"t{node}"
    shapes = ", ".join(f"np.shape({port.name})[: np.ndim({port.name}) - {len(port.shape)}]" for port in ports)
    lines.append(f"    batch = np.broadcast_shapes({shapes})")
    lines.append("    results = {}")
    for port, nodes in zip(program.outputs, program.results, strict=True):
        entries = ", ".join(f"np.broadcast_to({values[node]}, batch)" for node in nodes)
        lines.append(f"    results[{port.name!r}] = np.stack([{entries}], axis=-1).reshape((*batch, *{port.shape!r}))")
    return "\n".join([*lines, "    return results", ""])


def build(program: Program, library: str = "numpy") -> Callable[..., dict[str, Any]]:
    """The function itself; ``library`` may be another that answers as NumPy does, such as ``jax.numpy``."""
    seen: dict[str, Any] = {}
    exec(compile(emit(program, library=library), "<torsor kernel>", "exec"), seen)
    return seen["kernel"]  # type: ignore[no-any-return]


def _places(ports: tuple[Port, ...]) -> list[str]:
    places = []
    for port in ports:
        for k in range(port.size):
            index = []
            for size in reversed(port.shape):
                index.append(k % size)
                k //= size
            places.append(f"{port.name}[{', '.join(['...', *map(str, reversed(index))])}]")
    return places


def _number(value: float) -> str:
    if math.isfinite(value):
        return repr(value) if value >= 0 and not math.copysign(1.0, value) < 0 else f"({value!r})"
    return "np.nan" if math.isnan(value) else "np.inf" if value > 0 else "(-np.inf)"
