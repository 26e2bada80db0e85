"""Slacks of all limits at one place as functions of three coefficients, and what an interior-point method takes of them.

With y = ẇ² and its derivatives by w, forces and accelerations are a y'/2 + b y (+ friction, a function of √y), jerks are
√y (α y + β y' + γ y''), velocities q' √y. All slacks are positive::

    high − (a y'/2 + b y + friction),   (a y'/2 + b y + friction) − low,   1 − top y,   1/√y ∓ (α y + β y' + γ y'')

The last are jerks, divided by √y and their limit: convex functions, so that a step that keeps them to the first order keeps them
[DVP13]. Their curvature is left out of the matrix of Newton's method, which is positive definite then.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.motion.time_optimality.envelopes import largest


class Sizes(NamedTuple):
    """How many rows of forces and accelerations, and of jerks; and whether friction depends on speed."""

    rows: int
    jerks: int
    friction: bool

    @property
    def slacks(self) -> int:
        """How many slacks a place has."""
        return 2 * self.rows + 1 + 2 * self.jerks

    @property
    def given(self) -> dict[str, tuple[int, ...]]:
        """What a place is given, and the shapes."""
        shapes: dict[str, tuple[int, ...]] = {
            "basis": (3, 3),
            "rows": (4, self.rows),
            "top": (),
            "jerks": (3, self.jerks),
        }
        return shapes | ({"friction": (3, self.rows)} if self.friction else {})


class Slacks(NamedTuple):
    """Slacks (m,), minus their derivatives by y, y' and y'' (m,), and y."""

    value: Array
    by_y: Array
    by_first: Array
    by_second: Array
    y: Array


def slacks(coefficients: Array, given: dict[str, Array]) -> Slacks:
    """The slacks of one place, in the order of the equations above."""
    basis, (a, b, low, high) = given["basis"], (given["rows"][k] for k in range(4))
    y, first, second = (np.sum(basis[k] * coefficients) for k in range(3))
    rate = np.sqrt(y)
    force, slope = a * (0.5 * first) + b * y, b
    if "friction" in given:
        viscous, coulomb, narrow = (given["friction"][k] for k in range(3))
        part = np.tanh(narrow * rate)
        force = force + viscous * rate + coulomb * part
        slope = slope + (viscous + coulomb * narrow * (1.0 - part * part)) / (2.0 * rate)
    jerk = given["jerks"][0] * y + given["jerks"][1] * first + given["jerks"][2] * second
    limit = 1.0 / rate
    fall, top = 0.5 * limit / y, given["top"] + np.zeros(1)
    one, none = 0.0 * jerk, 0.0 * a
    return Slacks(
        concat([high - force, force - low, 1.0 - top * y, limit - jerk, limit + jerk]),
        concat([slope, -slope, top, given["jerks"][0] + fall, fall - given["jerks"][0]]),
        concat([0.5 * a, -0.5 * a, 0.0 * top, given["jerks"][1] + one, -given["jerks"][1]]),
        concat([none, none, 0.0 * top, given["jerks"][2] + one, -given["jerks"][2]]),
        y,
    )


@lru_cache(maxsize=16)
def newton_kernel(sizes: Sizes) -> Kernel:
    """Gradients of time, Σ z s and Σ log s by the three coefficients, and six entries of the matrix of Newton's method."""

    def newton(coefficients: Array, z: Array, weight: Array, **given: Array) -> dict[str, Array]:
        s = slacks(coefficients, given)
        inverse = 1.0 / s.value
        D, by = z * inverse, (s.by_y, s.by_first, s.by_second)
        local = [[np.sum(D * by[i] * by[j]) if i <= j else 0.0 for j in range(3)] for i in range(3)]
        shorter = -0.5 * weight / (s.y * np.sqrt(s.y))  # of ∫ dw/√y by y
        local[0][0] = local[0][0] - 1.5 * shorter / s.y
        basis = given["basis"]
        rows = [[local[min(i, j)][max(i, j)] for j in range(3)] for i in range(3)]
        half = [[sum(rows[i][j] * basis[j][k] for j in range(3)) for k in range(3)] for i in range(3)]
        pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
        return {
            "time": shorter * basis[0],
            "pull": _by_coefficients(basis, [np.sum(z * x) for x in by]),
            "push": _by_coefficients(basis, [np.sum(inverse * x) for x in by]),
            "matrix": np.stack([sum(basis[i][k] * half[i][m] for i in range(3)) for k, m in pairs]),
        }

    return _kernel("newton", sizes, newton, {"coefficients": (3,), "z": (sizes.slacks,), "weight": ()})


@lru_cache(maxsize=16)
def step_kernel(sizes: Sizes) -> Kernel:
    """How multipliers change along a step, and the inverses of how far slacks and multipliers may go."""

    def step(coefficients: Array, change: Array, z: Array, mu: Array, **given: Array) -> dict[str, Array]:
        s = slacks(coefficients, given)
        d = [np.sum(given["basis"][k] * change) for k in range(3)]
        fall = (s.by_y * d[0] + s.by_first * d[1] + s.by_second * d[2]) / s.value  # of slacks, as parts of them
        moved = mu / s.value - z + z * fall
        return {
            "multipliers": moved,
            "slacks": largest(concat([fall, np.stack([-d[0] / s.y])])),
            "positive": largest(-moved / z),
        }

    return _kernel("step", sizes, step, {"coefficients": (3,), "change": (3,), "z": (sizes.slacks,), "mu": ()})


@lru_cache(maxsize=16)
def left_kernel(sizes: Sizes) -> Kernel:
    """The smallest part of a slack that is left after a step, negative where y is not positive."""

    def left(coefficients: Array, after: Array, **given: Array) -> Array:
        before, now = slacks(coefficients, given), slacks(after, given)
        return where(now.y > 0.0, -largest(-now.value / before.value), -1.0)

    return _kernel("left", sizes, left, {"coefficients": (3,), "after": (3,)})


def _by_coefficients(basis: Array, by: list[Array]) -> Array:
    return np.stack([sum(basis[i][k] * by[i] for i in range(3)) for k in range(3)])


def _kernel(name: str, sizes: Sizes, function: Any, own: dict[str, tuple[int, ...]]) -> Kernel:
    return Kernel(f"{name} of {sizes.slacks} slacks", trace(function, own | sizes.given, Level.FULL))
