"""Energy and momentum, linear in the inertial parameters."""

from __future__ import annotations

from torsor.arrays import concat, dot, identity, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, InertialVector, JointVector, Regressor, SpatialRegressor, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_poses
from torsor.mechanics.recursions.newton_euler import link_motion
from torsor.mechanics.recursions.supporting_chain import link_jacobians, rows
from torsor.model import Robot


def kinetic_energy_regressor(robot: Robot, q: ConfigurationVector, v: JointVector) -> InertialVector:
    """The row with · π = ½ Σ V_iᵀ G_i V_i, the `kinetic_energy` without armature [LP, (9.59); PBP95, (21)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 10 n) array
        J per kg, kg·m and kg·m².
    """
    V: list[Twist] = link_motion(robot, joint_poses(robot, q), v, None, gravity=False, base_motion=None)[0]
    return concat([0.5 * lie.energy_row(V_i, V_i) for V_i in V])


def potential_energy_regressor(robot: Robot, q: ConfigurationVector) -> InertialVector:
    """The row with · π = −Σ g·(m p + R h), `potential_energy` without springs: (−g·p, −Rᵀ g, 0) per link [PBP95, (58), E001-8].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 10 n) array
        J per kg and kg·m.
    """
    g, blocks = robot.parameters.gravity, []
    for T in poses_in_base(robot, q):
        blocks += [-dot(g, translation(T))[..., None], -matvec(transpose(rotation(T)), g), zeros(6)]
    return concat(blocks)


def generalised_momentum_regressor(robot: Robot, q: ConfigurationVector, v: JointVector) -> Regressor:
    """The matrix with · π = Σ J_iᵀ G_i V_i, the `generalised_momentum` without armature [Kool04, (8); PBP95, (21)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv, 10 n) array
        Momentum per kg, kg·m and kg·m².
    """
    T_pi = joint_poses(robot, q)
    V: list[Twist] = link_motion(robot, T_pi, v, None, gravity=False, base_motion=None)[0]
    J = link_jacobians(robot, T_pi)
    return concat([lie.energy_row(J_i, V_i[..., None, :]) for J_i, V_i in zip(J, V, strict=True)])


def spatial_momentum_regressor(robot: Robot, q: ConfigurationVector, v: JointVector) -> SpatialRegressor:
    """The matrix with · π = `spatial_momentum`, its rows the work of unit twists of the base frame [LP, (9.25); Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 6, 10 n) array
        Momentum per kg, kg·m and kg·m².
    """
    V: list[Twist] = link_motion(robot, joint_poses(robot, q), v, None, gravity=False, base_motion=None)[0]
    units = [lie.transform_twist_inverse(rows(T_0i), identity(6)) for T_0i in poses_in_base(robot, q)]
    return concat([lie.energy_row(unit, V_i[..., None, :]) for unit, V_i in zip(units, V, strict=True)])
