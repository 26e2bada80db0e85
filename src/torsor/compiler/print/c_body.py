"""The lines of C functions: operations as constants of their own, blocks as loops over arrays.

A program that is called (`graph.Calls`) is a static function of an array of inputs that fills an array of outputs. What its rows
are given is found by the row's number where it lies evenly in an array, or in a table of constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from torsor.compiler.graph import ARITY, LIBRARY, TRUTH_VALUED, WITH_SIGNS, Block, Calls, Op, Product, Program, single
from torsor.compiler.print.names import Names

_TEMPLATES = {
    **WITH_SIGNS,
    **{op: f"{op.name.lower()}{{f}}({{}})" for op in (Op.SQRT, Op.SIN, Op.COS, Op.FLOOR)},
    Op.ABS: "fabs{f}({})",
    Op.MIN: "({0} < {1} || {0} != {0}) ? {0} : {1}",
    Op.MAX: "({0} > {1} || {0} != {0}) ? {0} : {1}",
    Op.SIGN: "({0} > 0) ? 1 : (({0} < 0) ? -1 : {0})",
    Op.NOT: "!{}",
    Op.AND: "{} && {}",
    Op.OR: "{} || {}",
    Op.SELECT: "{} ? {} : {}",
    **{op: f"{name}{{f}}({', '.join(['{}'] * ARITY[op])})" for op, (name, _) in LIBRARY.items()},
}
EVEN = 4  # numbers that lie evenly, from which on a loop copies them


class Place(NamedTuple):
    """An entry of an array."""

    array: str
    number: int


class Functions:
    """The static functions of one file, each printed once: those of programs that are called."""

    def __init__(self, real: str, names: Names, stem: str) -> None:
        self.real, self.f = real, "f" if real == "float" else ""
        self.names, self._stem, self._known = names, stem, dict[str, str]()
        self.texts: list[str] = []

    def name_of(self, program: Program) -> str:
        """The function of a program; it comes before those that call it."""
        key = program.digest()
        if key not in self._known:
            name = self.names.fresh(f"{self._stem}_part")
            x, y, size = self.names.fresh("x"), self.names.fresh("y"), len(program.graph.input_nodes)
            lines = Body(self, program, [x], [Place(x, k) for k in range(size)], [(y, program.roots())]).lines
            heading = f"static void {name}(const {self.real} *{x}, {self.real} *{y})"
            self.texts.append("\n".join([heading, "{", *lines, "}", ""]))
            self._known[key] = name
        return self._known[key]


class Body:
    """The lines of a function of ``inputs``, whose numbers stand in ``places``, which fills the arrays ``outputs`` with nodes.

    Outputs are written last, when all inputs have been read.
    """

    def __init__(
        self,
        functions: Functions,
        program: Program,
        inputs: Sequence[str],
        places: Sequence[Place | str],
        outputs: Sequence[tuple[str, Sequence[int]]],
    ) -> None:
        self._functions, self._graph = functions, program.graph
        self._t, self._b, self._c, self._w, self._k = (functions.names.numbered(x) for x in "tbcwk")
        self._places: dict[int, Place | str] = dict(zip(program.graph.input_nodes, places, strict=True))
        self._tables: dict[tuple[float, ...], str] = {}
        self._lines: list[str] = []
        roots, live = set(program.roots()), set(program.live())
        touched = [self._places[node] for node in program.graph.input_nodes if node in live]
        used = {place.array if isinstance(place, Place) else place for place in touched}
        used |= {name for name, nodes in outputs if nodes}
        # A compiler would warn of arguments that are not touched
        self._unused = [f"    (void){x};" for x in (*inputs, *(name for name, _ in outputs)) if x not in used]
        for node in program.live():
            self._add(node, node in roots)
        for name, nodes in outputs:
            self._lines += self._output(name, nodes)

    @property
    def lines(self) -> list[str]:
        """All lines, tables of constants first."""
        real, number = self._functions.real, self._number
        tables = [(name, ", ".join(map(number, values))) for values, name in self._tables.items()]
        return [
            *self._unused,
            *(f"    static const {real} {name}[] = {{{values}}};" for name, values in tables),
            *self._lines,
        ]

    def _add(self, node: int, is_root: bool) -> None:
        graph, real = self._graph, self._functions.real
        op, args, own = graph.ops[node], graph.args[node], f"{self._t}{node}"
        if op is Op.CONSTANT:
            self._places[node] = self._number(graph.values[node])
        elif op is Op.BLOCK:
            self._lines += self._block(node, graph.values[node])
        elif op is Op.ENTRY:
            self._places[node] = Place(f"{self._b}{args[0]}", graph.values[node])
        elif op is not Op.INPUT:
            text = _TEMPLATES[op].format(*map(self._text, args), f=self._functions.f)
            self._lines.append(f"    const {'int' if op in TRUTH_VALUED else real} {own} = {text};")
            self._places[node] = own
        elif is_root:  # an output may be written over it
            self._lines.append(f"    const {real} {own} = {self._text(node)};")
            self._places[node] = own

    def _block(self, node: int, block: Block) -> Iterator[str]:
        yield f"    {self._functions.real} {self._b}{node}[{max(1, block.size)}];"
        yield from self._product(node, block) if isinstance(block, Product) else self._calls(node, block)

    def _product(self, node: int, block: Product) -> Iterator[str]:
        real, (n, k, m), args = self._functions.real, block, self._graph.args[node]
        A, B = f"{self._w}{node}", f"{self._w}{node}_2"
        for name, nodes in ((A, args[: n * k]), (B, args[n * k :])):
            yield f"    {real} {name}[{max(1, len(nodes))}];"
            yield from self._output(name, nodes)
        i, j, h = (f"{self._k}{node}{x}" for x in ("", "_2", "_3"))
        yield f"    for (int {i} = 0; {i} < {n}; {i}++) for (int {j} = 0; {j} < {m}; {j}++) {{"
        total = f"{self._t}{node}"
        yield f"        {real} {total} = {self._number(0.0)};"
        yield f"        for (int {h} = 0; {h} < {k}; {h}++) {total} += {A}[{i} * {k} + {h}] * {B}[{h} * {m} + {j}];"
        yield f"        {self._b}{node}[{i} * {m} + {j}] = {total};\n    }}"

    def _calls(self, node: int, block: Calls) -> Iterator[str]:
        real, args, carried, taken = self._functions.real, self._graph.args[node], block.carried, block.taken
        x, y, k = (f"{letter}{node}" for letter in (self._w, self._b, self._k))
        name, given = self._functions.name_of(block.program), block.size // block.times
        yield f"    {real} {x}[{max(1, carried + taken)}];"
        yield from self._output(x, args[:carried])
        rows = args[carried:]
        loop = []
        for column in range(taken):
            nodes = rows[column::taken]
            entry = self._evenly(nodes, k)
            if entry is None:
                entry, all_of_it = f"{x}_{column}[{k}]", ", ".join(map(self._text, nodes))
                yield f"    const {real} {x}_{column}[] = {{{all_of_it}}};"
            loop.append(f"        {x}[{carried + column}] = {entry};")
        yield f"    for (int {k} = 0; {k} < {block.times}; {k}++) {{"
        yield from loop
        yield f"        {name}({x}, {y} + {given} * {k});"
        if carried:
            j = f"{k}_2"
            yield f"        for (int {j} = 0; {j} < {carried}; {j}++) {x}[{j}] = {y}[{given} * {k} + {j}];"
        yield "    }"

    def _output(self, name: str, nodes: Sequence[int]) -> Iterator[str]:
        """Assign nodes to the entries of an array; those that lie evenly, in a loop."""
        start, k = 0, f"{self._k}0"
        while start < len(nodes):
            step = self._step(nodes[start : start + 2])
            end = start + 1
            while step is not None and end < len(nodes) and self._step(nodes[end - 1 : end + 1]) == step:
                end += 1
            if end - start < EVEN:
                yield f"    {name}[{start}] = {self._text(nodes[start])};"
                start += 1
                continue
            place = f"{name}[{start} + {k}]" if start else f"{name}[{k}]"
            yield f"    for (int {k} = 0; {k} < {end - start}; {k}++) {place} = {self._evenly(nodes[start:end], k)};"
            start = end

    def _evenly(self, nodes: Sequence[int], k: str) -> str | None:
        """Number k of some nodes, if they lie evenly in an array or are constants."""
        ops, values = self._graph.ops, self._graph.values
        if len(set(nodes)) == 1:
            return self._text(nodes[0])
        if all(ops[x] is Op.CONSTANT for x in nodes):
            column = tuple(values[x] for x in nodes)
            if column[::-1] in self._tables:
                return f"{self._tables[column[::-1]]}[{len(column) - 1} - {k}]"
            return f"{self._tables.setdefault(column, f'{self._c}{len(self._tables)}')}[{k}]"
        if (step := self._step(nodes)) is None:
            return None
        first = self._places[nodes[0]]
        assert isinstance(first, Place)
        way = f"{abs(step)} * {k}" if abs(step) > 1 else k
        start = f"{first.number} " if first.number or step < 0 else ""
        return f"{first.array}[{start}{'- ' if step < 0 else '+ ' if start else ''}{way}]"

    def _step(self, nodes: Sequence[int]) -> int | None:
        """By how much the places of nodes in one array differ, if always by the same."""
        found = [place for x in nodes if isinstance(place := self._places[x], Place)]
        if len(found) < len(nodes) or len({place.array for place in found}) > 1:
            return None
        steps = {b.number - a.number for a, b in pairwise(found)}
        return steps.pop() if len(steps) == 1 else None

    def _text(self, node: int) -> str:
        place = self._places[node]
        return f"{place.array}[{place.number}]" if isinstance(place, Place) else place

    def _number(self, value: float) -> str:
        return number(value, self._functions.real)


def number(value: float, real: str) -> str:
    """A number as C has it, in brackets if it is negative."""
    if not math.isfinite(value):
        return "NAN" if math.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(value) if real == "double" else f"{single(value):.9g}"
    text = text if "." in text or "e" in text else f"{text}.0"
    text = f"{text}f" if real == "float" else text
    return f"({text})" if text.startswith("-") else text
