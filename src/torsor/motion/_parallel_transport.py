"""Parallel transport: carrying a velocity along a path so that the inertia metric sees it unchanged.

A geodesic is integrated anew, together with what is carried: its own interpolant is only as good as its tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from torsor.arrays.typing import Array, JointVector
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_bad_numbers, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import covariant_derivative, geodesic_acceleration
from torsor.mechanics.kinematics.manifold import configuration_rate, velocity_of_rate
from torsor.model import Robot
from torsor.motion._geodesic import Geodesic
from torsor.motion.integration import RUN_INSIDE, held, integrated, scipy_module, with_nearby_quaternions

Curve = Callable[[float], tuple[Array, Array]]  # time s → q (..., nq), v (..., nv)


@runtime_checkable
class TimedPath(Protocol):
    """Anything with configurations ``q`` (..., K, nq) at times ``time`` (K,): a `torsor.Trajectory`, a `PathResult`."""

    @property
    def time(self) -> Array:
        """Times (K,), s."""

    @property
    def q(self) -> Array:
        """Configurations (..., K, nq), rad or m."""


class Carried(NamedTuple):
    """Configurations (..., K, nq) and what is carried (..., K, nv), at the times asked for."""

    q: Array
    w: Array


@explained
def parallel_transport(
    robot: Robot,
    path: Geodesic | TimedPath | Curve | Array,
    w: JointVector,
    *,
    time: Array | None = None,
    tolerance: float = 1e-10,
) -> JointVector:
    """``w`` carried along a path with ∇_v w = 0, that is ẇ_k = −Σ Γ^k_ij v_i w_j, at all its samples [Alt04, (6), (7)].

    Lengths and angles of what is carried do not change. The result depends on the way taken, unless M is flat, but not on how
    fast.

    Parameters
    ----------
    robot : Robot
    path : Geodesic, Trajectory, PathResult, function or (..., K, nq) array
        A geodesic; or samples, rad or m, joined by splines of fifth degree (signs and lengths of quaternions do not matter); or a
        function t → (q, v) of any motion.
    w : (..., nv) array
        What is carried, as it is at the first of the times, in any unit.
    time : (K,) array, optional
        Increasing, s. For an array of configurations, when they are passed (even times if None); for all else, when w is wanted
        (at the samples if None; a function needs it).
    tolerance : float
        wᵀ M w stays within this fraction of itself; raises where that cannot be had.

    Returns
    -------
    (..., K, nv) array
        In the units of ``w``.
    """
    refuse_strangers(robot, path, w, instead=RUN_INSIDE)
    refuse_bad_numbers(tolerance=tolerance)
    w = numbers_of("w", w, (robot.nv,))
    curve, times = _curve(robot, path, time)
    q, v = _state(robot, curve, float(times[0]))
    w = np.broadcast_to(w, np.broadcast_shapes(w.shape, (*q.shape[:-1], robot.nv)))

    def attempt(finest: float) -> tuple[Array, float]:
        if isinstance(path, Geodesic):
            carried = _carried_freely(robot, q, v, times, w, finest)
        else:
            carried = Carried(along, _carried(robot, curve, times, w, finest))
        squares = np.einsum("...ki,...kij,...kj->...k", carried.w, mass_matrix(robot, carried.q), carried.w)
        change = np.abs(squares - squares[..., :1]) / np.where(squares[..., :1] > 0.0, squares[..., :1], 1.0)
        return carried.w, float(change.max(initial=0.0))

    along = np.stack([curve(t)[0] for t in times], axis=-2)  # (..., K, nq)
    carried, drift = held(tolerance, attempt)
    if drift <= tolerance:
        return carried
    raise ArgumentError(
        f"inner products change by {drift:.1e} of themselves, more than the tolerance {tolerance:.1e}. Is v "
        "the velocity of q in the function that was passed? For a longer path pass a larger tolerance."
        if callable(path) and not isinstance(path, Geodesic)
        else f"inner products change by {drift:.1e} of themselves, more than the tolerance {tolerance:.1e}, "
        f"however fine the steps. Pass tolerance={2 * drift:.1e}, or carry it along a shorter path."
    )


def _carried(robot: Robot, curve: Curve, times: Array, w: Array, tolerance: float) -> Array:
    """w (..., K, nv) at all times."""

    def rate(t: float, y: Array) -> Array:
        q, v = curve(t)
        now = y.reshape(w.shape)
        return -covariant_derivative(robot, q, v, now, np.zeros(robot.nv)).ravel()

    run = _integrated(robot, rate, times, w.ravel(), tolerance, _sizes(w))
    return np.moveaxis(run.reshape(*w.shape, len(times)), -1, -2)


def _carried_freely(robot: Robot, q: Array, v: Array, times: Array, w: Array, tolerance: float) -> Carried:
    """Along the geodesic from q (..., nq) with v (..., nv), integrated with what is carried."""
    ends = np.cumsum([q.size, v.size])

    def rate(t: float, y: Array) -> Array:
        here, u, now = (part.reshape(x.shape) for part, x in zip(np.split(y, ends), (q, v, w), strict=True))
        turning = -covariant_derivative(robot, here, u, now, np.zeros(robot.nv))
        return np.concatenate(
            [configuration_rate(robot, here, u).ravel(), geodesic_acceleration(robot, here, u).ravel(), turning.ravel()]
        )

    way = np.max(np.abs(v), axis=-1, keepdims=True) * (times[-1] - times[0])
    sizes = np.concatenate([np.broadcast_to(np.where(way > 0.0, way, 1.0), q.shape).ravel(), _sizes(v), _sizes(w)])
    y = _integrated(robot, rate, times, np.concatenate([q.ravel(), v.ravel(), w.ravel()]), tolerance, sizes)
    qs, _, ws = (
        np.moveaxis(part.reshape(*x.shape, -1), -1, -2) for part, x in zip(np.split(y, ends), (q, v, w), strict=True)
    )
    return Carried(np.ascontiguousarray(qs), ws)


def _integrated(
    robot: Robot, rate: Callable[[float, Array], Array], times: Array, y: Array, tolerance: float, sizes: Array
) -> Array:
    """Solution y (n, K) at all times; raises if it cannot be continued to the last."""
    run = integrated(rate, (times[0], times[-1]), y, tolerance, sizes)
    if run.curve is None or not run.finished:
        raise ArgumentError(
            f"robot {robot.name!r} cannot go on after t = {run.t:.6g} s, where its mass matrix is singular "
            "or the path is not finite."
        )
    return run.curve(times)


def _sizes(w: Array) -> Array:
    """The largest entry of each vector, for all of its entries; 1 for a vector that is zero."""
    size = np.max(np.abs(w), axis=-1, keepdims=True)
    return np.broadcast_to(np.where(size > 0.0, size, 1.0), w.shape).ravel()


def _state(robot: Robot, curve: Curve, t: float) -> tuple[Array, Array]:
    """Where a curve is at t, which must be q (..., nq) and v (..., nv)."""
    state: Any = curve(t)
    if not isinstance(state, (tuple, list)) or len(state) != 2:
        raise ShapeError(f"the function must return a pair (q, v), got {type(state).__name__} {state!r:.60}.")
    which = "what the function returned: "
    return numbers_of("q", state[0], (robot.nq,), which), numbers_of("v", state[1], (robot.nv,), which)


def _curve(robot: Robot, path: Any, time: Array | None) -> tuple[Curve, Array]:
    """The path as a function of time, and the times that are asked for."""
    if isinstance(path, Geodesic):
        times = path.time if time is None else _times(time)
        path(times)  # raises if they are not within it
        return path, times
    if isinstance(path, TimedPath):
        passed = _times(path.time)
        times = passed if time is None else _times(time)
        if not passed[0] <= times[0] < times[-1] <= passed[-1]:
            raise ArgumentError(
                f"the path lasts from {passed[0]:g} to {passed[-1]:g} s; it was asked for t = "
                f"{times[0]:g} … {times[-1]:g} s."
            )
        return _joined(robot, path.q, passed), times
    if callable(path):
        if time is None:
            raise ArgumentError(
                "say at which times (K,) `w` is wanted, as time=..., the start first; a function of time "
                "does not tell where it begins and ends."
            )
        return path, _times(time)
    try:
        samples = np.asarray(path, float)
    except (TypeError, ValueError) as error:
        raise _no_path(robot, f"{type(path).__name__} {path!r:.60}") from error
    if samples.ndim < 2:
        raise _no_path(robot, f"shape {samples.shape}")
    times = np.linspace(0.0, 1.0, samples.shape[-2]) if time is None else _times(time)
    return _joined(robot, samples, times), times


def _joined(robot: Robot, samples: Array, times: Array) -> Curve:
    """The spline through configurations (..., K, nq) at times (K,)."""
    samples = np.asarray(samples, float)
    if samples.shape[-2] < 2 or samples.shape[-1] != robot.nq or not np.isfinite(samples).all():
        raise _no_path(robot, f"shape {samples.shape}")
    count = samples.shape[-2]
    if len(times) != count:
        raise ShapeError(f"{count} configurations need as many times, got {len(times)}.")
    refuse_zero_quaternions(robot, samples)
    splines = scipy_module("interpolate")
    # Of fifth degree: every jump of a derivative at a sample would cost the integrator steps.
    nearby = np.moveaxis(with_nearby_quaternions(robot, samples), -2, 0)
    spline = splines.make_interp_spline(times, nearby, k=min(5, count - 1))
    slope = spline.derivative()

    def joined(t: float) -> tuple[Array, Array]:
        q = spline(t)
        return q, velocity_of_rate(robot, q, slope(t))

    return joined


def _no_path(robot: Robot, got: str) -> ShapeError:
    return ShapeError(
        "`path` must be a Geodesic, a Trajectory or PathResult, a function t → (q, v), or two or more finite "
        f"configurations (..., K, {robot.nq}), got {got}."
    )


def _times(time: Array) -> Array:
    times = np.asarray(time, float)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise ShapeError(f"`time` must be two or more increasing numbers (K,), got shape {times.shape}.")
    return times
