"""The speed of least time along a first law: an interior-point method whose steps never leave the limits.

y = ẇ² is a quadratic spline in w. ∫ dw/√y is convex in its coefficients, and all slacks are linear or convex (`barrier.py`) but
for those of friction: a step of Newton's method that is cut before any slack is gone keeps all limits. Multipliers go along
(a primal-dual method); the aim, z s = μ, is lowered only where a motion is near the path of centres.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.time_optimality.jerk_limited.banded import solved
from torsor.motion.time_optimality.jerk_limited.barrier import left_kernel, newton_kernel, step_kernel
from torsor.motion.time_optimality.jerk_limited.places import Places
from torsor.motion.time_optimality.jerk_limited.quadratic_splines import around, gathered

MOST_STEPS = 100
GAP = 1e-4  # part of the time that multipliers say may be missing to the least at the end
CENTRED = 0.3  # the residual of the gradient, beside the gap, from which on the gap is made smaller
SMALLER = 0.2
MOST_HALVINGS = 30
SETTLED = 1e-3  # residual at the end, part of the time
CLOSEST = 0.01  # part of a slack that a step leaves
FIRST = 0.5  # of the largest even speed: where the method begins
LEAST_AT_REST = 1e-6  # part of a limit that must be left at rest


class Found(NamedTuple):
    """Coefficients of y (B, N + 2), and whether the method has settled (B,)."""

    coefficients: Array
    settled: Array


def least_time(places: Places) -> Found:
    """The speed of least time; the limits must allow for rest at all places."""
    batch, m = places.batch, places.sizes.slacks
    weight = np.tile(places.weight, batch)
    newton = newton_kernel(places.sizes)
    c = np.repeat(_even_speed(places)[:, None], len(places.breaks) + 1, axis=1)
    done, mu = np.zeros(batch, bool), _time(places, c) / (m * len(places.weight))
    z = _first_multipliers(places, c, mu)
    for _ in range(MOST_STEPS):
        local = _at_places(c)
        parts = newton(local, z, weight, *places.given.values())
        time, pull, push = (gathered(_summed(parts[name], batch)) for name in ("time", "pull", "push"))
        took = _time(places, c)
        residual = np.sum(np.abs((time + pull) * c), axis=1) / took
        gap = mu * (m * len(places.weight)) / took
        done |= (gap <= GAP) & (residual <= SETTLED)
        if np.all(done):
            break
        mu = np.where((residual < CENTRED * gap) & (gap > GAP), SMALLER * mu, mu)
        d = _newton_step(_summed(parts["matrix"], batch), -(time + mu[:, None] * push))
        c, z = _moved(places, c, z, d, mu, done)
    return Found(c, done)


def _newton_step(matrix: Array, right: Array) -> Array:
    """The change of coefficients (B, N + 2) from matrices of intervals (B, N, 6)."""
    batch, count, _ = matrix.shape
    beside, farther = np.zeros((2, batch, count + 2))
    diagonal = gathered(matrix[..., [0, 3, 5]])
    beside[:, :count] += matrix[..., 1]
    beside[:, 1 : count + 1] += matrix[..., 4]
    farther[:, :count] = matrix[..., 2]
    return solved(diagonal, beside, farther, right)


def _moved(places: Places, c: Array, z: Array, d: Array, mu: Array, done: Array) -> tuple[Array, Array]:
    """Coefficients and multipliers after a step, each as long as slacks and multipliers stay positive."""
    batch, count = places.batch, len(places.weight)
    local = _at_places(c)
    given = places.given.values()
    step = step_kernel(places.sizes)(local, _at_places(d), z, np.repeat(mu, count), *given)
    lengths = []
    for name in ("slacks", "positive"):
        most = step[name].reshape(batch, count).max(axis=1)
        lengths.append(np.where(done, 0.0, np.minimum(1.0, (1.0 - CLOSEST) / np.maximum(most, 1e-300))))
    primal, dual = lengths
    before = _lowest(places, c)
    for _ in range(MOST_HALVINGS):
        after = c + primal[:, None] * d
        short = np.any(_lowest(places, after) < 0.5 * CLOSEST * before, axis=1)
        if places.sizes.friction:  # its slacks are not convex
            left = left_kernel(places.sizes)(local, _at_places(after), *given).reshape(batch, count).min(axis=1)
            short |= left < 0.5 * CLOSEST
        if not np.any(short):
            break
        primal = np.where(short, 0.5 * primal, primal)
    return c + primal[:, None] * d, z + np.repeat(dual, count)[:, None] * step["multipliers"]


def _lowest(places: Places, c: Array) -> Array:
    """The smallest y in each interval (B, N), which may be between its places."""
    y = np.sum(places.given["basis"][:, 0] * _at_places(c), axis=-1).reshape(places.batch, -1, 3)
    left, middle, right = y[..., 0], y[..., 1], y[..., 2]
    bend, slope = left - 2.0 * middle + right, 0.5 * (right - left)
    within = np.abs(slope) < bend
    vertex: Array = middle - slope * slope / (2.0 * np.where(within, bend, 1.0))
    return np.where(within, vertex, np.minimum(left, right))


def _at_places(c: Array) -> Array:
    """The three coefficients that count, at all places (B · 3 N, 3)."""
    found: Array = np.repeat(around(c), 3, axis=1).reshape(-1, 3)
    return found


def _summed(x: Array, batch: int) -> Array:
    """Sums over the three places of each interval (B, N, k)."""
    found: Array = x.reshape(batch, -1, 3, x.shape[-1]).sum(axis=2)
    return found


def _time(places: Places, c: Array) -> Array:
    y = np.sum(places.given["basis"][:, 0] * _at_places(c), axis=-1).reshape(places.batch, -1)
    found: Array = np.sum(places.weight / np.sqrt(y), axis=1)
    return found


def _first_multipliers(places: Places, c: Array, mu: Array) -> Array:
    """z = μ/s, by a step of no length from no multipliers."""
    local, count = _at_places(c), len(places.weight)
    none = np.zeros((len(local), places.sizes.slacks))
    step = step_kernel(places.sizes)(local, 0.0 * local, none, np.repeat(mu, count), *places.given.values())
    found: Array = step["multipliers"]
    return found


def _even_speed(places: Places) -> Array:
    """An even ẇ² (B,) that is well within all limits."""
    batch, rows, jerks = places.batch, places.given["rows"], places.given["jerks"]
    b, low, high = (rows[:, k] for k in (1, 2, 3))
    with np.errstate(divide="ignore", invalid="ignore"):
        most = np.where(b > 0.0, high / b, np.where(b < 0.0, low / b, np.inf))
        by_jerk = np.max(np.abs(jerks[:, 0]), axis=1, initial=0.0) ** (-2.0 / 3.0)
        each = np.minimum(np.min(most, axis=1, initial=np.inf), np.minimum(by_jerk, 1.0 / places.given["top"]))
    y: Array = FIRST * each.reshape(batch, -1).min(axis=1)
    if places.sizes.friction:
        viscous, coulomb, narrow = (places.given["friction"][:, k] for k in range(3))
        for _ in range(60):
            rate = np.repeat(np.sqrt(y), len(places.weight))[:, None]
            force = b * rate**2 + viscous * rate + coulomb * np.tanh(narrow * rate)
            beyond = np.any((force >= 0.9 * high) | (force <= 0.9 * low), axis=1).reshape(batch, -1).any(axis=1)
            if not np.any(beyond):
                break
            y = np.where(beyond, 0.25 * y, y)
    return y
