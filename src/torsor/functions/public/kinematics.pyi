# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from typing import overload

from torsor.arrays.typing import Numbers, Result, TheirNumbers
from torsor.model.robot import Robot

@overload
def link_poses(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def link_poses(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def frame_pose(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def frame_pose(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def frame_poses(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def frame_poses(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def body_jacobian(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def body_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def space_jacobian(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def space_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def mixed_jacobian(robot: Robot, q: TheirNumbers, frame: str) -> TheirNumbers: ...
@overload
def mixed_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def body_jacobian_rate(robot: Robot, q: TheirNumbers, v: Numbers, frame: str) -> TheirNumbers: ...
@overload
def body_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def space_jacobian_rate(robot: Robot, q: TheirNumbers, v: Numbers, frame: str) -> TheirNumbers: ...
@overload
def space_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def mixed_jacobian_rate(robot: Robot, q: TheirNumbers, v: Numbers, frame: str) -> TheirNumbers: ...
@overload
def mixed_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def joint_axes(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def joint_axes(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def joint_axes_rate(robot: Robot, q: TheirNumbers, v: Numbers) -> TheirNumbers: ...
@overload
def joint_axes_rate(robot: Robot, q: Numbers, v: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def body_twist(
    robot: Robot, q: TheirNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> TheirNumbers: ...
@overload
def body_twist(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def space_twist(
    robot: Robot, q: TheirNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> TheirNumbers: ...
@overload
def space_twist(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def mixed_twist(
    robot: Robot, q: TheirNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> TheirNumbers: ...
@overload
def mixed_twist(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def body_acceleration(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> TheirNumbers: ...
@overload
def body_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def space_acceleration(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> TheirNumbers: ...
@overload
def space_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def mixed_acceleration(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> TheirNumbers: ...
@overload
def mixed_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def integrate(robot: Robot, q: TheirNumbers, v: Numbers, dt: Numbers = ...) -> TheirNumbers: ...
@overload
def integrate(robot: Robot, q: Numbers, v: Numbers, dt: Numbers = ..., *, out: Result | None = ...) -> Result: ...
@overload
def difference(robot: Robot, q0: TheirNumbers, q1: Numbers) -> TheirNumbers: ...
@overload
def difference(robot: Robot, q0: Numbers, q1: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def configuration_rate(robot: Robot, q: TheirNumbers, v: Numbers) -> TheirNumbers: ...
@overload
def configuration_rate(robot: Robot, q: Numbers, v: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def velocity_of_rate(robot: Robot, q: TheirNumbers, q_rate: Numbers) -> TheirNumbers: ...
@overload
def velocity_of_rate(robot: Robot, q: Numbers, q_rate: Numbers, *, out: Result | None = ...) -> Result: ...
