"""Quadratic splines: y, y' and y'' within each interval by the three coefficients that count there.

y'' is constant between breaks (N + 1,), y and y' are continuous. There are N + 2 coefficients, of B-splines that are 1 together:
equal coefficients make a constant.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array


def basis_at(breaks: Array, theta: Array) -> Array:
    """Matrices (N, K, 3, 3) from three coefficients to y, y' and y'' at the fractions ``theta`` (K,) of each interval."""
    knots = np.concatenate([breaks[:1], breaks, breaks[-1:]])
    before, start, end, after = (knots[k : k + len(breaks) - 1, None] for k in range(4))
    h = end - start
    left, right = end - before, after - start  # how far the first and the last of the three splines reach
    one, other = (1.0 - theta) * h, theta * h
    columns = []
    for order in range(3):
        scale = ((1.0, 1.0), (-2.0, 2.0), (2.0, 2.0))[order]
        first = scale[0] * one ** (2 - order) / (left * h)
        last = scale[1] * other ** (2 - order) / (right * h)
        columns.append(np.stack([first, (1.0 if order == 0 else 0.0) - first - last, last], axis=-1))
    return np.stack(columns, axis=-2)


def around(coefficients: Array) -> Array:
    """The three coefficients of each interval (…, N, 3)."""
    found: Array = np.lib.stride_tricks.sliding_window_view(coefficients, 3, axis=-1)
    return found


def gathered(parts: Array) -> Array:
    """Sums over intervals (B, N, 3) of what belongs to each of the three, by coefficient (B, N + 2)."""
    batch, count, _ = parts.shape
    found = np.zeros((batch, count + 2))
    for k in range(3):
        found[:, k : count + k] += parts[..., k]
    return found
