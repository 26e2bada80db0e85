"""Where a task is, how far it is from there to elsewhere, and whether its rows belong to a value at all.

The body twist of a frame is the velocity of its pose, but some rows of it are in general the velocity of nothing. With rows
left out, h ⊂ se(3), they are that of the pose modulo motions in h if these are a group, [h, h] ⊆ h (of all twists that the
robot can reach). If they are not, no self-motion manifold need exist: it does where ker J is integrable,

    dJ(u, w) = Σ (∂_i J_j − ∂_j J_i − Σ_r J_r s_ij^r) u_i w_j = 0        for all u, w with J u = J w = 0

(Frobenius), s the brackets of the velocity frame.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import body_jacobian, frame_pose
from torsor.geometry.freedoms import structure_constants
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task

SAMPLES = 8  # random configurations at which it is asked, besides the given ones
ROUNDING = 1e-9  # of the largest term
WHY = (
    "some rows of a body twist are velocities, not those of a function of q: moves that each hold these rows still hold them "
    "no longer when done in turn (ker J is not integrable)"
)


def place(robot: Robot, q: Array, task: Task) -> tuple[Array, ...]:
    """Where a task is at q (..., nq): poses of frames and values of functions, in the order of its parts."""
    if isinstance(task, FrameTask):
        return (frame_pose(robot, q, task.frame),)
    if isinstance(task, FunctionTask):
        return (task.value(robot, q),)
    if isinstance(task, SelectedTask):
        return place(robot, q, task.task)
    if isinstance(task, StackedTask):
        return tuple(part for one in task.tasks for part in place(robot, q, one))
    raise ArgumentError(
        f"the task {task.name!r} says how fast it moves, not where it is: feedback and errors are known of tasks of frames and "
        "of functions."
    )


def displacement(task: Task, start: tuple[Array, ...], end: tuple[Array, ...]) -> Array:
    """From one place to another (..., m): to first order y_end − y_start, of poses and rotations their logarithm."""
    if isinstance(task, SelectedTask):
        return displacement(task.task, start, end)[..., list(task.rows)]
    if isinstance(task, StackedTask):
        parts, first = [], 0
        for one in task.tasks:
            last = first + _count(one)
            parts.append(displacement(one, start[first:last], end[first:last]))
            first = last
        return np.concatenate(parts, axis=-1)
    (a,), (b,) = start, end
    if isinstance(task, FrameTask):
        if task.kind == "pose":
            return np.asarray(se3.log(se3.inverse(a) @ b))
        if task.kind == "orientation":
            return np.asarray(so3.log(np.swapaxes(a[..., :3, :3], -1, -2) @ b[..., :3, :3]))
        return np.asarray(b[..., :3, 3] - a[..., :3, 3])
    return np.asarray(b - a)


def displaced(task: Task, start: tuple[Array, ...], y: Array) -> tuple[Array, ...]:
    """The place y (..., m) away from another, so that `displacement` from there to it is y; rows that are not selected stay."""
    if isinstance(task, SelectedTask):
        return displaced(task.task, start, spread(task, y))
    if isinstance(task, StackedTask):
        places: list[Array] = []
        for one, own in zip(
            task.tasks, np.split(y, np.cumsum([one.size for one in task.tasks])[:-1], axis=-1), strict=True
        ):
            places += displaced(one, start[len(places) : len(places) + _count(one)], own)
        return tuple(places)
    (a,) = start
    if not isinstance(task, FrameTask):
        return (a + y,)
    if task.kind == "position":
        moved = np.array(np.broadcast_to(a, (*y.shape[:-1], 4, 4)))
        moved[..., :3, 3] += y
        return (moved,)
    twist = y if task.kind == "pose" else np.concatenate([y, np.zeros_like(y)], axis=-1)
    return (np.asarray(a @ se3.exp(twist)),)


def spread(task: SelectedTask, y: Array) -> Array:
    """Numbers of the selected rows (..., m) among zeros for all others of the whole task."""
    whole = np.zeros((*y.shape[:-1], task.task.size))
    whole[..., list(task.rows)] = y
    return whole


def _count(task: Task) -> int:
    """Number of parts that `place` gives for a task."""
    if isinstance(task, SelectedTask):
        return _count(task.task)
    return sum(map(_count, task.tasks)) if isinstance(task, StackedTask) else 1


def jacobian_at(robot: Robot, q: Array, task: Task) -> Array:
    """J (..., m, nv) at q (..., nq), also of a task whose J is the same at all of them."""
    return np.broadcast_to(task.jacobian(robot, q), (*np.shape(q)[:-1], task.size, robot.nv))


def derivative_at(robot: Robot, q: Array, task: Task) -> Array:
    """∂J (..., m, nv, nv) at q (..., nq), derivative index last, also of a task whose ∂J is the same at all of them."""
    return np.broadcast_to(task.derivative(robot, q), (*np.shape(q)[:-1], task.size, robot.nv, robot.nv))


def has_value(robot: Robot, task: Task) -> bool:
    """Whether ẏ of the task is the velocity of something: a pose, a place, a function, or a pose modulo a group."""
    if isinstance(task, (FrameTask, FunctionTask)):
        return True
    if isinstance(task, StackedTask):
        return all(has_value(robot, one) for one in task.tasks)
    if not isinstance(task, SelectedTask):
        return False
    whole, rows = task.task, task.rows
    if isinstance(whole, SelectedTask):
        return has_value(robot, SelectedTask(whole.task, tuple(whole.rows[row] for row in rows)))
    if isinstance(whole, StackedTask):
        first, parts = 0, []
        for one in whole.tasks:
            own = tuple(row - first for row in rows if first <= row < first + one.size)
            parts += [SelectedTask(one, own)] if own else []
            first += one.size
        return all(has_value(robot, part) for part in parts)
    if isinstance(whole, FrameTask) and whole.kind != "position":
        return _left_out_is_a_group(robot, whole.frame, rows)  # rows of an orientation are the first three of a pose
    return has_value(robot, whole)


def is_frame(task: Task) -> bool:
    """Whether its rows are a frame of what it moves in, not some rows of a twist, which turn with it."""
    if isinstance(task, StackedTask):
        return all(map(is_frame, task.tasks))
    return isinstance(task, FrameTask) or has_coordinates(task)


def has_coordinates(task: Task) -> bool:
    """Whether its rows are those of numbers: of positions and functions."""
    if isinstance(task, SelectedTask):
        return has_coordinates(task.task)
    if isinstance(task, StackedTask):
        return all(map(has_coordinates, task.tasks))
    return isinstance(task, FunctionTask) or (isinstance(task, FrameTask) and task.kind == "position")


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
def _left_out_is_a_group(robot: Robot, frame: str, rows: tuple[int, ...]) -> bool:
    """Whether twists that the robot can reach, with none of the rows, have brackets with none of them."""
    q = random_configuration(robot, seed=0, batch=(2 * SAMPLES,))
    twists = np.swapaxes(np.broadcast_to(body_jacobian(robot, q, frame), (2 * SAMPLES, 6, robot.nv)), -1, -2).reshape(
        -1, 6
    )
    _, sigma, axes = np.linalg.svd(twists, full_matrices=False)
    reached = axes[sigma > ROUNDING * max(float(sigma[0]), 1e-300)]  # (r, 6), a basis
    _, sigma, combinations = np.linalg.svd(reached[:, list(rows)].T)
    rank = int(np.sum(sigma > ROUNDING))
    h = combinations[rank:] @ reached  # (k, 6): what is left when the rows vanish
    brackets = np.asarray(lie.bracket(h[:, None, :], h[None, :, :]))
    return bool(np.all(np.abs(brackets[..., list(rows)]) < ROUNDING))
