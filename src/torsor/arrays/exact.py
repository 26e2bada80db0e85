"""Arithmetic on a robot's own numbers that is the same on every machine.

What BLAS, NumPy's vector code and the C library make of the last digit depends on the processor, and so then does which
constants of a program are exactly 0 or 1. Inside `exact_constants` the primitives of `torsor.arrays` do these steps
differently where they are given plain numbers: sums of products are accumulated exactly and rounded once; sines, arc functions
and norms are computed in integers and rounded once (`correctly_rounded`). ``+ − · /`` and square roots of numbers are rounded
once by IEEE arithmetic on every machine.

One rule says what is zero. The factors of a sum of products are known to a few units in their last digit, so a sum that is at
most ROUNDING times the absolute values of its terms is zero but for rounding, and becomes 0. `settled` and `settled_rotation`
are the same rule for numbers of known size, and for rotations, whose entries may be ±1 but for rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar, Token
from fractions import Fraction
from math import copysign, fsum, isfinite, prod
from types import SimpleNamespace
from typing import ParamSpec, TypeVar

import numpy

from torsor.arrays import correctly_rounded
from torsor.arrays.typing import Array, Rotation

ROUNDING = 4 * float(numpy.finfo(float).eps)
_ON: ContextVar[bool] = ContextVar("exact constants", default=False)
P = ParamSpec("P")
R = TypeVar("R")


class exact_constants:  # noqa: N801 it is called like a function
    """While this lasts, in this thread, primitives given plain numbers compute them exactly. Also a decorator.

    Off (``on=False``) inside it: for states that are evaluated on the way, in the usual arithmetic.
    """

    def __init__(self, on: bool = True) -> None:
        self._on = on
        self._token: Token[bool] | None = None

    def __enter__(self) -> None:
        self._token = _ON.set(self._on)

    def __exit__(self, *_: object) -> None:
        assert self._token is not None
        _ON.reset(self._token)

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """``function``, in exact arithmetic."""
        on = self._on

        @functools.wraps(function)
        def inner(*args: P.args, **kwargs: P.kwargs) -> R:
            token = _ON.set(on)  # of this call, for several threads may be in the function
            try:
                return function(*args, **kwargs)
            finally:
                _ON.reset(token)

        return inner


def is_exact() -> bool:
    """Whether plain numbers are constants of a robot or of a program here, and computed exactly."""
    return _ON.get()


def settled(x: Array, scale: Array) -> Array:
    """``x`` with 0 where it is zero to the rounding of numbers of size ``scale``; all other entries untouched."""
    return numpy.where(numpy.abs(x) <= ROUNDING * scale, 0.0, x)


def settled_rotation(R: Rotation) -> Rotation:
    """A rotation (..., 3, 3) with 0 and ±1 where its entries are that but for rounding; all other entries untouched."""
    if R.shape == (3, 3):  # a handful of numbers is done before NumPy has begun
        return numpy.array([list(map(settled_entry, row)) for row in R.tolist()])
    return numpy.where(numpy.abs(numpy.abs(R) - 1.0) <= ROUNDING, numpy.sign(R), settled(R, 1.0))


def settled_entry(x: float) -> float:
    """An entry of a rotation, or 0 or ±1 where it is that but for rounding."""
    size = abs(x)
    return 0.0 if size <= ROUNDING else copysign(1.0, x) if abs(size - 1.0) <= ROUNDING else x


def coarse(x: Array) -> Array:
    """``x`` to 24 bits: for numbers whose last digits depend on the processor and mean nothing, such as random ones."""
    mantissa, exponent = numpy.frexp(x)
    return numpy.ldexp(numpy.round(mantissa * 2.0**24), exponent - 24)


# What primitives do instead of NumPy


def matmul(A: Array, B: Array) -> Array:
    """A B, (..., m, k) times (..., k, n), each entry rounded once."""
    A, B = numpy.asarray(A), numpy.asarray(B)
    if A.dtype.kind != "f" or B.dtype.kind != "f":
        return numpy.matmul(A, B)  # of indices and counts, exact as it is
    if A.ndim == B.ndim == 2:
        columns = B.T.tolist()
        rows = [[sum_of_products(row, column) for column in columns] for row in A.tolist()]
        return numpy.array(rows, dtype=float).reshape(A.shape[0], B.shape[1])
    batch = numpy.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    pairs = zip(_matrices(A, batch), _matrices(B, batch), strict=True)
    return numpy.array([matmul(P, Q) for P, Q in pairs], dtype=float).reshape(*batch, A.shape[-2], B.shape[-1])


def _matrices(A: Array, batch: tuple[int, ...]) -> Array:
    return numpy.broadcast_to(A, (*batch, *A.shape[-2:])).reshape(prod(batch), *A.shape[-2:])


def matvec(A: Array, x: Array) -> Array:
    """A x, (..., m, n) times (..., n), each entry rounded once."""
    return matmul(A, numpy.asarray(x)[..., None])[..., 0]


def vecdot(x: Array, y: Array) -> Array:
    """xᵀ y over the last axis, rounded once."""
    x, y = numpy.asarray(x), numpy.asarray(y)
    if x.ndim == y.ndim == 1:
        return numpy.float64(sum_of_products(x.tolist(), y.tolist()))
    return matmul(x[..., None, :], y[..., :, None])[..., 0, 0]


def cross(x: Array, y: Array) -> Array:
    """x × y of 3-vectors, each entry rounded once."""
    if numpy.ndim(x) == numpy.ndim(y) == 1:
        return numpy.array(_cross_of(numpy.asarray(x).tolist(), numpy.asarray(y).tolist()), dtype=float)
    pairs = numpy.stack(numpy.broadcast_arrays(x, y), axis=-2)
    vectors = [_cross_of(a, b) for a, b in pairs.reshape(prod(pairs.shape[:-2]), 2, 3).tolist()]
    return numpy.array(vectors, dtype=float).reshape(*pairs.shape[:-2], 3)


def norm(x: Array) -> float:
    """|x| of a vector (n,), rounded once; no square overflows on the way."""
    return correctly_rounded.norm(numpy.asarray(x, dtype=float).tolist())


def unit(x: Array) -> Array:
    """x / |x| of a vector (n,) that is not zero, each entry rounded once, whatever the size of x."""
    return numpy.array(unit_of(numpy.asarray(x, dtype=float).tolist()))


def unit_of(numbers: list[float]) -> list[float]:
    """`unit` of plain numbers."""
    if numbers.count(0.0) == len(numbers) - 1:  # most axes of robots: ±1, and nothing to round
        return [copysign(1.0 if x else 0.0, x) for x in numbers]
    # Integers with a common factor, which does not matter: several times faster than fractions
    pairs = [x.as_integer_ratio() for x in numbers]
    common = max(denominator for _, denominator in pairs)
    squares = [(numerator * (common // denominator)) ** 2 for numerator, denominator in pairs]
    roots = [correctly_rounded.rounded_root(square, sum(squares)) for square in squares]
    return list(map(copysign, roots, numbers))


def roll_pitch_yaw_rotation(roll: float, pitch: float, yaw: float) -> list[list[float]]:
    """The rows of R_z(yaw) R_y(pitch) R_x(roll), as `matmul` gives it from right to left, settled; angles in rad."""
    (a, b), (c, d), (e, f) = ((correctly_rounded.cos(x), correctly_rounded.sin(x)) for x in (roll, pitch, yaw))
    if yaw == 0.0:  # of most joints, and then no entry is a sum
        return [list(map(settled_entry, row)) for row in ([c, d * b, d * a], [0.0, a, -b], [-d, c * b, c * a])]
    # R_y R_x has one product in each entry, so that four entries of R alone are sums
    upper = [e * c, sum_of_products((e, f), (d * b, -a)), sum_of_products((e, f), (d * a, b))]
    middle = [f * c, sum_of_products((f, e), (d * b, a)), sum_of_products((f, e), (d * a, -b))]
    return [list(map(settled_entry, row)) for row in (upper, middle, [-d, c * b, c * a])]


def _each(function: Callable[..., float]) -> Callable[..., Array]:
    def apply(*values: Array) -> Array:
        arrays = numpy.broadcast_arrays(*(numpy.asarray(x, dtype=float) for x in values))
        numbers = [function(*each) for each in zip(*(x.ravel().tolist() for x in arrays), strict=True)]
        return numpy.array(numbers, dtype=float).reshape(arrays[0].shape)

    return apply


PRIMITIVES = SimpleNamespace(
    sin=_each(correctly_rounded.sin),
    cos=_each(correctly_rounded.cos),
    tanh=_each(correctly_rounded.tanh),
    arctan2=_each(correctly_rounded.atan2),
    matmul=matmul,
    matvec=matvec,
    vecdot=vecdot,
    cross=cross,
)


def sum_of_products(xs: Sequence[float], ys: Sequence[float]) -> float:
    """Σ x y of two lists, accumulated exactly and rounded once; 0 where it is zero but for rounding."""
    terms: list[float] = []
    size = 0.0
    for x, y in zip(xs, ys, strict=True):
        product = x * y
        if product == 0.0 and (x == 0.0 or y == 0.0):
            continue
        if not (_SMALL < abs(product) < _LARGE and abs(x) < _LARGE and abs(y) < _LARGE):
            return _sum_of_fractions(xs, ys)
        terms.append(product)
        size += abs(product)
        if not (x == 1.0 or y == 1.0 or x == -1.0 or y == -1.0):
            terms.append(_error(x, y, product))
    if len(terms) <= 2 and size == abs(terms[0] if terms else 0.0):  # one product
        return terms[0] if terms else 0.0
    total = fsum(terms)
    return 0.0 if abs(total) <= ROUNDING * size else total


_SMALL, _LARGE = 1e-270, 1e290  # between these the error of a product is a double itself
_SPLITTER = 2.0**27 + 1.0


def _error(x: float, y: float, product: float) -> float:
    """x y − product, exactly: both factors are cut into halves whose products are doubles [Dekker 1971]."""
    t = _SPLITTER * x
    x_high = t - (t - x)
    x_low = x - x_high
    t = _SPLITTER * y
    y_high = t - (t - y)
    y_low = y - y_high
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _sum_of_fractions(xs: Sequence[float], ys: Sequence[float]) -> float:
    """The same for numbers of extreme size."""
    if not all(map(isfinite, (*xs, *ys))):
        return sum(x * y for x, y in zip(xs, ys, strict=True))
    terms = [Fraction(x) * Fraction(y) for x, y in zip(xs, ys, strict=True)]
    total = sum(terms, Fraction(0))
    return 0.0 if abs(total) <= Fraction(ROUNDING) * sum(map(abs, terms)) else correctly_rounded.rounded(total)


def _cross_of(a: list[float], b: list[float]) -> list[float]:
    return [sum_of_products([a[j], a[k]], [b[k], -b[j]]) for j, k in ((1, 2), (2, 0), (0, 1))]
