# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, overload

from torsor.arrays.typing import Array, Numbers, Result, TheirNumbers
from torsor.geometry import forward_dynamics_second_derivatives as forward_second
from torsor.geometry.forward_dynamics_second_derivatives import ForwardDynamicsSecondDerivatives
from torsor.geometry.inverse_dynamics_second_derivatives import InverseDynamicsSecondDerivatives
from torsor.mechanics.derivatives.energy_and_momentum_derivatives import (
    EnergyDerivatives,
    MomentumDerivatives,
    SpatialMomentumDerivatives,
)
from torsor.mechanics.derivatives.forward_dynamics_derivatives import ForwardDynamicsDerivatives
from torsor.mechanics.derivatives.forward_dynamics_hessian import ForwardDynamicsHessian, ForwardDynamicsHessianProduct
from torsor.mechanics.derivatives.frame_motion_derivatives import AccelerationDerivatives, TwistDerivatives
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import InverseDynamicsDerivatives
from torsor.mechanics.derivatives.inverse_dynamics_hessian import InverseDynamicsHessian, InverseDynamicsHessianProduct
from torsor.model import Robot

P = ParamSpec("P")
R = TypeVar("R")

def _forward_second_derivatives_by_arrays(
    robot: Robot, q: Array, v: Array, tau: Array, **more: Any
) -> forward_second.ForwardDynamicsSecondDerivatives: ...
def _named(algorithm: Callable[P, R], *, divides: bool = False, **more: Any) -> Callable[P, R]: ...
def inverse_dynamics_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: InverseDynamicsDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> InverseDynamicsDerivatives: ...
def forward_dynamics_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: ForwardDynamicsDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> ForwardDynamicsDerivatives: ...
def inverse_dynamics_second_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: InverseDynamicsSecondDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> InverseDynamicsSecondDerivatives: ...
def inverse_dynamics_hessian(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    weights: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: InverseDynamicsHessian | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> InverseDynamicsHessian: ...
def inverse_dynamics_hessian_product(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    weights: Numbers,
    dq: Numbers,
    dv: Numbers,
    da: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: InverseDynamicsHessianProduct | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> InverseDynamicsHessianProduct: ...
def forward_dynamics_second_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: ForwardDynamicsSecondDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> ForwardDynamicsSecondDerivatives: ...
def forward_dynamics_hessian(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    weights: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: ForwardDynamicsHessian | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> ForwardDynamicsHessian: ...
def forward_dynamics_hessian_product(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    tau: Numbers,
    weights: Numbers,
    dq: Numbers,
    dv: Numbers,
    dtau: Numbers,
    *,
    wrenches: Mapping[str, Numbers] | None = ...,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: ForwardDynamicsHessianProduct | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> ForwardDynamicsHessianProduct: ...
@overload
def body_jacobian_derivative(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def body_jacobian_derivative(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def space_jacobian_derivative(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def space_jacobian_derivative(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def mixed_jacobian_derivative(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def mixed_jacobian_derivative(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def centre_of_mass_jacobian_derivative(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def centre_of_mass_jacobian_derivative(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
def body_twist_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: TwistDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> TwistDerivatives: ...
def space_twist_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: TwistDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> TwistDerivatives: ...
def mixed_twist_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: TwistDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> TwistDerivatives: ...
def body_acceleration_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: AccelerationDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> AccelerationDerivatives: ...
def space_acceleration_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: AccelerationDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> AccelerationDerivatives: ...
def mixed_acceleration_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: AccelerationDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> AccelerationDerivatives: ...
def kinetic_energy_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    *,
    out: EnergyDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> EnergyDerivatives: ...
def generalised_momentum_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    *,
    out: MomentumDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> MomentumDerivatives: ...
def spatial_momentum_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    *,
    out: SpatialMomentumDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> SpatialMomentumDerivatives: ...
def centroidal_momentum_derivatives(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    *,
    out: SpatialMomentumDerivatives | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> SpatialMomentumDerivatives: ...
@overload
def gravity_forces_derivative(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def gravity_forces_derivative(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def body_wrench_forces_derivative(robot: Robot, q: TheirNumbers, wrenches: Mapping[str, Numbers]) -> TheirNumbers: ...
@overload
def body_wrench_forces_derivative(
    robot: Robot, q: Numbers, wrenches: Mapping[str, Numbers], *, out: Result | None = ...
) -> Result: ...
@overload
def mixed_wrench_forces_derivative(robot: Robot, q: TheirNumbers, wrenches: Mapping[str, Numbers]) -> TheirNumbers: ...
@overload
def mixed_wrench_forces_derivative(
    robot: Robot, q: Numbers, wrenches: Mapping[str, Numbers], *, out: Result | None = ...
) -> Result: ...
