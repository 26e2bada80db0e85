"""The public functions of a robot: the algorithms of `mechanics`, checked at this border and compiled for each robot."""

from __future__ import annotations

from torsor import diagnosis
from torsor.arrays import checked
from torsor.compiled import Algorithm, public
from torsor.errors import ModelError
from torsor.mechanics import (
    articulated_body,
    bias_forces as bias,
    coriolis_matrix as coriolis,
    energy,
    forward_dynamics as forward,
    frame_motion,
    friction,
    inverse_dynamics as inverse,
    jacobian_derivatives,
    jacobian_rates,
    jacobians,
    kinematics,
    manifold,
    mass_matrix as mass,
    mass_matrix_rate as mass_rate,
)
from torsor.model import Robot


def _forward_algorithms(robot: Robot) -> list[Algorithm]:
    """Both roads to the acceleration where both are sound; refuses a robot with a joint that moves nothing."""
    diagnosis.refuse_idle_joints(robot)
    return forward.sound_algorithms(robot)


def _only_factorised(robot: Robot) -> list[Algorithm]:
    diagnosis.refuse_idle_joints(robot)
    return [forward.factorised_acceleration]


def _only_articulated(robot: Robot) -> list[Algorithm]:
    diagnosis.refuse_idle_joints(robot)
    if robot.structure.has_couplings:
        raise ModelError(
            f"articulated_body_acceleration: robot {robot.name!r} has mimic joints, which share a coordinate; "
            "use forward_dynamics."
        )
    return [articulated_body.articulated_body_acceleration]


# Kinematics
link_poses = public(kinematics.link_poses, "T")
frame_pose = public(kinematics.frame_pose, "T")
body_jacobian = public(jacobians.body_jacobian, "J")
space_jacobian = public(jacobians.space_jacobian, "J")
mixed_jacobian = public(jacobians.mixed_jacobian, "J")
body_jacobian_rate = public(jacobian_rates.body_jacobian_rate, "J_rate")
space_jacobian_rate = public(jacobian_rates.space_jacobian_rate, "J_rate")
mixed_jacobian_rate = public(jacobian_rates.mixed_jacobian_rate, "J_rate")
body_jacobian_derivative = public(jacobian_derivatives.body_jacobian_derivative, "J_derivative")
space_jacobian_derivative = public(jacobian_derivatives.space_jacobian_derivative, "J_derivative")
mixed_jacobian_derivative = public(jacobian_derivatives.mixed_jacobian_derivative, "J_derivative")
joint_axes = public(jacobians.joint_axes, "S")
joint_axes_rate = public(jacobian_rates.joint_axes_rate, "S_rate")
body_twist = public(frame_motion.body_twist, "V")
space_twist = public(frame_motion.space_twist, "V")
mixed_twist = public(frame_motion.mixed_twist, "V")
body_acceleration = public(frame_motion.body_acceleration, "A")
space_acceleration = public(frame_motion.space_acceleration, "A")
classical_acceleration = public(frame_motion.classical_acceleration, "A")
integrate = public(manifold.integrate, "q_next")
difference = public(manifold.difference, "v")

# Dynamics
inverse_dynamics = public(inverse.inverse_dynamics, "tau", joint_space=True)
joint_wrenches = public(inverse.joint_wrenches, "F")
forward_dynamics = public(forward.forward_dynamics, "a", joint_space=True, rivals=_forward_algorithms)
factorised_acceleration = public(forward.factorised_acceleration, "a", joint_space=True, rivals=_only_factorised)
articulated_body_acceleration = public(
    articulated_body.articulated_body_acceleration, "a", joint_space=True, rivals=_only_articulated
)
mass_matrix = public(mass.mass_matrix, "M", joint_space=True)
inverse_mass_matrix = public(mass.inverse_mass_matrix, "M_inverse", joint_space=True)
mass_matrix_rate = public(mass_rate.mass_matrix_rate, "M_rate", joint_space=True)
coriolis_matrix = public(coriolis.coriolis_matrix, "C", joint_space=True)
coriolis_forces = public(bias.coriolis_forces, "tau", joint_space=True)
gravity_forces = public(bias.gravity_forces, "tau", joint_space=True)
bias_forces = public(bias.bias_forces, "tau", joint_space=True)
friction_forces = public(friction.friction_forces, "tau")
kinetic_energy = public(energy.kinetic_energy, "energy", joint_space=True)
potential_energy = public(energy.potential_energy, "energy")
generalised_momentum = public(energy.generalised_momentum, "p", joint_space=True)
spatial_momentum = public(energy.spatial_momentum, "P")
centre_of_mass = public(energy.centre_of_mass, "c")
mass_matrix_report = checked(diagnosis.mass_matrix_report)
