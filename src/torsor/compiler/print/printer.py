"""Nodes as LLVM instructions, on scalars or on vectors, by the same code and in the same order: equal to the bit.

Products that feed a sum are contracted here (`fma`), and nowhere else; no fast-math flag is used.
"""

from __future__ import annotations

import copy
import functools
import struct
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from itertools import chain, count
from typing import NamedTuple

from torsor.compiler.graph import BLOCKS, LIBRARY, TRUTH_VALUED, Op, Program, single


class Target(NamedTuple):
    """What the machine offers: lanes of a vector register for doubles, fused multiply-add, vector register bits."""

    bits: int
    fma: bool

    def lanes(self, element: str) -> int:
        """How many numbers of a type fit into one vector."""
        return self.bits // (64 if element == "double" else 32)


class Printer:
    """Prints the nodes of a program for one width; values are IR names."""

    def __init__(self, program: Program, element: str, lanes: int, target: Target) -> None:
        self.program = program
        self.element = element
        self.fma = target.fma
        self.widest = target.lanes(element)
        self._set_lanes(lanes)
        self.tables = _DOUBLE if element == "double" else _SINGLE
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self._fresh = count()
        self._sine_and_cosine: str | None = None  # the function that computes both, if there is one
        self._near: list[str] | None = None  # where lanes may have sines of their own: which lanes have

    def _set_lanes(self, lanes: int) -> None:
        self.lanes = lanes
        self._intrinsics: set[str] = set()  # those declared
        self.type = self.element if lanes == 1 else f"<{lanes} x {self.element}>"
        self.truth = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self.suffix = _suffix(self.element, lanes)

    def with_lanes(self, lanes: int) -> Printer:
        """One that adds to the same lines values of another width."""
        other = copy.copy(self)
        other._set_lanes(lanes)
        return other

    def in_piece(self, program: Program, lanes: int, sine_and_cosine: str) -> Printer:
        """One that prints a function of its own, which calls one for sines."""
        other = self.with_lanes(lanes)
        other.program, other.lines, other._sine_and_cosine = program, ["entry:"], sine_and_cosine
        return other

    # Pieces of IR

    def line(self, text: str) -> str:
        """A new value defined by ``text``."""
        name = f"%t{next(self._fresh)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def number(self, value: float) -> str:
        """A constant of the working type."""
        literal = hexadecimal(value, self.element)
        return literal if self.lanes == 1 else f"splat ({self.element} {literal})"

    def call(self, name: str, *args: str) -> str:
        """A call of an intrinsic on values of the working type."""
        full = f"@llvm.{name}.{self.suffix}"
        if name not in self._intrinsics:
            self._intrinsics.add(name)
            self.declared.add(f"declare {self.type} {full}({', '.join([self.type] * len(args))})")
        return self.line(f"call {self.type} {full}({self.type} {f', {self.type} '.join(args)})")

    def binary(self, operation: str, x: str, y: str) -> str:
        """An arithmetic instruction."""
        return self.line(f"{operation} {self.type} {x}, {y}")

    def negate(self, x: str) -> str:
        """−x."""
        return self.line(f"fneg {self.type} {x}")

    def multiply_add(self, x: str, y: str, z: str) -> str:
        """x y + z, rounded once where the machine can."""
        if self.fma:
            return self.call("fma", x, y, z)
        return self.binary("fadd", self.binary("fmul", x, y), z)

    def compare(self, how: str, x: str, y: str) -> str:
        """A comparison, false if an operand is NaN."""
        return self.line(f"fcmp {how} {self.type} {x}, {y}")

    def select(self, condition: str, x: str, y: str) -> str:
        """x where the condition holds, else y."""
        return self.line(f"select {self.truth} {condition}, {self.type} {x}, {self.type} {y}")

    def library(self, name: str, *args: str) -> str:
        """A function of the C library, lane by lane."""
        function = name if self.element == "double" else f"{name}f"
        signature = ", ".join([self.element] * len(args))
        self.declared.add(f"declare {self.element} @{function}({signature})")
        if self.lanes == 1:
            return self.line(f"call {self.element} @{function}({', '.join(f'{self.element} {x}' for x in args)})")
        result = "poison"
        for lane in range(self.lanes):
            parts = [self.line(f"extractelement {self.type} {x}, i32 {lane}") for x in args]
            value = self.line(f"call {self.element} @{function}({', '.join(f'{self.element} {x}' for x in parts)})")
            result = self.line(f"insertelement {self.type} {result}, {self.element} {value}, i32 {lane}")
        return result

    # Nodes

    def nodes(self, nodes: Sequence[int], values: dict[int, str], folded: Set[int]) -> None:
        """Print ``nodes`` in order; ``values`` holds the names of what they need and receives theirs.

        ``folded`` products are printed with the sum they belong to.
        """
        graph = self.program.graph
        trigonometry: dict[int, tuple[str, str]] = {}
        for node in nodes:
            op, args = graph.ops[node], graph.args[node]
            if op is Op.INPUT or node in folded:
                continue
            if op is Op.MUL:
                values[node] = self.binary("fmul", values[args[0]], values[args[1]])
            elif op is Op.ADD or op is Op.SUB:
                values[node] = self._sum(op, args[0], args[1], values, folded)
            elif op is Op.CONSTANT:
                values[node] = self.number(graph.values[node])
            elif op in (Op.SIN, Op.COS):
                if args[0] not in trigonometry:
                    trigonometry[args[0]] = self.sine_and_cosine(values[args[0]])
                values[node] = trigonometry[args[0]][op is Op.COS]
            else:
                values[node] = _PRINTERS[op](self, *[values[x] for x in args])

    def _sum(self, op: Op, x: int, y: int, values: dict[int, str], folded: Set[int]) -> str:
        args = self.program.graph.args
        if y in folded:
            a, b = args[y]
            first, second = values[a], values[b]
            return self.multiply_add(self.negate(first) if op is Op.SUB else first, second, values[x])
        if x in folded:
            a, b = args[x]
            first, second = values[a], values[b]
            return self.multiply_add(first, second, self.negate(values[y]) if op is Op.SUB else values[y])
        return self.binary("fadd" if op is Op.ADD else "fsub", values[x], values[y])

    def shared_sine_and_cosine(self, name: str, attributes: str) -> Iterator[str]:
        """A function that computes both, which is called from now on: in long programs a call is compiled many times sooner."""
        self.lines = ["entry:"]
        sine, cosine = self.sine_and_cosine("%x")
        pair = f"{{{self.type}, {self.type}}}"
        one = self.line(f"insertvalue {pair} poison, {self.type} {sine}, 0")
        both = self.line(f"insertvalue {pair} {one}, {self.type} {cosine}, 1")
        self._sine_and_cosine = name
        yield f"define internal {pair} @{name}({self.type} %x){attributes} {{"
        yield from self.lines
        yield f"  ret {pair} {both}"
        yield "}"

    def sine_and_cosine(self, x: str) -> tuple[str, str]:
        """sin x and cos x as straight-line IR, within about 1.5 units in the last place.

        k = round(2x/π) by adding and subtracting 1.5·2ᵐ; r = x − k π/2 in three steps, each exact but for its own rounding
        [Cody & Waite]; minimax polynomials on [−π/4, π/4]; quadrant by the low bits of k. Good up to the stated limit; beyond
        it, and for what is not finite, every lane is handed to the C library.
        """
        if self._sine_and_cosine is not None:
            pair = f"{{{self.type}, {self.type}}}"
            both = self.line(f"call {pair} @{self._sine_and_cosine}({self.type} {x})")
            return self.line(f"extractvalue {pair} {both}, 0"), self.line(f"extractvalue {pair} {both}, 1")
        t = self.tables
        shift, width = self.number(t.shift), 64 if self.element == "double" else 32
        shifted = self.multiply_add(x, self.number(0.6366197723675814), shift)
        k = self.binary("fsub", shifted, shift)
        minus_k = self.negate(k)
        r = x
        for part in t.half_pi:
            r = self.multiply_add(minus_k, self.number(part), r)
        z = self.binary("fmul", r, r)
        s = self.multiply_add(self.binary("fmul", r, z), self._polynomial(z, t.sine), r)
        c = self.multiply_add(
            self.binary("fmul", z, z),
            self._polynomial(z, t.cosine),
            self.multiply_add(self.number(-0.5), z, self.number(1.0)),
        )
        integer = f"i{width}" if self.lanes == 1 else f"<{self.lanes} x i{width}>"
        bits = self.line(f"bitcast {self.type} {shifted} to {integer}")
        one, two = self._integer(1, width), self._integer(2, width)
        odd_bit = self.line(f"and {integer} {bits}, {one}")
        odd = self.line(f"icmp ne {integer} {odd_bit}, {self._integer(0, width)}")
        sine, cosine = self.select(odd, c, s), self.select(odd, s, c)
        sine = self._flip(sine, self.line(f"and {integer} {bits}, {two}"), integer, width)
        after = self.line(f"add {integer} {bits}, {one}")
        cosine = self._flip(cosine, self.line(f"and {integer} {after}, {two}"), integer, width)
        return self._or_library(x, sine, cosine)

    def _polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        total = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.multiply_add(total, z, self.number(coefficient))
        return total

    def _integer(self, value: int, width: int) -> str:
        return str(value) if self.lanes == 1 else f"splat (i{width} {value})"

    def _flip(self, x: str, bit: str, integer: str, width: int) -> str:
        """x with its sign changed where bit 1 of ``bit`` is set."""
        sign = self.line(f"shl {integer} {bit}, {self._integer(width - 2, width)}")
        flipped = self.line(f"xor {integer} {self.line(f'bitcast {self.type} {x} to {integer}')}, {sign}")
        return self.line(f"bitcast {integer} {flipped} to {self.type}")

    def _or_library(self, x: str, sine: str, cosine: str) -> tuple[str, str]:
        """The library's values if any lane is beyond the limit or not finite; else the ones given."""
        size = self.call("fabs", x)
        fine = self.compare("ole", size, self.number(self.tables.limit))
        if self._near is not None:
            self._near.append(fine)
            return sine, cosine
        fine_everywhere = self._everywhere(fine)
        mark = next(self._fresh)
        here = f"here{mark}"
        self.lines += [f"  br label %{here}", f"{here}:"]
        self.lines += [f"  br i1 {fine_everywhere}, label %go{mark}, label %far{mark}", f"far{mark}:"]
        far_sine, far_cosine = self.library("sin", x), self.library("cos", x)
        far_sine, far_cosine = self.select(fine, sine, far_sine), self.select(fine, cosine, far_cosine)
        self.lines += [f"  br label %go{mark}", f"go{mark}:"]
        both = [(sine, far_sine), (cosine, far_cosine)]
        joined = [self.line(f"phi {self.type} [{near}, %{here}], [{far}, %far{mark}]") for near, far in both]
        return joined[0], joined[1]

    def _everywhere(self, truth: str) -> str:
        """Whether something holds in all lanes."""
        if self.lanes == 1:
            return truth
        name = f"@llvm.vector.reduce.and.v{self.lanes}i1"
        self.declared.add(f"declare i1 {name}({self.truth})")
        return self.line(f"call i1 {name}({self.truth} {truth})")

    def begin_guard(self) -> None:
        """From here on, sines are printed for angles within the limit. A branch at each would spill all vectors across it."""
        self._near = []

    def end_guard(self) -> bool:
        """Go to ``%far`` where an angle of any lane was beyond the limit, if there were any sines at all."""
        near, self._near = self._near, None
        if not near:
            return False
        together = functools.reduce(lambda x, y: self.line(f"and {self.truth} {x}, {y}"), near)
        self.lines += [f"  br i1 {self._everywhere(together)}, label %near, label %far", "near:"]
        return True


