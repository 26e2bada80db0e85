"""Splines through given points, twice continuously differentiable, on numbers and on groups.

On numbers it is the cubic spline [dB78, ch. IV]. On a group each piece is a curve in the coordinates u of its first point,
g_k exp u(t), as [PR97] does for rotations. Body velocities at the points are found by asking that the accelerations of the
cubics before and after a point be equal there. On numbers that is a tridiagonal system of equations, solved once; on groups
its matrix leads Newton's method. Then every piece is made a quintic with these velocities, and accelerations, at both of its
ends: on numbers the same cubic again; on groups its second derivative is continuous exactly, whether or not Newton's method
came to its end (between points that are far apart it need not).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.body_rates import Rates
from torsor.motion.segments import hermite

Convert = Callable[[Array, Rates], Rates]
MOST_STEPS = 30


class Curve(NamedTuple):
    """What a curve moves on: coordinates u and their rates to body rates, and back; whether that changes nothing."""

    to_body: Convert
    to_coordinates: Convert
    is_flat: bool


class Ends(NamedTuple):
    """End conditions: "clamped", "natural" or "periodic"; velocities and accelerations (..., m) there, or None."""

    kind: str
    v0: Array | None = None
    v1: Array | None = None
    a0: Array | None = None
    a1: Array | None = None


def spline_pieces(curve: Curve, h: Array, d: Array, ends: Ends) -> Array:
    """Coefficients (..., s, 6, m) of the pieces, of lengths h (s,), from each point to the next, d (..., s, m) apart."""
    v = _velocities(curve, h, d, ends)
    before, after = _accelerations(curve, h, d, v)  # at the ends of pieces, at their beginnings
    a = np.concatenate(
        [after[..., :1, :], 0.5 * (before[..., :-1, :] + after[..., 1:, :]), before[..., -1:, :]], axis=-2
    )
    if ends.kind == "periodic":
        a[..., 0, :] = a[..., -1, :] = 0.5 * (after[..., 0, :] + before[..., -1, :])
    for place, given in ((0, ends.a0), (-1, ends.a1)):
        if given is not None:
            a[..., place, :] = given
        elif ends.kind == "natural":
            a[..., place, :] = 0.0
    none = np.zeros_like(d)
    last = curve.to_coordinates(d, Rates(v[..., 1:, :], a[..., 1:, :], none))
    return hermite(h, [none, v[..., :-1, :], a[..., :-1, :]], [d, last.first, last.second])


def _velocities(curve: Curve, h: Array, d: Array, ends: Ends) -> Array:
    """Body velocities (..., s + 1, m) at the points."""
    solve = _Tridiagonal(h, ends.kind)
    v = np.zeros((*d.shape[:-2], d.shape[-2] + 1, d.shape[-1]))
    if ends.kind == "clamped":
        v[..., 0, :] = 0.0 if ends.v0 is None else ends.v0
        v[..., -1, :] = 0.0 if ends.v1 is None else ends.v1
    best, least = v, np.inf
    for _ in range(1 if curve.is_flat else MOST_STEPS):
        jump = _jumps(curve, h, d, v, ends)
        size = float(np.abs(jump).max(initial=0.0))
        if not size < least:
            return best
        best, least = v, size
        v = v - solve(jump)
    if curve.is_flat:
        return v
    jump = _jumps(curve, h, d, v, ends)
    return v if np.abs(jump).max(initial=0.0) < least else best


def _accelerations(curve: Curve, h: Array, d: Array, v: Array) -> tuple[Array, Array]:
    """Body accelerations (..., s, m) where each cubic ends, and where it begins."""
    none, T = np.zeros_like(d), h[:, None]
    first = v[..., :-1, :]
    last = curve.to_coordinates(d, Rates(v[..., 1:, :], none, none)).first
    begun = (6.0 * d / T - 4.0 * first - 2.0 * last) / T
    ended = (-6.0 * d / T + 2.0 * first + 4.0 * last) / T
    return curve.to_body(d, Rates(last, ended, none)).second, begun


def _jumps(curve: Curve, h: Array, d: Array, v: Array, ends: Ends) -> Array:
    """What the accelerations lack of the conditions at the points (..., s + 1, m)."""
    before, after = _accelerations(curve, h, d, v)
    inner = before[..., :-1, :] - after[..., 1:, :]
    if ends.kind == "periodic":
        first = before[..., -1:, :] - after[..., :1, :]
        return np.concatenate([first, inner, first], axis=-2)
    if ends.kind == "natural":
        return np.concatenate([-after[..., :1, :], inner, before[..., -1:, :]], axis=-2)
    zero = np.zeros_like(after[..., :1, :])
    return np.concatenate([zero, inner, zero], axis=-2)


class _Tridiagonal:
    """Solves the equations of the spline on numbers: how jumps of acceleration (..., s + 1, m) change with velocities.

    Row k is 2/h_{k−1} v_{k−1} + (4/h_{k−1} + 4/h_k) v_k + 2/h_k v_{k+1}; at clamped ends v is known.
    """

    def __init__(self, h: Array, kind: str) -> None:
        self.kind = kind
        side = 2.0 / h
        self.low, self.high = side.copy(), side.copy()  # entries (k + 1, k) and (k, k + 1)
        self.middle = 2.0 * (np.append(side, 0.0) + np.append(0.0, side))
        if kind == "clamped":
            self.middle[[0, -1]], self.low[-1], self.high[0] = 1.0, 0.0, 0.0

    def __call__(self, right: Array) -> Array:
        right = np.moveaxis(right, -2, 0)
        if self.kind != "periodic":
            return np.moveaxis(_eliminated(self.low, self.middle, self.high, right), 0, -2)
        found = self._around(right[:-1])
        return np.moveaxis(np.concatenate([found, found[:1]]), 0, -2)

    def _around(self, right: Array) -> Array:
        """The periodic case, s unknowns, by Sherman and Morrison's formula: a row and a column beside the diagonals."""
        s = len(right)
        side, corner = self.low[: s - 1], self.low[s - 1]
        middle = 2.0 * (self.low + np.roll(self.low, 1))
        if s == 1:
            return right / (3.0 * middle[0] / 2.0)
        if s == 2:
            matrix = np.array([[middle[0], side[0] + corner], [side[0] + corner, middle[1]]])
            return np.linalg.solve(matrix, right.reshape(2, -1)).reshape(right.shape)
        shifted, gamma = middle.copy(), -middle[0]
        shifted[0] -= gamma
        shifted[-1] -= corner * corner / gamma
        u = np.zeros(s)
        u[0], u[-1] = gamma, corner
        y, z = _eliminated(side, shifted, side, right), _eliminated(side, shifted, side, u)
        factor = (y[0] + corner / gamma * y[-1]) / (1.0 + z[0] + corner / gamma * z[-1])
        return y - z.reshape(-1, *[1] * (right.ndim - 1)) * factor


def _eliminated(low: Array, middle: Array, high: Array, right: Array) -> Array:
    """Gauss's elimination of a tridiagonal matrix that is dominated by its diagonal; unknowns along the first axis."""
    n = len(middle)
    upper, x = np.zeros(n), np.array(right, float)
    pivot = middle[0]
    for k in range(n):
        if k:
            pivot = middle[k] - low[k - 1] * upper[k - 1]
            x[k] = x[k] - low[k - 1] * x[k - 1]
        upper[k] = high[k] / pivot if k < n - 1 else 0.0
        x[k] = x[k] / pivot
    for k in range(n - 2, -1, -1):
        x[k] = x[k] - upper[k] * x[k + 1]
    return x
