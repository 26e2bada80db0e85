"""torsor: robot dynamics on Lie groups.

arm = torsor.load("robot.urdf")  # or torsor.robots.panda()
q, v, a = torsor.random_state(arm, seed=0)
tau = torsor.inverse_dynamics(arm, q, v, a)
"""

from typing import TYPE_CHECKING

from torsor import lie as lie
from torsor import robots as robots
from torsor.backend import backend as backend
from torsor.compile_function import compile as compile, scan as scan
from torsor.derivative_function import derivative as derivative
from torsor.compiler.kernel import Kernel as Kernel
from torsor.compiler.scan import Scan as Scan
from torsor.compiler.threads import get_threads as get_threads
from torsor.compiler.threads import set_threads as set_threads
from torsor.errors import ArgumentTypeError as ArgumentTypeError
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
from torsor.functions import body_acceleration_derivatives as body_acceleration_derivatives
from torsor.functions import body_jacobian as body_jacobian
from torsor.functions import body_jacobian_derivative as body_jacobian_derivative
from torsor.functions import body_jacobian_rate as body_jacobian_rate
from torsor.functions import body_twist as body_twist
from torsor.functions import body_twist_derivatives as body_twist_derivatives
from torsor.functions import body_wrench_forces as body_wrench_forces
from torsor.functions import body_wrench_forces_derivative as body_wrench_forces_derivative
from torsor.functions import centre_of_mass as centre_of_mass
from torsor.functions import centre_of_mass_acceleration as centre_of_mass_acceleration
from torsor.functions import centre_of_mass_jacobian as centre_of_mass_jacobian
from torsor.functions import centre_of_mass_jacobian_derivative as centre_of_mass_jacobian_derivative
from torsor.functions import centre_of_mass_jacobian_rate as centre_of_mass_jacobian_rate
from torsor.functions import centre_of_mass_velocity as centre_of_mass_velocity
from torsor.functions import centroidal_momentum as centroidal_momentum
from torsor.functions import centroidal_momentum_derivatives as centroidal_momentum_derivatives
from torsor.functions import centroidal_momentum_matrix as centroidal_momentum_matrix
from torsor.functions import christoffel_symbols as christoffel_symbols
from torsor.functions import christoffel_symbols_by_brackets as christoffel_symbols_by_brackets
from torsor.functions import christoffel_symbols_derivative as christoffel_symbols_derivative
from torsor.functions import christoffel_symbols_second_kind as christoffel_symbols_second_kind
from torsor.functions import classical_acceleration as classical_acceleration
from torsor.functions import classical_acceleration_derivatives as classical_acceleration_derivatives
from torsor.functions import configuration_rate as configuration_rate
from torsor.functions import coriolis_forces as coriolis_forces
from torsor.functions import coriolis_matrix as coriolis_matrix
from torsor.functions import covariant_derivative as covariant_derivative
from torsor.functions import curvature_norm as curvature_norm
from torsor.functions import difference as difference
from torsor.functions import factorised_acceleration as factorised_acceleration
from torsor.functions import forward_dynamics as forward_dynamics
from torsor.dynamics_derivative_functions import forward_dynamics_derivatives as forward_dynamics_derivatives
from torsor.dynamics_derivative_functions import (
    forward_dynamics_second_derivatives as forward_dynamics_second_derivatives,
)
from torsor.dynamics_derivative_functions import forward_dynamics_hessian as forward_dynamics_hessian
from torsor.dynamics_derivative_functions import forward_dynamics_hessian_product as forward_dynamics_hessian_product
from torsor.functions import frame_pose as frame_pose
from torsor.functions import friction_forces as friction_forces
from torsor.functions import generalised_momentum as generalised_momentum
from torsor.functions import generalised_momentum_derivatives as generalised_momentum_derivatives
from torsor.functions import geodesic_acceleration as geodesic_acceleration
from torsor.functions import gravity_forces as gravity_forces
from torsor.functions import gravity_forces_derivative as gravity_forces_derivative
from torsor.functions import integrate as integrate
from torsor.functions import inverse_dynamics as inverse_dynamics
from torsor.dynamics_derivative_functions import inverse_dynamics_derivatives as inverse_dynamics_derivatives
from torsor.dynamics_derivative_functions import (
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives,
)
from torsor.dynamics_derivative_functions import inverse_dynamics_hessian as inverse_dynamics_hessian
from torsor.dynamics_derivative_functions import inverse_dynamics_hessian_product as inverse_dynamics_hessian_product
from torsor.functions import inverse_mass_matrix as inverse_mass_matrix
from torsor.functions import joint_axes as joint_axes
from torsor.functions import joint_axes_rate as joint_axes_rate
from torsor.functions import joint_regressor as joint_regressor
from torsor.functions import joint_wrenches as joint_wrenches
from torsor.functions import kinetic_energy as kinetic_energy
from torsor.functions import kinetic_energy_derivatives as kinetic_energy_derivatives
from torsor.functions import kinetic_energy_regressor as kinetic_energy_regressor
from torsor.functions import link_poses as link_poses
from torsor.functions import mass_matrix as mass_matrix
from torsor.functions import mass_matrix_derivative as mass_matrix_derivative
from torsor.functions import mass_matrix_rate as mass_matrix_rate
from torsor.functions import mass_matrix_report as mass_matrix_report
from torsor.functions import mass_matrix_second_derivative as mass_matrix_second_derivative
from torsor.functions import mixed_jacobian as mixed_jacobian
from torsor.functions import mixed_jacobian_derivative as mixed_jacobian_derivative
from torsor.functions import mixed_jacobian_rate as mixed_jacobian_rate
from torsor.functions import mixed_twist as mixed_twist
from torsor.functions import mixed_twist_derivatives as mixed_twist_derivatives
from torsor.functions import mixed_wrench_forces as mixed_wrench_forces
from torsor.functions import mixed_wrench_forces_derivative as mixed_wrench_forces_derivative
from torsor.functions import momentum_matrix as momentum_matrix
from torsor.functions import momentum_regressor as momentum_regressor
from torsor.functions import potential_energy as potential_energy
from torsor.functions import potential_energy_regressor as potential_energy_regressor
from torsor.functions import reference_regressor as reference_regressor
from torsor.functions import ricci_curvature as ricci_curvature
from torsor.functions import riemann_curvature as riemann_curvature
from torsor.functions import scalar_curvature as scalar_curvature
from torsor.functions import sectional_curvature as sectional_curvature
from torsor.functions import space_acceleration as space_acceleration
from torsor.functions import space_acceleration_derivatives as space_acceleration_derivatives
from torsor.functions import space_jacobian as space_jacobian
from torsor.functions import space_jacobian_derivative as space_jacobian_derivative
from torsor.functions import space_jacobian_rate as space_jacobian_rate
from torsor.functions import space_twist as space_twist
from torsor.functions import space_twist_derivatives as space_twist_derivatives
from torsor.functions import spatial_momentum as spatial_momentum
from torsor.functions import spatial_momentum_derivatives as spatial_momentum_derivatives
from torsor.functions import spatial_momentum_regressor as spatial_momentum_regressor
from torsor.functions import torque_regressor as torque_regressor
from torsor.functions import velocity_of_rate as velocity_of_rate
from torsor.geometry import left_invariant as left_invariant
from torsor.geometry.inverse_dynamics_second_derivatives import (
    InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives,
)
from torsor.later import LATER as _LATER, MODULES as _MODULES
from torsor.mechanics import rigid_body as rigid_body
from torsor.mechanics import second_kind as second_kind
from torsor.mechanics.closed_form import ClosedForm as ClosedForm
from torsor.mechanics.closed_form import closed_form as closed_form
from torsor.mechanics.energy_derivatives import EnergyDerivatives as EnergyDerivatives
from torsor.mechanics.exponential_adjoint import adjoint_between as adjoint_between
from torsor.mechanics.exponential_adjoint import adjoint_between_derivative as adjoint_between_derivative
from torsor.mechanics.exponential_adjoint import adjoint_between_second_derivative as adjoint_between_second_derivative
from torsor.mechanics.frame_acceleration_derivatives import AccelerationDerivatives as AccelerationDerivatives
from torsor.mechanics.frame_twist_derivatives import TwistDerivatives as TwistDerivatives
from torsor.mechanics.generalised_momentum_derivatives import MomentumDerivatives as MomentumDerivatives
from torsor.mechanics.forward_dynamics_derivatives import ForwardDynamicsDerivatives as ForwardDynamicsDerivatives
from torsor.geometry.forward_dynamics_second_derivatives import (
    ForwardDynamicsSecondDerivatives as ForwardDynamicsSecondDerivatives,
)
from torsor.mechanics.forward_dynamics_hessian import ForwardDynamicsHessian as ForwardDynamicsHessian
from torsor.mechanics.forward_dynamics_hessian_product import (
    ForwardDynamicsHessianProduct as ForwardDynamicsHessianProduct,
)
from torsor.mechanics.inverse_dynamics_derivatives import InverseDynamicsDerivatives as InverseDynamicsDerivatives
from torsor.mechanics.inverse_dynamics_hessian import InverseDynamicsHessian as InverseDynamicsHessian
from torsor.mechanics.inverse_dynamics_hessian_product import (
    InverseDynamicsHessianProduct as InverseDynamicsHessianProduct,
)
from torsor.mechanics.momentum_derivatives import SpatialMomentumDerivatives as SpatialMomentumDerivatives
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
from torsor.model import inertial_parameter_names as inertial_parameter_names
from torsor.model import inertial_parameters as inertial_parameters
from torsor.model import joint_parameter_names as joint_parameter_names
from torsor.model import joint_parameters as joint_parameters
from torsor.model import link_form as link_form
from torsor.model import pose_from as pose_from
from torsor.model import random_configuration as random_configuration
from torsor.model import random_state as random_state
from torsor.model import serial_chain as serial_chain
from torsor.simulation import Trajectory as Trajectory
from torsor.simulation import euler_trajectory as euler_trajectory
from torsor.simulation import joint_acceleration as joint_acceleration
from torsor.simulation import simulate as simulate
from torsor.task_functions import altafini_equation_report as altafini_equation_report
from torsor.task_functions import altafini_workspace_acceleration as altafini_workspace_acceleration
from torsor.task_functions import damped_task_space_dynamics as damped_task_space_dynamics
from torsor.task_functions import dynamic_manipulability as dynamic_manipulability
from torsor.task_functions import horizontal_lift as horizontal_lift
from torsor.task_functions import inertia_manipulability as inertia_manipulability
from torsor.task_functions import manipulability as manipulability
from torsor.task_functions import manipulability_gradient as manipulability_gradient
from torsor.task_functions import manipulability_ellipsoid as manipulability_ellipsoid
from torsor.task_functions import pseudoinverse_lift as pseudoinverse_lift
from torsor.task_functions import split_velocity as split_velocity
from torsor.task_functions import task_forces_to_torques as task_forces_to_torques
from torsor.task_functions import task_rank as task_rank
from torsor.task_functions import task_space_dynamics as task_space_dynamics
from torsor.task_functions import task_space_forward_dynamics as task_space_forward_dynamics
from torsor.task_functions import task_space_inverse_dynamics as task_space_inverse_dynamics
from torsor.task_functions import torques_to_task_forces as torques_to_task_forces
from torsor.task_functions import velocity_projectors as velocity_projectors
from torsor.task_functions import workspace_acceleration as workspace_acceleration
from torsor.tasks import Task as Task
from torsor.tasks import as_task as as_task
from torsor.tasks import function_task as function_task
from torsor.tasks import orientation_task as orientation_task
from torsor.tasks import pose_task as pose_task
from torsor.tasks import position_task as position_task
from torsor.tasks import stack_tasks as stack_tasks
from torsor.tasks.altafini_workspace import AltafiniEquationReport as AltafiniEquationReport
from torsor.tasks.manipulability_ellipsoid import ManipulabilityEllipsoid as ManipulabilityEllipsoid
from torsor.tasks.singular_directions import DampedTaskSpaceDynamics as DampedTaskSpaceDynamics
from torsor.tasks.singular_directions import DampingReport as DampingReport
from torsor.tasks.task_rank import TaskRank as TaskRank
from torsor.tasks.task_space_dynamics import TaskSpaceDynamics as TaskSpaceDynamics
from torsor.tasks.velocity_splitting import SplitVelocity as SplitVelocity
from torsor.tasks.velocity_splitting import VelocityProjectors as VelocityProjectors

