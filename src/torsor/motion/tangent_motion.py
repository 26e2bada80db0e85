"""Motions of a robot in coordinates u(t) about fixed configurations: q(t) = q_k ⊕ u(t), with exact v, a and jerk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays import as_numbers
from torsor.arrays.typing import Array
from torsor.border.numbers import numbers_of, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.motion.body_rates import body_rates, placed
from torsor.motion.motions import Motion, MotionState
from torsor.motion.segments import Segments

OUTSIDE = "call it outside of kernels: what it makes has `at(t)`, which may be traced."


@dataclass(frozen=True, eq=False, repr=False)
class TangentMotion(Motion, Report):
    """A motion made of pieces of polynomials in tangent coordinates: what `polynomial`, `trapezoidal`, `s_curve`, `spline` and
    `jerk_limited` return.

    Outside [0, duration] it is held: q is that of the nearer end, and v, a and jerk are zero. A periodic one repeats.

    Attributes
    ----------
    robot : Robot
    kind : str
        What it is, in a word.
    segments : Segments
        Knots, polynomials and the configurations they are seen from.
    periodic : bool
        Whether it repeats.
    """

    robot: Robot
    kind: str
    segments: Segments
    periodic: bool = False

    @property
    def duration(self) -> float:
        """How long it takes, s; of a batch, the longest."""
        return self.segments.duration

    @property
    def knots(self) -> Array:
        """When pieces begin and end (..., s + 1), s."""
        return self.segments.knots

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        t = time_of(t)
        anchor, u, rates = self.segments.at(repeated(t, self.duration) if self.periodic else t)
        return MotionState(placed(self.robot, anchor, u), *body_rates(self.robot, u, rates))

    def _times_to_check(self) -> Array:
        times, one = super()._times_to_check(), self.knots.ndim == (2 if self.segments.own else 1)
        return np.union1d(times, self.knots) if one else times

    def __str__(self) -> str:
        return f"{self.kind} motion of {self.robot.name!r}, {self.duration:.4g} s"


def time_of(t: Any) -> Array:
    """A time, or times (K,), as numbers; traced ones pass."""
    try:
        t = as_numbers(t)
    except (TypeError, ValueError):
        raise ShapeError(f"`t` must be one time or times (K,), s, got {t!r:.60}.") from None
    if isinstance(t, np.ndarray):
        if t.ndim > 1:
            raise ShapeError(f"`t` must be one time or times (K,), got shape {t.shape}.")
    elif np.shape(t):
        raise ShapeError(
            f"`t` must be one time where it is not a NumPy number, got shape {np.shape(t)}. Map over times, as jax.vmap does."
        )
    return t


def repeated(t: Array, period: float) -> Array:
    """``t`` within one period; a motion without duration has no other time than 0."""
    return t % period if period > 0.0 else 0.0 * t


def configurations_of(robot: Robot, **given: Any) -> list[Array]:
    """Configurations (..., nq) of plain numbers, by name."""
    refuse_strangers(robot, *given.values(), instead=OUTSIDE)
    found = []
    for name, value in given.items():
        q = numbers_of(name, value, (robot.nq,))
        refuse_zero_quaternions(robot, q, f"`{name}`: ")
        found.append(q)
    return found


def numbers_of_waypoints(robot: Robot, waypoints: Any) -> Array:
    """Waypoints (..., N, nq), at least one."""
    refuse_strangers(robot, waypoints, instead=OUTSIDE)
    q = numbers_of("waypoints", waypoints, (robot.nq,))
    if q.ndim < 2 or q.shape[-2] == 0:
        raise ShapeError(f"`waypoints` must have shape (..., N, {robot.nq}) with at least one, got {q.shape}.")
    return q


def vectors_of(robot: Robot, **given: Any) -> list[Array]:
    """Joint vectors (..., nv) by name; zero where nothing is given."""
    refuse_strangers(robot, *given.values(), instead=OUTSIDE)
    return [np.zeros(robot.nv) if x is None else numbers_of(name, x, (robot.nv,)) for name, x in given.items()]


def common_batch(named: dict[str, Array], trailing: int = 1) -> tuple[int, ...]:
    """The batch axes that arrays have in common."""
    try:
        return np.broadcast_shapes(*(x.shape[: x.ndim - trailing] for x in named.values()))
    except ValueError:
        found = ", ".join(f"`{name}` {x.shape}" for name, x in named.items())
        raise ShapeError(f"the batch axes of the arguments do not broadcast: {found}.") from None


def bound_of(robot: Robot, name: str, value: Any, rate: str, *, infinite: str = "") -> Array:
    """A bound of every freedom (nv,), positive; infinite where there is none.

    ``rate``: of what, in words; ``infinite``: why it must be finite and what to do instead, if it must.
    """
    example = (
        f"{name}=10.0, or one number for each of {', '.join(robot.structure.freedoms[:3])}{', …' * (robot.nv > 3)}"
    )
    if value is None:
        raise ArgumentError(f"`{name}` is missing: the robot has no limits of {rate}. Pass them, {example}.")
    try:
        bound = np.asarray(value, float)
    except (TypeError, ValueError):
        bound = np.full(1, np.nan)
    if bound.shape not in ((), (robot.nv,)):
        raise ShapeError(f"`{name}` must be a number or have shape ({robot.nv},), got shape {bound.shape}.")
    if not np.all(bound > 0.0):
        raise ArgumentError(f"`{name}` must be positive, got {value!r:.60}. Pass {example}.")
    if infinite and not np.all(np.isfinite(bound)):
        raise ArgumentError(f"`{name}` must be finite: {infinite}")
    return np.broadcast_to(bound, (robot.nv,))


def velocity_bound(robot: Robot, velocity: Any, within_limits: bool) -> Array:
    """The bound of velocities (nv,): what is given, and the robot's own limits; infinite where there is neither."""
    own = np.array(robot.structure.limits.velocity, float)
    own = np.where(own > 0.0, own, np.inf) if within_limits else np.full(robot.nv, np.inf)  # 0 is no limit
    return own if velocity is None else np.minimum(own, bound_of(robot, "velocity", velocity, "velocity"))
