"""Factor and solve a symmetric positive definite matrix, for any array library, without ever raising.

The factorisation is M = Lᵀ D L with L unit lower triangular, eliminated from the last row to the first. Joints are
numbered from the root outwards, so this order creates no fill-in: an entry that is zero because two joints lie on
different branches stays zero [Fea08, §6.5].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy

from torsor.arrays.primitives import block, concat, dot, matvec, outer, transpose, where
from torsor.arrays.typing import Array

EPSILON, SINGLE = (float(numpy.finfo(kind).eps) for kind in (numpy.float64, numpy.float32))


class Factors(NamedTuple):
    """M = Lᵀ D L: ``rows[k]`` holds row k of L left of the diagonal, ``inverses[k]`` the entry 1/D_k."""

    rows: list[Array]
    inverses: list[Array]


def factor(M: Array, *, guarded: bool) -> Factors:
    """Factors of M (..., n, n). ``guarded``: M may be singular, and where a pivot is all rounding error, all become NaN, so that
    no solution is made up. Pivots are compared with the diagonal of their own row, for rows may differ in their units.
    """
    n = M.shape[-1]
    rows: list[Array] = [None] * n
    inverses: list[Array] = [None] * n
    rest = M
    if guarded:  # M_ij carries rounding errors of the size of √(M_ii M_jj)
        diagonal = [M[..., k, k] for k in range(n)]
        rounding = 4 * n * epsilon_of(sum(diagonal))
        singular = diagonal[0] < 0.0
        loss: Array = 1.0  # the largest M_kk / pivot so far: by that much the errors of M are larger in what is left
    with numpy.errstate(all="ignore"):
        for k in range(n - 1, -1, -1):
            pivot = rest[..., k, k]
            if guarded:
                sound = pivot > rounding * loss * diagonal[k]
                pivot, singular = where(sound, pivot, numpy.nan), singular | ~sound
            column = rest[..., :k, k]
            inverses[k] = 1.0 / pivot
            rows[k] = column * inverses[k][..., None]
            if guarded and 0 < k < n - 1:  # the first pivot has lost nothing
                lost = diagonal[k] * inverses[k]
                loss = where(lost > loss, lost, loss)
            rest = rest[..., :k, :k] - outer(rows[k], column)
    if guarded:  # of a row that has nothing to do with the others, too: the result is NaN as a whole
        inverses = [where(singular, numpy.nan, inverse) for inverse in inverses]
    return Factors(rows, inverses)


def rounding_of(x: Array) -> Array:
    """ε x for the precision that x has when this is evaluated."""
    return epsilon_of(x) * x


def epsilon_of(x: Array) -> Array:
    """ε of the precision that x has when this is evaluated, which a trace does not know yet: in single, 1 + 2⁻³⁰ is 1."""
    return where(x * (1.0 + 2.0**-30) == x, SINGLE, EPSILON)


def solve(factors: Factors, b: Array) -> Array:
    """x with M x = b, for vectors b (..., n)."""
    rows, inverses = factors
    n = len(inverses)
    y: list[Array] = [None] * n
    rest = b
    for k in range(n - 1, -1, -1):  # Lᵀ y = b
        y[k] = rest[..., k]
        rest = rest[..., :k] - rows[k] * y[k][..., None]
    x = (y[0] * inverses[0])[..., None]
    for k in range(1, n):  # L x = D⁻¹ y
        x_k = y[k] * inverses[k] - dot(rows[k], x)
        x = concat([x, x_k[..., None]])
    return x


def solve_columns(factors: Factors, B: Array) -> Array:
    """X with M X = B, for matrices B (..., n, m): all columns at once."""
    rows = [row[..., None, :] for row in factors.rows]
    inverses = [inverse[..., None] for inverse in factors.inverses]
    return transpose(solve(Factors(rows, inverses), transpose(B)))


def inverse(factors: Factors) -> Array:
    """M⁻¹ = L⁻¹ D⁻¹ L⁻ᵀ (..., n, n), bordered row by row: its first k rows and columns take only the first k rows of L."""
    rows, inverses = factors
    X = inverses[0][..., None, None]
    for k in range(1, len(inverses)):
        left = -matvec(X, rows[k])
        corner = inverses[k] - dot(rows[k], left)
        X = block([[X, left[..., :, None]], [left[..., None, :], corner[..., None, None]]])
    return X
