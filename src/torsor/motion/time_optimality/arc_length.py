"""A path by its own length, in place of a parameter along which it stands still or jumps.

Where q' = 0, as at both ends of a motion from rest to rest, ṡ² is not bounded though the robot moves slowly. By the length ℓ of
the path, measured in shares of velocity limits, q_ℓ has length one everywhere::

    q_ℓ = q'/m,   q_ℓℓ = (q'' − q_ℓ m')/m²,   m = |q'|,   m' = q_ℓ · q''

σ(ℓ) is found by Newton's method from a table of lengths (Gauss–Legendre quadrature), safeguarded by bisection.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import is_traced
from torsor.errors import ArgumentError
from torsor.motion.motions import MotionState
from torsor.motion.tangent_motion import OUTSIDE
from torsor.motion.time_optimality.intervals import Grid, at_places
from torsor.motion.time_optimality.paths import Path

SLOWEST = 0.03  # part of the largest |q'| below which a path is taken by its length
SMOOTH = 1e-3  # part of |q'| that q' may change by within an interval beside what q'' says
STANDING = 1e-3  # part of the largest |q'| below which derivatives are taken a little beside
CELLS, MOST_STEPS = 1024, 60
ROUNDING = 1e-16  # part of the length
NODES, WEIGHTS = np.polynomial.legendre.leggauss(6)


def is_regular(square: Array, first: Array, second: Array | None, grid: Grid, weights: Array) -> Array:
    """Whether paths (B,) with |q'|² (B, 2 N + 1) never nearly stand still in s, and q' (B, 2 N + 1, nv) does not jump.

    Without ``second``, of that shape, it is known not to.
    """
    largest = np.sqrt(square.max(axis=1))
    regular: Array = square.min(axis=1) >= (SLOWEST * largest) ** 2
    return (
        regular if second is None else regular & (jumps(first, second, grid, weights).max(axis=1) <= SMOOTH * largest)
    )


def jumps(first: Array, second: Array, grid: Grid, weights: Array) -> Array:
    """By how much q' changes in each interval (B, N) beside the integral of q''."""
    left, middle, right = at_places(second)
    change = (grid.spacing / 6.0)[:, None] * (left + 4.0 * middle + right)
    begin, _, end = at_places(first)
    found: Array = np.linalg.norm((end - begin - change) * weights, axis=-1)
    return found


def by_length(path: Path, weights: Array) -> Path:
    """The same path (or paths) with its length from 0 to 1 as parameter."""
    if path.batch:
        members = [_one_by_length(path.member(k), weights) for k in range(int(np.prod(path.batch)))]

        def at(s: Any) -> MotionState:
            return MotionState(
                *(np.stack(x).reshape(*path.batch, *x[0].shape) for x in zip(*(m.at(s) for m in members), strict=True))
            )

        return replace(path, at=at, knots=np.zeros(0), member=lambda k: members[k])
    return _one_by_length(path, weights)


def _one_by_length(path: Path, weights: Array) -> Path:
    lengths = _Lengths(path, weights)

    def at(s: Any) -> MotionState:
        if is_traced(s):
            raise ArgumentError(
                f"this path is followed by its length, which is found step by step: {OUTSIDE[:-1]} for others. Sample it."
            )
        s = np.asarray(s, float)
        state = lengths.at(s.reshape(-1))
        return MotionState(*(x.reshape(*s.shape, -1) for x in state))

    knots = lengths.of(path.knots)
    found = Path(path.robot, at, np.unique(knots[(knots > 0.0) & (knots < 1.0)]), (), lambda _: found)
    return found


