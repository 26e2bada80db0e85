"""Closed paths of the task: do the joints come back, and if not, by how much do they drift?

A lift is repeatable where the brackets of its columns stay among them, and drifts by what sticks out. Drift is also measured:
the task goes round and round, and the joints come back elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.curvature import Drawn
from torsor.redundancy.brackets import bracket_terms, brackets_of, connection
from torsor.redundancy.configurations import (
    regular_configurations,
    single_configuration,
    tried,
    units_of_freedoms,
    vector,
)
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift
from torsor.redundancy.lifted_curves import Tracker
from torsor.redundancy.lifts import GivenLift, Lift, given_lift
from torsor.redundancy.task_places import (
    WHY,
    TaskPath,
    displacement,
    has_value,
    is_integrable,
    kernel_brackets,
    place,
    task_path,
)
from torsor.tasks import Task, as_task

OPEN = 1e-6  # of the size of a path: how far from its start a closed one may end


@dataclass(frozen=True, eq=False, repr=False)
class PathDrift(Report):
    """What `closed_path_drift` has measured, at the start and after each of L rounds (L + 1 rows).

    Attributes
    ----------
    robot : Robot
    lift : str
        The name of the lift.
    q : (L + 1, nq) array
        Configurations, rad or m.
    drift : (L + 1, nv) array
        From the start to q, rad or m.
    length : (L + 1,) array
        The same in the inertia metric at the start, m·√kg.
    task_error : (L + 1,) array
        How far the task is from where it began, m and rad as numbers.
    area : (m, m) array
        ½ ∮ (y_a dy_b − y_b dy_a) of one round.
    predicted : (nv,) array
        What `vertical_brackets` at the start predict for the first round, to the second order in its size, rad or m.
    limit : str or None
        The first limit of positions that is passed, with joint, round and t, in words.
    finished : bool
        False if the motion was to stay within the limits, and so has gone round fewer times than asked for.
    """

    robot: Robot
    lift: str
    q: Array
    drift: Array
    length: Array
    task_error: Array
    area: Array
    predicted: Array
    limit: str | None = None
    finished: bool = True

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each freedom, "rad" or "m" (nv,)."""
        return units_of_freedoms(self.robot.structure)

    @property
    def rounds(self) -> int:
        """How many rounds there were."""
        return len(self.q) - 1

    @property
    def per_round(self) -> float:
        """The largest displacement of a joint in the first round, rad or m."""
        return float(np.max(np.abs(self.drift[1])))

    def __str__(self) -> str:
        expected = float(np.max(np.abs(self.predicted)))
        off, moved = float(self.task_error[-1]), float(np.max(np.abs(self.drift[-1])))
        back = f"while the task has come back to {off:.1g}"
        if off > 1e-3 * moved and off > 1e-6:
            back = f"and the task is {off:.2g} from where it began: this lift does not do it, J K ≠ 1"
        return (
            f"robot {self.robot.name!r}, {self.lift} lift: after {self.rounds} round{'s' if self.rounds > 1 else ''} the joints "
            f"are up to {moved:.3g} from where they began ({self.per_round:.3g} after the first; brackets predict {expected:.3g} "
            f"for small paths), {back}{self._limit()}"
        )

    def _limit(self) -> str:
        if self.limit is None:
            return ""
        return (
            f"; joints go beyond {self.limit}"
            if self.finished
            else f"; it cannot go on within the limits, for {self.limit}"
        )


