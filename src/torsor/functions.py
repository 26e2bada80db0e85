"""The public functions of a robot: the algorithms of `mechanics`, with their arguments checked at this border."""

from __future__ import annotations

from torsor import diagnosis
from torsor.arrays import checked
from torsor.mechanics import (
    articulated_body,
    energy,
    frame_motion,
    friction,
    jacobian_derivatives,
    jacobian_rates,
    jacobians,
    kinematics,
    manifold,
)
from torsor.mechanics import (
    bias_forces as bias,
)
from torsor.mechanics import (
    coriolis_matrix as coriolis,
)
from torsor.mechanics import (
    forward_dynamics as forward,
)
from torsor.mechanics import (
    inverse_dynamics as inverse,
)
from torsor.mechanics import (
    mass_matrix as mass,
)
from torsor.mechanics import (
    mass_matrix_rate as mass_rate,
)

# Kinematics
link_poses = checked(kinematics.link_poses)
frame_pose = checked(kinematics.frame_pose)
body_jacobian = checked(jacobians.body_jacobian)
space_jacobian = checked(jacobians.space_jacobian)
mixed_jacobian = checked(jacobians.mixed_jacobian)
body_jacobian_rate = checked(jacobian_rates.body_jacobian_rate)
space_jacobian_rate = checked(jacobian_rates.space_jacobian_rate)
mixed_jacobian_rate = checked(jacobian_rates.mixed_jacobian_rate)
body_jacobian_derivative = checked(jacobian_derivatives.body_jacobian_derivative)
space_jacobian_derivative = checked(jacobian_derivatives.space_jacobian_derivative)
mixed_jacobian_derivative = checked(jacobian_derivatives.mixed_jacobian_derivative)
joint_axes = checked(jacobians.joint_axes)
joint_axes_rate = checked(jacobian_rates.joint_axes_rate)
body_twist = checked(frame_motion.body_twist)
space_twist = checked(frame_motion.space_twist)
mixed_twist = checked(frame_motion.mixed_twist)
body_acceleration = checked(frame_motion.body_acceleration)
space_acceleration = checked(frame_motion.space_acceleration)
classical_acceleration = checked(frame_motion.classical_acceleration)
integrate = checked(manifold.integrate)
difference = checked(manifold.difference)

# Dynamics
inverse_dynamics = checked(inverse.inverse_dynamics)
joint_wrenches = checked(inverse.joint_wrenches)
forward_dynamics = checked(diagnosis.refusing_idle_joints(forward.forward_dynamics))
factorised_acceleration = checked(diagnosis.refusing_idle_joints(forward.factorised_acceleration))
articulated_body_acceleration = checked(diagnosis.refusing_idle_joints(articulated_body.articulated_body_acceleration))
mass_matrix = checked(mass.mass_matrix)
inverse_mass_matrix = checked(mass.inverse_mass_matrix)
mass_matrix_rate = checked(mass_rate.mass_matrix_rate)
coriolis_matrix = checked(coriolis.coriolis_matrix)
coriolis_forces = checked(bias.coriolis_forces)
gravity_forces = checked(bias.gravity_forces)
bias_forces = checked(bias.bias_forces)
friction_forces = checked(friction.friction_forces)
kinetic_energy = checked(energy.kinetic_energy)
potential_energy = checked(energy.potential_energy)
generalised_momentum = checked(energy.generalised_momentum)
spatial_momentum = checked(energy.spatial_momentum)
centre_of_mass = checked(energy.centre_of_mass)
mass_matrix_report = checked(diagnosis.mass_matrix_report)
