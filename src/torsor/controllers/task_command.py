"""The acceleration that leads a task to its target, as a computed torque would, in the coordinates of the task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays import concat, constant, matmul, matvec, stack, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.controllers.tracking_error import MOTIONS, NUMBERS, ROTATIONS, Group
from torsor.errors import ShapeError, TorsorError
from torsor.functions import frame_pose
from torsor.lie import se3, so3
from torsor.model import Robot
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task

Target = Array | Sequence[Array]


class Reference(NamedTuple):
    """Where a task should be, how it should move there (..., m), and the gains (..., m)."""

    target: Target
    velocity: TaskVector
    acceleration: TaskVector
    kp: Array
    kd: Array


def task_command(robot: Robot, q: ConfigurationVector, v: JointVector, task: Task, reference: Reference) -> TaskVector:
    """ÿ = a_r + K_d (v_r − ẏ) + J_l(e)⁻ᵀ K_p e (..., m); on poses and rotations as in `tracking_error`.

    Rows that are not selected pull with no force; of a selection ``target`` is that of the whole task.
    """
    if isinstance(task, StackedTask):
        return _stacked(robot, q, v, task, reference)
    if isinstance(task, SelectedTask):
        full = Reference(reference.target, *(_spread(x, task) for x in reference[1:]))
        return task_command(robot, q, v, task.task, full)[..., constant(task.rows)]
    group, e = task_error(robot, q, task, reference.target)
    ydot = matvec(task.jacobian(robot, q), v)
    motion = group.compare(e, ydot, reference.velocity, reference.acceleration)
    return motion.acceleration + reference.kd * (motion.velocity - ydot) + group.spring(e, reference.kp * e)


def task_error(robot: Robot, q: ConfigurationVector, task: Task, target: Target) -> tuple[Group, TaskVector]:
    """The group a task moves on, and e (..., m) from where it is to the target: log(T⁻¹ T_ref), log(Rᵀ R_ref), y_ref − y."""
    if isinstance(task, FunctionTask):
        return NUMBERS, _target(task, target, task.size) - task.value(robot, q)
    if not isinstance(task, FrameTask):
        raise TorsorError(
            f"the task {task.name!r} says how fast it moves, not where it is: targets are known of tasks of frames and of "
            "functions."
        )
    T = frame_pose(robot, q, task.frame)
    if task.kind == "pose":
        return MOTIONS, se3.log(se3.compose(se3.inverse(T), _target(task, target, 4, 4)))
    if task.kind == "orientation":
        return ROTATIONS, so3.log(matmul(transpose(T[..., :3, :3]), _target(task, target, 3, 3)))
    return NUMBERS, _target(task, target, 3) - T[..., :3, 3]


def _target(task: Task, target: Target, *shape: int) -> Array:
    got = np.shape(target)
    if got[len(got) - len(shape) :] != shape:
        what = {4: "a pose", 3: "a rotation matrix"}[shape[0]] if len(shape) == 2 else "a vector"
        wanted = ", ".join(map(str, shape))
        raise ShapeError(f"the target of task {task.name!r} is {what} with shape (..., {wanted}), got {got}.")
    return target


def _stacked(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: StackedTask, reference: Reference
) -> TaskVector:
    if not isinstance(reference.target, (tuple, list)) or len(reference.target) != len(task.tasks):
        count = len(task.tasks)
        raise ShapeError(f"the targets of task {task.name!r} must be a tuple of {count}, one for each of its parts.")
    parts, first = [], 0
    for one, target in zip(task.tasks, reference.target, strict=True):
        rows = slice(first, first + one.size)
        own = Reference(target, *(x[..., rows] for x in reference[1:]))
        parts.append(task_command(robot, q, v, one, own))
        first = rows.stop
    return concat(parts)


def _spread(x: Array, task: SelectedTask) -> Array:
    """Entries of the selected rows among zeros for the others."""
    columns = [x[..., task.rows.index(k)] if k in task.rows else zeros() for k in range(task.task.size)]
    return stack(columns)
