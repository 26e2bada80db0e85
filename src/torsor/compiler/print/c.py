"""A program as C99: straight-line, ``math.h`` only, no allocation, with a header and a self-test that carries its numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from torsor._text_files import write_text
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.graph import TRUTH_VALUED, Op, Port, Program
from torsor.compiler.print.names import Names, is_free_in_c

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


def emit(program: Program, name: str, real: str, example: Sequence[Any], expected: Sequence[Any]) -> Sources:
    """C sources of a program; ``real`` is "double" or "float"; ``example`` and ``expected`` go into the self-test."""
    refuse_unknown_word("real", real, ("double", "float"))
    names = _Named(program, name, real)
    guard = names.guard
    header = (
        f'{names.comment()}#ifndef {guard}\n#define {guard}\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
        f"{names.signature};\n\n#ifdef __cplusplus\n}}\n#endif\n#endif\n"
    )
    body = "\n".join(_body(program, real, names))
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{names.signature}\n{{\n{body}\n}}\n'
    return Sources(header, source, _self_test(names, example, expected))


def write(sources: Sources, path: Path) -> list[Path]:
    """Write name.c, name.h and name_test.c beside each other; returns the paths."""
    paths = [path.with_suffix(".h"), path.with_suffix(".c"), path.with_name(f"{path.stem}_test.c")]
    for place, text in zip(paths, sources, strict=True):
        write_text("to_c", place, text)
    return paths


class _Named:
    """What a function, its arguments and all else in its files are called."""

    def __init__(self, program: Program, name: str, real: str) -> None:
        self.name, self.real, self.guard = name, real, f"{name.upper()}_H"
        self.given, self.made = program.graph.inputs, program.outputs
        self.names = Names(is_free_in_c, (name, self.guard))
        self.inputs, self.outputs = self.names.of_ports([p.name for p in self.given], [p.name for p in self.made])

    @property
    def signature(self) -> str:
        """The function's declaration."""
        inputs = [f"const {self.real} {x}[{max(1, p.size)}]" for x, p in zip(self.inputs, self.given, strict=True)]
        outputs = [f"{self.real} {x}[{max(1, p.size)}]" for x, p in zip(self.outputs, self.made, strict=True)]
        return f"void {self.name}({', '.join([*inputs, *outputs]) or 'void'})"

    def comment(self) -> str:
        """What the function does, and which arguments have other names than in Python."""
        said = f"{self.name}: {_shapes(self.given)} -> {_shapes(self.made)}. Arrays are row-major."
        said += "\n   Outputs are written last: they may be the arrays of inputs."
        for kind, names, ports in (("input", self.inputs, self.given), ("output", self.outputs, self.made)):
            for name, port in zip(names, ports, strict=True):
                if name != port.name:
                    said += f"\n   The {kind} {_said(port.name)} is called {name} in C."
        return f"/* {said} */\n"


def _shapes(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{_said(port.name)} {'x'.join(map(str, port.shape)) or '1'}" for port in ports)


def _said(name: str) -> str:
    """A name in a comment, without what could end it."""
    return re.sub(r"[^\w.]", "?", name)


def _body(program: Program, real: str, names: _Named) -> list[str]:
    graph, f = program.graph, "f" if real == "float" else ""
    values: dict[int, str] = {}
    places = [f"{x}[{k}]" for x, port in zip(names.inputs, graph.inputs, strict=True) for k in range(port.size)]
    values.update(zip(graph.input_nodes, places, strict=True))
    live = program.live()
    lines = [f"    (void){x};" for x in _unused(program, live, names)]
    t, roots = names.names.numbered("t"), set(program.roots())
    for node in live:
        op = graph.ops[node]
        if op is Op.INPUT and node in roots:  # an output may be written over it
            lines.append(f"    const {real} {t}{node} = {values[node]};")
            values[node] = f"{t}{node}"
        elif op is Op.CONSTANT:
            values[node] = _number(graph.values[node], real)  # type: ignore[arg-type]
        elif op is not Op.INPUT:
            text = _TEMPLATES[op].format(*(values[x] for x in graph.args[node]), f=f)
            lines.append(f"    const {'int' if op in TRUTH_VALUED else real} {t}{node} = {text};")
            values[node] = f"{t}{node}"
    for x, nodes in zip(names.outputs, program.results, strict=True):
        lines += [f"    {x}[{k}] = {values[node]};" for k, node in enumerate(nodes)]
    return lines


def _unused(program: Program, live: Sequence[int], names: _Named) -> list[str]:
    """Arguments that the function does not touch, of which a compiler would warn."""
    graph, needed, start, found = program.graph, set(live), 0, []
    for x, port in zip(names.inputs, graph.inputs, strict=True):
        if needed.isdisjoint(graph.input_nodes[start : start + port.size]):
            found.append(x)
        start += port.size
    return found + [x for x, port in zip(names.outputs, program.outputs, strict=True) if not port.size]


def _number(value: float, real: str) -> str:
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(value) if real == "double" else f"{value:.9g}"
    text = text if "." in text or "e" in text else f"{text}.0"
    text = f"{text}f" if real == "float" else text
    return f"({text})" if text.startswith("-") else text


def _self_test(names: _Named, example: Sequence[Any], expected: Sequence[Any]) -> str:
    name, real, fresh = names.name, names.real, names.names.fresh
    tolerance = "1e-9" if real == "double" else "1e-3"
    wanted, k, bad = [fresh(f"{x}_expected") for x in names.outputs], fresh("k"), fresh("bad")
    lines = [
        f'/* Self-test of {name}: cc -std=c99 {name}.c {name}_test.c -lm && ./a.out */\n#include "{name}.h"\n',
        "#include <math.h>\n#include <stdio.h>\n\nint main(void)\n{",
    ]
    for x, numbers in zip((*names.inputs, *wanted), (*example, *expected), strict=True):
        lines.append(f"    const {real} {x}[] = {{{', '.join(_number(float(y), real) for y in numbers) or '0'}}};")
    for x, port in zip(names.outputs, names.made, strict=True):
        lines.append(f"    {real} {x}[{max(1, port.size)}];")
    lines.append(f"    int {bad} = 0;\n    {name}({', '.join([*names.inputs, *names.outputs])});")
    for x, want, port in zip(names.outputs, wanted, names.made, strict=True):
        x, want = f"{x}[{k}]", f"{want}[{k}]"
        close = f"{x} == {want} || fabs({x} - {want}) <= {tolerance} * (1 + fabs({want}))"
        close += f" || ({x} != {x} && {want} != {want})"
        lines.append(f"    for (int {k} = 0; {k} < {port.size}; {k}++) if (!({close})) {bad}++;")
    lines.append(f'    printf("{name}: %d wrong\\n", {bad});\n    return {bad} != 0;\n}}\n')
    return "\n".join(lines)
