"""Parallel transport: carrying a velocity along a path so that the inertia metric sees it unchanged."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays.typing import Array, JointVector
from torsor.errors import ShapeError, TorsorError
from torsor.functions import covariant_derivative, mass_matrix
from torsor.model import Robot
from torsor.motion.configuration_rate import velocity_of_rate, with_nearby_quaternions
from torsor.motion.geodesic import Geodesic, refuse_bad_numbers
from torsor.motion.integration import held, integrated
from torsor.motion.optional_scipy import scipy_module

Curve = Callable[[float], tuple[Array, Array]]  # time s → q (..., nq), v (..., nv)


def parallel_transport(
    robot: Robot,
    path: Geodesic | Curve | Array,
    w: JointVector,
    *,
    time: Array | None = None,
    tolerance: float = 1e-10,
) -> JointVector:
    """``w`` carried along a path with ∇_v w = 0, that is ẇ_k = −Σ Γ^k_ij v_i w_j, at all its samples [Alt04, (6), (7)].

    Lengths and angles of what is carried do not change: wᵀ M w stays within ``tolerance`` of itself; raises where that cannot
    be had. The result depends on the way taken, unless M is flat, but not on how fast.

    ``path`` is a `Geodesic`; or a function t → (q, v) of any motion; or configurations (K, nq), rad or m, which are joined by
    splines of fifth degree (signs and lengths of quaternions do not matter). ``time`` (K,), s, increasing: for a geodesic,
    when w is wanted (at its samples if None); for a function, the same, and needed; for configurations, when they are passed
    (even times if None). ``w`` (..., nv), at the first of these times. Returns (..., K, nv), in the units of ``w``.
    """
    refuse_bad_numbers("parallel_transport", tolerance=tolerance)
    curve, time = _curve(robot, path, time)
    w = np.asarray(w, float)
    if w.shape[-1:] != (robot.nv,) or not np.isfinite(w).all():
        raise ShapeError(f"parallel_transport: `w` must be finite and of shape (..., {robot.nv}), got {w.shape}.")
    q, _ = curve(time[0])
    w = np.broadcast_to(w, np.broadcast_shapes(w.shape, (*q.shape[:-1], robot.nv)))
    M = np.stack([mass_matrix(robot, curve(t)[0]) for t in time], axis=-3)  # (..., K, nv, nv)

    def attempt(finest: float) -> tuple[Array, float]:
        carried = _carried(robot, curve, time, w, finest)
        squares = np.einsum("...ki,...kij,...kj->...k", carried, M, carried)
        change = np.abs(squares - squares[..., :1]) / np.where(squares[..., :1] > 0.0, squares[..., :1], 1.0)
        return carried, float(change.max(initial=0.0))

    carried, drift = held(tolerance, attempt)
    if drift <= tolerance:
        return carried
    raise TorsorError(
        f"parallel_transport: inner products change by {drift:.1e} of themselves, more than the tolerance {tolerance:.1e}. Is v "
        "the velocity of q in the function that was passed? For a longer path pass a larger tolerance."
    )


def _carried(robot: Robot, curve: Curve, time: Array, w: Array, tolerance: float) -> Array:
    """w (..., K, nv) at all times."""

    def rate(t: float, y: Array) -> Array:
        q, v = curve(t)
        now = y.reshape(w.shape)
        return -covariant_derivative(robot, q, v, now, np.zeros(robot.nv)).ravel()

    size = np.max(np.abs(w), axis=-1, keepdims=True)
    sizes = np.broadcast_to(np.where(size > 0.0, size, 1.0), w.shape).ravel()
    run = integrated("parallel_transport", rate, (time[0], time[-1]), w.ravel(), tolerance, sizes)
    if run.curve is None:
        raise TorsorError(
            f"parallel_transport: robot {robot.name!r} cannot go on after t = {run.t:.6g} s, where its mass matrix is singular "
            "or the path is not finite."
        )
    return np.moveaxis(run.curve(time).reshape(*w.shape, len(time)), -1, -2)


def _curve(robot: Robot, path: Geodesic | Curve | Array, time: Array | None) -> tuple[Curve, Array]:
    """The path as a function of time, and the times that are asked for."""
    if isinstance(path, Geodesic):
        return path, path.time if time is None else _times(time)
    if callable(path):
        if time is None:
            raise TorsorError(
                "parallel_transport: say at which times (K,) `w` is wanted, as time=..., the start first; a function of time "
                "does not tell where it begins and ends."
            )
        return path, _times(time)
    samples = np.asarray(path, float)
    if samples.ndim != 2 or samples.shape[0] < 2 or samples.shape[1] != robot.nq or not np.isfinite(samples).all():
        raise ShapeError(
            f"parallel_transport: `path` must be a Geodesic, a function t → (q, v), or two or more finite configurations "
            f"(K, {robot.nq}), got shape {samples.shape}."
        )
    times = np.linspace(0.0, 1.0, len(samples)) if time is None else _times(time)
    if len(times) != len(samples):
        raise ShapeError(f"parallel_transport: {len(samples)} configurations need as many times, got {len(times)}.")
    splines = scipy_module("interpolate", "parallel_transport")
    # Of fifth degree: every jump of a derivative at a sample would cost the integrator steps.
    spline = splines.make_interp_spline(times, with_nearby_quaternions(robot, samples), k=min(5, len(samples) - 1))
    slope = spline.derivative()

    def joined(t: float) -> tuple[Array, Array]:
        q = spline(t)
        return q, velocity_of_rate(robot, q, slope(t))

    return joined, times


def _times(time: Array) -> Array:
    times = np.asarray(time, float)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise ShapeError(
            f"parallel_transport: `time` must be two or more increasing numbers (K,), got shape {times.shape}."
        )
    return times
