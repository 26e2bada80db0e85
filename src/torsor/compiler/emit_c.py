"""A program as C99: straight-line, ``math.h`` only, no allocation, with a header and a self-test that carries its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from torsor.compiler.graph import TRUTH_VALUED, Op, Port, Program
from torsor.errors import TorsorError

_TEMPLATES = {
    Op.ADD: "{} + {}",
    Op.SUB: "{} - {}",
    Op.MUL: "{} * {}",
    Op.DIV: "{} / {}",
    Op.NEG: "-{}",
    Op.SQRT: "sqrt{f}({})",
    Op.SIN: "sin{f}({})",
    Op.COS: "cos{f}({})",
    Op.ATAN2: "atan2{f}({}, {})",
    Op.ABS: "fabs{f}({})",
    Op.MIN: "({0} < {1} || {0} != {0}) ? {0} : {1}",
    Op.MAX: "({0} > {1} || {0} != {0}) ? {0} : {1}",
    Op.SIGN: "({0} > 0) ? 1 : (({0} < 0) ? -1 : {0})",
    Op.TANH: "tanh{f}({})",
    Op.GREATER: "{} > {}",
    Op.GREATER_EQUAL: "{} >= {}",
    Op.EQUAL: "{} == {}",
    Op.NOT: "!{}",
    Op.AND: "{} && {}",
    Op.OR: "{} || {}",
    Op.SELECT: "{} ? {} : {}",
}


class Sources(NamedTuple):
    """Header, implementation and self-test of one kernel, as text."""

    header: str
    source: str
    test: str


def emit(program: Program, name: str, real: str, example: Mapping[str, Any], expected: Mapping[str, Any]) -> Sources:
    """C sources of a program; ``real`` is "double" or "float"; ``example`` and ``expected`` go into the self-test."""
    if real not in ("double", "float"):
        raise TorsorError(f"to_c: real must be 'double' or 'float', got {real!r}.")
    signature = f"void {name}({_arguments(program, real)})"
    guard = f"{name.upper()}_H"
    header = (
        f"/* {name}: {_ports(program.graph.inputs)} -> {_ports(program.outputs)}. Arrays are row-major; outputs are written. */\n"
        f'#ifndef {guard}\n#define {guard}\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n{signature};\n\n'
        f"#ifdef __cplusplus\n}}\n#endif\n#endif\n"
    )
    body = "\n".join(_body(program, real))
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{signature}\n{{\n{body}\n}}\n'
    return Sources(header, source, _self_test(program, name, real, example, expected))


def write(sources: Sources, path: Path) -> list[Path]:
    """Write name.c, name.h and name_test.c beside each other; returns the paths."""
    paths = [path.with_suffix(".h"), path.with_suffix(".c"), path.with_name(f"{path.stem}_test.c")]
    for place, text in zip(paths, sources, strict=True):
        place.write_text(text)
    return paths


def valid_name(path: Path) -> str:
    """The C identifier that a file name stands for."""
    if not re.fullmatch(r"[A-Za-z_]\w*", path.stem):
        raise TorsorError(f"to_c: the file name gives the function its name; {path.stem!r} is no C identifier.")
    return path.stem


def _arguments(program: Program, real: str) -> str:
    inputs = [f"const {real} {port.name}[{max(1, port.size)}]" for port in program.graph.inputs]
    return ", ".join([*inputs, *(f"{real} {port.name}[{max(1, port.size)}]" for port in program.outputs)])


def _ports(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{port.name} {'x'.join(map(str, port.shape)) or '1'}" for port in ports)


def _body(program: Program, real: str) -> list[str]:
    graph, f = program.graph, "f" if real == "float" else ""
    values: dict[int, str] = {}
    places = [f"{port.name}[{k}]" for port in graph.inputs for k in range(port.size)]
    values.update(zip(graph.input_nodes, places, strict=True))
    lines = []
    for node in program.live():
        op = graph.ops[node]
        if op is Op.CONSTANT:
            values[node] = _number(graph.values[node], real)  # type: ignore[arg-type]
        elif op is not Op.INPUT:
            text = _TEMPLATES[op].format(*(values[x] for x in graph.args[node]), f=f)
            lines.append(f"    const {'int' if op in TRUTH_VALUED else real} t{node} = {text};")
            values[node] = f"t{node}"
    for port, nodes in zip(program.outputs, program.results, strict=True):
        lines += [f"    {port.name}[{k}] = {values[node]};" for k, node in enumerate(nodes)]
    return lines


def _number(value: float, real: str) -> str:
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(value) if real == "double" else f"{value:.9g}"
    text = text if "." in text or "e" in text else f"{text}.0"
    text = f"{text}f" if real == "float" else text
    return f"({text})" if text.startswith("-") else text


def _self_test(program: Program, name: str, real: str, example: Mapping[str, Any], expected: Mapping[str, Any]) -> str:
    tolerance = "1e-9" if real == "double" else "1e-3"
    lines = [
        f'/* Self-test of {name}: cc -std=c99 {name}.c {name}_test.c -lm && ./a.out */\n#include "{name}.h"\n',
        "#include <math.h>\n#include <stdio.h>\n\nint main(void)\n{",
    ]
    for port in program.graph.inputs:
        lines.append(f"    const {real} {port.name}[] = {{{_list(example[port.name], real)}}};")
    for port in program.outputs:
        lines.append(f"    const {real} {port.name}_expected[] = {{{_list(expected[port.name], real)}}};")
        lines.append(f"    {real} {port.name}[{max(1, port.size)}];")
    names = ", ".join(port.name for port in (*program.graph.inputs, *program.outputs))
    lines.append(f"    int k, bad = 0;\n    {name}({names});")
    for port in program.outputs:
        got, want = f"{port.name}[k]", f"{port.name}_expected[k]"
        close = f"{got} == {want} || fabs({got} - {want}) <= {tolerance} * (1 + fabs({want}))"
        close += f" || ({got} != {got} && {want} != {want})"
        lines.append(f"    for (k = 0; k < {port.size}; k++) if (!({close})) bad++;")
    lines.append(f'    printf("{name}: %d wrong\\n", bad);\n    return bad != 0;\n}}\n')
    return "\n".join(lines)


def _list(values: Any, real: str) -> str:
    return ", ".join(_number(float(x), real) for x in values)
