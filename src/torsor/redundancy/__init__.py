"""Redundancy as Riemannian submersions: lifts, splittings, repeatability, self-motions [Alt04, with its errata].

Functions
---------
circle                     Circle in two rows of a task, a closed path for `closed_path_drift`
closed_path_drift          Drift of the joints after each round of a closed path of the task, q̇ = K(q) ẏ
extended_jacobian_lift     Lift K = (J; ∂h)⁻¹ (1; 0) of a task that holds nv − m functions h of the configuration …
generalised_inverse_class  Which of A X A = A (I), X A X = X (II), A X (III) and X A (IV) symmetric hold of a matrix X
horizontal_lift            Dynamically consistent inverse K(q) of a task's Jacobian, with J K = 1 and Kᵀ M ker J = 0
is_partial_isometry        Report that is true if A keeps lengths on the complement of its kernel
is_repeatable              Report that is true if closed paths of the task close in the joints: [K_a, K_b] ∈ span K
is_riemannian_submersion   Report that is true if horizontal lengths are those of a metric of the task
lift_acceleration          Joint accelerations a = K (ÿ − J̇ v) + P K̇ ẏ − k P v with which a task accelerates by ÿ …
lift_curve                 Joint motion q(t) above a curve of the task, q̇ = K(q) ẏ, the only horizontal one
lift_function              Differential d(θ∘ρ) = Jᵀ η and gradient M⁻¹ Jᵀ η of a function θ of the task with …
lifts_agree                Report that is true if `horizontal_lift` and `pseudoinverse_lift` are the same
local_trivialisation       Coordinates q ↦ (y, s), the task and a place on its fibre, and the way back (y, s) ↦ q …
oneill_tensor              O'Neill's tensor A[:, a, b] = ½ [K_a, K_b]^v of a Riemannian submersion, ∇_{K_a} K_b …
pseudoinverse_lift         Moore–Penrose pseudoinverse J⁺ = Jᵀ (J Jᵀ)⁻¹ of a task
section_lift               Lift v = dσ ẏ of a section σ of the task, a choice of one configuration for each of its …
self_motion                Self-motion through q0: the configurations with the same value of the task that are joined to it
self_motion_components     Pieces of the configurations with the same value of the task, ρ⁻¹(ρ(q0)), sampled
split_velocity             Joint velocities in two parts: what moves the task, and self-motion
stationary_constraint      Constraint h = Z₀ᵀ (1 − J⁺J) ∂g for `extended_jacobian_lift`
velocity_projectors        Matrices of `split_velocity`
vertical_brackets          Vertical brackets B[:, a, b] = (1 − K J) [K_a, K_b]

Classes
-------
Circle, ExtendedJacobianLift, GeneralisedInverse, LiftAgreement, LiftedCurve, LiftedFunction, LocalTrivialisation,
PartialIsometry, PathDrift, PiecesMet, RepeatabilityReport, SelfMotion, SelfMotionComponents, SingularConfiguration,
SplitVelocity, SubmersionReport, Trivialised, VelocityProjectors
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
