"""Riccati's recursion of one step, backward in time: what is yet to be paid, and the feedback that pays least.

Near a motion the cost from the next step on is p·x⁺ + ½ x⁺ᵀ V x⁺ for a displacement x⁺ = F z + d, z = (x, δτ), of its state,
where d is the gap between where the step leads and where the next one begins. With l and L, gradient and Hessian of the step's
own cost and, for `ddp`, of its dynamics, the cost is a quadratic function of z [JM70; TMT14; GNSFB18]::

    Q_z = l + Fᵀ (p + V d),     Q_zz = L + Fᵀ V F

and its minimum over δτ, within the limits of the forces [TMT14], is δτ = k + K x, where rows of K are 0 for forces at a
limit. What is left to be paid before the step is ::

    p ← Q_x + Q_xu k,     V ← Q_xx + Q_xu K

A regularisation is a cost ½ μ δτᵀ M⁻¹ δτ of the change: it weighs the change of acceleration by the kinetic energy that it takes,
½ δaᵀ M δa, and so does not depend on units or coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import dot, factor, inverse, looped_matmul, matvec, solve, transpose, where
from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.box import minimum_in_box


class Backward(NamedTuple):
    """What is left after a step backward: V (2n, 2n), p (2n,), sums of k·Q_u and k·Q_uu k, and the least 1/pivot of Q_uu so far.

    Q_uu is that with the regularisation. The step's feedback is ``feed`` (n,) and ``gains`` (n, 2n).
    """

    V: Array
    p: Array
    first: Array
    second: Array
    least: Array
    feed: Array
    gains: Array


class Limits(NamedTuple):
    """Bounds of the change of the forces (n,), None if nothing bounds it, and the regularisation μ with M⁻¹ (n, n)."""

    lower: Array | None
    upper: Array | None
    mu: Array
    inverse_mass: Array


def backward(
    V: Array, p: Array, first: Array, second: Array, least: Array, F: Array, L: Array, l: Array, gap: Array | None,
    lower: Array | None, upper: Array | None, mu: Array, h: Array,
) -> Backward:  # fmt: skip
    """One step; ``lower`` and ``upper`` (n,) bound the change of the forces, None if nothing does."""
    m = F.shape[-2]
    n = F.shape[-1] - m
    g = p
    if gap is not None:  # what it costs counts as well: the model is of the whole change
        V_gap = matvec(V, gap)
        g, first, second = p + V_gap, first + dot(gap, p), second + dot(gap, V_gap)
    q = l + matvec(transpose(F), g)
    Q = L + looped_matmul(transpose(F), looped_matmul(V, F))
    return least_by_forces(Q, q, first, second, least, Limits(lower, upper, mu, F[m - n :, m:] / h))


def least_by_forces(Q: Array, q: Array, first: Array, second: Array, least: Array, limits: Limits) -> Backward:
    """What is left of the quadratic function Q, q of z (3n,) where δτ is best, and the δτ that is."""
    n = q.shape[-1] // 3
    m = 2 * n
    Q_ux, Q_uu, Q_u = Q[m:, :m], Q[m:, m:], q[m:]
    regular = Q_uu + limits.mu * 0.5 * (limits.inverse_mass + transpose(limits.inverse_mass))
    if limits.lower is None:
        factors = factor(regular, guarded=False)
        feed, gains = -solve(factors, Q_u), -looped_matmul(inverse(factors), Q_ux)
    else:
        within = minimum_in_box(regular, Q_u, limits.lower, limits.upper)
        factors, feed = within.factors, within.x
        free = within.free[:, None] * transpose(within.free[:, None])
        gains = -looped_matmul(free * inverse(factors), Q_ux)
    V = Q[:m, :m] + looped_matmul(transpose(Q_ux), gains)
    # 0 but where limits were not settled, and the change is only cut to them
    slope = Q_u + matvec(regular, feed)
    return Backward(
        0.5 * (V + transpose(V)),
        q[:m] + matvec(transpose(Q_ux), feed) + matvec(transpose(gains), slope),
        first + dot(feed, Q_u),
        second + dot(feed, matvec(regular, feed)),
        lesser(least, factors.inverses),
        feed,
        gains,
    )


def lesser(least: Array, inverses: list[Array]) -> Array:
    """The least of some numbers; NaN stays."""
    for x in inverses:
        least = where(x < least, x, where(x >= least, least, x))
    return least
