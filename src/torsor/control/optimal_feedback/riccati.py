"""Riccati's recursion of one step, backward in time: what is yet to be paid, and the feedback that pays least.

Near a motion the cost from the next step on is p·x⁺ + ½ x⁺ᵀ V x⁺ for a displacement x⁺ = F z + d, z = (x, δτ), of its state, where d is the
gap between where the step leads and where the next one begins. With l and L, gradient and Hessian of the step's own cost and, for
`ddp`, of its dynamics, the cost is a quadratic function of z [JM70, §2.2; TMT14, (5); GNSFB18, (15)]::

    Q_z = l + Fᵀ (p + V d),     Q_zz = L + Fᵀ V F

and its minimum over δτ, within the limits of the forces [TMT14, (9)–(12)], is δτ = k + K x, after which with all terms, so
that a regularised K does no harm [TET12, (11)]::

    p ← Q_x + Kᵀ Q_uu k + Kᵀ Q_u + Q_xuk,     V ← Q_xx + Kᵀ Q_uu K + Kᵀ Q_ux + Q_xu K

The regularisation μ M⁻¹ of Q_uu weighs the change of acceleration by the kinetic energy it takes, ½ δaᵀ M δa: it does not
depend on units or coordinates.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, factor, looped_matmul, matvec, solve, solve_columns, transpose, where
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
    V: Array, p: Array, first: Array, second: Array, least: Array, F: Array, L: Array, l: Array, gap: Array,  # noqa: E741
    lower: Array | None, upper: Array | None, mu: Array, h: Array,
) -> Backward:  # fmt: skip
    """One step; ``lower`` and ``upper`` (n,) bound the change of the forces, None if nothing does."""
    m = F.shape[-2]
    n = F.shape[-1] - m
    q = l + matvec(transpose(F), p + matvec(V, gap))
    Q = L + looped_matmul(transpose(F), looped_matmul(V, F))
    Q_ux, Q_uu, Q_u = Q[m:, :m], Q[m:, m:], q[m:]
    inverse_mass = F[m - n :, m:] / h
    regular = Q_uu + mu * 0.5 * (inverse_mass + transpose(inverse_mass))
    if lower is None:
        factors = factor(regular, guarded=False)
        feed, gains = -solve(factors, Q_u), -solve_columns(factors, Q_ux)
    else:
        within = minimum_in_box(regular, Q_u, lower, upper)
        factors, feed = within.factors, within.x
        gains = -within.free[:, None] * solve_columns(factors, within.free[:, None] * Q_ux)
    for inverse in factors.inverses:
        least = where(inverse < least, inverse, where(inverse >= least, least, inverse))  # NaN stays
    slope = matvec(Q_uu, feed)
    rest = looped_matmul(Q_uu, gains) + Q_ux
    V_new = Q[:m, :m] + looped_matmul(transpose(concat([gains, Q_ux], axis=-2)), concat([rest, gains], axis=-2))
    p_new = q[:m] + matvec(transpose(gains), slope + Q_u) + matvec(transpose(Q_ux), feed)
    return Backward(
        0.5 * (V_new + transpose(V_new)), p_new, first + (feed * Q_u).sum(), second + (feed * slope).sum(), least, feed, gains
    )
