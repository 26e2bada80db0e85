"""Back onto a fibre: Newton's method from configurations beside it, to rounding."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.redundancy.regularity import LOST
from torsor.redundancy.task_displacement import displacement, place
from torsor.tasks import Task

STEPS = 3  # from nearby, each doubles the number of digits
ROUNDING = 3e-16  # m or rad


def onto_fibre(robot: Robot, q: Array, task: Task, target: tuple[Array, ...]) -> Array:
    """The nearest configurations to q (..., nq) with the task at ``target``, where `place` has it: dq = J⁺ (y − y(q))."""
    target = tuple(np.broadcast_to(part, (*q.shape[:-1], *part.shape)) for part in target)
    for _ in range(STEPS):
        error = displacement(task, place(robot, q, task), target)
        if np.max(np.abs(error), initial=0.0) < ROUNDING:
            break
        J = np.broadcast_to(task.jacobian(robot, q), (*q.shape[:-1], task.size, robot.nv))
        # By singular values: near a singular configuration (J Jᵀ)⁻¹ would lose the digits that J still has. At one, nothing is
        # done about the direction that is lost.
        q = integrate(robot, q, np.einsum("...ia,...a->...i", np.linalg.pinv(J, rcond=0.1 * LOST), error))
    return np.asarray(q)
