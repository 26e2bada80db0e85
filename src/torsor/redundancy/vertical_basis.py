"""A basis of the self-motions at one configuration, where the task is regular."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.redundancy.regularity import LOST
from torsor.redundancy.report_text import vector
from torsor.tasks import Task
from torsor.tasks.public import task_rank


def vertical_basis(robot: Robot, task: Task, q: Array) -> Array:
    """Z (nv − m, nv), orthonormal rows with J Zᵀ = 0 at q (nq,); raises where J loses rank."""
    _, sigma, rows = np.linalg.svd(np.asarray(task.jacobian(robot, q)))
    if not sigma[-1] > LOST * sigma[0]:
        raise ArgumentError(
            f"the task is singular at q0 = {vector(q)} of robot {robot.name!r}: J has {task_rank(robot, q, task)}. "
            "Take another q0."
        )
    return np.asarray(rows[task.size :])
