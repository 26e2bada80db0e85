"""Which limits of w are active in the least |A w − b|² with l ≤ w ≤ u, guessed by sweeps over its numbers in machine code.

Each number in turn is made the best within its limits while the others stay: the Gauss–Seidel iteration [GVL13, §11.2] with
bounds. Most limits are active, or not, as they are in the optimum long before w itself is near to it. The program depends on
nothing but how many numbers w has.
"""

from __future__ import annotations

from functools import lru_cache

from torsor.arrays import stack, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace

SWEPT = 32  # numbers of w at most: a sweep takes their square in operations
OPERATIONS = 2000  # about, of all sweeps, a multiplication and a sum each
MOST, FEWEST = 40, 4  # sweeps


def active_sides(H: Array, slope: Array, lower: Array, upper: Array, w: Array) -> Array:
    """The sides 1 or −1 of limits that w (k,) is at after some sweeps from ``w`` on, 0 elsewhere, with AᵀA and Aᵀ b given."""
    sides: Array = _kernel(len(w))(H, slope, lower, upper, w)
    return sides


@lru_cache(maxsize=32)
def _kernel(k: int) -> Kernel:
    shapes = {"H": (k, k), "slope": (k,), "lower": (k,), "upper": (k,), "w": (k,)}
    return Kernel(f"sweeps over {k} numbers", trace(_sweeps, shapes, Level.FULL))


def _sweeps(H: Array, slope: Array, lower: Array, upper: Array, w: Array) -> dict[str, Array]:
    k = slope.shape[-1]
    still = [H[j, j] <= 0.0 for j in range(k)]
    steps = [where(still[j], 0.0, 1.0 / where(still[j], 1.0, H[j, j])) for j in range(k)]
    x = [w[j] for j in range(k)]
    for _ in range(min(max(OPERATIONS // k**2, FEWEST), MOST)):
        for j in range(k):
            rest = slope[j]
            for i in range(k):
                rest = rest - H[j, i] * x[i]
            moved = x[j] + steps[j] * rest
            moved = where(moved < lower[j], lower[j], moved)
            x[j] = where(moved > upper[j], upper[j], moved)
    return {"side": stack([where(x[j] >= upper[j], 1.0, where(x[j] <= lower[j], -1.0, 0.0)) for j in range(k)])}
