"""What came of tasks in order of priority, and why: in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from torsor._reports import Report, short
from torsor.arrays.typing import Array
from torsor.control.priorities.joint_limit import JointLimit, number
from torsor.errors import ArgumentError
from torsor.model import Robot

NOTHING = 1e-8  # of a residual, in units of its task


@dataclass(frozen=True, eq=False, repr=False)
class TaskOutcome(Report):
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
    at_edge: bool = False
    """Whether it wants what is out of reach, or too fast a way out of a singularity: it is led there gently, and to rest."""

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
            edge = ": what it wants is at the edge of what it can reach" if self.at_edge else ""
            causes.append(
                f"{damped}the robot cannot move that way here, whatever the limits (see torsor.tasks.task_rank){edge}"
            )
        return f"{self.name}: gets {', '.join(entries)}; {'; '.join(causes)}"


@dataclass(frozen=True, repr=False)
class LimitConflict(Report):
    """A limit that is not kept in this step, because others that come before it do not let it be."""

    limit: JointLimit
    needed: float
    """What it would have taken, in ``unit``: for a position the rate, or acceleration, by which to brake or to come back."""
    given: float
    """What it got, in ``unit``."""
    unit: str

    def __str__(self) -> str:
        needed, given = (f"{number(x)} {self.unit}".rstrip() for x in (self.needed, self.given))
        if self.limit.kind != "position":
            return f"{self.limit}: other limits allow no better than {given}"
        way = "come back" if self.limit.beyond else ("brake" if self.unit.endswith("²") else "move")
        return f"{self.limit}: it should {way} at {needed}, other limits allow {given}"


class Outcome(Protocol):
    """What is known of one state."""

    @property
    def x(self) -> Array:
        """What was chosen (nv,)."""
        ...

    @property
    def tasks(self) -> tuple[TaskOutcome, ...]:
        """What each task was given."""
        ...

    @property
    def active_limits(self) -> tuple[JointLimit, ...]:
        """All limits that x is at."""
        ...

    @property
    def conflicts(self) -> tuple[LimitConflict, ...]:
        """Limits that are not kept."""
        ...

    @property
    def feasible(self) -> bool:
        """Whether all limits are kept."""
        ...

    @property
    def residuals(self) -> tuple[Array, ...]:
        """What each task was not given (m,)."""
        ...


class Said(NamedTuple):
    """Everything known of one state, worked out: what is pickled."""

    x: Array
    tasks: tuple[TaskOutcome, ...]
    active_limits: tuple[JointLimit, ...]
    conflicts: tuple[LimitConflict, ...]
    feasible: bool
    residuals: tuple[Array, ...]


class _Prioritised(Report):
    """What is said of both velocities and accelerations: of one state, or of a batch of states, each of which `[k]` gives."""

    robot: Robot

    def __init__(self, robot: Robot, states: Sequence[Outcome], batch: tuple[int, ...], **arrays: Array) -> None:
        self.robot = robot
        self._states, self._batch, self._arrays = tuple(states), batch, arrays

    @property
    def tasks(self) -> tuple[TaskOutcome, ...]:
        """What each task was given, highest priority first. Of one state."""
        return self._one("tasks").tasks

    @property
    def active_limits(self) -> tuple[JointLimit, ...]:
        """All limits that the result is at. Of one state."""
        return self._one("active_limits").active_limits

    @property
    def conflicts(self) -> tuple[LimitConflict, ...]:
        """Limits that are not kept because others contradict them: the robot was beyond them, or too fast to brake.

        Of one state.
        """
        return self._one("conflicts").conflicts

    @property
    def feasible(self) -> Array:
        """Whether all limits are kept, (...) for a batch; limits that contradict each other are in ``conflicts``."""
        if not self._batch:
            return self._states[0].feasible
        return np.array([state.feasible for state in self._states], bool).reshape(self._batch)

    @property
    def residuals(self) -> tuple[Array, ...]:
        """What each task was not given (..., m): ẏ − J v, or ÿ − J̇ v − J a. None for a batch without states."""
        parts = zip(*(state.residuals for state in self._states), strict=True)
        return tuple(np.stack(part).reshape(*self._batch, -1) for part in parts)

    def __len__(self) -> int:
        if not self._batch:
            raise TypeError("there is one state, not a batch of them")
        return self._batch[0]

    def __getitem__(self, state: Any) -> Self:
        """One state of a batch, or some of them, by index."""
        if not self._batch:
            raise ArgumentError(f"{type(self).__name__}: there is one state, and no [{state!r}] of it.")
        try:
            chosen = np.arange(len(self._states)).reshape(self._batch)[state]
        except (IndexError, TypeError) as error:
            raise ArgumentError(
                f"{type(self).__name__}: there is no [{state!r}] of a batch of {self._batch}: {error}."
            ) from None
        arrays = {name: x[state] for name, x in self._arrays.items()}
        return type(self)(self.robot, [self._states[k] for k in np.ravel(chosen)], np.shape(chosen), **arrays)

    def __str__(self) -> str:
        if self._batch:
            return self._summary()
        state = self._states[0]
        lines = [f"{k + 1}. {task}" for k, task in enumerate(state.tasks)]
        lines += [f"limits in conflict: {conflict}" for conflict in state.conflicts]
        lines.append("at limits: " + ("; ".join(map(str, state.active_limits)) or "none"))
        return "\n".join(lines)

    def __repr__(self) -> str:
        states = f"batch of {self._batch}" if self._batch else "one state"
        return f"{type(self).__name__}(robot={short(self.robot)}, {states})"

    def _summary(self) -> str:
        """Of a batch: in how many states each task is done, and which states have limits in conflict."""
        count = len(self._states)
        lines = [f"{count} states; print one, [k], to be told of it"]
        for k, outcomes in enumerate(zip(*(state.tasks for state in self._states), strict=True)):
            lines.append(f"{k + 1}. {outcomes[0].name}: done in {sum(task.done for task in outcomes)} of {count}")
        places = [place for place in np.ndindex(self._batch) if not np.asarray(self.feasible)[place]]
        named = [str(place[0] if len(place) == 1 else place) for place in places[:5]]
        more = ", …" if len(places) > 5 else ""
        lines.append(f"limits in conflict: {', '.join(named)}{more}" if places else "limits in conflict: none")
        return "\n".join(lines)

    def _one(self, name: str) -> Outcome:
        if self._batch:
            raise ArgumentError(
                f"{type(self).__name__}: `{name}` belongs to one state, and this is a batch of {self._batch}: ask one of them, "
                f"result[{', '.join('0' * len(self._batch))}].{name}."
            )
        return self._states[0]


class PrioritisedVelocities(_Prioritised):
    """Joint velocities for tasks in order of priority within limits, and what stood in the way. Print it to be told."""

    @property
    def v(self) -> Array:
        """The joint velocities (..., nv), rad/s or m/s."""
        return self._arrays["v"]


class PrioritisedAccelerations(_Prioritised):
    """Joint accelerations for tasks in order of priority within limits, and what stood in the way. Print it to be told."""

    @property
    def a(self) -> Array:
        """The joint accelerations (..., nv), rad/s² or m/s²."""
        return self._arrays["a"]

    @property
    def tau(self) -> Array:
        """The joint forces for them (..., nv), N·m or N: `inverse_dynamics`, friction and springs included."""
        return self._arrays["tau"]


def _named(what: str, limits: tuple[JointLimit, ...]) -> list[str]:
    return [what + "; ".join(map(str, limits))] if limits else []


def _differ(x: Array, y: Array, size: float) -> bool:
    return bool(np.abs(x - y).max() > NOTHING * size)
