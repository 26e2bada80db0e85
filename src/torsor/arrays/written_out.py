"""Functions of NumPy written out with simpler ones, for arrays whose numbers are not known yet: no value decides what is done.

The tracer answers NumPy's functions of these names with them. On NumPy's own arrays they give what NumPy does, to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError

Axes = int | Sequence[int] | None

# Number by number


def rint(x: Array) -> Array:
    """The nearest whole number; of halves the even one."""
    low = np.floor(x)
    rest, is_odd = x - low, np.floor(low / 2.0) != low / 2.0
    return np.where((rest > 0.5) | ((rest == 0.5) & is_odd), low + 1.0, low)


def round(x: Array, decimals: int = 0) -> Array:
    """To so many decimals, as NumPy does it: x · 10^decimals is rounded."""
    scale = 10.0 ** abs(decimals)
    return rint(x * scale) / scale if decimals > 0 else rint(x / scale) * scale


def trunc(x: Array) -> Array:
    """Without what comes after the decimal point."""
    return np.where(x < 0.0, np.ceil(x), np.floor(x))


def remainder(x: Array, y: Array) -> Array:
    """What is left of x after whole multiples of y, with the sign of y."""
    rest = np.fmod(x, y)
    return np.where(_is_beyond(rest, y), rest + y, rest)


def floor_divide(x: Array, y: Array) -> Array:
    """How many whole y there are in x: without what is left the quotient is a whole number but for rounding."""
    rest = np.fmod(x, y)
    return np.where(y == 0.0, x / y, rint((x - rest) / y) - _is_beyond(rest, y))


def _is_beyond(rest: Array, y: Array) -> Array:
    """Whether what is left lies on the other side of 0 than y."""
    return (rest != 0.0) & ((rest < 0.0) != (y < 0.0))


def clip(x: Array, a_min: Array = None, a_max: Array = None, *, min: Array = None, max: Array = None) -> Array:
    """Between two bounds, either of which may be None."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    x = +x if low is None else np.maximum(x, low)
    return x if high is None else np.minimum(x, high)


def fmax(x: Array, y: Array) -> Array:
    """The larger one; of a number and NaN the number."""
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.maximum(x, y)))


def fmin(x: Array, y: Array) -> Array:
    """The smaller one; of a number and NaN the number."""
    return np.where(np.isnan(x), y, np.where(np.isnan(y), x, np.minimum(x, y)))


def arcsin(x: Array) -> Array:
    """The angle in [−π/2, π/2] of this sine; NaN beyond ±1."""
    return np.arctan2(x, np.sqrt((1.0 - x) * (1.0 + x)))


def arccos(x: Array) -> Array:
    """The angle in [0, π] of this cosine; NaN beyond ±1."""
    return np.arctan2(np.sqrt((1.0 - x) * (1.0 + x)), x)


def heaviside(x: Array, half: Array) -> Array:
    """0 before 0, 1 behind, and ``half`` at 0."""
    return np.where(x > 0.0, 1.0, np.where(x == 0.0, half, np.where(x < 0.0, 0.0, x)))


def sinc(x: Array) -> Array:
    """sin(πx) / πx; near 0 by its series, whose derivatives are good there too."""
    y = x * math.pi
    is_small, square, series = np.abs(y) < 0.5, y * y, 0.0
    for k in reversed(range(9)):
        series = series * square + (-1) ** k / math.factorial(2 * k + 1)
    far = np.where(is_small, 1.0, y)
    return np.where(is_small, series, np.sin(far) / far)


def interp(x: Array, xp: Array, fp: Array, left: Array = None, right: Array = None) -> Array:
    """The line through the points of a table with increasing xp; level beyond it, or ``left`` and ``right``."""
    found = fp[0] if left is None else left
    for k in range(len(xp) - 1):
        slope = (fp[k + 1] - fp[k]) / (xp[k + 1] - xp[k])
        found = np.where(x >= xp[k], slope * (x - xp[k]) + fp[k], found)
    found = np.where(x >= xp[-1], np.where(x == xp[-1], fp[-1], fp[-1] if right is None else right), found)
    return np.where(np.isnan(x), x, found)


