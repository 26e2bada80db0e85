"""How well a robot can do a task: volumes √det of what unit joint velocities, unit energy or unit joint forces give [Yos85].

The three differ in what is bounded, and so in the matrix W of J W Jᵀ:

    manipulability            |v| ≤ 1        W = 1        task velocities        depends on the units of joints
    inertia_manipulability    vᵀ M v ≤ 1     W = M⁻¹      task velocities        of the robot alone
    dynamic_manipulability    |τ| ≤ 1        W = M⁻²      task accelerations     depends on the units of joints

All depend on the units of the task. The volume of J = Rᵀ Q is that of Q times Π R_ii: near singularities as good as J is.
"""

from __future__ import annotations

from functools import reduce
from math import nan
from operator import mul

from torsor.arrays import OrthonormalRows, dot, factor, matmul, orthonormal_rows, reshape, sqrt, where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.functions.public import dynamics
from torsor.model import Robot
from torsor.tasks.task import Task, as_task
from torsor.tasks.typical_scales import refuse_dependent_rows, vanished_rows
from torsor.tasks.weighted_inverse import symmetric_product


def manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """w = √det(J Jᵀ), the volume (up to a constant) of the task velocities of |v| ≤ 1 [Yos85].

    ``q`` (..., nq), rad or m. Returns (...), units of the task; 0 where the rows of J are dependent.
    """
    J = as_task(robot, task).jacobian(robot, q)
    return _volume(J, orthonormal_rows(J, twice=False))


def manipulability_gradient(robot: Robot, q: ConfigurationVector, task: Task | str) -> JointVector:
    """∂_k w = w tr(J⁺ ∂_k J), along the tangent coordinates v [Yos85].

    ``q`` (..., nq), rad or m. Returns (..., nv), units of w per unit of v; NaN where w = 0, for w is not smooth there.
    """
    task = as_task(robot, task)
    refuse_dependent_rows(task, robot)
    J = task.jacobian(robot, q)
    rows = orthonormal_rows(J, vanished_rows(robot, task, J), twice=True)
    transposed = rows.R.solve_columns(rows.Q)  # J⁺ᵀ (..., m, nv)
    m, nv = J.shape[-2:]
    slopes = reshape(task.derivative(robot, q), 3, m * nv, nv)
    traces = matmul(reshape(transposed, 2, 1, m * nv), slopes)[..., 0, :]
    return _volume(J, rows)[..., None] * traces


def inertia_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """√det(J M⁻¹ Jᵀ), the volume of the task velocities of vᵀ M v ≤ 1: 1/√det Λ, whatever the joint coordinates [Yos85; Alt04].

    ``q`` (..., nq), rad or m. Returns (...), units of the task and kg; 0 where the rows of J are dependent.
    """
    J, M_inverse = as_task(robot, task).jacobian(robot, q), dynamics.inverse_mass_matrix(robot, q)
    rows = orthonormal_rows(J, twice=False)
    pivots = factor(symmetric_product(rows.Q, matmul(rows.Q, M_inverse)), guarded=False).inverses
    return _volume(J, rows, 1.0 / sqrt(reduce(mul, pivots)))


def dynamic_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """√det(J M⁻² Jᵀ), the volume of the task accelerations of joint forces |τ| ≤ 1 from rest, without gravity [Yos85].

    ``q`` (..., nq), rad or m. Returns (...), units of the task, kg and s; 0 where the rows of J are dependent.
    """
    X = matmul(as_task(robot, task).jacobian(robot, q), dynamics.inverse_mass_matrix(robot, q))
    return _volume(X, orthonormal_rows(X, twice=False))


def _volume(A: Array, rows: OrthonormalRows, of_rows: Array = 1.0) -> Scalar:
    """√det(A W Aᵀ) (...) of A = Rᵀ Q and √det(Q W Qᵀ); 0 where the rows of A are dependent, NaN where it is not finite."""
    squares = sum(dot(A[..., k, :], A[..., k, :]) for k in range(A.shape[-2]))
    volume = where(rows.dependent, 0.0, reduce(mul, rows.R.diagonal) * of_rows)
    return where(squares >= 0.0, volume, nan)
