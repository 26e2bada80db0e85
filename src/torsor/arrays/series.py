"""Every removable singularity of the library, as functions of x = θ².

Below θ = 2 a Taylor series is summed (16 terms, exact to rounding); above, the closed form, which has lost nothing to
cancellation there. The closed form is fed a harmless argument where it is not used, so that derivatives of the unused
branch are finite and `jax.grad` returns numbers at θ = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

from torsor.arrays.primitives import cos, sin, sqrt, where
from torsor.arrays.typing import Array, Scalar

SWITCH = 4.0  # θ = 2
TERMS = 16


def sine_over_angle(x: Scalar) -> Scalar:
    """Sin θ / θ, with x = θ²; 1 at 0."""
    return _sum(x, _SINE, lambda t: sin(t) / t)


def versine_over_square(x: Scalar) -> Scalar:
    """(1 − cos θ) / θ², with x = θ²; 1/2 at 0."""
    return _sum(x, _VERSINE, lambda t: (1.0 - cos(t)) / (t * t))


def cubic_remainder(x: Scalar) -> Scalar:
    """(θ − sin θ) / θ³, with x = θ²; 1/6 at 0."""
    return _sum(x, _CUBIC, lambda t: (t - sin(t)) / (t * t * t))


def quartic_remainder(x: Scalar) -> Scalar:
    """(θ² + 2 cos θ − 2) / (2 θ⁴), with x = θ²; 1/24 at 0."""
    return _sum(x, _QUARTIC, lambda t: (t * t + 2.0 * cos(t) - 2.0) / (2.0 * t * t * t * t))


def quintic_remainder(x: Scalar) -> Scalar:
    """(2θ − 3 sin θ + θ cos θ) / (2 θ⁵), with x = θ²; 1/120 at 0."""
    return _sum(x, _QUINTIC, lambda t: (2.0 * t - 3.0 * sin(t) + t * cos(t)) / (2.0 * t * t * t * t * t))


def cotangent_defect(x: Scalar) -> Scalar:
    """(1 − (θ/2) cot(θ/2)) / θ², with x = θ²; 1/12 at 0. Singular, as it must be, at θ = 2π."""
    return _sum(x, _COTANGENT, lambda t: (1.0 - 0.5 * t * cos(0.5 * t) / sin(0.5 * t)) / (t * t))


def remainders(x: Scalar, count: int) -> list[Scalar]:
    """c_0 = cos θ, c_1 = sin θ/θ, c_2 = (1 − cos θ)/θ², c_3, …, ``count`` of them: c_k = Σ (−x)^j / (2j + k)!, with x = θ².

    These are Stumpff's functions, with c_k = 1/k! − x c_{k+2} and dc_k/dx = ½ (k c_{k+2} − c_{k+1}). Below θ = 2 the last two
    are summed and the others follow downwards, above upwards from cosine and sine.
    """
    small = x < SWITCH
    near, theta = where(small, x, 0.0), sqrt(where(small, SWITCH, x))
    low: list[Array] = [0.0] * count
    for k in range(count - 1, -1, -1):
        if k > count - 3:
            low[k] = _horner(near, [(-1.0) ** j / factorial(2 * j + k) for j in range(TERMS)])
        else:
            low[k] = 1.0 / factorial(k) - near * low[k + 2]
    high: list[Array] = [cos(theta), sin(theta) / theta]
    for k in range(count - 2):
        high.append((1.0 / factorial(k) - high[k]) / (theta * theta))
    return [where(small, a, b) for a, b in zip(low, high[:count], strict=True)]


def _sum(x: Array, coefficients: list[float], closed_form: Callable[[Array], Array]) -> Array:
    small = x < SWITCH
    near = where(small, x, 0.0)
    return where(small, _horner(near, coefficients), closed_form(sqrt(where(small, SWITCH, x))))


def _horner(x: Array, coefficients: list[float]) -> Array:
    total: Array = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


_SINE = [(-1.0) ** k / factorial(2 * k + 1) for k in range(TERMS)]
_VERSINE = [(-1.0) ** k / factorial(2 * k + 2) for k in range(TERMS)]
_CUBIC = [(-1.0) ** k / factorial(2 * k + 3) for k in range(TERMS)]
_QUARTIC = [(-1.0) ** k / factorial(2 * k + 4) for k in range(TERMS)]
_QUINTIC = [(-1.0) ** k * (k + 1) / factorial(2 * k + 5) for k in range(TERMS)]
# 1 − (θ/2) cot(θ/2) = Σ |B_2k| θ^2k / (2k)!, with the Bernoulli numbers B_2, B_4, …
_BERNOULLI = [
    1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510, 43867 / 798, 174611 / 330,
    854513 / 138, 236364091 / 2730, 8553103 / 6, 23749461029 / 870, 8615841276005 / 14322, 7709321041217 / 510,
]  # fmt: skip
_COTANGENT = [b / factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI)]
