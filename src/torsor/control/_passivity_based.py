"""Passivity-based tracking: nothing is cancelled that does no work."""

from __future__ import annotations

from torsor.arrays import matvec
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.control.controller_decorator import controller, freedoms
from torsor.control.tracking_error import sliding_velocity
from torsor.functions.public.dynamics import coriolis_matrix, friction_forces, gravity_forces, mass_matrix
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
    """τ = M v̇_s + C v_s + g + friction − K_d s, with v_s = v_r + Λ e and s = v − v_s [SL87].

    C is the `coriolis_matrix`, with Ṁ − 2C skew, so that V = ½ sᵀ M s falls at exactly sᵀ K_d s, for every kind of joint. On
    s = 0 errors vanish at the rates Λ: exactly, if the entries of one joint have one rate. e = q_ref ⊖ q; v_r is the reference
    velocity in axes of the joints where they are.

    ``q``, ``q_ref`` (..., nq), rad or m; ``v``, ``v_ref``, ``a_ref`` (..., nv), rad, m, s, each in axes of its own configuration;
    gains are numbers or (..., nv): ``rate`` Λ, 1/s; ``kd``, N·m·s/rad or N·s/m. Returns (..., nv), N·m or N.
    """
    v_s, a_s, s = sliding_velocity(robot, q, v, q_ref, v_ref, a_ref, rate)
    inertial = matvec(mass_matrix(robot, q), a_s) + matvec(coriolis_matrix(robot, q, v), v_s)
    return inertial + gravity_forces(robot, q) + friction_forces(robot, v) - kd * s
