"""Local polynomials of fifth degree through samples at any times: the weights of value and derivatives at each time.

At a time t the polynomial is the best one for the samples near t, each weighted by (1 − x²)³ with x = (t_j − t)/H, |x| < 1
[Cle79; SG64 for even times and equal weights]. Value and derivatives there are sums of the samples with weights that depend on
the times alone. In the middle of even times they are symmetric: no phase is lost, and a polynomial of fifth degree is kept.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array

DEGREE = 5
LEAST = DEGREE + 3  # samples in a window: two more than the polynomial has numbers
HALF_GAIN = 8.229129620912914  # ω H at which the gain of the value is one half, for many samples in a window
_FACTORIALS = np.array([1.0, 1.0, 2.0, 6.0])


def half_width_of(cutoff: float) -> float:
    """H, s, of the window whose gain is one half at the frequency ``cutoff``, Hz."""
    return HALF_GAIN / (2.0 * np.pi * cutoff)


def half_widths(time: Array, H: float, first: float, last: float) -> Array:
    """H at each time (N,) of a log from ``first`` to ``last``, s: near the ends as much more as there are no samples beyond,
    so that windows hold 2 H of data.
    """
    return np.maximum.reduce([np.full(len(time), H), 2.0 * H - (time - first), 2.0 * H - (last - time)])


def windows(samples: Array, time: Array, widths: Array) -> tuple[Array, Array]:
    """First of the samples in the window around each time (N,), and the one after its last (N,)."""
    return np.searchsorted(samples, time - widths, side="right"), np.searchsorted(samples, time + widths, side="left")


def weights(offsets: Array, widths: Array, valid: Array) -> Array:
    """Weights (C, 4, W) of value, first, second and third derivative for samples at ``offsets`` (C, W) s from C times.

    Solved by orthogonal columns, not by normal equations, whose condition number is the square.
    """
    x = offsets / widths[:, None]
    root = np.sqrt(np.where(valid & (np.abs(x) < 1.0), (1.0 - np.minimum(x * x, 1.0)) ** 3, 0.0))
    columns = x[..., None] ** np.arange(DEGREE + 1)
    Q, R = np.linalg.qr(root[..., None] * columns)
    rows = np.linalg.solve(R, np.swapaxes(Q, -1, -2))[:, :4] * root[:, None, :]
    return rows * (_FACTORIALS / widths[:, None] ** np.arange(4))[..., None]


def even_weights(dt: float, H: float) -> tuple[Array, Array]:
    """Offsets (W,), s, and weights (4, W) in the middle of samples that are ``dt`` apart."""
    reach = int(np.ceil(H / dt)) - 1
    offsets = dt * np.arange(-reach, reach + 1)
    rows = weights(offsets[None], np.array([H]), np.ones((1, len(offsets)), bool))[0]
    mirrored = rows[:, ::-1] * np.array([1.0, -1.0, 1.0, -1.0])[:, None]
    return offsets, 0.5 * (rows + mirrored)  # symmetric to the last digit: no phase at all
