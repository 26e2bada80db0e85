"""The horizontal lift of a task: of all joint velocities that do the task, those orthogonal to every self-motion."""

from __future__ import annotations

from torsor.arrays.typing import ConfigurationVector, JointMatrix, TaskLift
from torsor.model import Robot
from torsor.tasks.task import Task
from torsor.tasks.weighted_inverse import pseudoinverse, weighted_inverse


def horizontal_lift(
    robot: Robot, q: ConfigurationVector, task: Task | str, metric: JointMatrix | None = None
) -> TaskLift:
    """K(q) with J K = 1 and Kᵀ M ker J = 0: v = K ẏ does the task with the least kinetic energy [Alt04, (14), E004-12].

    K = M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹, which is N⁻¹ (J N⁻¹)⁺ for every NᵀN = M, and J⁺ only where `lifts_agree`.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``metric`` (..., nv, nv),
    symmetric and positive definite, in any unit: the mass matrix if None. Returns (..., nv, m), columns in rad/s or m/s per
    unit of ẏ; NaN where J loses rank, and where the metric is none.
    """
    return weighted_inverse(robot, q, task, metric).lift()


def pseudoinverse_lift(robot: Robot, q: ConfigurationVector, task: Task | str) -> TaskLift:
    """J⁺ = Jᵀ (J Jᵀ)⁻¹: v = J⁺ ẏ does the task with the least Σ v_i², rad² and m² added as numbers [Alt04, (19)].

    It depends on the units and coordinates in which v is written; `horizontal_lift` does not.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. Returns (..., nv, m), columns in
    rad/s or m/s per unit of ẏ; NaN where J loses rank.
    """
    return pseudoinverse(robot, q, task).lift()
