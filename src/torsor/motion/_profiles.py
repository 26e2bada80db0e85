"""Motions between two configurations at rest as fast as bounds allow: trapezoidal velocity, and S-curves.

All joints follow one law s(t) from 0 to 1, q(t) = q0 ⊕ s(t) d with d = q1 ⊖ q0, so that they start and arrive together and
numbers go along a straight line. Then v = ṡ d, a = s̈ d and jerk = s⃛ d hold exactly on every kind of joint (J_r(s d) d = d),
and bounds of the joints are bounds of the law: |ṡ| ≤ min V_i/|d_i|, and so on. Along this path no motion is faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration, GivenNumbers
from torsor.border import explained
from torsor.errors import ArgumentError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.segments import Segments
from torsor.motion.tangent_motion import TangentMotion, bound_of, common_batch, configurations_of, velocity_bound

JUMPS = "without a bound of acceleration the velocity would jump. Pass a large number if you mean that."
Law = tuple[Array, Array]  # durations (..., s) of pieces, and the highest derivative (..., s) that is constant in each


@explained
def trapezoidal(
    robot: Robot,
    q0: GivenConfiguration,
    q1: GivenConfiguration,
    *,
    acceleration: GivenNumbers | None = None,
    velocity: GivenNumbers | None = None,
    duration: float | None = None,
    within_limits: bool = True,
) -> TangentMotion:
    """Motion from rest at q0 to rest at q1 with a trapezoid of velocity, as fast as bounds allow [LP17, §9.2.2.2].

    Constant acceleration, constant velocity, constant deceleration; a triangle where the velocity is not reached. All joints
    start and arrive together on a straight line, or along one screw, and it is time-optimal there. Jerk is infinite at the
    corners; between them, and in the result, it is zero.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (..., nq) array
        Where it begins and ends, rad or m. Each member of a batch takes its own time and rests then.
    acceleration : float or (nv,) array
        Bounds, rad/s² or m/s². A robot has none of its own.
    velocity : float or (nv,) array, optional
        Bounds, rad/s or m/s, beside the robot's limits.
    duration : float, optional
        s, if it is to take longer than it must: it is slowed down as a whole.
    within_limits : bool
        Keep the robot's velocity limits.

    Returns
    -------
    TangentMotion
    """
    begin, end = configurations_of(robot, q0=q0, q1=q1)
    bounds = (
        velocity_bound(robot, velocity, within_limits),
        bound_of(robot, "acceleration", acceleration, "acceleration", infinite=JUMPS),
    )
    d = difference(robot, begin, end)
    V, A = (_along(d, bound) for bound in bounds)
    moves = np.isfinite(A)
    A = np.where(moves, A, 1.0)
    peak = np.minimum(np.where(moves, V, 1.0), np.sqrt(A))
    speeding = peak / A
    cruising = np.maximum((1.0 - peak * speeding) / peak, 0.0)
    # Exactly the distance 1: with the peak velocity as it is, the acceleration is what is left to be chosen
    rate = 1.0 / ((speeding + cruising) * speeding)
    times = np.stack([speeding, cruising, speeding], axis=-1) * moves[..., None]
    return _led(robot, "trapezoidal", begin, d, (times, np.stack([rate, 0.0 * rate, -rate], axis=-1)), 2, duration)


@explained
def s_curve(
    robot: Robot,
    q0: GivenConfiguration,
    q1: GivenConfiguration,
    *,
    acceleration: GivenNumbers | None = None,
    jerk: GivenNumbers | None = None,
    velocity: GivenNumbers | None = None,
    duration: float | None = None,
    within_limits: bool = True,
) -> TangentMotion:
    """Motion from rest at q0 to rest at q1 with bounded jerk, in seven pieces (S-curve, double-S), as fast as bounds allow
    [LP17, §9.2.2.3].

    All joints start and arrive together on a straight line, or along one screw, and it is time-optimal there. Accelerations
    are continuous.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (..., nq) array
        Where it begins and ends, rad or m. Each member of a batch takes its own time and rests then.
    acceleration, jerk : float or (nv,) array
        Bounds, rad/s² or m/s², rad/s³ or m/s³. A robot has none of its own.
    velocity : float or (nv,) array, optional
        Bounds, rad/s or m/s, beside the robot's limits.
    duration : float, optional
        s, if it is to take longer than it must: it is slowed down as a whole.
    within_limits : bool
        Keep the robot's velocity limits.

    Returns
    -------
    TangentMotion
    """
    begin, end = configurations_of(robot, q0=q0, q1=q1)
    bounds = (
        velocity_bound(robot, velocity, within_limits),
        bound_of(robot, "acceleration", acceleration, "acceleration"),
        bound_of(robot, "jerk", jerk, "jerk", infinite="without a bound of jerk the motion is `trapezoidal`."),
    )
    d = difference(robot, begin, end)
    V, A, J = (_along(d, bound) for bound in bounds)
    moves = np.isfinite(J)
    V, A, J = (np.where(moves, bound, 1.0) for bound in (V, A, J))
    bend = np.minimum(np.minimum(A / J, np.sqrt(V / J)), np.cbrt(0.5 / J))  # jerk J for so long, at least once
    longest = 0.5 * (
        np.sqrt(bend**2 + 4.0 / (J * bend)) - 3.0 * bend
    )  # constant acceleration: the distance is 1 without cruising
    steady = np.maximum(np.minimum(V / (J * bend) - bend, longest), 0.0)
    peak = J * bend * (bend + steady)
    cruising = np.maximum(1.0 / peak - (2.0 * bend + steady), 0.0)
    rate = 1.0 / (bend * (bend + steady) * (2.0 * bend + steady + cruising))  # J, but for rounding
    none = 0.0 * rate
    times = np.stack([bend, steady, bend, cruising, bend, steady, bend], axis=-1) * moves[..., None]
    rates = np.stack([rate, none, -rate, none, -rate, none, rate], axis=-1)
    return _led(robot, "S-curve", begin, d, (times, rates), 3, duration)


def _along(d: Array, bound: Array) -> Array:
    """The bound (...) of a rate of s, with which no |d_i| times it is more than ``bound`` (nv,); infinite if d is zero."""
    far = np.abs(d)
    return np.min(np.where(far > 0.0, bound / np.where(far > 0.0, far, 1.0), np.inf), axis=-1, initial=np.inf)


def _led(robot: Robot, kind: str, q0: Array, d: Array, law: Law, order: int, duration: Any) -> TangentMotion:
    """q0 ⊕ s(t) d, with a law given by the pieces of its derivative of an order."""
    times, rates = law
    if duration is not None:
        times, rates = _slowed(times, rates, order, duration)
    batch = common_batch({"q0": q0, "d": d})
    knots = np.concatenate([np.zeros((*batch, 1)), np.cumsum(times, axis=-1)], axis=-1)
    s = law_coefficients(times, rates, order)  # (..., pieces, order + 1)
    moves = (knots[..., -1:] > 0.0)[..., None]
    c = np.where(moves, s, 0.0)[..., None] * d[..., None, None, :]
    anchors = np.broadcast_to(q0, (*batch, robot.nq))[..., None, :]
    anchors = np.broadcast_to(anchors, (*batch, times.shape[-1], robot.nq))
    return TangentMotion(robot, kind, Segments(knots, c, anchors))


def law_coefficients(times: Array, rates: Array, order: int, start: Array | None = None) -> Array:
    """Coefficients (..., s, order + 1) of pieces with a constant derivative of an order, each going on where the last ended.

    Parameters
    ----------
    times : (..., s) array
        Lengths of the pieces, s.
    rates : (..., s) array
        The derivative in each.
    start : (..., order) array, optional
        The value, and its lower derivatives, at the beginning; zero if not given.
    """
    state = [np.zeros(times.shape[:-1]) if start is None else start[..., k] for k in range(order)]
    pieces = []
    for k in range(times.shape[-1]):
        h, full = times[..., k], [*state, rates[..., k]]
        c = [full[j] * h**j / _factorial(j) for j in range(order + 1)]
        pieces.append(np.stack(c, axis=-1))
        state = [sum(full[j] * h ** (j - i) / _factorial(j - i) for j in range(i, order + 1)) for i in range(order)]
    return np.stack(pieces, axis=-2)


def _factorial(n: int) -> float:
    return (1.0, 1.0, 2.0, 6.0)[n]


def _slowed(times: Array, rates: Array, order: int, duration: Any) -> Law:
    shortest = float(np.max(np.sum(times, axis=-1), initial=0.0))
    if not isinstance(duration, (int, float, np.integer, np.floating)) or not duration >= shortest * (1.0 - 1e-12):
        raise ArgumentError(
            f"`duration` must be at least {shortest:.6g} s, which the bounds allow, got {duration!r:.60}. "
            "Leave it out for the fastest motion."
        )
    if not np.isfinite(duration):
        raise ArgumentError(f"`duration` must be finite, got {duration}.")
    total = np.sum(times, axis=-1, keepdims=True)
    factor = np.where(total > 0.0, duration / np.where(total > 0.0, total, 1.0), 1.0)
    return times * factor, rates / factor**order
