"""Equations of motion in closed form: to read, to print, to evaluate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.errors import ShapeError, printable
from torsor.symbolic.geometry import Geometry
from torsor.symbolic.metric import Metric
from torsor.symbolic.printed import Printed, Quantity


@dataclass(frozen=True, eq=False)
class Equations(Printed):
    """τ = M(q) q̈ + C(q, q̇) q̇ + g(q) + friction, in SymPy expressions (rad, m, s, kg, N) [LP, (9.12)].

    ``M`` and ``C`` (nv, nv), ``c`` = C q̇, ``g``, ``friction`` and ``tau`` (nv, 1) are SymPy matrices; ``q``, ``v``, ``a``
    the symbols of q, q̇ and q̈; ``symbols`` maps each other name to (symbol, value, unit). ``print(equations)`` for text.
    ``geometry`` has the Christoffel symbols and the curvature of M, worked out when asked for.
    """

    name: str
    M: Any
    C: Any
    c: Any
    g: Any
    friction: Any
    tau: Any
    symbols: dict[str, Quantity]
    q: tuple[Any, ...]
    v: tuple[Any, ...]
    a: tuple[Any, ...]
    order: tuple[Any, ...]
    metric: Metric

    @once
    def geometry(self) -> Geometry:
        """Γ_ijk and R_ijkl of the inertia metric, and of two joints the curvature K, in closed form [PBP95, (52), (66)]."""
        met = {s.name for s in self.M.free_symbols}
        used = {name: x for name, x in self.symbols.items() if name in met}
        return Geometry(self.name, self.metric, used, self.q, self.order)

    def evaluate(self, q: ConfigurationVector, v: JointVector, a: JointVector) -> JointVector:
        """τ for the robot's own numbers, which is `torsor.inverse_dynamics` again [LP, (9.12)].

        ``q``, ``v``, ``a`` (..., nv), rad or m, and s. Returns (..., nv), N·m or N.
        """
        state = []
        for name, given in zip("qva", (q, v, a), strict=True):
            try:
                x = np.asarray(given, float)
            except (TypeError, ValueError) as error:
                raise ShapeError(
                    f"evaluate: `{name}` must be numbers of shape (..., {len(self.q)}), got {given!r}."
                ) from error
            if x.shape[-1:] != (len(self.q),):
                raise ShapeError(f"evaluate: `{name}` must have shape (..., {len(self.q)}), got {x.shape}.")
            state.append(x)
        try:
            batch = np.broadcast_shapes(*(x.shape[:-1] for x in state))
        except ValueError as error:
            shapes = ", ".join(str(x.shape) for x in state)
            raise ShapeError(f"evaluate: `q`, `v` and `a` must have the same leading shape, got {shapes}.") from error
        entries = self._function(*(np.moveaxis(x, -1, 0) for x in state), [s.value for s in self.symbols.values()])
        return np.stack([np.broadcast_to(entry, batch) for entry in entries], axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in self.__dict__.items() if name != "_function"}  # it is made again when needed

    @once
    def _function(self) -> Callable[..., Any]:
        import sympy

        given = [s.symbol for s in self.symbols.values()]
        function: Callable[..., Any] = sympy.lambdify(
            [self.q, self.v, self.a, given], list(self.tau), "numpy", cse=True
        )
        return function

    def entries(self) -> Iterator[tuple[str, tuple[str, ...], Any]]:
        """Every entry: the letter of its matrix, its indices (two where a symmetric one has two), the expression."""
        n = len(self.q)
        for i in range(n):
            for j in range(i, n):
                yield "M", tuple(dict.fromkeys((f"{i + 1}{j + 1}", f"{j + 1}{i + 1}"))), self.M[i, j]
        for i in range(n):
            for j in range(n):
                yield "C", (f"{i + 1}{j + 1}",), self.C[i, j]
        for letter, vector in (("c", self.c), ("g", self.g), ("tau", self.tau)):
            for i in range(n):
                yield letter, (f"{i + 1}",), vector[i]

    def title(self) -> str:
        """The equation that the letters stand in."""
        extra = " + friction" if any(self.friction) else ""
        return f"{printable(self.name)}: τ = M(q) q̈ + C(q, q̇) q̇ + g(q){extra}, c = C q̇"

    def heading(self) -> str:
        """The title of a page."""
        return f"Equations of motion of {self.name}"

    def __repr__(self) -> str:
        return f"<Equations of {self.name!r}: {len(self.q)} degrees of freedom, {len(self.symbols)} symbols; print() shows them>"
