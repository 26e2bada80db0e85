from torsor.functions.public.kinematics import (
    body_acceleration as body_acceleration,
    body_jacobian as body_jacobian,
    body_jacobian_rate as body_jacobian_rate,
    body_twist as body_twist,
    configuration_rate as configuration_rate,
    difference as difference,
    frame_pose as frame_pose,
    frame_poses as frame_poses,
    integrate as integrate,
    joint_axes as joint_axes,
    joint_axes_rate as joint_axes_rate,
    link_poses as link_poses,
    mixed_acceleration as mixed_acceleration,
    mixed_jacobian as mixed_jacobian,
    mixed_jacobian_rate as mixed_jacobian_rate,
    mixed_twist as mixed_twist,
    space_acceleration as space_acceleration,
    space_jacobian as space_jacobian,
    space_jacobian_rate as space_jacobian_rate,
    space_twist as space_twist,
    velocity_of_rate as velocity_of_rate,
)
from torsor.model.poses import pose_from as pose_from
from torsor.model.products_of_exponentials import (
    BodyForm as BodyForm,
    LinkForm as LinkForm,
    LocalForm as LocalForm,
    SpaceForm as SpaceForm,
    link_form as link_form,
)
from torsor.model.states import random_configuration as random_configuration, random_state as random_state
