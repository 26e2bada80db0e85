"""The inertia metric as geometry: derivatives of the mass matrix, Christoffel symbols, curvature, left-invariant metrics.

Functions
---------
christoffel_symbols                Γ[i, j, k] = ½ (∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k), in O(n d²) for a tree of …
christoffel_symbols_derivative     dΓ[i, j, k, l] = ∂Γ_ijk/∂q_l, derivative index last, exact
christoffel_symbols_second_kind    Γ2[i, j, k] = Γ^k_ij = Σ_h m^kh Γ_ijh, the raised index last
covariant_derivative               ∇_u w = ẇ + M⁻¹ C(q, u) w, components ẇ_k + Σ Γ^k_ij u_i w_j
curvature_norm                     √(R_ijkl R^ijkl), zero only where all curvature vanishes, whatever the coordinates
geodesic_acceleration              v̇_k = −Σ Γ^k_ij v_i v_j, the acceleration under no force at all: ∇_v v = 0
geodesic_acceleration_derivatives  ∂a/∂q and ∂a/∂v of a = −Γ(v, v), the acceleration of `geodesic_acceleration`, exact
jacobi_geodesic_acceleration       u̇ = −Γ̂(u, u) of a geodesic of Jacobi's metric, by its own parameter s, q′ = u
jacobi_metric                      Jacobi's metric 2 (E − V) M, whose geodesics are the motions under gravity and …
jacobi_operator                    K(q, v) with K ξ = R(ξ, v) v, so that D²ξ/dt² = −K ξ for geodesics side by side
jacobi_sectional_curvature         Curvature of the plane of u and w in Jacobi's metric: whether motions of one energy …
mass_matrix_derivative             dM[i, j, k] = ∂M_ij/∂q_k, derivative index last, in O(n d²) for a tree of depth d
mass_matrix_second_derivative      d2M[i, j, k, l] = ∂_l (∂M_ij/∂q_k), derivative indices last, exact
ricci_curvature                    Ric[j, l] = Σ m^ik R_ijkl
riemann_curvature                  R[i, j, k, l] = ∂_k Γ_jli − ∂_l Γ_jki + Σ_r (Γ_ilr Γ^r_jk − Γ_ikr Γ^r_jl), all indices …
scalar_curvature                   Σ m^ik m^jl R_ijkl, twice the sum of the curvatures of all planes of an orthonormal …
sectional_curvature                Curvature R(u, w, u, w) / (|u|² |w|² − ⟨u, w⟩²) of the plane of motion that u and w …

Classes
-------
GeodesicAccelerationDerivatives

Modules
-------
left_invariant
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
