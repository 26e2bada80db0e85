"""The minimum of a convex quadratic function within bounds, by active sets in a fixed number of rounds.

For ½ xᵀH x + gᵀx with lower ≤ x ≤ upper, some entries are held at their bounds and the others are free. Each round solves for
the free ones and looks at signs [HIK03]: one that left the bounds is held from then on, one that is held is freed
if the slope leads inwards::

    H_ff x_f = −(g_f + H_fh x_h),     held: x_i + s_i beyond a bound,  where s = −(H x + g)/H_ii on held, 0 on free

A few rounds settle the sets as a rule; otherwise what is free is cut to the bounds, which is still a step within them.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import Factors, factor, identity, matvec, solve, where
from torsor.arrays.typing import Array

ROUNDS = 3


class WithinBox(NamedTuple):
    """The minimum x (m,), the factors of H with held rows and columns as those of 1, and what is free, 1 or 0 (m,)."""

    x: Array
    factors: Factors
    free: Array


def minimum_in_box(H: Array, g: Array, lower: Array, upper: Array, rounds: int = ROUNDS) -> WithinBox:
    """The minimum for a positive definite H (m, m), g (m,), bounds (m,) with lower ≤ upper, which may be infinite."""
    m = g.shape[-1]
    diagonal = H[..., range(m), range(m)]
    free = 0.0 * g + 1.0
    held_at = 0.0 * g
    for _ in range(rounds):
        factors = factor(_with_held(H, free), guarded=False)
        x = held_at + free * solve(factors, free * -(g + matvec(H, held_at)))
        slope = (free - 1.0) * (matvec(H, x) + g) / diagonal
        low, high = x + slope < lower, x + slope > upper
        held_at = where(low, lower, where(high, upper, 0.0))
        free = where(low, 0.0, where(high, 0.0, 1.0))
    factors = factor(_with_held(H, free), guarded=False)
    x = held_at + free * solve(factors, free * -(g + matvec(H, held_at)))
    return WithinBox(where(x < lower, lower, where(x > upper, upper, x)), factors, free)


def _with_held(H: Array, free: Array) -> Array:
    """H with the rows and columns of what is held replaced by those of its diagonal."""
    m = free.shape[-1]
    both = free[..., :, None] * free[..., None, :]
    diagonal = (1.0 - free) * H[..., range(m), range(m)]
    return H * both + identity(m) * diagonal[..., None, :]
