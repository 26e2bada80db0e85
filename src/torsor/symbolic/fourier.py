"""Polynomials in symbols times cosines and sines of angles: exact arithmetic with one canonical form.

A product of sines and cosines is a sum of cos and sin of integer combinations of the angles. Written with exponentials,
cos q = (z + 1/z)/2 with z = e^{iq}, that is what multiplying polynomials gives, so no rule of trigonometry is searched for.
Coefficients are complex numbers; those of a robot whose axes are parallel or perpendicular are sums of powers of 1/2,
and exact.
"""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from torsor.compiler.graph import Op, Program
from torsor.errors import ArgumentError

WIDTH = 16  # bits per exponent
_BASE, _HALF = 1 << WIDTH, 1 << (WIDTH - 1)
NEGLIGIBLE = 1e-13  # of the largest coefficient that went in: what cancelled up to rounding
_ARITHMETIC: dict[Op, Callable[..., Element]] = {
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.NEG: operator.neg,
}

Exponents = tuple[int, ...]


class Harmonic(NamedTuple):
    """``cos`` or ``sin`` of Σ argument_j q_j; the constant 1 is the cosine of nothing."""

    kind: str
    argument: tuple[float, ...]


class Element:
    """Σ c · (symbols to some powers) · e^{i k·angles}; a key is all exponents in one integer, so that keys add."""

    __slots__ = ("terms",)

    def __init__(self, terms: dict[int, complex]) -> None:
        self.terms = terms

    def __add__(self, other: Element) -> Element:
        terms = dict(self.terms)
        for key, c in other.terms.items():
            total = terms.get(key, 0.0) + c
            if total == 0.0:
                del terms[key]
            else:
                terms[key] = total
        return Element(terms)

    def __neg__(self) -> Element:
        return Element({key: -c for key, c in self.terms.items()})

    def __sub__(self, other: Element) -> Element:
        return self + (-other)

    def __mul__(self, other: Element) -> Element:
        terms: dict[int, complex] = {}
        get = terms.get
        for a, x in self.terms.items():
            for b, y in other.terms.items():
                terms[a + b] = get(a + b, 0.0) + x * y
        return Element({key: c for key, c in terms.items() if c != 0.0})

    def __bool__(self) -> bool:
        return bool(self.terms)

    @property
    def size(self) -> float:
        """The magnitude of the largest coefficient."""
        return max((abs(c) for c in self.terms.values()), default=0.0)

    def without_noise(self, scale: float) -> Element:
        """Without what is rounding next to numbers of size ``scale``, the real and the imaginary parts each."""
        least, terms = NEGLIGIBLE * scale, {}
        for key, c in self.terms.items():
            kept = complex(*(part if abs(part) > least else 0.0 for part in (c.real, c.imag)))
            if kept != 0.0:
                terms[key] = kept
        return Element(terms)


