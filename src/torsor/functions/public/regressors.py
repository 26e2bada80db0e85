"""Public functions that are linear in the robot's parameters: the algorithms of `mechanics.regressors`."""

from __future__ import annotations

from torsor.functions.dispatch import public
from torsor.mechanics.regressors import (
    energy_regressors,
    joint_regressor as joint_parameters,
    momentum_regressors,
    reference_regressor as reference,
    torque_regressor as torque,
)

torque_regressor = public(torque.torque_regressor, "Y")
reference_regressor = public(reference.reference_regressor, "Y")
joint_regressor = public(joint_parameters.joint_regressor, "Y")
generalised_momentum_regressor = public(momentum_regressors.generalised_momentum_regressor, "Y")
spatial_momentum_regressor = public(momentum_regressors.spatial_momentum_regressor, "Y")
kinetic_energy_regressor = public(energy_regressors.kinetic_energy_regressor, "Y")
potential_energy_regressor = public(energy_regressors.potential_energy_regressor, "Y")
