"""Motions that were integrated, and are known at every instant: what geodesics and natural motions have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, Scalar
from torsor.errors import ArgumentError, TorsorError
from torsor.functions.public.dynamics import mass_matrix_report
from torsor.model import Robot
from torsor.motion.integration import with_unit_quaternions
from torsor.motion.motions import Motion, MotionState
from torsor.motion.tangent_motion import time_of


class States(NamedTuple):
    """The states of free motions at times s (K,) of one unit: q (..., K, nq) and u (..., K, nv). It can be pickled."""

    robot: Robot
    curve: Callable[[Array], Array]
    q_shape: tuple[int, ...]
    u_shape: tuple[int, ...]

    def __call__(self, s: Array) -> tuple[Array, Array]:
        """Configurations (..., K, nq) and velocities (..., K, nv) at the times s (K,)."""
        y, split = self.curve(s), int(np.prod(self.q_shape))
        q, u = y[:split].reshape(*self.q_shape, len(s)), y[split:].reshape(*self.u_shape, len(s))
        return with_unit_quaternions(self.robot, np.moveaxis(q, -1, -2)), np.ascontiguousarray(np.moveaxis(u, -1, -2))


class IntegratedMotion(Motion, Report):
    """A solution of the robot's own equations of motion: ``q, v = motion(t)``, or ``motion.at(t)`` like any motion."""

    time: Array
    _state: States
    _word: ClassVar[str]
    """What it is called in messages."""

    @abstractmethod
    def _accelerations(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """a (..., K, nv) at states, with ∂a/∂q and ∂a/∂v (..., K, nv, nv)."""

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return float(self.time[-1])

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s; outside [0, duration] it is held, with v, a and jerk zero.

        jerk is the derivative of the acceleration along the motion, ∂a/∂q v + ∂a/∂v a. The time cannot be traced.
        """
        t = time_of(t)
        if not isinstance(t, np.ndarray):
            raise ArgumentError(
                f"a {self._word} cannot be traced. Trace a trajectory of it: motion.sample(0.01).at(t)."
            )
        times = np.atleast_1d(t)
        q, v = self(np.clip(times, 0.0, self.duration))
        a, by_q, by_v = self._accelerations(q, v)
        jerk = (by_q @ v[..., None] + by_v @ a[..., None])[..., 0]
        within = np.where((times >= 0.0) & (times <= self.duration), 1.0, 0.0)[:, None]
        state = MotionState(q, within * v, within * a, within * jerk)
        return state if t.ndim else MotionState(*(x[..., 0, :] for x in state))

    def __call__(self, t: Scalar) -> tuple[Array, Array]:
        """q (..., *t, nq) and v (..., *t, nv) at the times ``t``, of any shape, from 0 to `duration`, s."""
        t = np.asarray(t, float)
        slack = 1e-12 * self.duration  # rounding of times that are computed
        if t.size and not (t.min() >= -slack and t.max() <= self.duration + slack):
            raise ArgumentError(
                f"this {self._word} lasts from 0 to {self.duration:g} s; it was asked for t = {t.min():g} … {t.max():g} s."
            )
        q, u = self._state(t.ravel() / self.duration)
        shape, n = (*q.shape[:-2], *t.shape), self.robot.nv  # beside v, u may have integrals
        return q.reshape(*shape, q.shape[-1]), u[..., :n].reshape(*shape, n) / self.duration


def stuck(robot: Robot, q: Array, s: float, duration: float) -> TorsorError:
    """Why integration did not go on, with the state of the batch that fared worst."""
    states = q.reshape(-1, robot.nq)
    reports = [mass_matrix_report(robot, one) for one in states]
    worst = max(range(len(reports)), key=lambda k: reports[k].condition)
    where = np.array2string(states[worst], precision=6, separator=", ")
    which = "" if len(states) == 1 else f" (state {worst} of the batch)"
    report = str(reports[worst]).replace("\n", "; ")
    return ArgumentError(
        f"robot {robot.name!r} cannot go on after {s * duration:.6g} s of {duration:g} s, at q = {where}{which}, where "
        f"its mass matrix is singular or nearly so. {report}. Take a shorter `duration`, or give its links inertia or armature."
    )
