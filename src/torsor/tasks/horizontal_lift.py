"""The horizontal lift of a task, the dynamically consistent inverse of J: joint velocities orthogonal to every self-motion.

By it joint velocities split in two parts, one that does the task and one that the task does not feel.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import one_line
from torsor.arrays import identity
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector, TaskLift
from torsor.model import Robot
from torsor.tasks.task import Task
from torsor.tasks.weighted_inverse import pseudoinverse, weighted_inverse


def horizontal_lift(
    robot: Robot, q: ConfigurationVector, task: Task | str, *, metric: JointMatrix | None = None
) -> TaskLift:
    """Horizontal lift K(q) of a task, with J K = 1 and Kᵀ M ker J = 0 [Alt04, (14), E004-12].

    Known as the dynamically consistent inverse J̄ of J: v = K ẏ does the task with the least kinetic energy.
    K = M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁻¹, which is N⁻¹ (J N⁻¹)⁺ for every NᵀN = M, and J⁺ only where `lifts_agree`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    metric : (..., nv, nv) array, optional
        Symmetric and positive definite, in any unit; the mass matrix if not given.

    Returns
    -------
    (..., nv, m) array
        Columns in rad/s or m/s per unit of ẏ; NaN where J loses rank, and where the metric is none.
    """
    return weighted_inverse(robot, q, task, metric).lift()


def pseudoinverse_lift(robot: Robot, q: ConfigurationVector, task: Task | str) -> TaskLift:
    """Moore–Penrose pseudoinverse J⁺ = Jᵀ (J Jᵀ)⁻¹ of a task [Alt04, (19)].

    v = J⁺ ẏ does the task with the least Σ v_i², rad² and m² added as numbers. It depends on the units and coordinates in which
    v is written; `horizontal_lift` does not.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    (..., nv, m) array
        Columns in rad/s or m/s per unit of ẏ; NaN where J loses rank.
    """
    return pseudoinverse(robot, q, task).lift()


class SplitVelocity(NamedTuple):
    """v = horizontal + vertical (..., nv), orthogonal in the metric, rad/s or m/s."""

    horizontal: JointVector
    vertical: JointVector

    def __repr__(self) -> str:
        return one_line(self)


class VelocityProjectors(NamedTuple):
    """K J and 1 − K J (..., nv, nv), no unit within a joint kind: they add up to 1, and each is its own square."""

    horizontal: JointMatrix
    vertical: JointMatrix

    def __repr__(self) -> str:
        return one_line(self)


def split_velocity(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: Task | str, *, metric: JointMatrix | None = None
) -> SplitVelocity:
    """Joint velocities in two parts: K J v, which does the task, and a self-motion, T_qQ = H ⊕ V [Alt04, (13)].

    The task does not feel the second, J vertical = 0. The two are orthogonal in the metric, so with the mass matrix their
    kinetic energies add up.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    metric : (..., nv, nv) array, optional
        Symmetric and positive definite, in any unit; the mass matrix if not given.

    Returns
    -------
    SplitVelocity
        ``horizontal`` and ``vertical`` (..., nv), rad/s or m/s; NaN where J loses rank.
    """
    horizontal = weighted_inverse(robot, q, task, metric).horizontal(v)
    return SplitVelocity(horizontal, v - horizontal)


def velocity_projectors(
    robot: Robot, q: ConfigurationVector, task: Task | str, *, metric: JointMatrix | None = None
) -> VelocityProjectors:
    """Matrices of `split_velocity`: K J onto H along V, and 1 − K J onto V = ker J along H [Alt04, (13), (20)].

    Both are symmetric in the metric, M P = (M P)ᵀ. Their transposes split joint forces: Pᵀ τ. The second is the dynamically
    consistent null-space projector.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    metric : (..., nv, nv) array, optional
        Symmetric and positive definite, in any unit; the mass matrix if not given.

    Returns
    -------
    VelocityProjectors
        ``horizontal`` and ``vertical`` (..., nv, nv); NaN where J loses rank.
    """
    horizontal = weighted_inverse(robot, q, task, metric).projector()
    return VelocityProjectors(horizontal, identity(robot.nv) - horizontal)
