"""Is a lift repeatable? It is where the brackets of its columns stay among them, and drifts by what sticks out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.functions import mass_matrix
from torsor.geometry.freedoms import structure_constants
from torsor.model import Robot
from torsor.motion.border import refuse_bad_numbers, refuse_strangers
from torsor.redundancy.connection import Connection, LiftName, connection, refuse_no_lift
from torsor.redundancy.in_words import tried, vector
from torsor.redundancy.regular_configurations import regular_configurations
from torsor.tasks import Task, as_task

WHO = "is_repeatable"


@dataclass(frozen=True, eq=False)
class RepeatabilityReport:
    """The answer of `is_repeatable`, true if no bracket was found to leave the lift, and what it rests on.

    ``largest``: the largest vertical bracket of orthonormal lifted fields as a fraction of its largest term, no
    unit, found at ``where`` (nq,). ``rows``: the two rows of the task whose loops drift most there; ``drift`` (nv,): the
    displacement of the joints after a small loop of unit area in these rows, rad or m per squared unit of the task, and
    ``drift_length``: the same in the inertia metric, m·√kg. ``configurations`` tried, and ``skipped``, which were singular.
    """

    robot: str
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

    def __bool__(self) -> bool:
        return self.repeatable

    def __str__(self) -> str:
        what = f"robot {self.robot!r}: the {self.lift} lift of the task"
        if not self.rows:
            return f"{what} is repeatable: a task of one row has no loops, and without redundancy nothing can drift."
        at = tried(self.configurations, self.skipped)
        if self.repeatable:
            return (
                f"{what} is repeatable: at {at} no vertical bracket exceeds {self.largest:.1g} of its largest term (tolerance "
                f"{self.tolerance:.0e})."
            )
        return (
            f"{what} is not repeatable: vertical brackets are up to {self.largest:.2g} of their largest terms (of {at}, at q = "
            f"{vector(self.where)}). There a small loop in {' and '.join(self.rows)} displaces the joints by "
            f"{vector(self.drift)} per area, {self.drift_length:.3g} m·√kg in the inertia metric."
        )


def is_repeatable(
    robot: Robot,
    task: Task | str,
    lift: LiftName = "inertia",
    *,
    q: ConfigurationVector | None = None,
    configurations: int = 12,
    seed: int = 0,
    tolerance: float = 1e-9,
) -> RepeatabilityReport:
    """Whether closed ways of the task close in the joints: [K_a, K_b] ∈ span K [SY88; Alt04, §III.B, E004-14].

    Neither flatness of the robot nor the use of a pseudoinverse makes it so [E004-7]. What `vertical_brackets` says at one
    configuration is asked at ``q`` (..., nq), rad or m, or at random ``configurations`` within the limits, and measured
    against the terms that cancel. `closed_loop_drift` measures the drift of a loop itself.

    ``task``: a `Task`, or the name of a frame for its body twist. ``lift``: "inertia", "pseudoinverse", or a constant metric
    (nv, nv). ``tolerance``: no unit. Returns a report that is true or false and says why when printed.
    """
    refuse_strangers(WHO, robot)
    refuse_no_lift(WHO, robot, lift)
    refuse_bad_numbers(WHO, tolerance=tolerance)
    found, name = as_task(robot, task), lift if isinstance(lift, str) else "given metric's"
    drawn = regular_configurations(WHO, robot, task, q, configurations, seed)
    count = len(drawn.q)
    if found.size == 1 or found.size == robot.nv:
        none = np.zeros(robot.nv)
        return RepeatabilityReport(
            robot.name, name, True, 0.0, tolerance, drawn.q[0], (), none, 0.0, count, drawn.skipped
        )
    there = connection(robot, drawn.q, task, lift)
    relative = _relative_brackets(there)
    worst = int(np.argmax(relative))
    B, M = there.vertical_brackets()[worst], mass_matrix(robot, drawn.q[worst])
    lengths = np.sqrt(np.maximum(np.einsum("iab,ij,jab->ab", B, M, B), 0.0))
    a, b = divmod(int(np.argmax(np.triu(lengths))), found.size)
    a, b = (a, b) if a != b else (0, 1)
    return RepeatabilityReport(
        robot.name,
        name,
        bool(relative[worst] <= tolerance),
        float(relative[worst]),
        tolerance,
        drawn.q[worst],
        (found.labels[a], found.labels[b]),
        B[:, a, b],
        float(lengths[a, b]),
        count,
        drawn.skipped,
    )


def _relative_brackets(there: Connection) -> Array:
    """The largest ⟨z, [k_a, k_b]⟩ of orthonormal horizontal k and vertical z (B,), over the terms that cancel in it."""
    L, Z = np.linalg.cholesky(there.gram), there.vertical_frame()
    K = there.K @ L
    terms = [np.einsum("...iz,...icd,...ca,...db->...zab", Z, term, L, L) for term in there.bracket_terms()]
    terms += [-np.swapaxes(term, -1, -2) for term in terms]
    if (s := structure_constants(there.robot.structure)) is not None:
        terms.append(np.einsum("...iz,...ij,klj,...ka,...lb->...zab", Z, there.metric, s, K, K))
    # A derivative along k turns things by |k| rad: where all terms vanish, that is the size of their rounding.
    size = np.max(np.abs(K), axis=(-2, -1))
    for term in terms:
        size = np.maximum(size, np.max(np.abs(term), axis=(-3, -2, -1)))
    return np.asarray(np.max(np.abs(sum(terms)), axis=(-3, -2, -1)) / size)