def linspace(start: Array, stop: Array, num: int = 50, endpoint: bool = True) -> Array:
    """Numbers in equal steps from start to stop."""
    length = stop - start
    steps = np.arange(num).reshape(num, *(1,) * np.ndim(length))
    found = start + steps * (length / max(1, num - endpoint))
    if endpoint and num > 1:
        found[-1] = stop
    return found


def select(condlist: Sequence[Array], choicelist: Sequence[Array], default: Array = 0.0) -> Array:
    """The choice of the first condition that holds."""
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        default = np.where(condition, choice, default)
    return default


def isclose(a: Array, b: Array, rtol: float = 1e-5, atol: float = 1e-8) -> Array:
    """|a − b| ≤ atol + rtol |b|; infinities are close to themselves alone."""
    return (a == b) | (np.isfinite(b) & (np.abs(a - b) <= atol + rtol * np.abs(b)))


def nan_to_num(x: Array, copy: bool = True, nan: float = 0.0, posinf: Array = None, neginf: Array = None) -> Array:
    """With numbers for NaN and the infinities."""
    largest = float(np.finfo(float).max)
    x = np.where(np.isnan(x), nan, x)
    x = np.where(x == math.inf, largest if posinf is None else posinf, x)
    return np.where(x == -math.inf, -largest if neginf is None else neginf, x)


# Over axes


