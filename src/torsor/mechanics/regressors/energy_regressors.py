"""Kinetic and potential energy, linear in the inertial parameters."""

from __future__ import annotations

from torsor.arrays import concat, dot, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, InertialVector, JointVector, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.mechanics.recursions.newton_euler import link_motion
from torsor.model import Robot


def kinetic_energy_regressor(robot: Robot, q: ConfigurationVector, v: JointVector) -> InertialVector:
    """The row with · π = ½ Σ V_iᵀ G_i V_i, the `kinetic_energy` without armature [LP, (9.59); PBP95, (21)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 10 n), J per kg, kg·m and kg·m².
    """
    V: list[Twist] = link_motion(robot, joint_poses(robot, q), v, None, gravity=False, base_motion=None)[0]
    return concat([0.5 * lie.energy_row(V_i, V_i) for V_i in V])


def potential_energy_regressor(robot: Robot, q: ConfigurationVector) -> InertialVector:
    """The row with · π = −Σ g·(m p + R h), the `potential_energy`: (−g·p, −Rᵀ g, 0) per link [PBP95, (58), E001-8].

    ``q`` (..., nq), rad or m. Returns (..., 10 n), J per kg and kg·m.
    """
    g, blocks = robot.parameters.gravity, []
    for T in poses_in_base(robot, q):
        blocks += [-dot(g, translation(T))[..., None], -matvec(transpose(rotation(T)), g), zeros(6)]
    return concat(blocks)
