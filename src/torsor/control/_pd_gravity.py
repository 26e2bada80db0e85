"""PD control with gravity compensation: springs to a set point, dampers to the ground, and the robot's weight."""

from __future__ import annotations

from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.control.controller_decorator import controller, freedoms
from torsor.control.tracking_error import spring_force
from torsor.functions.public.dynamics import gravity_forces
from torsor.functions.public.kinematics import difference
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.model import Robot


@controller("tau", kp=freedoms, kd=freedoms)
def pd_gravity(
    robot: Robot, q: ConfigurationVector, v: JointVector, q_ref: ConfigurationVector, kp: JointVector, kd: JointVector
) -> JointVector:
    """Joint forces of PD control with gravity compensation, for rest at a set point [TA81; BL05, §11].

    τ = g(q) + springs(q) + J_l(e)⁻ᵀ K_p e − K_d v, with e = q_ref ⊖ q. The energy V = ½ vᵀ M v + ½ eᵀ K_p e changes at
    V̇ = −vᵀ K_d v − vᵀ friction, for every kind of joint and exactly: J_l(e)⁻ᵀ, which is 1 for joints with one number, makes the
    first term the force of a spring. The robot's own springs are held like its weight; joint friction is left to help.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    q_ref : (..., nq) array
        Set point, rad or m.
    kp : float or (..., nv) array
        Stiffness, N·m/rad or N/m.
    kd : float or (..., nv) array
        Damping, N·m·s/rad or N·s/m.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N.
    """
    e = difference(robot, q, q_ref)
    return plus_springs(robot, q, gravity_forces(robot, q)) + spring_force(robot, e, kp) - kd * v
