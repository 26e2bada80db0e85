"""Public functions that are linear in the robot's parameters: the algorithms of `mechanics.regressors`."""

from __future__ import annotations

from torsor.functions.dispatch import public
from torsor.mechanics.regressors import (
    energy_and_momentum_regressors as energies,
    torque_regressors as torques,
)

torque_regressor = public(torques.torque_regressor, "Y")
reference_regressor = public(torques.reference_regressor, "Y")
joint_regressor = public(torques.joint_regressor, "Y")
generalised_momentum_regressor = public(energies.generalised_momentum_regressor, "Y")
spatial_momentum_regressor = public(energies.spatial_momentum_regressor, "Y")
kinetic_energy_regressor = public(energies.kinetic_energy_regressor, "Y")
potential_energy_regressor = public(energies.potential_energy_regressor, "Y")
