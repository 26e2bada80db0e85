"""Drift of closed paths, measured: the task goes round and round, and the joints come back elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.functions import difference, mass_matrix
from torsor.model import Robot
from torsor.motion.border import refuse_bad_count, refuse_bad_numbers
from torsor.redundancy.connection import connection
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_displacement import displacement, place
from torsor.redundancy.task_path import Straight, TaskPath, task_path
from torsor.redundancy.tracking import LiftFunction, Tracker, lift_name
from torsor.tasks import Task, as_task

WHO = "closed_loop_drift"
FINE = 2001  # points of a leg, for its area


@dataclass(frozen=True, eq=False)
class LoopDrift:
    """What `closed_loop_drift` has measured, at the start and after each loop (L + 1 rows).

    ``q`` (L + 1, nq), rad or m; ``drift`` (L + 1, nv): from the start to q, rad or m; ``length`` (L + 1,): the same in the
    inertia metric at the start, m·√kg; ``task_error`` (L + 1,): how far the task is from where it began, m and rad as numbers.
    ``area`` (m, m): ½ ∮ (y_a dy_b − y_b dy_a) of one loop; ``predicted`` (nv,): what `vertical_brackets` at the start predict
    for the first loop, to the second order in its size, rad or m (NaN for a lift that is a function).
    """

    robot: str
    lift: str
    q: Array
    drift: Array
    length: Array
    task_error: Array
    area: Array
    predicted: Array

    @property
    def loops(self) -> int:
        """How many loops there were."""
        return len(self.q) - 1

    @property
    def per_loop(self) -> float:
        """The largest displacement of a joint in the first loop, rad or m."""
        return float(np.max(np.abs(self.drift[1])))

    def __str__(self) -> str:
        expected = float(np.max(np.abs(self.predicted)))
        brackets = f"; brackets predict {expected:.3g} for small loops" if np.isfinite(expected) else ""
        return (
            f"robot {self.robot!r}, {self.lift} lift: after {self.loops} loop{'s' if self.loops > 1 else ''} the joints are up "
            f"to {np.max(np.abs(self.drift[-1])):.3g} from where they began ({self.per_loop:.3g} after the first{brackets}), "
            f"while the task has come back to {self.task_error[-1]:.1g}"
        )


def closed_loop_drift(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    path: Any,
    *,
    loops: int = 20,
    lift: str | Array | LiftFunction = "inertia",
    feedback: float = 0.0,
    tolerance: float = 1e-10,
) -> LoopDrift:
    """The joints after each of ``loops`` rounds of a closed path of the task, followed by q̇ = K(q) ẏ [Alt04, §III.B, E004-14].

    What a lift that is not repeatable (`is_repeatable`) does to a robot: the hand repeats itself, the arm does not.

    ``q`` (nq,), rad or m: where it begins. ``task``: a `Task`, or the name of a frame for its body twist. ``path``: a function
    t → ẏ (m,), t from 0 to 1, that comes back (`torsor.redundancy.circle`), or points (k, m) joined by straight legs and closed
    by one more, of which only the differences count; for a pose also poses (k, 4, 4), joined by screw motions. ``lift``:
    "inertia", "pseudoinverse", a constant metric (nv, nv), or a function (robot, q) → K (nv, m). ``feedback``: how fast an error
    of the task is made good, per unit of t of a leg; with ``tolerance``, that of each step of order 8, there is next to none
    without it. Raises at singular configurations. Configurations are compared with `torsor.difference`.
    """
    found = as_task(robot, task)
    q = single_configuration(WHO, robot, q)
    refuse_bad_numbers(WHO, tolerance=tolerance)
    refuse_bad_count(WHO, "loops", loops, 1, "`loops` must be positive")
    way = task_path(WHO, found, path, closed=True)
    tracker = Tracker(WHO, robot, q, found, lift, feedback, tolerance)
    here, reference, ends = q, tracker.reference.start, [q]
    for _ in range(loops):
        for leg in way.legs:
            here, reference, _ = tracker.follow(here, reference, leg, np.zeros(0))
        ends.append(here)
    qs = np.array(ends)
    drift = difference(robot, np.broadcast_to(q, qs.shape), qs)
    length = np.sqrt(np.einsum("ki,ij,kj->k", drift, mass_matrix(robot, q), drift))
    began = tuple(np.broadcast_to(part, (len(qs), *part.shape)) for part in place(robot, q, found))
    error = np.linalg.norm(displacement(found, began, place(robot, qs, found)), axis=-1)
    area = _area(way)
    return LoopDrift(
        robot.name, lift_name(lift), qs, drift, length, error, area, _predicted(robot, q, found, lift, area)
    )


def _predicted(robot: Robot, q: Array, task: Task, lift: Any, area: Array) -> Array:
    if callable(lift):
        return np.full(robot.nv, np.nan)
    brackets = connection(robot, q, task, lift).vertical_brackets()
    return 0.5 * np.einsum("iab,ab->i", brackets, area)


def _area(way: TaskPath) -> Array:
    """½ ∮ (y_a dy_b − y_b dy_a) of the legs (m, m), by trapezoids where they are curved."""
    y = [np.zeros((1, len(np.asarray(way.legs[0](0.0)))))]
    for leg in way.legs:
        times = np.linspace(0.0, 1.0, 2 if isinstance(leg, Straight) else FINE)
        rates = np.array([leg(float(t)) for t in times])
        steps = 0.5 * (rates[1:] + rates[:-1]) * np.diff(times)[:, None]
        y.append(y[-1][-1] + np.cumsum(steps, axis=0))
    points = np.concatenate(y)
    moment = np.einsum("ka,kb->ab", points[:-1], np.diff(points, axis=0))
    return 0.5 * (moment - moment.T)
