# Written by tools/write_stubs.py.
# An array of JAX can be given where numbers are expected, too: the first of two overloads is meant for it.
# mypy: disable-error-code="overload-overlap"

from typing import overload

from torsor.arrays.typing import JaxNumbers, Numbers, Result
from torsor.model.robot import Robot

@overload
def link_poses(robot: Robot, q: JaxNumbers) -> JaxNumbers: ...
@overload
def link_poses(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def frame_pose(robot: Robot, q: JaxNumbers, frame: str) -> JaxNumbers: ...
@overload
def frame_pose(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def frame_poses(robot: Robot, q: JaxNumbers) -> JaxNumbers: ...
@overload
def frame_poses(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def body_jacobian(robot: Robot, q: JaxNumbers, frame: str) -> JaxNumbers: ...
@overload
def body_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def space_jacobian(robot: Robot, q: JaxNumbers, frame: str) -> JaxNumbers: ...
@overload
def space_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def mixed_jacobian(robot: Robot, q: JaxNumbers, frame: str) -> JaxNumbers: ...
@overload
def mixed_jacobian(robot: Robot, q: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def body_jacobian_rate(robot: Robot, q: JaxNumbers, v: Numbers, frame: str) -> JaxNumbers: ...
@overload
def body_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def space_jacobian_rate(robot: Robot, q: JaxNumbers, v: Numbers, frame: str) -> JaxNumbers: ...
@overload
def space_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def mixed_jacobian_rate(robot: Robot, q: JaxNumbers, v: Numbers, frame: str) -> JaxNumbers: ...
@overload
def mixed_jacobian_rate(robot: Robot, q: Numbers, v: Numbers, frame: str, *, out: Result | None = ...) -> Result: ...
@overload
def joint_axes(robot: Robot, q: JaxNumbers) -> JaxNumbers: ...
@overload
def joint_axes(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def joint_axes_rate(robot: Robot, q: JaxNumbers, v: Numbers) -> JaxNumbers: ...
@overload
def joint_axes_rate(robot: Robot, q: Numbers, v: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def body_twist(
    robot: Robot, q: JaxNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> JaxNumbers: ...
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
    robot: Robot, q: JaxNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> JaxNumbers: ...
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
    robot: Robot, q: JaxNumbers, v: Numbers, frame: str, *, base_motion: tuple[Numbers, Numbers] | None = ...
) -> JaxNumbers: ...
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
    q: JaxNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> JaxNumbers: ...
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
    q: JaxNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> JaxNumbers: ...
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
    q: JaxNumbers,
    v: Numbers,
    a: Numbers,
    frame: str,
    *,
    base_motion: tuple[Numbers, Numbers] | None = ...,
) -> JaxNumbers: ...
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
def integrate(robot: Robot, q: JaxNumbers, v: Numbers, dt: Numbers = ...) -> JaxNumbers: ...
@overload
def integrate(robot: Robot, q: Numbers, v: Numbers, dt: Numbers = ..., *, out: Result | None = ...) -> Result: ...
@overload
def difference(robot: Robot, q0: JaxNumbers, q1: Numbers) -> JaxNumbers: ...
@overload
def difference(robot: Robot, q0: Numbers, q1: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def configuration_rate(robot: Robot, q: JaxNumbers, v: Numbers) -> JaxNumbers: ...
@overload
def configuration_rate(robot: Robot, q: Numbers, v: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def velocity_of_rate(robot: Robot, q: JaxNumbers, q_rate: Numbers) -> JaxNumbers: ...
@overload
def velocity_of_rate(robot: Robot, q: Numbers, q_rate: Numbers, *, out: Result | None = ...) -> Result: ...
