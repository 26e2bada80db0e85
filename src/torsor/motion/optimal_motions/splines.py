"""B-splines on [0, 1], and what is needed of them at nodes [dB78, ch. IX].

A curve is u(s) = Σ_k B_k(s) P_k with control points P_k, knots that are even and repeated at both ends. In each piece p + 1 of
the B_k differ from zero. The integral over a piece is by Lobatto's rule, whose nodes are the ends of the piece and more inside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import factorial

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.segments import Segments

DEGREE = 5  # continuous to the fourth derivative, so that jerks are, and torques are smooth
NODES = 6  # of Lobatto's rule in a piece: exact for polynomials of degree 9, such as the square of a velocity


@dataclass(frozen=True, eq=False)
class Spline:
    """The functions B_k of a number of even pieces."""

    pieces: int

    @property
    def points(self) -> int:
        """How many control points there are."""
        return self.pieces + DEGREE

    @property
    def table(self) -> Array:
        """B_k of a piece as polynomials: (pieces, p + 1 powers of σ from 0 to 1 in the piece, p + 1 functions)."""
        return _table(self.pieces)

    def nodes(self) -> tuple[Array, Array]:
        """Nodes s and their weights in integrals over [0, 1]: those of Lobatto's rule, neighbouring pieces share their ends."""
        x, w = _lobatto()
        s = (np.arange(self.pieces)[:, None] + 0.5 * (x + 1.0)[:-1]) / self.pieces
        weights = np.zeros((self.pieces, NODES))
        weights[:] = 0.5 * w / self.pieces
        inner = weights[:, :-1].copy()
        inner[1:, 0] += weights[:-1, -1]
        return np.append(s.ravel(), 1.0), np.append(inner.ravel(), weights[-1, -1])

    def at(self, s: Array) -> tuple[Array, Array]:
        """The piece (N,) of each s, and the B_k there with three derivatives by s (N, 4, p + 1); k counts from the piece on."""
        piece = np.minimum((s * self.pieces).astype(int), self.pieces - 1)
        sigma = s * self.pieces - piece
        powers = np.arange(DEGREE + 1)
        values = np.empty((len(s), 4, DEGREE + 1))
        for order in range(4):
            factor = np.array([factorial(j) // factorial(j - order) if j >= order else 0.0 for j in powers])
            rows = factor * sigma[:, None] ** np.maximum(powers - order, 0) * float(self.pieces) ** order
            values[:, order] = np.matmul(rows[:, None], self.table[piece])[:, 0]
        return piece, values

    def greville(self) -> Array:
        """Where each control point acts (K,): with P_k = Σ of its knots, u(s) = s."""
        knots = _knots(self.pieces)
        return np.array([knots[k + 1 : k + 1 + DEGREE].mean() for k in range(self.points)])

    def segments(self, points: Array, duration: Array, anchor: Array) -> Segments:
        """The curves with control points (..., K, n) about anchors (..., nq) as pieces of polynomials in time."""
        places = np.arange(self.pieces)[:, None] + np.arange(DEGREE + 1)
        coefficients = self.table @ points[..., places, :]
        knots = np.asarray(duration)[..., None] * np.linspace(0.0, 1.0, self.pieces + 1)
        shape = (*anchor.shape[:-1], self.pieces, anchor.shape[-1])
        return Segments(knots, coefficients, np.broadcast_to(anchor[..., None, :], shape))


def _knots(pieces: int) -> Array:
    return np.concatenate([np.zeros(DEGREE), np.linspace(0.0, 1.0, pieces + 1), np.ones(DEGREE)])


@lru_cache(maxsize=32)
def _table(pieces: int) -> Array:
    """By the recursion of Cox and de Boor, in polynomials of σ [dB78, ch. X]."""
    knots, h = _knots(pieces), 1.0 / pieces
    table = np.zeros((pieces, DEGREE + 1, DEGREE + 1))
    for piece in range(pieces):
        i, t = piece + DEGREE, piece * h
        known = {i: np.array([1.0])}
        for order in range(1, DEGREE + 1):
            grown = {}
            for j in range(i - order, i + 1):
                total = np.zeros(order + 1)
                if j in known:
                    length = knots[j + order] - knots[j]
                    total += np.convolve(known[j], [(t - knots[j]) / length, h / length])
                if j + 1 in known:
                    length = knots[j + order + 1] - knots[j + 1]
                    total += np.convolve(known[j + 1], [(knots[j + order + 1] - t) / length, -h / length])
                grown[j] = total
            known = grown
        for j, polynomial in known.items():
            table[piece, :, j - piece] = polynomial
    table.setflags(write=False)
    return table


@lru_cache(maxsize=1)
def _lobatto() -> tuple[Array, Array]:
    """Nodes and weights on [−1, 1]: the ends, and where the derivative of Legendre's P_{m−1} is zero [AS64, (25.4.32)]."""
    legendre = np.polynomial.legendre
    P = np.append(np.zeros(NODES - 1), 1.0)
    x = np.concatenate([[-1.0], np.sort(legendre.legroots(legendre.legder(P)).real), [1.0]])
    return x, 2.0 / (NODES * (NODES - 1) * legendre.legval(x, P) ** 2)
