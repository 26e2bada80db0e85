"""Is a lift repeatable? It is where the brackets of its columns stay among them, and drifts by what sticks out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers, refuse_strangers
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.motion.curvature import Drawn
from torsor.redundancy.brackets import bracket_terms, brackets_of, connection
from torsor.redundancy.configurations import regular_configurations, tried, vector
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift
from torsor.redundancy.lifts import GivenLift, Lift, given_lift
from torsor.redundancy.task_places import WHY, has_value, is_integrable, kernel_brackets
from torsor.tasks import Task, as_task

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
    if found.size == 1 or found.size == robot.nv:
        none = np.zeros(robot.nv)
        return RepeatabilityReport(
            robot, given.name, True, 0.0, tolerance, drawn.q[0], (), none, 0.0, count, drawn.skipped, valued
        )
    relative = _relative_brackets(robot, drawn.q, found, given)
    worst = int(np.argmax(relative))
    B, M = brackets_of(robot, drawn.q[worst], found, given), mass_matrix(robot, drawn.q[worst])
    lengths = np.sqrt(np.maximum(np.einsum("iab,ij,jab->ab", B, M, B), 0.0))
    a, b = divmod(int(np.argmax(np.triu(lengths))), found.size)
    a, b = (a, b) if a != b else (0, 1)
    return RepeatabilityReport(
        robot,
        given.name,
        bool(relative[worst] <= tolerance),
        float(relative[worst]),
        tolerance,
        drawn.q[worst],
        (found.labels[a], found.labels[b]),
        B[:, a, b],
        float(lengths[a, b]),
        count,
        drawn.skipped,
        valued,
    )


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
