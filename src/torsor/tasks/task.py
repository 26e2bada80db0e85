"""What of a robot's motion is controlled: a task, with ẏ = J(q) v of some frame, of a selection, or of several at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays import concat, constant, zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointVector,
    TaskJacobian,
    TaskJacobianDerivative,
    TaskVector,
)
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, unknown_name
from torsor.functions.public import derivatives, kinematics
from torsor.model import Robot


class Task(ABC):
    """m quantities whose rates are linear in the joint velocities, ẏ = J(q) v: small, immutable, hashable, picklable.

    Made by `pose_task`, `position_task`, `orientation_task`, `function_task`, `stack_tasks` and `Task.select`. A class of
    your own is a task if it is a frozen dataclass that says the same, for NumPy, JAX and traced arrays alike.
    """

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the rows, for reports."""

    @property
    def size(self) -> int:
        """m, the number of rows."""
        return len(self.labels)

    @property
    def name(self) -> str:
        """What the rows belong to, for the labels of stacked tasks."""
        return type(self).__name__

    @property
    def title(self) -> str:
        """What is controlled, for reports: as "hand_tcp position"."""
        return self.name

    @abstractmethod
    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """J (..., m, nv) with ẏ = J v. ``q`` (..., nq), rad or m."""

    @abstractmethod
    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """J̇ v (..., m), what ÿ is at zero joint acceleration. ``q`` (..., nq); ``v`` (..., nv), rad/s or m/s."""

    @abstractmethod
    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """∂_k J (..., m, nv, nv), derivative index last, along the tangent coordinates v. ``q`` (..., nq), rad or m."""

    def select(self, rows: int | str | Sequence[int | str]) -> Task:
        """Some of the rows, each once, by number or label, in the order given: ``task.select(["vx", "vy"])``."""
        wanted = tuple(rows) if isinstance(rows, (Sequence, np.ndarray)) and not isinstance(rows, str) else (rows,)
        chosen = tuple(self._row(row) for row in wanted)
        if not chosen or len(set(chosen)) < len(chosen):
            raise ArgumentError(
                f"task {self.title!r}: select some of its rows ({', '.join(self.labels)}), each once, got {rows!r}."
            )
        return SelectedTask(self, chosen)

    def key_for(self, robot: Robot) -> str:
        """What identifies the task among machine code on disk: all of what it computes for a robot, by its program."""
        inputs = {"q": (robot.nq,), "v": (robot.nv,)}

        def all_of_it(q: Array, v: Array) -> tuple[Array, ...]:
            return self.jacobian(robot, q), self.drift(robot, q, v), self.derivative(robot, q)

        return f"{type(self).__name__} {trace(all_of_it, inputs, Level.FULL).digest()}"

    def _row(self, row: object) -> int:
        if isinstance(row, str):
            places = [k for k, label in enumerate(self.labels) if row in (label, label.rpartition(".")[2])]
            if len(places) == 1:
                return places[0]
            if places:
                which = ", ".join(f"{self.labels[k]!r} is row {k}" for k in places)
                raise ArgumentError(f"task {self.title!r}: {row!r} names several rows, select by number: {which}.")
        elif isinstance(row, (int, np.integer)) and not isinstance(row, bool) and 0 <= row < self.size:
            return int(row)
        listing = ", ".join(self.labels)
        raise unknown_name(f"task {self.title!r} of {self.size} rows", "row", row, self.labels, listing)


class _Kind(NamedTuple):
    """How a frame's motion is written: the functions of its Jacobian, and which of their six rows are taken."""

    jacobian: Callable[..., Array]
    acceleration: Callable[..., Array]
    derivative: Callable[..., Array]
    rows: slice


