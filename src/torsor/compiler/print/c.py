"""A program as C99: ``math.h`` only, no allocation, with a header and a self-test that carries its numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from torsor._text_files import write_text
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.graph import Port, Program
from torsor.compiler.print.c_body import Body, Functions, Place, number
from torsor.compiler.print.names import Names, is_free_in_c
from torsor.compiler.simplify import evaluate


class Sources(NamedTuple):
    """Header, implementation and self-test of one kernel, as text."""

    header: str
    source: str
    test: str


def emit(program: Program, name: str, real: str, example: Sequence[Any], expected: Sequence[Any]) -> Sources:
    """C sources of a program; ``real`` is "double" or "float"; ``example`` and ``expected`` go into the self-test."""
    names = _Named(program, name, real)
    source = f'#include "{name}.h"\n\n#include <math.h>\n\n{_functions(program, names)}'
    how = f'/* Self-test of {name}: cc -std=c99 {name}.c {name}_test.c -lm && ./a.out */\n#include "{name}.h"\n'
    test = f"{how}\n#include <math.h>\n#include <stdio.h>\n\n{_self_test(names, example, expected)}"
    return Sources(names.header(), source, test)


def emit_alone(
    program: Program, name: str, real: str, example: Sequence[Any], expected: Sequence[Any], about: Sequence[str]
) -> Sources:
    """The same with the self-test in the source, which needs no other file; ``about`` are lines for the comments of both."""
    names = _Named(program, name, real, about)
    how = f"/* Self-test: cc -std=c99 -D{names.test} {name}.c -lm && ./a.out */\n"
    source = f"{names.comment()}{how}#include <math.h>\n\n{names.signature};\n\n{_functions(program, names)}"
    test = _self_test(names, example, expected)
    return Sources(names.header(), f"{source}\n#ifdef {names.test}\n#include <stdio.h>\n\n{test}#endif\n", "")


def example_of(program: Program) -> tuple[list[Any], list[Any]]:
    """Numbers for a self-test: some inputs, and what comes of them, as flat arrays."""
    generator = np.random.default_rng(0)
    given = [generator.uniform(0.1, 1.0, port.shape) for port in program.graph.inputs]
    return [np.ravel(value) for value in given], [np.ravel(value) for value in evaluate(program, given)]


def write(sources: Sources, path: Path) -> list[Path]:
    """Write name.c, name.h and name_test.c beside each other; returns the paths."""
    paths = [path.with_suffix(".h"), path.with_suffix(".c"), path.with_name(f"{path.stem}_test.c")]
    for place, text in zip(paths, sources, strict=True):
        write_text("to_c", place, text)
    return paths


class _Named:
    """What a function, its arguments and all else in its files are called."""

    def __init__(self, program: Program, name: str, real: str, about: Sequence[str] = ()) -> None:
        refuse_unknown_word("real", real, ("double", "float"))
        self.name, self.real, self.about = name, real, about
        self.guard, self.test = f"{name.upper()}_H", f"{name.upper()}_TEST"
        self.given, self.made = program.graph.inputs, program.outputs
        self.names = Names(is_free_in_c, (name, self.guard, self.test))
        self.inputs, self.outputs = self.names.of_ports([p.name for p in self.given], [p.name for p in self.made])

    @property
    def signature(self) -> str:
        """The declaration of the function, without its semicolon."""
        inputs, outputs = zip(self.inputs, self.given, strict=True), zip(self.outputs, self.made, strict=True)
        arguments = [f"const {self._array(x, p)}" if p.shape else f"{self.real} {x}" for x, p in inputs]
        arguments += [self._array(x, p) if p.shape else f"{self.real} *{x}" for x, p in outputs]
        return f"void {self.name}({', '.join(arguments) or 'void'})"

    def _array(self, name: str, port: Port) -> str:
        return f"{self.real} {name}[{max(1, port.size)}]"

    def header(self) -> str:
        """The file by which other C, or C++, knows the function."""
        return (
            f'{self.comment()}#ifndef {self.guard}\n#define {self.guard}\n#ifdef __cplusplus\nextern "C" {{\n#endif\n\n'
            f"{self.signature};\n\n#ifdef __cplusplus\n}}\n#endif\n#endif\n"
        )

    def comment(self) -> str:
        """What the function does, and which arguments have other names than in Python."""
        said = f"{self.name}: {_shapes(self.given)} -> {_shapes(self.made)}. Arrays are row-major."
        said += "\n   Outputs are written last: they may be the arrays of inputs."
        for kind, names, ports in (("input", self.inputs, self.given), ("output", self.outputs, self.made)):
            for name, port in zip(names, ports, strict=True):
                if name != port.name:
                    said += f"\n   The {kind} {_said(port.name)} is called {name} in C."
        said += "".join(f"\n   {_text(line)}" for line in self.about)
        return f"/* {said} */\n"


def _shapes(ports: tuple[Port, ...]) -> str:
    return ", ".join(f"{_said(port.name)} {'x'.join(map(str, port.shape)) or '1'}" for port in ports)


def _said(name: str) -> str:
    """A name in a comment, without what could end it."""
    return re.sub(r"[^\w.]", "?", name)


def _text(line: str) -> str:
    """A line of a comment that cannot end it, or begin another; no trigraphs either."""
    plain = "".join(x if x.isprintable() else "_" for x in " ".join(line.split()))
    return plain.replace("*/", "*_").replace("/*", "/_").replace("??", "__")


def _functions(program: Program, names: _Named) -> str:
    """The functions that the program calls, then the one that it is."""
    places: list[Place | str] = []
    for x, port in zip(names.inputs, program.graph.inputs, strict=True):
        places += [Place(x, k) for k in range(port.size)] if port.shape else [x]
    others = Functions(names.real, names.names, names.name)
    body = Body(others, program, names.inputs, places, list(zip(names.outputs, program.results, strict=True)))
    return "\n".join([*others.texts, f"{names.signature}\n{{", *body.lines, "}", ""])


def _self_test(names: _Named, example: Sequence[Any], expected: Sequence[Any]) -> str:
    name, real, fresh = names.name, names.real, names.names.fresh
    tolerance = "1e-9" if real == "double" else "1e-3"
    wanted, k, bad = [fresh(f"{x}_expected") for x in names.outputs], fresh("k"), fresh("bad")
    lines, scalar = ["int main(void)\n{"], [not port.shape for port in names.given] + [False] * len(wanted)
    for x, numbers, alone in zip((*names.inputs, *wanted), (*example, *expected), scalar, strict=True):
        values = ", ".join(number(float(y), real) for y in numbers) or "0"
        lines.append(f"    const {real} {x} = {values};" if alone else f"    const {real} {x}[] = {{{values}}};")
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
