"""Public functions of the inertia metric: the algorithms of `geometry`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from torsor.arrays.typing import Array
from torsor.functions import singular_mass_matrix
from torsor.functions.batched_arrays import ArrayForm
from torsor.functions.describe import Algorithm
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.geometry import (
    _covariant_derivative as covariant,
    _geodesic_acceleration_derivatives as free_derivatives,
    _jacobi_metric as of_energy,
    _jacobi_operator as along,
    christoffel,
    curvature,
    mass_matrix_derivatives as derivatives,
)
from torsor.geometry.freedoms import structure_constants
from torsor.geometry.inertia_metric import metric_from, metric_rows
from torsor.mechanics.dynamics import forward_dynamics as forward
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")


_metric_rows = public(metric_rows, "rows", joint_space=True, registered=False)


def _geodesic_algorithms(robot: Robot) -> list[Algorithm]:
    """By factorised mass matrix, and by articulated bodies where that is sound and the same."""
    singular_mass_matrix.refuse_idle_joints(robot, "geodesic acceleration", "it is")
    plain = structure_constants(robot.structure) is None and len(forward.sound_algorithms(robot)) > 1
    own: list[Algorithm] = [covariant.geodesic_acceleration]
    return [*own, covariant.articulated_geodesic_acceleration] if plain else own


def _tensor(
    algorithm: Callable[P, R], result: str, of: Algorithm, rank: int = 4, *, scale: float = 0.5, inverse: bool = False
) -> Callable[P, R]:
    """A tensor of the metric. For very large robots only the metric is compiled, and ``of`` makes the tensor by whole arrays."""

    def evaluate(robot: Robot, q: Array, **rest: Array) -> Array:
        return of(metric_from(robot, _metric_rows(robot, q), scale), *rest.values())

    rivals = with_inverse(algorithm) if inverse else None
    return public(algorithm, result, joint_space=True, rivals=rivals, arrays=ArrayForm(evaluate, rank))


def _contraction(algorithm: Callable[P, R], result: str, of: Algorithm) -> Callable[P, R]:
    """The curvature tensor, or what is made of it."""
    return _tensor(algorithm, result, of, inverse=True)


def _jacobi_sectional_curvature_by_arrays(robot: Robot, q: Array, u: Array, w: Array, energy: Array) -> Array:
    """From the curvature of the plane in the metric of inertia, which has a kernel of its own."""
    return of_energy.made_conformal(robot, q, u, w, energy, sectional_curvature(robot, q, u, w))


mass_matrix_derivative = _tensor(
    derivatives.mass_matrix_derivative, "dM", derivatives.mass_matrix_derivative_of, 3, scale=1.0
)
mass_matrix_second_derivative = _tensor(
    derivatives.mass_matrix_second_derivative,
    "ddM",
    derivatives.mass_matrix_second_derivative_of,
    scale=1.0,
)
christoffel_symbols = _tensor(christoffel.christoffel_symbols, "Gamma", christoffel.connection_of, 3)
christoffel_symbols_second_kind = _tensor(
    christoffel.christoffel_symbols_second_kind, "Gamma2", christoffel.second_kind_of, 3, inverse=True
)
christoffel_symbols_derivative = _tensor(
    christoffel.christoffel_symbols_derivative, "dGamma", christoffel.christoffel_symbols_derivative_of
)
covariant_derivative = public(
    covariant.covariant_derivative, "derivative", joint_space=True, rivals=with_inverse(covariant.covariant_derivative)
)
geodesic_acceleration = public(covariant.geodesic_acceleration, "a", joint_space=True, rivals=_geodesic_algorithms)
riemann_curvature = _contraction(curvature.riemann_curvature, "R", curvature.riemann_of)
ricci_curvature = _contraction(curvature.ricci_curvature, "Ricci", curvature.ricci_of)
scalar_curvature = _contraction(curvature.scalar_curvature, "scalar", curvature.scalar_of)
sectional_curvature = _contraction(curvature.sectional_curvature, "K", curvature.sectional_of)
curvature_norm = _contraction(curvature.curvature_norm, "norm", curvature.norm_of)
geodesic_acceleration_derivatives = public(
    free_derivatives.geodesic_acceleration_derivatives,
    free_derivatives.GeodesicAccelerationDerivatives,
    joint_space=True,
    rivals=with_inverse(free_derivatives.geodesic_acceleration_derivatives),
)
jacobi_operator = _contraction(along.jacobi_operator, "K", along.jacobi_operator_of)
jacobi_metric = public(of_energy.jacobi_metric, "metric", joint_space=True)
jacobi_geodesic_acceleration = public(
    of_energy.jacobi_geodesic_acceleration,
    "u_rate",
    joint_space=True,
    rivals=with_inverse(of_energy.jacobi_geodesic_acceleration),
)
jacobi_sectional_curvature = public(
    of_energy.jacobi_sectional_curvature,
    "K",
    joint_space=True,
    rivals=with_inverse(of_energy.jacobi_sectional_curvature),
    arrays=ArrayForm(_jacobi_sectional_curvature_by_arrays),
)
