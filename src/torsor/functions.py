"""The public functions of a robot: the algorithms of `mechanics`, checked at this border and compiled for each robot."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from torsor import diagnosis
from torsor.array_form import ArrayForm
from torsor.arrays import checked
from torsor.arrays.typing import Array
from torsor.compiled import Derivatives, Rivals, public
from torsor.errors import ModelError
from torsor.geometry import (
    christoffel,
    christoffel_brackets as brackets,
    covariant_derivative as covariant,
    curvature,
    mass_matrix_derivatives as derivatives,
)
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import metric_from, metric_rows
from torsor.geometry.work import (
    for_brackets,
    for_curvature,
    for_curvature_norm,
    for_rank,
    for_second_kind,
)
from torsor.mechanics import (
    articulated_body,
    bias_forces as bias,
    centre_of_mass_motion as centre,
    coriolis_matrix as coriolis,
    energy,
    energy_derivatives,
    energy_regressors,
    forward_dynamics as forward,
    frame_acceleration_derivatives as acceleration_derivatives,
    frame_motion,
    frame_twist_derivatives as twist_derivatives,
    friction,
    generalised_momentum_derivatives as joint_momentum,
    gravity_forces_derivative as gravity_derivative,
    inverse_dynamics as inverse,
    jacobian_derivatives,
    jacobian_rates,
    jacobians,
    joint_regressor as joint_parameters,
    kinematics,
    manifold,
    mass_matrix as mass,
    mass_matrix_rate as mass_rate,
    momentum_derivatives,
    momentum_matrix as momentum,
    momentum_regressors,
    reference_regressor as reference,
    torque_regressor as torque,
    wrench_forces,
    wrench_forces_derivatives,
)
from torsor.model import Robot
from torsor.request import Algorithm

P = ParamSpec("P")
R = TypeVar("R")
RARE = (
    0.5  # of the operations that are written out otherwise: a compiled tensor that few ask for pays later than others
)


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


def with_inverse(algorithm: Algorithm) -> Rivals:
    """The algorithm alone, for robots whose mass matrix has an inverse."""
    what = algorithm.__name__.replace("_", " ")

    def alone(robot: Robot) -> list[Algorithm]:
        diagnosis.refuse_idle_joints(robot, what, "the inverse of its mass matrix is")
        return [algorithm]

    return alone


# Kinematics. Named frames, links among them, stay where they are in aligned link frames.
link_poses = public(kinematics.link_poses, "T")
frame_pose = public(kinematics.frame_pose, "T", joint_space=True)
body_jacobian = public(jacobians.body_jacobian, "J", joint_space=True)
space_jacobian = public(jacobians.space_jacobian, "J", joint_space=True)
mixed_jacobian = public(jacobians.mixed_jacobian, "J", joint_space=True)
body_jacobian_rate = public(jacobian_rates.body_jacobian_rate, "J_rate", joint_space=True)
space_jacobian_rate = public(jacobian_rates.space_jacobian_rate, "J_rate", joint_space=True)
mixed_jacobian_rate = public(jacobian_rates.mixed_jacobian_rate, "J_rate", joint_space=True)
body_jacobian_derivative = public(jacobian_derivatives.body_jacobian_derivative, "J_derivative", joint_space=True)
space_jacobian_derivative = public(jacobian_derivatives.space_jacobian_derivative, "J_derivative", joint_space=True)
mixed_jacobian_derivative = public(jacobian_derivatives.mixed_jacobian_derivative, "J_derivative", joint_space=True)
joint_axes = public(jacobians.joint_axes, "S", joint_space=True)
joint_axes_rate = public(jacobian_rates.joint_axes_rate, "S_rate", joint_space=True)
body_twist = public(frame_motion.body_twist, "V", joint_space=True)
space_twist = public(frame_motion.space_twist, "V", joint_space=True)
mixed_twist = public(frame_motion.mixed_twist, "V", joint_space=True)
body_acceleration = public(frame_motion.body_acceleration, "A", joint_space=True)
space_acceleration = public(frame_motion.space_acceleration, "A", joint_space=True)
classical_acceleration = public(frame_motion.classical_acceleration, "A", joint_space=True)
body_twist_derivatives = public(
    twist_derivatives.body_twist_derivatives, twist_derivatives.TwistDerivatives, joint_space=True
)
space_twist_derivatives = public(
    twist_derivatives.space_twist_derivatives, twist_derivatives.TwistDerivatives, joint_space=True
)
mixed_twist_derivatives = public(
    twist_derivatives.mixed_twist_derivatives, twist_derivatives.TwistDerivatives, joint_space=True
)
body_acceleration_derivatives = public(
    acceleration_derivatives.body_acceleration_derivatives,
    acceleration_derivatives.AccelerationDerivatives,
    joint_space=True,
)
space_acceleration_derivatives = public(
    acceleration_derivatives.space_acceleration_derivatives,
    acceleration_derivatives.AccelerationDerivatives,
    joint_space=True,
)
classical_acceleration_derivatives = public(
    acceleration_derivatives.classical_acceleration_derivatives,
    acceleration_derivatives.AccelerationDerivatives,
    joint_space=True,
)
integrate = public(manifold.integrate, "q_next")
difference = public(manifold.difference, "v")
configuration_rate = public(manifold.configuration_rate, "q_rate")
velocity_of_rate = public(manifold.velocity_of_rate, "v")

# Dynamics
inverse_dynamics = public(
    inverse.inverse_dynamics,
    "tau",
    joint_space=True,
    derivatives=Derivatives("inverse_dynamics_derivatives", ("q", "v", "a")),
)
joint_wrenches = public(inverse.joint_wrenches, "F")
forward_dynamics = public(
    forward.forward_dynamics,
    "a",
    joint_space=True,
    rivals=_forward_algorithms,
    derivatives=Derivatives("forward_dynamics_derivatives", ("q", "v", "tau")),
)
factorised_acceleration = public(
    forward.factorised_acceleration, "a", joint_space=True, rivals=_only_factorised, same_as="forward_dynamics"
)
articulated_body_acceleration = public(
    articulated_body.articulated_body_acceleration,
    "a",
    joint_space=True,
    rivals=_only_articulated,
    same_as="forward_dynamics",
)
mass_matrix = public(mass.mass_matrix, "M", joint_space=True)
inverse_mass_matrix = public(
    mass.inverse_mass_matrix, "M_inverse", joint_space=True, rivals=with_inverse(mass.inverse_mass_matrix)
)
mass_matrix_rate = public(mass_rate.mass_matrix_rate, "M_rate", joint_space=True)
coriolis_matrix = public(coriolis.coriolis_matrix, "C", joint_space=True)
coriolis_forces = public(bias.coriolis_forces, "tau", joint_space=True)
gravity_forces = public(bias.gravity_forces, "tau", joint_space=True)
bias_forces = public(bias.bias_forces, "tau", joint_space=True)
body_wrench_forces = public(wrench_forces.body_wrench_forces, "tau", joint_space=True)
mixed_wrench_forces = public(wrench_forces.mixed_wrench_forces, "tau", joint_space=True)
friction_forces = public(friction.friction_forces, "tau")
kinetic_energy = public(energy.kinetic_energy, "energy", joint_space=True)
potential_energy = public(energy.potential_energy, "energy", joint_space=True)
generalised_momentum = public(energy.generalised_momentum, "p", joint_space=True)
spatial_momentum = public(energy.spatial_momentum, "P", joint_space=True)
centre_of_mass = public(energy.centre_of_mass, "c", joint_space=True)
centre_of_mass_velocity = public(centre.centre_of_mass_velocity, "c_rate", joint_space=True)
centre_of_mass_acceleration = public(centre.centre_of_mass_acceleration, "c_acceleration", joint_space=True)
centre_of_mass_jacobian = public(centre.centre_of_mass_jacobian, "J", joint_space=True)
centre_of_mass_jacobian_rate = public(centre.centre_of_mass_jacobian_rate, "J_rate", joint_space=True)
centre_of_mass_jacobian_derivative = public(centre.centre_of_mass_jacobian_derivative, "J_derivative", joint_space=True)
momentum_matrix = public(momentum.momentum_matrix, "A", joint_space=True)
centroidal_momentum = public(momentum.centroidal_momentum, "h", joint_space=True)
centroidal_momentum_matrix = public(momentum.centroidal_momentum_matrix, "A", joint_space=True)

# Derivatives of energy, momentum and forces
kinetic_energy_derivatives = public(
    energy_derivatives.kinetic_energy_derivatives, energy_derivatives.EnergyDerivatives, joint_space=True
)
generalised_momentum_derivatives = public(
    joint_momentum.generalised_momentum_derivatives, joint_momentum.MomentumDerivatives, joint_space=True
)
# What a joint cannot feel has the same momentum on either side of it.
spatial_momentum_derivatives = public(
    momentum_derivatives.spatial_momentum_derivatives, momentum_derivatives.SpatialMomentumDerivatives, joint_space=True
)
centroidal_momentum_derivatives = public(
    momentum_derivatives.centroidal_momentum_derivatives,
    momentum_derivatives.SpatialMomentumDerivatives,
    joint_space=True,
)
gravity_forces_derivative = public(gravity_derivative.gravity_forces_derivative, "tau_derivative", joint_space=True)
body_wrench_forces_derivative = public(
    wrench_forces_derivatives.body_wrench_forces_derivative, "tau_derivative", joint_space=True
)
mixed_wrench_forces_derivative = public(
    wrench_forces_derivatives.mixed_wrench_forces_derivative, "tau_derivative", joint_space=True
)

# Linear in the parameters
torque_regressor = public(torque.torque_regressor, "Y")
reference_regressor = public(reference.reference_regressor, "Y")
joint_regressor = public(joint_parameters.joint_regressor, "Y")
momentum_regressor = public(momentum_regressors.momentum_regressor, "Y")
spatial_momentum_regressor = public(momentum_regressors.spatial_momentum_regressor, "Y")
kinetic_energy_regressor = public(energy_regressors.kinetic_energy_regressor, "Y")
potential_energy_regressor = public(energy_regressors.potential_energy_regressor, "Y")

# The inertia metric as geometry
_metric_rows = public(metric_rows, "rows", joint_space=True, registered=False)


def _geodesic_algorithms(robot: Robot) -> list[Algorithm]:
    """By factorised mass matrix, and by articulated bodies where that is sound and the same."""
    diagnosis.refuse_idle_joints(robot, "geodesic acceleration", "it is")
    plain = structure_constants(robot.structure) is None and len(forward.sound_algorithms(robot)) > 1
    own: list[Algorithm] = [covariant.geodesic_acceleration]
    return [*own, covariant.articulated_geodesic_acceleration] if plain else own


def _tensor(
    algorithm: Callable[P, R],
    result: str,
    of: Algorithm,
    work: Callable[[Robot], int],
    *,
    scale: float = 0.5,
    inverse: bool = False,
    of_curvature: bool = False,
    share: float = 1.0,
) -> Callable[P, R]:
    """A tensor of the metric. For large robots only the metric is compiled, and ``of`` makes the tensor by whole arrays.

    ``of_curvature``: ``of`` makes it of the curvature tensor, which has a kernel for robots that are not so large; ``share`` as
    in `ArrayForm`.
    """
    whole = ArrayForm(of, work)  # as if it were not for the share

    def evaluate(robot: Robot, q: Array, **rest: Array) -> Array:
        if of_curvature and not whole.is_better_for(robot):
            R, M, M_inverse = (f(robot, q) for f in (riemann_curvature, mass_matrix, inverse_mass_matrix))
            return of(curvature.Curvature.of_tensor(R, M, M_inverse), *rest.values())
        return of(metric_from(robot, _metric_rows(robot, q), scale), *rest.values())

    rivals = with_inverse(algorithm) if inverse else None
    arrays = ArrayForm(evaluate, work, share=share)
    return public(algorithm, result, joint_space=True, rivals=rivals, arrays=arrays)


def _contraction(algorithm: Callable[P, R], result: str, of: Algorithm, work: Callable[[Robot], int]) -> Callable[P, R]:
    """A contraction of the curvature tensor: with the tensor's own kernel, where one for it alone would be long."""
    return _tensor(algorithm, result, of, work, inverse=True, of_curvature=True, share=RARE)


