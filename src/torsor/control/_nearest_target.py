"""Targets out of reach, and the nearest that are not: where a law should lead a robot instead.

A law that gives a task the acceleration of a spring and a damper takes it to the edge of what the robot can reach as fast as to
any other place. But there ẏ = σ q̇ with σ → 0 along the direction that is lost, and joints would have to be infinitely fast:
what is out of reach cannot be followed for a while and then given up at the edge. So it is given up at once, for the nearest
target within reach, which the law approaches as it does any other.

Near is what E measures: rad and m in proportion to what joints do to them. Joint limits are not looked at, for the laws do not
look at them. A target is within reach if one descent comes to it: from where the robot is, or from one of a fixed set of random
configurations, so that the nearest does not depend on where the robot is.

**The descent.** With e the error of a task, angles and lengths each measured by how much joints usually do to them, r = S⁻¹ e,
what is to vanish is E = ½ rᵀ r. A step u changes e by −A u, and ::

    u = argmin ½ |r − S⁻¹ A u|² + ½ λ |u|²        λ = μ E

is as in `torsor.tasks._inverse_kinematics.descent`, without limits. Where E has a minimum above 0 the target is out of
reach, and steps lead to the nearest that is not. e and A are those of `Task.residual`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays import absolute, constant, dot, matvec, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar, TaskVector
from torsor.border import explained
from torsor.border.numbers import refuse_strangers
from torsor.compiler.run.apart import new_lock
from torsor.compiler.scan import Scan
from torsor.functions.compile import scan
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks import Task, as_task
from torsor.tasks._inverse_kinematics.descent import FLOOR, START, least_squares, next_damping
from torsor.tasks.targets import flat_target, flat_value, leaves_of, target_size, unflattened
from torsor.tasks.task import Value, residual
from torsor.tasks.typical_scales import row_units

REACHED = 1e-6  # of the largest entry of r, about rad: no law can tell it from 0
NEAR, LAST = 10, 400  # steps from where the robot is, and to the nearest
ROUNDS, STEPS, STARTS = 4, 15, 32  # of random configurations
REMEMBERED = 4096  # targets of a robot and a task
STAYS = 0.05  # about rad: how far a target may move to be looked for where the last one was
LOST = 1e-3  # of the largest singular value: directions that do not move at the edge
KEPT = 64


class Nearest(NamedTuple):
    """A target within reach (k,), and what takes velocities (m,) of the target asked for to those of this one (m, m)."""

    goal: TaskVector
    motion: Array


@explained
def nearest_target(robot: Robot, task: Task | str, target: Value) -> Value:
    """Target itself if the robot can reach it, else the nearest that it can: what `operational_space` leads it to.

    A law whose target is an input of a kernel, or of JAX, is given what this returns: there nothing can be searched for.

    Parameters
    ----------
    robot : Robot
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    target : array or a tuple of them
        As for `operational_space`.

    Returns
    -------
    array or a tuple of them
        As ``target`` is. Rows are measured by how much joints usually move them; joint limits are not looked at.
    """
    refuse_strangers(robot, target)
    own = as_task(robot, task)
    goal = flat_target(own, target)
    found, _ = within_reach(robot, own, goal, None, ())
    return unflattened(own, np.array(found))  # the caller's own, for others are remembered


def within_reach(
    robot: Robot, task: Task, goal: Array, q: ConfigurationVector | None, motions: Sequence[Array]
) -> tuple[Array, list[Array]]:
    """Goals (..., k) that can be reached, and motions (..., m) of the goals asked for as the ones of these.

    ``q`` (..., nq): where robots are, if that is known, for whatever is in reach is mostly found from there.
    """
    known = _known(task, robot)
    if goal.ndim == 1:
        found = known.nearest(goal, q if q is not None and q.ndim == 1 else None)
        if found is None:
            return goal, list(motions)
        return found.goal.astype(goal.dtype), [x @ found.motion.T for x in motions]
    batch = goal.shape[:-1]
    flat = np.array(goal.reshape(-1, goal.shape[-1]))
    found_of = known.nearest_of(flat, _one_for_each(q, batch))
    if not found_of:
        return goal, list(motions)
    changes = np.tile(np.eye(task.size), (len(flat), 1, 1))
    for k, found in found_of.items():
        flat[k], changes[k] = found
    changes = changes.reshape(*batch, task.size, task.size)
    return flat.reshape(goal.shape), [matvec(changes, x) for x in motions]


def _one_for_each(q: Array | None, batch: tuple[int, ...]) -> Array | None:
    """q (N, nq), if every goal has one."""
    try:
        if q is None or np.broadcast_shapes(q.shape[:-1], batch) != batch:
            return None
    except ValueError:
        return None  # they do not go together, as the law will say
    return np.broadcast_to(q, (*batch, q.shape[-1])).reshape(-1, q.shape[-1])


@remembered(KEPT)
def _known(task: Task, robot: Robot) -> Known:
    return Known(task, robot)


class Known:
    """What is known of the targets of a task: None for those within reach."""

    def __init__(self, task: Task, robot: Robot) -> None:
        self._task, self._robot = task, robot
        self._kept: OrderedDict[bytes, Nearest | None] = OrderedDict()
        self._last: tuple[Array, Array] | None = None  # the last goal that was out of reach, and the q nearest to it
        self._lock = new_lock()

    def nearest(self, goal: Array, q: Array | None) -> Nearest | None:
        """Of one goal (k,)."""
        key = goal.tobytes()
        try:
            return self._kept[key]
        except KeyError:
            pass
        starts = None if q is None else q[None]
        found = None if self._reached(goal[None], starts, NEAR)[0] else self._searched(goal)
        self._keep(key, found)
        return found

    def nearest_of(self, goals: Array, q: Array | None) -> dict[int, Nearest]:
        """Of goals (N, k), by number, those that are out of reach; each is searched for once, however often it comes."""
        keys = [goal.tobytes() for goal in goals]
        found = {key: self._kept[key] for key in keys if key in self._kept}
        new = [k for k, key in enumerate(keys) if key not in found]
        if new and q is not None:
            there = self._reached(goals[new], q[new], NEAR)
            found |= {keys[k]: None for k, reached in zip(new, there, strict=True) if reached}
        for k in new:
            if keys[k] not in found:
                found[keys[k]] = self._searched(goals[k])
            self._keep(keys[k], found[keys[k]])
        every = ((k, found[key]) for k, key in enumerate(keys))
        return {k: nearest for k, nearest in every if nearest is not None}

    def _keep(self, key: bytes, found: Nearest | None) -> None:
        with self._lock:
            self._kept[key] = found
            while len(self._kept) > REMEMBERED:
                self._kept.popitem(last=False)

    def _reached(self, goals: Array, q: Array | None, steps: int) -> Array:
        """Whether descents from q (N, nq) come to goals (N, k): (N,); not where one of them is no number."""
        if q is None:
            return np.zeros(len(goals), bool)
        reached: Array = descend(self._robot, self._task, q, goals, steps).left <= REACHED
        return reached

    def _searched(self, goal: Array) -> Nearest | None:
        if not np.isfinite(goal).all():
            return None  # the law itself gives no number
        if (found := self._beside_the_last(goal)) is not None:
            return found
        q, goals = (
            random_configuration(self._robot, seed=0, batch=(STARTS,)),
            np.broadcast_to(goal, (STARTS, len(goal))),
        )
        for _ in range(ROUNDS):
            q, E, left = descend(self._robot, self._task, q, goals, STEPS)
            if (left <= REACHED).any():
                return None
        return self._settled(goal, q[int(np.argmin(np.where(np.isnan(E), np.inf, E)))])

    def _beside_the_last(self, goal: Array) -> Nearest | None:
        """The nearest of a goal that has moved a little, where it was before."""
        if self._last is None:
            return None
        before, q = self._last
        if np.abs(goal - before).max() > STAYS * row_units(self._task, self._robot).min():
            return None
        return self._settled(goal, q)

    def _settled(self, goal: Array, q: Array) -> Nearest | None:
        """Where the descent ends."""
        end = descend(self._robot, self._task, q[None], goal[None], LAST)
        if end.left[0] <= REACHED:
            return None
        self._last = goal, end.q[0]
        nearest = flat_value(self._task.value(self._robot, end.q[0]), self._task)
        return Nearest(nearest, self._motion(goal, nearest, end.q[0]))

    def _motion(self, goal: Array, nearest: Array, q: Array) -> Array:
        """Seen from the nearest goal, and without what the robot cannot follow there."""
        unit = row_units(self._task, self._robot)
        U, sizes, _ = np.linalg.svd(self._task.jacobian(self._robot, q) / unit[:, None], full_matrices=False)
        U = U[:, sizes > LOST * sizes[0]]
        P = unit[:, None] * (U @ U.T) / unit
        motion: Array = P @ _seen(self._task, goal, nearest)
        return motion


def _seen(task: Task, goal: Array, nearest: Array) -> Array:
    """What takes motions (m,) in axes of one goal to those of another (m, m)."""
    whole = np.zeros((task.size, task.size))
    for part, a, b in zip(task.parts, leaves_of(task, nearest), leaves_of(task, goal), strict=True):
        if part.rows:
            still, motions = np.zeros(part.task.size), np.eye(part.task.size)
            seen = part.task.group.compare(part.task.error(a, b), still, motions, still).velocity
            whole[np.ix_(part.places, part.places)] = seen.T[np.ix_(part.rows, part.rows)]
    return whole


class Descent(NamedTuple):
    """Where K states came to: ``q`` (K, nq), E (K,), and the largest entry of r (K,), about rad."""

    q: Array
    E: Array
    left: Array


def descend(robot: Robot, task: Task, q: Array, goals: Array, steps: int) -> Descent:
    """So many steps from q (K, nq) towards goals (K, k)."""
    loop = _loop(task, robot)
    end = loop(steps=steps, every=steps, q=q, damping=np.full(len(q), START), goal=goals)
    return Descent(*(end[name][:, 0] for name in ("q", "E", "left")))


@remembered(KEPT)
def _loop(task: Task, robot: Robot) -> Scan:
    unit = row_units(task, robot)

    def towards_target(robot: Robot, q: Array, damping: Array, goal: Array) -> dict[str, Array]:
        return task_step(robot, q, damping, goal, task, unit)

    return scan(towards_target, robot, {"q": robot.nq, "damping": ()}, constants={"goal": target_size(task)})


def task_step(
    robot: Robot, q: ConfigurationVector, damping: Scalar, goal: TaskVector, task: Task, unit: TaskVector
) -> dict[str, Array]:
    """The next q and damping μ, with E after the step and the largest entry of r."""
    e, A = residual(task, robot, q, leaves_of(task, goal))
    r, B = e / unit, A / unit[:, None]
    E = 0.5 * dot(r, r)
    u = least_squares(B, r, damping * E + FLOOR)
    q_next = integrate(robot, q, u, constant(1.0))
    r_next = residual(task, robot, q_next, leaves_of(task, goal)).error / unit
    E_next = 0.5 * dot(r_next, r_next)
    foreseen = r - matvec(B, u)
    gain = (E - E_next) / (E - 0.5 * dot(foreseen, foreseen) + 1e-300)
    better = (E_next < E)[..., None]  # not if it is NaN
    r_now = where(better, r_next, r)
    left = absolute(r_now[..., 0])
    for k in range(1, task.size):
        entry = absolute(r_now[..., k])
        left = where(entry > left, entry, left)
    return {
        "q": where(better, q_next, q),
        "damping": next_damping(damping, gain),
        "E": where(E_next < E, E_next, E),
        "left": left,
    }
