"""The quadratic program of a step: the least gᵀs + ½ sᵀH s + ρ t with l − t ≤ c + A s ≤ u + t, t ≥ 0, for one t.

There are thousands of limits and a few that matter, so rows are made when they are first needed. With t = 0 the dual method of
Goldfarb and Idnani [GI83] starts from the active limits of the step before. Where limits contradict each other, PIQP [SJL23]
finds the t: with the rows that are near, to which those that its solution passes are added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import needed

MOST_CHANGES = 1000  # of the set of active limits
DEAREST = 1e8  # a limit that costs more contradicts others
DEPENDENT = 1e-7  # part of a row that others do not have, below which it depends on them
ROUNDS = 12  # of PIQP with more rows
PRECISION = 1e-9  # of PIQP
KEPT = 1e-9  # by so much, in units of the scales, a row may be passed
NEAR = 0.05  # rows with less room than this are taken at first
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
    """The active limits one at a time, from a guess [GI83]; None if no step keeps all limits.

    With ŝ = Lᵀ s it is the point nearest to ŝ₀ = −L⁻¹ g within ŷ_i·ŝ ≤ b_i, with ŷ_i = ± L⁻¹ a_i. All that is kept on the way is
    optimal for the limits in the set so far: multipliers have the right sign, and each limit that is passed comes in in turn.
    """
    from scipy.linalg import lapack

    work = _Nearest(rows, L, -lapack.dtrtrs(L, g, lower=1)[0])
    work.start(np.where(rows.equal, 1.0, sides))
    for _ in range(MOST_CHANGES):
        entering = work.passed()
        if entering is None:
            work.settle()
            s = lapack.dtrtrs(L, work.point, lower=1, trans=1)[0]
            moved = rows.changes(s)
            excess = np.maximum(moved - rows.above, rows.below - moved)
            excess[work.index] = -np.inf
            beyond = rows.peaks(excess, KEPT)
            if not len(beyond):
                full = np.zeros(len(sides))
                full[work.index] = work.multipliers * work.signs
                return Step(s, full.reshape(rows.shape), 0.0)
            work.look_at(beyond)
        elif not work.enter(*entering):
            return None
    return None


class _Nearest:
    """The point nearest to another within half-spaces, by a set of active ones."""

    def __init__(self, rows: Rows, L: Array, start: Array) -> None:
        self.rows, self.L, self.point, self._free = rows, L, start, start
        self.index, self.signs, self.multipliers = np.zeros(0, int), np.zeros(0), np.zeros(0)
        self.Y = np.zeros((0, len(start)))
        """ŷ of the active ones, with their signs."""
        self._known = np.zeros(0, int)
        self._place = np.full(len(rows.above), -1)
        self._all = np.zeros((0, len(start)))
        self._above, self._below = np.zeros(0), np.zeros(0)
        self._resting = np.zeros(0)  # −∞ for active ones, which cannot be passed

    def start(self, sides: Array) -> None:
        """Take the guess in as far as multipliers have the right sign."""
        from scipy.linalg import lapack

        chosen = np.flatnonzero(sides)
        self.look_at(chosen)
        while len(chosen):
            signs, Y = sides[chosen], self._of(chosen) * sides[chosen][:, None]
            bounds = self._bounds(chosen, signs)
            S = Y @ Y.T
            _, order, rank, _ = lapack.dpstrf(S, tol=DEPENDENT**2 * float(S.max()), lower=1)
            if rank < len(chosen):  # of rows that depend on each other, as of neighbours in time, some will do
                chosen = chosen[np.sort(order[:rank] - 1)]
                continue
            factor, info = lapack.dpotrf(S, lower=1)
            if info:
                break
            multipliers = lapack.dpotrs(factor, Y @ self._free - bounds, lower=1)[0]
            good = (multipliers >= 0.0) | self.rows.equal[chosen]
            if good.all():
                self.index, self.signs, self.multipliers, self.Y = chosen, signs, multipliers, Y
                self.point = self._free - multipliers @ Y
                self._resting[self._place[chosen]] = -np.inf
                return
            chosen = chosen[good]
        equal = np.flatnonzero(self.rows.equal)
        self.look_at(equal)

    def look_at(self, index: Array) -> None:
        """More rows among which those that are passed are looked for."""
        from scipy.linalg import lapack

        index = index[self._place[index] < 0]
        if len(index):
            made = lapack.dtrtrs(self.L, self.rows.of(index).T, lower=1)[0].T
            self._place[index] = len(self._known) + np.arange(len(index))
            self._known = np.append(self._known, index)
            self._all = np.concatenate([self._all, made])
            self._above, self._below = self.rows.above[self._known], self.rows.below[self._known]
            self._resting = np.append(self._resting, np.zeros(len(index)))

    def passed(self) -> tuple[int, float] | None:
        """The known limit that is passed furthest, and its side."""
        if not len(self._known):
            return None
        moved = self._all @ self.point
        above, below = moved - self._above, self._below - moved
        excess = np.maximum(above, below) + self._resting
        k = int(excess.argmax())
        if excess[k] <= KEPT:
            return None
        return int(self._known[k]), 1.0 if above[k] >= below[k] else -1.0

    def enter(self, index: int, sign: float) -> bool:
        """Move until a limit is kept, letting others go whose multipliers become zero; False if that cannot be."""
        y = sign * self._all[self._place[index]]
        bound, own = float(self.rows.above[index] if sign > 0.0 else -self.rows.below[index]), 0.0
        held = self.rows.equal[self.index]
        while True:
            shares = self._shares(y)
            way = y - shares @ self.Y
            size = float(way @ way)
            first, until = -1, np.inf
            if len(shares):
                ratios = np.full(len(shares), np.inf)
                np.divide(self.multipliers, shares, out=ratios, where=(shares > 1e-12) & ~held)
                first = int(ratios.argmin())
                until = float(ratios[first])
            reach = (float(y @ self.point) - bound) / size if size > DEPENDENT**2 * float(y @ y) else np.inf
            length = min(until, reach)
            if not length < np.inf:
                return False
            if reach < np.inf:
                self.point = self.point - length * way
            self.multipliers, own = self.multipliers - length * shares, own + length
            if own > DEAREST:
                return False
            if reach <= until:
                self.index, self.signs = np.append(self.index, index), np.append(self.signs, sign)
                self.multipliers, self.Y = np.append(self.multipliers, own), np.concatenate([self.Y, y[None]])
                self._resting[self._place[index]] = -np.inf
                return True
            self._resting[self._place[self.index[first]]] = 0.0
            left = np.ones(len(self.index), bool)
            left[first] = False
            self.index, self.signs, self.multipliers = self.index[left], self.signs[left], self.multipliers[left]
            self.Y, held = self.Y[left], held[left]

    def settle(self) -> None:
        """Meet the active limits to rounding, which many moves have lost."""
        from scipy.linalg import lapack

        if not len(self.index):
            return
        bounds = self._bounds(self.index, self.signs)
        factor, info = lapack.dpotrf(self.Y @ self.Y.T, lower=1)
        for _ in range(2 if not info else 0):
            change = lapack.dpotrs(factor, self.Y @ self.point - bounds, lower=1)[0]
            self.multipliers, self.point = self.multipliers + change, self.point - change @ self.Y

    def _shares(self, y: Array) -> Array:
        """The combination of active rows that is nearest to y."""
        from scipy.linalg import lapack

        if not len(self.Y):
            return np.zeros(0)
        factor, info = lapack.dpotrf(self.Y @ self.Y.T, lower=1)
        if info:
            return np.asarray(np.linalg.lstsq(self.Y.T, y, rcond=None)[0])
        return np.asarray(lapack.dpotrs(factor, self.Y @ y, lower=1)[0])

    def _of(self, index: Array) -> Array:
        return self._all[self._place[index]]

    def _bounds(self, index: Array, signs: Array) -> Array:
        return np.where(signs > 0.0, self.rows.above[index], -self.rows.below[index])


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
