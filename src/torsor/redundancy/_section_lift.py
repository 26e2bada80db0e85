"""The lift from a chosen section: a robot that takes, for each value of its task, the configuration that it is told to.

A section σ gives, for each value y of the task ρ, a configuration with that value: ρ(σ(y)) = y. Above a curve y(t) lies σ(y(t)),
with v = dσ ẏ. So that it is a lift near its image too, other configurations keep their displacement from it: with a basis Z₀ of
ker J at q₀ ::

    h(q) = Z₀ᵀ (q ⊖ σ(ρ(q)))

vanishes on the image, and its extended Jacobian is regular near q₀, for along self-motions σ(ρ(q)) does not change. There
K = (J; ∂h)⁻¹ (1; 0) = dσ on the image, since h ∘ σ = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays import as_numbers, constant, matvec, stack
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.arrays import as_floats
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.kinematics import difference, frame_pose
from torsor.model import Robot
from torsor.redundancy.angle_difference import angle_difference
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift, refuse_no_redundancy
from torsor.redundancy.report_text import vector
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.vertical_basis import vertical_basis
from torsor.tasks import (
    FrameTask,
    FunctionTask,
    SelectedTask,
    StackedTask,
    Task,
    as_task,
    function_task,
)
from torsor.tasks._function_task import refuse_other_arguments

ON_SECTION = 1e-6  # rad or m: how near to what the section gives q0 must be
Section = Callable[[Robot, Any], Array]  # (robot, value of the task) → q (nq,)


@explained
def section_lift(robot: Robot, task: Task | str, section: Section, q0: ConfigurationVector) -> ExtendedJacobianLift:
    """The lift v = dσ ẏ of a section σ of the task, a choice of one configuration for each of its values [Alt04, Th. III.1].

    Closed paths of the task close in the joints, for where the task is says where the joints are. From q₀ on the section, lifted
    curves are σ(y(t)). Like every `extended_jacobian_lift` it is accepted wherever a ``lift`` is.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    task : Task or str
        m rows; the name of a frame means its pose.
    section : function
        (robot, value) → q (nq,), rad or m, made of torsor's functions and NumPy's: an inverse kinematics in closed form. The
        value is a pose (4, 4), a rotation (3, 3), a position (3,), some rows of a position, the numbers (m,) of a function; of
        stacked tasks, a tuple.
    q0 : array
        A configuration (nq,), rad or m, on the section, σ(ρ(q₀)) = q₀ up to whole turns, at which the task is regular.

    Returns
    -------
    ExtendedJacobianLift
        Called with (robot, q), q (..., nq), it gives K (..., nv, m), in rad or m per unit of the task: dσ on the section.
    """
    q0 = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_no_redundancy(robot, found)
    if not callable(section):
        raise ArgumentError(
            f"`section` is a function (robot, value of the task) → q ({robot.nq},), got {type(section).__name__} "
            f"{section!r:.60}."
        )
    at = value(robot, q0, found)
    refuse_other_arguments("`section` must take (robot, value of the task)", section, robot, at)
    given = as_floats("what the section gives", section(robot, at))
    if given.shape != (robot.nq,):
        raise ShapeError(f"a section gives one configuration ({robot.nq},), got shape {given.shape}.")
    off = angle_difference(robot, given, q0)
    if not np.abs(off).max() <= ON_SECTION:
        raise ArgumentError(
            f"q0 = {vector(q0)} is not on the section, which gives {vector(given)} for its value of the task. Pass that "
            "as q0, if the section is right."
        )
    Z = vertical_basis(robot, found, q0)
    held = function_task(DisplacementFromSection(found, section, tuple(map(tuple, Z.tolist()))), len(Z))
    held.key_for(robot)  # traces it: what cannot be traced is refused here
    _refuse_no_section(robot, found, section, q0)
    return ExtendedJacobianLift(found, held, "section")


def _refuse_no_section(robot: Robot, task: Task, section: Section, q0: Array) -> None:
    """Raise unless ρ(σ(y)) = y also beside q₀: J (1 − dσ J) = 0, for 1 − dσ J is the slope of q ⊖ σ(ρ(q))."""
    whole = function_task(
        DisplacementFromSection(task, section, tuple(map(tuple, np.eye(robot.nv).tolist()))), robot.nv
    )
    J = task.jacobian(robot, q0)
    off = np.abs(J @ whole.jacobian(robot, q0)).max() / np.abs(J).max()
    if np.isnan(off):
        raise ArgumentError(f"the section has no derivative at q0 = {vector(q0)}. Take another q0.")
    if off > ON_SECTION:
        raise ArgumentError(
            f"`section` is none: the configuration that it gives for a value beside that of q0 has not that value of the "
            f"task, but one that is off by {off:.2g} of the difference. Is it made for this robot and this task?"
        )


@dataclass(frozen=True)
class DisplacementFromSection:
    """h of one configuration: how far it is from the section, along the directions of ``rows`` (nv − m of nv)."""

    task: Task
    section: Section
    rows: tuple[tuple[float, ...], ...]

    @property
    def __name__(self) -> str:
        return f"section {getattr(self.section, '__name__', 'given')}"

    def __call__(self, robot: Robot, q: Array) -> Array:
        """H (nv − m,), rad or m."""
        there = self.section(robot, value(robot, q, self.task))
        if isinstance(there, (list, tuple)) or (isinstance(there, np.ndarray) and there.dtype.hasobject):
            there = stack([as_numbers(entry) for entry in there])
        return matvec(constant(np.array(self.rows)), difference(robot, there, q))


def value(robot: Robot, q: Array, task: Task) -> Any:
    """Where a task is at q (nq,), as a section takes it."""
    if isinstance(task, FrameTask):
        T = frame_pose(robot, q, task.frame)
        return T if task.kind == "pose" else T[..., :3, :3] if task.kind == "orientation" else T[..., :3, 3]
    if isinstance(task, FunctionTask):
        return task.value(robot, q)
    if isinstance(task, StackedTask):
        return tuple(value(robot, q, one) for one in task.tasks)
    if isinstance(task, SelectedTask) and not isinstance(task.task, StackedTask):
        whole = value(robot, q, task.task)
        if len(np.shape(whole)) == 1:
            return whole[..., constant(task.rows)]
    raise ArgumentError(
        f"the task {task.title!r} has no value that a section could take: pass a whole pose or orientation, a position or "
        "rows of it, a function of q (torsor.function_task), or a stack of these."
    )
