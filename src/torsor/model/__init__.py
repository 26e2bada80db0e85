"""What a robot is: inertias, joints, trees, and the ways to build and change them."""

from torsor.model.assemble import assemble as assemble
from torsor.model.chains import DHRow as DHRow
from torsor.model.chains import dh_chain as dh_chain
from torsor.model.chains import serial_chain as serial_chain
from torsor.model.inertia import Inertia as Inertia
from torsor.model.joints import Joint as Joint
from torsor.model.joints import Mimic as Mimic
from torsor.model.parameters import Parameters as Parameters
from torsor.model.poses import pose_from as pose_from
from torsor.model.products_of_exponentials import BodyForm as BodyForm
from torsor.model.products_of_exponentials import LinkForm as LinkForm
from torsor.model.products_of_exponentials import LocalForm as LocalForm
from torsor.model.products_of_exponentials import SpaceForm as SpaceForm
from torsor.model.products_of_exponentials import link_form as link_form
from torsor.model.pytree import register_with_jax
from torsor.model.robot import Robot as Robot
from torsor.model.states import random_configuration as random_configuration
from torsor.model.states import random_state as random_state
from torsor.model.structure import Structure as Structure

register_with_jax()
