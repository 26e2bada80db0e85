"""Least squares within limits, min |A w − b|² with l ≤ C w ≤ u: by PIQP, then to the last digit on the limits it found.

PIQP [SJL23] is an interior-point method with proximal terms: it needs no full rank, neither of A nor of the active limits. Its
answer says which limits are active; the least squares on those is then solved directly, and kept if it satisfies the conditions
of an optimum: within all limits, and no multiplier of the wrong sign.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import TorsorError

PRECISION = 1e-10  # asked of the interior-point method, in the scale of the problem
MENDED = 8  # times the set of active limits is corrected
FEASIBLE = 1e-9  # what counts as within a limit, in units of velocities


class Solution(NamedTuple):
    """w (k,), and the multipliers (c,) of the limits: positive at upper ones, negative at lower ones, 0 elsewhere."""

    w: Array
    multipliers: Array


def piqp_module(who: str) -> Any:
    """PIQP, imported when it is first needed."""
    try:
        return importlib.import_module("piqp")
    except ImportError as error:
        raise TorsorError(f"{who} needs the QP solver PIQP: pip install 'torsor[qp]'.") from error


def least_squares_within(A: Array, b: Array, C: Array, lower: Array, upper: Array, who: str) -> Solution:
    """The least |A w − b|² with l ≤ C w ≤ u, which w = 0 satisfies: an optimal w, and multipliers of ½ |A w − b|²."""
    piqp = piqp_module(who)
    scale = max(float(np.abs(b).max(initial=0.0)), 1e-30)
    held = (np.isfinite(lower) | np.isfinite(upper)) & (np.linalg.norm(C, axis=1) > FEASIBLE)  # rows that w can change
    solver = piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = PRECISION
    H, f = A.T @ A, -A.T @ (b / scale)
    G = np.ascontiguousarray(C[held])
    solver.setup(H, f, None, None, G, lower[held] / scale, upper[held] / scale, None, None)
    status = solver.solve()
    if status not in (piqp.PIQP_SOLVED, piqp.PIQP_MAX_ITER_REACHED):
        raise TorsorError(f"{who}: the QP solver gave up ({status}); are all numbers finite?")
    w, multipliers = np.array(solver.result.x), np.zeros(len(lower))
    up, down = np.array(solver.result.z_u), np.array(solver.result.z_l)
    values = G @ w
    above, below = upper[held] / scale - values, values - lower[held] / scale
    multipliers[held] = np.where(up > above, up, 0.0) - np.where(down > below, down, 0.0)
    found = Solution(scale * w, scale * multipliers)
    return _polished(A, b, C, lower, upper, found)


def _polished(A: Array, b: Array, C: Array, lower: Array, upper: Array, found: Solution) -> Solution:
    """The least squares with the active limits as equations, mended a few times where those were the wrong ones."""
    side, w = np.sign(found.multipliers), found.w
    far = FEASIBLE * max(1.0, float(np.abs(w).max(initial=0.0)))
    small = FEASIBLE * max(1.0, float(np.abs(A.T @ b).max(initial=0.0)))
    for _ in range(MENDED):
        active = side != 0.0
        w = _on_limits(A, b, C[active], np.where(side > 0.0, upper, lower)[active], w)
        multipliers = np.zeros(len(side))
        multipliers[active] = np.linalg.lstsq(C[active].T, A.T @ (b - A @ w), rcond=1e-10)[0]
        values = C @ w
        above, below = values > upper + far, values < lower - far
        wrong = multipliers * side < -small
        if not (above.any() or below.any() or wrong.any()):
            return Solution(w, multipliers)
        side = np.where(above, 1.0, np.where(below, -1.0, np.where(wrong, 0.0, side)))
    return found


def _on_limits(A: Array, b: Array, E: Array, bounds: Array, w: Array) -> Array:
    """The least |A w − b|² with E w = bounds (those that can be met), near w where it is not unique."""
    free = np.eye(len(w))
    if len(E):
        w = w + np.linalg.pinv(E, rcond=1e-10) @ (bounds - E @ w)
        free = null_space(E)
    if free.shape[1]:
        w = w + free @ np.linalg.lstsq(A @ free, b - A @ w, rcond=1e-12)[0]
    return w


def null_space(A: Array, tolerance: float = 1e-10) -> Array:
    """An orthonormal basis (n, k) of what A (m, n) maps to less than ``tolerance`` of its largest singular value."""
    _, sizes, Vt = np.linalg.svd(A)
    rank = int(np.sum(sizes > tolerance * sizes.max(initial=0.0)))
    return np.asarray(Vt[rank:].T)
