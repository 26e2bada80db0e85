"""Riccati's recursion where a step leads to a velocity w and to a displacement by h w: most of its products fall away.

Of the semi-implicit step of joints with one number, x⁺ = (δq + h w, w) with w = δv⁺ = F_v z. Seen from y = (δq, δv, w) instead of
z = (δq, δv, δτ), the step is the same for all robots, and what is yet to be paid adds no product of matrices to the step's own
Hessian L (3n, 3n) and gradient l, seen from y::

    Q_y = l + (g_q, 0, h g_q + g_v),     g = p + V d
              ⎡ V_qq           0   ·                            ⎤
    Q_yy = L + ⎢ 0              0   ·                            ⎥
              ⎣ h V_qq + V_vq  0   h² V_qq + h (V_qv + V_vq) + V_vv ⎦

Without limits the minimum is over w. With the factors Q_ww = U D Uᵀ, U with ones on and zeros below its diagonal, and
Y = U⁻¹ (Q_wx  Q_w), what is left is ::

    V ← Q_xx − Y_xᵀ D⁻¹ Y_x,     p ← Q_x − Y_xᵀ D⁻¹ Y_1,     w = −U⁻ᵀ D⁻¹ (Y_1 + Y_x x)

and the forces that give this velocity are δτ = T y, with T = (∂τ/∂q, ∂τ/∂v − M/h, M/h) of inverse dynamics. This needs no
recursion, so that it is computed for all steps at once. With limits or a regularisation the function is seen from z,
by y = (x, F_v z), before its minimum is found.

Symmetric matrices are given and kept by their upper triangles, row by row.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import concat, dot, looped_matmul, matmul, matvec, stack, stack_vectors, transpose, where, zeros
from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.riccati import Backward, Limits, least_by_forces, lesser


class Eliminated(NamedTuple):
    """What is left after a step backward without limits: V (its triangle), p (2n,), and sums and least pivot as in `Backward`.

    ``scaled``: D⁻¹ Y (n, 2n + 1). ``unit``: the columns of U beside its diagonal, one after the other.
    """

    V: Array
    p: Array
    first: Array
    second: Array
    least: Array
    scaled: Array
    unit: Array


class InForces(NamedTuple):
    """The feedback of a step: ``feed`` (n,), ``gains`` (n, 2n), and by how much a force would be beyond its limits."""

    feed: Array
    gains: Array
    beyond: Array


def eliminated(
    V: Array, p: Array, first: Array, second: Array, least: Array, L: Array, l: Array, gap: Array | None, h: Array
) -> Eliminated:
    """One step without limits or regularisation."""
    n = l.shape[-1] // 3
    m = 2 * n
    V, L = whole(V, m), whole(L, 3 * n)
    g = p
    if gap is not None:
        V_gap = matvec(V, gap)
        g, first, second = p + V_gap, first + dot(gap, p), second + dot(gap, V_gap)
    Q_y = l + concat([g[:n], zeros(n), h * g[:n] + g[n:]])
    Q_wx, Q_ww = _by_w(V, L, h)
    rest, right = Q_ww, concat([Q_wx, Q_y[m:, None]])
    rows, inverses, scaled, unit = [], [], [], []
    for k in range(n - 1, -1, -1):
        column, row = rest[:k, k], right[k]
        inverses.append(1.0 / rest[k, k])
        unit.append(column * inverses[-1])
        rows.append(row)
        scaled.append(row * inverses[-1])
        rest = rest[:k, :k] - unit[-1][:, None] * column
        right = right[:k] - unit[-1][:, None] * row
    left = []
    for i, j in zip(*np.triu_indices(m), strict=True):
        x = L[i, j] + V[i, j] if j < n else L[i, j]
        for row, by_pivot in zip(rows, scaled, strict=True):
            x = x - by_pivot[i] * row[j]
        left.append(x)
    x, paid = Q_y[:m], 0.0 * first
    for row, by_pivot in zip(rows, scaled, strict=True):
        x, paid = x - by_pivot[:m] * row[m], paid + by_pivot[m] * row[m]
    return Eliminated(
        stack(left), x, first - paid, second + paid, lesser(least, inverses), stack_vectors(scaled[::-1]),
        concat(unit) if n > 1 else zeros(0),
    )  # fmt: skip


def in_forces(scaled: Array, unit: Array, T: Array, tau: Array, lower: Array, upper: Array) -> InForces:
    """The feedback that `eliminated` has found, as one of forces."""
    n = tau.shape[-1]
    m = 2 * n
    rows: list[Array] = []
    at = {k: slice((n - 1) * n // 2 - k * (k + 1) // 2, (n - 1) * n // 2 - k * (k - 1) // 2) for k in range(n)}
    for k in range(n):  # Uᵀ w = −D⁻¹ Y, from the first row on
        row = -scaled[k]
        for j, x in enumerate(rows):
            row = row - unit[at[k]][j] * x
        rows.append(row)
    W = matmul(T[:, m:], stack_vectors(rows))
    feed = W[:, m]
    over, under = tau + feed - upper, lower - tau - feed
    beyond = 0.0 * feed[0] - np.inf
    for x in [*(over[k] for k in range(n)), *(under[k] for k in range(n))]:
        beyond = larger(beyond, x)
    return InForces(feed, W[:, :m] + T[:, :m], beyond)


def within_limits(
    V: Array, p: Array, first: Array, second: Array, least: Array, F_v: Array, L: Array, l: Array, gap: Array | None,
    lower: Array | None, upper: Array | None, mu: Array, h: Array,
) -> Backward:  # fmt: skip
    """One step within bounds (n,) of the change of the forces, and with a regularisation; V (2n, 2n) is whole."""
    n = l.shape[-1] // 3
    m = 2 * n
    L = whole(L, 3 * n)
    g = p
    if gap is not None:
        V_gap = matvec(V, gap)
        g, first, second = p + V_gap, first + dot(gap, p), second + dot(gap, V_gap)
    Q_y = l + concat([g[:n], zeros(n), h * g[:n] + g[n:]])
    Q_wx, Q_ww = _by_w(V, L, h)
    Q_xx = L[:m, :m] + concat([concat([V[:n, :n], zeros(n, n)]), zeros(n, m)], axis=-2)
    q = concat([Q_y[:m], zeros(n)]) + matvec(transpose(F_v), Q_y[m:])
    half = looped_matmul(transpose(F_v), 0.5 * looped_matmul(Q_ww, F_v) + concat([Q_wx, zeros(n, n)]))
    inner = concat([concat([Q_xx, zeros(m, n)]), zeros(n, 3 * n)], axis=-2)
    limits = Limits(lower, upper, mu, F_v[:, m:] / h)
    return least_by_forces(inner + half + transpose(half), q, first, second, least, limits)


def _by_w(V: Array, L: Array, h: Array) -> tuple[Array, Array]:
    """Q_wx and Q_ww."""
    n = V.shape[-1] // 2
    m = 2 * n
    V_qq, V_qv = V[:n, :n], V[:n, n:]
    Q_wx = L[m:, :m] + concat([h * V_qq + transpose(V_qv), zeros(n, n)])
    return Q_wx, L[m:, m:] + h * (h * V_qq + V_qv + transpose(V_qv)) + V[n:, n:]


def larger(x: Array, y: Array) -> Array:
    """The larger of two numbers; NaN stays."""
    return where(y > x, y, where(y <= x, x, y))


def triangle(A: Array) -> Array:
    """The upper triangle of A (..., n, n), row by row."""
    return A[(..., *np.triu_indices(A.shape[-1]))]


def whole(x: Array, n: int) -> Array:
    """The symmetric matrix (n, n) of an upper triangle."""
    return x[_places(n)]


@lru_cache(maxsize=64)
def _places(n: int) -> Array:
    places = np.zeros((n, n), int)
    places[np.triu_indices(n)] = np.arange(n * (n + 1) // 2)
    return places + np.triu(places, 1).T
