"""Least squares in strict order, each level with the same limits: what a level leaves free is all that the next may use.

Level k minimises |A_k x − b_k|² among the minimisers of all levels before it, always with l ≤ C x ≤ u [KLW11; EMW14]. All
minimisers of a level have the same A_k x, so they are x + Z w with Z a basis of ker A_1 ∩ … ∩ ker A_k: what was reached before
cannot change, whatever the solver does. A limit with a multiplier μ > 0 stays active in all of them, since the sum of μ C Z w
over such limits is zero and no term of it can be positive: it is an equation from there on, and Z is reduced by it.

Where limits are in the way a solver finds one of many minimisers. Nothing may depend on which: damping, and what is out of reach,
are measured from a reference, the x + Z w that is nearest to what the level would have without limits. All minimisers have the
same, for they differ by Z w alone; it need not be within limits itself, and without limits in the way it is x.

What is free must not change at once: a level has a share of each direction, 0 ≤ φ ≤ 1, by `fading_directions` and by what
`edge_of_reach` reserves. With all directions of φ > t kept and those of φ ≤ t released to lower levels there is an x(t), which
does the levels before equally well for every t. The result is the mean of x(t) over 0 ≤ t < 1: within limits, for they are
convex, and continuous in the φ. Most often all of them are 0 or 1, and x(t) is one x.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.control.priorities.edge_of_reach import Edge, Kept, Split, kept_at_edge
from torsor.control.priorities.fading_directions import RANK, kept_rank, shares_of, slowed, slowed_on_limits
from torsor.control.priorities.limit_rows import TightRows, Within
from torsor.control.priorities.quadratic_program import (
    least_squares_along,
    least_squares_in_box,
    least_squares_within,
    singular_values,
)

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
    known: dict[tuple[Progress, float], _Open] | None = None
    """What it is without limits, by the `Progress` before it and what it releases, where that is kept."""


class Progress:
    """After some levels: the x (n,) reached, and what is still free. What only reports ask for is worked out when they do."""

    def __init__(
        self,
        x: Array,
        reference: Array,
        Z: Array,
        pressed: bool,
        at_edge: bool,
        kernel: Callable[[], Array],
        slope: Callable[[], Array],
        until: float = 1.0,
    ) -> None:
        self.x = x
        self.reference = reference
        """The one x (n,), within limits or not, that changes are measured from: whichever of the optima so far x is."""
        self.Z = Z
        """A basis (n, k) of motions that change no level before and leave no limit that must stay active."""
        self.pressed = pressed
        """Whether limits kept the level just done from anything."""
        self.at_edge = at_edge
        """Whether part of the level just done is out of reach."""
        self.until = until
        """The least share of a direction that the level just done keeps and not fully, 1 if there is none."""
        self._kernel, self._slope = kernel, slope

    def moved_by(self, w: Array) -> Array:
        """x + Z w (n,)."""
        return self.x + self.along(w)

    def along(self, w: Array) -> Array:
        """Z w, of w (k,) or columns (k, ·)."""
        return w if self.is_whole else self.Z.dot(w)

    @property
    def is_whole(self) -> bool:
        """Whether Z is 1."""
        return self.Z is _every(len(self.x))

    @once
    def kernel(self) -> Array:
        """A basis (n, l) of motions that change no level before, whatever the limits."""
        return self._kernel()

    @once
    def slope(self) -> Array:
        """Of what is left of the level just done, Aᵀ (b − A x) less damping (n,): a sum of limits that it is at and of levels
        before.
        """
        return self._slope()


def at_start(x: Array) -> Progress:
    """Before the first level."""
    every = _every(len(x))
    return Progress(x, x, every, False, False, lambda: every, lambda: np.zeros(len(x)))


@lru_cache(maxsize=64)
def _every(n: int) -> Array:
    """All motions, as a basis."""
    every = np.eye(n)
    every.flags.writeable = False
    return every


def next_level(before: Progress, aim: Aim, limits: Within | None, released: float = 0.0) -> Progress:
    """One level further, by what is free and, unless they are None, within limits.

    It keeps the directions of which it has a larger share than ``released``, and leaves the others to the levels after it.
    """
    if aim.A is None:
        return _near(before, aim.b, limits)
    if not before.Z.shape[1]:
        return _level_done(before, aim, None, np.zeros(0), before.x, before.x, before.Z, False)
    unlimited = _in_the_open(before, aim, limits, None, released)
    found, blocked = _solved(before, aim, unlimited, None, limits)
    for _ in range(FACES):
        if blocked is None or not blocked.any():
            break
        on_limits = _in_the_open(before, aim, limits, blocked, released)
        if on_limits.kept is None and unlimited.until == 1.0 and not (found.at_edge or on_limits.weaker):  # as before
            break
        until = found.until
        found, others = _solved(before, aim, on_limits, (blocked, unlimited.kept), limits)
        found.until = min(found.until, until)
        if others is None or not (others & ~blocked).any():
            break
        blocked |= others
    return found


def _solved(
    before: Progress,
    aim: Aim,
    unlimited: _Open,
    on_limits: tuple[Array, Kept | None] | None,
    limits: Within | None,
) -> tuple[Progress, Array | None]:
    """The level within limits, and which of the tight ones are of places and in its way (t,), None for none at all.

    The latter only if the level has an edge, which depends on them. ``on_limits`` are those that ``unlimited`` takes for held,
    and what is reserved without them.
    """
    A, w, x = aim.A, unlimited.w, unlimited.x
    assert A is not None
    Z = before.along(unlimited.left)
    if limits is None or limits.allow(x):
        return _level_done(before, aim, unlimited, w, x, unlimited.reference, Z, False), None
    w, multipliers = _within_rows(unlimited, before, limits.tight, aim.damping)
    x = before.moved_by(w)
    held = np.abs(multipliers) > PRESSED * max(1.0, *map(abs, aim.b.dot(A).tolist()))
    any_held = True in held.tolist()
    if any_held and Z.shape[1]:
        Z = Z @ _free(limits.tight.values(Z)[held], RANK)
    if on_limits is not None and on_limits[1] is not None and (on_limits[0] & ~held).any():
        # What may leave a limit again turns back as it would without it.
        Z = Z @ _free(on_limits[1].reserved @ Z, RANK)
    blocked = limits.of_places(multipliers, held) if any_held and aim.edge is not None else None
    reference = x - Z.dot((x - unlimited.reference).dot(Z)) if Z.shape[1] else x
    return _level_done(before, aim, unlimited, w, x, reference, Z, bool(multipliers.any())), blocked


def _level_done(
    before: Progress, aim: Aim, found: _Open | None, w: Array, x: Array, reference: Array, Z: Array, pressed: bool
) -> Progress:
    """What is reached by w (k,), the x and Z of which are given."""
    A, kept = aim.A, None if found is None else found.kept
    assert A is not None

    def kernel() -> Array:
        rows = A if kept is None else np.concatenate([A, kept.reserved])
        return before.kernel @ _free(rows @ before.kernel, _nothing(A, aim.least))

    def slope() -> Array:
        f = A.T @ (aim.b - A @ x)
        if found is not None and aim.damping:
            f = f - aim.damping**2 * before.Z @ found.damped(w)
        return f if kept is None else f + kept.S.T @ (kept.s - kept.S @ x)

    return Progress(x, reference, Z, pressed, kept is not None, kernel, slope, 1.0 if found is None else found.until)


class _Open(NamedTuple):
    """A level without limits: the least |diag(sizes) used y − wanted|² + d² |used y|², with x = reference before it + Z y."""

    sizes: Array
    used: Array
    left: Array
    """The motions that it leaves free."""
    wanted: Array
    done: Array | None
    """``used`` y of the x before the level, None for 0."""
    w: Array
    """How y changes from there (k,), by no more than it must."""
    x: Array
    """What that leads to (n,)."""
    reference: Array
    """The one x (n,) of the least y."""
    kept: Kept | None
    until: float
    """As `Progress` has it."""
    weaker: bool = False
    """Whether limits in its way leave it directions that it leaves to lower levels."""

    def damped(self, w: Array) -> Array:
        """What is damped, usedᵀ used y (k,), with a change w."""
        y = self.used @ w
        return self.used.T @ (y if self.done is None else y + self.done)


def _nothing(A: Array, least: float) -> float:
    """Singular values of a level below this are zero."""
    return max(RANK * math.sqrt(float(np.vdot(A, A))), least)


def _in_the_open(before: Progress, aim: Aim, limits: Within | None, blocked: Array | None, released: float) -> _Open:
    A, b, least, damping, edge, known = aim
    if blocked is None and known is not None and (before, released) in known:
        return known[before, released]
    start, Z = before.reference, before.Z
    assert A is not None
    nothing, lacking, on_limits = _nothing(A, least), b - A.dot(start), None
    if blocked is not None and limits is not None:
        on_limits = _on_limits(A, lacking, before, limits, blocked, released, nothing, edge)
        A = A - (A @ on_limits.released.T) @ on_limits.released
    U, sizes, Vt = singular_values(A if before.is_whole else A.dot(Z))
    parts, kept = lacking.dot(U), None
    split = Split(before.along(Vt.T).T, U, sizes, parts, len(sizes))
    if on_limits is None:
        shares, lost = shares_of(split, nothing, edge, None)
        rank, until = kept_rank(shares, released)
    else:  # of what limits are in the way of, directions along them alone fade
        rank, lost, until = _rank(sizes, nothing), on_limits.lost, on_limits.until
    wanted, left = parts[:rank], Vt[rank:].T  # what no motion can change is left out
    if edge is not None:
        if on_limits is None:
            split = split._replace(rank=rank)
            kept = _kept(kept_at_edge(edge, split, None), released)
            if until < 1.0:
                wanted = slowed(split, lost, kept, nothing, start, limits)
        else:
            kept = _kept(kept_at_edge(edge, on_limits.split, on_limits.free), released)
            kept = slowed_on_limits(edge, on_limits.split, lost, kept, nothing, start, limits)
    if kept is not None:
        until = min([until, *kept.shares.tolist()])
        left = left @ _free(kept.reserved @ (Z @ left), RANK)
        U, sizes, Vt = singular_values(np.concatenate([sizes[:rank, None] * Vt[:rank], kept.S @ Z]))
        wanted, rank = np.concatenate([wanted, kept.s - kept.S @ start]), _rank(sizes, nothing)
        wanted = U[:, :rank].T @ wanted
    sizes, used = sizes[:rank], Vt[:rank]
    done, along_used = None, sizes * wanted / (sizes * sizes + damping**2)
    w = along_used.dot(used)
    x = reference = start + before.along(w)
    if start is not before.x:
        done = used.dot((before.x - start).dot(Z))
        w = (along_used - done).dot(used)
        x = before.moved_by(w)
    weaker = on_limits is not None and len(on_limits.released) > 0
    found = _Open(sizes, used, left, wanted, done, w, x, reference, kept, until, weaker)
    if blocked is None and known is not None:
        known[before, released] = found
    return found


def _near(before: Progress, b: Array, limits: Within | None) -> Progress:
    """The last level, |x − b|²: nothing is free after it."""
    Z, none = before.Z, before.Z[:, :0]
    x = before.x
    if Z.shape[1]:
        w = Z.T @ (b - x)
        x = before.moved_by(w)
        if limits is not None and not limits.allow(x):
            every = _every(len(w))
            unlimited = _Open(np.ones(len(w)), every, every[:, :0], w, None, w, x, x, None, 1.0)
            x = before.moved_by(_within_rows(unlimited, before, limits.tight, 0.0)[0])
    return Progress(x, x, none, False, False, lambda: none, lambda: b - x)


def _within_rows(unlimited: _Open, before: Progress, rows: TightRows, damping: float) -> tuple[Array, Array]:
    """The w of a level within limits, which it breaks without them, and multipliers of these (t,)."""
    sizes, used, wanted, w = unlimited.sizes, unlimited.used, unlimited.wanted, unlimited.w
    values = rows.values(before.x)
    # x itself is within limits but for rounding: that must not leave the solver without any solution.
    lower, upper = np.minimum(rows.lower - values, 0.0), np.maximum(rows.upper - values, 0.0)
    A, b = sizes[:, None] * used, wanted
    if damping:
        A, b = np.concatenate([A, damping * used]), np.concatenate([b, np.zeros(len(sizes))])
    if unlimited.done is not None:
        b = b - A.dot(unlimited.done.dot(used))
    if before.Z.shape[1] == 1:
        return least_squares_along(A, b, rows.values(before.Z[:, 0]), lower, upper, w)
    if rows.entries is None or not before.is_whole:
        return least_squares_within(A, b, rows.values(before.Z), lower, upper, w)
    w, multipliers = least_squares_in_box(A, b, *rows.bounds_of_entries(lower, upper), w)
    return w, multipliers if rows.are_all else multipliers[rows.entries]


class _OnLimits(NamedTuple):
    """A level along motions that no limit is in the way of, though they are in the way of others."""

    split: Split
    lost: list[float]
    """As `shares_of` has it."""
    free: Array
    """A basis (n, f) of all such motions, also of those that change levels before."""
    released: Array
    """Motions (k, n) at right angles along which it is so weak that lower levels have them."""
    until: float


def _on_limits(
    A: Array,
    lacking: Array,
    before: Progress,
    limits: Within,
    blocked: Array,
    released: float,
    nothing: float,
    edge: Edge | None,
) -> _OnLimits:
    rows = limits.tight
    Z = before.along(_free(rows.values(before.Z)[blocked], RANK))
    U, sizes, Vt = singular_values(A @ Z)
    split, free = Split(Vt @ Z.T, U, sizes, lacking.dot(U), len(sizes)), _free(rows.C[blocked], RANK)
    shares, lost = shares_of(split, nothing, edge, free)
    rank, until = kept_rank(shares, released)
    return _OnLimits(split._replace(rank=rank), lost, free, split.motions[rank : len(sizes)], until)


def _kept(kept: Kept | None, released: float) -> Kept | None:
    if kept is None:
        return None
    held = kept.shares > released
    return kept._replace(reserved=kept.reserved[held], shares=kept.shares[held])


def _rank(sizes: Array, nothing: float) -> int:
    return sum(size > nothing for size in sizes.tolist())


def _free(A: Array, nothing: float) -> Array:
    """A basis (n, k) of what A (m, n) maps to nothing, or to less than that."""
    if A.shape[1] == 1:  # one motion is left or not, which needs no decomposition
        return np.ones((1, int(math.sqrt(float(np.vdot(A, A))) <= nothing)))
    _, sizes, Vt = singular_values(A)
    return np.asarray(Vt[_rank(sizes, nothing) :].T)