if TYPE_CHECKING:  # what follows is imported when it is first asked for
    from torsor.balancing import Balancing as Balancing
    from torsor.balancing import BalanceReport as BalanceReport
    from torsor.balancing import Counterweight as Counterweight
    from torsor.balancing import DesignScan as DesignScan
    from torsor.balancing import GravityReport as GravityReport
    from torsor.balancing import GyroscopicTerm as GyroscopicTerm
    from torsor.balancing import HeldJoint as HeldJoint
    from torsor.balancing import VaryingEntry as VaryingEntry
    from torsor.balancing import axisymmetric_counterweights as axisymmetric_counterweights
    from torsor.balancing import balanced_planar_chain as balanced_planar_chain
    from torsor.balancing import balanced_spatial_chain as balanced_spatial_chain
    from torsor.balancing import design_scan as design_scan
    from torsor.balancing import gravity_counterweights as gravity_counterweights
    from torsor.balancing import is_balanced as is_balanced
    from torsor.balancing import is_gravity_balanced as is_gravity_balanced
    from torsor.balancing import least_change_balancing as least_change_balancing
    from torsor.balancing import planar_centres_of_mass as planar_centres_of_mass
    from torsor.balancing import planar_counterweights as planar_counterweights
    from torsor.formulation_comparison import FormulationComparison as FormulationComparison
    from torsor.formulation_comparison import compare_formulations as compare_formulations
    from torsor.identification import BaseParameters as BaseParameters
    from torsor.identification.base_parameters import base_parameters as base_parameters
    from torsor.linearisation import StateSpace as StateSpace
    from torsor.linearisation.linearise import linearise as linearise
    from torsor.motion import CarriedFactor as CarriedFactor
    from torsor.motion import CurvatureAlong as CurvatureAlong
    from torsor.motion import CurvatureComponent as CurvatureComponent
    from torsor.motion import FlatCoordinates as FlatCoordinates
    from torsor.motion import FlatState as FlatState
    from torsor.motion import FlatnessReport as FlatnessReport
    from torsor.motion import Geodesic as Geodesic
    from torsor.motion import PathResult as PathResult
    from torsor.reaching import InverseKinematics as InverseKinematics
    from torsor.reaching import inverse_kinematics as inverse_kinematics
    from torsor.redundancy import ExtendedJacobianLift as ExtendedJacobianLift
    from torsor.redundancy import GeneralisedInverse as GeneralisedInverse
    from torsor.redundancy import LiftAgreement as LiftAgreement
    from torsor.redundancy import LiftedCurve as LiftedCurve
    from torsor.redundancy import LiftedFunction as LiftedFunction
    from torsor.redundancy import LocalTrivialisation as LocalTrivialisation
    from torsor.redundancy import LoopDrift as LoopDrift
    from torsor.redundancy import RepeatabilityReport as RepeatabilityReport
    from torsor.redundancy import SelfMotion as SelfMotion
    from torsor.redundancy import SelfMotionComponents as SelfMotionComponents
    from torsor.redundancy import SubmersionReport as SubmersionReport
    from torsor.redundancy.closed_loop_drift import closed_loop_drift as closed_loop_drift
    from torsor.redundancy import extended_jacobian_lift as extended_jacobian_lift
    from torsor.redundancy import generalised_inverse_class as generalised_inverse_class
    from torsor.redundancy import is_partial_isometry as is_partial_isometry
    from torsor.redundancy import is_repeatable as is_repeatable
    from torsor.redundancy import is_riemannian_submersion as is_riemannian_submersion
    from torsor.redundancy.lift_acceleration import lift_acceleration as lift_acceleration
    from torsor.redundancy.lift_curve import lift_curve as lift_curve
    from torsor.redundancy import lift_function as lift_function
    from torsor.redundancy import lifts_agree as lifts_agree
    from torsor.redundancy.local_trivialisation import local_trivialisation as local_trivialisation
    from torsor.redundancy import oneill_tensor as oneill_tensor
    from torsor.redundancy.section_lift import section_lift as section_lift
    from torsor.redundancy.self_motion import self_motion as self_motion
    from torsor.redundancy.self_motion_components import self_motion_components as self_motion_components
    from torsor.redundancy.stationary_constraint import stationary_constraint as stationary_constraint
    from torsor.redundancy.vertical_brackets import vertical_brackets as vertical_brackets
    from torsor.resolution import JointLimit as JointLimit
    from torsor.resolution import Limit as Limit
    from torsor.resolution import LimitConflict as LimitConflict
    from torsor.resolution import PrioritisedAccelerations as PrioritisedAccelerations
    from torsor.resolution import PrioritisedVelocities as PrioritisedVelocities
    from torsor.resolution import TaskLimit as TaskLimit
    from torsor.resolution import TaskOutcome as TaskOutcome
    from torsor.resolution import limit_gradient as limit_gradient
    from torsor.resolution import posture_gradient as posture_gradient
    from torsor.resolution.prioritised_accelerations import prioritised_accelerations as prioritised_accelerations
    from torsor.resolution.prioritised_velocities import prioritised_velocities as prioritised_velocities
    from torsor.resolution import resolved_acceleration as resolved_acceleration
    from torsor.resolution.compiled_functions import resolved_rate as resolved_rate
    from torsor.resolution import task_limit as task_limit
    from torsor.symbolic import Equations as Equations
    from torsor.symbolic.equations import equations as equations
    from torsor.operation_counts import OperationCount as OperationCount
    from torsor.operation_counts import count_operations as count_operations
    from torsor.operation_counts import count_polynomial as count_polynomial
    from torsor.operation_counts import count_table as count_table
    from torsor.motion.curvature_along import curvature_along as curvature_along
    from torsor.motion.flat_coordinates import flat_coordinates as flat_coordinates
    from torsor.motion.geodesic import geodesic as geodesic
    from torsor.motion.geodesic_between import geodesic_between as geodesic_between
    from torsor.motion import is_flat as is_flat
    from torsor.motion.minimum_energy_path import minimum_energy_path as minimum_energy_path
    from torsor.motion.parallel_transport import parallel_transport as parallel_transport
    from torsor.motion.path_energy import path_energy as path_energy
    from torsor.motion import path_energy_gradient as path_energy_gradient
    from torsor.motion import path_length as path_length
    from torsor.motion import transport_factor as transport_factor

__version__ = "0.1.0.dev0"


def __getattr__(name: str) -> object:
    """Modules, functions and classes that are imported when they are first asked for."""
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"torsor.{name}")
    if name in _LATER:
        found: object = getattr(import_module(_LATER[name]), name)
        globals()[name] = found
        return found
    raise AttributeError(f"module 'torsor' has no attribute {name!r}")


def __dir__() -> list[str]:
    """All names, also those not yet imported."""
    return sorted({*globals(), *_MODULES, *_LATER})
