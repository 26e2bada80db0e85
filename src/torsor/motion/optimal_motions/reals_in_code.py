"""Real numbers in the small language of the compiler (`words`): doubles, and groups of eight of them, that loops go over.

A group is the same eight numbers on every processor, in one wide register or in several, and its sum has one order. Products
are added in one rounding where the processor has an instruction for that.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from torsor.compiler.print.words import Function, Word

LANES = 8
ONE, GROUP = "double", f"<{LANES} x double>"


def _operator(instruction: str) -> Callable[[Real, Real], Real]:
    def apply(self: Real, other: Real) -> Real:
        return self.function.real(f"{instruction} {self.kind} {self.text}, {other.text}", self.kind)

    return apply


def _comparison(instruction: str) -> Callable[[Real, Real], Word]:
    def apply(self: Real, other: Real) -> Word:
        return self.function.value(f"{instruction} {self.kind} {self.text}, {other.text}", "i1")

    return apply


class Real:
    """A double of a function that is being written, or (``kind`` `GROUP`) eight of them."""

    def __init__(self, function: Numeric, text: str, kind: str = ONE) -> None:
        self.function, self.text, self.kind = function, text, kind

    __add__ = _operator("fadd")
    __sub__ = _operator("fsub")
    __mul__ = _operator("fmul")
    __truediv__ = _operator("fdiv")
    __lt__ = _comparison("fcmp olt")
    __gt__ = _comparison("fcmp ogt")

    def __neg__(self) -> Real:
        return self.function.real(f"fneg {self.kind} {self.text}", self.kind)


class RealVariable:
    """A real number, or a group, that changes."""

    def __init__(self, function: Numeric, name: str, kind: str) -> None:
        self._function, self._name, self._kind = function, name, kind

    def get(self) -> Real:
        """Give the value that it has now."""
        return self._function.real(f"load {self._kind}, ptr {self._name}", self._kind)

    def set(self, value: Real) -> None:
        """Give it a value."""
        self._function.line(f"store {self._kind} {value.text}, ptr {self._name}")


class Numeric(Function):
    """A function of words that computes with real numbers in memory, too; its module has what `declared` says."""

    def real(self, instruction: str, kind: str = ONE) -> Real:
        """Add an instruction that gives a real number."""
        return Real(self, self.value(instruction, kind).text, kind)

    def number(self, x: float) -> Real:
        """A number that is known."""
        return Real(self, f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}")

    def real_variable(self, value: Real) -> RealVariable:
        """A new variable with a first value."""
        name = f"%r{next(self._numbers)}"
        self._places.append(f"  {name} = alloca {value.kind}")
        made = RealVariable(self, name, value.kind)
        made.set(value)
        return made

    def read(self, address: Word, place: Word | int = 0) -> Real:
        """The number that is ``place`` numbers after an address."""
        return self.real(f"load double, ptr {self._pointer(address, place)}")

    def write(self, address: Word, value: Real, place: Word | int = 0) -> None:
        """Put a number ``place`` numbers after an address."""
        self.line(f"store double {value.text}, ptr {self._pointer(address, place)}")

    def read_group(self, address: Word, place: Word) -> Real:
        """The group that is ``place`` groups after an address."""
        return self.real(f"load {GROUP}, ptr {self._pointer(address, place * LANES)}, align 8", GROUP)

    def write_group(self, address: Word, value: Real, place: Word) -> None:
        """Put a group ``place`` groups after an address."""
        self.line(f"store {GROUP} {value.text}, ptr {self._pointer(address, place * LANES)}, align 8")

    def spread(self, value: Real) -> Real:
        """A group of eight times the same number."""
        one = self.value(f"insertelement {GROUP} poison, double {value.text}, i64 0", GROUP)
        mask = f"<{LANES} x i32> zeroinitializer"
        return self.real(f"shufflevector {GROUP} {one.text}, {GROUP} poison, {mask}", GROUP)

    def sum_of(self, group: Real) -> Real:
        """The sum of a group, halves first."""
        width, now = LANES, group.text
        while width > 1:
            kind, half = f"<{width} x double>", width // 2
            sides = []
            for first in (0, half):
                mask = ", ".join(f"i32 {first + k}" for k in range(half))
                sides.append(
                    self.value(f"shufflevector {kind} {now}, {kind} poison, <{half} x i32> <{mask}>", kind).text
                )
            now = self.value(f"fadd <{half} x double> {sides[0]}, {sides[1]}", kind).text
            width = half
        return self.real(f"extractelement <1 x double> {now}, i64 0")

    def sum_of_product(self, a: Real, b: Real, c: Real) -> Real:
        """a b + c."""
        listed = ", ".join(f"{x.kind} {x.text}" for x in (a, b, c))
        return self.real(f"call {a.kind} @sum_of_product_{'one' if a.kind == ONE else 'group'}({listed})", a.kind)

    def root(self, value: Real) -> Real:
        """The square root."""
        return self.real(f"call double @llvm.sqrt.f64(double {value.text})")

    def either(self, test: Word, yes: Real, no: Real) -> Real:
        """One of two numbers."""
        return self.real(f"select i1 {test.text}, {yes.kind} {yes.text}, {no.kind} {no.text}", yes.kind)

    def dot(self, a: Word, b: Word, groups: Word, start: Word | int = 0) -> Real:
        """Σ a_k b_k over groups from ``start`` on."""
        total = self.real_variable(Real(self, "zeroinitializer", GROUP))
        with self.groups(groups, start) as k:
            total.set(self.sum_of_product(self.read_group(a, k), self.read_group(b, k), total.get()))
        return self.sum_of(total.get())

    def add_multiple(self, target: Word, factor: Real, source: Word, groups: Word, start: Word | int = 0) -> None:
        """target_k + factor · source_k into target, over groups from ``start`` on."""
        by = self.spread(factor)
        with self.groups(groups, start) as k:
            self.write_group(target, self.sum_of_product(by, self.read_group(source, k), self.read_group(target, k)), k)

    @contextmanager
    def groups(self, end: Word | int, start: Word | int = 0) -> Iterator[Word]:
        """What follows is repeated for the numbers of groups from ``start`` to before ``end``."""
        k = self.variable(start)
        with self.while_(k, end) as now:
            yield now
            k.set(now + 1)


def declared(fma: bool) -> list[str]:
    """What a module with such functions declares; ``fma``: the processor has fused multiply-adds."""
    found = ["declare double @llvm.sqrt.f64(double)"]
    for kind, name, suffix in ((ONE, "one", "f64"), (GROUP, "group", f"v{LANES}f64")):
        if fma:
            found.append(f"declare {kind} @llvm.fma.{suffix}({kind}, {kind}, {kind})")
            body = f"%r = call {kind} @llvm.fma.{suffix}({kind} %a, {kind} %b, {kind} %c)"
        else:
            body = f"%p = fmul {kind} %a, %b\n  %r = fadd {kind} %p, %c"
        heading = f"define internal {kind} @sum_of_product_{name}({kind} %a, {kind} %b, {kind} %c) alwaysinline"
        found.append(f"{heading} {{\n  {body}\n  ret {kind} %r\n}}")
    return found
