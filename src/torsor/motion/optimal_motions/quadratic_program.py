"""The quadratic program of a step: the least gᵀs + ½ sᵀH s + ρ t with l − t ≤ c + A s ≤ u + t, t ≥ 0, for one t.

There are thousands of limits and a few that matter, so rows are made when they are first needed. With t = 0 a dual active-set
method (`nearest_point`) starts from the active limits of the step before. Where limits contradict each other, PIQP [SJL23]
finds the t: with the rows that are near, to which those that its solution passes are added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import needed
from torsor.motion.optimal_motions.nearest_point import NearestPoint
from torsor.motion.optimal_motions.nearest_point_code import KEPT

MOST_CHANGES = 1000  # of the set of active limits
ROUNDS = 12  # of PIQP with more rows
PRECISION = 1e-9  # of PIQP
NEAR = 0.05  # rows with less room than this are taken at first
MANY = 4  # times as many rows as unknowns: of more that are passed at once, only the peaks are taken
LARGE = 300  # unknowns from which on matrices are sparse


class Step(NamedTuple):
    """s (n,), multipliers (N, M) in units of the scaled rows, positive at upper limits; and t."""

    s: Array
    multipliers: Array
    relaxed: float


class Rows:
    """The limits of a step, c + A s within l and u (N, M): with A made row by row."""

    def __init__(
        self,
        c: Array,
        lower: Array,
        upper: Array,
        make: Callable[[Array, Array], Array],
        changes: Callable[[Array], Array],
        unknowns: int,
    ) -> None:
        self.shape = c.shape
        self.below, self.above = (lower - c).ravel(), (upper - c).ravel()  # bounds of A s
        self.equal = (lower == upper).ravel()
        self.changes = changes
        self._make, self._width = make, c.shape[1]
        self._place = np.full(c.size, -1)
        self._A = np.zeros((0, unknowns))

    def of(self, index: Array) -> Array:
        """Rows of A (k, n) by number."""
        new = index[self._place[index] < 0]
        if len(new):
            made = self._make(new // self._width, new % self._width)
            self._place[new] = len(self._A) + np.arange(len(new))
            self._A = np.concatenate([self._A, made])
        return self._A[self._place[index]]

    def beside(self, chosen: Array) -> Array:
        """Rows (k,) that are chosen (N M,), with those of the nodes before and after."""
        table = chosen.reshape(self.shape)
        wider = table.copy()
        wider[1:] |= table[:-1]
        wider[:-1] |= table[1:]
        return np.flatnonzero(wider)

    def peaks(self, excess: Array, beyond: float) -> Array:
        """Rows of which ``excess`` (N M,) is largest among neighbours in time and larger than ``beyond``."""
        table = excess.reshape(self.shape)
        padded = np.pad(table, ((1, 1), (0, 0)), constant_values=-np.inf)
        peak = (table > beyond) & (table >= padded[:-2]) & (table > padded[2:])
        return np.flatnonzero(peak.ravel())


def solve(H: Array, L: Array, g: Array, rows: Rows, sides: Array, price: float) -> Step:
    """The step; H is positive definite with the factor L; ``sides`` (N M,) guess active limits: 1 upper, −1 lower, 0 none."""
    found = _dual(L, g, rows, sides)
    return _by_piqp(H, g, rows, sides, price) if found is None else found


def _dual(L: Array, g: Array, rows: Rows, sides: Array) -> Step | None:
    """By active limits, one at a time, from a guess; None if no step keeps all limits.

    With ŝ = Lᵀ s it is the point nearest to ŝ₀ = −L⁻¹ g within l ≤ ŷ_i·ŝ ≤ u, with ŷ_i = L⁻¹ a_i (`NearestPoint`).
    """
    from scipy.linalg import lapack

    nearest = NearestPoint(-lapack.dtrtrs(L, g, lower=1)[0])
    known = np.zeros(0, int)
    guess = np.where(rows.equal, 1.0, sides)
    more, is_known = rows.beside(guess != 0.0), np.zeros(len(guess), bool)
    guessed = np.flatnonzero(guess[more])
    nearest.begin_with(guessed, guess[more][guessed])
    while True:
        if len(more):
            known, is_known[more] = np.append(known, more), True
            Y = lapack.dtrtrs(L, rows.of(more).T, lower=1)[0].T
            nearest.add(Y, rows.below[more], rows.above[more], rows.equal[more])
        if not nearest.approach(MOST_CHANGES):
            return None
        s = lapack.dtrtrs(L, nearest.point[: len(g)], lower=1, trans=1)[0]
        moved = rows.changes(s)
        excess = np.maximum(moved - rows.above, rows.below - moved)
        excess[is_known] = -np.inf
        more = np.flatnonzero(excess > KEPT)
        if len(more) > MANY * len(g):
            more = rows.peaks(excess, KEPT)
        if not len(more):
            multipliers = np.zeros(len(sides))
            multipliers[known[nearest.active]] = nearest.prices
            return Step(s, multipliers.reshape(rows.shape), 0.0)


def _by_piqp(H: Array, g: Array, rows: Rows, sides: Array, price: float) -> Step:
    room = np.minimum(rows.above, -rows.below)
    chosen = np.flatnonzero((room < NEAR) | (sides != 0.0) | rows.equal)
    for _ in range(ROUNDS):
        s, t, multipliers = _piqp(H, g, rows.of(chosen), rows.below[chosen], rows.above[chosen], price)
        moved = rows.changes(s)
        excess = np.maximum(moved - rows.above, rows.below - moved) - t
        excess[chosen] = -np.inf
        passed = rows.peaks(excess, 1e-7)
        if not len(passed):
            break
        chosen = np.sort(np.append(chosen, passed))
    full = np.zeros(len(rows.above))
    full[chosen] = multipliers
    return Step(s, full.reshape(rows.shape), t)


def _piqp(H: Array, g: Array, A: Array, below: Array, above: Array, price: float) -> tuple[Array, float, Array]:
    """s, t and the multipliers (k,)."""
    piqp = piqp_module()
    n, (k, _) = len(g), A.shape
    up, down = np.flatnonzero(np.isfinite(above)), np.flatnonzero(np.isfinite(below))
    G = np.zeros((len(up) + len(down), n + 1))
    G[: len(up), :n], G[len(up) :, :n], G[:, n] = A[up], -A[down], -1.0
    bound = np.concatenate([above[up], -below[down]])
    P = np.zeros((n + 1, n + 1))
    P[:n, :n] = H
    linear, low = np.append(g, price), np.append(np.full(n, -np.inf), 0.0)
    sparse = n > LARGE
    solver = piqp.SparseSolver() if sparse else piqp.DenseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = PRECISION
    solver.settings.max_iter = 100
    if sparse:
        from scipy.sparse import csc_matrix

        P, G = csc_matrix(P), csc_matrix(G)
    solver.setup(P, linear, None, None, G, None, bound, low, None)
    solver.solve()
    x, z = np.array(solver.result.x), np.array(solver.result.z_u)
    multipliers = np.zeros(k)
    multipliers[up] += z[: len(up)]
    multipliers[down] -= z[len(up) :]
    return x[:n], max(float(x[n]), 0.0), multipliers


def piqp_module() -> Any:
    """PIQP, imported when it is first needed."""
    return needed("piqp", "needs the QP solver PIQP: pip install 'torsor[qp]'.")
