"""Joint springs: linear ones, on joints with one number.

A robot whose stiffness is known to be zero has no springs, and its equations no term for them: `has_springs` is asked where a
program is made, so that such a robot's is not longer by a single operation.
"""

from __future__ import annotations

from torsor.arrays import concat, dot, identity, is_concrete, zeros
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector, Scalar
from torsor.model import Robot


def spring_forces(robot: Robot, q: ConfigurationVector) -> JointVector:
    """Force needed to hold the joint springs: stiffness · (q − rest), the gradient of ½ stiffness · (q − rest)² [TA81].

    The springs themselves act with the opposite force, −stiffness · (q − rest). Joints with several numbers have none.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv) array
        N·m or N; part of `inverse_dynamics`, of neither `gravity_forces` nor `bias_forces`.
    """
    return robot.parameters.stiffness * (spring_positions(robot, q) - robot.parameters.rest)


def has_springs(robot: Robot) -> bool:
    """Whether some stiffness is not zero, or not known because it is traced."""
    stiffness = robot.parameters.stiffness
    return not is_concrete(stiffness) or bool((stiffness != 0.0).any())


def plus_springs(robot: Robot, q: ConfigurationVector, forces: JointVector) -> JointVector:
    """``forces`` (..., nv), N·m or N, and those that hold the springs, if there are any."""
    return forces + spring_forces(robot, q) if has_springs(robot) else forces


def plus_spring_energy(robot: Robot, q: ConfigurationVector, energy: Scalar) -> Scalar:
    """``energy`` (...) and ½ Σ stiffness · (q − rest)², J, if there are springs."""
    if not has_springs(robot):
        return energy
    stretch = spring_positions(robot, q) - robot.parameters.rest
    return energy + 0.5 * dot(robot.parameters.stiffness * stretch, stretch)


def plus_stiffness(robot: Robot, slopes: JointMatrix) -> JointMatrix:
    """``slopes`` ∂τ/∂q (..., nv, nv) and the stiffness of the springs on the diagonal, if there are any."""
    return slopes + identity(robot.nv) * robot.parameters.stiffness if has_springs(robot) else slopes


def spring_positions(robot: Robot, q: ConfigurationVector) -> JointVector:
    """The number of q for each of v (..., nv), rad or m; zero for joints with several numbers, which have no springs."""
    if robot.structure.has_plain_velocities:
        return q
    return concat([q[..., c.q] if kind.has_screw else zeros(c.nv) for c, kind in robot.structure.blocks])
