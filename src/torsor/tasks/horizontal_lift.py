"""The horizontal lift of a task, the dynamically consistent inverse of J: joint velocities orthogonal to every self-motion.

By it joint velocities split in two parts, one that does the task and one that the task does not feel.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import identity
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector, TaskLift
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


class SplitVelocity(NamedTuple):
    """v = horizontal + vertical (..., nv), orthogonal in the metric, rad/s or m/s."""

    horizontal: JointVector
    vertical: JointVector


class VelocityProjectors(NamedTuple):
    """K J and 1 − K J (..., nv, nv), no unit within a joint kind: they add up to 1, and each is its own square."""

    horizontal: JointMatrix
    vertical: JointMatrix


def split_velocity(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: Task | str, metric: JointMatrix | None = None
) -> SplitVelocity:
    """T_qQ = H ⊕ V: v as K J v, which does the task, and the rest, a self-motion with J vertical = 0 [Alt04, (13)].

    The two are orthogonal in the metric, so with the mass matrix their kinetic energies add up.

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. ``task``: a `Task`, or the name of a frame for its body twist.
    ``metric`` (..., nv, nv), in any unit: the mass matrix if None. Returns two arrays (..., nv); NaN where J loses rank.
    """
    horizontal = weighted_inverse(robot, q, task, metric).horizontal(v)
    return SplitVelocity(horizontal, v - horizontal)


def velocity_projectors(
    robot: Robot, q: ConfigurationVector, task: Task | str, metric: JointMatrix | None = None
) -> VelocityProjectors:
    """The matrices of `split_velocity`: K J onto H along V, and 1 − K J onto V = ker J along H [Alt04, (13), (20)].

    Both are symmetric in the metric, M P = (M P)ᵀ. Their transposes split joint forces: Pᵀ τ.

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``metric`` (..., nv, nv), in any
    unit: the mass matrix if None. Returns two arrays (..., nv, nv); NaN where J loses rank.
    """
    horizontal = weighted_inverse(robot, q, task, metric).projector()
    return VelocityProjectors(horizontal, identity(robot.nv) - horizontal)