@explained
def closed_path_drift(
    robot: Robot,
    q0: GivenConfiguration,
    task: Task | str,
    path: Any,
    *,
    rounds: int = 20,
    lift: Lift = "inertia",
    feedback: float = 0.0,
    tolerance: float = 1e-10,
    within_limits: bool = False,
) -> PathDrift:
    """Drift of the joints after each round of a closed path of the task, q̇ = K(q) ẏ [Alt04, §III.B, E004-14]. One start only.

    What a lift that is not repeatable (`is_repeatable`) does to a robot: the hand repeats itself, the arm does not. It raises at
    singular configurations, and where the task has not come back after the first round, as with some rows of a twist.
    Configurations are compared with `torsor.difference`.

    Parameters
    ----------
    robot : Robot
    q0 : (nq,) array
        Where it begins, rad or m.
    task : Task or str
        The name of a frame means its body twist.
    path : Circle, array or function
        A circle (`torsor.redundancy.circle`); points (k, m) joined by straight legs and closed by one more, of which only the
        differences to the first count, and which of a pose or orientation are exponential coordinates about where it starts,
        T = T₀ exp(y − y₀); for a pose also poses (k, 4, 4), in base axes, joined by screw motions, the first where the frame is;
        or a function t → ẏ (m,), t from 0 to 1, that comes back.
    rounds : int
        How many rounds.
    lift : str, metric or function
        "inertia", "pseudoinverse", a metric (nv, nv), or a function (robot, q) → metric (nv, nv) or K (nv, m).
    feedback : float
        How fast an error of the task is made good, per unit of t of a leg; there is next to none without it.
    tolerance : float
        Of each step of order 8.
    within_limits : bool
        Ends after the last round in which no joint comes to a limit of its position, and raises if there is none. If False it
        goes on beyond, and the result says where.

    Returns
    -------
    PathDrift
        ``q`` (rounds + 1, nq) and ``drift`` (rounds + 1, nv), rad or m.
    """
    q = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_bad_numbers(tolerance=tolerance)
    refuse_bad_count("rounds", rounds, 1, "`rounds` must be positive")
    tracker = Tracker(robot, q, found, lift, feedback, tolerance, within_limits=within_limits)
    way = task_path(robot, q, found, path, closed=True)
    ends, limit = _ends_of_rounds(tracker, q, way, rounds)
    if len(ends) == 1:
        raise ArgumentError(
            f"robot {robot.name!r} cannot go round once within its limits: it comes to {limit}. Take a smaller path, "
            "start elsewhere on the self-motion (torsor.redundancy.self_motion), or pass within_limits=False."
        )
    qs = np.array(ends)
    drift = difference(robot, np.broadcast_to(q, qs.shape), qs)
    length = np.sqrt(np.einsum("ki,ij,kj->k", drift, mass_matrix(robot, q), drift))
    began = tuple(np.broadcast_to(part, (len(qs), *part.shape)) for part in place(robot, q, found))
    error = np.linalg.norm(displacement(found, began, place(robot, qs, found)), axis=-1)
    brackets = brackets_of(robot, q, found, tracker.given)
    predicted = 0.5 * np.einsum("iab,ab->i", brackets, way.area)
    finished, name = len(ends) == rounds + 1, tracker.given.name
    return PathDrift(robot, name, qs, drift, length, error, way.area, predicted, limit, finished)


def _ends_of_rounds(tracker: Tracker, q: Array, way: TaskPath, rounds: int) -> tuple[list[Array], str | None]:
    """Configurations (nq,) at the start and after each round that was finished, and the first limit that was met, in words."""
    here, reference, ends, limit = q, tracker.reference.start, [q], None
    for done in range(rounds):
        for number, leg in enumerate(way.legs):
            end = tracker.follow(here, reference, leg, np.zeros(0))
            here, reference = end.q, end.reference
            if limit is None and end.limit is not None:
                limit = f"{end.limit}, in round {done + 1} at t = {number + end.at:.6g} of {len(way.legs)}"
            if end.end < 1.0:
                return ends, limit
        if done == 0:
            _refuse_open(tracker, q, here, way)
        ends.append(here)
    return ends, limit


