"""Least squares in strict order, each level with the same limits: what a level leaves free is all that the next may use.

Level k minimises |A_k x − b_k|² among the minimisers of all levels before it, always with l ≤ C x ≤ u [KLW11; EMW14]. All
minimisers of a level have the same A_k x, so they are x + Z w with Z a basis of ker A_1 ∩ … ∩ ker A_k: what was reached before
cannot change, whatever the solver does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.resolution.limit_rows import LimitRows
from torsor.resolution.quadratic_program import FEASIBLE, least_squares_within

RANK = 1e-9  # singular values below this, relative to the largest of a level, are zero


class Progress(NamedTuple):
    """After some levels: the x (n,) reached, and the basis Z (n, k) of what is still free."""

    x: Array
    Z: Array
    pressed: Array
    """Multipliers of the limits in the level just done (c,)."""


def first_guess(rows: LimitRows, nv: int, who: str) -> tuple[Progress, LimitRows, Array]:
    """A velocity within limits; if there is none, within limits of velocity and as near as can be to those of position.

    Also the rows with which that is feasible, and how much each had to give way (c,).
    """
    start = Progress(np.zeros(nv), np.eye(nv), np.zeros(len(rows.lower)))
    excess = np.zeros(len(rows.lower))
    if np.all(rows.lower <= 0.0) and np.all(rows.upper >= 0.0):
        return start, rows, excess
    # Unknowns (v, s): position rows have l ≤ C v + s ≤ u and s is to be small; (0, s) with s the nearest value is within limits.
    at = np.flatnonzero(rows.position)
    nearest = np.clip(0.0, rows.lower, rows.upper)[at]
    C = np.zeros((len(rows.lower), nv + len(at)))
    C[:, :nv] = rows.C
    C[at, nv + np.arange(len(at))] = 1.0
    A = np.eye(nv + len(at))[nv:]
    offset = C @ np.concatenate([np.zeros(nv), nearest])
    lower, upper = np.minimum(rows.lower - offset, 0.0), np.maximum(rows.upper - offset, 0.0)
    found = least_squares_within(A, -nearest, C, lower, upper, who).w
    x, s = found[:nv], found[nv:] + nearest
    far = FEASIBLE * max(1.0, float(np.abs(nearest).max(initial=0.0)))
    excess[at] = np.where(np.abs(s) > far, s, 0.0)
    eased = rows._replace(lower=rows.lower - np.maximum(excess, 0.0), upper=rows.upper - np.minimum(excess, 0.0))
    return start._replace(x=x), eased, excess


def next_level(before: Progress, A: Array, b: Array, rows: LimitRows, damping: float, who: str) -> Progress:
    """One level further: the least |A x − b|² + d² |change of x|², by what is free and within limits."""
    x, Z = before.x, before.Z
    pressed = np.zeros(len(rows.lower))
    if not Z.shape[1]:
        return before._replace(pressed=pressed)
    U, sizes, Vt = np.linalg.svd(A @ Z)
    rank = int(np.sum(sizes > RANK * float(np.linalg.norm(A))))
    sizes, used = sizes[:rank], Vt[:rank]
    wanted = U[:, :rank].T @ (b - A @ x)  # what no motion can change is left out
    w = used.T @ (sizes * wanted / (sizes**2 + damping**2))
    C, values = rows.C @ Z, rows.C @ x
    # x itself is within limits but for rounding: that must not leave the solver without any solution.
    lower, upper = np.minimum(rows.lower - values, 0.0), np.maximum(rows.upper - values, 0.0)
    moved = C @ w
    if np.any(moved > upper + FEASIBLE) or np.any(moved < lower - FEASIBLE):
        stacked = np.concatenate([sizes[:, None] * used, damping * used]) if damping else sizes[:, None] * used
        aims = np.concatenate([wanted, np.zeros(rank)]) if damping else wanted
        w, pressed = least_squares_within(stacked, aims, C, lower, upper, who)
    return Progress(x + Z @ w, Z @ Vt[rank:].T, pressed)
