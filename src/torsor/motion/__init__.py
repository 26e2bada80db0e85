"""Motions in time; motion as geometry: geodesics of the inertia metric, parallel transport, least energy, flat robots.

Functions
---------
concatenate           One trajectory after another: times go on from the end of the one before
conjugate_points      Where neighbours that start with one motion meet it again, to first order
curvature_along       Scalar curvature, norm of the curvature and Ricci curvature in the direction of motion …
flat_coordinates      Isometry φ of a flat robot to Euclidean space, in which it moves by q̃̈ = τ̃
fourier               Periodic motion q0 ⊕ Σ_k (s_k sin kωt + c_k cos kωt) with ω = 2π/period, a finite Fourier series
from_samples          A measured log as a motion: smoothed and differentiated on the manifold, with a stated …
geodesic              Free motion ∇_v v = 0, that is v̇_k = −Σ Γ^k_ij v_i v_j, from q0 with v0
geodesic_between      Free motion ∇_v v = 0 from q0 to q1, one pair at a time
in_sequence           One motion after another, each from its own beginning
is_flat               Report that is true if the curvature of the inertia metric vanishes
is_minimal            Report that is true if one motion is a minimum among those near it with the same ends
jacobi_field          Displacement ξ to the neighbours of a motion: D²ξ/dt² + R(ξ, v) v = ∇_ξ (M⁻¹ F)
jerk_limited          Motion from q0, v0, a0 to q1, v1, a1 in the least time within bounds of velocity, acceleration …
minimum_energy_path   Path from q0 to q1 with the least ∫ Σ m_ij ẋ_i ẋ_j dt near the straight one, one pair at a …
natural_motion        Motion under gravity and springs at an energy E: the geodesic of Jacobi's metric 2 (E − V) M, in …
optimal               Motion from q0 to q1 with the least torque, energy, work, jerk, time or other cost within limits
parallel_transport    ``w`` carried along a path with ∇_v w = 0, that is ẇ_k = −Σ Γ^k_ij v_i w_j, at all its …
path_energy           Energy ∫ Σ m_ij ẋ_i ẋ_j dt of a path passed through at even times, by the midpoint rule
path_energy_gradient  Gradient ∂E/∂q_k of `path_energy` by every configuration of the path, exact, from the …
path_length           Length ∫ √(Σ m_ij ẋ_i ẋ_j) dt of a path, which no duration changes, by the midpoint rule
polynomial            Motion from q0 to q1 by a polynomial in time: cubic (degree 3), quintic (5) or septic (7)
s_curve               Motion from rest at q0 to rest at q1 with bounded jerk, in seven pieces (S-curve, double-S), …
scaled                The same path in another time: q(σ(t)), with its velocity, acceleration and jerk
screw                 Motion of a pose from T0 to T1 along the one screw that joins them, T0 exp(s(t) log(T0⁻¹ T1))
smooth_pose           Motion of a pose through via poses at given times, twice continuously differentiable on SE(3)
spline                Motion through waypoints at given times, with continuous velocity and acceleration: the cubic …
time_optimal          Motion along a path in the least time that limits of joint forces, velocities and …
transport_factor      Factors N and φ = ∫ N dq at the corners of a polyline, dN_aj = Σ N_ar Γ^r_kj dq_k
trapezoidal           Motion from rest at q0 to rest at q1 with a trapezoid of velocity, as fast as bounds allow

Classes
-------
ActiveLimit, BrokenLimit, CarriedFactor, ConjugatePoint, ConjugatePoints, CurvatureAlong, CurvatureComponent,
EnergyAudit, FlatCoordinates, FlatState, FlatnessReport, FourierMotion, Geodesic, JacobiField, JoinedMotion,
MinimalityReport, Motion, MotionCheck, MotionState, NaturalMotion, Obstacle, OptimalMotion, OptimalMotions, OptimalityReport,
PathResult, PoseMotion, PoseSamples, PoseState, ReachedLimit, Relaxation, RetimedMotion, ScaledMotion, SmoothedLog,
TangentMotion, TimeOptimalMotion, Trajectory, Work
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
