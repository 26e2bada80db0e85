"""How well a robot can do a task: volumes √det of what unit joint velocities, unit energy or unit joint forces give [Yos85].

The three differ in what is bounded, and so in the matrix W of J W Jᵀ:

    manipulability            |v| ≤ 1        W = 1        task velocities        depends on the units of joints
    inertia_manipulability    vᵀ M v ≤ 1     W = M⁻¹      task velocities        of the robot alone
    dynamic_manipulability    |τ| ≤ 1        W = M⁻²      task accelerations     depends on the units of joints

All depend on the units of the task.
"""

from __future__ import annotations

from math import nan

from torsor import functions
from torsor.arrays import factor, inverse, matmul, reshape, sqrt, where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar, TaskMatrix
from torsor.model import Robot
from torsor.tasks.task import Task, as_task
from torsor.tasks.task_space_dynamics import symmetric_product
from torsor.tasks.usual import refuse_dependent_rows, without_vanished_rows


def manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """w = √det(J Jᵀ), the volume (up to a constant) of the task velocities of |v| ≤ 1 [Yos85].

    ``q`` (..., nq), rad or m. Returns (...), units of the task; 0 where the rows of J are dependent.
    """
    J = as_task(robot, task).jacobian(robot, q)
    return sqrt(semidefinite_determinant(symmetric_product(J, J)))


def manipulability_gradient(robot: Robot, q: ConfigurationVector, task: Task | str) -> JointVector:
    """∂_k w = w tr(J⁺ ∂_k J), along the tangent coordinates v [Yos85].

    ``q`` (..., nq), rad or m. Returns (..., nv), units of w per unit of v; NaN where w = 0, for w is not smooth there.
    """
    task = as_task(robot, task)
    refuse_dependent_rows(task, robot)
    J = task.jacobian(robot, q)
    gram = without_vanished_rows(robot, task, J, symmetric_product(J, J))
    transposed = matmul(inverse(factor(gram, guarded=True)), J)  # J⁺ᵀ (..., m, nv)
    m, nv = J.shape[-2:]
    slopes = reshape(task.derivative(robot, q), 3, m * nv, nv)
    traces = matmul(reshape(transposed, 2, 1, m * nv), slopes)[..., 0, :]
    return sqrt(semidefinite_determinant(gram))[..., None] * traces


def inertia_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """√det(J M⁻¹ Jᵀ), the volume of the task velocities of vᵀ M v ≤ 1: 1/√det Λ, whatever the joint coordinates [Yos85; Alt04].

    ``q`` (..., nq), rad or m. Returns (...), units of the task and kg; 0 where the rows of J are dependent.
    """
    J = as_task(robot, task).jacobian(robot, q)
    return sqrt(semidefinite_determinant(symmetric_product(J, matmul(J, functions.inverse_mass_matrix(robot, q)))))


def dynamic_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """√det(J M⁻² Jᵀ), the volume of the task accelerations of joint forces |τ| ≤ 1 from rest, without gravity [Yos85].

    ``q`` (..., nq), rad or m. Returns (...), units of the task, kg and s; 0 where the rows of J are dependent.
    """
    J = as_task(robot, task).jacobian(robot, q)
    X = matmul(J, functions.inverse_mass_matrix(robot, q))
    return sqrt(semidefinite_determinant(symmetric_product(X, X)))


def semidefinite_determinant(A: TaskMatrix) -> Scalar:
    """det A of a positive semidefinite matrix (..., m, m); 0 where some pivot is all rounding error, NaN where A is."""
    determinant: Array = 1.0
    for inverse_pivot in factor(A, guarded=True).inverses:
        determinant = determinant * where(inverse_pivot > 0.0, 1.0 / inverse_pivot, 0.0)  # NaN is not greater
    trace = sum(A[..., k, k] for k in range(A.shape[-1]))
    return where(trace >= 0.0, determinant, nan)
