"""The law of operational-space control, of arguments that are checked: a function of arrays and a task.

Of all accelerations a with J a + J̇ v = ÿ the nearest to a_0, as the inertia measures it, needs the torques [Kha87]::

    τ = M a_0 + C v + g + friction + Jᵀ Λ (ÿ − J̇ v − J a_0)         Λ = (J M⁻¹ Jᵀ)⁻¹

With Λ damped along directions that the robot can hardly move in, as in `tasks.singular_directions`, a_0 is freed of all that the
task feels before, damped or not: a posture pulls along no direction of the task.
"""

from __future__ import annotations

from torsor.arrays import factor, matvec, solve, transpose
from torsor.arrays.typing import ConfigurationVector, JointVector, TaskVector
from torsor.controllers.task_command import Reference, task_command
from torsor.controllers.tracking_error import spring_force
from torsor.functions import difference, inverse_dynamics
from torsor.model import Robot
from torsor.tasks import Task
from torsor.tasks.singular_directions import directions
from torsor.tasks.task_space_dynamics import independent_task, lifted


def operational_space(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task,
    target: TaskVector,
    kp: TaskVector,
    kd: TaskVector,
    velocity: TaskVector,
    acceleration: TaskVector,
    a_0: JointVector,
    scales: TaskVector | None = None,
) -> JointVector:
    """τ (..., nv): ``target`` (..., k) as of `flat_target`, ``scales`` (m,) as of `limit_scales`, none for the exact Λ."""
    reference = Reference(target, velocity, acceleration, kp, kd)
    needed = task_command(robot, q, v, task, reference) - task.drift(robot, q, v)
    if scales is None:
        _, J, lift = independent_task(robot, q, task)
        forces = solve(factor(lift.gram, guarded=True), needed - matvec(J, a_0))
    else:
        J, lift = lifted(robot, q, task)
        along = directions(J, lift, scales)
        a_0, forces = along.unfelt(a_0), along.forces(needed)
    return inverse_dynamics(robot, q, v, a_0) + matvec(transpose(J), forces)


def posture_acceleration(
    robot: Robot, q: ConfigurationVector, v: JointVector, posture: ConfigurationVector, kp: JointVector, kd: JointVector
) -> JointVector:
    """a_0 = J_l(e)⁻ᵀ K_p e − K_d v (..., nv), with e = posture ⊖ q."""
    return spring_force(robot, difference(robot, q, posture), kp) - kd * v
