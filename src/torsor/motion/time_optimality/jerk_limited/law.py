"""s(t) of a motion with bounded jerk: s(w) by the first law, w(t) by ẇ² = y(w), a quadratic spline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.motion.body_rates import Rates
from torsor.motion.segments import Point
from torsor.motion.tangent_motion import OUTSIDE
from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
from torsor.motion.time_optimality.jerk_limited.quadratic_splines import around, basis_at

NODES, WEIGHTS = (0.5 * (x + y) for x, y in zip(np.polynomial.legendre.leggauss(10), (1.0, 0.0), strict=True))
MOST_STEPS = 30  # of Newton's method for the time
ROUNDING = 4e-16


@dataclass(frozen=True, eq=False)
class SmoothLaw:
    """s(t) of one path: a first law, breaks of w (N + 1,) and the coefficients of y (N + 2,)."""

    first: FirstLaw
    breaks: Array
    coefficients: Array

    @once
    def knots(self) -> Array:
        """When breaks are passed (N + 1,), s: there the jerk may jump."""
        return np.concatenate([[0.0], np.cumsum(self._times(np.arange(len(self.breaks) - 1), self.breaks[1:]))])

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return float(self.knots[-1])

    def at(self, t: Array) -> Point:
        """s at time t, one number, or (K,), as a point of one coordinate with its rates."""
        if not isinstance(t, np.ndarray):
            raise ArgumentError(
                "a motion with limited jerk along a path is known by numbers, not by formulas of t: sample it, and lead a spline "
                f"through the samples for traced times (torsor.motion.from_samples). {OUTSIDE[:-1]} for others."
            )
        times = np.atleast_1d(t)
        w = self._w(np.clip(times, 0.0, self.duration))
        y, slope, bend = self._y(w)
        s, s1, s2, s3 = self.first.at(w)
        rate, second, third = np.sqrt(y), 0.5 * slope, 0.5 * bend * np.sqrt(y)  # of w
        rates = [s1 * rate, s2 * y + s1 * second, s3 * rate * y + 3.0 * s2 * rate * second + s1 * third]
        rest = (times < 0.0) | (times > self.duration)
        found = [s, *(np.where(rest, 0.0, x) for x in rates)]
        s, *rates = (x[:, None] if t.ndim else x for x in found)
        return Point(0.0 * s, s, Rates(*rates))

    def rate_at(self, s: Array) -> Array:
        """ṡ where s is (K,)."""
        w = self.first.back(s)
        found: Array = self.first.at(w).first * np.sqrt(self._y(w)[0])
        return found

    def _y(self, w: Array) -> tuple[Array, Array, Array]:
        piece = np.clip(np.searchsorted(self.breaks, w, side="right") - 1, 0, len(self.breaks) - 2)
        start, h = self.breaks[piece], np.diff(self.breaks)[piece]
        now, slope, bend = self._pieces[piece].T
        x = w - start
        return now + x * (slope + 0.5 * x * bend), slope + x * bend, bend + 0.0 * h

    @once
    def _pieces(self) -> Array:
        """y, y' and y'' where each interval begins (N, 3)."""
        found: Array = np.einsum("nij,nj->ni", basis_at(self.breaks, np.zeros(1))[:, 0], around(self.coefficients))
        return found

    def _times(self, piece: Array, w: Array) -> Array:
        """∫ dw/√y from where a piece begins to w (K,)."""
        now, slope, bend = self._pieces[piece].T[:, :, None]
        length = w - self.breaks[piece]
        x = length[:, None] * NODES
        found: Array = length * ((1.0 / np.sqrt(now + x * (slope + 0.5 * x * bend))) @ WEIGHTS)
        return found

    def _w(self, t: Array) -> Array:
        """w (K,) at times (K,) within the duration, by Newton's method, kept within the interval."""
        piece = np.clip(np.searchsorted(self.knots, t, side="right") - 1, 0, len(self.breaks) - 2)
        low, high = self.breaks[piece], self.breaks[piece + 1]
        took = np.diff(self.knots)[piece]
        wanted = np.clip(t - self.knots[piece], 0.0, took)
        w = low + (high - low) * wanted / took
        now, slope, bend = self._pieces[piece].T
        for _ in range(MOST_STEPS):
            x = w - low
            step = (wanted - self._times(piece, w)) * np.sqrt(now + x * (slope + 0.5 * x * bend))
            w = np.clip(w + step, low, high)
            if np.all(np.abs(step) <= ROUNDING):
                break
        return w


@dataclass(frozen=True, eq=False)
class SmoothLaws:
    """The laws of a batch of paths; each takes its own time and rests then."""

    laws: Sequence[SmoothLaw]
    batch: tuple[int, ...]

    @property
    def duration(self) -> float:
        """The time of the slowest path, s."""
        return max((law.duration for law in self.laws), default=0.0)

    @property
    def knots(self) -> Array:
        """When the jerk may jump (..., N + 1), s; those that are fewer are filled up with their last."""
        each = [law.knots for law in self.laws]
        most = max((len(x) for x in each), default=0)
        return np.array([np.pad(x, (0, most - len(x)), mode="edge") for x in each]).reshape(*self.batch, most)

    def at(self, t: Array) -> Point:
        """s of every path (..., 1) at one time, or (..., K, 1) at times (K,), with its rates."""
        points = [law.at(t) for law in self.laws]
        parts = zip(*((point.anchor, point.u, *point.rates) for point in points), strict=True)
        anchor, u, *rates = (np.stack(x).reshape(*self.batch, *np.shape(x[0])) for x in parts)
        return Point(anchor, u, Rates(*rates))
