"""Elements of a Lagrangian's ring as expressions, and steps made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from torsor._once import once
from torsor.symbolic.fourier import Element
from torsor.symbolic.lagrangian import Lagrangian
from torsor.symbolic.naming import sympy_module
from torsor.symbolic.printed import Quantity
from torsor.symbolic.readable import Writer
from torsor.symbolic.steps import Entry, Step

if TYPE_CHECKING:
    from torsor.symbolic._equations import Equations


class Pen:
    """Writes elements of a Lagrangian's ring as expressions, and makes steps of them."""

    def __init__(self, equations: Equations, found: Lagrangian) -> None:
        self.sympy, self.equations, self.found = sympy_module(), equations, found
        n, v, a = len(equations.q), equations.v, equations.a
        known = equations.symbols | found.extra
        self.symbols = {s.name: known[s.name] for s in found.ordered}
        self.order = (*found.ordered, *equations.q, *v, *a)
        decimals, inertial = found.decimals, found.inertial
        self._still = Writer(self.sympy, found.generators, n, inertial, set(), decimals=decimals)
        self._moving = Writer(self.sympy, found.generators, n, inertial, set(range(n, 2 * n)), decimals=decimals)

    def still(self, x: Element) -> Any:
        """What depends on q alone."""
        return self._still.expression(self.found.ring.harmonics(x))

    def moving(self, x: Element) -> Any:
        """What depends on q̇ too."""
        return self._moving.expression(self.found.ring.harmonics(x))

    def energy(self, x: Element) -> Any:
        """A kinetic energy."""
        return self._moving.energy(self.found.ring.harmonics(x))

    @once
    def mass_matrix(self) -> Any:
        """M = ∂²K/∂q̇∂q̇, written as the equations' own, which comes from an algorithm [LP, (9.10)]."""
        M, harmonics = self.found.metric.M, self.found.ring.harmonics
        upper = {(i, j): self._still.by_mass(harmonics(M[i][j])) for i in range(len(M)) for j in range(i, len(M))}
        return self.sympy.ImmutableMatrix(len(M), len(M), lambda i, j: upper[min(i, j), max(i, j)])

    def step(self, name: str, words: str, reference: str, value: Any, rows: list[Entry]) -> Step:
        """A step, with the symbols that occur in it."""
        met = {s.name for _, _, expression in rows for s in expression.free_symbols}
        symbols = {name: x for name, x in self.symbols.items() if name in met}
        return Step(name, words, reference, value, tuple(rows), symbols, self.order)

    def used(self, steps: Sequence[Step]) -> dict[str, Quantity]:
        """The symbols that occur in some step."""
        return {name: x for name, x in self.symbols.items() if any(name in step.symbols for step in steps)}
