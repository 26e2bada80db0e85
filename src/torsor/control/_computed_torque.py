"""Computed torque: the robot's own dynamics cancelled, the error left to a spring and a damper of unit mass."""

from __future__ import annotations

from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.control.controller_decorator import controller, freedoms
from torsor.control.tracking_error import spring_force, tracking_error
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot


@controller("tau", kp=freedoms, kd=freedoms)
def computed_torque(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
    kp: JointVector,
    kd: JointVector,
) -> JointVector:
    """Joint forces of computed torque (inverse-dynamics control), for tracking [LP, §9.4; BL05, §11].

    τ = M a + C v + g + friction + springs with a = a_r + K_d (v_r − v) + J_l(e)⁻ᵀ K_p e, e = q_ref ⊖ q. For joints with one
    number the error obeys ë + K_d ė + K_p e = 0. Of the others v_r and a_r are the reference's velocity and acceleration in axes
    of the joint where it is, and ½ |v_r − v|² + ½ eᵀ K_p e falls at exactly (v_r − v)ᵀ K_d (v_r − v), up to errors of half a
    turn.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    q_ref : (..., nq) array
        Configuration of the reference, rad or m.
    v_ref, a_ref : (..., nv) array
        Its velocity and acceleration, in rad, m and s, in axes of its own configuration.
    kp, kd : float or (..., nv) array
        Gains, 1/s² and 1/s.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N.
    """
    error = tracking_error(robot, q, v, q_ref, v_ref, a_ref)
    a = error.acceleration + kd * (error.velocity - v) + spring_force(robot, error.error, kp)
    return inverse_dynamics(robot, q, v, a)
