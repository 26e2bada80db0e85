"""Joint friction: viscous and Coulomb."""

from __future__ import annotations

from torsor.arrays import sign, tanh
from torsor.arrays.typing import JointVector
from torsor.model import Robot


def friction_forces(robot: Robot, v: JointVector) -> JointVector:
    """Force needed to overcome joint friction: viscous · v + Coulomb · sign(v) [Sil81, §3.2].

    With a Coulomb width w > 0 (`Robot.with_coulomb_width`) sign(v) becomes tanh(v/w).
    ``v`` (..., nv), rad/s or m/s. Returns (..., nv), N·m or N; friction takes the power v · friction out of the robot.
    """
    p, width = robot.parameters, robot.structure.coulomb_width
    direction = tanh(v / width) if width > 0.0 else sign(v)
    return p.viscous_friction * v + p.coulomb_friction * direction


def friction_slopes(robot: Robot, v: JointVector) -> JointVector:
    """∂friction/∂v of each joint (..., nv), N·m·s/rad or N·s/m; of sign(v), which has a step and no slope, nothing."""
    p, width = robot.parameters, robot.structure.coulomb_width
    if not width > 0.0:
        return p.viscous_friction
    direction = tanh(v / width)
    return p.viscous_friction + p.coulomb_friction * (1.0 - direction * direction) / width
