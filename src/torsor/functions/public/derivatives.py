"""The public functions that differentiate the dynamics: checked at this border and compiled for each robot.

Second derivatives of forward dynamics of robots with more than 73 degrees of freedom have kernels of their own for M⁻¹ and what
belongs to inverse dynamics, and products of whole arrays do the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from torsor.arrays.typing import Array
from torsor.functions.batched_arrays import ArrayForm
from torsor.functions.derivative import by_differentiation
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.geometry import (
    forward_dynamics_second_derivatives as forward_second,
    inverse_dynamics_second_derivatives as inverse_second,
)
from torsor.mechanics.derivatives import (
    energy_and_momentum_derivatives as of_energy,
    force_derivatives as of_forces,
    forward_dynamics_derivatives as forward_derivatives,
    forward_dynamics_hessian as forward_hessian,
    frame_motion_derivatives as of_frames,
    inverse_dynamics_derivatives as inverse_derivatives,
    inverse_dynamics_hessian as inverse_hessian,
    jacobian_derivatives,
)
from torsor.mechanics.dynamics import forward_dynamics as forward, inverse_dynamics as inverse
from torsor.mechanics.momentum import centre_of_mass_motion as centre
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")


def _forward_second_derivatives_by_arrays(
    robot: Robot, q: Array, v: Array, tau: Array, **more: Any
) -> forward_second.ForwardDynamicsSecondDerivatives:
    """By kernels of their own for M⁻¹ and inverse dynamics, and products of matrices and tensors."""
    a, M_inverse = _acceleration_and_inverse(robot, q, v, tau, **more)
    first = forward_derivatives.through_inverse(M_inverse, inverse_dynamics_derivatives(robot, q, v, a, **more))
    return forward_second.second_through_inverse(first, inverse_dynamics_second_derivatives(robot, q, v, a, **more))


def _named(algorithm: Callable[P, R], *, divides: bool = False, **more: Any) -> Callable[P, R]:
    """The record of an algorithm that returns a named tuple, whose class its signature names; ``divides``: by M."""
    kind = algorithm.__globals__[algorithm.__annotations__["return"]]
    return public(algorithm, kind, joint_space=True, rivals=with_inverse(algorithm) if divides else None, **more)


inverse_dynamics_derivatives = _named(
    inverse_derivatives.inverse_dynamics_derivatives,
    graph=by_differentiation(inverse.inverse_dynamics, "q", "v", "a"),
)
_acceleration_and_inverse = _named(forward_derivatives.acceleration_and_inverse, registered=False)
forward_dynamics_derivatives = _named(
    forward_derivatives.forward_dynamics_derivatives,
    divides=True,
    graph=by_differentiation(forward.forward_dynamics, "q", "v", "tau"),
)
inverse_dynamics_second_derivatives = _named(inverse_second.inverse_dynamics_second_derivatives)
inverse_dynamics_hessian = _named(inverse_hessian.inverse_dynamics_hessian)
inverse_dynamics_hessian_product = _named(inverse_hessian.inverse_dynamics_hessian_product)
forward_dynamics_second_derivatives = _named(
    forward_second.forward_dynamics_second_derivatives,
    divides=True,
    arrays=ArrayForm(_forward_second_derivatives_by_arrays, rank=3),
)
forward_dynamics_hessian = _named(forward_hessian.forward_dynamics_hessian, divides=True)
forward_dynamics_hessian_product = _named(forward_hessian.forward_dynamics_hessian_product, divides=True)

# Derivatives of motion, energy, momentum and forces. What a joint cannot feel has the same momentum on either side of it.
body_jacobian_derivative = public(jacobian_derivatives.body_jacobian_derivative, "J_derivative", joint_space=True)
space_jacobian_derivative = public(jacobian_derivatives.space_jacobian_derivative, "J_derivative", joint_space=True)
mixed_jacobian_derivative = public(jacobian_derivatives.mixed_jacobian_derivative, "J_derivative", joint_space=True)
centre_of_mass_jacobian_derivative = public(centre.centre_of_mass_jacobian_derivative, "J_derivative", joint_space=True)
body_twist_derivatives = _named(of_frames.body_twist_derivatives)
space_twist_derivatives = _named(of_frames.space_twist_derivatives)
mixed_twist_derivatives = _named(of_frames.mixed_twist_derivatives)
body_acceleration_derivatives = _named(of_frames.body_acceleration_derivatives)
space_acceleration_derivatives = _named(of_frames.space_acceleration_derivatives)
mixed_acceleration_derivatives = _named(of_frames.mixed_acceleration_derivatives)
kinetic_energy_derivatives = _named(of_energy.kinetic_energy_derivatives)
generalised_momentum_derivatives = _named(of_energy.generalised_momentum_derivatives)
spatial_momentum_derivatives = _named(of_energy.spatial_momentum_derivatives)
centroidal_momentum_derivatives = _named(of_energy.centroidal_momentum_derivatives)
gravity_forces_derivative = public(of_forces.gravity_forces_derivative, "tau_derivative", joint_space=True)
body_wrench_forces_derivative = public(of_forces.body_wrench_forces_derivative, "tau_derivative", joint_space=True)
mixed_wrench_forces_derivative = public(of_forces.mixed_wrench_forces_derivative, "tau_derivative", joint_space=True)