def _sign(p: Printer, x: str) -> str:
    zero = p.number(0.0)
    below = p.select(p.compare("olt", x, zero), p.number(-1.0), x)
    return p.select(p.compare("ogt", x, zero), p.number(1.0), below)


_PRINTERS: dict[Op, Callable[..., str]] = {
    Op.DIV: lambda p, x, y: p.binary("fdiv", x, y),
    Op.NEG: lambda p, x: p.negate(x),
    Op.SQRT: lambda p, x: p.call("sqrt", x),
    Op.ABS: lambda p, x: p.call("fabs", x),
    Op.MIN: lambda p, x, y: p.call("minimum", x, y),
    Op.MAX: lambda p, x, y: p.call("maximum", x, y),
    Op.SIGN: _sign,
    Op.FLOOR: lambda p, x: p.call("floor", x),
    Op.GREATER: lambda p, x, y: p.compare("ogt", x, y),
    Op.GREATER_EQUAL: lambda p, x, y: p.compare("oge", x, y),
    Op.EQUAL: lambda p, x, y: p.compare("oeq", x, y),
    Op.NOT: lambda p, x: p.line(f"xor {p.truth} {x}, {'true' if p.lanes == 1 else 'splat (i1 true)'}"),
    Op.AND: lambda p, x, y: p.line(f"and {p.truth} {x}, {y}"),
    Op.OR: lambda p, x, y: p.line(f"or {p.truth} {x}, {y}"),
    Op.SELECT: lambda p, c, x, y: p.select(c, x, y),
    **{op: lambda p, *x, name=name: p.library(name, *x) for op, (name, _) in LIBRARY.items()},
}
assert set(_PRINTERS) | {Op.CONSTANT, Op.INPUT, Op.ADD, Op.SUB, Op.MUL, Op.SIN, Op.COS, *BLOCKS} == set(Op)
assert set(_PRINTERS) >= TRUTH_VALUED


