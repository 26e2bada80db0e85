"""Joint velocities in two parts: one that does the task, one that the task does not feel."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import identity
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.model import Robot
from torsor.tasks.task import Task
from torsor.tasks.weighted_inverse import weighted_inverse


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
