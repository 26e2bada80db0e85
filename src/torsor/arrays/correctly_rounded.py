"""Functions of one or two numbers, computed in integers of as many digits as it takes and rounded once.

The C library's sine rounds differently on different processors, and a constant that differs in its last digit can make another
program: a cosine that is 6e-17 here is 0 there. These functions give the double nearest to the exact value, everywhere.

Numbers are fixed-point integers x · 2^BITS here. BITS leave more than a hundred digits beyond those of a double, so that the
rounded result is the nearest double unless the exact value lies within 2^-100 of halfway between two of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, InvalidOperation, localcontext
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
    square = sum((Fraction(x) ** 2 for x in numbers), Fraction(0))
    return rounded_root(square.numerator, square.denominator)


def rounded_root(numerator: int, denominator: int) -> float:
    """The double nearest to the square root of a quotient that is not negative."""
    if not numerator:
        return 0.0
    # 4^shift · the quotient has more than 2 · 64 + 2 bits, so that its integer root has 64: eleven more than a double,
    # and a last bit that says whether anything is left keeps a root just above halfway from being taken for halfway.
    shift = max(0, 66 + (denominator.bit_length() - numerator.bit_length()) // 2)
    scaled = (numerator << (2 * shift)) // denominator
    root = math.isqrt(scaled)
    exact = root * root == scaled and scaled * denominator == numerator << (2 * shift)
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


# Exponentials and logarithms: Python's decimal arithmetic has them to any number of digits, the same on every machine

_DIGITS = 60  # of a result, before it is rounded to a double


def _decimally(*tables: float) -> Callable[[Callable[..., Decimal]], Callable[..., float]]:
    """Of a formula in decimal numbers the function of doubles. ``tables``: its values at 0, −∞ and ∞; at NaN it is NaN."""

    def decorate(formula: Callable[[Decimal], Decimal]) -> Callable[[float], float]:
        @lru_cache(maxsize=4096)
        def ordinary(x: float) -> float:
            return _in_digits(lambda: formula(Decimal(x)), abs(x))

        def function(x: float) -> float:
            if x == 0.0:
                return tables[0] or x  # an odd function makes −0 of −0
            if math.isinf(x):
                return tables[1 if x < 0.0 else 2]
            return x if math.isnan(x) else ordinary(x)

        function.__doc__ = formula.__doc__
        return function

    return decorate


def _in_digits(compute: Callable[[], Decimal], size: float) -> float:
    """The double nearest to a decimal number. As many digits more as ``size`` is small: 1 + x keeps all of x."""
    digits = _DIGITS + 2 * max(0, -math.frexp(size)[1])
    try:
        with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation])):
            return float(compute())
    except InvalidOperation:  # the logarithm of a negative number, a result beyond all exponents
        return math.nan


def _exponential(x: Decimal) -> Decimal:
    return max(min(x, Decimal(5000)), Decimal(-5000)).exp()  # beyond, a double is 0 or ∞


@_decimally(1.0, 0.0, math.inf)
def exp(x: Decimal) -> Decimal:
    """e^x."""
    return _exponential(x)


@_decimally(0.0, -1.0, math.inf)
def expm1(x: Decimal) -> Decimal:
    """e^x − 1."""
    return _exponential(x) - 1


@_decimally(0.0, -math.inf, math.inf)
def sinh(x: Decimal) -> Decimal:
    """Hyperbolic sine."""
    return (_exponential(x) - _exponential(-x)) / 2


@_decimally(1.0, math.inf, math.inf)
def cosh(x: Decimal) -> Decimal:
    """Hyperbolic cosine."""
    return (_exponential(x) + _exponential(-x)) / 2


@_decimally(-math.inf, math.nan, math.inf)
def log(x: Decimal) -> Decimal:
    """Natural logarithm; NaN of a negative number."""
    return x.ln()


@_decimally(0.0, math.nan, math.inf)
def log1p(x: Decimal) -> Decimal:
    """log(1 + x)."""
    return (1 + x).ln()


@_decimally(0.0, -math.inf, math.inf)
def asinh(x: Decimal) -> Decimal:
    """Inverse of the hyperbolic sine."""
    return (abs(x) + (x * x + 1).sqrt()).ln().copy_sign(x)


@_decimally(math.nan, math.nan, math.inf)
def acosh(x: Decimal) -> Decimal:
    """Inverse of the hyperbolic cosine; NaN below 1."""
    return (x + (x * x - 1).sqrt()).ln()


@_decimally(0.0, math.nan, math.nan)
def atanh(x: Decimal) -> Decimal:
    """Inverse of the hyperbolic tangent; ±∞ at ±1, NaN beyond."""
    return Decimal("inf").copy_sign(x) if abs(x) == 1 else ((1 + x) / (1 - x)).ln() / 2


@_decimally(0.0, -math.inf, math.inf)
def cbrt(x: Decimal) -> Decimal:
    """Cube root, negative of a negative number."""
    return (abs(x).ln() / 3).exp().copy_sign(x)


def hypot(x: float, y: float) -> float:
    """Length of (x, y); ∞ if one of them is, whatever the other."""
    return math.inf if math.isinf(x) or math.isinf(y) else norm([x, y])


def power(x: float, y: float) -> float:
    """x to the power of y, with IEEE's conventions; NaN for a negative x unless y is whole."""
    if x in (0.0, 1.0) or y == 0.0 or not (math.isfinite(x) and math.isfinite(y)) or (x < 0.0 and y % 1.0):
        try:
            return math.pow(x, y)  # 0, ±1, ±∞ or NaN
        except ValueError:  # of 0 to a negative power, and of a negative number
            return math.nan if x else math.inf if y % 2.0 != 1.0 else math.copysign(math.inf, x)
    size = _positive_power(abs(x), y)
    return -size if x < 0.0 and y % 2.0 == 1.0 else size


@lru_cache(maxsize=4096)
def _positive_power(x: float, y: float) -> float:
    if y.is_integer() and abs(y) <= 64.0:  # exact: it may lie halfway between two doubles
        return rounded(Fraction(x) ** int(y))
    return _in_digits(lambda: _exponential(Decimal(y) * Decimal(x).ln()), 1.0)


def fmod(x: float, y: float) -> float:
    """What is left of x after whole multiples of y, with the sign of x: exact in every library."""
    return math.fmod(x, y) if math.isfinite(x) and y != 0.0 and not math.isnan(y) else math.nan


def floor(x: float) -> float:
    """The largest whole number that is not larger."""
    return math.copysign(math.floor(x), x) if math.isfinite(x) else x