def _refuse_open(tracker: Tracker, q: Array, end: Array, way: TaskPath) -> None:
    """Raise if the task is not at ``end`` where it was at q, after one round, unless that is the fault of a lift that is none."""
    robot, task, given = tracker.robot, tracker.task, tracker.given
    off = displacement(task, place(robot, q, task), place(robot, end, task))
    if np.linalg.norm(off) <= max(OPEN, 1e3 * tracker.tolerance) * max(way.size, OPEN):
        return
    K, J = given.lift_at(robot, q, task), task.jacobian(robot, q)
    if given.function is not None and np.abs(J @ K - np.eye(task.size)).max() > OPEN:
        return
    why = f": {WHY}" if not has_value(robot, task) else ""
    raise ArgumentError(
        f"the path is open: after one round the task is {np.linalg.norm(off):.3g} from where it began, by {vector(off)}"
        f"{why}. A function t → ẏ must bring the task back, and body twists with ∮ ẏ dt = 0 do not; pass a circle, points or "
        "poses (k, 4, 4) of a whole pose or orientation, or a task of positions."
    )


DIFFERENCED = 1e-8  # what differences of a lift of the user's own may be off by


@dataclass(frozen=True, eq=False, repr=False)
class RepeatabilityReport(Report):
    """The answer of `is_repeatable`, true if no bracket was found to leave the lift, and what it rests on.

    Attributes
    ----------
    robot : Robot
    lift : str
        The name of the lift.
    repeatable : bool
    largest : float
        The largest vertical bracket of orthonormal lifted fields as a fraction of its largest term, no unit; it counts as
        rounding up to ``tolerance``.
    where : (nq,) array
        The configuration at which it was found, rad or m.
    rows : tuple of str
        The two rows of the task whose closed paths drift most there.
    drift : (nv,) array
        Displacement of the joints after a small closed path of unit area in these rows, rad or m per squared unit of the task.
    drift_length : float
        The same in the inertia metric, m·√kg.
    configurations, skipped : int
        How many configurations were tried, and how many more were singular.
    has_value : bool
        The task comes back to where it was when a path closes. False of rows of a twist that are those of no function (ker J is
        not integrable), for which brackets say whether the columns of the lift are integrable, and nothing of closed paths.
    """

    robot: Robot
    lift: str
    repeatable: bool
    largest: float
    tolerance: float
    where: Array
    rows: tuple[str, ...]
    drift: Array
    drift_length: float
    configurations: int
    skipped: int
    has_value: bool = True

    def __bool__(self) -> bool:
        return self.repeatable

    def __str__(self) -> str:
        what = f"robot {self.robot.name!r}: the {self.lift} lift of the task"
        if not self.rows:
            return (
                f"{what} is repeatable: a task of one row encloses no area, and without redundancy nothing can drift."
            )
        at = tried(self.configurations, self.skipped)
        what = what if self.has_value else f"{what} (whose closed paths have no end to come back to, for {WHY})"
        if self.repeatable:
            return (
                f"{what} is repeatable: at {at} no vertical bracket exceeds {self.largest:.1g} of its largest term (tolerance "
                f"{self.tolerance:.0e})."
            )
        return (
            f"{what} is not repeatable: vertical brackets are up to {self.largest:.2g} of their largest terms (of {at}, at q = "
            f"{vector(self.where)}). There a small closed path in {' and '.join(self.rows)} displaces the joints by "
            f"{vector(self.drift)} per area, {self.drift_length:.3g} m·√kg in the inertia metric."
        )


