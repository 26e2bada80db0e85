"""Christoffel symbols and curvature of a small robot's inertia metric in closed form: to read and to print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from torsor._once import once
from torsor.errors import ArgumentError, printable
from torsor.geometry.curvature import planes_of
from torsor.symbolic.fourier import Element, Ring
from torsor.symbolic.naming import sympy_module
from torsor.symbolic.printed import Printed, Quantity
from torsor.symbolic.readable import Writer


@dataclass(frozen=True, eq=False)
class Geometry(Printed):
    """Γ_ijk and R_ijkl of the metric M(q), in SymPy expressions (rad, m, kg) [PBP95, (52), (66)].

    ``Gamma`` (nv, nv, nv), ``R`` (nv, nv, nv, nv) and, for two joints, ``K`` are worked out when asked for, and indices and signs
    are those of `torsor.geometry.christoffel_symbols` (lowered index last) and `riemann_curvature` (positive on a sphere).
    ``symbols`` maps each name to (symbol, value, unit). ``print(geometry)`` for text: entries that vanish are left out.
    """

    name: str
    metric: Metric
    symbols: dict[str, Quantity]
    q: tuple[Any, ...]
    order: tuple[Any, ...]

    @once
    def Gamma(self) -> Any:
        """Γ_ijk = ½ (∂_i M_kj + ∂_j M_ki − ∂_k M_ij) (nv, nv, nv), kg·m², kg·m or kg: c_k = Σ Γ_ijk q̇_i q̇_j [PBP95, (52)]."""
        sympy, n = sympy_module(), len(self.q)
        entries = [x for page in self.metric.connection() for row in page for x in row]
        return sympy.ImmutableDenseNDimArray(self.metric.written(sympy, entries), (n, n, n))

    @once
    def R(self) -> Any:
        """R_ijkl (nv, nv, nv, nv), all indices lowered, kg·m² [PBP95, (66)]."""
        sympy, n = sympy_module(), len(self.q)
        entries = self.metric.quotients(sympy, self._curvature, self._determinant)
        choices = [sympy.Integer(0), *entries, *(-x for x in entries)]
        return sympy.ImmutableDenseNDimArray([choices[k] for k in planes_of(n).tensor.ravel()], (n, n, n, n))

    @once
    def K(self) -> Any:
        """R_1212 / det M of two joints: the Gauss curvature of the surface whose lengths M measures, 1/(kg·m²) [PBP95, (66)]."""
        if len(self.q) != 2:
            raise ArgumentError(
                f"equations: robot {self.name!r} has {len(self.q)} degrees of freedom, and K is the curvature of two. Use `R`, "
                "or lock joints: robot.lock({joint: value})."
            )
        return self.metric.quotients(sympy_module(), self._curvature, self._determinant, 2)[0]

    @once
    def _curvature(self) -> Any:
        return self.metric.curvature()

    @once
    def _determinant(self) -> Any:
        return self.metric.determinant()

    def entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """The entries of Γ and R that do not vanish, one of those that are equal or opposite, and K of two joints."""
        n, R = len(self.q), self.R
        yield from self.christoffel_entries()
        for i, j, k, l in planes_of(n).ijkl.T.tolist():
            if R[i, j, k, l] != 0:
                yield "R", tuple(dict.fromkeys((_index(i, j, k, l), _index(k, l, i, j)))), R[i, j, k, l]
        if n == 2:
            yield "K", ("",), self.K

    def christoffel_entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """The entries of Γ that do not vanish, by their last index; those that are equal by symmetry once."""
        n, Gamma = len(self.q), self.Gamma
        for k in range(n):
            for i in range(n):
                for j in range(i, n):
                    if Gamma[i, j, k] != 0:
                        yield "Gamma", tuple(dict.fromkeys((_index(i, j, k), _index(j, i, k)))), Gamma[i, j, k]

    def title(self) -> str:
        """What Γ and R are, and what vanishes."""
        found = [letter for letter, _, _ in self.entries()]
        vanishing = [word for letter, word in (("Gamma", "Γ"), ("R", "R")) if letter not in found]
        zero = f"; {' and '.join(vanishing)} = 0" if vanishing else ", other entries are zero"
        return f"{printable(self.name)}: c_k = Σ Γ_ijk q̇_i q̇_j, R_ijkl = −R_jikl = −R_ijlk{zero}"

    def heading(self) -> str:
        """The title of a page."""
        return f"Christoffel symbols and curvature of {self.name}"

    def __repr__(self) -> str:
        return f"<Geometry of {self.name!r}: {len(self.q)} degrees of freedom, {len(self.symbols)} symbols; print() shows it>"


def _index(*indices: int) -> str:
    return "".join(str(i + 1) for i in indices)


# The mass matrix of a small robot as a metric in closed form: Christoffel symbols and curvature, exact.
#
# M has entries that are polynomials in symbols, sines and cosines, and so have det M and the adjugate. Curvature is then a
# quotient of two of these: multiplied by det M, the formula of the paper has no division left.

MOST_PRODUCTS = 3_000_000  # of terms: a few seconds
DIVIDED = 200_000  # products of terms: longer quotients are left as they are


@dataclass(frozen=True, eq=False)
class Metric:
    """M (nv, nv) of a robot in a ring, and what is needed to write its elements as expressions: `Writer`'s arguments."""

    robot: str
    ring: Ring
    M: list[list[Element]]
    generators: list[Any]
    inertial: set[int]
    decimals: bool

    def connection(self) -> list[list[list[Element]]]:
        """Γ_ijk = ½ (∂_i M_kj + ∂_j M_ki − ∂_k M_ij), the lowered index last [PBP95, (52); LP, (9.87)]."""
        ring, M, n = self.ring, self.M, len(self.M)
        d = [[[ring.derivative(M[i][j], k) for k in range(n)] for j in range(n)] for i in range(n)]
        half = ring.constant(0.5)

        def entry(i: int, j: int, k: int) -> Element:
            parts = d[k][j][i], d[k][i][j], -d[i][j][k]
            return summed([part * half for part in parts])

        return [[[entry(i, j, k) for k in range(n)] for j in range(n)] for i in range(n)]

    def determinant(self) -> Element:
        """The determinant det M."""
        return self._products().determinant()

    def curvature(self) -> list[Element]:
        """det M · R_ijkl, for the entries of `planes_of`, where the lowered tensor is [PBP95, (66)]::

        R_ijkl = ∂_k Γ_jli − ∂_l Γ_jki + Σ_rs m^rs (Γ_ilr Γ_jks − Γ_ikr Γ_jls)
        """
        n, products, Gamma = len(self.M), self._products(), self.connection()
        det = products.determinant()
        adjugate = [[products.cofactor(r, s) for s in range(n)] for r in range(n)]
        found = []
        for i, j, k, l in planes_of(n).ijkl.T.tolist():
            ring = self.ring
            linear = summed([ring.derivative(Gamma[j][l][i], k), -ring.derivative(Gamma[j][k][i], l)])
            parts = [products.of(det, linear)]
            for r in range(n):
                for s in range(n):
                    pair = summed(
                        [products.of(Gamma[i][l][r], Gamma[j][k][s]), -products.of(Gamma[i][k][r], Gamma[j][l][s])]
                    )
                    parts.append(products.of(adjugate[r][s], pair))
            found.append(summed(parts))
        return found

    def written(self, sympy: Any, elements: Sequence[Element]) -> list[Any]:
        """Elements of the ring, written as SymPy expressions."""
        writer = self._writer(sympy)
        return [writer.expression(self.ring.harmonics(x)) for x in elements]

    def quotients(
        self, sympy: Any, above: Sequence[Element], below: Element, power: int = 1, *, rates: bool = False
    ) -> list[Any]:
        """Each element over a power of one, as expressions: without the powers of symbols that both have, nor that one itself.

        With ``rates``, the elements have velocities in them.
        """
        if not below:
            raise ArgumentError(
                f"equations: the mass matrix of robot {self.robot!r} is singular wherever it is, so its curvature is undefined. "
                "`torsor.dynamics.mass_matrix_report(robot, q)` says why; give links mass (robot.with_inertia), or joints an "
                "armature."
            )
        ring, writer = self.ring, self._writer(sympy, rates=rates)
        shared, divisor = self._without_common_powers(below)
        monomial, bottom = self._power(sympy, shared), writer.expression(ring.harmonics(divisor))
        number, bottom = bottom.as_content_primitive()
        scale, bottom = bottom.as_coeff_Mul() if self.decimals else (1, bottom)  # it is divided out before writing
        found = []
        for x in above:
            if not x:
                found.append(sympy.Integer(0))
                continue
            powers, rest = self._without_common_powers(x)
            left = power
            while left and len(rest.terms) * len(divisor.terms) <= DIVIDED and (less := ring.quotient(rest, divisor)):
                rest, left = less, left - 1
            rest = rest * ring.constant(float(scale) ** -left)
            own, top = writer.expression(ring.harmonics(rest)).as_content_primitive()
            found.append(
                sympy.Mul(own / number**left, self._power(sympy, powers), top, monomial**-power, bottom**-left)
            )
        return found

    def _products(self) -> Products:
        return Products(f"the curvature of robot {self.robot!r}", self.M, "torsor.geometry.riemann_curvature(robot, q)")

    def _writer(self, sympy: Any, *, rates: bool = False) -> Writer:
        n = len(self.M)
        moving = set(range(n, 2 * n)) if rates else set()
        return Writer(sympy, self.generators, n, self.inertial, moving, decimals=self.decimals)

    def _power(self, sympy: Any, exponents: Sequence[int]) -> Any:
        return sympy.Mul(*(x**e for x, e in zip(self.generators, exponents, strict=True)))

    def _without_common_powers(self, x: Element) -> tuple[list[int], Element]:
        """The powers of the symbols that all terms share, and the element divided by them."""
        ring = self.ring
        exponents = [ring.exponents(key)[: ring.symbols] for key in x.terms]
        least = [min(column) for column in zip(*exponents, strict=True)]
        return least, ring.divided(x, least)