class Ring:
    """The symbols (numbered; the first ``coordinates`` of them are q), and the angles met so far."""

    def __init__(self, symbols: int, coordinates: int) -> None:
        self.symbols = symbols
        self.coordinates = coordinates
        self.angles: list[dict[int, float]] = []  # of each, the coefficient of each coordinate in it

    def constant(self, value: float) -> Element:
        """A number as an element of the ring."""
        return Element({0: complex(value)} if value else {})

    def symbol(self, index: int) -> Element:
        """The symbol of this number as an element of the ring."""
        return Element({1 << (WIDTH * index): 1.0 + 0.0j})

    def polynomial(self, start: int, coefficients: Mapping[Exponents, float]) -> Element:
        """A polynomial in the symbols from number ``start`` on, of exponents → coefficient."""
        total = self.constant(0.0)
        for exponents, c in coefficients.items():
            term = self.constant(c)
            for k, exponent in enumerate(exponents):
                for _ in range(exponent):
                    term = term * self.symbol(start + k)
            total = total + term
        return total

    def exponents(self, key: int) -> Exponents:
        """The exponents of all symbols and angles in a key."""
        digits = []
        for _ in range(self.symbols + len(self.angles)):
            digit = (key + _HALF) % _BASE - _HALF
            digits.append(digit)
            key = (key - digit) >> WIDTH
        return tuple(digits)

    def exponential(self, x: Element) -> tuple[Element, Element]:
        """e^{ix} and e^{−ix} for x linear in the coordinates; only these occur in the motion of joints."""
        linear, offset = {}, 0.0
        units = {1 << (WIDTH * j): j for j in range(self.coordinates)}
        for key, c in x.terms.items():
            if key == 0:
                offset = c.real
            elif key in units:
                linear[units[key]] = c.real
            else:
                raise ArgumentError("sine or cosine of something that is not linear in the coordinates.")
        key = 0
        if linear:
            sign = 1 if linear[min(linear)] > 0 else -1
            angle = {j: sign * c for j, c in linear.items()}
            if angle not in self.angles:
                self.angles.append(angle)
            key = sign << (WIDTH * (self.symbols + self.angles.index(angle)))
        turn = cmath.exp(1j * offset)
        turn = complex(*(round(part) if abs(part - round(part)) < 1e-15 else part for part in (turn.real, turn.imag)))
        return Element({key: turn}), Element({-key: turn.conjugate()})

    def derivative(self, x: Element, j: int) -> Element:
        """The derivative ∂x/∂q_j of an element; of any other symbol by its number."""
        total: dict[int, complex] = {}
        unit = 1 << (WIDTH * j)
        for key, c in x.terms.items():
            exponents = self.exponents(key)
            rate = sum(k * angle.get(j, 0.0) for k, angle in zip(exponents[self.symbols :], self.angles, strict=True))
            if rate:
                total[key] = total.get(key, 0.0) + 1j * rate * c
            if exponents[j]:
                total[key - unit] = total.get(key - unit, 0.0) + exponents[j] * c
        return Element({key: c for key, c in total.items() if c != 0.0})

    def divided(self, x: Element, powers: Sequence[int]) -> Element:
        """``x`` without these powers of the symbols, which all of its terms have."""
        shift = sum(e << (WIDTH * k) for k, e in enumerate(powers))
        return Element({key - shift: c for key, c in x.terms.items()})

    def quotient(self, x: Element, y: Element) -> Element | None:
        """``x / y`` if ``y`` divides it, else None: long division, for keys are ordered as their products are.

        Least and greatest exponents of a product are sums of those of its factors, which leaves little room for a quotient.
        """
        (low, high), (y_low, y_high) = self._extent(x), self._extent(y)
        room = [(a - c, b - d) for a, b, c, d in zip(low, high, y_low, y_high, strict=True)]
        lead, rest, found = max(y.terms), dict(x.terms), {}
        least = NEGLIGIBLE * x.size
        while rest:
            key = max(rest)
            factor, c = key - lead, rest[key] / y.terms[lead]
            if not all(a <= e <= b for e, (a, b) in zip(self.exponents(factor), room, strict=True)):
                return None
            found[factor] = c
            for other, d in y.terms.items():
                left = rest.get(factor + other, 0.0) - c * d
                if other == lead or abs(left) <= least:
                    rest.pop(factor + other, None)
                else:
                    rest[factor + other] = left
        return Element(found)

    def _extent(self, x: Element) -> tuple[list[int], list[int]]:
        """The least and the greatest exponent of every symbol and angle."""
        columns = list(zip(*map(self.exponents, x.terms), strict=True))
        return [min(column) for column in columns], [max(column) for column in columns]

    def substituted(self, x: Element, start: int, images: Sequence[Element], other: Ring) -> Element:
        """``x`` with ``images``, of a ring ``other`` with the same angles, in place of the symbols from ``start`` on."""
        total = Element({})
        for key, c in x.terms.items():
            exponents = self.exponents(key)
            place = sum(e << (WIDTH * k) for k, e in enumerate(exponents[:start]))
            place += sum(e << (WIDTH * (other.symbols + k)) for k, e in enumerate(exponents[self.symbols :]))
            term = Element({place: c})
            for image, e in zip(images, exponents[start : self.symbols], strict=True):
                for _ in range(e):
                    term = term * image
            total = total + term
        return total

    def harmonics(self, x: Element) -> dict[Exponents, dict[Harmonic, float]]:
        """A real element as Σ monomial · Σ coefficient · cos or sin: for each monomial in the symbols, its harmonics."""
        least = NEGLIGIBLE * x.size
        found: dict[Exponents, dict[Harmonic, float]] = {}
        for key, c in x.terms.items():
            exponents = self.exponents(key)
            argument = [0.0] * self.coordinates
            for k, angle in zip(exponents[self.symbols :], self.angles, strict=True):
                for j, rate in angle.items():
                    argument[j] += k * rate
            sign = next((1 if rate > 0 else -1 for rate in argument if rate), 0)
            here = found.setdefault(exponents[: self.symbols], {})
            place = tuple(sign * rate for rate in argument)
            for kind, part in (
                ("cos", c.real),
                ("sin", -sign * c.imag),
            ):  # e^{ix} is half of what is written as 2 cos x
                if abs(part) > least:
                    here[Harmonic(kind, place)] = here.get(Harmonic(kind, place), 0.0) + part
        return {
            monomial: kept
            for monomial, terms in found.items()
            if (kept := {h: c for h, c in terms.items() if abs(c) > least})
        }


def evaluate(program: Program, ring: Ring, inputs: Sequence[Element]) -> dict[str, list[Element]]:
    """The outputs of a program of +, −, ×, sin and cos, each as the list of its entries, for the given input numbers."""
    graph = program.graph
    values: dict[int, Element] = dict(zip(graph.input_nodes, inputs, strict=True))
    half, half_i = ring.constant(0.5), Element({0: -0.5j})
    for node in program.live():
        op, args = graph.ops[node], [values[x] for x in graph.args[node]]
        if op is Op.INPUT:
            continue
        if op is Op.CONSTANT:
            values[node] = ring.constant(graph.values[node])
        elif op in _ARITHMETIC:
            values[node] = _ARITHMETIC[op](*args)
        elif op in (Op.SIN, Op.COS):
            forward, backward = ring.exponential(args[0])
            values[node] = (forward + backward) * half if op is Op.COS else (forward - backward) * half_i
        else:
            raise ArgumentError(f"cannot write {op.name.lower()} in closed form.")
    names = [port.name for port in program.outputs]
    return {name: [values[node] for node in nodes] for name, nodes in zip(names, program.results, strict=True)}
