"""Sequential quadratic programming with the exact Hessian of the Lagrangian [NW06, ch. 18; LKPKB05].

Each step is that of a quadratic program (`quadratic_program`) whose Hessian is made positive definite where it is not. Negative
curvatures are replaced by parts of their absolute values, first along what active limits leave free and then across, where a
step cannot go anyway: near an optimum it is Newton's. The length of a step is found by the merit function f + ρ · (the largest
violation), exact for ρ above the sum of all multipliers. Limits that the linear problem cannot keep are relaxed by t at the
price ρ, which grows while that helps [BNW08]. A step that the curvature of the limits spoils is corrected to second order [NW06,
ch. 18].

Limits are kept at nodes. After small steps they are looked at between nodes, and nodes are added where they are passed: an
exchange for problems with infinitely many limits [HK93]. While steps are large that would do harm: with new nodes the merit of
the point is suddenly larger, and any step that keeps these limits would do, whatever it costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.optimal_motions.between_nodes import passed_between
from torsor.motion.optimal_motions.problem import Model, Point, Problem
from torsor.motion.optimal_motions.quadratic_program import Rows, Step, solve

FIRST_PRICE, LAST_PRICE = 10.0, 1e7
SLOPE = 1e-4  # of the decrease foreseen, that a step must reach
LEAST = 1e-6  # curvature at first, of the largest
FLAT = 2e-6  # of the largest pivot: smaller ones, which are roots of curvatures, are none
STIFFEST, SOFTEST = 1.0, 1e-2  # of what negative eigenvalues are replaced by, in their absolute values
SHORTEST = 1e-6  # part of a step
NEAR = 0.1  # part of the largest unknown: after steps that are not larger, limits are looked at between nodes
END = 1e-3  # residual from which on nodes may be as close to each other as they need


class Residuals(NamedTuple):
    """How far a point is from an optimum: of the gradient of the Lagrangian, of the limits, and of multipliers of others."""

    slope: float
    violation: float
    complementarity: float

    @property
    def worst(self) -> float:
        """The largest but that of the limits, by which it is scaled."""
        return max(self.slope, self.complementarity)


NOWHERE = Residuals(np.inf, np.inf, np.inf)


@dataclass(eq=False)
class Progress:
    """Where an iteration is, and how it came there."""

    problem: Problem
    point: Point
    multipliers: Array
    residuals: Residuals = NOWHERE
    iterations: int = 0
    converged: bool = False
    infeasible: bool = False
    interrupted: bool = False
    price: float = FIRST_PRICE
    stiffness: float = STIFFEST
    """Of directions of negative curvature: less of it while full steps succeed, for these are too short."""
    moved: float = np.inf
    """How far the last step went, in the unknown that it changed most."""
    history: list[tuple[float, float, float]] = field(default_factory=list)
    """Cost, violation and residual at each iterate."""
    evaluations: int = 0


def improve(problem: Problem, y: Array, *, iterations: int, tolerance: float, overshoot: float) -> Progress:
    """The optimum near y, or the best point on the way to it when that is interrupted."""
    state = Progress(problem, problem.at(y), np.zeros((len(problem.nodes.s), problem.width)))
    try:
        _run(state, iterations, tolerance, overshoot)
    except KeyboardInterrupt:
        state.interrupted = True
    return state


def _run(state: Progress, iterations: int, tolerance: float, overshoot: float) -> None:
    while True:
        model = state.problem.model(state.point, state.multipliers)
        state.residuals = residuals(state, model)
        state.history.append((state.point.cost, state.point.violation, state.residuals.worst))
        if state.point.violation <= tolerance and state.residuals.worst <= tolerance:
            state.converged = not _refine(state, overshoot)
            if state.converged:
                return
            continue
        if state.iterations >= iterations or not _advance(state, model, tolerance):
            return
        if state.moved <= NEAR * float(np.abs(state.point.y).max(initial=0.0)):
            _refine(state, overshoot)


def _refine(state: Progress, overshoot: float) -> bool:
    """Whether limits are passed between nodes, where there are nodes now."""
    more = passed_between(state.problem, state.point.y, overshoot, apart=0.02 if state.residuals.worst <= END else 0.3)
    if not len(more):
        return False
    old, before = state.problem, state.multipliers
    state.problem = old.refined(more)
    state.point = state.problem.at(state.point.y)
    state.multipliers = np.zeros((len(state.problem.nodes.s), old.width))
    state.multipliers[np.searchsorted(state.problem.nodes.s, old.nodes.s)] = before
    return True


def residuals(state: Progress, model: Model) -> Residuals:
    """Of the conditions of Karush, Kuhn and Tucker, with the cost in units of its size and limits in those of their scales."""
    p, q = state.point, state.problem
    scaled = state.multipliers * q.scale
    room = np.where(scaled > 0.0, q.upper - p.c, np.where(scaled < 0.0, p.c - q.lower, 0.0)) / q.scale
    slack = float(np.abs(scaled * np.where(np.isfinite(room), room, 0.0)).max(initial=0.0))
    return Residuals(float(np.abs(model.slope).max(initial=0.0)), p.violation, slack)


def _advance(state: Progress, model: Model, tolerance: float) -> bool:
    """One step; False if there is none."""
    problem, p = state.problem, state.point
    state.iterations += 1
    rows = Rows(
        p.c / problem.scale,
        problem.lower / problem.scale,
        problem.upper / problem.scale,
        lambda node, column: problem.rows(p, node, column),
        lambda s: (problem.changes(p, s) / problem.scale).ravel(),
        problem.count,
    )
    sides = np.sign(state.multipliers).ravel()
    H, L = positive_definite(model.H, rows, sides, state.stiffness)
    step = solve(H, L, model.gradient, rows, sides, state.price)
    step = _dearer(state, H, L, model, rows, sides, step)
    state.price = max(state.price, 1.5 * float(np.abs(step.multipliers).sum()))
    found = _along(state, model, rows, step, H, L)
    if found is None:
        if p.violation > tolerance and step.relaxed > 0.5 * p.violation:
            state.infeasible = True
        elif p.violation > tolerance and state.price < LAST_PRICE:
            state.price *= 10.0
            return True
        state.multipliers = step.multipliers / problem.scale
        return False
    moved, part = found
    state.stiffness = max(0.25 * state.stiffness, SOFTEST) if part == 1.0 else min(4.0 * state.stiffness, STIFFEST)
    state.moved = float(np.abs(moved.y - p.y).max(initial=0.0))
    state.multipliers = state.multipliers + part * (step.multipliers / problem.scale - state.multipliers)
    state.point = moved
    if moved.violation > tolerance and step.relaxed > 0.9 * p.violation and state.moved < 1e-6:
        state.infeasible = state.price >= LAST_PRICE
        state.price = min(10.0 * state.price, LAST_PRICE)
        return not state.infeasible
    return True


def positive_definite(H: Array, rows: Rows, sides: Array, stiffness: float) -> tuple[Array, Array]:
    """H changed so that it is positive definite, and its lower factor."""
    from scipy.linalg import lapack

    size = float(np.abs(H).max(initial=0.0)) or 1.0
    least = 1e-12 * size * np.eye(len(H))
    factor, info = lapack.dpotrf(H + least, lower=1)
    if not info and _is_sound(factor):
        return H, factor
    active = np.flatnonzero(sides)
    if len(active):
        H = _bent(H, rows.of(active), stiffness, LEAST * stiffness * size)
    else:
        values, vectors = np.linalg.eigh(H)
        H = (vectors * _positive(values, stiffness, LEAST * stiffness * size)) @ vectors.T
    return H, np.linalg.cholesky(H + least)


def _bent(H: Array, A: Array, stiffness: float, least: float) -> Array:
    """H with positive curvatures along what the limits A leave free, and then across.

    With Z a basis of what A leaves free and Y one of the rest, H is positive definite if Zᵀ H Z and its Schur complement,
    Yᵀ H Y − Yᵀ H Z (Zᵀ H Z)⁻¹ Zᵀ H Y, both are. Where Zᵀ H Z is, it stays: such a step is one of Newton's.
    """
    Q, R = np.linalg.qr(A.T, mode="complete")
    rank = int((np.abs(np.diag(R)) > 1e-9 * np.abs(R).max()).sum())
    Y, Z = Q[:, :rank], Q[:, rank:]
    HZ = H @ Z
    values, vectors = np.linalg.eigh(Z.T @ HZ)
    along = _positive(values, stiffness, least)
    ways = vectors.T @ (HZ.T @ Y)  # Zᵀ H Y in the eigenvectors' coordinates
    bridge = ways.T @ (ways / along[:, None])
    across, turned = np.linalg.eigh(Y.T @ H @ Y - bridge)
    whole = (turned * _positive(across, 1.0, least)) @ turned.T + bridge
    free = (vectors * along) @ vectors.T
    mixed = vectors @ ways
    block = np.block([[whole, mixed.T], [mixed, free]])
    return np.asarray(Q @ block @ Q.T)


def _positive(curvatures: Array, stiffness: float, least: float) -> Array:
    """Negative ones by parts of their absolute values, none less than ``least``."""
    return np.maximum(np.where(curvatures < 0.0, -stiffness * curvatures, curvatures), least)


def _is_sound(factor: Array) -> bool:
    """Whether no direction is nearly without curvature, along which steps would be without end."""
    diagonal = np.diag(factor)
    return bool(diagonal.min() > FLAT * diagonal.max())


def _dearer(state: Progress, H: Array, L: Array, model: Model, rows: Rows, sides: Array, step: Step) -> Step:
    """The step at a higher price of relaxed limits, while that relaxes them less."""
    while step.relaxed > 1e-8 and state.price < LAST_PRICE:
        if step.relaxed <= 0.1 * state.point.violation:
            break
        dearer = solve(H, L, model.gradient, rows, sides, 10.0 * state.price)
        if dearer.relaxed > 0.9 * step.relaxed:
            break
        state.price, step = 10.0 * state.price, dearer
    return step


def _along(state: Progress, model: Model, rows: Rows, step: Step, H: Array, L: Array) -> tuple[Point, float] | None:
    """The point that is enough better, and which part of the step it is."""
    problem, p, price, s = state.problem, state.point, state.price, step.s
    merit = p.cost + price * p.violation
    foreseen = -float(model.gradient @ s + 0.5 * s @ H @ s) + price * (p.violation - step.relaxed)
    noise = 1e-13 * (abs(merit) + price * 1e-3)
    part = 1.0
    while part > SHORTEST:
        moved = problem.at(p.y + part * s)
        state.evaluations += 1
        if moved.cost + price * moved.violation <= merit - SLOPE * part * foreseen + noise:
            return moved, part
        if part == 1.0:
            better = _corrected(state, moved, rows, step, L)
            if better is not None and better.cost + price * better.violation <= merit - SLOPE * foreseen + noise:
                return better, part
        part *= 0.5
    return None


def _corrected(state: Progress, moved: Point, rows: Rows, step: Step, L: Array) -> Point | None:
    """After the full step the nearest point, in the metric H, where the active limits are kept to second order."""
    from scipy.linalg import lapack

    problem = state.problem
    active = np.flatnonzero(step.multipliers)
    if not len(active):
        return None
    side, c = np.sign(step.multipliers.ravel()[active]), (moved.c / problem.scale).ravel()[active]
    bound = np.where(
        side > 0.0, (problem.upper / problem.scale).ravel()[active], (problem.lower / problem.scale).ravel()[active]
    )
    A = rows.of(active)
    HA = lapack.dpotrs(L, A.T, lower=1)[0]
    S = A @ HA
    factor, info = lapack.dpotrf(S + 1e-10 * np.trace(S) * np.eye(len(S)), lower=1)
    if info:
        return None
    change = HA @ lapack.dpotrs(factor, bound - c, lower=1)[0]
    state.evaluations += 1
    return problem.at(moved.y + change)
