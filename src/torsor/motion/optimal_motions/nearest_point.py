"""The point nearest to another within half-spaces: the dual active-set method of Goldfarb and Idnani [GI83].

    least ½ |p − p₀|²  with  below ≤ y_i · p ≤ above

The rows that are *active*, with signs s_j so that s_j y_j · p ≤ b_j is met as an equation, are kept as a triangle R and rows Q
of length one at right angles to each other, s_j y_j = Σ_i R_ij Q_i. A limit that is passed becomes active: the point goes along
what of its row the active ones do not have, and whose multiplier becomes zero on the way is let go. At every moment the point is
the nearest one within the limits that are active then.

`nearest_point_code` is the same in machine code.
"""

from __future__ import annotations

import ctypes

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.backend import compiles
from torsor.motion.optimal_motions import nearest_point_code as code
from torsor.motion.optimal_motions.nearest_point_code import (
    CONTRADICTION,
    DEAREST,
    DEPENDENT,
    DONE,
    KEPT,
    LEAST_SHARE,
    UNFINISHED,
)

AT_ONCE = 200  # changes in machine code, between which Ctrl-C is heard
GROUP = 8  # numbers: rows are padded to whole groups
FIRST = 256  # rows there is room for at first


class NearestPoint:
    """Half-spaces, of which more can be added, and the point nearest to ``start`` (n,) within them."""

    def __init__(self, start: Array) -> None:
        self.unknowns = len(start)
        self.width, self.room = _padded(self.unknowns), _padded(self.unknowns + 1)
        self.known, self.count = 0, 0
        self.start = np.zeros(self.width)
        self.start[: self.unknowns] = start
        self.point, self.way = self.start.copy(), np.zeros(self.width)
        self.Y, self.above, self.below = np.zeros((FIRST, self.width)), np.zeros(FIRST), np.zeros(FIRST)
        self.equal, self.taken = np.zeros(FIRST, np.int64), np.zeros(FIRST, np.int64)
        self.Q, self.R = np.zeros((self.room, self.width)), np.zeros((self.room, self.room))
        self.parts, self.shares, self.multipliers, self.signs = np.zeros((4, self.room))
        self.rows = np.zeros(self.room, np.int64)
        self.guess, self.sides = np.zeros(0, np.int64), np.zeros(0)

    def add(self, Y: Array, below: Array, above: Array, equal: Array) -> None:
        """More rows (k, n), with their bounds."""
        end = self.known + len(Y)
        if end > len(self.Y):
            more = max(end, 2 * len(self.Y)) - len(self.Y)
            self.Y = np.concatenate([self.Y, np.zeros((more, self.width))])
            for name in ("above", "below", "equal", "taken"):
                own = getattr(self, name)
                setattr(self, name, np.concatenate([own, np.zeros(more, own.dtype)]))
        new = slice(self.known, end)
        self.Y[new, : self.unknowns] = Y
        self.below[new], self.above[new], self.equal[new], self.taken[new] = below, above, equal, 0
        self.known = end

    def begin_with(self, rows: Array, sides: Array) -> None:
        """Guess which rows (k,) are active, and on which side: 1 above, −1 below. To be called before the first `approach`."""
        self.guess, self.sides = np.ascontiguousarray(rows, np.int64), np.ascontiguousarray(sides, float)

    @property
    def active(self) -> Array:
        """The rows that are active."""
        return self.rows[: self.count]

    @property
    def prices(self) -> Array:
        """Their multipliers, positive above."""
        return self.multipliers[: self.count] * self.signs[: self.count]

    def approach(self, most: int) -> bool:
        """Go there; False if the limits contradict each other, or after ``most`` changes."""
        if not compiles():
            return self._approach(most) == DONE
        run, work = code.compiled_approach(), self._workspace()
        address, outcome = ctypes.addressof(work), UNFINISHED
        for _ in range(-(-most // AT_ONCE)):
            outcome = run(address)
            if outcome != UNFINISHED:
                break
        self.count = work[code.Work.names.index("count")]
        self.guess = self.guess[:0]
        return bool(outcome == DONE)

    def _workspace(self) -> ctypes.Array[ctypes.c_int64]:
        numbers = {"groups": self.width // GROUP, "guessed": len(self.guess), "changes": 0, "most": AT_ONCE}
        words = (getattr(self, name) if name not in numbers else numbers[name] for name in code.Work.names)
        given = [word if isinstance(word, int) else word.ctypes.data for word in words]
        return (ctypes.c_int64 * len(given))(*given)

    # The same in NumPy

    def _approach(self, most: int) -> int:
        if len(self.guess):
            self._begin()
            self.guess = self.guess[:0]
        for _ in range(most):
            moved = self.Y[: self.known] @ self.point
            excess = np.maximum(moved - self.above[: self.known], self.below[: self.known] - moved)
            excess[self.taken[: self.known] != 0] = -np.inf
            i = int(excess.argmax()) if self.known else 0
            if not self.known or excess[i] <= KEPT:
                self._settle()
                self._settle()
                return DONE
            if not self._enter(i, 1.0 if moved[i] - self.above[i] >= self.below[i] - moved[i] else -1.0):
                return CONTRADICTION
        return UNFINISHED

    def _begin(self) -> None:
        """The guessed limits become active, but for those that depend on others or would have multipliers below zero."""
        for i, sign in zip(self.guess.tolist(), self.sides.tolist(), strict=True):
            size = self._split(sign * self.Y[i])
            if size > DEPENDENT**2 * float(self.Y[i] @ self.Y[i]) and self.count < self.unknowns:
                self._append(i, sign, size, 0.0)
        while True:
            self.point[:], self.multipliers[:] = self.start, 0.0
            self._settle()
            own = np.where(self.equal[self.active] != 0, 0.0, self.multipliers[: self.count])
            if not (own < 0.0).any():
                return
            self._drop(int(own.argmin()))

    def _enter(self, i: int, sign: float) -> bool:
        """Move until a limit is kept, letting others go whose multipliers become zero; False if that cannot be."""
        y, own = sign * self.Y[i], 0.0
        bound = float(self.above[i] if sign > 0.0 else -self.below[i])
        while True:
            size, k = self._split(y), self.count
            self._solve_upper()
            ratios = np.full(k + 1, np.inf)
            falls = (self.shares[:k] > LEAST_SHARE) & (self.equal[self.active] == 0)
            np.divide(self.multipliers[:k], self.shares[:k], out=ratios[:k], where=falls)
            first = int(ratios.argmin())
            until = float(ratios[first])
            moves = size > DEPENDENT**2 * float(y @ y) and k < self.unknowns
            reach = (float(y @ self.point) - bound) / size if moves else np.inf
            length = min(until, reach)
            if not length < np.inf:
                return False
            if moves:
                self.point -= length * self.way
            self.multipliers -= length * self.shares
            own += length
            if own > DEAREST:
                return False
            if reach <= until:
                self._append(i, sign, size, own)
                return True
            self._drop(first)

    def _split(self, row: Array) -> float:
        """What of a row the active ones do not have, into ``way``, and what they have, along Q, into ``parts``."""
        self.way[:], self.parts[:] = row, 0.0
        Q, k = self.Q[: self.count], self.count
        for _ in range(2):  # twice, for what rounding leaves after the first time
            part = Q @ self.way
            self.way -= part @ Q
            self.parts[:k] += part
        return float(self.way @ self.way)

    def _solve_upper(self) -> None:
        """R shares = parts."""
        self.shares[:] = 0.0
        for j in range(self.count - 1, -1, -1):
            self.shares[j] = (self.parts[j] - self.R[j] @ self.shares) / self.R[j, j]

    def _settle(self) -> None:
        """From the point to the nearest one where the active limits are met, and the multipliers of that way."""
        k, signs = self.count, self.signs[: self.count]
        bounds = np.where(signs > 0.0, self.above[self.active], -self.below[self.active])
        self.parts[:] = 0.0
        self.parts[:k] = signs * (self.Y[self.active] @ self.point) - bounds
        for j in range(k):  # Rᵀ c = parts
            self.parts[j] /= self.R[j, j]
            self.parts[j + 1 : k] -= self.parts[j] * self.R[j, j + 1 : k]
        self.point -= self.parts[:k] @ self.Q[:k]
        self._solve_upper()
        self.multipliers += self.shares

    def _append(self, i: int, sign: float, size: float, own: float) -> None:
        """One more active limit, whose row was split."""
        k, length = self.count, float(np.sqrt(size))
        self.Q[k] = self.way / length
        self.R[:k, k], self.R[k] = self.parts[:k], 0.0
        self.R[k, k] = length
        self.rows[k], self.signs[k], self.multipliers[k], self.taken[i] = i, sign, own, 1
        self.count = k + 1

    def _drop(self, gone: int) -> None:
        """The active limit ``gone`` goes; rotations of neighbouring rows keep R triangular."""
        last = self.count - 1
        self.taken[self.rows[gone]] = 0
        for own in (self.rows, self.signs, self.multipliers):
            own[gone:last] = own[gone + 1 : last + 1].copy()
        self.multipliers[last] = 0.0
        self.R[: last + 1, gone:last] = self.R[: last + 1, gone + 1 : last + 1].copy()
        self.R[: last + 1, last] = 0.0
        for j in range(gone, last):
            a, b = self.R[j, j], self.R[j + 1, j]
            turn = np.array([[a, b], [-b, a]]) / np.sqrt(a * a + b * b)
            self.R[j : j + 2] = turn @ self.R[j : j + 2]
            self.R[j + 1, j] = 0.0
            self.Q[j : j + 2] = turn @ self.Q[j : j + 2]
        self.count = last


def _padded(n: int) -> int:
    return -(-max(n, 1) // GROUP) * GROUP
