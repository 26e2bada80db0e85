from torsor.balancing.axisymmetric import axisymmetric_counterweights as axisymmetric_counterweights
from torsor.balancing.chains import (
    balanced_planar_chain as balanced_planar_chain,
    balanced_spatial_chain as balanced_spatial_chain,
)
from torsor.balancing.counterweights import Balancing as Balancing, Counterweight as Counterweight
from torsor.balancing.design import DesignScan as DesignScan, design_scan as design_scan
from torsor.balancing.first_moments import (
    gravity_counterweights as gravity_counterweights,
    planar_centres_of_mass as planar_centres_of_mass,
    planar_counterweights as planar_counterweights,
)
from torsor.balancing.least_change import least_change_balancing as least_change_balancing
from torsor.balancing.reports import (
    BalanceReport as BalanceReport,
    GravityReport as GravityReport,
    GyroscopicTerm as GyroscopicTerm,
    HeldJoint as HeldJoint,
    VaryingEntry as VaryingEntry,
    is_balanced as is_balanced,
    is_gravity_balanced as is_gravity_balanced,
)
