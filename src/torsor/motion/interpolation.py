"""Between samples of a motion: polynomials of fifth degree in tangent coordinates, through q, v and a at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.body_rates import Rates, body_rates, coordinate_rates, placed
from torsor.motion.motions import MotionState
from torsor.motion.segments import Segments, hermite
from torsor.motion.tangent_motion import time_of

MOST_TRACED = 500  # samples: a program of so many is made in some seconds


def interpolated(robot: Robot, time: Array, q: Array, v: Array, a: Array, t: Any) -> MotionState:
    """The state at a time, or at times (K,), from samples (..., N, n); at rest before the first and after the last.

    From sample k on q(t) = q_k ⊕ u(t), where u(t) is the polynomial that has u, u̇ and ü of both samples.
    """
    t = time_of(t)
    if not isinstance(t, np.ndarray):
        return _traced(robot, time, q, v, a, t)
    times = np.atleast_1d(t)
    last = len(time) - 1
    k = np.clip(np.searchsorted(time, times, side="right") - 1, 0, max(last - 1, 0))
    end = np.minimum(k + 1, last)
    h = np.where(end > k, time[end] - time[k], 1.0)[:, None]
    s = (np.clip(times, time[0], time[-1]) - time[k])[:, None] / h
    start, u1 = q[..., k, :], difference(robot, q[..., k, :], q[..., end, :])
    ends = coordinate_rates(robot, u1, Rates(v[..., end, :], a[..., end, :], 0.0 * u1))
    u, rates = _quintic(s, h, u1, v[..., k, :], a[..., k, :], ends.first, ends.second)
    within = ((times >= time[0]) & (times <= time[-1]))[:, None]
    state = MotionState(placed(robot, start, u), *(np.where(within, x, 0.0) for x in body_rates(robot, u, rates)))
    # A sample is what it is, to the last digit; beyond the ends so is q
    k = np.where(times >= time[-1], last, k)
    exact = np.flatnonzero((times <= time[k]) | (k == last))
    state.q[..., exact, :] = q[..., k[exact], :]
    inside = exact[within[exact, 0]]
    for found, x in ((state.v, v), (state.a, a)):
        found[..., inside, :] = x[..., k[inside], :]
    if not last:
        state.jerk[...] = 0.0
    return state if t.ndim else MotionState(*(x[..., 0, :] for x in state))


def _traced(robot: Robot, time: Array, q: Array, v: Array, a: Array, t: Array) -> MotionState:
    """The state at one time that is not known yet: the samples are constants of the program."""
    if len(time) > MOST_TRACED:
        raise ArgumentError(
            f"a trajectory of {len(time)} samples is too long to be traced, {MOST_TRACED} are the most: pass fewer of them, "
            f"such as run[::{-(-len(time) // MOST_TRACED)}], or call this outside of kernels, with numbers."
        )
    if len(time) == 1:
        within = where((t >= time[0]) & (t <= time[0]), 1.0, 0.0)
        v, a = within * v[..., 0, :], within * a[..., 0, :]
        return MotionState(q[..., 0, :] + 0.0 * within, v, a, 0.0 * v)
    h = np.diff(time)
    start, u1 = q[..., :-1, :], difference(robot, q[..., :-1, :], q[..., 1:, :])
    ends = coordinate_rates(robot, u1, Rates(v[..., 1:, :], a[..., 1:, :], 0.0 * u1))
    c = hermite(h, [0.0 * u1, v[..., :-1, :], a[..., :-1, :]], [u1, ends.first, ends.second])
    anchor, u, rates = Segments(time, c, start).at(t)
    return MotionState(placed(robot, anchor, u), *body_rates(robot, u, rates))


def _quintic(s: Array, h: Array, u1: Array, v0: Array, a0: Array, v1: Array, a1: Array) -> tuple[Array, Rates]:
    """u and its derivatives at s ∈ [0, 1] of an interval of length h, with u = 0 at its start."""
    c1, c2 = h * v0, 0.5 * h * h * a0
    p, w, b = u1 - c1 - c2, h * v1 - c1 - 2.0 * c2, h * h * a1 - 2.0 * c2
    c3, c4, c5 = 10.0 * p - 4.0 * w + 0.5 * b, -15.0 * p + 7.0 * w - b, 6.0 * p - 3.0 * w + 0.5 * b
    u = s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    first = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    second = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / h**2
    third = (6.0 * c3 + s * (24.0 * c4 + s * 60.0 * c5)) / h**3
    return u, Rates(first, second, third)
