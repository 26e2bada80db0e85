"""Functions of one or two numbers, computed in integers of as many digits as it takes and rounded once.

The C library's sine rounds differently on different processors, and a constant that differs in its last digit can make another
program: a cosine that is 6e-17 here is 0 there. These functions give the double nearest to the exact value, everywhere.

Numbers are fixed-point integers x · 2^BITS here. BITS leave more than a hundred digits beyond those of a double, so that the
rounded result is the nearest double unless the exact value lies within 2^-100 of halfway between two of them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

BITS = 256
_ONE = 1 << BITS


def sin(x: float) -> float:
    """Sine of x, rad; NaN where x is not finite."""
    return _sine_or_cosine(x, 0) if x else x


def cos(x: float) -> float:
    """Cosine of x, rad; NaN where x is not finite."""
    return _sine_or_cosine(x, 1)


def sqrt(x: float) -> float:
    """Square root; NaN of a negative number. IEEE arithmetic rounds it once already, everywhere."""
    return math.sqrt(x) if x >= 0.0 else math.nan


def atan2(y: float, x: float) -> float:
    """Angle of the point (x, y) in [−π, π], with IEEE's conventions for zeros, infinities and NaN."""
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0.0 or y == 0.0:
        return math.atan2(y, x)  # a multiple of π/4, with the sign of y: these are tables in every library
    return math.copysign(_angle(abs(y), x), y)


def tanh(x: float) -> float:
    """Hyperbolic tangent."""
    if not math.isfinite(x) or abs(x) > 20.0:
        return math.nan if math.isnan(x) else math.copysign(1.0, x)
    return _tanh(x) if x else x


def norm(numbers: list[float]) -> float:
    """Root of the sum of squares, without overflow or underflow on the way."""
    if not all(map(math.isfinite, numbers)):
        return math.nan if any(map(math.isnan, numbers)) else math.inf
    numbers = [x for x in numbers if x]
    if len(numbers) == 1:
        return abs(numbers[0])
    return rounded_root(sum((Fraction(x) ** 2 for x in numbers), Fraction(0)))


def rounded_root(square: Fraction) -> float:
    """The double nearest to the square root of a number that is not negative."""
    if not square:
        return 0.0
    # 4^shift · square has more than 2 · 64 + 2 bits, so that its integer root has 64: eleven more than a double, and a last
    # bit that says whether anything is left keeps a root that is just above halfway from being taken for halfway.
    shift = max(0, 66 + (square.denominator.bit_length() - square.numerator.bit_length()) // 2)
    scaled = (square.numerator << (2 * shift)) // square.denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and scaled * square.denominator == square.numerator << (2 * shift)
    return _divided(2 * root + (not exact), 2 << shift)


def rounded(x: Fraction) -> float:
    """The double nearest to x, ±∞ beyond the largest."""
    return _divided(x.numerator, x.denominator)


def _divided(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator  # Python rounds the quotient of two integers once
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def _fixed(x: float) -> int:
    """x · 2^BITS; what lies below the last bit of it is cut off."""
    numerator, denominator = x.as_integer_ratio()
    return (numerator << BITS) // denominator


@lru_cache(maxsize=4096)
def _sine_or_cosine(x: float, quarters: int) -> float:
    """sin(x + quarters · π/2)."""
    if not math.isfinite(x):
        return math.nan
    if abs(x) < 2.0**-60:  # x³/6 is beyond the last digit of x
        return 1.0 if quarters else x
    numerator, denominator = x.as_integer_ratio()
    # The multiple of π/2 that is taken away is as long as x, and its error must stay below the last bit that counts. A
    # double comes no closer to a multiple of π/2 than 2^-61, so that 61 bits more are always enough.
    bits = BITS + 64 + max(0, numerator.bit_length() - denominator.bit_length())
    half_pi, fixed = _pi(bits) >> 1, (numerator << bits) // denominator
    k = (2 * fixed + half_pi) // (2 * half_pi)
    r = fixed - k * half_pi
    turn = (k + quarters) % 4
    value = _series(r, bits, 1 << bits, 0) if turn % 2 else _series(r, bits, r, 1)
    return _divided(-value if turn >= 2 else value, 1 << bits)


def _series(r: int, bits: int, term: int, k: int) -> int:
    """Σ ± r^k / k! from the first ``term``: sine of r from (r, 1), cosine from (1, 0)."""
    square, total = (r * r) >> bits, term
    while term:
        k += 2
        term = -((term * square) >> bits) // (k * (k - 1))
        total += term
        if -2 <= term <= 0:  # floor division keeps −1 for ever
            break
    return total


@lru_cache(maxsize=16)
def _pi(bits: int) -> int:
    """π · 2^bits: 16 atan(1/5) − 4 atan(1/239), by Machin, with guard bits."""
    guard = 16
    return (16 * _atan_of_inverse(5, bits + guard) - 4 * _atan_of_inverse(239, bits + guard)) >> guard


def _atan_of_inverse(n: int, bits: int) -> int:
    power = (1 << bits) // n
    total, k = power, 1
    while power:
        power //= -n * n
        k += 2
        total += power // k
        if -1 <= power <= 0:
            break
    return total


@lru_cache(maxsize=4096)
def _angle(y: float, x: float) -> float:
    """atan2 of a positive y and an x that is not zero."""
    ratio = Fraction(y) / abs(Fraction(x))
    if x > 0.0 and ratio < Fraction(1, 1 << 64):
        return rounded(ratio)  # t³/3 is beyond the last digit of t
    small = min(ratio, 1 / ratio)
    angle = _atan((small.numerator << BITS) // small.denominator)
    if ratio > 1:
        angle = (_pi(BITS) >> 1) - angle
    if x < 0.0:
        angle = _pi(BITS) - angle
    return _divided(angle, _ONE)


def _atan(t: int) -> int:
    """atan for 0 ≤ t ≤ 1: halved three times, atan t = 2 atan(t / (1 + √(1 + t²))), then the series."""
    halvings = 3
    for _ in range(halvings):
        t = (t << BITS) // (_ONE + math.isqrt((_ONE << BITS) + t * t))
    square, power, total, k = (t * t) >> BITS, t, t, 1
    while power > 0:
        power = (power * square) >> BITS
        k += 2
        total += -(power // k) if k % 4 == 3 else power // k
    return total << halvings


@lru_cache(maxsize=4096)
def _tanh(x: float) -> float:
    """(e^2x − 1) / (e^2x + 1), the numerator summed as a series so that nothing cancels."""
    if abs(x) < 2.0**-30:
        return rounded(Fraction(x) - Fraction(x) ** 3 / 3 + 2 * Fraction(x) ** 5 / 15)
    y = 2 * _fixed(abs(x))
    halvings = 8
    term = total = y >> halvings
    k = 1
    while term:
        k += 1
        term = ((term * (y >> halvings)) >> BITS) // k
        total += term
    for _ in range(halvings):  # e^2a − 1 = (e^a − 1)(e^a − 1 + 2)
        total = (total * (total + 2 * _ONE)) >> BITS
    return math.copysign(total / (total + 2 * _ONE), x)
