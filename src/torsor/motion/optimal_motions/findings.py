"""What is found of an iteration that has ended: active limits and their prices, what to relax, second-order conditions."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.optimal_motions.between_nodes import fine_nodes
from torsor.motion.optimal_motions.problem import Problem
from torsor.motion.optimal_motions.report import ActiveLimit, OptimalMotion, Relaxation
from torsor.motion.optimal_motions.sqp import Progress
from torsor.motion.tangent_motion import TangentMotion

PRESSED = 1e-9  # multipliers below this, with the cost in units of its size, are zero
MOST = 8  # limits to relax that are told
FLAT = 1e-10  # curvatures below this part of the largest are none


def report_of(robot: Robot, state: Progress, notes: tuple[str, ...]) -> OptimalMotion:
    """The report on where a search has ended: the motion, its cost, limits with their prices, and what to relax."""
    problem, p = state.problem, state.point
    motion = TangentMotion(
        robot,
        "optimal",
        problem.spline.segments(problem.unknowns.points(p.y), np.array(p.duration), np.asarray(problem.anchor)),
    )
    weights = p.duration * problem.nodes.weights
    parts: dict[str, float] = {}
    for _, term in problem.costs:
        parts[term.kind] = float(weights @ term.values(p.states)[:, 0])
    return OptimalMotion(
        robot=robot,
        motion=motion,
        cost=p.cost / problem.size,
        parts=parts,
        converged=state.converged,
        infeasible=state.infeasible,
        interrupted=state.interrupted,
        iterations=state.iterations,
        residual=state.residuals.worst,
        violation=p.violation,
        overshoot=overshoot(problem, p.y),
        second_order=state.converged and _is_minimum(state),
        active=_active(state) if state.converged else (),
        relax=_relaxations(state) if state.infeasible else (),
        notes=notes,
        history=np.array(state.history).reshape(-1, 3),
    )


def overshoot(problem: Problem, y: Array) -> float:
    """The largest excess over a limit, in units of its scale, on the finer grid."""
    c = problem.limited(problem.states(y, fine_nodes(problem.spline.pieces, problem.orders)))
    worst = 0.0
    for k, term in enumerate(problem.terms):
        if term.places is None:
            own = c[:, problem.columns(k)]
            worst = max(worst, float((np.maximum(own - term.upper, term.lower - own) / term.scale).max(initial=0.0)))
    return worst


def _active(state: Progress) -> tuple[ActiveLimit, ...]:
    problem, found = state.problem, []
    time = state.point.duration * problem.nodes.s
    for k, term in enumerate(problem.terms):
        own = state.multipliers[:, problem.columns(k)]
        for i, name in enumerate(term.names):
            if term.lower[i] == term.upper[i]:
                continue
            for side, bound in ((1.0, term.upper[i]), (-1.0, term.lower[i])):
                pressed = side * own[:, i] * term.scale[i] > PRESSED
                if pressed.any():
                    price = float((side * own[pressed, i]).sum()) / problem.size
                    when = time[pressed]
                    found.append(
                        ActiveLimit(
                            name, term.kind, float(bound), term.units[i], float(when[0]), float(when[-1]), price
                        )
                    )
    scales = {(t.kind, n): s for t in problem.terms for n, s in zip(t.names, t.scale.tolist(), strict=True)}
    return tuple(sorted(found, key=lambda one: -one.price * scales[one.limit, one.name]))


def _relaxations(state: Progress) -> tuple[Relaxation, ...]:
    """The limits that are passed, each where that is worst, the worst ones first."""
    problem, p = state.problem, state.point
    beyond = np.maximum(p.c - problem.upper, problem.lower - p.c) / problem.scale
    found = []
    for k, term in enumerate(problem.terms):
        for i, name in enumerate(term.names):
            column = int(problem.starts[k]) + i
            node = int(beyond[:, column].argmax())
            if beyond[node, column] > 0.05 * p.violation:
                value = float(p.c[node, column])
                bound = float(
                    problem.upper[node, column] if value > problem.upper[node, column] else problem.lower[node, column]
                )
                time = p.duration * float(problem.nodes.s[node])
                found.append((beyond[node, column], Relaxation(name, term.kind, bound, value, term.units[i], time)))
    return tuple(one for _, one in sorted(found, key=lambda pair: -pair[0])[:MOST])


def free_directions(state: Progress) -> Array:
    """An orthonormal basis (count, k) of what the pressed limits leave free, to first order."""
    problem, p = state.problem, state.point
    scaled = np.abs(state.multipliers * problem.scale)
    node, column = np.nonzero((scaled > PRESSED) | (problem.lower == problem.upper))
    if not len(node):
        return np.eye(problem.count)
    _, sizes, directions = np.linalg.svd(problem.rows(p, node, column))
    rank = int((sizes > 1e-9 * sizes.max(initial=1e-300)).sum())
    return np.asarray(directions[rank:].T)


def _is_minimum(state: Progress) -> bool:
    """Whether the Hessian of the Lagrangian is positive definite along what the pressed limits leave free."""
    free = free_directions(state)
    if not free.shape[1]:
        return True
    H = state.problem.model(state.point, state.multipliers).H
    values = np.linalg.eigvalsh(free.T @ H @ free)
    return bool(values[0] > FLAT * max(abs(values[-1]), 1e-300))
