"""Joint friction: viscous and Coulomb."""

from __future__ import annotations

from torsor.arrays import sign, tanh, zeros
from torsor.arrays.typing import JointVector
from torsor.model import Robot


def coulomb_direction(robot: Robot, v: JointVector) -> JointVector:
    """sign(v), or tanh(v/w) with a Coulomb width w > 0; (..., nv)."""
    width = robot.structure.coulomb_width
    return tanh(v / width) if width > 0.0 else sign(v)


def friction_forces(robot: Robot, v: JointVector) -> JointVector:
    """Force needed to overcome joint friction: viscous · v + Coulomb · sign(v) [Sil81, §3.2].

    With a Coulomb width w > 0 (`Robot.with_coulomb_width`) sign(v) becomes tanh(v/w).

    Parameters
    ----------
    robot : Robot
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv) array
        N·m or N; friction takes the power v · friction out of the robot.
    """
    p = robot.parameters
    return p.viscous_friction * v + p.coulomb_friction * coulomb_direction(robot, v)


def friction_slopes(robot: Robot, v: JointVector) -> JointVector:
    """∂friction/∂v of each joint (..., nv), N·m·s/rad or N·s/m; of sign(v), which has a step and no slope, nothing."""
    p, width = robot.parameters, robot.structure.coulomb_width
    if not width > 0.0:
        return p.viscous_friction
    direction = coulomb_direction(robot, v)
    return p.viscous_friction + p.coulomb_friction * (1.0 - direction * direction) / width


def friction_curvatures(robot: Robot, v: JointVector) -> JointVector:
    """∂²friction/∂v² of each joint (..., nv): of Coulomb · tanh(v/w); of sign(v), which has a step and no slope, nothing."""
    width = robot.structure.coulomb_width
    if not width > 0.0:
        return zeros(robot.nv)
    direction = coulomb_direction(robot, v)
    return robot.parameters.coulomb_friction * (-2.0 / width**2) * direction * (1.0 - direction * direction)
