"""Dynamics in the coordinates of a task: Λ ÿ + η = F, with τ = Jᵀ F + Nᵀ τ₀ [LP, (9.91)–(9.99), E002-11; Kha87].

With ẏ = J v and M a + C v + g = τ::

    Λ = (J M⁻¹ Jᵀ)⁻¹,   η = Λ (J M⁻¹ (C v + g) − J̇ v),   J̄ = M⁻¹ Jᵀ Λ,   N = 1 − J̄ J

For as many rows as joints these are J⁻ᵀ M J⁻¹ and J⁻ᵀ (C v + g) − Λ J̇ v; for fewer, N projects on the motions that the task
does not see, and no torque Nᵀ τ₀ accelerates the task: J M⁻¹ Nᵀ = 0.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import one_line
from torsor.arrays import (
    as_numbers,
    factor,
    identity,
    matvec,
    solve_columns,
    transpose,
)
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointMatrix,
    JointVector,
    TaskJacobian,
    TaskLift,
    TaskMatrix,
    TaskVector,
)
from torsor.errors import ShapeError
from torsor.functions.public import dynamics
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.tasks.task import Task
from torsor.tasks.task_kinds import as_task
from torsor.tasks.weighted_inverse import symmetric_product, weighted_inverse


class TaskSpaceDynamics(NamedTuple):
    """Dynamics of a task, Λ ÿ + η = F: ``.inertia`` Λ, ``.bias`` η = ``.coriolis`` + ``.gravity``, ``.jacobian`` J,
    ``.drift`` J̇ v, ``.inverse`` J̄ (dynamically consistent), ``.projector`` N; m rows of the task, units of the task throughout.
    """

    inertia: TaskMatrix
    """Λ (..., m, m), symmetric positive definite: the inertia felt by forces along the task."""
    bias: TaskVector
    """η (..., m): Coriolis and gravity terms; friction and springs excluded."""
    coriolis: TaskVector
    """The part of η due to velocity (..., m)."""
    gravity: TaskVector
    """The part of η due to gravity (..., m)."""
    jacobian: TaskJacobian
    """J (..., m, nv)."""
    drift: TaskVector
    """J̇ v (..., m)."""
    inverse: TaskLift
    """J̄ (..., nv, m), the dynamically consistent inverse: of all motions with ẏ = J v, J̄ ẏ has the least kinetic energy."""
    projector: JointMatrix
    """N (..., nv, nv) on the motions without effect on the task; torques that are not felt by it are Nᵀ τ₀."""

    def __repr__(self) -> str:
        return one_line(self)

    def torques(self, acceleration: TaskVector, *, null: JointVector | None = None) -> JointVector:
        """τ = Jᵀ (Λ ÿ + η) + Nᵀ τ₀ (..., nv), N·m or N, for an acceleration (..., m) of the task; no friction, no springs."""
        acceleration = as_numbers(acceleration)
        if acceleration.shape[-1:] != self.bias.shape[-1:]:
            raise ShapeError(
                f"torques: `acceleration` must have shape (..., {self.bias.shape[-1]}), got {acceleration.shape}."
            )
        tau = matvec(transpose(self.jacobian), matvec(self.inertia, acceleration) + self.bias)
        return tau if null is None else tau + matvec(transpose(self.projector), null)


def task_space_dynamics(robot: Robot, q: ConfigurationVector, v: JointVector, task: Task | str) -> TaskSpaceDynamics:
    """Inertia, bias and projector in the coordinates of a task, Λ ÿ + η = F [LP, (9.91)–(9.99), E002-11; Kha87].

    Operational-space dynamics.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    TaskSpaceDynamics
        In units of the task: for a pose Λ in kg·m², kg·m and kg, η in N·m and N. NaN where the rows of J are dependent: see
        `damped_task_space_dynamics`.
    """
    task = as_task(robot, task)
    up = weighted_inverse(robot, q, task)
    drift = task.drift(robot, q, v)
    coriolis = up.forces(up.felt(dynamics.coriolis_forces(robot, q, v)) - up.weighed(drift))
    gravity = up.forces(up.felt(dynamics.gravity_forces(robot, q)))
    projector = identity(robot.nv) - up.projector()
    return TaskSpaceDynamics(up.inertia(), coriolis + gravity, coriolis, gravity, up.J, drift, up.lift(), projector)


def task_space_inverse_dynamics(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task | str,
    acceleration: TaskVector,
    *,
    null: JointVector | None = None,
) -> JointVector:
    """Joint forces that give a task an acceleration: τ = Jᵀ (Λ ÿ + η) + Nᵀ τ₀ + friction + springs [Kha87].

    Joint friction and springs are made up for in full, as by `inverse_dynamics`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    acceleration : (..., m) array
        ÿ, in units of the task, per s².
    null : (..., nv) array, optional
        Joint forces τ₀, N·m or N, that move a redundant robot within what the task leaves free; without them nothing holds that
        motion, not even against gravity.

    Returns
    -------
    (..., nv) array
        N·m or N; NaN where the rows of J are dependent.
    """
    task = as_task(robot, task)
    check_rows("acceleration", acceleration, task)
    up = weighted_inverse(robot, q, task)
    opposing = dynamics.bias_forces(robot, q, v)
    if null is not None:
        opposing = opposing - null
    tau = up.torques(up.weighed(acceleration - task.drift(robot, q, v)) + up.felt(opposing))
    tau = plus_springs(robot, q, tau + dynamics.friction_forces(robot, v))
    return tau if null is None else tau + null


def task_space_forward_dynamics(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: Task | str, forces: TaskVector
) -> TaskVector:
    """Acceleration that forces along a task produce: ÿ = Λ⁻¹ (F − η) − J M⁻¹ (friction + springs), for τ = Jᵀ F [LP, (9.97)].

    No inverse of Λ⁻¹ = J M⁻¹ Jᵀ is needed, so that it is right at singularities too.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    forces : (..., m) array
        F along the task, N·m or N for a pose.

    Returns
    -------
    (..., m) array
        ÿ, in units of the task, per s².
    """
    task = as_task(robot, task)
    check_rows("forces", forces, task)
    J = task.jacobian(robot, q)
    a = dynamics.forward_dynamics(robot, q, v, matvec(transpose(J), forces))
    return matvec(J, a) + task.drift(robot, q, v)


def task_forces_to_torques(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    forces: TaskVector,
    *,
    null: JointVector | None = None,
) -> JointVector:
    """Joint forces of forces along a task: τ = Jᵀ F + Nᵀ τ₀ [LP, (9.96); Kha87].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    forces : (..., m) array
        F along the task, N·m or N for a pose.
    null : (..., nv) array, optional
        Joint forces τ₀, N·m or N, of which Nᵀ τ₀ is applied: what the task does not feel.

    Returns
    -------
    (..., nv) array
        N·m or N.
    """
    task = as_task(robot, task)
    check_rows("forces", forces, task)
    if null is None:
        return matvec(transpose(task.jacobian(robot, q)), forces)
    up = weighted_inverse(robot, q, task)
    return null + matvec(transpose(up.J), forces) - up.torques(up.felt(null))


def torques_to_task_forces(robot: Robot, q: ConfigurationVector, task: Task | str, tau: JointVector) -> TaskVector:
    """Forces along a task that joint forces amount to: F = J̄ᵀ τ, so that Jᵀ F accelerates it as τ does [Kha87].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    tau : (..., nv) array
        Joint forces, N·m or N.

    Returns
    -------
    (..., m) array
        N·m or N for a pose.
    """
    up = weighted_inverse(robot, q, task)
    return up.forces(up.felt(tau))


def workspace_acceleration(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: Task | str, tau: JointVector
) -> TaskVector:
    """Acceleration of a task, ÿ = J M⁻¹ (τ − C v − g − friction − springs) + J̇ v [Alt04, (18), E004-9].

    The exact equation of a chain, redundant or not; it is right at singularities too.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    tau : (..., nv) array
        Joint forces, N·m or N.

    Returns
    -------
    (..., m) array
        In units of the task, per s².
    """
    task = as_task(robot, task)
    a = dynamics.forward_dynamics(robot, q, v, tau)
    return matvec(task.jacobian(robot, q), a) + task.drift(robot, q, v)


class Lift(NamedTuple):
    """What damping by direction is made of: J M⁻¹ (..., m, nv) and J M⁻¹ Jᵀ (..., m, m)."""

    transposed: Array
    gram: Array


def lifted(robot: Robot, q: ConfigurationVector, task: Task) -> tuple[TaskJacobian, Lift]:
    """J, J M⁻¹ and J M⁻¹ Jᵀ of any task."""
    J = task.jacobian(robot, q)
    M = factor(dynamics.mass_matrix(robot, q), guarded=may_be_singular(robot))
    X = transpose(solve_columns(M, transpose(J)))
    return J, Lift(X, symmetric_product(J, X))


def check_rows(name: str, x: Array, task: Task) -> None:
    """Refuse what has not one number for each row of a task."""
    if x.shape[-1] != task.size:
        raise ShapeError(
            f"`{name}` must have shape (..., {task.size}) for task {task.name!r} ({', '.join(task.labels)}), got "
            f"{tuple(x.shape)}."
        )
