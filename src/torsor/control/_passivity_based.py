"""Passivity-based tracking: nothing is cancelled that does no work."""

from __future__ import annotations

from torsor.arrays import matvec
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.control.controller_decorator import controller, freedoms
from torsor.control.tracking_error import sliding_velocity
from torsor.functions.public.dynamics import coriolis_matrix, friction_forces, gravity_forces, mass_matrix
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.model import Robot


@controller("tau", rate=freedoms, kd=freedoms)
def passivity_based(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
    rate: JointVector,
    kd: JointVector,
) -> JointVector:
    """Joint forces of passivity-based tracking, which cancels nothing that does no work [SL87].

    τ = M v̇_s + C v_s + g + friction + springs − K_d s, with v_s = v_r + Λ e and s = v − v_s. C is the `coriolis_matrix`, with
    Ṁ − 2C skew, so that V = ½ sᵀ M s falls at exactly sᵀ K_d s, for every kind of joint. On s = 0 errors vanish at the rates Λ:
    exactly, if the entries of one joint have one rate. e = q_ref ⊖ q; v_r is the reference velocity in axes of the joints where
    they are.

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
    rate : float or (..., nv) array
        Λ, 1/s.
    kd : float or (..., nv) array
        N·m·s/rad or N·s/m.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N.
    """
    v_s, a_s, s = sliding_velocity(robot, q, v, q_ref, v_ref, a_ref, rate)
    inertial = matvec(mass_matrix(robot, q), a_s) + matvec(coriolis_matrix(robot, q, v), v_s)
    return plus_springs(robot, q, inertial + gravity_forces(robot, q) + friction_forces(robot, v)) - kd * s
