"""Where a task is, how far it is from there to elsewhere, ways for it to go, and whether its rows belong to a value at all.

The body twist of a frame is the velocity of its pose, but some rows of it are in general the velocity of nothing. With rows
left out, h ⊂ se(3), they are that of the pose modulo motions in h if these are a group, [h, h] ⊆ h (of all twists that the
robot can reach). If they are not, no self-motion manifold need exist: it does where ker J is integrable,

    dJ(u, w) = Σ (∂_i J_j − ∂_j J_i − Σ_r J_r s_ij^r) u_i w_j = 0        for all u, w with J u = J w = 0

(Frobenius), s the brackets of the velocity frame.

**Paths** are a rate for every instant, or legs between points. Of a pose or orientation, numbers y are exponential coordinates
about where it starts, so that a closed curve of y closes::

    T = T₀ exp(y(t))                ẏ of the task is the body twist T⁻¹ Ṫ = J_r(y) dy/dt

Integrating body twists as if they were rates of numbers does not: ∮ V dt = 0 brings no rotation back [Bar17, (7.83)].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor._reports import one_line
from torsor.arrays import cross
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError, ShapeError
from torsor.geometry.freedoms import structure_constants
from torsor.lie.unchecked import bracket, se3
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.redundancy.configurations import derivative_at, jacobian_at, vector
from torsor.tasks import Task, pose_task
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


FINE = 2001  # points of a curved leg, for its area
AT_START = 1e-6  # rad or m: how near to the hand the first of some poses must be


class Rate(Protocol):
    """t from 0 to 1 → ẏ (m,)."""

    def __call__(self, t: float, /) -> Array:
        """Task velocity (m,) at t."""


class Way(Protocol):
    """A rate dy/dt of coordinates whose integral y is known."""

    def __call__(self, t: float, /) -> Array:
        """Rate dy/dt (m,) of the coordinates at t."""

    def place(self, t: float, /) -> Array:
        """Coordinates y (m,) at t."""


class TaskPath(NamedTuple):
    """Legs of equal duration, each a rate over t from 0 to 1 of the leg: the task velocity (m,) per leg.

    ``area`` (m, m): ½ ∫ (y_a dy_b − y_b dy_a) over all legs; ``size``: the largest |y| on the way.
    """

    legs: tuple[Rate, ...]
    area: Array
    size: float


class Straight(NamedTuple):
    """A straight leg: one rate (m,) all the way, from ``start`` (m,)."""

    rate: Array
    start: Array

    def __call__(self, t: float) -> Array:
        """Rate (m,), the same at any time."""
        return self.rate

    def place(self, t: float) -> Array:
        """Coordinates y (m,) at t."""
        return self.start + t * self.rate


class Circle(NamedTuple):
    """Round a circle that begins where the task is: y = r ((1 − cos 2πt) e_a + sin 2πt e_b), t from 0 to 1."""

    size: int
    radius: float
    a: int
    b: int

    def __repr__(self) -> str:
        return one_line(self)

    def __call__(self, t: float) -> Array:
        """Rate dy/dt (m,) of the coordinates at t."""
        turn = 2 * np.pi
        return self._vector(turn * np.sin(turn * t), turn * np.cos(turn * t))

    def place(self, t: float) -> Array:
        """Coordinates y (m,) at t."""
        return self._vector(1.0 - np.cos(2 * np.pi * t), np.sin(2 * np.pi * t))

    def _vector(self, along_a: float, along_b: float) -> Array:
        y = np.zeros(self.size)
        y[self.a], y[self.b] = self.radius * along_a, self.radius * along_b
        return y


class OnGroup(NamedTuple):
    """A way in exponential coordinates of poses and rotations, as the body twists that follow it."""

    task: Task
    way: Way

    def __call__(self, t: float) -> Array:
        """Task velocity (m,) at t."""
        return body_rates(self.task, self.way.place(t), np.asarray(self.way(t), float))


@explained
def circle(task: Task | str, radius: float, *, rows: Sequence[int | str] = (0, 1)) -> Circle:
    """Circle in two rows of a task, a closed path for `closed_path_drift`.

    It begins where the task is, in the direction of the second row, with the centre in the direction of the first. Of a pose
    or orientation the rows are exponential coordinates about where it begins.

    Parameters
    ----------
    task : Task or str
        The name of a frame means its pose.
    radius : float
        In the unit of the rows, m or rad; a negative one puts the centre on the other side.
    rows : two of int or str
        By number or label.

    Returns
    -------
    Circle
    """
    task = task if isinstance(task, Task) else pose_task(task)
    given = (rows,) if isinstance(rows, (str, int)) else tuple(rows)
    if len(given) != 2:
        raise ArgumentError(f"needs two rows of the task, got {list(given)!r}.")
    for row in given:
        if isinstance(row, str):
            refuse_unknown_word("rows", row, task.labels)
    a, b = (task.labels.index(row) if isinstance(row, str) and row in task.labels else row for row in given)
    if not all(isinstance(row, int) and 0 <= row < task.size for row in (a, b)) or a == b:
        raise ArgumentError(
            f"rows are two of {', '.join(task.labels)}, or of 0 … {task.size - 1}, got {list(given)!r}."
        )
    if not (np.ndim(radius) == 0 and np.isfinite(radius) and radius != 0):
        raise ArgumentError(f"`radius` must be one finite number other than zero, got {radius!r:.60}.")
    return Circle(task.size, float(radius), int(a), int(b))


def task_path(robot: Robot, q: Array, task: Task, path: Any, *, closed: bool) -> TaskPath:
    """What the user has passed, as legs from where q (nq,) is; ``closed`` adds the way back to the first point."""
    if isinstance(path, Circle):
        if path.size != task.size:
            raise ShapeError(f"this circle is for a task of {path.size} rows, and the task has {task.size}.")
        return _measured([_on_group(task, path)], [path])
    if callable(path):
        rate = np.asarray(path(0.0), float)
        if rate.shape != (task.size,):
            raise ShapeError(f"a path as a function gives the task velocity ({task.size},), got {rate.shape}.")
        return _measured([path], [path])
    points = np.asarray(path, float)
    takes_poses = task.group is MOTIONS
    poses = takes_poses and points.ndim == 3 and points.shape[1:] == (4, 4)
    if not poses and not (points.ndim == 2 and points.shape[1] == task.size):
        also = " or poses (k, 4, 4)" if takes_poses else ""
        raise ShapeError(
            f"a path of this task is a function t → ẏ ({task.size},), t from 0 to 1, or points (k, {task.size}){also}; "
            f"got shape {points.shape}."
        )
    if len(points) < 2:
        raise ShapeError(f"a path has two points or more, got {len(points)}.")
    if not np.isfinite(points).all():
        raise ArgumentError("the points of a path must be finite numbers, got NaN or infinity.")
    if poses:
        _refuse_other_start(robot, q, task, points)
    if closed:
        points = np.concatenate([points, points[:1]])
    if poses:  # screw motions, each from the frame where the last one ended
        steps = se3.log(se3.inverse(points[:-1]) @ points[1:])
        starts = np.concatenate([np.zeros((1, 6)), np.cumsum(steps, axis=0)[:-1]])
        screws = [Straight(step, start) for step, start in zip(steps, starts, strict=True)]
        return _measured(screws, screws)
    y = points - points[0]
    ways = [Straight(end - start, start) for start, end in pairwise(y)]
    return _measured([_on_group(task, way) for way in ways], ways)


def _on_group(task: Task, way: Way) -> Rate:
    return way if task.has_coordinates else OnGroup(task, way)


def _refuse_other_start(robot: Robot, q: Array, task: Task, poses: Array) -> None:
    R = poses[:, :3, :3]
    off = max(np.abs(R @ np.swapaxes(R, -1, -2) - np.eye(3)).max(), np.abs(poses[:, 3] - [0, 0, 0, 1]).max())
    if off > AT_START:
        raise ArgumentError(f"poses are rotations and places, (R, p; 0, 1); these are off by {off:.2g}.")
    apart = np.asarray(task.error(task.value(robot, q), poses[0]))
    if np.linalg.norm(apart) > AT_START:
        raise ArgumentError(
            f"the first pose is not where {task.name!r} is at this q: it is {np.linalg.norm(apart[:3]):.3g} rad and "
            f"{np.linalg.norm(apart[3:]):.3g} m away, by {vector(apart)}. Poses are absolute: for moves relative to the frame "
            f"pass torsor.frame_pose(robot, q, {task.name!r}) @ moves, the first of them the identity."
        )


def _measured(legs: Sequence[Rate], coordinates: Sequence[Rate]) -> TaskPath:
    """The path with its area ½ ∮ (y_a dy_b − y_b dy_a), by trapezoids where legs are curved."""
    y = [np.zeros((1, len(np.asarray(coordinates[0](0.0)))))]
    for leg in coordinates:
        times = np.linspace(0.0, 1.0, 2 if isinstance(leg, Straight) else FINE)
        rates = np.array([leg(float(t)) for t in times], float)
        steps = 0.5 * (rates[1:] + rates[:-1]) * np.diff(times)[:, None]
        y.append(y[-1][-1] + np.cumsum(steps, axis=0))
    points = np.concatenate(y)
    moment = np.einsum("ka,kb->ab", points[:-1], np.diff(points, axis=0))
    return TaskPath(tuple(legs), 0.5 * (moment - moment.T), float(np.max(np.linalg.norm(points, axis=-1))))