class _Lengths:
    """Lengths along one path, from 0 to 1, and the way back."""

    def __init__(self, path: Path, weights: Array) -> None:
        self.path, self.weights = path, weights
        self.sigma = np.union1d(np.linspace(0.0, 1.0, CELLS + 1), path.knots)
        pieces = self._integral(self.sigma[:-1], self.sigma[1:])
        self.total = float(pieces.sum())
        if not self.total > 0.0:
            raise ArgumentError("`path` must lead from one configuration to another, got one that stays where it is.")
        self.table = np.concatenate([[0.0], np.cumsum(pieces)])
        self.largest = float(self._speed(self.sigma).max())

    def of(self, sigma: Array) -> Array:
        """The part of the length (K,) before the path's own parameters (K,)."""
        cell = np.clip(np.searchsorted(self.sigma, sigma, side="right") - 1, 0, len(self.sigma) - 2)
        found: Array = (self.table[cell] + self._integral(self.sigma[cell], sigma)) / self.total
        return found

    def at(self, s: Array) -> MotionState:
        """q and its derivatives by the part of the length (K,)."""
        sigma = self._back(s)
        q = self.path.at(sigma).q
        beside = self._beside(sigma)
        _, d, dd, ddd = self.path.at(beside)
        m = np.linalg.norm(d * self.weights, axis=-1)[:, None]
        w = self.weights**2
        first = d / m
        growth = np.sum(first * w * dd, axis=-1, keepdims=True)
        second = (dd - first * growth) / m**2
        more = m * np.sum(second * w * dd, axis=-1, keepdims=True) + np.sum(first * w * ddd, axis=-1, keepdims=True)
        third = (ddd - second * m * growth - first * more) / m**3 - 2.0 * growth * second / m**2
        L = self.total
        return MotionState(q, L * first, L**2 * second, L**3 * third)

    def _beside(self, sigma: Array) -> Array:
        """The parameters, but for those where the path stands still: there the nearest on the side where it moves."""
        still = self._speed(sigma) < STANDING * self.largest
        found, reach = sigma.copy(), 1e-6
        while np.any(still) and reach < 0.1:
            for side in (1.0, -1.0):
                tried = np.clip(sigma[still] + side * reach, 0.0, 1.0)
                moves = self._speed(tried) >= STANDING * self.largest
                where_still = np.flatnonzero(still)
                found[where_still[moves]] = tried[moves]
                still[where_still[moves]] = False
                if not np.any(still):
                    break
            reach *= 2.0
        return found

    def _back(self, s: Array) -> Array:
        """The path's own parameter (K,) at parts of the length (K,)."""
        aim = np.clip(s, 0.0, 1.0) * self.total
        cell = np.clip(np.searchsorted(self.table, aim, side="left") - 1, 0, len(self.sigma) - 2)
        start, low, high = self.sigma[cell], self.sigma[cell].copy(), self.sigma[cell + 1].copy()
        wanted, whole = aim - self.table[cell], self.table[cell + 1] - self.table[cell]
        share = np.divide(wanted, whole, out=np.ones_like(aim), where=whole > 0.0)
        found, left = low + share * (high - low), np.arange(len(aim))
        for _ in range(MOST_STEPS):
            excess = self._integral(start[left], found[left]) - wanted[left]
            left, excess = (x[np.abs(excess) > ROUNDING * self.total] for x in (left, excess))
            if not len(left):
                break
            high[left] = np.where(excess > 0.0, found[left], high[left])
            low[left] = np.where(excess <= 0.0, found[left], low[left])
            speed = self._speed(found[left])
            step = found[left] - np.divide(excess, speed, out=np.full_like(excess, np.inf), where=speed > 0.0)
            inside = (step > low[left]) & (step < high[left])
            found[left] = np.where(inside, step, 0.5 * (low[left] + high[left]))
        return found

    def _integral(self, low: Array, high: Array) -> Array:
        """∫ m dσ from ``low`` to ``high`` (K,)."""
        half = 0.5 * (high - low)
        nodes = (low + half)[:, None] + half[:, None] * NODES
        speeds = self._speed(nodes.reshape(-1)).reshape(nodes.shape)
        found: Array = half * (speeds @ WEIGHTS)
        return found

    def _speed(self, sigma: Array) -> Array:
        found: Array = np.linalg.norm(self.path.at(sigma).v * self.weights, axis=-1)
        return found
