"""Between samples of a motion: polynomials of fifth degree in tangent coordinates, through q, v and a at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.body_rates import Rates, body_rates, coordinate_rates, placed
from torsor.motion.motions import MotionState


def interpolated(robot: Robot, time: Array, q: Array, v: Array, a: Array, t: Any) -> MotionState:
    """The state at a time, or at times (K,), from samples (..., N, n); at rest before the first and after the last.

    From sample k on q(t) = q_k ⊕ u(t), where u(t) is the polynomial that has u, u̇ and ü of both samples.
    """
    times = np.atleast_1d(np.asarray(t, float))
    if len(time) == 1:
        zero = np.zeros((*v.shape[:-2], len(times), robot.nv))
        state = MotionState(np.repeat(q, len(times), axis=-2), zero, zero, zero)
    else:
        k = np.clip(np.searchsorted(time, times, side="right") - 1, 0, len(time) - 2)
        h, inside = (time[k + 1] - time[k])[:, None], np.clip(times, time[0], time[-1])
        s = (inside - time[k])[:, None] / h
        start, end = q[..., k, :], q[..., k + 1, :]
        u1 = difference(robot, start, end)
        ends = coordinate_rates(robot, u1, Rates(v[..., k + 1, :], a[..., k + 1, :], 0.0 * u1))
        u, rates = _quintic(s, h, u1, v[..., k, :], a[..., k, :], ends.first, ends.second)
        moving = ((times >= time[0]) & (times <= time[-1]))[:, None]
        found = body_rates(robot, u, rates)
        state = MotionState(placed(robot, start, u), *(np.where(moving, x, 0.0) for x in found))
        exact = np.flatnonzero(s[:, 0] == 0.0)  # a sample is what it is, to the last digit
        state.q[..., exact, :], state.v[..., exact, :], state.a[..., exact, :] = (
            x[..., k[exact], :] for x in (q, v, a)
        )
        state.v[..., exact[~moving[exact, 0]], :] = 0.0
    return state if np.ndim(t) else MotionState(*(x[..., 0, :] for x in state))


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
