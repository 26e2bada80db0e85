# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from collections.abc import Callable
from typing import ParamSpec, TypeVar, overload

from torsor.arrays.typing import (
    Array,
    JointMatrix,
    JointVector,
    Numbers,
    Result,
    Scalar,
    TaskJacobian,
    TaskVector,
    TheirNumbers,
)
from torsor.model.robot import Robot
from torsor.tasks.task import Task

P = ParamSpec("P")
R = TypeVar("R")

def _compiled(result: str) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
@overload
def resolved_rate(
    robot: Robot,
    q: TheirNumbers,
    task: Task | str,
    velocity: Numbers,
    *,
    null: Numbers | None = ...,
    metric: Numbers | None = ...,
    damping: Numbers = ...,
) -> TheirNumbers: ...
@overload
def resolved_rate(
    robot: Robot,
    q: Numbers,
    task: Task | str,
    velocity: Numbers,
    *,
    null: Numbers | None = ...,
    metric: Numbers | None = ...,
    damping: Numbers = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def resolved_acceleration(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers,
    task: Task | str,
    acceleration: Numbers,
    *,
    null: Numbers | None = ...,
    metric: Numbers | None = ...,
    damping: Numbers = ...,
) -> TheirNumbers: ...
@overload
def resolved_acceleration(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    task: Task | str,
    acceleration: Numbers,
    *,
    null: Numbers | None = ...,
    metric: Numbers | None = ...,
    damping: Numbers = ...,
    out: Result | None = ...,
) -> Result: ...
def _nearest(
    robot: Robot,
    task: Task,
    J: TaskJacobian,
    y: TaskVector,
    null: JointVector | None,
    metric: JointMatrix | None,
    damping: Scalar,
) -> JointVector: ...
def _damped(
    J: TaskJacobian, W: JointMatrix | None, vanished: list[Array] | None, d: Array
) -> tuple[Array, Array | None, list[Array] | None]: ...
@overload
def limit_gradient(robot: Robot, q: TheirNumbers) -> TheirNumbers: ...
@overload
def limit_gradient(robot: Robot, q: Numbers, *, out: Result | None = ...) -> Result: ...
@overload
def posture_gradient(
    robot: Robot, q: TheirNumbers, posture: Numbers, *, weights: Numbers | None = ...
) -> TheirNumbers: ...
@overload
def posture_gradient(
    robot: Robot, q: Numbers, posture: Numbers, *, weights: Numbers | None = ..., out: Result | None = ...
) -> Result: ...
