"""What came of tasks in order of priority, and why: in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array
from torsor.resolution.joint_limit import JointLimit, number

NOTHING = 1e-8  # of a residual, in units of its task


@dataclass(frozen=True, eq=False)
class TaskOutcome:
    """What one task was given of what it wanted, ẏ or ÿ: ``wanted`` − ``given_up``."""

    name: str
    """As "hand_tcp position", or the name of a function."""
    labels: tuple[str, ...]
    wanted: Array
    """ẏ (m,), per s, or ÿ, per s²."""
    given_up: Array
    """ẏ − J v (m,), per s, or ÿ − J̇ v − J a, per s²."""
    given_up_without_limits: Array
    """What it would have had to give up to higher priorities, and at singularities, had there been no limits (m,)."""
    given_up_alone: Array
    """What it would have had to give up were it the only task and had there been no limits (m,): a singularity."""
    limits: tuple[JointLimit, ...]
    """The limits that stood in its way: any one of them wider, it would have been given more, and no task before it less."""
    limits_together: tuple[JointLimit, ...] = ()
    """Limits that stood in its way only together: several of them wider, it would have been given more."""
    held: tuple[tuple[int, JointLimit], ...] = ()
    """Other limits that stood in the way of tasks of higher priority: the number of the task, from 1, and the limit."""
    damped: bool = False
    """Whether there was damping, by which tasks give up a little everywhere."""

    @property
    def done(self) -> bool:
        """Whether it was given all it wanted."""
        return bool(np.abs(self.given_up).max(initial=0.0) <= NOTHING * max(1.0, float(np.abs(self.wanted).max())))

    def __str__(self) -> str:
        if self.done:
            return f"{self.name}: done"
        size = max(1.0, float(np.abs(self.wanted).max()))
        entries = [
            f"{label} {number(y - x)} of {number(y)}"
            for label, x, y in zip(self.labels, self.given_up, self.wanted, strict=True)
            if abs(x) > NOTHING * size
        ]
        causes = []
        if _differ(self.given_up, self.given_up_without_limits, size):
            causes += _named("limits in its way: ", self.limits)
            causes += _named("limits in its way, but only together: ", self.limits_together)
            causes += [f"task {k} is held by {limit}" for k, limit in self.held]
            causes = causes or ["limits are in its way"]
        if _differ(self.given_up_without_limits, self.given_up_alone, size):
            causes.append("tasks of higher priority use the same freedoms")
        if np.abs(self.given_up_alone).max() > NOTHING * size:
            damped = "damping, or " if self.damped else ""
            causes.append(f"{damped}the robot cannot move that way here, whatever the limits (see torsor.task_rank)")
        return f"{self.name}: gets {', '.join(entries)}; {'; '.join(causes)}"


@dataclass(frozen=True)
class LimitConflict:
    """A limit that is not kept in this step, because others that come before it do not let it be."""

    limit: JointLimit
    needed: float
    """What it would have taken, in ``unit``: for a position the rate, or acceleration, by which to brake or to come back."""
    given: float
    """What it got, in ``unit``."""
    unit: str

    def __str__(self) -> str:
        needed, given = f"{number(self.needed)} {self.unit}", f"{number(self.given)} {self.unit}"
        if self.limit.kind != "position":
            return f"{self.limit}: other limits allow no better than {given}"
        way = "come back" if self.limit.beyond else ("brake" if self.unit.endswith("²") else "move")
        return f"{self.limit}: it should {way} at {needed}, other limits allow {given}"


@dataclass(frozen=True, eq=False)
class _Prioritised:
    """What is said of both velocities and accelerations."""

    tasks: tuple[TaskOutcome, ...]
    """What each task was given, highest priority first."""
    active_limits: tuple[JointLimit, ...]
    """All limits that the result is at."""
    conflicts: tuple[LimitConflict, ...]
    """Limits that are not kept because others contradict them: the robot was beyond them, or too fast to brake."""

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept; limits that contradict each other are in ``conflicts``."""
        return not self.conflicts

    @property
    def residuals(self) -> tuple[Array, ...]:
        """What each task was not given (m,): ẏ − J v, or ÿ − J̇ v − J a."""
        return tuple(task.given_up for task in self.tasks)

    def __str__(self) -> str:
        lines = [f"{k + 1}. {task}" for k, task in enumerate(self.tasks)]
        lines += [f"limits in conflict: {conflict}" for conflict in self.conflicts]
        lines.append("at limits: " + ("; ".join(map(str, self.active_limits)) or "none"))
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class PrioritisedVelocities(_Prioritised):
    """Joint velocities for tasks in order of priority within limits, and what stood in the way. Print it to be told."""

    v: Array
    """The joint velocities (nv,), rad/s or m/s."""


@dataclass(frozen=True, eq=False)
class PrioritisedAccelerations(_Prioritised):
    """Joint accelerations for tasks in order of priority within limits, and what stood in the way. Print it to be told."""

    a: Array
    """The joint accelerations (nv,), rad/s² or m/s²."""
    tau: Array
    """The joint forces for them (nv,), N·m or N: `inverse_dynamics`, friction included."""


def _named(what: str, limits: tuple[JointLimit, ...]) -> list[str]:
    return [what + "; ".join(map(str, limits))] if limits else []


def _differ(x: Array, y: Array, size: float) -> bool:
    return bool(np.abs(x - y).max() > NOTHING * size)