def hexadecimal(value: float, element: str) -> str:
    """A number as IR wants it: the bits of a double, which for a float is the double of the rounded value (`single`)."""
    value = single(value) if element == "float" else value
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def _suffix(element: str, lanes: int) -> str:
    short = "f64" if element == "double" else "f32"
    return short if lanes == 1 else f"v{lanes}{short}"


def folded_products(program: Program, live: Sequence[int], fma: bool) -> set[int]:
    """Products used once, by a sum: they become its fused multiply-add. A sum takes at most one."""
    graph = program.graph
    folded: set[int] = set()
    if not fma:
        return folded
    ops, args, wanted = graph.ops, graph.args, set(program.roots())  # an output is wanted as itself
    uses = Counter(chain.from_iterable(map(args.__getitem__, live)))
    for node in live:
        if ops[node] is Op.ADD or ops[node] is Op.SUB:
            for x in reversed(args[node]):
                if ops[x] is Op.MUL and uses[x] == 1 and x not in wanted:
                    folded.add(x)
                    break
    return folded


class _Tables(NamedTuple):
    """Constants of one precision for sine and cosine, good up to the limit; beyond it the C library is asked."""

    limit: float
    shift: float  # 1.5 · 2^(mantissa bits): adding it rounds to an integer, whose low bits are then the result's own
    half_pi: tuple[float, float, float]
    sine: tuple[float, ...]  # r + r z (s0 + z (s1 + …)), z = r²
    cosine: tuple[float, ...]  # 1 − z/2 + z² (c0 + z (c1 + …))


_DOUBLE = _Tables(
    limit=1.0e6,
    shift=6755399441055744.0,
    half_pi=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33),
    sine=(
        -1.66666666666666324348e-01,
        8.33333333332248946124e-03,
        -1.98412698298579493134e-04,
        2.75573137070700676789e-06,
        -2.50507602534068634195e-08,
        1.58969099521155010221e-10,
    ),
    cosine=(
        4.16666666666666019037e-02,
        -1.38888888888741095749e-03,
        2.48015872894767294178e-05,
        -2.75573143513906633035e-07,
        2.08757232129817482790e-09,
        -1.13596475577881948265e-11,
    ),
)
_SINGLE = _Tables(
    limit=1.0e4,
    shift=12582912.0,
    half_pi=(1.5707963705062866, -4.3711388286737929e-08, -1.7151245100058990e-15),
    sine=(-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
    cosine=(4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
)
