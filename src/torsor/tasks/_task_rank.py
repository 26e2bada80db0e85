"""Is a task singular here, and what is lost? Rank and singular values of J, and the direction that is nearest to being lost.

Assumptions A1 (J is onto) and A2 (its kernel has dimension n − m) are one and the same; the kernel never has less, and has
more where the task is singular [Alt04, §II.B, E004-5].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border.numbers import refuse_strangers
from torsor.model import Robot
from torsor.tasks.singular_directions import direction_in_words, half_axes
from torsor.tasks.task import Task, as_task
from torsor.tasks.typical_scales import VANISHED, usual_rank, usual_rows


class TaskRank(NamedTuple):
    """Rank of a task's Jacobian at a configuration, and how far it is from losing more; m rows of the task."""

    labels: tuple[str, ...]
    """Names of the rows."""
    rank: Array
    """(...): how many independent velocities the task has here."""
    usual_rank: int
    """The rank at almost all configurations."""
    null_dimension: Array
    """(...): dimension of the kernel of J, the motions that the task does not see: nv − rank."""
    singular_values: Array
    """(..., m), largest first, in units of the task; zeros for rows beyond the number of freedoms."""
    smallest: Array
    """(...): the smallest singular value among the ``usual_rank`` largest; 0 at a singularity."""
    condition: Array
    """(...): the largest by the smallest; no unit, ∞ at a singularity."""
    lost: Array
    """(..., m): unit vector in task coordinates along which the robot can move least, of those where it usually can."""

    @property
    def is_onto(self) -> Array:
        """A1, which is A2: every velocity of the task is possible (...) [Alt04, E004-5]."""
        return self.rank == len(self.labels)

    @property
    def is_singular(self) -> Array:
        """Whether the rank is less than it usually is (...)."""
        return self.rank < self.usual_rank

    def __str__(self) -> str:
        """In words, for one state; how many are singular, for a batch."""
        if self.singular_values.ndim > 1:
            return (
                f"{int(self.is_singular.sum())} of {self.rank.size} states are singular; usual rank {self.usual_rank}"
            )
        if np.isnan(self.singular_values).any():
            return "nothing is known: the configuration is not a number"
        if not self.usual_rank:
            return f"rank 0 of {len(self.labels)}: no joint moves it"
        direction = direction_in_words(self.labels, self.lost)
        end = f"lost: {direction}" if self.is_singular else f"next to be lost: {direction}, {self.smallest:.3g}"
        return f"rank {int(self.rank)} of {len(self.labels)} (usually {self.usual_rank}), condition {self.condition:.3g}; {end}"


def task_rank(robot: Robot, q: ConfigurationVector, task: Task | str, *, tolerance: float = 1e-9) -> TaskRank:
    """Rank of a task's Jacobian, its singular values and the direction nearest to being lost [Alt04, A1, A2, E004-5].

    ``q`` (..., nq), rad or m. ``tolerance``: singular values below this fraction of the largest count as zero, as do those that
    are all rounding error beside what is usual. For NumPy arrays; of a q that is NaN, the rank is 0 and the rest NaN.
    """
    refuse_strangers(robot, q)
    task = as_task(robot, task)
    U, s = half_axes(task.jacobian(robot, np.asarray(q, dtype=float)))
    vanished = VANISHED * usual_rows(task, robot).max(initial=0.0)
    rank, usual = np.sum(s > np.maximum(tolerance * s[..., :1], vanished), axis=-1), usual_rank(task, robot)
    last = max(usual, 1) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(rank < usual, np.inf, s[..., 0] / s[..., last])
    smallest = np.where(rank < usual, 0.0, s[..., last])
    return TaskRank(task.labels, rank, usual, robot.nv - rank, s, smallest, condition, U[..., :, last])
