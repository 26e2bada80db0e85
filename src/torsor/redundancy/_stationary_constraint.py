"""Configurations that are best among all with the same value of the task, as a constraint: Baillieul's extended Jacobian.

Along a fibre of the task a function g is stationary where its slope has no part in ker J. With P = 1 − J⁺J, and a basis Z₀ of
ker J at one configuration, that is nv − m equations [Bai85]::

    h(q) = Z₀ᵀ P(q) ∂g(q) = 0

as long as Z₀ᵀ is regular on ker J, as it is near q₀. Bases of ker J itself cannot in general be carried along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torsor.arrays import as_numbers, constant, matvec
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.model import Robot
from torsor.redundancy.extended_jacobian import refuse_no_redundancy
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.vertical_basis import vertical_basis
from torsor.tasks import Task, as_task, function_task
from torsor.tasks._function_task import refuse_other_arguments
from torsor.tasks.weighted_inverse import pseudoinverse

Objective = Callable[[Robot, Array], Array]  # (robot, q (nq,)) → a number


@explained
def stationary_constraint(robot: Robot, task: Task | str, objective: Objective, q0: ConfigurationVector) -> Task:
    """h = Z₀ᵀ (1 − J⁺J) ∂g, for `extended_jacobian_lift`: where it vanishes, g is stationary along self-motions [Bai85].

    Lifts of curves that begin where h = 0 stay where g is stationary, best if they began at the best; others keep the h that they
    began with. Algorithmic singularities are where the second derivative of g along some self-motion vanishes: a best and a
    worst configuration meet there. The lift needs two derivatives of g and `is_repeatable` three: of the manipulability of seven
    joints they are compiled in a second and in some ten.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    task : Task or str
        m rows; the name of a frame means its body twist.
    objective : function
        g(robot, q) → a number, in any unit, made of torsor's functions and NumPy's: ``torsor.tasks.manipulability`` of a task, a
        distance, a sum of squares.
    q0 : array
        A configuration (nq,), rad or m, where Z₀ is taken. h is good where self-motions are not orthogonal to those here.

    Returns
    -------
    Task
        nv − m rows, the values and derivatives of h, in units of g per rad or m.
    """
    q0 = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_no_redundancy(robot, found)
    refuse_other_arguments("`objective` must take (robot, q)", objective, robot, q0)
    Z = vertical_basis(robot, found, q0)
    held = function_task(ProjectedSlope(found, _Number(objective), tuple(map(tuple, Z.tolist()))), len(Z))
    held.key_for(robot)  # traces it: what cannot be traced is refused here
    return held


@dataclass(frozen=True)
class ProjectedSlope:
    """h of one configuration: the slope of g along the directions of ``rows`` (nv − m of nv), what J feels taken out."""

    task: Task
    objective: _Number
    rows: tuple[tuple[float, ...], ...]

    @property
    def __name__(self) -> str:
        return f"stationary {self.objective.__name__}"

    def __call__(self, robot: Robot, q: Array) -> Array:
        """H (nv − m,)."""
        slope = function_task(self.objective, 1).jacobian(robot, q)[..., 0, :]
        return matvec(constant(np.array(self.rows)), slope - pseudoinverse(robot, q, self.task).horizontal(slope))


@dataclass(frozen=True)
class _Number:
    """An objective as a function of one row, whether it gives a number () or (1,)."""

    objective: Objective

    @property
    def __name__(self) -> str:
        return str(getattr(self.objective, "__name__", "objective"))

    def __call__(self, robot: Robot, q: Array) -> Array:
        value = as_numbers(self.objective(robot, q))
        return value if np.shape(value) == (1,) else value[..., None]