_LABELS: tuple[str, ...] = ("wx", "wy", "wz", "vx", "vy", "vz")
_BODY = (kinematics.body_jacobian, kinematics.body_acceleration, derivatives.body_jacobian_derivative)
_SPACE = (kinematics.space_jacobian, kinematics.space_acceleration, derivatives.space_jacobian_derivative)
_MIXED = (kinematics.mixed_jacobian, kinematics.mixed_acceleration, derivatives.mixed_jacobian_derivative)
_KINDS = {
    "pose": _Kind(*_BODY, slice(0, 6)),
    "orientation": _Kind(*_BODY, slice(0, 3)),
    "position": _Kind(*_MIXED, slice(3, 6)),
}
_AXES = {"body": _KINDS["pose"], "space": _Kind(*_SPACE, slice(0, 6)), "mixed": _Kind(*_MIXED, slice(0, 6))}


class _FrameRows(Task):
    """Rows of a frame's motion: what `FrameTask` and `TwistTask` share."""

    frame: str

    @property
    @abstractmethod
    def _written(self) -> _Kind:
        """How the rows are written."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Of wx, wy, wz (angular) and vx, vy, vz (linear), those that there are."""
        return _LABELS[self._written.rows]

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """Rows of the body, space or mixed Jacobian of the frame, rad and m per unit of v."""
        kind = self._written
        return kind.jacobian(robot, q, self.frame)[..., kind.rows, :]

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """The frame's acceleration at zero joint acceleration, rad/s² and m/s²."""
        kind = self._written
        return kind.acceleration(robot, q, v, zeros(robot.nv), self.frame)[..., kind.rows]

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """Rows of the kinematic Hessian."""
        kind = self._written
        return kind.derivative(robot, q, self.frame)[..., kind.rows, :, :]

    def key_for(self, robot: Robot) -> str:
        """What identifies the task: its fields."""
        return repr(self)


@dataclass(frozen=True)
class FrameTask(_FrameRows):
    """The motion of a frame: its body twist ("pose"), velocity of its origin in base axes ("position"), or angular velocity
    in its own axes ("orientation").
    """

    frame: str
    kind: str

    @property
    def _written(self) -> _Kind:
        return _KINDS[self.kind]

    @property
    def name(self) -> str:
        """Name of the frame that the task is about."""
        return self.frame

    @property
    def title(self) -> str:
        """The frame, and what of it."""
        return f"{self.frame} {self.kind}"


@dataclass(frozen=True)
class TwistTask(_FrameRows):
    """The six rows of a frame's twist in axes that are not its own, "space" or "mixed": a velocity, without targets."""

    frame: str
    axes: str

    @property
    def _written(self) -> _Kind:
        return _AXES[self.axes]

    @property
    def name(self) -> str:
        """The frame and the axes."""
        return f"{self.frame} in {self.axes} axes"

    @property
    def title(self) -> str:
        """The frame, what of it, and the axes."""
        return f"{self.frame} pose in {self.axes} axes"


@dataclass(frozen=True)
class SelectedTask(Task):
    """Some rows of a task, made by `Task.select`: ``rows`` of ``task``, by number."""

    task: Task
    rows: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the rows selected."""
        return tuple(self.task.labels[row] for row in self.rows)

    @property
    def name(self) -> str:
        """The name of the whole task."""
        return self.task.name

    @property
    def title(self) -> str:
        """The title of the whole task, and which rows."""
        return f"{self.task.title} ({', '.join(self.labels)})"

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """The rows of J."""
        return self.task.jacobian(robot, q)[..., constant(self.rows), :]

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """The entries of J̇ v."""
        return self.task.drift(robot, q, v)[..., constant(self.rows)]

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """The rows of ∂J."""
        return self.task.derivative(robot, q)[..., constant(self.rows), :, :]

    def key_for(self, robot: Robot) -> str:
        """The whole task and which rows."""
        return f"{self.task.key_for(robot)}[{self.rows}]"


@dataclass(frozen=True)
class StackedTask(Task):
    """Several tasks, one below the other, made by `stack_tasks`."""

    tasks: tuple[Task, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Each with the name of its task in front, as "tool.vx"."""
        return tuple(f"{task.name}.{label}" for task in self.tasks for label in task.labels)

    @property
    def name(self) -> str:
        """The names of all tasks, joined by +."""
        return " + ".join(task.name for task in self.tasks)

    @property
    def title(self) -> str:
        """The titles of all tasks, joined by +."""
        return " + ".join(task.title for task in self.tasks)

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """All Jacobians, one below the other."""
        return concat([task.jacobian(robot, q) for task in self.tasks], axis=-2)

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """All J̇ v, one after the other."""
        return concat([task.drift(robot, q, v) for task in self.tasks])

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """All ∂J, one below the other."""
        return concat([task.derivative(robot, q) for task in self.tasks], axis=-3)

    def key_for(self, robot: Robot) -> str:
        """What identifies the tasks, each by its own key."""
        return f"stack({'; '.join(task.key_for(robot) for task in self.tasks)})"