class Products:
    """Products of elements and minors of a matrix, counted: what would fill books is refused before it takes minutes.

    ``what`` is too long then, and ``instead`` is what to evaluate.
    """

    def __init__(self, what: str, matrix: list[list[Element]], instead: str) -> None:
        self._what, self._matrix, self._instead, self._count = what, matrix, instead, 0
        self._minors: dict[tuple[tuple[int, ...], tuple[int, ...]], Element] = {}

    def of(self, a: Element, b: Element) -> Element:
        """The product of two elements."""
        self._count += len(a.terms) * len(b.terms)
        if self._count > MOST_PRODUCTS:
            raise ArgumentError(
                f"equations: {self._what} in closed form is too long to be read by anyone. Keep its numbers, "
                "torsor.symbolic.equations(robot, numbers=True), lock joints with robot.lock, or evaluate it: "
                f"{self._instead}."
            )
        return a * b

    def determinant(self) -> Element:
        """The determinant of the matrix."""
        everything = tuple(range(len(self._matrix)))
        return self.minor(everything, everything)

    def minor(self, rows: tuple[int, ...], columns: tuple[int, ...]) -> Element:
        """The determinant of some rows and columns, by the first of these rows."""
        if not rows:
            return Element({0: 1.0 + 0.0j})
        key = rows, columns
        if key not in self._minors:
            parts = []
            for place, column in enumerate(columns):
                left = columns[:place] + columns[place + 1 :]
                part = self.of(self._matrix[rows[0]][column], self.minor(rows[1:], left))
                parts.append(-part if place % 2 else part)
            self._minors[key] = summed(parts)
        return self._minors[key]

    def cofactor(self, r: int, s: int) -> Element:
        """The minor without row r and column s, with its sign: entry (s, r) of the adjugate."""
        n = len(self._matrix)
        minor = self.minor(tuple(i for i in range(n) if i != r), tuple(j for j in range(n) if j != s))
        return -minor if (r + s) % 2 else minor


def summed(parts: Sequence[Element]) -> Element:
    """The sum, without what is only rounding next to its parts."""
    return sum(parts[1:], parts[0]).without_noise(max(part.size for part in parts))
