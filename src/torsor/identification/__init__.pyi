from torsor.functions.public.dynamics import (
    generalised_momentum_regressor as generalised_momentum_regressor,
    joint_regressor as joint_regressor,
    kinetic_energy_regressor as kinetic_energy_regressor,
    potential_energy_regressor as potential_energy_regressor,
    reference_regressor as reference_regressor,
    spatial_momentum_regressor as spatial_momentum_regressor,
    torque_regressor as torque_regressor,
)
from torsor.identification._base_parameters import BaseParameters as BaseParameters, base_parameters as base_parameters
from torsor.identification.groupings import Grouping as Grouping, Length as Length
from torsor.identification.reasons import Unidentifiable as Unidentifiable
from torsor.identification.row_spaces import Gap as Gap
from torsor.model.link_inertias import (
    inertial_parameter_names as inertial_parameter_names,
    inertial_parameters as inertial_parameters,
    joint_parameter_names as joint_parameter_names,
    joint_parameters as joint_parameters,
)