mass_matrix_derivative = _tensor(
    derivatives.mass_matrix_derivative, "dM", derivatives.derivative_of, for_rank(3), scale=1.0
)
mass_matrix_second_derivative = _tensor(
    derivatives.mass_matrix_second_derivative,
    "ddM",
    derivatives.second_derivative_of,
    for_rank(4),
    scale=1.0,
    share=RARE,
)
christoffel_symbols = _tensor(christoffel.christoffel_symbols, "Gamma", christoffel.connection_of, for_rank(3))
christoffel_symbols_by_brackets = public(
    brackets.christoffel_symbols_by_brackets,
    "Gamma",
    joint_space=True,
    arrays=ArrayForm(brackets.christoffel_symbols_by_brackets, for_brackets),
    same_as="christoffel_symbols",
)
christoffel_symbols_second_kind = _tensor(
    christoffel.christoffel_symbols_second_kind, "Gamma2", christoffel.second_kind_of, for_second_kind, inverse=True
)
christoffel_symbols_derivative = _tensor(
    christoffel.christoffel_symbols_derivative,
    "dGamma",
    christoffel.connection_derivative_of,
    for_rank(4),
    share=RARE,
)
covariant_derivative = public(
    covariant.covariant_derivative,
    "derivative",
    joint_space=True,
    rivals=with_inverse(covariant.covariant_derivative),
)
geodesic_acceleration = public(covariant.geodesic_acceleration, "a", joint_space=True, rivals=_geodesic_algorithms)
riemann_curvature = _tensor(curvature.riemann_curvature, "R", curvature.riemann_of, for_curvature, inverse=True)
ricci_curvature = _contraction(curvature.ricci_curvature, "Ricci", curvature.ricci_of, for_curvature)
scalar_curvature = _contraction(curvature.scalar_curvature, "scalar", curvature.scalar_of, for_curvature)
sectional_curvature = _contraction(curvature.sectional_curvature, "K", curvature.sectional_of, for_curvature)
curvature_norm = _contraction(curvature.curvature_norm, "norm", curvature.norm_of, for_curvature_norm)

mass_matrix_report = checked(diagnosis.mass_matrix_report)