def mean(x: Array, axis: Axes = None, *, keepdims: bool = False) -> Array:
    """The mean over axes."""
    total = np.sum(x, axis=axis, keepdims=keepdims)
    return total / float(x.size // max(1, total.size))


def var(x: Array, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    """The mean square of what is left without the mean; ``ddof``: by how many fewer numbers to divide."""
    total = np.sum((x - mean(x, axis, keepdims=True)) ** 2, axis=axis, keepdims=keepdims)
    return total / (x.size // max(1, total.size) - ddof)


def std(x: Array, axis: Axes = None, *, ddof: float = 0, keepdims: bool = False) -> Array:
    """The root of the variance."""
    return np.sqrt(var(x, axis, ddof=ddof, keepdims=keepdims))


def average(x: Array, axis: Axes = None, weights: Array = None) -> Array:
    """The weighted mean; weights have the shape of x."""
    if weights is None:
        return mean(x, axis)
    if np.shape(weights) != np.shape(x):
        raise ArgumentError(
            "np.average of traced arrays takes weights of the array's own shape; np.broadcast_to gives them."
        )
    return np.sum(x * weights, axis=axis) / np.sum(weights + 0.0 * x, axis=axis)


def norm(x: Array, ord: float | str | None = None, axis: Axes = None, keepdims: bool = False) -> Array:
    """Norms of vectors of every order; of matrices those without singular values."""
    axes = tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if ord is None or (ord == 2 and len(axes) == 1) or (ord == "fro" and len(axes) == 2):
        return np.sqrt(np.sum(x * x, axis=axes, keepdims=keepdims))
    size, extreme = np.abs(x), np.max if isinstance(ord, str) or ord > 0 else np.min
    if len(axes) == 1 and not isinstance(ord, str):
        if math.isinf(ord):
            return extreme(size, axis=axes, keepdims=keepdims)
        total = np.sum(size**ord if ord else x != 0.0, axis=axes, keepdims=keepdims)
        return total if ord in (0, 1) else total ** (1.0 / ord)
    if len(axes) == 2 and ord in (1, -1, math.inf, -math.inf):
        sums = np.sum(size, axis=axes[0] if abs(ord) == 1 else axes[1], keepdims=True)
        return extreme(sums, axis=axes, keepdims=keepdims)
    raise ArgumentError(
        f"np.linalg.norm of order {ord!r} cannot be traced; np.linalg.norm(A), "
        "the root of the sum of squares, can be, and is no smaller."
    )


# Small matrices (..., n, n)


def eliminated(rows: list[Array]) -> Array:
    """Bring the rows (..., n) of a matrix, and whatever stands beside it, to an upper triangle; gives the sign of the exchanges.

    Of two rows the one with the larger pivot comes first, chosen number by number: which one it is, is not known. What is
    below a pivot is not used again and stays. A column of zeros has no pivot and is left as it is.
    """
    sign: Array = 1.0
    for k in range(len(rows)):
        for i in range(k + 1, len(rows)):
            swap = np.abs(rows[i][..., k]) > np.abs(rows[k][..., k])
            upper, lower = rows[k], rows[i]
            rows[k] = np.where(swap[..., None], lower, upper)
            rows[i] = np.where(swap[..., None], upper, lower)
            sign = np.where(swap, -sign, sign)
        pivot = rows[k][..., k]
        for i in range(k + 1, len(rows)):
            rows[i] = rows[i] - (rows[i][..., k] / np.where(pivot == 0.0, 1.0, pivot))[..., None] * rows[k]
    return sign


def solve(A: Array, b: Array) -> Array:
    """A⁻¹ b, by elimination; ∞ or NaN where A has no inverse, since nothing can be raised there."""
    n = _size("solve", A)
    B = b[..., None] if b.ndim == 1 else b
    batch = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])
    both = [np.broadcast_to(X, (*batch, *X.shape[-2:])) for X in (A, B)]
    if B.shape[-2] != n:
        raise ArgumentError(f"np.linalg.solve: `b` must have {n} rows, as A has, got shape {b.shape}.")
    rows = [np.concatenate([X[..., k, :] for X in both], axis=-1) for k in range(n)]
    eliminated(rows)
    found: list[Array] = []
    for k in reversed(range(n)):
        total = rows[k][..., n:]
        for j, solved in zip(range(n - 1, k, -1), found, strict=True):
            total = total - rows[k][..., j, None] * solved
        found.append(total / rows[k][..., k, None])
    X = np.stack(found[::-1], axis=-2)
    return X[..., 0] if b.ndim == 1 else X


def inv(A: Array) -> Array:
    """A⁻¹, by elimination; ∞ or NaN where there is none."""
    return solve(A, np.eye(_size("inv", A)))


def det(A: Array) -> Array:
    """The determinant: up to 3 × 3 by the first row, which has no pivots, else by elimination."""
    n = _size("det", A)
    if n > 3:
        rows = [A[..., k, :] for k in range(n)]
        return eliminated(rows) * np.prod(np.stack([rows[k][..., k] for k in range(n)]), axis=0)
    total = 0.0 if n else np.ones_like(A, shape=A.shape[:-2])
    for k in range(n):
        minor = det(np.delete(A[..., 1:, :], k, axis=-1)) if n > 1 else 1.0
        total = total + (-1) ** k * A[..., 0, k] * minor
    return total


def cholesky(A: Array, *, upper: bool = False) -> Array:
    """L with L Lᵀ = A; NaN where A is not positive definite. It reads the lower half of A, or the upper."""
    n = _size("cholesky", A)
    A = np.swapaxes(A, -1, -2) if upper else A
    L = np.zeros_like(A)
    for i in range(n):
        for j in range(i + 1):
            total = A[..., i, j] - np.sum(L[..., i, :j] * L[..., j, :j], axis=-1)
            L[..., i, j] = np.sqrt(total) if i == j else total / L[..., j, j]
    return np.swapaxes(L, -1, -2) if upper else L


def _size(name: str, A: Array) -> int:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise ArgumentError(f"np.linalg.{name}: a square matrix is needed, got shape {A.shape}.")
    return int(A.shape[-1])


def cross(x: Array, y: Array) -> Array:
    """The cross product of vectors (..., 3)."""
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ArgumentError(f"np.cross can be traced for vectors (..., 3), got {x.shape} and {y.shape}.")
    after, before = [1, 2, 0], [2, 0, 1]
    return x[..., after] * y[..., before] - x[..., before] * y[..., after]
