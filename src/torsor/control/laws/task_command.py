"""The acceleration that leads a task to its target, as a computed torque would, in the coordinates of the task."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, constant, matmul, matvec, reshape, stack, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.control.laws.task_target import target_shape, target_size
from torsor.control.laws.tracking_error import MOTIONS, NUMBERS, ROTATIONS, Group
from torsor.functions.public.kinematics import frame_pose
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task


class Reference(NamedTuple):
    """Where a task should be (..., k), by `flat_target`, how it should move there (..., m), and the gains (..., m)."""

    target: TaskVector
    velocity: TaskVector
    acceleration: TaskVector
    kp: TaskVector
    kd: TaskVector


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


def task_error(robot: Robot, q: ConfigurationVector, task: Task, target: TaskVector) -> tuple[Group, TaskVector]:
    """The group a task moves on, and e (..., m) from where it is to the target: log(T⁻¹ T_ref), log(Rᵀ R_ref), y_ref − y."""
    goal = reshape(target, 1, *target_shape(task))
    if isinstance(task, FunctionTask):
        return NUMBERS, goal - task.value(robot, q)
    assert isinstance(task, FrameTask), "target_shape knows of no others"
    T = frame_pose(robot, q, task.frame)
    if task.kind == "pose":
        return MOTIONS, se3.log(se3.compose(se3.inverse(T), goal))
    if task.kind == "orientation":
        return ROTATIONS, so3.log(matmul(transpose(T[..., :3, :3]), goal))
    return NUMBERS, goal - T[..., :3, 3]


def _stacked(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: StackedTask, reference: Reference
) -> TaskVector:
    parts, row, number = [], 0, 0
    for one in task.tasks:
        rows, numbers = slice(row, row + one.size), slice(number, number + target_size(one))
        own = Reference(reference.target[..., numbers], *(x[..., rows] for x in reference[1:]))
        parts.append(task_command(robot, q, v, one, own))
        row, number = rows.stop, numbers.stop
    return concat(parts)


def _spread(x: Array, task: SelectedTask) -> Array:
    """Entries of the selected rows among zeros for the others."""
    columns = [x[..., task.rows.index(k)] if k in task.rows else zeros() for k in range(task.task.size)]
    return stack(columns)
