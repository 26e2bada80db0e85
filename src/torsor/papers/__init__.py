"""For readers of the papers: equations as they are printed, the historical formulations, and what each costs.

Functions
---------
adjoint_between                    Matrix of Ad_j^i = Ad(e^{−A_j q_j} ⋯ e^{−A_i q_i}) for i ≤ j, the identity for i > j
adjoint_between_derivative         Derivative ∂/∂q_k Ad_j^i(B) = Ad_j^k([Ad_{k−1}^i(B), A_k]) for i ≤ k ≤ j, else 0
adjoint_between_second_derivative  Derivative ∂²/∂q_l ∂q_k Ad_j^i(B)
altafini_equation_report           Report on whether Altafini's workspace equation holds for all velocities, of one state …
altafini_workspace_acceleration    Rate Ẋ = ad*_X X + J M⁻¹ τ of a frame's body twist X, as printed
articulated_body_acceleration      Joint accelerations by the articulated-body recursion (ABA)
christoffel_symbols_by_brackets    Christoffel symbols Γ[i, j, k] = Σ_p γ^p_ijk of M over links p, in O(n d³)
closed_form                        Factors of the equations of motion at q, inertial and link-frame
compare_formulations               Counts, growth and time of every formulation of inverse dynamics, for a general chain
count_operations                   Number of operations of a formulation for one state of a robot, or of a general chain …
count_polynomial                   Polynomial of lowest degree that goes through all counts, exactly
count_table                        Counts of formulations by name and number of links
euler_trajectory                   Motion by the book's Euler integration, of one start only: θ[k+1] = θ[k] + h θ̇[k] …
factorised_acceleration            Joint accelerations from M a = τ − b, b by inverse dynamics at zero acceleration
joint_acceleration                 Joint acceleration by the book's GetJointAccel
link_christoffel_symbols           Christoffel symbols γ^p_ijk of each link p, of which Γ_ijk is the sum
link_kinetic_energies              Kinetic energy K_i = ½ V_iᵀ G_i V_i of each link
link_potential_energies            Potential energy P_i = −m_i g · p_i of each link, p_i its centre of mass
rodriguez_form                     Rodriguez' factorisation of the mass matrix at q, to be set beside `closed_form`

Classes
-------
AltafiniEquationReport, ClosedForm, FormulationComparison, OperationCount, RodriguezForm

Modules
-------
exercises, force_first, formulations, rigid_body, second_kind
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
