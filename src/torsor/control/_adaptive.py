"""Adaptive tracking: passivity-based, with inertial parameters that are learnt on the way."""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import matvec, transpose
from torsor.arrays.typing import ConfigurationVector, InertialVector, JointVector
from torsor.control.controller_decorator import controller, freedoms
from torsor.control.tracking_error import sliding_velocity
from torsor.functions.public.dynamics import friction_forces, reference_regressor
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.model import Robot
from torsor.model.link_inertias import inertial_parameter_names


@in_one_line
class AdaptiveControl(NamedTuple):
    """Joint forces, and how the estimate of the inertial parameters is to change."""

    tau: JointVector
    """τ (..., nv), N·m or N."""
    parameter_rate: InertialVector
    """dπ/dt (..., 10 n), kg/s, kg·m/s and kg·m²/s."""


@controller(AdaptiveControl, rate=freedoms, kd=freedoms, adaptation=inertial_parameter_names)
def adaptive(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
    parameters: InertialVector,
    rate: JointVector,
    kd: JointVector,
    adaptation: InertialVector,
) -> AdaptiveControl:
    """Joint forces of adaptive tracking, and the rate of the estimated inertial parameters [SL87].

    τ = Y π + armature v̇_s + friction + springs − K_d s and π̇ = −Γ Yᵀ s, with Y π = M v̇_s + C v_s + g. π are estimates of what
    `torsor.identification.inertial_parameters` gives of the true robot: of ``robot`` only its kinematics, gravity, armature,
    friction and springs are used. If those are right, V = ½ sᵀ M s + ½ π̃ᵀ Γ⁻¹ π̃ falls at exactly sᵀ K_d s, M and
    π̃ = π − π_true of the true robot: tracking becomes exact whether or not π becomes true. s, v_s and Λ are those of
    `passivity_based`.

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
    parameters : (..., 10 n) array
        π, named by `torsor.identification.inertial_parameter_names`, SI units.
    rate : float or (..., nv) array
        Λ, 1/s.
    kd : float or (..., nv) array
        N·m·s/rad or N·s/m.
    adaptation : float or (..., 10 n) array
        Γ, SI units.

    Returns
    -------
    AdaptiveControl
        ``tau`` (..., nv), N·m or N, and ``parameter_rate`` (..., 10 n).
    """
    v_s, a_s, s = sliding_velocity(robot, q, v, q_ref, v_ref, a_ref, rate)
    Y = reference_regressor(robot, q, v, v_s, a_s)
    known = plus_springs(robot, q, robot.parameters.armature * a_s + friction_forces(robot, v))
    return AdaptiveControl(matvec(Y, parameters) + known - kd * s, -adaptation * matvec(transpose(Y), s))
