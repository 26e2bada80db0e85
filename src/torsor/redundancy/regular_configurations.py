"""Random configurations at which a task is not singular: where questions about all configurations are asked."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import refuse_bad_count, refuse_unknown
from torsor.errors import ArgumentError, ModelError
from torsor.model import Robot, random_configuration
from torsor.redundancy.connection import configurations_of
from torsor.redundancy.regularity import is_regular
from torsor.tasks import Task, as_task

DRAWS = 20  # configurations drawn for one that is not singular, before giving up
LIMIT = (
    1e4  # condition up to which a configuration counts as regular: what is measured there loses eight digits at most
)


class Drawn(NamedTuple):
    """Configurations (B, nq), and how many were left out because they are singular."""

    q: Array
    skipped: int


def regular_configurations(robot: Robot, task: Task | str, q: Any, configurations: int, seed: int) -> Drawn:
    """Those of q (..., nq) at which the task is regular; if it is None, ``configurations`` random ones within the limits."""
    found = as_task(robot, task)
    if robot.nv < found.size:
        raise ArgumentError(
            f"robot {robot.name!r} has {robot.nv} degrees of freedom, fewer than the {found.size} rows of the task."
        )
    if q is not None:
        given = configurations_of(robot, q).reshape(-1, robot.nq)
        if len(given) == 0:
            raise ArgumentError("`q` holds no configuration; leave it out for random ones.")
        refuse_unknown(given)
        good = is_regular(robot, given, _jacobian(robot, found, given), LIMIT)
        if not good.any():
            raise ArgumentError(f"none of the configurations of robot {robot.name!r} is regular.")
        return Drawn(given[good], int(np.sum(~good)))
    refuse_bad_count("configurations", configurations, 1, "`configurations` must be positive")
    generator = np.random.default_rng(seed)
    drawn, skipped = np.zeros((0, robot.nq)), 0
    while len(drawn) < configurations:
        some = random_configuration(robot, seed=generator, batch=(configurations - len(drawn),))
        good = is_regular(robot, some, _jacobian(robot, found, some), LIMIT)
        drawn, skipped = np.concatenate([drawn, some[good]]), skipped + int(np.sum(~good))
        if skipped >= DRAWS * (1 + len(drawn)):
            raise ModelError(
                f"the task or the mass matrix of robot {robot.name!r} is singular at {skipped} of {skipped + len(drawn)} "
                "random configurations. torsor.tasks.task_rank(robot, q, task) tells what cannot be done, "
                "torsor.dynamics.mass_matrix_report(robot, q) which motion meets no inertia."
            )
    return Drawn(drawn, skipped)


def _jacobian(robot: Robot, task: Task, q: Array) -> Array:
    return np.broadcast_to(task.jacobian(robot, q), (*q.shape[:-1], task.size, robot.nv))
