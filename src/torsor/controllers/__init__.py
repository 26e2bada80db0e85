"""Controllers: small pure functions of a state, references and gains, which `torsor.compile` makes one kernel each."""

from torsor.controllers.adaptive import AdaptiveControl as AdaptiveControl, adaptive as adaptive
from torsor.controllers.computed_torque import computed_torque as computed_torque
from torsor.controllers.nearest_target import nearest_target as nearest_target
from torsor.controllers.operational_space import operational_space as operational_space
from torsor.controllers.passivity_based import passivity_based as passivity_based
from torsor.controllers.pd_gravity import pd_gravity as pd_gravity
