"""Public functions of motion: the algorithms of `mechanics.kinematics`, checked and compiled for each robot.

Named frames, links among them, stay where they are in aligned link frames.
"""

from __future__ import annotations

from torsor.functions.dispatch import public
from torsor.mechanics.kinematics import frame_motion, jacobians, manifold, poses as kinematics

link_poses = public(kinematics.link_poses, "T")
frame_pose = public(kinematics.frame_pose, "T", joint_space=True)
frame_poses = public(kinematics.frame_poses, "T", joint_space=True)
body_jacobian = public(jacobians.body_jacobian, "J", joint_space=True)
space_jacobian = public(jacobians.space_jacobian, "J", joint_space=True)
mixed_jacobian = public(jacobians.mixed_jacobian, "J", joint_space=True)
body_jacobian_rate = public(jacobians.body_jacobian_rate, "J_rate", joint_space=True)
space_jacobian_rate = public(jacobians.space_jacobian_rate, "J_rate", joint_space=True)
mixed_jacobian_rate = public(jacobians.mixed_jacobian_rate, "J_rate", joint_space=True)
joint_axes = public(jacobians.joint_axes, "S", joint_space=True)
joint_axes_rate = public(jacobians.joint_axes_rate, "S_rate", joint_space=True)
body_twist = public(frame_motion.body_twist, "V", joint_space=True)
space_twist = public(frame_motion.space_twist, "V", joint_space=True)
mixed_twist = public(frame_motion.mixed_twist, "V", joint_space=True)
body_acceleration = public(frame_motion.body_acceleration, "A", joint_space=True)
space_acceleration = public(frame_motion.space_acceleration, "A", joint_space=True)
mixed_acceleration = public(frame_motion.mixed_acceleration, "A", joint_space=True)
integrate = public(manifold.integrate, "q_next")
difference = public(manifold.difference, "v")
configuration_rate = public(manifold.configuration_rate, "q_rate")
velocity_of_rate = public(manifold.velocity_of_rate, "v")
