"""Least squares within limits, min |A w − b|² with l ≤ C w ≤ u: what limits are active is guessed, the rest is to the last digit.

PIQP [SJL23] is an interior-point method with proximal terms that needs no full rank, neither of A nor of the active limits. On
the limits that it says are active the least squares is solved directly, and kept if it satisfies the conditions of an optimum:
within all limits, and no multiplier of the wrong sign; a few corrections may mend a set of limits that was wrong. Where that
fails, the primal active-set method goes on from there, one limit at a time. Limits of entries of w, which most of them are, are
first guessed by sweeps, after which PIQP is rarely needed, and a single freedom has a way of its own.

**Sweeps** guess which limits of w are active in the least |A w − b|² with l ≤ w ≤ u, in machine code. Each number in turn is
made the best within its limits while the others stay: the Gauss–Seidel iteration [GVL13, §11.2] with bounds. Most limits are
active, or not, as they are in the optimum long before w itself is near to it. The program depends on nothing but how many
numbers w has.

Decompositions of small matrices are LAPACK's own: what NumPy does around each call takes as long as the call.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import stack, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, needed

PRECISION = 1e-10  # asked of the interior-point method, in the scale of the problem
MENDED = 8  # times the set of active limits is corrected as a whole
STEPS = 100  # of the active-set method, which takes about as many as there are limits
MULTIPLIER = 1e-13  # of |Aᵀ b|, which is as good as it is known: smaller ones of the wrong sign are none
FEASIBLE = 1e-9  # what counts as within a limit, in units of velocities
SWEPT = 32  # numbers of w at most: a sweep takes their square in operations
OPERATIONS = 2000  # about, of all sweeps, a multiplication and a sum each
MOST, FEWEST = 40, 4  # sweeps
TOLD = 1e-11  # of the length of all rows: smaller parts are rounding error


class Solution(NamedTuple):
    """w (k,), and the multipliers (c,) of the limits: positive at upper ones, negative at lower ones, 0 elsewhere."""

    w: Array
    multipliers: Array


def piqp_module() -> Any:
    """PIQP, imported when it is first needed."""
    return needed("piqp", "needs the QP solver PIQP: pip install 'torsor[qp]'.")


def least_squares_within(
    A: Array, b: Array, C: Array, lower: Array, upper: Array, unlimited: Array | None = None
) -> Solution:
    """The least |A w − b|² with l ≤ C w ≤ u, which w = 0 satisfies: an optimal w, and multipliers of ½ |A w − b|².

    ``unlimited`` (k,) is what w would be without limits: where an optimum is not unique, one near to it is taken.
    """
    held = (np.isfinite(lower) | np.isfinite(upper)) & (np.linalg.norm(C, axis=1) > FEASIBLE)  # rows that w can change
    side, slope = np.zeros(len(lower)), b.dot(A)
    small = _small(slope)
    w, side[held] = _by_piqp(A, slope, np.ascontiguousarray(C[held]), lower[held], upper[held], _size(b))
    near = None if unlimited is None else _mended(A, b, C, lower, upper, side, small, unlimited)
    polished = near or _mended(A, b, C, lower, upper, side, small, w)
    return polished or _one_at_a_time(A, b, C, lower, upper, w, small)


def least_squares_in_box(A: Array, b: Array, lower: Array, upper: Array, unlimited: Array) -> Solution:
    """The same with l ≤ w ≤ u (k,)."""
    slope = b.dot(A)
    small = _small(slope)
    if len(slope) <= SWEPT:
        side = active_sides(A.T.dot(A), slope, lower, upper, unlimited)
        found = _mended_in_box(A, b, lower, upper, side, small, unlimited)
        if found is not None:
            return found
    w, side = _by_piqp(A, slope, None, lower, upper, _size(b))
    polished = _mended_in_box(A, b, lower, upper, side, small, w)
    return polished or _one_at_a_time(A, b, np.eye(len(w)), lower, upper, w, small)


def _mended_in_box(
    A: Array, b: Array, lower: Array, upper: Array, side: Array, small: float, w: Array
) -> Solution | None:
    """As `_mended`, with l ≤ w ≤ u."""
    far = FEASIBLE + 1e-13 * _size(w)  # the latter for rounding
    highest, lowest, size = upper + far, lower - far, math.sqrt(np.vdot(A, A))
    for _ in range(MENDED):
        free = side == 0.0
        w = np.where(free, w, np.where(side > 0.0, upper, lower))
        w = w + free * least_squares(A * free, b - A.dot(w), size)
        slope = (b - A.dot(w)).dot(A)
        above, below, pressed = w > highest, w < lowest, slope * side
        broken, wrong = above | below, pressed < -small
        if True not in (broken | wrong).tolist():
            return Solution(w, slope * (pressed > 0.0))
        side = side * ~(broken | wrong) + above - below
    return None


def least_squares_along(A: Array, b: Array, c: Array, lower: Array, upper: Array, w: Array) -> Solution:
    """The same with one freedom, l ≤ c w ≤ u (c,), where without limits it would be ``w`` (1,): as far as they allow."""
    moved, shares = c * w, np.full(len(c), np.inf)
    room = np.where(moved > 0.0, upper, lower)
    np.divide(room, moved, out=shares, where=(np.abs(moved) > FEASIBLE) & (np.abs(c) > FEASIBLE))
    first, multipliers = int(shares.argmin()), np.zeros(len(c))
    if shares[first] < 1.0:
        w = shares[first] * w
        multipliers[first] = (A[:, 0] @ (b - A @ w)) / c[first]
    return Solution(w, multipliers)


def _by_piqp(A: Array, slope: Array, C: Array | None, lower: Array, upper: Array, size: float) -> tuple[Array, Array]:
    """About the w (k,) of an optimum, and the sides 1 or −1 of limits that are active in it (c,); C is 1 if it is None.

    ``slope`` is Aᵀ b (k,), ``size`` the largest number of b.
    """
    piqp = piqp_module()
    scale = max(size, 1e-30)
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = PRECISION
    H, f, low, high = A.T.dot(A), slope / -scale, lower / scale, upper / scale
    if C is None:
        solver.setup(H, f, None, None, None, None, None, low, high)
    else:
        solver.setup(H, f, None, None, C, low, high, None, None)
    status = solver.solve()
    if status not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
        raise ArgumentError(f"the QP solver gave up ({status}); are all numbers finite?")
    found = solver.result
    w, (up, down) = np.array(found.x), (found.z_bu, found.z_bl) if C is None else (found.z_u, found.z_l)
    values = w if C is None else C.dot(w)
    side = np.sign(up * (up > high - values) - down * (down > values - low))
    return scale * w, side


def _small(slope: Array) -> float:
    """Multipliers below this are rounding, with Aᵀ b the slope (k,)."""
    return MULTIPLIER * max(1.0, _size(slope))


def _size(x: Array) -> float:
    """The largest |x_i|: of the few numbers of a robot, by Python."""
    return max(map(abs, x.tolist()), default=0.0)


def _mended(
    A: Array, b: Array, C: Array, lower: Array, upper: Array, side: Array, small: float, w: Array
) -> Solution | None:
    """The least squares with limits as equations, at the sides 1 or −1, mended a few times where those were the wrong ones.

    None if that does not lead to an optimum.
    """
    entries = _entries(C)
    for _ in range(MENDED):
        active = np.flatnonzero(side)
        multipliers = np.zeros(len(side))
        bounds = np.where(side > 0.0, upper, lower)[active]
        w, multipliers[active] = _on_limits(A, b, C[active], bounds, w, entries[active])
        values, far = C @ w, FEASIBLE + 1e-13 * float(np.abs(w).max(initial=0.0))  # the latter for rounding
        above, below = values > upper + far, values < lower - far
        wrong = multipliers * side < -small
        if not (above.any() or below.any() or wrong.any()):
            return Solution(w, np.where(multipliers * side > 0.0, multipliers, 0.0))
        side = np.where(above, 1.0, np.where(below, -1.0, np.where(wrong, 0.0, side)))
    return None


def _one_at_a_time(A: Array, b: Array, C: Array, lower: Array, upper: Array, w: Array, small: float) -> Solution:
    """The primal active-set method, from as far towards w as limits allow: 0 is within them."""
    side, entries = np.zeros(len(lower)), _entries(C)
    w = _how_far(C @ w, lower, upper)[0] * w
    for _ in range(STEPS):
        active = np.flatnonzero(side)
        multipliers = np.zeros(len(side))
        aim, multipliers[active] = _on_limits(A, b, C[active], C[active] @ w, w, entries[active])
        values = C @ w
        moved = np.where(side != 0.0, 0.0, C @ (aim - w))
        share, first, towards = _how_far(moved, lower - values, upper - values)
        if share < 1.0:
            w = w + share * (aim - w)
            side[first] = towards
            continue
        w, wrong = aim, multipliers * side
        if wrong.min(initial=0.0) >= -small:
            break
        side[int(wrong.argmin())] = 0.0
    return Solution(w, np.where(multipliers * side > 0.0, multipliers, 0.0))


def _how_far(moved: Array, lower: Array, upper: Array) -> tuple[float, int, float]:
    """The share of a step that is within limits, at most 1; and the row that ends it, at its upper (1) or lower (−1) side."""
    tiny = 1e-12 * max(1.0, float(np.abs(moved).max(initial=0.0)))
    room = np.where(moved > 0.0, np.maximum(upper, 0.0), np.minimum(lower, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.where(np.abs(moved) > tiny, room / moved, np.inf)
    if not len(shares) or shares.min() >= 1.0:
        return 1.0, -1, 0.0
    first = int(shares.argmin())
    return float(shares[first]), first, float(np.sign(moved[first]))


def _on_limits(A: Array, b: Array, E: Array, bounds: Array, w: Array, entries: Array) -> tuple[Array, Array]:
    """The least |A w − b|² with E w = bounds (those that can be met), near w where it is not unique; and its multipliers.

    ``entries``: k of the rows of E that are w_k itself, −1 of others.
    """
    if (
        len(set(entries.tolist())) == len(E) and entries.min(initial=0) >= 0
    ):  # entries of w, which need no decomposition
        w, free = w.copy(), np.ones(len(w), bool)
        w[entries], free[entries] = bounds, False
        w[free] += least_squares(A[:, free], b - A @ w, math.sqrt(np.vdot(A, A)))
        return w, (A.T @ (b - A @ w))[entries]
    U, sizes, Vt = singular_values(E)
    rank = int(np.count_nonzero(sizes > 1e-10 * sizes.max(initial=0.0)))
    U, sizes, used, free = U[:, :rank], sizes[:rank], Vt[:rank], Vt[rank:].T
    w = w + used.T @ (U.T @ (bounds - E @ w) / sizes)
    w = w + free @ least_squares(A @ free, b - A @ w, math.sqrt(np.vdot(A, A)))
    return w, U @ (used @ (A.T @ (b - A @ w)) / sizes)


def _entries(C: Array) -> Array:
    """k of the rows of C that are w_k itself (c,), −1 of others."""
    alone = (np.count_nonzero(C, axis=1) == 1) & (C.sum(axis=1) == 1.0)
    return np.where(alone, C.argmax(axis=1), -1) if C.size else np.zeros(len(C), int)


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


@cache
def _lapack() -> Any:
    return needed("scipy.linalg.lapack", "tasks in order of priority need SciPy: pip install 'torsor[qp]'.")


def singular_values(A: Array) -> tuple[Array, Array, Array]:
    """U (m, m), sizes (min(m, n),) and Vᵀ (n, n) with A = U diag(sizes) Vᵀ, of finite numbers."""
    if not A.size:
        return np.linalg.svd(A)
    U, sizes, Vt, failed = _lapack().dgesdd(A)
    return np.linalg.svd(A) if failed else (U, sizes, Vt)


def least_squares(part: Array, b: Array, size: float) -> Array:
    """The x of the least |part x − b|², itself as small as can be: by columns in order of size [GVL13, §5.5].

    ``part`` (m, k) are columns of a matrix of length ``size``, and b (m,). What of them is less than `TOLD` of that is zero: the
    columns may leave nothing of the matrix but rounding.
    """
    m, k = part.shape
    if not m or not k:
        return np.zeros(k)
    if m < k:
        b = np.concatenate([b, np.zeros(k - m)])
    solve, room = _lapack().dgelsy, 64 * (m + k + 1)
    R, x, *_ = solve(part, b, np.zeros(k, np.intc), TOLD, room)
    largest = abs(float(R[0, 0]))  # the length of the longest column
    if largest <= TOLD * size:
        return np.zeros(k)
    if largest < 0.01 * size:
        x = solve(part, b, np.zeros(k, np.intc), TOLD * size / largest, room)[1]
    return np.asarray(x[:k])
