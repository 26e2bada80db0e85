"""When is the horizontal lift the pseudoinverse? Exactly where M maps the rows of J among themselves: [M, J⁺J] = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers, refuse_unknown
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.redundancy.connection import configurations_of
from torsor.redundancy.report_text import vector
from torsor.tasks import Task, as_task
from torsor.tasks.public import horizontal_lift, pseudoinverse_lift


@dataclass(frozen=True, eq=False)
class LiftAgreement:
    """The answer of `lifts_agree`, true if the two lifts are one at all configurations asked for.

    ``commutator`` (...): ‖M J⁺J − J⁺J M‖ as a fraction of ‖M‖, no unit. ``difference`` (...): ‖K − J⁺‖, and ``relative``
    (...) that as a fraction of ‖J⁺‖ (Frobenius norms, rad and m as numbers). ``where`` (nq,): the configuration at which
    the commutator is largest.
    """

    robot: str
    agree: bool
    commutator: Array
    difference: Array
    relative: Array
    tolerance: float
    where: Array

    def __bool__(self) -> bool:
        return self.agree

    def __str__(self) -> str:
        worst = np.unravel_index(int(np.argmax(self.commutator)), self.commutator.shape)
        q = vector(self.where)
        at = f"at q = {q}" if self.commutator.size == 1 else f"at {self.commutator.size} configurations"
        size = f"[M, J⁺J] is {float(self.commutator[worst]):.2g} of M"
        if self.agree:
            return (
                f"robot {self.robot!r}: the horizontal lift is the pseudoinverse {at}: {size} (tolerance {self.tolerance:.0e}). "
                "The mass matrix maps ker J to itself there."
            )
        worst_at = "" if self.commutator.size == 1 else f", worst at q = {q}"
        return (
            f"robot {self.robot!r}: the horizontal lift is not the pseudoinverse {at}{worst_at}: {size}, and the lifts differ by "
            f"{float(self.difference[worst]):.3g}, which is {float(self.relative[worst]):.2g} of J⁺. The mass matrix does not "
            "map ker J to itself: least kinetic energy and least Σ v² are different motions."
        )


@explained
def lifts_agree(robot: Robot, q: ConfigurationVector, task: Task | str, *, tolerance: float = 1e-9) -> LiftAgreement:
    """Whether `horizontal_lift` and `pseudoinverse_lift` are the same, and by how much they are not [Alt04, (23), E004-12].

    For every M > 0 and J of full rank: K = J⁺ ⟺ the rows of J span an invariant space of M ⟺ M ker J ⊆ ker J ⟺
    [M, J⁺J] = 0. Flatness of M, a Riemannian submersion and integrable horizontals together do not imply it: two slides in
    line are enough to see that (docs/papers/altafini_2004.md).

    ``q`` (..., nq), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``tolerance``: of ‖[M, J⁺J]‖ /
    ‖M‖, no unit. Returns a report that is true or false and says why when printed.
    """
    q = configurations_of(robot, q)
    refuse_bad_numbers(tolerance=tolerance)
    if q.size == 0:
        raise ArgumentError(f"there are no configurations to compare lifts at, `q` has shape {q.shape}.")
    refuse_unknown(q)
    J = as_task(robot, task).jacobian(robot, q)
    M, K, J_plus = mass_matrix(robot, q), horizontal_lift(robot, q, task), pseudoinverse_lift(robot, q, task)
    if not (np.isfinite(K).all() and np.isfinite(J_plus).all()):
        raise ArgumentError(
            f"at some of the configurations of robot {robot.name!r} J loses rank or M is singular: there is no lift "
            "to compare. torsor.tasks.task_rank(robot, q, task) tells where."
        )
    P = J_plus @ J
    commutator = _norm(M @ P - P @ M) / _norm(M)
    difference = _norm(K - J_plus)
    where = q.reshape(-1, robot.nq)[int(np.argmax(commutator))]
    agree = bool(np.all(commutator <= tolerance))
    return LiftAgreement(robot.name, agree, commutator, difference, difference / _norm(J_plus), tolerance, where)


def _norm(A: Array) -> Array:
    """Frobenius norm over the last two axes."""
    return np.asarray(np.sqrt(np.sum(A * A, axis=(-2, -1))))
