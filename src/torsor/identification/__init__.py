"""Identification: regressors, and which inertial parameters joint forces tell, in which combinations (base parameters).

Functions
---------
base_parameters                 Base parameters of a robot
generalised_momentum_regressor  The matrix with · π = Σ J_iᵀ G_i V_i, the `generalised_momentum` without armature
inertial_parameter_names        Names of the numbers in `inertial_parameters`, which are the names of the columns of …
inertial_parameters             Inertial parameters π of all moving links
joint_parameter_names           Names of the numbers in `joint_parameters`, which are the names of the columns of …
joint_parameters                Armature, friction and springs of all degrees of freedom
joint_regressor                 (diag a, diag v, diag sign v, diag q, −1)
kinetic_energy_regressor        The row with · π = ½ Σ V_iᵀ G_i V_i, the `kinetic_energy` without armature
potential_energy_regressor      The row with · π = −Σ g·(m p + R h), `potential_energy` without springs: (−g·p, −Rᵀ g, 0) …
reference_regressor             Y(q, v, v_ref, a_ref) with Y π = M a_ref + C v_ref + g, C the `coriolis_matrix`, Ṁ − 2C skew
spatial_momentum_regressor      The matrix with · π = `spatial_momentum`, its rows the work of unit twists of the base frame
torque_regressor                Y(q, v, a) with Y π = M a + C v + g, π the `inertial_parameters`

Classes
-------
BaseParameters, Gap, Grouping, Length, Unidentifiable
"""

from torsor._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
