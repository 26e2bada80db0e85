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

Of the semi-implicit step, with joints of one number, δq⁺ = δq + h δv⁺: with the lower rows F_v of F, and V seen from (δq, δv⁺),
half the products are enough.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, factor, inverse, looped_matmul, matvec, solve, transpose, where, zeros
from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.box import minimum_in_box


class Backward(NamedTuple):
    """What is left after a step backward: V (2n, 2n), p (2n,), sums of k·Q_u and k·Q_uu k, and the least 1/pivot of Q_uu so far.

    The step's feedback is ``feed`` (n,) and ``gains`` (n, 2n).
    """

    V: Array
    p: Array
    first: Array
    second: Array
    least: Array
    feed: Array
    gains: Array


def backward(
    V: Array, p: Array, first: Array, second: Array, least: Array, F: Array, L: Array, l: Array, gap: Array,
    lower: Array | None, upper: Array | None, mu: Array, h: Array, moved_by_velocity: bool,
) -> Backward:  # fmt: skip
    """One step; ``lower`` and ``upper`` (n,) bound the change of the forces, None if nothing does."""
    m = F.shape[-2]
    n = F.shape[-1] - m
    q = l + matvec(transpose(F), p + matvec(V, gap))
    Q = L + (_by_velocity(V, F[n:], h) if moved_by_velocity else looped_matmul(transpose(F), looped_matmul(V, F)))
    Q_ux, Q_uu, Q_u = Q[m:, :m], Q[m:, m:], q[m:]
    inverse_mass = F[m - n :, m:] / h
    regular = Q_uu + mu * 0.5 * (inverse_mass + transpose(inverse_mass))
    if lower is None:
        factors = factor(regular, guarded=False)
        feed, gains = -solve(factors, Q_u), -looped_matmul(inverse(factors), Q_ux)
    else:
        within = minimum_in_box(regular, Q_u, lower, upper)
        factors, feed = within.factors, within.x
        free = within.free[:, None] * transpose(within.free[:, None])
        gains = -looped_matmul(free * inverse(factors), Q_ux)
    for x in factors.inverses:
        least = where(x < least, x, where(x >= least, least, x))  # NaN stays
    V_new = Q[:m, :m] + looped_matmul(transpose(Q_ux), gains)
    p_new = q[:m] + matvec(transpose(Q_ux), feed)
    # What the gap costs counts as well: the model is of the whole change
    first = first + (feed * Q_u).sum() + (gap * p).sum()
    second = second + (feed * matvec(Q_uu, feed)).sum() + (gap * matvec(V, gap)).sum()
    return Backward(0.5 * (V_new + transpose(V_new)), p_new, first, second, least, feed, gains)


def _by_velocity(V: Array, F_v: Array, h: Array) -> Array:
    """Fᵀ V F with F = (1 0 0) + h F_v above F_v."""
    n = F_v.shape[-2]
    qq, qv = V[:n, :n], V[:n, n:] + h * V[:n, :n]
    vv = V[n:, n:] + h * (V[n:, :n] + qv)
    W = looped_matmul(concat([qv, vv], axis=-2), F_v)
    on_q = concat([W[:n], zeros(2 * n, 3 * n)], axis=-2)
    inner = concat([concat([qq, zeros(n, 2 * n)]), zeros(2 * n, 3 * n)], axis=-2)
    return looped_matmul(transpose(F_v), W[n:]) + on_q + transpose(on_q) + inner
