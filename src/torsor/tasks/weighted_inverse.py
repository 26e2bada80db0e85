"""Right inverses of a Jacobian that are orthogonal in a metric: what every lift of a task is made of.

Of all K with J K = 1 the one whose columns are orthogonal to ker J in the metric M is::

    K = M⁻¹ Jᵀ Λ,   Λ = (J M⁻¹ Jᵀ)⁻¹       J K = 1,   Kᵀ M ker J = 0
      = N⁻¹ (J N⁻¹)⁺                       for every factor NᵀN = M

With M = 1 it is the Moore–Penrose pseudoinverse J⁺, in general it is not [Alt04, (14), (23), E004-12].

**Near singularities** J M⁻¹ Jᵀ has lost half of the digits of J, so it is not formed. The rows of J are made orthonormal first,
J = Rᵀ Q: what is nearly dependent is all in the triangle R, and Q is a task that is never singular. Then its rows are made
orthonormal in the metric, Q = Uᵀ P with P M⁻¹ Pᵀ = 1. With S = U R and Y = P M⁻¹ ::

    J = Sᵀ P,    K = Yᵀ S⁻ᵀ,    Λ = S⁻¹ S⁻ᵀ,    K J = Yᵀ P

For as many rows as joints K = J⁻¹ = Qᵀ R⁻ᵀ and Λ = Kᵀ M K; with M = 1, P and Y are Q. Errors are ε times the condition of J, plus
that of M. Joints are measured by √M_kk, that no unit matters: J and M are written for v_k √M_kk in what follows.
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

import numpy

from torsor.arrays import (
    Triangle,
    absolute,
    dot,
    factor,
    identity,
    matmul,
    matrix,
    matvec,
    orthonormal_pairs,
    orthonormal_rows,
    outer,
    solve_columns,
    sqrt,
    stack,
    transpose,
    where,
)
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, TaskMatrix, TaskVector
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.tasks.task import Task
from torsor.tasks.task_kinds import as_task
from torsor.tasks.typical_scales import refuse_dependent_rows, vanished_rows

ASYMMETRIC = 1e-6  # of the trace: far more than rounding errors leave, in single precision too


class WeightedInverse(NamedTuple):
    """J and its inverse K in a metric: all NaN where the rows of J are dependent or the metric is none."""

    J: Array
    """(..., m, nv), as it is."""
    P: Array
    """J = Sᵀ P (..., m, nv)."""
    Y: Array
    """P M⁻¹ (..., m, nv); of a square J both are Q."""
    S: Triangle
    dependent: Array
    """Whether the rows of J are dependent (...)."""
    scale: Array | None = None
    """√M_kk (..., nv); None for M = 1."""
    unit: Array | None = None
    """1/√M_kk (..., nv)."""
    metric: Array | None = None
    """M (..., nv, nv) for a square J; else None."""

    def lift(self) -> Array:
        """K (..., nv, m)."""
        return transpose(_by_joint(self.S.solve_columns(self.Y), self.unit))

    def inertia(self) -> TaskMatrix:
        """Λ (..., m, m)."""
        if self.metric is None:
            half = self.S.solve_columns(identity(self.J.shape[-2]))
            return symmetric_product(half, half)
        K = self.S.solve_columns(self.Y)
        return symmetric_product(K, matmul(K, self.metric))

    def weighed(self, y: TaskVector) -> TaskVector:
        """S⁻ᵀ y (..., m) of vectors y (..., m): Λ y is `forces` of it."""
        z = self.S.solve_transposed(y)
        if self.metric is None:
            return z
        return matvec(self.P, matvec(self.metric, matvec(transpose(self.Y), z)))

    def felt(self, tau: JointVector) -> TaskVector:
        """Y τ (..., m) of vectors τ (..., nv): Kᵀ τ is `forces` of it."""
        return matvec(self.Y, tau if self.unit is None else tau * self.unit)

    def forces(self, z: TaskVector) -> TaskVector:
        """S⁻¹ z (..., m)."""
        return self.S.solve(z)

    def torques(self, z: TaskVector) -> JointVector:
        """Jᵀ S⁻¹ z = Pᵀ z (..., nv)."""
        tau = matvec(transpose(self.P), z)
        return tau if self.scale is None else tau * self.scale

    def motion(self, y: TaskVector) -> JointVector:
        """K y (..., nv) of vectors y (..., m)."""
        return self._along_joints(self.S.solve_transposed(y))

    def horizontal(self, v: JointVector) -> JointVector:
        """K J v = Yᵀ P v (..., nv) of vectors v (..., nv)."""
        return self._along_joints(matvec(self.P, v if self.scale is None else v * self.scale))

    def projector(self) -> JointMatrix:
        """K J = Yᵀ P (..., nv, nv)."""
        m, n = self.J.shape[-2:]
        if m == n:
            return where(self.dependent[..., None, None], nan, identity(n))
        return matmul(transpose(_by_joint(self.Y, self.unit)), _by_joint(self.P, self.scale))

    def _along_joints(self, z: TaskVector) -> JointVector:
        v = matvec(transpose(self.Y), z)
        return v if self.unit is None else v * self.unit


def weighted_inverse(
    robot: Robot, q: ConfigurationVector, task: Task | str, metric: JointMatrix | None = None
) -> WeightedInverse:
    """That of a task in a metric (..., nv, nv), the mass matrix if None."""
    task = as_task(robot, task)
    refuse_dependent_rows(task, robot)
    J = task.jacobian(robot, q)
    vanished = vanished_rows(robot, task, J)
    if metric is None:
        return inverse_in_metric(J, mass_matrix(robot, q), vanished, guarded=may_be_singular(robot))
    return inverse_in_metric(J, symmetric_or_nan(metric), vanished, guarded=True)


def pseudoinverse(robot: Robot, q: ConfigurationVector, task: Task | str) -> WeightedInverse:
    """The same with the metric 1."""
    task = as_task(robot, task)
    refuse_dependent_rows(task, robot)
    J = task.jacobian(robot, q)
    return inverse_in_metric(J, None, vanished_rows(robot, task, J), guarded=False)


def inverse_in_metric(J: Array, M: Array | None, vanished: list[Array] | None, *, guarded: bool) -> WeightedInverse:
    """That of a matrix J (..., m, nv) in a metric (..., nv, nv), 1 if None. ``guarded``: the metric may be none."""
    m, n = J.shape[-2:]
    if M is None:
        Q, R, dependent = orthonormal_rows(J, vanished, twice=True)
        return WeightedInverse(J, Q, Q, R, dependent)
    with numpy.errstate(all="ignore"):
        scale = sqrt(absolute(stack([M[..., k, k] for k in range(n)])))
        unit = 1.0 / scale
        M, measured = M * outer(unit, unit), _by_joint(J, unit)
    if m == n:
        if guarded:  # J⁻¹ has nothing to do with the metric; what is none leaves NaN all the same
            sound = factor(M, guarded=True).inverses[0] > 0.0
            measured = where(sound[..., None, None], measured, nan)
        Q, R, dependent = orthonormal_rows(measured, vanished, twice=True)
        return WeightedInverse(J, Q, Q, R, dependent, scale, unit, M)
    Q, R, dependent = orthonormal_rows(measured, vanished, twice=False)
    P, Y, U = orthonormal_pairs(Q, transpose(solve_columns(factor(M, guarded=guarded), transpose(Q))))
    return WeightedInverse(J, P, Y, U.times(R), dependent, scale, unit)


def symmetric_or_nan(metric: JointMatrix) -> JointMatrix:
    """A metric (..., n, n) as it is, NaN where it is not symmetric."""
    n = metric.shape[-1]
    largest = sum(absolute(metric[..., k, k]) for k in range(n))
    skew = largest != largest
    for i in range(n):
        for j in range(i):
            skew = skew | (absolute(metric[..., i, j] - metric[..., j, i]) > ASYMMETRIC * largest)
    return where(skew[..., None, None], nan, metric)


def symmetric_product(A: Array, B: Array) -> Array:
    """A Bᵀ (..., m, m) if that is symmetric, each entry computed once."""
    m = A.shape[-2]
    rows = [[A[..., i, :] for i in range(m)], [B[..., i, :] for i in range(m)]]
    entries = {(i, j): dot(rows[0][i], rows[1][j]) for i in range(m) for j in range(i, m)}
    return matrix([[entries[min(i, j), max(i, j)] for j in range(m)] for i in range(m)])


def _by_joint(A: Array, unit: Array | None) -> Array:
    """The columns of A (..., m, nv), each times its unit (..., nv)."""
    return A if unit is None else A * unit[..., None, :]
