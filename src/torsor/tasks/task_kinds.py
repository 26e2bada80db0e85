"""The tasks there are: of frames, where they are and how they turn, and of functions; and what makes them and stacks of them."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, matmul, transpose, zeros
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
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public import derivatives, kinematics
from torsor.lie.unchecked import se3, so3
from torsor.mechanics.kinematics.poses import path_to
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks.task import Residual, StackedTask, Task
from torsor.tasks.task_groups import MOTIONS, NUMBERS, ROTATIONS, TaskGroup
from torsor.tasks.task_programs import KEPT, Evaluation, as_array, refuse_traced

Function = Callable[[Robot, Array], Array]


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
_SHAPES: dict[str, tuple[int, ...]] = {"pose": (4, 4), "orientation": (3, 3), "position": (3,)}
_GROUPS = {"pose": MOTIONS, "orientation": ROTATIONS, "position": NUMBERS}


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

    @property
    def units(self) -> tuple[str, ...]:
        """Of angles rad, of lengths m."""
        return tuple("rad" if label.startswith("w") else "m" for label in self.labels)

    def coordinates(self, robot: Robot) -> tuple[int, ...]:
        """Those of the joints that carry the frame."""
        return tuple(sorted({robot.structure.couplings[i].coordinate for i in path_to(robot, self.frame)}))

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

    @property
    def target_shape(self) -> tuple[int, ...]:
        """A pose (4, 4), a rotation (3, 3) or a point (3,)."""
        return _SHAPES[self.kind]

    @property
    def group(self) -> TaskGroup:
        """Rigid motions, rotations or numbers."""
        return _GROUPS[self.kind]

    def value(self, robot: Robot, q: ConfigurationVector) -> Array:
        """Pose, rotation or origin of the frame in base axes, m."""
        T = kinematics.frame_pose(robot, q, self.frame)
        return {"pose": lambda: T, "orientation": lambda: T[..., :3, :3], "position": lambda: T[..., :3, 3]}[
            self.kind
        ]()

    def error(self, value: Array, target: Array) -> TaskVector:
        """log(T⁻¹ T_ref) of poses, log(Rᵀ R_ref) of rotations, p_ref − p of points: rad and m."""
        if self.kind == "pose":
            return se3.log(se3.compose(se3.inverse(value), target))
        if self.kind == "orientation":
            return so3.log(matmul(transpose(value), target))
        return target - value

    def residual(self, robot: Robot, q: ConfigurationVector, target: Array) -> Residual:
        """The error; that of a pose has its angle and its distance apart, (log(R_ref Rᵀ), p_ref − p) in base axes.

        Its rotation changes by −J_l(e)⁻¹ ω, but J_l(e)ᵀ e = e: the gradient of ½ eᵀ e is −Jᵀ e exactly, with the plain J.
        """
        value = self.value(robot, q)
        if self.kind != "pose":
            return Residual(self.error(value, target), self.jacobian(robot, q))
        turn = so3.log(matmul(se3.rotation(target), transpose(se3.rotation(value))))
        way = se3.translation(target) - se3.translation(value)
        return Residual(concat([turn, way]), kinematics.mixed_jacobian(robot, q, self.frame))


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
class FunctionTask(Task):
    """A task y = f(robot, q) with ``rows`` rows, made by `function_task`."""

    function: Function
    rows: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows: y0, y1, …"""
        return tuple(f"y{k}" for k in range(self.rows))

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def value(self, robot: Robot, q: ConfigurationVector) -> TaskVector:
        """y (..., m) itself."""
        return _program(self, robot)(q=q)

    def key_for(self, robot: Robot) -> str:
        """By what the function does for the robot, never by its name or place in memory."""
        return f"function {_program(self, robot).program.digest()}"


def _program(task: FunctionTask, robot: Robot) -> Evaluation:
    refuse_traced(task.name, robot)
    return _traced(task, robot)


@remembered(KEPT)
def _traced(task: FunctionTask, robot: Robot) -> Evaluation:
    def run(q: Array) -> dict[str, Array]:
        refuse_other_arguments(f"function_task: {task.name!r} must take (robot, q)", task.function, robot, q)
        y = as_array(task.function(robot, q))
        if np.shape(y) != (task.rows,):
            raise ShapeError(
                f"function_task: {task.name!r} must return {task.rows} numbers for one configuration, shape "
                f"({task.rows},), got {np.shape(y)}."
            )
        return {"y": y}

    return Evaluation(task.name, trace(run, {"q": (robot.nq,)}, Level.FULL))


def refuse_other_arguments(words: str, function: Callable[..., Any], *given: Any) -> None:
    """Raise ``words`` unless a function of the user takes what it will be given."""
    try:
        inspect.signature(function).bind(*given)
    except TypeError as error:
        raise ArgumentError(f"{words}: {error}.") from None
    except ValueError:
        pass  # some functions written in C do not say what they take


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
def function_task(function: Function, size: int) -> Task:
    """Task y = ``function(robot, q)``: any function built from torsor's and NumPy's, of any units.

    It is traced once for each robot and differentiated exactly, so it must do the same operations for every q (np.where
    instead of ``if``) and must not change afterwards: what it has closed over is read once. ::

        height = torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[2:], 1)

    Parameters
    ----------
    function : callable
        From a robot and q (nq,) to y (``size``,).
    size : int
        The number of rows m.

    Returns
    -------
    Task
        With J, J̇ v and ∂J of the function.
    """
    if not callable(function) or isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ArgumentError(
            f"needs a function of (robot, q) and the number of its rows, got {function!r:.60} and {size!r}."
        )
    return FunctionTask(function, int(size))


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
