"""Factor a wide matrix A = Rᵀ Q with orthonormal rows in Q, for any array library, without ever raising.

The modified Gram–Schmidt process takes from each row what lies along those before it [GVL13, §5.2.8]. A Aᵀ is never formed: its
condition is the square of that of A, and half the digits of A would be lost. What is solved with R is as good as A is. Lengths of
rows do not matter, nor therefore do their units.

**What is left of a row may be all rounding error.** With errors δ|A_i| in the rows of A, the unit row Q_j is known to ε_j / R_jj,
and the rest of row i to ::

    ε_i = δ |A_i| + Σ_j |R_ji| ε_j / R_jj        over the rows j before it

Where it is no longer than that, the rows are dependent as far as anyone can tell.
"""

from __future__ import annotations

from functools import reduce
from math import nan
from operator import or_
from typing import NamedTuple

import numpy

from torsor.arrays.primitives import absolute, concat, dot, sqrt, stack, stack_vectors, transpose, where
from torsor.arrays.symmetric import epsilon_of
from torsor.arrays.typing import Array

ROUNDING = 16  # times ε and the number of columns: Jacobians of arms at q = π, which no number is, are off by 5 at most


class Triangle(NamedTuple):
    """An upper triangular matrix R (..., m, m)."""

    above: list[Array]
    """Column i above the diagonal (..., i)."""
    diagonal: list[Array]
    """R_ii (...)."""
    inverses: list[Array]
    """1/R_ii (...)."""

    def solve(self, z: Array) -> Array:
        """y (..., m) with R y = z."""
        m = len(self.inverses)
        y: list[Array] = [None] * m
        rest = z
        for k in range(m - 1, -1, -1):
            y[k] = rest[..., k] * self.inverses[k]
            rest = rest[..., :k] - self.above[k] * y[k][..., None]
        return stack(y)

    def solve_transposed(self, y: Array) -> Array:
        """z (..., m) with Rᵀ z = y."""
        z = (y[..., 0] * self.inverses[0])[..., None]
        for i in range(1, len(self.inverses)):
            z_i = (y[..., i] - dot(self.above[i], z)) * self.inverses[i]
            z = concat([z, z_i[..., None]])
        return z

    def solve_columns(self, Z: Array) -> Array:
        """Y (..., m, k) with R Y = Z: all columns at once."""
        above = [column[..., None, :] for column in self.above]
        wide = Triangle(above, self.diagonal, [inverse[..., None] for inverse in self.inverses])
        return transpose(wide.solve(transpose(Z)))

    def times(self, other: Triangle) -> Triangle:
        """Their product."""
        m = len(self.diagonal)
        above = []
        for i in range(m):
            column = self.above[i] * other.diagonal[i][..., None]
            for k in range(i):
                part = other.above[i][..., k]
                here = concat([self.above[k], self.diagonal[k][..., None]]) * part[..., None]
                column = concat([column[..., : k + 1] + here, column[..., k + 1 :]]) if k + 1 < i else column + here
            above.append(column)
        pairs = zip(self.diagonal, other.diagonal, strict=True), zip(self.inverses, other.inverses, strict=True)
        diagonal, inverses = ([x * y for x, y in pair] for pair in pairs)
        return Triangle(above, diagonal, inverses)


class OrthonormalRows(NamedTuple):
    """A = Rᵀ Q; Q and 1/R_ii are NaN where the rows of A are dependent."""

    Q: Array
    """(..., m, n): rows of unit length at right angles, to rounding times the condition of A, or to rounding if done twice."""
    R: Triangle
    dependent: Array
    """Whether the rows are dependent as far as rounding lets one tell (...); so are those that are no numbers."""


def orthonormal_rows(A: Array, vanished: list[Array] | None = None, *, twice: bool) -> OrthonormalRows:
    """A (..., m, n) as Rᵀ Q. ``vanished``: rows that are known to be nothing but rounding error (...).

    ``twice``: Q is orthonormal to rounding, for those who take Qᵀ for its inverse. Without, A = Rᵀ Q is as true.
    """
    m, n = A.shape[-2:]
    units: list[Array] = []
    above: list[Array] = []
    diagonal: list[Array] = []
    blurs: list[Array] = []  # ε_j / R_jj
    losses: list[Array] = []
    with numpy.errstate(all="ignore"):
        for i in range(m):
            whole = sqrt(dot(A[..., i, :], A[..., i, :]))
            rest, column = _without(A[..., i, :], units)
            if twice and units:
                rest, more = _without(rest, units)
                column = [r + s for r, s in zip(column, more, strict=True)]
            length = sqrt(dot(rest, rest)) if units else whole
            error = ROUNDING * n * epsilon_of(whole) * whole
            error = sum((absolute(r) * blur for r, blur in zip(column, blurs, strict=True)), error)
            lost = ~(length > error)
            losses.append(lost if vanished is None else lost | vanished[i])
            inverse = 1.0 / length
            units.append(rest * inverse[..., None])
            above.append(stack(column) if column else rest[..., :0])
            diagonal.append(length)
            blurs.append(error * inverse)
        dependent = reduce(or_, losses)
        inverses = [where(dependent, nan, 1.0 / length) for length in diagonal]
    Q = where(dependent[..., None, None], nan, stack_vectors(units))
    return OrthonormalRows(Q, Triangle(above, diagonal, inverses), dependent)


def orthonormal_pairs(A: Array, X: Array) -> tuple[Array, Array, Triangle]:
    """Rows A (..., m, n), far from dependent, as Uᵀ P with P G Pᵀ = 1 in a metric G, given by X = A G: P, P G and U."""
    units: list[Array] = []
    duals: list[Array] = []
    above: list[Array] = []
    diagonal: list[Array] = []
    for i in range(A.shape[-2]):
        rest, raised = A[..., i, :], X[..., i, :]
        column = []
        for unit, dual in zip(units, duals, strict=True):
            column.append(dot(dual, rest))
            rest, raised = rest - column[-1][..., None] * unit, raised - column[-1][..., None] * dual
        with numpy.errstate(all="ignore"):
            length = sqrt(dot(rest, raised))
            inverse = 1.0 / length
        units.append(rest * inverse[..., None])
        duals.append(raised * inverse[..., None])
        above.append(stack(column) if column else rest[..., :0])
        diagonal.append(length)
    with numpy.errstate(all="ignore"):
        U = Triangle(above, diagonal, [1.0 / length for length in diagonal])
    return stack_vectors(units), stack_vectors(duals), U


def _without(row: Array, units: list[Array]) -> tuple[Array, list[Array]]:
    """What is left of a row beside unit rows, and its parts along them."""
    parts = []
    for unit in units:
        parts.append(dot(unit, row))
        row = row - parts[-1][..., None] * unit
    return row, parts
