"""Right inverses of a Jacobian that are orthogonal in a metric: what every lift of a task is made of.

Of all K with J K = 1 the one whose columns are orthogonal to ker J in the metric M is::

    K = M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹                J K = 1,   Kᵀ M ker J = 0
      = N⁻¹ (J N⁻¹)⁺                       for every factor NᵀN = M

With M = 1 it is the Moore–Penrose pseudoinverse J⁺, in general it is not [Alt04, (14), (23), E004-12].
"""

from __future__ import annotations

from math import nan
from typing import NamedTuple

from torsor.arrays import absolute, factor, matmul, solve, solve_columns, transpose, where
from torsor.arrays.symmetric import Factors
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix
from torsor.functions import mass_matrix
from torsor.model import Robot
from torsor.model.degenerate import may_be_singular
from torsor.tasks.task import Task, as_task
from torsor.tasks.usual import refuse_dependent_rows, without_vanished_rows

ASYMMETRIC = 1e-6  # of the trace: far more than rounding errors leave, in single precision too


class Raised(NamedTuple):
    """X = M⁻¹ Jᵀ (..., nv, m), and the factors of J X = J M⁻¹ Jᵀ: of full rank where J is, else NaN."""

    J: Array
    X: Array
    gram: Factors

    def lift(self) -> Array:
        """K = X (J X)⁻¹ (..., nv, m)."""
        return transpose(solve_columns(self.gram, transpose(self.X)))

    def coefficients(self, y: Array) -> Array:
        """(J X)⁻¹ y (..., m) of vectors y (..., m)."""
        return solve(self.gram, y)


def raised(robot: Robot, q: ConfigurationVector, task: Task | str, metric: JointMatrix | None) -> Raised:
    """J of a task with its transpose raised by a metric (..., nv, nv), the mass matrix if None."""
    task = as_task(robot, task)
    J = task.jacobian(robot, q)
    if metric is None:
        factors = factor(mass_matrix(robot, q), guarded=may_be_singular(robot))
    else:
        factors = metric_factors(metric)
    return _with_gram(robot, task, J, solve_columns(factors, transpose(J)))


def metric_factors(metric: JointMatrix) -> Factors:
    """The factors of a metric (..., n, n), made of one half of it: NaN where it is not symmetric and positive definite."""
    n = metric.shape[-1]
    largest = sum(absolute(metric[..., k, k]) for k in range(n))
    skew = largest != largest
    for i in range(n):
        for j in range(i):
            skew = skew | (absolute(metric[..., i, j] - metric[..., j, i]) > ASYMMETRIC * largest)
    return factor(where(skew[..., None, None], nan, metric), guarded=True)


def raised_plainly(robot: Robot, q: ConfigurationVector, task: Task | str) -> Raised:
    """The same with the metric 1."""
    task = as_task(robot, task)
    J = task.jacobian(robot, q)
    return _with_gram(robot, task, J, transpose(J))


def _with_gram(robot: Robot, task: Task, J: Array, X: Array) -> Raised:
    refuse_dependent_rows(task, robot)
    return Raised(J, X, factor(without_vanished_rows(robot, task, J, matmul(J, X)), guarded=True))
