from torsor.functions.public.geometry import (
    christoffel_symbols as christoffel_symbols,
    christoffel_symbols_derivative as christoffel_symbols_derivative,
    christoffel_symbols_second_kind as christoffel_symbols_second_kind,
    covariant_derivative as covariant_derivative,
    curvature_norm as curvature_norm,
    geodesic_acceleration as geodesic_acceleration,
    geodesic_acceleration_derivatives as geodesic_acceleration_derivatives,
    jacobi_geodesic_acceleration as jacobi_geodesic_acceleration,
    jacobi_metric as jacobi_metric,
    jacobi_operator as jacobi_operator,
    jacobi_sectional_curvature as jacobi_sectional_curvature,
    mass_matrix_derivative as mass_matrix_derivative,
    mass_matrix_second_derivative as mass_matrix_second_derivative,
    ricci_curvature as ricci_curvature,
    riemann_curvature as riemann_curvature,
    scalar_curvature as scalar_curvature,
    sectional_curvature as sectional_curvature,
)
from torsor.geometry import left_invariant as left_invariant
from torsor.geometry._geodesic_acceleration_derivatives import (
    GeodesicAccelerationDerivatives as GeodesicAccelerationDerivatives,
)
