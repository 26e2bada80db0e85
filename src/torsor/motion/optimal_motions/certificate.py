"""Is an optimal motion a minimum, and not of its own spline alone? The second variation, on two splines.

Along what the pressed limits leave free, the second variation of the cost is a quadratic form H, of the Lagrangian. Its leading
part P has only the highest derivative δu⁽ᵈ⁾ that the cost depends on::

    P = Σ_k w_k δu⁽ᵈ⁾ᵀ W_k δu⁽ᵈ⁾,    W = ∂²ℓ/∂u⁽ᵈ⁾²           H x = λ P x

Where W is positive definite all along (Legendre's strengthened condition), H − P is compact: all λ but finitely many are near 1,
and the number of negative ones, the index, is that of the motion itself as soon as splines are fine enough [Hes51]. So the motion
is sought again on a spline of twice as many pieces, from where it is, and λ of both are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays.small_matrices import one_thread
from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.optimal_motions.findings import free_directions
from torsor.motion.optimal_motions.problem import Problem
from torsor.motion.optimal_motions.search import OVERSHOOT, Search
from torsor.motion.optimal_motions.setting import problem_of
from torsor.motion.optimal_motions.sqp import Progress, improve
from torsor.motion.tangent_motion import TangentMotion

FINER = 2  # times as many pieces
FLAT = 1e-9  # curvatures W below this part of the largest are none
FASTENED = 1e-6  # of P, by which variations without u⁽ᵈ⁾, of ends that are free, have a length too


@dataclass(frozen=True, eq=False, repr=False)
class OptimalityReport(Report):
    """What `OptimalMotion.certificate` answers: true if the motion is a minimum among those near it, and there is no doubt.

    Attributes
    ----------
    robot : Robot
    minimal : bool
        Whether no variation within the limits that hold it back lessens the cost, to second order.
    certain : bool
        Whether both splines agree, no λ could have another sign, and the cost bends along its highest derivative.
    negative : int
        The index: how many independent variations lessen the cost.
    lowest : float
        The lowest λ of the second variation, no unit: positive for a minimum, 1 where nothing bends but the leading part.
    uncertainty : float
        Of that λ: by how much it differs between the two splines.
    bends : bool
        Whether the cost has positive curvature along the highest derivative that it depends on, all along: Legendre's condition.
    order : int
        Which derivative that is: 1 of velocities, 2 of accelerations and torques, 3 of jerks.
    saved : float
        By which part of itself the cost is less on a spline of twice as many pieces.
    moved : float
        By how much the motion is another there, rad or m; NaN if that spline found none.
    """

    robot: Robot
    minimal: bool
    certain: bool
    negative: int
    lowest: float
    uncertainty: float
    bends: bool
    order: int
    saved: float
    moved: float

    def __bool__(self) -> bool:
        return self.minimal and self.certain

    def __str__(self) -> str:
        many = f"{self.negative} independent variation{'' if self.negative == 1 else 's'} within its limits"
        if self.certain:
            answer = "a minimum among all motions near it" if self.minimal else f"NOT a minimum: {many} lessen its cost"
        elif not self.bends:
            answer = (
                f"undecided: the cost does not bend along derivatives of order {self.order}, as time alone does not"
            )
        elif np.isnan(self.moved):
            answer = "undecided: a spline of twice as many pieces found no optimum beside it"
        else:
            answer = "undecided: λ may have the other sign. Take more pieces"
        return "\n".join(
            [
                f"optimal motion of robot {self.robot.name!r}: {answer}.",
                f"  negative eigenvalues of the second variation: {self.negative}; the lowest is {self.lowest:.4g} ± "
                f"{self.uncertainty:.1e}.",
                f"  on a spline of twice as many pieces its cost is less by {self.saved:.1e} of it, and it moves by "
                f"{self.moved:.1e}.",
            ]
        )


class _Variation(NamedTuple):
    """The second variation on one spline."""

    values: Array
    bends: bool
    order: int


@one_thread()
def certified(
    robot: Robot, task: Search, q0: Array | None, q1: Array | None, motion: TangentMotion
) -> OptimalityReport:
    """The report on a motion that was found for a task."""
    states = [
        _found_again(task, q0, q1, motion, pieces) for pieces in (task.setting.pieces, FINER * task.setting.pieces)
    ]
    own, fine = states
    coarse, best = (_variation(state) for state in (own, fine)) if fine.converged else (_variation(own), None)
    last = coarse if best is None else best
    uncertainty = np.inf if best is None else abs(best.values[0] - coarse.values[0])
    negative = int((last.values < 0.0).sum())
    agree = best is not None and negative == int((coarse.values < 0.0).sum())
    costs = [state.point.cost / state.problem.size for state in states]
    times = np.linspace(0.0, 1.0, 201)
    apart = np.abs(_curve(fine, times) - _curve(own, times)).max() if fine.converged else np.nan
    return OptimalityReport(
        robot=robot,
        minimal=negative == 0,
        certain=bool(agree and last.bends and np.abs(last.values).min() > uncertainty),
        negative=negative,
        lowest=float(last.values[0]),
        uncertainty=float(uncertainty),
        bends=last.bends,
        order=last.order,
        saved=float((costs[0] - costs[1]) / max(abs(costs[0]), 1e-300)),
        moved=float(apart),
    )


def _found_again(task: Search, q0: Array | None, q1: Array | None, motion: TangentMotion, pieces: int) -> Progress:
    """The optimum on a spline of so many pieces, from a motion, which is one of these splines too."""
    problem = problem_of(replace(task.setting, pieces=pieces), q0, q1)
    s = np.linspace(0.0, 1.0, 4 * problem.spline.points)
    u = motion.segments.at(s * motion.duration).u
    piece, values = problem.spline.at(s)
    B = np.zeros((len(s), problem.spline.points))
    B[np.arange(len(s))[:, None], piece[:, None] + np.arange(values.shape[-1])] = values[:, 0]
    Y = np.linalg.lstsq(B @ problem.unknowns.free, u - B @ problem.unknowns.fixed, rcond=None)[0]
    y = np.append(Y.ravel(), np.log(motion.duration)) if problem.has_free_time else Y.ravel()
    return improve(problem, y, iterations=task.iterations, tolerance=task.tolerance, overshoot=OVERSHOOT)


def _curve(state: Progress, s: Array) -> Array:
    """u (N, n) at parts of the duration."""
    problem = state.problem
    piece, values = problem.spline.at(s)
    points = problem.unknowns.points(state.point.y)
    return np.asarray((values[:, :1] @ points[piece[:, None] + np.arange(values.shape[-1])])[:, 0])


def _variation(state: Progress) -> _Variation:
    problem, p = state.problem, state.point
    free = free_directions(state)
    _, _, h = problem.by_nodes(p, state.multipliers)
    order = max((d for d in range(1, problem.orders) if h[:, d, :, d].any()), default=problem.orders - 1)
    weights = problem.nodes.weights
    counts = weights > 0.0  # others are nodes of limits alone
    W = h[counts, order, :, order] / weights[counts, None, None]
    curvatures = np.linalg.eigvalsh(W)
    bends = bool(curvatures.min() > FLAT * np.abs(curvatures).max())
    if not free.shape[1]:
        return _Variation(np.ones(1), bends, order)
    H, P = problem.model(p, state.multipliers).H, _leading(problem, state, h, order)
    values = np.linalg.eigvalsh(free.T @ H @ free) if not bends else _generalised(free.T @ H @ free, free.T @ P @ free)
    return _Variation(values, bends, order)


def _leading(problem: Problem, state: Progress, h: Array, order: int) -> Array:
    """P, with a little of the variation itself, and of the logarithm of a free duration its own curvature."""
    p, n = state.point, problem.robot.nv
    leading = np.zeros_like(h)
    leading[:, order, :, order] = h[:, order, :, order]
    size = float(np.abs(h[:, order, :, order]).sum()) / p.duration ** (2 * order)
    leading[:, 0, :, 0] += FASTENED * size * problem.nodes.weights[:, None, None] * np.eye(n)
    P = problem.form(leading, p)
    if not problem.has_free_time:
        return P
    time = abs(float(problem.model(p, state.multipliers).H[-1, -1])) or 1.0
    return np.block([[P, np.zeros((len(P), 1))], [np.zeros((1, len(P))), np.full((1, 1), time)]])


def _generalised(H: Array, P: Array) -> Array:
    """λ of H x = λ P x, growing."""
    L = np.linalg.cholesky(P)
    half = np.linalg.solve(L, H)
    return np.asarray(np.linalg.eigvalsh(np.linalg.solve(L, half.T)))
