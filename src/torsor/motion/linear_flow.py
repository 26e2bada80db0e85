"""Motions next to a motion: how a displacement of the state at the start is carried along, to first order.

With q ⊕ δq on the body side and a the acceleration::

    δq̇ = δv − ad(v) δq                     ad(v) of the groups of planar, spherical and free joints, 0 for others
    δv̇ = ∂a/∂q δq + ∂a/∂v δv

The neighbours obey the same equations as the motion itself: those of a geodesic are geodesics, those of a natural motion fall
as it does, and those of any other motion are under the same joint forces as functions of time. Time is counted in durations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.functions.public.derivatives import forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics, inverse_dynamics
from torsor.functions.public.geometry import (
    covariant_derivative,
    geodesic_acceleration,
    geodesic_acceleration_derivatives,
)
from torsor.functions.public.kinematics import configuration_rate
from torsor.geometry.freedoms import structure_constants
from torsor.model import Robot
from torsor.motion._geodesic import Geodesic
from torsor.motion._natural_motion import NaturalMotion
from torsor.motion.integration import integrated, with_unit_quaternions
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory


class Nearby(NamedTuple):
    """A motion at K times: q (..., K, nq), v (..., K, nv), and Φ (..., K, 2 nv, 2 nv), d(δq, δv) by (δq, δv) at the start."""

    q: Array
    v: Array
    Phi: Array


class LinearFlow(NamedTuple):
    """The motions next to one, at any time. ``steps`` (K,): the times that integration needed, s."""

    robot: Robot
    start: float
    duration: float
    steps: Array
    state: Callable[[Array], Nearby]

    def __call__(self, times: Array) -> Nearby:
        """States at times (K,), s."""
        return self.state((np.asarray(times, float) - self.start) / self.duration)


def refuse_no_motion_of(robot: Robot, motion: object) -> None:
    """Raise unless it is a motion of this robot that lasts."""
    if not isinstance(motion, Motion):
        raise ArgumentTypeError(
            "`motion` must be a motion: a Geodesic, a NaturalMotion, a Trajectory of torsor.simulate or any other, got "
            f"{type(motion).__name__} {motion!r:.60}."
        )
    if motion.robot != robot:
        raise ArgumentError(
            f"`motion` is one of another robot, {motion.robot.name!r}. Pass the robot that made it: motion.robot."
        )
    if isinstance(motion, Trajectory) and motion.wrenches:
        raise ArgumentError(
            "`motion` has external wrenches, which nobody knows next to it. Take a motion of joint forces alone."
        )
    if not motion.duration > 0.0:
        raise ArgumentError("`motion` must last: its duration is 0 s.")


def linear_flow(robot: Robot, motion: Motion, tolerance: float) -> LinearFlow:
    """The motions next to one; geodesics and natural motions are integrated anew, together with what is carried."""
    T, n = motion.duration, robot.nv
    start = float(motion.time[0]) if isinstance(motion, Trajectory) else 0.0
    if isinstance(motion, (Geodesic, NaturalMotion)):
        q, u, moves = with_unit_quaternions(robot, motion.q[..., 0, :]), T * motion.v[..., 0, :], True
    else:
        state = motion.at(start)
        q, u, moves = np.asarray(state.q), T * np.asarray(state.v), False
    own = q.size + u.size if moves else 0
    shape = (*u.shape[:-1], 2 * n, 2 * n)
    ad = _brackets(robot)

    def where_it_is(s: float, y: Array) -> tuple[Array, Array]:
        if moves:
            return y[: q.size].reshape(q.shape), y[q.size : own].reshape(u.shape)
        here = motion.at(start + s * T)
        return here.q, T * here.v

    def rate(s: float, y: Array) -> Array:
        here, now = where_it_is(s, y)
        Phi = y[own:].reshape(shape)
        X, Y = Phi[..., :n, :], Phi[..., n:, :]
        a, by_q, by_v = _equations(robot, motion, start + s * T, here, now)
        X_rate = Y if ad is None else Y - ad(now) @ X
        parts = [np.concatenate([X_rate, by_q @ X + by_v @ Y], axis=-2).ravel()]
        if moves:
            parts = [configuration_rate(robot, here, now).ravel(), a.ravel(), *parts]
        return np.concatenate(parts)

    unit = np.broadcast_to(np.eye(2 * n), shape)
    size = np.max(np.abs(u), axis=-1, keepdims=True)
    size = np.where(size == 0.0, 1.0, size)
    beginning = [q.ravel(), u.ravel()] if moves else []
    sizes = [np.broadcast_to(size, x.shape).ravel() for x in (q, u)] if moves else []
    y0, all_sizes = np.concatenate([*beginning, unit.ravel()]), np.concatenate([*sizes, np.ones(unit.size)])
    run = integrated(rate, (0.0, 1.0), y0, tolerance, all_sizes)
    if run.curve is None or not run.finished:
        raise ArgumentError(
            f"robot {robot.name!r} cannot go on after t = {start + run.t * T:.6g} s, where its mass matrix is singular or "
            "the motion is not finite. Take a shorter motion."
        )
    per_T = np.repeat([1.0, T], n)
    curve = run.curve

    def at(s: Array) -> Nearby:
        y = np.moveaxis(curve(s), -1, 0)  # (K, ...)
        count = len(s)
        Phi = np.moveaxis(y[:, own:].reshape(count, *shape), 0, -3) * (per_T / per_T[:, None])
        if not moves:
            here = motion.at(start + s * T)
            return Nearby(here.q, here.v, Phi)
        qs = np.moveaxis(y[:, : q.size].reshape(count, *q.shape), 0, -2)
        us = np.moveaxis(y[:, q.size : own].reshape(count, *u.shape), 0, -2)
        return Nearby(with_unit_quaternions(robot, qs), us / T, Phi)

    return LinearFlow(robot, start, T, start + T * np.asarray(run.curve.ts), at)  # type: ignore[attr-defined]


def covariant_rates(robot: Robot, q: Array, v: Array, displacement: Array, velocity_change: Array) -> Array:
    """Dξ/dt = δv + Γ(ξ, v) (..., nv) from the numbers δv by which the velocity differs next to the motion."""
    return covariant_derivative(robot, q, displacement, v, velocity_change)


def velocity_changes(robot: Robot, q: Array, v: Array, displacement: Array, rate: Array) -> Array:
    """δv (..., nv) from Dξ/dt: the other way round."""
    return -np.asarray(covariant_derivative(robot, q, displacement, v, -np.asarray(rate)))


def _equations(robot: Robot, motion: Motion, t: float, q: Array, u: Array) -> tuple[Array, Array, Array]:
    """The acceleration and its derivatives by q and by u, per duration: a, ∂a/∂q, ∂a/∂u."""
    if isinstance(motion, Geodesic):
        by = geodesic_acceleration_derivatives(robot, q, u)
        return geodesic_acceleration(robot, q, u), by.q, by.v
    T, still = motion.duration, 0.0 * u
    if isinstance(motion, NaturalMotion):
        by, falling = (
            geodesic_acceleration_derivatives(robot, q, u),
            forward_dynamics_derivatives(robot, q, still, still),
        )
        a = geodesic_acceleration(robot, q, u) + T**2 * forward_dynamics(robot, q, still, still)
        return a, by.q + T**2 * falling.q, by.v
    here = motion.at(t)
    driven = forward_dynamics_derivatives(robot, here.q, here.v, inverse_dynamics(robot, here.q, here.v, here.a))
    return here.a, T**2 * driven.q, T * driven.v


def _brackets(robot: Robot) -> Callable[[Array], Array] | None:
    """ad(v) (..., nv, nv) with ad(v) w = [v, w]; None where it vanishes."""
    s = structure_constants(robot.structure)
    return None if s is None else lambda v: np.einsum("ijr,...i->...rj", s, v)
