# Written by tools/write_stubs.py.
# Arrays of JAX, torch, dask and xarray are numbers, too, and give their own: the first of two overloads is meant for them.
# mypy: disable-error-code="overload-overlap"

from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar, overload

from torsor.arrays.typing import Numbers, Result, TheirNumbers
from torsor.model.robot import Robot
from torsor.tasks._manipulability import manipulability_ellipsoid as manipulability_ellipsoid, task_rank as task_rank
from torsor.tasks._task_space_dynamics import TaskSpaceDynamics
from torsor.tasks.horizontal_lift import SplitVelocity, VelocityProjectors
from torsor.tasks.singular_directions import damped_task_space_dynamics as damped_task_space_dynamics
from torsor.tasks.task import Task

P = ParamSpec("P")
R = TypeVar("R")

def _with_mass_matrix(algorithm: Callable[P, R], result: str | type[R]) -> Callable[P, R]: ...
@overload
def task_space_dynamics(
    robot: Robot, q: TheirNumbers, v: Numbers | TheirNumbers, task: Task | str
) -> TaskSpaceDynamics: ...
@overload
def task_space_dynamics(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    task: Task | str,
    *,
    out: TaskSpaceDynamics | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> TaskSpaceDynamics: ...
@overload
def task_space_inverse_dynamics(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers | TheirNumbers,
    task: Task | str,
    acceleration: Numbers | TheirNumbers,
    *,
    null: Numbers | TheirNumbers | None = ...,
) -> TheirNumbers: ...
@overload
def task_space_inverse_dynamics(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    task: Task | str,
    acceleration: Numbers,
    *,
    null: Numbers | None = ...,
    out: Result | None = ...,
) -> Result: ...
@overload
def task_space_forward_dynamics(
    robot: Robot, q: TheirNumbers, v: Numbers | TheirNumbers, task: Task | str, forces: Numbers | TheirNumbers
) -> TheirNumbers: ...
@overload
def task_space_forward_dynamics(
    robot: Robot, q: Numbers, v: Numbers, task: Task | str, forces: Numbers, *, out: Result | None = ...
) -> Result: ...
@overload
def task_forces_to_torques(
    robot: Robot,
    q: TheirNumbers,
    task: Task | str,
    forces: Numbers | TheirNumbers,
    *,
    null: Numbers | TheirNumbers | None = ...,
) -> TheirNumbers: ...
@overload
def task_forces_to_torques(
    robot: Robot, q: Numbers, task: Task | str, forces: Numbers, *, null: Numbers | None = ..., out: Result | None = ...
) -> Result: ...
@overload
def torques_to_task_forces(
    robot: Robot, q: TheirNumbers, task: Task | str, tau: Numbers | TheirNumbers
) -> TheirNumbers: ...
@overload
def torques_to_task_forces(
    robot: Robot, q: Numbers, task: Task | str, tau: Numbers, *, out: Result | None = ...
) -> Result: ...
@overload
def workspace_acceleration(
    robot: Robot, q: TheirNumbers, v: Numbers | TheirNumbers, task: Task | str, tau: Numbers | TheirNumbers
) -> TheirNumbers: ...
@overload
def workspace_acceleration(
    robot: Robot, q: Numbers, v: Numbers, task: Task | str, tau: Numbers, *, out: Result | None = ...
) -> Result: ...
@overload
def manipulability(robot: Robot, q: TheirNumbers, task: Task | str) -> TheirNumbers: ...
@overload
def manipulability(robot: Robot, q: Numbers, task: Task | str, *, out: Result | None = ...) -> Result: ...
@overload
def manipulability_gradient(robot: Robot, q: TheirNumbers, task: Task | str) -> TheirNumbers: ...
@overload
def manipulability_gradient(robot: Robot, q: Numbers, task: Task | str, *, out: Result | None = ...) -> Result: ...
@overload
def inertia_manipulability(robot: Robot, q: TheirNumbers, task: Task | str) -> TheirNumbers: ...
@overload
def inertia_manipulability(robot: Robot, q: Numbers, task: Task | str, *, out: Result | None = ...) -> Result: ...
@overload
def dynamic_manipulability(robot: Robot, q: TheirNumbers, task: Task | str) -> TheirNumbers: ...
@overload
def dynamic_manipulability(robot: Robot, q: Numbers, task: Task | str, *, out: Result | None = ...) -> Result: ...
@overload
def horizontal_lift(
    robot: Robot, q: TheirNumbers, task: Task | str, *, metric: Numbers | TheirNumbers | None = ...
) -> TheirNumbers: ...
@overload
def horizontal_lift(
    robot: Robot, q: Numbers, task: Task | str, *, metric: Numbers | None = ..., out: Result | None = ...
) -> Result: ...
@overload
def pseudoinverse_lift(robot: Robot, q: TheirNumbers, task: Task | str) -> TheirNumbers: ...
@overload
def pseudoinverse_lift(robot: Robot, q: Numbers, task: Task | str, *, out: Result | None = ...) -> Result: ...
@overload
def split_velocity(
    robot: Robot,
    q: TheirNumbers,
    v: Numbers | TheirNumbers,
    task: Task | str,
    *,
    metric: Numbers | TheirNumbers | None = ...,
) -> SplitVelocity: ...
@overload
def split_velocity(
    robot: Robot,
    q: Numbers,
    v: Numbers,
    task: Task | str,
    *,
    metric: Numbers | None = ...,
    out: SplitVelocity | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> SplitVelocity: ...
@overload
def velocity_projectors(
    robot: Robot, q: TheirNumbers, task: Task | str, *, metric: Numbers | TheirNumbers | None = ...
) -> VelocityProjectors: ...
@overload
def velocity_projectors(
    robot: Robot,
    q: Numbers,
    task: Task | str,
    *,
    metric: Numbers | None = ...,
    out: VelocityProjectors | tuple[Result, ...] | Mapping[str, Result] | None = ...,
) -> VelocityProjectors: ...
