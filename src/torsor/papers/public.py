"""Public functions for readers of the papers: other algorithms for the same numbers, and equations as printed."""

from __future__ import annotations

from torsor.border import checked
from torsor.errors import ModelError
from torsor.functions import singular_mass_matrix
from torsor.functions.batched_arrays import ArrayForm
from torsor.functions.describe import Algorithm
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.mechanics.dynamics import articulated_body, forward_dynamics as forward
from torsor.model import Robot
from torsor.papers import accelerations, brackets


def _only_factorised(robot: Robot) -> list[Algorithm]:
    singular_mass_matrix.refuse_idle_joints(robot)
    return [forward.factorised_acceleration]


def _only_articulated(robot: Robot) -> list[Algorithm]:
    singular_mass_matrix.refuse_idle_joints(robot)
    if robot.structure.has_couplings:
        raise ModelError(
            f"articulated_body_acceleration: robot {robot.name!r} has mimic joints, which share a coordinate; "
            "use forward_dynamics."
        )
    return [articulated_body.articulated_body_acceleration]


factorised_acceleration = public(
    forward.factorised_acceleration, "a", joint_space=True, rivals=_only_factorised, same_as="forward_dynamics"
)
articulated_body_acceleration = public(
    articulated_body.articulated_body_acceleration,
    "a",
    joint_space=True,
    rivals=_only_articulated,
    same_as="forward_dynamics",
)
christoffel_symbols_by_brackets = public(
    brackets.christoffel_symbols_by_brackets,
    "Gamma",
    joint_space=True,
    arrays=ArrayForm(brackets.christoffel_symbols_by_brackets, rank=6),
    same_as="christoffel_symbols",
)
altafini_workspace_acceleration = public(
    accelerations.altafini_workspace_acceleration,
    "acceleration",
    rivals=with_inverse(accelerations.altafini_workspace_acceleration),
)
altafini_equation_report = checked(accelerations.altafini_equation_report)
