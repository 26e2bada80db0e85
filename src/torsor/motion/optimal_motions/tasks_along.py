"""Configurations and tasks that a motion passes, or keeps all along, as terms at nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.optimal_motions.terms import Bound, Term
from torsor.motion.optimal_motions.traced_terms import traced_term
from torsor.motion.tangent_motion import configurations_of
from torsor.tasks import Task
from torsor.tasks.targets import plain_targets, unflattened

SIZE = 0.1  # rad or m, what an error of a task is measured in


def passed(robot: Robot, through: Any) -> tuple[Term, ...]:
    """Equations at parts of the duration: of each, a configuration or a mapping of tasks to targets."""
    if through is None:
        return ()
    if not isinstance(through, Mapping):
        raise ArgumentError(
            f"`through` must be a mapping from parts of the duration, 0 < s ≤ 1, to configurations or tasks, got {through!r:.60}."
        )
    found: list[Term] = []
    for s, what in through.items():
        if not isinstance(s, (int, float, np.integer, np.floating)) or not 0.0 <= s <= 1.0:
            raise ArgumentError(f"`through` has {s!r:.40}, which must be a part of the duration, from 0 to 1.")
        place = np.array([float(s)])
        if isinstance(what, Mapping):
            found += [_task(robot, task, target, place, 0.0) for task, target in what.items()]
        else:
            found.append(_configuration(robot, what, place))
    return tuple(found)


def kept(robot: Robot, along: Any, within: float) -> tuple[Term, ...]:
    """Tasks whose errors stay within a distance all along."""
    if along is None:
        return ()
    if not isinstance(along, Mapping):
        raise ArgumentError(f"`along` must be a mapping from tasks to targets, got {along!r:.60}.")
    return tuple(_task(robot, task, target, None, within) for task, target in along.items())


def configurations_in(through: Any) -> dict[float, Array]:
    """The configurations among what is passed, for a first motion through them."""
    given = through.items() if isinstance(through, Mapping) else ()
    return {float(s): np.asarray(q, float) for s, q in given if not isinstance(q, Mapping) and 0.0 < s < 1.0}


def _configuration(robot: Robot, q: Any, place: Array) -> Term:
    (goal,) = configurations_of(robot, **{f"through[{place[0]:g}]": q})
    if goal.ndim != 1:
        raise ArgumentError(
            f"`through` at {place[0]:g} must be one configuration ({robot.nq},), got shape {goal.shape}."
        )
    names, one, all_of_them = robot.structure.freedoms, np.ones(robot.nv), np.arange(robot.nv)
    kind, no_units = f"position at {place[0]:g} of the duration", ("",) * robot.nv
    if robot.structure.has_plain_velocities:
        return Bound(kind, names, no_units, 0, all_of_them, all_of_them, goal, goal, one, place)
    zero = np.zeros(robot.nv)

    def away(q: Any, v: Any, a: Any, tau: Any) -> Any:
        return difference(robot, goal, q)

    return traced_term(robot, away, kind, names, zero, zero, one, places=place)


def _task(robot: Robot, task: Any, target: Any, place: Array | None, within: float) -> Term:
    if not isinstance(task, Task):
        raise ArgumentError(
            f"tasks are made by torsor.pose_task, position_task, orientation_task, function_task, got {task!r:.60}."
        )
    flat = plain_targets(task, target)
    if flat.ndim != 1:
        raise ArgumentError(f"the target of task {task.title!r} must be one, got a batch {flat.shape[:-1]}.")
    goal = unflattened(task, flat)

    def error(q: Any, v: Any, a: Any, tau: Any) -> Any:
        return task.error(task.value(robot, q), goal)

    bound = np.full(task.size, within)
    names = tuple(f"{task.title} {label}" for label in task.labels)
    kind = "error" if place is None else f"error at {place[0]:g} of the duration"
    scale = np.full(task.size, within if place is None else SIZE)
    return traced_term(robot, error, kind, names, -bound, bound, scale, task.units, place)