Rows = int | str | Sequence[int | str] | None


@explained
def pose_task(frame: str, rows: Rows = None, *, axes: str = "body") -> Task:
    """Task of a frame's twist, six rows (ω, v), rad/s and m/s, or some of them: ``pose_task("tool", ["wz", "vx"])``.

    ÿ is the rate of what the axes say: `body_acceleration`, `space_acceleration`, `mixed_acceleration`. Λ and η differ in each of
    them, for one and the same motion [LP, §9.6]. Targets are poses, which are the same in all axes: they take "body" alone.

    Parameters
    ----------
    frame : str
        The name of the frame.
    rows : int, str or a sequence of them, optional
        Those that are taken, by number or label; all if not given.
    axes : {"body", "space", "mixed"}
        The frame's own axes, about its origin; base axes, about the base origin; or base axes, about the frame's origin, so
        that v is the velocity of that point.

    Returns
    -------
    Task
        For every robot that has the frame.
    """
    refuse_unknown_word("axes", axes, _AXES)
    return _frame_task(frame, "pose", rows, axes)


@explained
def position_task(frame: str, rows: Rows = None) -> Task:
    """Task of the velocity of a frame's origin in base axes, three rows (vx, vy, vz), m/s, or some of them.

    Parameters
    ----------
    frame, rows
        As of `pose_task`.

    Returns
    -------
    Task
        For every robot that has the frame.
    """
    return _frame_task(frame, "position", rows)


@explained
def orientation_task(frame: str, rows: Rows = None) -> Task:
    """Task of the angular velocity of a frame in its own axes, three rows (wx, wy, wz), rad/s, or some of them.

    Parameters
    ----------
    frame, rows
        As of `pose_task`.

    Returns
    -------
    Task
        For every robot that has the frame.
    """
    return _frame_task(frame, "orientation", rows)


@explained
def stack_tasks(*tasks: Task | str) -> Task:
    """Task made of several, row below row. No priorities: all rows count alike.

    Parameters
    ----------
    *tasks : Task or str
        Tasks; the name of a frame means its pose.

    Returns
    -------
    Task
        With as many rows as all of them.
    """
    if not tasks:
        raise ArgumentError("there is nothing to stack; pass at least one task.")
    return StackedTask(tuple(_task_of(task) for task in tasks))


@explained
def as_task(robot: Robot, task: Task | str) -> Task:
    """Task as it is, or for the name of a frame the task of its pose (body twist).

    Parameters
    ----------
    robot : Robot
    task : Task or str
        The task, or the name of a frame of the robot.

    Returns
    -------
    Task
        What functions with a ``task`` argument work with.
    """
    if isinstance(task, str):
        robot.structure.frame(task)  # refuses unknown names
    return _task_of(task)


def _frame_task(frame: str, kind: str, rows: Rows, axes: str = "body") -> Task:
    if not isinstance(frame, str):
        raise ArgumentError(f"the frame must be a name, got {frame!r:.60}.")
    task: Task = FrameTask(frame, kind) if axes == "body" else TwistTask(frame, axes)
    return task if rows is None else task.select(rows)


def _task_of(task: Task | str) -> Task:
    if isinstance(task, str):
        return pose_task(task)
    if not isinstance(task, Task):
        raise ArgumentError(
            f"a task is a frame name or made by pose_task, position_task, orientation_task, function_task or "
            f"stack_tasks; got {type(task).__name__} {task!r:.60}.",
            value=task,
        )
    return task
