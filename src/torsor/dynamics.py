"""Forces, energy and momentum: inverse and forward dynamics, the mass matrix and every other term of the equations of motion.

Functions
---------
bias_forces                   C(q, v) v + g(q)
body_wrench_forces            Σ J_bᵀ F of wrenches in the axes of their frames
centre_of_mass                Centre of mass of the moving links, in the base frame
centre_of_mass_acceleration   c̈ of the centre of mass of the moving links, in base axes
centre_of_mass_jacobian       J with ċ = J v, c the centre of mass of the moving links in the base frame
centre_of_mass_jacobian_rate  J̇ of the centre of mass, m J̇_k = Ω_k × p_k + ω_k × P_k, so that c̈ = J a + J̇ v
centre_of_mass_velocity       ċ = J v of the centre of mass of the moving links, in base axes
centroidal_momentum           h, the momentum of all moving links about their centre of mass c: (L − c × p, p) of …
centroidal_momentum_matrix    A with h = A v, h the momentum of all moving links about their centre of mass, in base axes
coriolis_forces               c(q, v) = C(q, v) v
coriolis_matrix               C(q, v) with C v = coriolis_forces and Ṁ = C + Cᵀ, so that Ṁ − 2C is skew
forward_dynamics              Accelerations that joint forces ``tau`` produce
friction_forces               Force needed to overcome joint friction
generalised_momentum          p = M(q) v = ∂T/∂v, p_i = S_iᵀ Σ (momentum of the links beyond joint i), in O(n)
gravity_forces                g(q)
inverse_dynamics              Joint forces for the acceleration ``a``: τ = M a + C v + g + friction + springs − Σ JᵀF
inverse_mass_matrix           M(q)⁻¹, by the factorisation M = LᵀDL that keeps the zeros between branches
joint_wrenches                Wrench F_i transmitted to link i through joint i, reaction and drive together
kinetic_energy                ½ Σ V_iᵀ G_i V_i + ½ armature · v², which is ½ vᵀ M v
mass_matrix                   M(q) with kinetic energy ½ vᵀ M v, armature included, by composite bodies (CRBA)
mass_matrix_rate              Ṁ = d/dt M(q) along q̇ = v: Σ J̇ᵀ G J + Jᵀ Ġ J + Jᵀ G J̇ over the links each pair of joints …
mass_matrix_report            Rank, condition and weakest motion of M at one configuration
mixed_wrench_forces           Σ J_mᵀ F of wrenches in base axes about the origins of their frames, as joint forces
potential_energy              −Σ m_i g · p_i + ½ Σ stiffness · (q − rest)², of gravity and joint springs
spatial_momentum              Momentum of all moving links, (angular about the base origin, linear), in base axes
spatial_momentum_matrix       A with P = A v, P the momentum of all moving links about the base origin, spatial_momentum
spring_forces                 Force needed to hold the joint springs
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
