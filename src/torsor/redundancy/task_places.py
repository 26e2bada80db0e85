"""Where a task is, how far it is from there to elsewhere, and whether its rows belong to a value at all.

The body twist of a frame is the velocity of its pose, but some rows of it are in general the velocity of nothing. With rows
left out, h ⊂ se(3), they are that of the pose modulo motions in h if these are a group, [h, h] ⊆ h (of all twists that the
robot can reach). If they are not, no self-motion manifold need exist: it does where ker J is integrable,

    dJ(u, w) = Σ (∂_i J_j − ∂_j J_i − Σ_r J_r s_ij^r) u_i w_j = 0        for all u, w with J u = J w = 0

(Frobenius), s the brackets of the velocity frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torsor.arrays import cross
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.geometry.freedoms import structure_constants
from torsor.lie.unchecked import bracket
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks import Task
from torsor.tasks.task import Part, joined, leaves
from torsor.tasks.task_groups import FIRST_ORDER, MOTIONS, ROTATIONS

SAMPLES = 8  # random configurations at which it is asked, besides the given ones
ROUNDING = 1e-9  # of the largest term
_BRACKETS = {MOTIONS: bracket, ROTATIONS: cross}
WHY = (
    "some rows of a body twist are velocities, not those of a function of q: moves that each hold these rows still hold them "
    "no longer when done in turn (ker J is not integrable)"
)


def place(robot: Robot, q: Array, task: Task) -> tuple[Array, ...]:
    """Where a task is at q (..., nq): the values of its parts, in their order."""
    return tuple(leaves(task.value(robot, q)))


def displacement(task: Task, start: Sequence[Array], end: Sequence[Array]) -> Array:
    """From one place to another (..., m): to first order y_end − y_start, of poses and rotations their logarithm."""
    asked = [(part, a, b) for part, a, b in zip(task.parts, start, end, strict=True) if part.rows]
    errors = [part.task.error(a, b)[..., list(part.rows)] for part, a, b in asked]
    return np.asarray(joined([part for part, _, _ in asked], errors))


def displaced(task: Task, start: Sequence[Array], y: Array) -> tuple[Array, ...]:
    """The place y (..., m) away from another, so that `displacement` from there to it is y; rows that are not selected stay."""
    return tuple(np.asarray(part.task.group.moved(a, part.own(y))) for part, a in zip(task.parts, start, strict=True))


def body_rates(task: Task, y: Array, y_rate: Array) -> Array:
    """ẏ (m,) of a task whose coordinates y (m,) change by y_rate (m,): of poses and rotations J_r(y) dy/dt, else the same."""
    asked = [part for part in task.parts if part.rows]
    rates = [part.task.group.velocity(part.own(y), part.own(y_rate))[..., list(part.rows)] for part in asked]
    return np.asarray(joined(asked, rates))


def jacobian_at(robot: Robot, q: Array, task: Task) -> Array:
    """J (..., m, nv) at q (..., nq), also of a task whose J is the same at all of them."""
    return np.broadcast_to(task.jacobian(robot, q), (*np.shape(q)[:-1], task.size, robot.nv))


def derivative_at(robot: Robot, q: Array, task: Task) -> Array:
    """∂J (..., m, nv, nv) at q (..., nq), derivative index last, also of a task whose ∂J is the same at all of them."""
    return np.broadcast_to(task.derivative(robot, q), (*np.shape(q)[:-1], task.size, robot.nv, robot.nv))


def has_value(robot: Robot, task: Task) -> bool:
    """Whether ẏ of the task is the velocity of something: a pose, a place, a function, or a pose modulo a group."""
    return all(_part_has_value(robot, part) for part in task.parts if part.rows)


def _part_has_value(robot: Robot, part: Part) -> bool:
    if part.is_whole or not part.task.has_value or part.has_coordinates:
        return part.task.has_value
    return part.task.group in _BRACKETS and _left_out_is_a_group(robot, part.task, part.rows)


def is_frame(task: Task) -> bool:
    """Whether its rows are a frame of what it moves in, not some rows of a twist, which turn with it."""
    return task.has_value and all(part.is_whole or part.has_coordinates for part in task.parts if part.rows)


def moves_on_group(task: Task) -> bool:
    """Whether its values are numbers, rotations or rigid motions, and its rows all those of each: no rows of a twist."""
    return is_frame(task) and all(part.task.group is not FIRST_ORDER for part in task.parts if part.rows)


def is_integrable(robot: Robot, task: Task, q: Array) -> bool:
    """Whether ker J is integrable at q (..., nq) and at some random configurations."""
    if robot.nv - task.size < 2 or has_value(robot, task):
        return True
    some = random_configuration(robot, seed=0, batch=(SAMPLES,))
    return bool(np.all(kernel_brackets(robot, task, np.concatenate([q.reshape(-1, robot.nq), some])) < ROUNDING))


def refuse_no_manifold(robot: Robot, task: Task, q: Array) -> None:
    """Raise where ker J is not integrable: what holds the rows still leads out of every surface."""
    if not is_integrable(robot, task, q):
        raise ArgumentError(
            f"this task has no self-motion manifold, for {WHY}. Hold the whole pose or orientation, a position "
            "(torsor.position_task) or a function of q (torsor.function_task) instead."
        )


def kernel_brackets(robot: Robot, task: Task, q: Array) -> Array:
    """The largest |dJ(u, w)| of orthonormal u and w in ker J at q (B, nq), as a fraction of the largest ∂J: (B,), no unit."""
    J, dJ = jacobian_at(robot, q, task), derivative_at(robot, q, task)  # dJ [a, j, i] = ∂_i J_aj
    curl = np.swapaxes(dJ, -1, -2) - dJ
    if (s := structure_constants(robot.structure)) is not None:
        curl = curl - np.einsum("bar,ijr->baij", J, s)
    Z = np.swapaxes(np.linalg.svd(J)[2][:, task.size :], -1, -2)
    found = np.abs(np.einsum("baij,biu,bjw->bauw", curl, Z, Z)).max(axis=(-3, -2, -1))
    size = np.maximum(np.abs(dJ).max(axis=(-3, -2, -1)), np.abs(J).max(axis=(-2, -1)))
    return np.asarray(found / np.maximum(size, 1e-300))


@remembered(256)
def _left_out_is_a_group(robot: Robot, task: Task, rows: tuple[int, ...]) -> bool:
    """Whether twists that the robot can reach, with none of the rows, have brackets with none of them."""
    q = random_configuration(robot, seed=0, batch=(2 * SAMPLES,))
    twists = np.swapaxes(jacobian_at(robot, q, task), -1, -2).reshape(-1, task.size)
    _, sigma, axes = np.linalg.svd(twists, full_matrices=False)
    reached = axes[sigma > ROUNDING * max(float(sigma[0]), 1e-300)]  # (r, k), a basis
    _, sigma, combinations = np.linalg.svd(reached[:, list(rows)].T)
    rank = int(np.sum(sigma > ROUNDING))
    h = combinations[rank:] @ reached  # what is left when the rows vanish
    brackets = np.asarray(_BRACKETS[task.group](h[:, None, :], h[None, :, :]))
    return bool(np.all(np.abs(brackets[..., list(rows)]) < ROUNDING))
