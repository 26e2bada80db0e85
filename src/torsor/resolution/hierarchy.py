"""Least squares in strict order, each level with the same limits: what a level leaves free is all that the next may use.

Level k minimises |A_k x − b_k|² among the minimisers of all levels before it, always with l ≤ C x ≤ u [KLW11; EMW14]. All
minimisers of a level have the same A_k x, so they are x + Z w with Z a basis of ker A_1 ∩ … ∩ ker A_k: what was reached before
cannot change, whatever the solver does. A limit with a multiplier μ > 0 stays active in all of them, since the sum of μ C Z w
over such limits is zero and no term of it can be positive: it is an equation from there on, and Z is reduced by it.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.resolution.edge_of_reach import Edge, Kept, Split, kept_at_edge
from torsor.resolution.limit_rows import LimitRows, TightRows
from torsor.resolution.quadratic_program import FEASIBLE, least_squares_within

RANK = 1e-9  # singular values below this, relative to a level, are zero
FACES = 3  # times that a level is solved again because more limits are in its way
PRESSED = 1e-7  # multipliers below this, in the scale of a level, are zero


class Aim(NamedTuple):
    """A level: the least |A x − b|² + d² |change of x|²."""

    A: Array | None
    """None for 1."""
    b: Array
    least: float = 0.0
    """Of A nothing below this is taken for a number, whatever its other entries are."""
    damping: float = 0.0
    edge: Edge | None = None
    """With it, what is out of reach leads to rest: the level has the rows of `edge_of_reach` too."""
    known: dict[int, _Open] | None = None
    """What it is without limits, by the identity of the `Progress` before it, if that is kept as long as this."""


class Progress(NamedTuple):
    """After some levels: the x (n,) reached, and what is still free."""

    x: Array
    Z: Array
    """A basis (n, k) of motions that change no level before and leave no limit that must stay active."""
    kernel: Array
    """The same whatever the limits (n, l)."""
    pressed: bool
    """Whether limits kept the level just done from anything."""
    slope: Array
    """Of what is left of it, Aᵀ (b − A x) less damping (n,): a sum of limits that it is at and of levels before."""
    at_edge: bool
    """Whether part of the level just done is out of reach."""


def at_start(x: Array) -> Progress:
    """Before the first level."""
    every = np.eye(len(x))
    return Progress(x, every, every, False, np.zeros(len(x)), False)


def first_guess(rows: LimitRows, nv: int, who: str) -> tuple[Array, LimitRows, Array]:
    """An x within limits; where they contradict each other, as near as can be to those that give way first.

    Also the rows with which that is feasible, and how much each had to give way (c,).
    """
    excess, x = np.zeros(len(rows.lower)), np.zeros(nv)
    if rows.allow(x):
        return x, rows, excess
    x = _nearest_to_nothing(rows, nv)
    if not _outside(rows, x).any():
        return x, rows, excess
    for rank in np.unique(rows.rank):
        at = np.flatnonzero(rows.rank == rank)
        if _outside(rows, x)[at].any():
            x, excess[at] = _within(rows, excess, at, x, who)
    eased = rows._replace(lower=rows.lower - np.maximum(excess, 0.0), upper=rows.upper - np.minimum(excess, 0.0))
    return x, eased, excess


def _nearest_to_nothing(rows: LimitRows, nv: int) -> Array:
    """The x nearest to 0 within all limits of its own entries, if each of them has such values: most often that is all."""
    own = rows.entry >= 0
    lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
    np.maximum.at(lower, rows.entry[own], rows.lower[own])
    np.minimum.at(upper, rows.entry[own], rows.upper[own])
    return np.asarray(np.minimum(np.maximum(lower, 0.0), np.maximum(upper, lower)))


def _outside(rows: LimitRows, x: Array) -> Array:
    """Which rows x does not satisfy (c,), rounding aside."""
    values = rows.C @ x
    far = FEASIBLE * np.maximum(1.0, np.abs(values))
    return np.asarray((values < rows.lower - far) | (values > rows.upper + far))


def _within(rows: LimitRows, excess: Array, at: Array, x: Array, who: str) -> tuple[Array, Array]:
    """An x within rows ``at``, or as near as those of lower rank (eased by ``excess``) allow; and how much those lack."""
    nv, k = len(x), len(at)
    before = np.flatnonzero(rows.rank < rows.rank[at[0]])
    # Unknowns (w, s), x + w the result: rows ``at`` have l ≤ C (x + w) + s ≤ u and s is to be small; w = 0 is within limits.
    lacking = np.clip(rows.C[at] @ x, rows.lower[at], rows.upper[at]) - rows.C[at] @ x
    C = np.zeros((len(before) + k, nv + k))
    C[:, :nv] = rows.C[np.concatenate([before, at])]
    C[len(before) :, nv:] = np.eye(k)
    both = np.concatenate([before, at])
    eased = np.maximum(excess[both], 0.0), np.minimum(excess[both], 0.0)
    offset = rows.C[both] @ x + np.concatenate([np.zeros(len(before)), lacking])
    lower = np.minimum(rows.lower[both] - eased[0] - offset, 0.0)
    upper = np.maximum(rows.upper[both] - eased[1] - offset, 0.0)
    A = np.eye(nv + k)[nv:]
    found = least_squares_within(A, -lacking, C, lower, upper, who).w
    s = found[nv:] + lacking
    far = FEASIBLE * max(1.0, float(np.abs(lacking).max(initial=0.0)))
    return x + found[:nv], np.where(np.abs(s) > far, s, 0.0)


def next_level(before: Progress, aim: Aim, rows: TightRows | None, who: str) -> Progress:
    """One level further, by what is free and, unless ``rows`` are None, within limits."""
    found, blocked = _solved(before, aim, rows, None, who)
    for _ in range(FACES):
        if aim.edge is None or rows is None or not blocked.any():
            break
        found, others = _solved(before, aim, rows, blocked, who)
        if not (others & ~blocked).any():
            break
        blocked |= others
    return found


def _solved(
    before: Progress, aim: Aim, rows: TightRows | None, blocked: Array | None, who: str
) -> tuple[Progress, Array]:
    """The level, its edge that of what limits ``blocked`` (t,) leave; and which limits of places are in its way (t,)."""
    A, b, damping = aim.A, aim.b, aim.damping
    if A is None:
        return _near(before, b, rows, who)
    sizes, used, left, wanted, w, kept, nothing = _in_the_open(before, aim, rows, blocked)
    x, Z, multipliers = before.x, before.Z, None
    if rows is not None:
        w, multipliers = _within_rows(sizes, used, wanted, w, before, rows, damping, who)
    x = x + Z @ w
    slope = A.T @ (b - A @ x) - damping**2 * Z @ (used.T @ (used @ w))
    small = PRESSED * max(1.0, float(np.abs(A.T @ b).max(initial=0.0)))
    if kept is not None:
        slope = slope + kept.S.T @ (kept.s - kept.S @ x)
        A = np.concatenate([A, kept.reserved])
    kernel = before.kernel @ _free(A @ before.kernel, nothing) if Z.shape != before.kernel.shape else Z @ left
    Z, at_edge = Z @ left, kept is not None
    if rows is None or multipliers is None or not multipliers.any():
        none = np.zeros(0 if rows is None else len(rows.lower), bool)
        return Progress(x, Z, kernel, False, slope, at_edge), none
    held = np.abs(multipliers) > small
    if held.any():
        Z = Z @ _free(rows.C[held] @ Z, RANK)
    return Progress(x, Z, kernel, True, slope, at_edge), held & rows.of_places(multipliers)


class _Open(NamedTuple):
    """A level without limits: |diag(sizes) used w − wanted|², the least w of it, and the motions ``left`` that it leaves free."""

    sizes: Array
    used: Array
    left: Array
    wanted: Array
    w: Array
    kept: Kept | None
    nothing: float
    """Singular values below this are zero."""


def _in_the_open(before: Progress, aim: Aim, rows: TightRows | None, blocked: Array | None) -> _Open:
    A, b, least, damping, edge, known = aim
    if blocked is None and known is not None and id(before) in known:
        return known[id(before)]
    x, Z = before.x, before.Z
    assert A is not None
    nothing = max(RANK * math.sqrt(float(np.vdot(A, A))), least)
    U, sizes, Vt = np.linalg.svd(A @ Z)
    rank, lacking = _rank(sizes, nothing), b - A @ x
    wanted, kept = U[:, :rank].T @ lacking, None  # what no motion can change is left out
    left = Vt[rank:].T
    if edge is not None:
        kept = _kept(edge, lacking, Split(Z, U, sizes, Vt), rows, blocked)
    if kept is not None:
        left = _free(np.concatenate([A, kept.reserved]) @ Z, nothing)
        U, sizes, Vt = np.linalg.svd(np.concatenate([sizes[:rank, None] * Vt[:rank], kept.S @ Z]))
        wanted, rank = np.concatenate([wanted, kept.s - kept.S @ x]), _rank(sizes, nothing)
        wanted = U[:, :rank].T @ wanted
    sizes, used = sizes[:rank], Vt[:rank]
    w = used.T @ (sizes * wanted / (sizes**2 + damping**2))
    found = _Open(sizes, used, left, wanted, w, kept, nothing)
    if blocked is None and known is not None:
        known[id(before)] = found
    return found


def _near(before: Progress, b: Array, rows: TightRows | None, who: str) -> tuple[Progress, Array]:
    """The last level, |x − b|²: nothing is free after it."""
    x, Z = before.x, before.Z
    wanted = w = Z.T @ (b - x)
    if rows is not None:
        one = np.ones(len(w))
        w, _ = _within_rows(one, np.eye(len(w)), wanted, w, before, rows, 0.0, who)
    x = x + Z @ w
    return Progress(x, Z[:, :0], Z[:, :0], False, b - x, False), np.zeros(0, bool)


def _within_rows(
    sizes: Array, used: Array, wanted: Array, w: Array, before: Progress, rows: TightRows, damping: float, who: str
) -> tuple[Array, Array | None]:
    """The w of a level within limits, and multipliers of those (t,) if there are any in its way."""
    C, values = rows.C @ before.Z, rows.C @ before.x
    # x itself is within limits but for rounding: that must not leave the solver without any solution.
    lower, upper = np.minimum(rows.lower - values, 0.0), np.maximum(rows.upper - values, 0.0)
    moved = C @ w
    if not (np.any(moved > upper + FEASIBLE) or np.any(moved < lower - FEASIBLE)):
        return w, None
    stacked = np.concatenate([sizes[:, None] * used, damping * used]) if damping else sizes[:, None] * used
    aims = np.concatenate([wanted, np.zeros(len(sizes))]) if damping else wanted
    return least_squares_within(stacked, aims, C, lower, upper, who, w)


def _kept(edge: Edge, left: Array, split: Split, rows: TightRows | None, blocked: Array | None) -> Kept | None:
    free = None
    if rows is not None and blocked is not None:
        free = _free(rows.C[blocked], RANK)
        Z = split.Z @ _free(rows.C[blocked] @ split.Z, RANK)
        split = Split(Z, *np.linalg.svd(edge.A @ Z))
    return kept_at_edge(edge, left, split, free)


def _rank(sizes: Array, nothing: float) -> int:
    return int(np.count_nonzero(sizes > nothing))


def _free(A: Array, nothing: float) -> Array:
    """A basis (n, k) of what A (m, n) maps to nothing, or to less than that."""
    _, sizes, Vt = np.linalg.svd(A)
    return np.asarray(Vt[_rank(sizes, nothing) :].T)
