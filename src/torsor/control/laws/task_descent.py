"""Steps of Newton's method that lead a task of any kind towards its target, and a loop of them in machine code.

With e the error of a task, angles and lengths each measured by how much joints usually do to them, r = S⁻¹ e, what is to
vanish is E = ½ rᵀ r. A step u changes e by −A u, and ::

    u = argmin ½ |r − S⁻¹ A u|² + ½ λ |u|²        λ = μ E

is as in `reaching.newton_step`, without limits. Where E has a minimum above 0 the target is out of reach, and steps lead to the
nearest that is not. Of a pose T = (R, p) with the target (R*, p*), e = (log(Rᵀ R*), Rᵀ (p* − p)), so that |e| has an angle and a
distance, and A = (J_ω, J_v − [e_p] J_ω), but for the factor J_l⁻¹ of the angle, which no gradient of E has; elsewhere e is that
of the control law, and A = J_l(e)⁻¹ J.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays import absolute, concat, constant, dot, matmul, matvec, reshape, transpose, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar, TaskJacobian, TaskVector
from torsor.compiler.scan import Scan
from torsor.control.laws.task_command import task_error
from torsor.control.laws.task_target import target_size
from torsor.functions.compile import scan
from torsor.functions.public.kinematics import frame_pose, integrate
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks import FrameTask, SelectedTask, StackedTask, Task
from torsor.tasks._inverse_kinematics.newton_step import FLOOR, START, least_squares, next_damping
from torsor.tasks.typical_scales import VANISHED, usual_rows

KEPT = 64


class Descent(NamedTuple):
    """Where K states came to: ``q`` (K, nq), E (K,), and the largest entry of r (K,), about rad."""

    q: Array
    E: Array
    left: Array


class Errors(NamedTuple):
    """e (..., m), and A (..., m, nv) with ė = −A v."""

    e: TaskVector
    rate: TaskJacobian


def descend(robot: Robot, task: Task, q: Array, goals: Array, steps: int) -> Descent:
    """So many steps from q (K, nq) towards goals (K, k)."""
    loop = _loop(task, robot)
    end = loop(steps=steps, every=steps, q=q, damping=np.full(len(q), START), goal=goals)
    return Descent(*(end[name][:, 0] for name in ("q", "E", "left")))


@remembered(KEPT)
def _loop(task: Task, robot: Robot) -> Scan:
    unit = row_units(task, robot)

    def towards_target(robot: Robot, q: Array, damping: Array, goal: Array) -> dict[str, Array]:
        return task_step(robot, q, damping, goal, task, unit)

    return scan(towards_target, robot, {"q": robot.nq, "damping": ()}, constants={"goal": target_size(task)})


def row_units(task: Task, robot: Robot) -> Array:
    """What rows are measured by (m,): the usual length of rows of J, one for all angles of a frame and one for its lengths."""
    if isinstance(task, SelectedTask):
        return row_units(task.task, robot)[list(task.rows)]
    if isinstance(task, StackedTask):
        return np.concatenate([row_units(one, robot) for one in task.tasks])
    rows = usual_rows(task, robot)
    if isinstance(task, FrameTask):
        groups = np.split(rows, 2) if task.size == 6 else [rows]
        rows = np.concatenate([np.full(3, np.sqrt(np.mean(group * group))) for group in groups])
    longest = rows.max()
    return np.where(rows > VANISHED * longest, rows, longest) if longest > 0.0 else np.ones(task.size)


def task_step(
    robot: Robot, q: ConfigurationVector, damping: Scalar, goal: TaskVector, task: Task, unit: TaskVector
) -> dict[str, Array]:
    """The next q and damping μ, with E after the step and the largest entry of r."""
    e, A = task_errors(robot, q, task, goal)
    r, B = e / unit, A / unit[:, None]
    E = 0.5 * dot(r, r)
    u = least_squares(B, r, damping * E + FLOOR)
    q_next = integrate(robot, q, u, constant(1.0))
    r_next = task_errors(robot, q_next, task, goal).e / unit
    E_next = 0.5 * dot(r_next, r_next)
    foreseen = r - matvec(B, u)
    gain = (E - E_next) / (E - 0.5 * dot(foreseen, foreseen) + 1e-300)
    better = (E_next < E)[..., None]  # not if it is NaN
    r_now = where(better, r_next, r)
    left = absolute(r_now[..., 0])
    for k in range(1, task.size):
        entry = absolute(r_now[..., k])
        left = where(entry > left, entry, left)
    return {
        "q": where(better, q_next, q),
        "damping": next_damping(damping, gain),
        "E": where(E_next < E, E_next, E),
        "left": left,
    }


def task_errors(robot: Robot, q: ConfigurationVector, task: Task, goal: TaskVector, whole: bool = True) -> Errors:
    """The error of a task, with all its rows or not, and how it changes; ``goal`` (..., k) as of `flat_target`."""
    if isinstance(task, StackedTask):
        parts, place = [], 0
        for one in task.tasks:
            numbers = slice(place, place + target_size(one))
            parts.append(task_errors(robot, q, one, goal[..., numbers]))
            place = numbers.stop
        errors, rates = zip(*parts, strict=True)
        return Errors(concat(list(errors)), concat(list(rates), axis=-2))
    if isinstance(task, SelectedTask):
        e, A = task_errors(robot, q, task.task, goal, whole=False)
        rows = constant(task.rows)
        return Errors(e[..., rows], A[..., rows, :])
    J = task.jacobian(robot, q)
    if whole and isinstance(task, FrameTask) and task.kind == "pose":
        return _of_pose(frame_pose(robot, q, task.frame), J, goal)
    group, e = task_error(robot, q, task, goal)
    return Errors(e, transpose(group.rate(e[..., None, :], transpose(J))))


def _of_pose(T: Array, J: TaskJacobian, goal: TaskVector) -> Errors:
    X = se3.compose(se3.inverse(T), reshape(goal, 1, 4, 4))
    e_p = se3.translation(X)
    rate = J[..., 3:, :] - matmul(so3.hat(e_p), J[..., :3, :])
    return Errors(concat([so3.log(se3.rotation(X)), e_p]), concat([J[..., :3, :], rate], axis=-2))
