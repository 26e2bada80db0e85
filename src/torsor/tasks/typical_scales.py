"""What is usual for a task: the sizes of its rows and its rank at random configurations, found once for each robot.

A row of J that is small beside what it usually is, by 1e-13, is all rounding error, however it compares with the other rows
here: the only row there is, or all of them, may have vanished.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays import dot
from torsor.arrays.exact import coarse
from torsor.arrays.typing import Array, TaskJacobian
from torsor.compiler.backend import backend
from torsor.errors import ArgumentError
from torsor.functions.public import dynamics
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks.task import Task

SAMPLES = 64
VANISHED = 1e-13  # of the usual length of a row: the rounding errors of a long chain and ten times more
INDEPENDENT = 1e-9  # of the largest singular value


@remembered(256)
def usual_rows(task: Task, robot: Robot) -> Array:
    """|J_i| (m,), root mean square over random configurations: per s for a unit of |v|. 0 for a row that never moves."""
    return _kept(np.sqrt(np.mean(np.sum(_jacobians(task, robot) ** 2, axis=-1), axis=0)))


@remembered(256)
def row_units(task: Task, robot: Robot) -> Array:
    """What rows of an error are measured by (m,): the usual length of rows of J, one for angles of a part, one for lengths."""
    found = np.ones(task.size)
    for part in task.parts:
        rows, units = np.array(usual_rows(part.task, robot)), np.array(part.task.units)
        for unit in set(part.task.units) - {""}:
            rows[units == unit] = np.sqrt(np.mean(rows[units == unit] ** 2))
        longest = rows.max()
        if longest > 0.0:
            rows = np.where(rows > VANISHED * longest, rows, longest)
            found[list(part.places)] = rows[list(part.rows)]
    return found


@remembered(256)
def usual_scales(task: Task, robot: Robot) -> Array:
    """√(J M⁻¹ Jᵀ)_ii (m,), root mean square over random configurations: what a row can usually be moved by, per s for 1 J.

    For a row that never moves, that of the row that moves most.
    """
    J = _jacobians(task, robot)
    with backend("numpy"):
        M_inverse = dynamics.inverse_mass_matrix(robot, _samples(robot))
    squares = np.nanmean(np.einsum("...ij,...jk,...ik->...i", J, M_inverse, J), axis=0)
    largest = squares.max(initial=0.0)
    return _kept(np.sqrt(np.where(squares > VANISHED**2 * largest, squares, largest if largest > 0.0 else 1.0)))


@remembered(256)
def usual_rank(task: Task, robot: Robot) -> int:
    """The rank of J at almost all configurations."""
    sizes = np.linalg.svd(_jacobians(task, robot), compute_uv=False)
    return int(np.sum(sizes > np.maximum(INDEPENDENT * sizes[..., :1], VANISHED), axis=-1).max())


def refuse_dependent_rows(task: Task, robot: Robot) -> None:
    """Raise if the rows of a task are dependent at every configuration, saying which."""
    if not robot.is_concrete or usual_rank(task, robot) == task.size:
        return
    of_robot = f"task {task.title!r} of robot {robot.name!r}"
    if task.size > robot.nv:
        raise ArgumentError(
            f"{of_robot} has {task.size} rows and the robot {robot.nv} degrees of freedom, so the rows are never independent: "
            f"select {robot.nv} or fewer with task.select, or damp: damped_task_space_dynamics."
        )
    rows, labels = usual_rows(task, robot), np.array(task.labels, dtype=object)
    still = rows <= VANISHED * max(1.0, rows.max(initial=0.0))
    if still.all():
        raise ArgumentError(f"{of_robot}: no joint moves any of its rows ({', '.join(labels)}).")
    if still.any():
        moving = ", ".join(map(repr, labels[~still]))
        raise ArgumentError(
            f"{of_robot}: no joint moves {', '.join(labels[still])}. Select the others: task.select([{moving}])."
        )
    raise ArgumentError(
        f"{of_robot}: its {task.size} rows ({', '.join(labels)}) are dependent at every configuration, their rank is at most "
        f"{usual_rank(task, robot)}. Select that many with task.select, or damp: damped_task_space_dynamics."
    )


def vanished_rows(robot: Robot, task: Task, J: TaskJacobian) -> list[Array] | None:
    """Which rows of J are all rounding error beside what they usually are (...); None where that is not known."""
    if not robot.is_concrete:
        return None
    floors = (VANISHED * usual_rows(task, robot)) ** 2
    return [~(dot(J[..., i, :], J[..., i, :]) > floors[i]) for i in range(task.size)]


@remembered(16)
def _jacobians(task: Task, robot: Robot) -> Array:
    """J (SAMPLES, m, nv), without compiling anything for it."""
    with backend("numpy"):
        return np.asarray(task.jacobian(robot, _samples(robot)))


def _samples(robot: Robot) -> Array:
    return random_configuration(robot, seed=0, batch=(SAMPLES,))


def _kept(x: Array) -> Array:
    """What programs have as constants: evaluated at samples, so that the last digits depend on the processor."""
    x = coarse(x)
    x.flags.writeable = False
    return x
