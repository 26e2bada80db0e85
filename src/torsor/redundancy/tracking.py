"""Joint motions that follow a task: q̇ = K(q) (ẏ + feedback · error), integrated to a stated accuracy."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import refuse_unknown
from torsor.errors import ArgumentError, TorsorError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import configuration_rate
from torsor.lie.unchecked import se3
from torsor.model import Robot
from torsor.motion.integration import integrated
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.given_lift import given_lift
from torsor.redundancy.limit_margin import leaves_limits, limit_in_words, refuse_outside
from torsor.redundancy.report_text import vector
from torsor.redundancy.task_displacement import displacement, place
from torsor.redundancy.task_path import Rate
from torsor.tasks import FrameTask, SelectedTask, StackedTask, Task
from torsor.tasks.public import task_rank

LOOKS = 9  # times within a step of the integrator at which limits are looked at: its curve is smooth
SHORTEST = 1e-7  # step, as a fraction of a leg: where steps get shorter than this, the joints run away


class Reference(Protocol):
    """Where the task should be, as numbers that are integrated beside q."""

    start: Array

    def rate(self, now: Array, y_rate: Array) -> Array:
        """How the numbers change."""

    def error(self, now: Array, q: Array) -> Array:
        """From where the task is to where it should be (m,)."""


class _Nowhere:
    """No feedback, nothing to carry."""

    start = np.zeros(0)

    def rate(self, now: Array, y_rate: Array) -> Array:
        return now

    def error(self, now: Array, q: Array) -> Array:
        return np.zeros(1)


class _Coordinates:
    """Of positions and functions: y − y_start is the integral of ẏ."""

    def __init__(self, robot: Robot, q: Array, task: Task) -> None:
        self._robot, self._task, self._from, self.start = robot, task, place(robot, q, task), np.zeros(task.size)

    def rate(self, now: Array, y_rate: Array) -> Array:
        return y_rate

    def error(self, now: Array, q: Array) -> Array:
        return now - displacement(self._task, self._from, place(self._robot, q, self._task))


class _Pose:
    """Of a pose or orientation: Ṫ = T [V], ẏ = V."""

    def __init__(self, robot: Robot, q: Array, task: FrameTask) -> None:
        self._robot, self._task, self.start = robot, task, place(robot, q, task)[0].ravel()

    def rate(self, now: Array, y_rate: Array) -> Array:
        V = np.concatenate([y_rate, np.zeros(6 - len(y_rate))])
        return np.asarray((now.reshape(4, 4) @ se3.hat(V)).ravel())

    def error(self, now: Array, q: Array) -> Array:
        return displacement(self._task, place(self._robot, q, self._task), (now.reshape(4, 4),))


class Leg(NamedTuple):
    """The end of a leg, q (nq,) and the numbers of the reference, and when that is; ``samples`` q (K, nq) at ``times`` (K,).

    ``limit``: the limit to which the leg came, and ``at`` which t, or None; it ended there if it was to stay within the limits.
    """

    q: Array
    reference: Array
    end: float
    times: Array
    samples: Array
    limit: str | None
    at: float


class Tracker:
    """Follows legs of a task from one configuration to the next."""

    def __init__(
        self,
        robot: Robot,
        q: Array,
        task: Task,
        lift: Any,
        feedback: float,
        tolerance: float,
        *,
        within_limits: bool = False,
    ) -> None:
        self.robot, self.task, self.tolerance, self.feedback = robot, task, tolerance, feedback
        self.within_limits = within_limits
        if within_limits:
            refuse_outside(robot, q)
        if task.size > robot.nv:
            raise ArgumentError(
                f"robot {robot.name!r} has {robot.nv} degrees of freedom, fewer than the {task.size} rows of the task: no "
                "joint motion does all of it."
            )
        if not (np.ndim(feedback) == 0 and np.isfinite(feedback) and feedback >= 0):
            raise ArgumentError(f"`feedback` must be one number, finite and not negative, got {feedback!r:.60}.")
        self.given = given_lift(robot, task, lift, q)
        self.reference: Reference = _reference(robot, q, task) if feedback else _Nowhere()

    def velocity(self, q: Array, y_rate: Array, reference: Array) -> Array:
        """v (nv,) = K (ẏ + feedback · error)."""
        wanted = y_rate + self.feedback * self.reference.error(reference, q) if self.feedback else y_rate
        return np.asarray(self.given.lift_at(self.robot, q, self.task) @ wanted)

    def follow(self, q: Array, reference: Array, leg: Rate, shares: Array) -> Leg:
        """One leg from q, sampled at these shares of it; ends at a limit if so asked, raises where the task becomes singular."""
        split, limits = len(q), _Limits(self.robot)

        def rate(t: float, y: Array) -> Array:
            here, carried, y_rate = y[:split], y[split:], np.asarray(leg(t), float)
            refuse_unknown(y_rate, f"the path's velocities, here at t = {t:.6g} of a leg,")
            v = self.velocity(here, y_rate, carried)
            return np.concatenate([configuration_rate(self.robot, here, v), self.reference.rate(carried, y_rate)])

        start = np.concatenate([with_unit_quaternions(self.robot, q), reference])
        run = integrated(
            rate,
            (0.0, 1.0),
            start,
            self.tolerance,
            np.ones(len(start)),
            dense=len(shares) > 0,
            shortest=SHORTEST,
            stop=partial(limits.passed, ends=self.within_limits) if limits.any else None,
        )
        stopped = self.within_limits and limits.words is not None
        if not run.finished and not stopped:
            raise self._stuck(run.t, run.y[:split])
        times = shares * (run.t if stopped else 1.0)
        samples = np.zeros((0, split)) if run.curve is None else run.curve(times)[:split].T
        end = with_unit_quaternions(self.robot, run.y[:split])
        samples = with_unit_quaternions(self.robot, np.ascontiguousarray(samples))
        return Leg(end, run.y[split:], run.t, times, samples, limits.words, limits.at)

    def _stuck(self, t: float, q: Array) -> TorsorError:
        where = vector(q, 6)
        report = task_rank(self.robot, q, self.task, tolerance=1e-3)
        condition = float(np.linalg.cond(mass_matrix(self.robot, q)))
        weight = f" Its mass matrix is nearly singular (condition {condition:.1e})." if condition > 1e5 else ""
        choice = f" {why}" if (why := self.given.why_singular(self.robot, q)) else ""
        return ArgumentError(
            f"robot {self.robot.name!r} cannot go on after t = {t:.6g} of this leg, at q = {where}: the lift runs "
            f"away, as it does at singular configurations. J has {report}.{weight}{choice} Take a path that keeps away from it, "
            "or start elsewhere on the self-motion (torsor.redundancy.self_motion)."
        )


class _Limits:
    """Where a leg first comes to a limit of positions."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.any = bool(np.isfinite([*robot.limits.lower, *robot.limits.upper]).any())
        self.words: str | None = None
        self.at = np.nan

    def passed(self, step: Any, *, ends: bool) -> float | None:
        """Looks at one step of the integrator; when within it a limit is come to, if that ends the leg."""
        if self.words is None:
            n = self.robot.nq
            when = leaves_limits(self.robot, lambda t: step(t)[:n].T, np.linspace(step.t_old, step.t, LOOKS))
            if when is not None:
                self.at, self.words = when, limit_in_words(self.robot, step(when)[:n])
                return when if ends else None
        return None


def _reference(robot: Robot, q: Array, task: Task) -> Reference:
    if isinstance(task, FrameTask) and task.kind in ("pose", "orientation"):
        return _Pose(robot, q, task)
    if _has_turning_rows(task):
        raise ArgumentError(
            "feedback is known of a whole pose or orientation, of positions and functions, and of selections and stacks "
            "of the latter; pass feedback=0, or another task."
        )
    return _Coordinates(robot, q, task)


def _has_turning_rows(task: Task) -> bool:
    if isinstance(task, SelectedTask):
        return _has_turning_rows(task.task)
    if isinstance(task, StackedTask):
        return any(map(_has_turning_rows, task.tasks))
    return isinstance(task, FrameTask) and task.kind != "position"
