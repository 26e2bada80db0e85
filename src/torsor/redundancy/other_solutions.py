"""Other configurations that do the same to a task, from random starts by Newton's method."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot, random_configuration
from torsor.redundancy.angle_difference import turned_inside
from torsor.redundancy.limit_margin import room
from torsor.redundancy.regularity import LOST, is_regular
from torsor.redundancy.task_displacement import displacement, place
from torsor.tasks import Task
from torsor.tasks.public import pseudoinverse_lift

STEPS = 60  # of Newton's method from each random start
LARGEST = 0.5  # step of it, rad or m: longer ones are shortened


def solutions(
    robot: Robot,
    q: Array,
    task: Task,
    starts: int,
    seed: int,
    limit: float = 1.0 / LOST,
    *,
    within_limits: bool = False,
) -> Array:
    """Configurations (k, nq) that do to the task what q does, q first; regular with a condition up to ``limit``.

    ``within_limits``: only those within the limits of positions, where a joint is the same after a whole turn.
    """
    some = random_configuration(robot, seed=seed, batch=(starts,))
    target = tuple(np.broadcast_to(part, (starts, *part.shape)) for part in place(robot, q, task))
    for _ in range(STEPS):
        error = displacement(task, place(robot, some, task), target)
        dq = np.nan_to_num(np.einsum("kia,ka->ki", pseudoinverse_lift(robot, some, task), error))
        size = np.linalg.norm(dq, axis=-1, keepdims=True)
        some = integrate(robot, some, dq * np.minimum(1.0, LARGEST / np.maximum(size, 1e-300)))
    arrived = np.linalg.norm(displacement(task, place(robot, some, task), target), axis=-1) < 1e-9
    J = np.broadcast_to(task.jacobian(robot, some), (starts, task.size, robot.nv))
    good = arrived & is_regular(robot, some, J, limit)
    if within_limits:
        some = turned_inside(robot, some)
        good &= room(robot, some) >= 0.0
    return np.concatenate([q[None], some[good]])
