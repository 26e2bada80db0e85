"""Armature and friction, linear in their parameters."""

from __future__ import annotations

from torsor.arrays import concat, identity
from torsor.arrays.typing import JointRegressor, JointVector
from torsor.mechanics.dynamics.friction import coulomb_direction
from torsor.model import Robot


def joint_regressor(robot: Robot, v: JointVector, a: JointVector) -> JointRegressor:
    """(diag a, diag v, diag sign v): the columns of armature, viscous and Coulomb friction [Sil81, §3.2; AAH86].

    Beside `torque_regressor`, times (π, armature, viscous friction, Coulomb friction), it makes up `inverse_dynamics`. With
    a Coulomb width w > 0 (`Robot.with_coulomb_width`) sign(v) becomes tanh(v/w).
    ``v``, ``a`` (..., nv), rad, m, s. Returns (..., nv, 3 nv); the columns are named by `joint_parameter_names`.
    """
    return concat([identity(robot.nv) * x[..., None, :] for x in (a, v, coulomb_direction(robot, v))])
