"""A first time law s(w) from rest to rest, 0 ≤ w ≤ 1: the motion whose speed is then sought.

Along s itself a start from rest is not smooth: s grows as t³ there, so that s̈ has no derivative by s. Along w, with s as w³
at either end, velocity and acceleration vanish there whatever ẇ is, and ẇ² stays positive and smooth. Between two halts::

    s = s_0 + (s_1 − s_0) (10 x³ − 15 x⁴ + 6 x⁵),   x = (w − w_0)/(w_1 − w_0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.time_optimality.intervals import BESIDE

HALVINGS = 60
CLOSEST = 0.01  # of an even interval: how close to each other knots may be


class Place(NamedTuple):
    """s and its derivatives by w, (K,) each."""

    s: Array
    first: Array
    second: Array
    third: Array


@dataclass(frozen=True, eq=False)
class FirstLaw:
    """s(w) with halts at ``w`` (H + 2,), both ends among them, going from ``begin`` to ``end`` (H + 1,) in between."""

    w: Array
    begin: Array
    end: Array

    @classmethod
    def between(cls, halts: Array) -> FirstLaw:
        """The law that halts at some s (H,) within the path, on either side of them."""
        begin, end = np.concatenate([[0.0], halts + BESIDE]), np.concatenate([halts - BESIDE, [1.0]])
        shares = np.cbrt(end - begin)  # of the time: with a limit of jerk alone it grows by this
        return cls(np.concatenate([[0.0], np.cumsum(shares[:-1]), [shares.sum()]]) / shares.sum(), begin, end)

    def at(self, w: Array) -> Place:
        """s at w (K,); at a halt, on the side that follows."""
        part = np.searchsorted(self.w[1:-1], w, side="right")
        length, reach = (self.w[1:] - self.w[:-1])[part], (self.end - self.begin)[part]
        x = (w - self.w[part]) / length
        # From the nearer end, so that nothing is lost to rounding beside it
        late = x > 0.5
        y = np.where(late, (self.w[part + 1] - w) / length, x)
        gone = reach * y**3 * (10.0 + y * (6.0 * y - 15.0))
        s = np.where(late, self.end[part] - gone, self.begin[part] + gone)
        first = 30.0 * y**2 * (1.0 - y) ** 2
        second = 60.0 * y * (1.0 - y) * (1.0 - 2.0 * y) * np.where(late, -1.0, 1.0)
        third = 60.0 * (1.0 - 6.0 * y * (1.0 - y))
        return Place(s, reach * first / length, reach * second / length**2, reach * third / length**3)

    def back(self, s: Array) -> Array:
        """w (K,) where s (K,) is reached, by halving."""
        low, high = np.zeros(len(s)), np.ones(len(s))
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            beyond = self.at(middle).s > s
            low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
        return low

    def breaks(self, intervals: int, knots: Array) -> Array:
        """Even points in w from 0 to 1, those next to halts and to knots s (k,) moved there, unless knots are too close."""
        least, kept = CLOSEST / intervals, self.w.tolist()
        for w in np.unique(self.back(knots)):
            if np.min(np.abs(np.array(kept) - w)) >= least:
                kept.append(w)
        own = np.sort(kept)[1:-1]
        points = np.linspace(0.0, 1.0, intervals + 1)
        if len(own):
            near = np.setdiff1d(np.round(own * intervals).astype(int), [0, intervals])
            points = np.union1d(np.delete(points, near), own)
        return points