@explained
def is_repeatable(
    robot: Robot,
    task: Task | str,
    *,
    lift: Lift = "inertia",
    q: GivenConfiguration | None = None,
    configurations: int = 12,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-9,
) -> RepeatabilityReport:
    """Report that is true if closed paths of the task close in the joints: [K_a, K_b] ∈ span K [SY88; Alt04, §III.B, E004-14].

    That is so of all that can be drawn together to a point without meeting a singular configuration; others, once round a
    hole, may come back elsewhere still. Neither flatness of the robot nor the use of a pseudoinverse makes it so [E004-7].

    What `vertical_brackets` says at one configuration is asked at several, and measured against the terms that cancel.
    `closed_path_drift` measures the drift of a path itself.

    Parameters
    ----------
    robot : Robot
    task : Task or str
        The name of a frame means its body twist.
    lift : str, metric or function
        "inertia", "pseudoinverse", a metric (nv, nv), or a function (robot, q) → metric (nv, nv) or K (nv, m).
    q : (..., nq) array, optional
        Configurations to ask at, rad or m; random ones within the limits if None.
    configurations : int
        How many random configurations.
    seed : int or numpy.random.Generator
        Of the random configurations.
    tolerance : float
        No unit; of a function at least 1e-8, for it is differentiated by differences, unless it is an `extended_jacobian_lift`.

    Returns
    -------
    RepeatabilityReport
        It is true or false and says why when printed.
    """
    refuse_strangers(robot)
    refuse_bad_numbers(tolerance=tolerance)
    found = as_task(robot, task)
    drawn = regular_configurations(robot, task, q, configurations, seed)
    given = given_lift(robot, found, lift, drawn.q[0])
    drawn = _with_lift(robot, found, given, drawn)
    tolerance = max(tolerance, DIFFERENCED) if given.is_differenced else tolerance
    count, valued = len(drawn.q), has_value(robot, found) or is_integrable(robot, found, drawn.q)
    rows: tuple[str, ...] = ()
    largest, where, drift, length = 0.0, drawn.q[0], np.zeros(robot.nv), 0.0  # of a task that cannot drift
    if 1 < found.size < robot.nv:
        relative = _relative_brackets(robot, drawn.q, found, given)
        worst = int(np.argmax(relative))
        largest, where = float(relative[worst]), drawn.q[worst]
        B, M = brackets_of(robot, where, found, given), mass_matrix(robot, where)
        lengths = np.sqrt(np.maximum(np.einsum("iab,ij,jab->ab", B, M, B), 0.0))
        a, b = divmod(int(np.argmax(np.triu(lengths))), found.size)
        a, b = (a, b) if a != b else (0, 1)
        rows, drift, length = (found.labels[a], found.labels[b]), B[:, a, b], float(lengths[a, b])
    what = robot, given.name, bool(largest <= tolerance), largest, tolerance, where
    return RepeatabilityReport(*what, rows, drift, length, count, drawn.skipped, valued)


def _with_lift(robot: Robot, task: Task, given: GivenLift, drawn: Drawn) -> Drawn:
    """Those configurations at which the lift itself is regular; raises if there is none."""
    good = given.is_regular_at(robot, drawn.q, task)
    if not good.any():
        raise ArgumentError(
            f"the {given.name} lift is singular at all {len(good)} configurations of robot {robot.name!r}. "
            f"{given.why_singular(robot, drawn.q[0])}"
        )
    return Drawn(drawn.q[good], drawn.skipped + int(np.sum(~good)))


def _relative_brackets(robot: Robot, q: Array, task: Task, lift: GivenLift) -> Array:
    """The largest ⟨z, [k_a, k_b]⟩ of orthonormal lifted k and vertical z (B,), over the terms that cancel in it."""
    if isinstance(
        lift.function, ExtendedJacobianLift
    ):  # span K = ker ∂h, and what leaves it is the bracket's part along ∂h
        return kernel_brackets(robot, lift.function.constraint, q)
    there = connection(robot, q, task, lift)
    L = np.linalg.cholesky(np.linalg.inv(np.swapaxes(there.K, -1, -2) @ there.metric @ there.K))
    Z, K = there.vertical_frame(), there.K @ L
    terms = [np.einsum("...iz,...icd,...ca,...db->...zab", Z, term, L, L) for term in bracket_terms(there, q, lift)]
    # A derivative along k turns things by |k| rad: where all terms vanish, that is the size of their rounding.
    size = np.max(np.abs(K), axis=(-2, -1))
    for term in terms:
        size = np.maximum(size, np.max(np.abs(term), axis=(-3, -2, -1)))
    return np.asarray(np.max(np.abs(sum(terms)), axis=(-3, -2, -1)) / size)
