"""What an embedded pair of explicit Runge–Kutta methods is: its coefficients, and its polynomial between the ends of a step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array


@dataclass(frozen=True, eq=False)
class EmbeddedPair:
    """Coefficients of a pair with s stages a step, whose last evaluation is the first of the next step [HNW93, §II.4].

    K_i = f(t + c_i h, y + h Σ_j A_ij K_j), i = 1 … s, y₁ = y + h Σ b_i K_i, K_{s+1} = f(t + h, y₁), and further stages from these
    for the polynomial between the ends alone [HNW93, §II.6].
    """

    name: str
    order: int
    estimator_order: int
    """The error of a step that is estimated shrinks with h to this power plus one."""
    c: Array
    """(s,)"""
    A: Array
    """(s, s)"""
    b: Array
    """(s,)"""
    errors: Array
    """(1 or 2, s + 1): weights of K_1 … K_{s+1} in each estimate of the error."""
    c_extra: Array
    """(r,) places of the further stages."""
    A_extra: Array
    """(r, s + 1 + r)"""
    D: Array
    """(d, s + 1 + r): weights of all stages in the polynomial's coefficients beyond the third."""

    @property
    def stages(self) -> int:
        """How many evaluations an attempted step takes."""
        return len(self.b)

    def polynomial(self, h: Array, K: Array) -> Array:
        """Coefficients (S, 3 + d, m) for `between` of S steps of lengths h (S,), from all stages K (S, s + 1 + r, m)."""
        h, s = h[:, None], self.stages
        rise = h * weighted(self.b, K)
        first, last = h * K[:, 0], h * K[:, s]
        rest = [h * weighted(row, K) for row in self.D]
        return np.stack([rise, first - rise, 2.0 * rise - (first + last), *rest], axis=1)

    @staticmethod
    def between(coefficients: Array, x: Array) -> Array:
        """Rise (S, m) since the start of each step at the fraction x (S,) of its length, from coefficients (S, k, m).

        x (F₀ + (1 − x) (F₁ + x (F₂ + (1 − x) (F₃ + …)))) [HNW93, §II.6].
        """
        x = x[:, None]
        total = np.zeros_like(coefficients[:, 0])
        for k in reversed(range(coefficients.shape[1])):
            total = (total + coefficients[:, k]) * (x if k % 2 == 0 else 1.0 - x)
        return total


def weighted(weights: Array, K: Array) -> Array:
    """Σ_j weights_j K_j (S, m) of stages K (S, j, m), each step by itself: the same digits however many there are."""
    total = np.zeros_like(K[:, 0])
    for j in np.flatnonzero(weights):
        total = total + weights[j] * K[:, j]
    return total
