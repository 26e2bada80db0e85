"""What came of tasks in order of priority, and why: in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array
from torsor.resolution.limit_rows import JointLimit, number

NOTHING = 1e-8  # of a residual, in units of its task


@dataclass(frozen=True, eq=False)
class TaskOutcome:
    """What one task was given of what it wanted: J v = ``wanted`` − ``given_up``."""

    name: str
    labels: tuple[str, ...]
    wanted: Array
    """ẏ (m,), per s."""
    given_up: Array
    """ẏ − J v (m,), per s."""
    given_up_without_limits: Array
    """What it would have had to give up to higher priorities, and at singularities, had there been no limits (m,), per s."""
    given_up_alone: Array
    """What it would have had to give up were it the only task and had there been no limits (m,), per s: a singularity."""
    limits: tuple[JointLimit, ...]
    """The limits that stood in its way: without any one of them it might have been given more."""

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
            at = "; ".join(map(str, self.limits)) or "those that bind tasks of higher priority"
            causes.append(f"limits in its way: {at}")
        if _differ(self.given_up_without_limits, self.given_up_alone, size):
            causes.append("tasks of higher priority use the same freedoms")
        if np.abs(self.given_up_alone).max() > NOTHING * size:
            causes.append("the robot cannot move that way here, whatever the limits (see torsor.task_rank)")
        return f"{self.name}: gets {', '.join(entries)}; {'; '.join(causes)}"


@dataclass(frozen=True)
class LimitConflict:
    """A position limit that cannot be kept within this step: the robot is beyond it, and other limits slow its return."""

    limit: JointLimit
    needed: float
    """The rate with which it should come back, per s."""
    given: float
    """The rate with which it does."""

    def __str__(self) -> str:
        rate = f"{self.limit.unit}/s"
        return (
            f"{self.limit}: it should come back at {number(self.needed)} {rate}, other limits allow "
            f"{number(self.given)} {rate}"
        )


@dataclass(frozen=True, eq=False)
class PrioritisedVelocities:
    """Joint velocities for tasks in order of priority within limits, and what stood in the way. Print it for an explanation."""

    v: Array
    """The joint velocities (nv,), rad/s or m/s."""
    tasks: tuple[TaskOutcome, ...]
    """What each task was given, highest priority first."""
    active_limits: tuple[JointLimit, ...]
    """All limits that v is at."""
    conflicts: tuple[LimitConflict, ...]
    """Limits of position that could not be kept, because the robot started beyond them; empty for one within its limits."""

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept; limits that contradict each other are in ``conflicts``."""
        return not self.conflicts

    @property
    def residuals(self) -> tuple[Array, ...]:
        """ẏ − J v of each task (m,), per s."""
        return tuple(task.given_up for task in self.tasks)

    def __str__(self) -> str:
        lines = [f"{k + 1}. {task}" for k, task in enumerate(self.tasks)]
        lines += [f"limits in conflict: {conflict}" for conflict in self.conflicts]
        lines.append("at limits: " + ("; ".join(map(str, self.active_limits)) or "none"))
        return "\n".join(lines)


def _differ(x: Array, y: Array, size: float) -> bool:
    return bool(np.abs(x - y).max() > NOTHING * size)
