"""Public functions of the inertia metric: the algorithms of `geometry`."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from torsor.arrays.typing import Array
from torsor.functions import singular_mass_matrix
from torsor.functions.batched_arrays import ArrayForm
from torsor.functions.describe import Algorithm
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import inverse_mass_matrix, mass_matrix, with_inverse
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
from torsor.geometry.operation_estimates import for_curvature, for_curvature_norm, for_rank, for_second_kind
from torsor.mechanics.dynamics import forward_dynamics as forward
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")
RARE = (
    0.5  # of the operations that are written out otherwise: a compiled tensor that few ask for pays later than others
)


_metric_rows = public(metric_rows, "rows", joint_space=True, registered=False)


def _geodesic_algorithms(robot: Robot) -> list[Algorithm]:
    """By factorised mass matrix, and by articulated bodies where that is sound and the same."""
    singular_mass_matrix.refuse_idle_joints(robot, "geodesic acceleration", "it is")
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


def _jacobi_sectional_curvature_by_arrays(robot: Robot, q: Array, u: Array, w: Array, energy: Array) -> Array:
    """From the curvature of the plane in the metric of inertia, which has a kernel of its own."""
    return of_energy.made_conformal(robot, q, u, w, energy, sectional_curvature(robot, q, u, w))


mass_matrix_derivative = _tensor(
    derivatives.mass_matrix_derivative, "dM", derivatives.mass_matrix_derivative_of, for_rank(3), scale=1.0
)
mass_matrix_second_derivative = _tensor(
    derivatives.mass_matrix_second_derivative,
    "ddM",
    derivatives.mass_matrix_second_derivative_of,
    for_rank(4),
    scale=1.0,
    share=RARE,
)
christoffel_symbols = _tensor(christoffel.christoffel_symbols, "Gamma", christoffel.connection_of, for_rank(3))
christoffel_symbols_second_kind = _tensor(
    christoffel.christoffel_symbols_second_kind, "Gamma2", christoffel.second_kind_of, for_second_kind, inverse=True
)
christoffel_symbols_derivative = _tensor(
    christoffel.christoffel_symbols_derivative,
    "dGamma",
    christoffel.christoffel_symbols_derivative_of,
    for_rank(4),
    share=RARE,
)
covariant_derivative = public(
    covariant.covariant_derivative, "derivative", joint_space=True, rivals=with_inverse(covariant.covariant_derivative)
)
geodesic_acceleration = public(covariant.geodesic_acceleration, "a", joint_space=True, rivals=_geodesic_algorithms)
riemann_curvature = _tensor(curvature.riemann_curvature, "R", curvature.riemann_of, for_curvature, inverse=True)
ricci_curvature = _contraction(curvature.ricci_curvature, "Ricci", curvature.ricci_of, for_curvature)
scalar_curvature = _contraction(curvature.scalar_curvature, "scalar", curvature.scalar_of, for_curvature)
sectional_curvature = _contraction(curvature.sectional_curvature, "K", curvature.sectional_of, for_curvature)
curvature_norm = _contraction(curvature.curvature_norm, "norm", curvature.norm_of, for_curvature_norm)
geodesic_acceleration_derivatives = public(
    free_derivatives.geodesic_acceleration_derivatives,
    free_derivatives.GeodesicAccelerationDerivatives,
    joint_space=True,
    rivals=with_inverse(free_derivatives.geodesic_acceleration_derivatives),
)
jacobi_operator = _contraction(along.jacobi_operator, "K", along.jacobi_operator_of, for_curvature)
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
    arrays=ArrayForm(_jacobi_sectional_curvature_by_arrays, for_curvature, share=RARE),
)
