"""The public functions of tasks: the algorithms of `tasks`, checked at this border and compiled for each robot and task."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from torsor.border import checked
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.tasks import (
    _manipulability as volumes,
    _task_space_dynamics as dynamics,
    horizontal_lift as lifts,
    singular_directions as singular,
)

P = ParamSpec("P")
R = TypeVar("R")


def _with_mass_matrix(algorithm: Callable[P, R], result: str | type[R]) -> Callable[P, R]:
    """The public form of an algorithm, for robots whose mass matrix has an inverse."""
    return public(algorithm, result, rivals=with_inverse(algorithm))


task_space_dynamics = _with_mass_matrix(dynamics.task_space_dynamics, dynamics.TaskSpaceDynamics)
task_space_inverse_dynamics = _with_mass_matrix(dynamics.task_space_inverse_dynamics, "tau")
task_space_forward_dynamics = _with_mass_matrix(dynamics.task_space_forward_dynamics, "acceleration")
task_forces_to_torques = _with_mass_matrix(dynamics.task_forces_to_torques, "tau")
torques_to_task_forces = _with_mass_matrix(dynamics.torques_to_task_forces, "forces")
workspace_acceleration = _with_mass_matrix(dynamics.workspace_acceleration, "acceleration")

manipulability = public(volumes.manipulability, "w")
manipulability_gradient = public(volumes.manipulability_gradient, "slope")
inertia_manipulability = _with_mass_matrix(volumes.inertia_manipulability, "w")
dynamic_manipulability = _with_mass_matrix(volumes.dynamic_manipulability, "w")

# With any metric; the mass matrix, where it is that, may be singular: then they are NaN
horizontal_lift = public(lifts.horizontal_lift, "K")
pseudoinverse_lift = public(lifts.pseudoinverse_lift, "K")
split_velocity = public(lifts.split_velocity, lifts.SplitVelocity)
velocity_projectors = public(lifts.velocity_projectors, lifts.VelocityProjectors)

# In NumPy, for what is decomposed depends on its numbers
damped_task_space_dynamics = checked(singular.damped_task_space_dynamics)
manipulability_ellipsoid = checked(volumes.manipulability_ellipsoid)
task_rank = checked(volumes.task_rank)
