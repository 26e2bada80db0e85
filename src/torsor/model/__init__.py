"""What a robot is: inertias, joints, trees, and the ways to build and change them."""

from torsor.model._assemble import assemble as assemble
from torsor.model.chains import DHRow as DHRow, dh_chain as dh_chain, serial_chain as serial_chain
from torsor.model.inertia import Inertia as Inertia
from torsor.model.joints import Joint as Joint, Mimic as Mimic
from torsor.model.link_inertias import (
    inertial_parameter_names as inertial_parameter_names,
    inertial_parameters as inertial_parameters,
    joint_parameter_names as joint_parameter_names,
    joint_parameters as joint_parameters,
)
from torsor.model.parameters import Parameters as Parameters
from torsor.model.poses import pose_from as pose_from
from torsor.model.products_of_exponentials import (
    BodyForm as BodyForm,
    LinkForm as LinkForm,
    LocalForm as LocalForm,
    SpaceForm as SpaceForm,
    link_form as link_form,
)
from torsor.model.pytree import register_with_jax
from torsor.model.robot import Robot as Robot
from torsor.model.states import random_configuration as random_configuration, random_state as random_state
from torsor.model.structure import Structure as Structure
from torsor.model.visuals import Visual as Visual

register_with_jax()
