"""Piecewise polynomials in time, with knots that are constants: what polynomials, profiles and splines are made of.

Time within a piece is σ = (t − its start)/(its length), from 0 to 1, and u = Σ c_j σ^j. A piece of length 0 is passed over.
Outside, the curve is at rest where it ended: the value is held, and derivatives are zero. At the ends themselves, and at
knots, derivatives are those of the piece that begins there (at the last knot, of the one that ends there).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial
from typing import NamedTuple

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.motion.body_rates import Rates


class Point(NamedTuple):
    """Where a piecewise curve is: its anchor (..., k), coordinates u and their rates (..., m)."""

    anchor: Array
    u: Array
    rates: Rates


@dataclass(frozen=True, eq=False)
class Segments:
    """Pieces of a curve u(t) about anchors.

    Attributes
    ----------
    knots : (..., s + 1) array
        When pieces begin and end, s, for each member of a batch or for all; or (..., s + 1, m), for each coordinate.
    coefficients : (..., s, degree + 1, m) array
        c_j of each piece.
    anchors : (..., s, k) array
        What each piece is seen from.
    own : bool
        Whether coordinates have knots of their own. Then there is one anchor.
    """

    knots: Array
    coefficients: Array
    anchors: Array
    own: bool = False

    @property
    def duration(self) -> float:
        """The last knot of all, s."""
        return float(np.max(self.knots, initial=0.0))

    @property
    def count(self) -> int:
        """How many pieces."""
        return int(self.coefficients.shape[-3])

    def at(self, t: Array) -> Point:
        """The point at time ``t``, one number, or (K,): then results are (..., K, m)."""
        if isinstance(t, np.ndarray):
            point = self._of_numbers(np.atleast_1d(t))
            if t.ndim:
                return point
            return Point(point.anchor[..., 0, :], point.u[..., 0, :], Rates(*(x[..., 0, :] for x in point.rates)))
        return self._chosen(t)

    def _of_numbers(self, t: Array) -> Point:
        """Times (K,) that are known: pieces are looked up."""
        knots = self.knots if self.own else self.knots[..., None]  # (..., s + 1, m or 1)
        first, last = knots[..., :1, :], knots[..., -1:, :]
        time = np.clip(t[:, None], first, last)  # (..., K, m or 1)
        within = (t[:, None] >= first) & (t[:, None] <= last)
        inner = knots[..., 1:-1, :]
        lengths = np.diff(knots, axis=-2)
        if knots.ndim == 2 and not self.own:
            piece = np.searchsorted(inner[:, 0], time[:, 0], side="right")
            start, length = knots[piece], lengths[piece]
            c = np.moveaxis(self.coefficients[..., piece, :, :], -2, 0)
            anchor = self.anchors[..., piece, :]
        else:
            piece = np.zeros(time.shape, int)
            for k in range(inner.shape[-2]):
                piece += time >= inner[..., k : k + 1, :]
            start, length = (np.take_along_axis(x, piece, -2) for x in (knots[..., :-1, :], lengths))
            c = [_looked_up(self.coefficients[..., j, :], piece) for j in range(self.coefficients.shape[-2])]
            anchor = self.anchors[..., :1, :] if self.own else _looked_up(self.anchors, piece)
        return _evaluated(anchor, list(c), time - start, length, within)

    def _chosen(self, t: Array) -> Point:
        """One time that is not known yet: the piece is chosen by comparisons, among constants."""
        knots = self.knots if self.own else self.knots[..., None]
        first, last = knots[..., 0, :], knots[..., -1, :]
        time = where(t < first, first, where(t > last, last, t))
        within = (t >= first) & (t <= last)
        degrees = range(self.coefficients.shape[-2])
        start, length = first, knots[..., 1, :] - first
        c: list[Array] = [self.coefficients[..., 0, j, :] for j in degrees]
        anchor: Array = self.anchors[..., 0, :]
        for k in range(1, self.count):
            begun = time >= knots[..., k, :]
            start = where(begun, knots[..., k, :], start)
            length = where(begun, knots[..., k + 1, :] - knots[..., k, :], length)
            c = [where(begun, self.coefficients[..., k, j, :], c[j]) for j in degrees]
            if not self.own:
                anchor = where(begun, self.anchors[..., k, :], anchor)
        return _evaluated(anchor, c, time - start, length, within)


def _looked_up(table: Array, piece: Array) -> Array:
    """Rows (..., K, m) of a table (..., s, m), one for each piece (..., K, m or 1)."""
    batch = np.broadcast_shapes(table.shape[:-2], piece.shape[:-2])
    full = np.broadcast_to(table, (*batch, *table.shape[-2:]))
    rows = np.broadcast_to(piece, (*batch, piece.shape[-2], table.shape[-1]))
    return np.take_along_axis(full, rows, -2)


def _evaluated(anchor: Array, c: list[Array], elapsed: Array, length: Array, within: Array) -> Point:
    """Σ c_j σ^j and its derivatives by time, which are zero where not ``within``."""
    length = where(length > 0.0, length, 1.0)
    sigma = elapsed / length
    values = [_horner(c, sigma)]
    scale: Array = where(within, 1.0, 0.0)
    for _ in range(3):
        c = [j * c[j] for j in range(1, len(c))] or [0.0 * c[0]]
        scale = scale / length
        values.append(scale * _horner(c, sigma))
    return Point(anchor, values[0], Rates(*values[1:]))


def _horner(c: list[Array], x: Array) -> Array:
    total = c[-1] + 0.0 * x
    for one in reversed(c[:-1]):
        total = total * x + one
    return total


def hermite(length: Array, starts: list[Array], ends: list[Array]) -> Array:
    """Coefficients (..., 2 k, m) of the polynomial of degree 2 k − 1 with values and k − 1 derivatives at both ends.

    Parameters
    ----------
    length : (...) array
        Of the piece, s.
    starts, ends : k arrays (..., m) each
        The value, and its derivatives by time.
    """
    k = len(starts)
    powers = [np.asarray(length)[..., None] ** i for i in range(k)]
    low = [starts[i] * powers[i] / factorial(i) for i in range(k)]
    missing = []
    for i in range(k):
        reached = sum(_falling(j, i) * low[j] for j in range(i, k))
        missing.append(ends[i] * powers[i] - reached)
    table = _completing(k)
    high = [sum(table[j, i] * missing[i] for i in range(k)) for j in range(k)]
    return np.stack(np.broadcast_arrays(*low, *high), axis=-2)


def _falling(j: int, i: int) -> int:
    """j (j − 1) … (j − i + 1): the i-th derivative of σ^j at 1."""
    return factorial(j) // factorial(j - i) if i <= j else 0


@lru_cache(maxsize=8)
def _completing(k: int) -> Array:
    """Coefficients of σ^k … σ^{2k−1} by what derivatives 0 … k − 1 at 1 still lack; in sixths, exactly."""
    inverse = np.linalg.inv([[float(_falling(k + j, i)) for j in range(k)] for i in range(k)])
    return np.round(6.0 * inverse) / 6.0
