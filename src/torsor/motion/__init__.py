"""Motion as geometry: geodesics of the inertia metric, parallel transport, paths of least energy, flat robots.

Functions
---------
curvature_along       Scalar curvature, norm of the curvature and Ricci curvature in the direction of motion …
flat_coordinates      Isometry φ of a flat robot to Euclidean space, in which it moves by q̃̈ = τ̃
geodesic              Free motion ∇_v v = 0, that is v̇_k = −Σ Γ^k_ij v_i v_j, from q0 with v0
geodesic_between      Free motion ∇_v v = 0 from q0 to q1, one pair at a time
is_flat               Report that is true if the curvature of the inertia metric vanishes
minimum_energy_path   Path from q0 to q1 with the least ∫ Σ m_ij ẋ_i ẋ_j dt near the straight one, one pair at a …
parallel_transport    ``w`` carried along a path with ∇_v w = 0, that is ẇ_k = −Σ Γ^k_ij v_i w_j, at all its …
path_energy           Energy ∫ Σ m_ij ẋ_i ẋ_j dt of a path passed through at even times, by the midpoint rule
path_energy_gradient  Gradient ∂E/∂q_k of `path_energy` by every configuration of the path, exact, from the …
path_length           Length ∫ √(Σ m_ij ẋ_i ẋ_j) dt of a path, which no duration changes, by the midpoint rule
transport_factor      Factors N and φ = ∫ N dq at the corners of a polyline, dN_aj = Σ N_ar Γ^r_kj dq_k

Classes
-------
CarriedFactor, CurvatureAlong, CurvatureComponent, FlatCoordinates, FlatState, FlatnessReport, Geodesic, PathResult
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
