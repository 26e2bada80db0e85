"""torsor: robot dynamics on Lie groups.

arm = torsor.load("robot.urdf")  # or torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0)
tau = torsor.inverse_dynamics(arm, q, v, a)
"""

from torsor import lie as lie
from torsor import robots as robots
from torsor.backend import backend as backend
from torsor.compile_function import compile as compile, scan as scan
from torsor.compiler.kernel import Kernel as Kernel
from torsor.compiler.scan import Scan as Scan
from torsor.compiler.native import get_threads as get_threads
from torsor.compiler.native import set_threads as set_threads
from torsor.errors import FileError as FileError
from torsor.errors import ModelError as ModelError
from torsor.errors import ModelWarning as ModelWarning
from torsor.errors import ShapeError as ShapeError
from torsor.errors import TorsorError as TorsorError
from torsor.errors import UnknownName as UnknownName
from torsor.formats import Finding as Finding
from torsor.formats import check as check
from torsor.formats import load as load
from torsor.functions import articulated_body_acceleration as articulated_body_acceleration
from torsor.functions import bias_forces as bias_forces
from torsor.functions import body_acceleration as body_acceleration
from torsor.functions import body_jacobian as body_jacobian
from torsor.functions import body_jacobian_derivative as body_jacobian_derivative
from torsor.functions import body_jacobian_rate as body_jacobian_rate
from torsor.functions import body_twist as body_twist
from torsor.functions import centre_of_mass as centre_of_mass
from torsor.functions import classical_acceleration as classical_acceleration
from torsor.functions import coriolis_forces as coriolis_forces
from torsor.functions import coriolis_matrix as coriolis_matrix
from torsor.functions import difference as difference
from torsor.functions import factorised_acceleration as factorised_acceleration
from torsor.functions import forward_dynamics as forward_dynamics
from torsor.functions import frame_pose as frame_pose
from torsor.functions import friction_forces as friction_forces
from torsor.functions import generalised_momentum as generalised_momentum
from torsor.functions import gravity_forces as gravity_forces
from torsor.functions import integrate as integrate
from torsor.functions import inverse_dynamics as inverse_dynamics
from torsor.functions import inverse_mass_matrix as inverse_mass_matrix
from torsor.functions import joint_axes as joint_axes
from torsor.functions import joint_axes_rate as joint_axes_rate
from torsor.functions import joint_wrenches as joint_wrenches
from torsor.functions import kinetic_energy as kinetic_energy
from torsor.functions import link_poses as link_poses
from torsor.functions import mass_matrix as mass_matrix
from torsor.functions import mass_matrix_rate as mass_matrix_rate
from torsor.functions import mass_matrix_report as mass_matrix_report
from torsor.functions import mixed_jacobian as mixed_jacobian
from torsor.functions import mixed_jacobian_derivative as mixed_jacobian_derivative
from torsor.functions import mixed_jacobian_rate as mixed_jacobian_rate
from torsor.functions import mixed_twist as mixed_twist
from torsor.functions import potential_energy as potential_energy
from torsor.functions import space_acceleration as space_acceleration
from torsor.functions import space_jacobian as space_jacobian
from torsor.functions import space_jacobian_derivative as space_jacobian_derivative
from torsor.functions import space_jacobian_rate as space_jacobian_rate
from torsor.functions import space_twist as space_twist
from torsor.functions import spatial_momentum as spatial_momentum
from torsor.mechanics import rigid_body as rigid_body
from torsor.mechanics import second_kind as second_kind
from torsor.mechanics.exponential_adjoint import adjoint_between as adjoint_between
from torsor.mechanics.exponential_adjoint import adjoint_between_derivative as adjoint_between_derivative
from torsor.mechanics.exponential_adjoint import adjoint_between_second_derivative as adjoint_between_second_derivative
from torsor.model import BodyForm as BodyForm
from torsor.model import DHRow as DHRow
from torsor.model import Inertia as Inertia
from torsor.model import Joint as Joint
from torsor.model import LinkForm as LinkForm
from torsor.model import LocalForm as LocalForm
from torsor.model import Mimic as Mimic
from torsor.model import Parameters as Parameters
from torsor.model import Robot as Robot
from torsor.model import SpaceForm as SpaceForm
from torsor.model import Structure as Structure
from torsor.model import assemble as assemble
from torsor.model import dh_chain as dh_chain
from torsor.model import link_form as link_form
from torsor.model import pose_from as pose_from
from torsor.model import random_configuration as random_configuration
from torsor.model import random_state as random_state
from torsor.model import serial_chain as serial_chain
from torsor.simulation import Trajectory as Trajectory
from torsor.simulation import euler_trajectory as euler_trajectory
from torsor.simulation import joint_acceleration as joint_acceleration
from torsor.simulation import simulate as simulate

__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> object:
    """`torsor.adapters` and `torsor.modern_robotics` are imported when they are first asked for."""
    if name in ("adapters", "modern_robotics"):
        from importlib import import_module

        return import_module(f"torsor.{name}")
    raise AttributeError(f"module 'torsor' has no attribute {name!r}")
