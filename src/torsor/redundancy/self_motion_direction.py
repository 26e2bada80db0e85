"""The direction of self-motion where there is one: ker J of a task with one row fewer than the robot has freedoms."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.redundancy.regularity import LOST
from torsor.tasks import Task


def self_motion_direction(robot: Robot, q: Array, task: Task) -> Array:
    """z (..., nv) with J z = 0 and Σ z² = 1 at q (..., nq), for nv − m = 1; NaN where J loses rank.

    Its sign is that of the minors of J, det (J; zᵀ) > 0, so that z changes smoothly with q between singular configurations.
    """
    J = np.broadcast_to(task.jacobian(robot, q), (*np.shape(q)[:-1], task.size, robot.nv))
    if not np.isfinite(J).all():
        return np.full((*J.shape[:-2], robot.nv), np.nan)
    _, sigma, rows = np.linalg.svd(J)
    z = rows[..., -1, :]
    oriented = np.sign(np.linalg.det(np.concatenate([J, z[..., None, :]], axis=-2)))[..., None] * z
    lost = sigma[..., -1:] <= LOST * sigma[..., :1]
    return np.where(lost, np.nan, oriented)
