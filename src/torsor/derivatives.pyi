from torsor.functions.derivative import derivative as derivative
from torsor.functions.public.derivatives import (
    body_acceleration_derivatives as body_acceleration_derivatives,
    body_jacobian_derivative as body_jacobian_derivative,
    body_twist_derivatives as body_twist_derivatives,
    body_wrench_forces_derivative as body_wrench_forces_derivative,
    centre_of_mass_jacobian_derivative as centre_of_mass_jacobian_derivative,
    centroidal_momentum_derivatives as centroidal_momentum_derivatives,
    forward_dynamics_derivatives as forward_dynamics_derivatives,
    forward_dynamics_hessian as forward_dynamics_hessian,
    forward_dynamics_hessian_product as forward_dynamics_hessian_product,
    forward_dynamics_second_derivatives as forward_dynamics_second_derivatives,
    generalised_momentum_derivatives as generalised_momentum_derivatives,
    gravity_forces_derivative as gravity_forces_derivative,
    inverse_dynamics_derivatives as inverse_dynamics_derivatives,
    inverse_dynamics_hessian as inverse_dynamics_hessian,
    inverse_dynamics_hessian_product as inverse_dynamics_hessian_product,
    inverse_dynamics_second_derivatives as inverse_dynamics_second_derivatives,
    kinetic_energy_derivatives as kinetic_energy_derivatives,
    mixed_acceleration_derivatives as mixed_acceleration_derivatives,
    mixed_jacobian_derivative as mixed_jacobian_derivative,
    mixed_twist_derivatives as mixed_twist_derivatives,
    mixed_wrench_forces_derivative as mixed_wrench_forces_derivative,
    space_acceleration_derivatives as space_acceleration_derivatives,
    space_jacobian_derivative as space_jacobian_derivative,
    space_twist_derivatives as space_twist_derivatives,
    spatial_momentum_derivatives as spatial_momentum_derivatives,
)
from torsor.geometry.forward_dynamics_second_derivatives import (
    ForwardDynamicsSecondDerivatives as ForwardDynamicsSecondDerivatives,
)
from torsor.geometry.inverse_dynamics_second_derivatives import (
    InverseDynamicsSecondDerivatives as InverseDynamicsSecondDerivatives,
)
from torsor.linearisation import StateSpace as StateSpace, linearise as linearise
from torsor.mechanics.derivatives.energy_and_momentum_derivatives import (
    EnergyDerivatives as EnergyDerivatives,
    MomentumDerivatives as MomentumDerivatives,
    SpatialMomentumDerivatives as SpatialMomentumDerivatives,
)
from torsor.mechanics.derivatives.forward_dynamics_derivatives import (
    ForwardDynamicsDerivatives as ForwardDynamicsDerivatives,
)
from torsor.mechanics.derivatives.forward_dynamics_hessian import (
    ForwardDynamicsHessian as ForwardDynamicsHessian,
    ForwardDynamicsHessianProduct as ForwardDynamicsHessianProduct,
)
from torsor.mechanics.derivatives.frame_motion_derivatives import (
    AccelerationDerivatives as AccelerationDerivatives,
    TwistDerivatives as TwistDerivatives,
)
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import (
    InverseDynamicsDerivatives as InverseDynamicsDerivatives,
)
from torsor.mechanics.derivatives.inverse_dynamics_hessian import (
    InverseDynamicsHessian as InverseDynamicsHessian,
    InverseDynamicsHessianProduct as InverseDynamicsHessianProduct,
)
