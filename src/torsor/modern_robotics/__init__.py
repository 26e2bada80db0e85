"""The functions of the book *Modern Robotics* (Lynch and Park, 2017), computed by torsor: a stand-in for its library.

``from torsor import modern_robotics as mr`` instead of ``import modern_robotics as mr``: same names, arguments and
results. `chain` makes a `torsor.Robot` of the book's lists, `lists` goes back.

In the docstrings, "published" marks chapters and sections of the published book [LP]; (9.x) and §9.x without that word
are those of the draft of its chapter on dynamics, as everywhere in torsor.

Functions
---------
Adjoint                    The adjoint matrix [Ad_T] = (R, 0; [p] R, R) of a pose
AxisAng3                   Axis ω̂ and angle θ of exponential coordinates ω̂θ
AxisAng6                   Screw axis S and distance θ of exponential coordinates Sθ
CartesianTrajectory        Poses with the origin on a straight line and the rotation by itself
ComputedTorque             Joint forces τ = M(θ)(θ̈_d + K_p θ_e + K_i (∫θ_e + θ_e) + K_d θ̇_e) + c(θ, θ̇) + g(θ), θ_e …
CubicTimeScaling           The path parameter s(t) = 3 (t/T)² − 2 (t/T)³, T = ``Tf``
DistanceToSE3              The distance |(RᵀR, 0; bottom row) − 1| (Frobenius) of a matrix from the poses
DistanceToSO3              The distance |matᵀ mat − 1| (Frobenius) of a matrix from the rotations
EndEffectorForces          The joint forces J_bᵀ(θ) F_tip with which the tip applies ``Ftip``
EulerStep                  The state after one step of Euler's method: θ + θ̇ dt and θ̇ + θ̈ dt
FKinBody                   The pose of the end frame, T = M e^{[B₁]θ₁} ⋯ e^{[Bₙ]θₙ}
FKinSpace                  The pose of the end frame, T = e^{[S₁]θ₁} ⋯ e^{[Sₙ]θₙ} M
ForwardDynamics            Joint accelerations θ̈ from M(θ) θ̈ = τ − c(θ, θ̇) − g(θ) − J_bᵀ(θ) F_tip
ForwardDynamicsTrajectory  Joint variables and rates under given joint forces, by Euler's method
GravityForces              The joint forces g(θ) that hold the chain against gravity
IKinBody                   Joint variables that bring the end frame to a pose, and whether they were found
IKinSpace                  Joint variables that bring the end frame to a pose, and whether they were found
InverseDynamics            Joint forces τ = M(θ) θ̈ + c(θ, θ̇) + g(θ) + J_bᵀ(θ) F_tip, by Newton–Euler recursion
InverseDynamicsTrajectory  Joint forces for each row of a trajectory: `InverseDynamics` of all rows as one batch
JacobianBody               The body Jacobian J_b, with V_b = J_b θ̇
JacobianSpace              The space Jacobian J_s, with V_s = J_s θ̇
JointTrajectory            A straight line in joint space, θ(s) = θ_start + s (θ_end − θ_start)
MassMatrix                 The mass matrix M(θ), by composite bodies (the book
MatrixExp3                 The rotation exp [ω̂]θ, by Rodrigues' formula
MatrixExp6                 The pose exp [S]θ of a matrix of se(3)
MatrixLog3                 The matrix logarithm [ω̂]θ of a rotation, with exp [ω̂]θ = R and 0 ≤ θ ≤ π
MatrixLog6                 The matrix logarithm [S]θ of a pose, with exp [S]θ = T and |ω|θ ≤ π; see `MatrixLog3`
NearZero                   Whether |z| < 1e-6
Normalize                  The unit vector V / |V|
ProjectToSE3               The pose with the rotation nearest to the block R of a matrix, and its position
ProjectToSO3               The rotation nearest to a matrix, U diag(1, 1, det U Vᵀ) Vᵀ of its singular values
QuinticTimeScaling         The path parameter s(t) = 10 (t/T)³ − 15 (t/T)⁴ + 6 (t/T)⁵
RotInv                     The inverse rotation R⁻¹ = Rᵀ
RpToTrans                  The pose T = (R, p; 0, 1) of a rotation and a position
ScrewToAxis                The screw axis S = (ŝ, −ŝ × q + h ŝ) through a point along a direction
ScrewTrajectory            A constant screw motion, X(s) = X_start exp(log(X_start⁻¹ X_end) s)
SimulateControl            Forces and joint variables of a robot under computed torque whose model is not quite right
TestIfSE3                  Whether a matrix is within 1e-3 of a pose, as `DistanceToSE3` measures it
TestIfSO3                  Whether a matrix is within 1e-3 of a rotation, as `DistanceToSO3` measures it
TransInv                   The inverse pose T⁻¹ = (Rᵀ, −Rᵀ p; 0, 1)
TransToRp                  Rotation R and position p of a pose
VecTose3                   The matrix [V] = ([ω], v; 0, 0) of a twist
VecToso3                   The skew-symmetric matrix [ω] of a vector
VelQuadraticForces         Coriolis and centripetal forces c(θ, θ̇)
ad                         The matrix [ad_V] = ([ω], 0; [v], [ω]) of a twist
chain                      The `torsor.Robot` of the book's lists
lists                      The book's lists of a serial chain
se3ToVec                   The twist (ω, v) of a matrix [V] of se(3)
so3ToVec                   The vector ω of a skew-symmetric matrix [ω]
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
