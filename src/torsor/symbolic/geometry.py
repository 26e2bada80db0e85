"""Christoffel symbols and curvature of a small robot's inertia metric in closed form: to read and to print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torsor._once import once
from torsor.errors import ArgumentError, printable
from torsor.geometry.curvature import planes_of
from torsor.symbolic.metric import Metric
from torsor.symbolic.naming import sympy_module
from torsor.symbolic.printed import Printed, Quantity


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
        n, Gamma, R = len(self.q), self.Gamma, self.R
        for k in range(n):
            for i in range(n):
                for j in range(i, n):
                    if Gamma[i, j, k] != 0:
                        yield "Gamma", tuple(dict.fromkeys((_index(i, j, k), _index(j, i, k)))), Gamma[i, j, k]
        for i, j, k, l in planes_of(n).ijkl.T.tolist():
            if R[i, j, k, l] != 0:
                yield "R", tuple(dict.fromkeys((_index(i, j, k, l), _index(k, l, i, j)))), R[i, j, k, l]
        if n == 2:
            yield "K", ("",), self.K

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
