"""Operational-space control: a task driven to its target with the robot's own dynamics cancelled, the rest to a posture."""

from __future__ import annotations

from torsor.arrays import checked, factor, matvec, solve, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.controllers.gains import gains, one_for_each
from torsor.controllers.task_command import Reference, Target, task_command
from torsor.controllers.tracking_error import spring_force
from torsor.errors import ShapeError
from torsor.functions import difference, inverse_dynamics
from torsor.model import Robot
from torsor.tasks import Task, as_task
from torsor.tasks.singular_directions import directions, limit_scales
from torsor.tasks.task_space_dynamics import independent_task, lifted


@checked
def operational_space(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task | str,
    target: Target,
    kp: Array,
    kd: Array,
    velocity: TaskVector | None = None,
    acceleration: TaskVector | None = None,
    posture: ConfigurationVector | None = None,
    posture_kp: Array = 0.0,
    posture_kd: Array = 0.0,
    limit: float = 0.0,
) -> JointVector:
    """τ = τ_0 + Jᵀ Λ (ÿ − J̇ v − J a_0): a task to its target, in what is left free the robot to a posture [Kha87].

    τ_0 = M a_0 + C v + g + friction is what the posture alone would have, and of all accelerations with which the task does as
    it should, the one that results is nearest to a_0 as the inertia measures it: Nᵀ τ_0 is what remains of it::

        a_0 = J_l(e)⁻ᵀ K_p e − K_d v                         with e = posture ⊖ q and its gains
        ÿ   = a_r + K_d (v_r − ẏ) + J_l(e)⁻ᵀ K_p e           with e from the task to its target

    ``target``: the pose (..., 4, 4) of a frame in base axes, a rotation (..., 3, 3) or position (..., 3), by the kind of the
    task; a vector for a function; of a selection of rows, that of the whole task; of stacked tasks, a tuple. The task moves
    there with ``velocity`` and ``acceleration`` (..., m), in axes of the target (zero if not given). A task error obeys
    ë + K_d ė + K_p e = 0, and on poses what `computed_torque` says of free joints.

    ``q``, ``posture`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; gains are numbers or one for each row or entry of v:
    ``kp``, ``posture_kp``, 1/s², ``kd``, ``posture_kd``, 1/s. Returns (..., nv), N·m or N.

    **Near singularities** ``limit`` > 0, 1e-3 for instance, keeps torques bounded: along directions whose mobility is below it
    the task is followed only as far as bounded forces do, all others exactly, as `damped_task_space_dynamics` says; the
    task may then have more rows than the robot has freedoms. Without it torques are NaN where the rows of J are dependent.
    """
    where = "operational_space"
    own = as_task(robot, task)
    J, lift = lifted(robot, q, own) if limit else independent_task(robot, q, own)[1:]
    kp, kd = (one_for_each(gains(where, name, k, own.size, "row"), own.size) for name, k in (("kp", kp), ("kd", kd)))
    ydot_ref, yddot_ref = (
        _rows(where, name, x, own) for name, x in (("velocity", velocity), ("acceleration", acceleration))
    )
    a_0 = -gains(where, "posture_kd", posture_kd, robot.nv, "entry of v") * v
    if posture is not None:
        stiffness = gains(where, "posture_kp", posture_kp, robot.nv, "entry of v")
        a_0 = a_0 + spring_force(robot, difference(robot, q, posture), stiffness)
    needed = task_command(robot, q, v, own, Reference(target, ydot_ref, yddot_ref, kp, kd)) - own.drift(robot, q, v)
    if limit:
        along = directions(J, lift, limit_scales(own, robot, limit))
        a_0, forces = along.unfelt(a_0), along.forces(needed)
    else:
        forces = solve(factor(lift.gram, guarded=True), needed - matvec(J, a_0))
    return inverse_dynamics(robot, q, v, a_0) + matvec(transpose(J), forces)


def _rows(where: str, name: str, x: TaskVector | None, task: Task) -> TaskVector:
    if x is None:
        return zeros(task.size)
    if x.shape[-1] != task.size:
        raise ShapeError(f"{where}: `{name}` must have shape (..., {task.size}) for task {task.name!r}, got {x.shape}.")
    return x
