"""What an optimal motion makes least: the integral of one of these over time, or of a sum of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import kinetic_energy
from torsor.model import Robot
from torsor.motion.optimal_motions.nodes import TAU
from torsor.motion.optimal_motions.terms import ACCELERATION, JERK, Constant, Squares, Term
from torsor.motion.optimal_motions.traced_terms import traced_term
from torsor.motion.tangent_motion import bound_of

WORDS = ("torque", "energy", "work", "losses", "acceleration", "jerk", "time")
ROUNDED = 1.0  # W: powers |P| are √(P² + ROUNDED²) − ROUNDED, so that they have derivatives at 0
Costs = tuple[tuple[float, Term], ...]


def costs_of(robot: Robot, cost: Any, motor_constants: Any) -> Costs:
    """The terms of a cost with their weights: of a word, a function, or a mapping of such to weights."""
    if isinstance(cost, Mapping):
        if not cost:
            raise ArgumentError("`cost` has no entries: pass at least one, {'torque': 1.0} say.")
        return tuple((_weight(name, weight), _term(robot, name, motor_constants)) for name, weight in cost.items())
    return ((1.0, _term(robot, cost, motor_constants)),)


def _weight(name: Any, weight: Any) -> float:
    if not isinstance(weight, (int, float, np.integer, np.floating)) or not (np.isfinite(weight) and weight >= 0.0):
        raise ArgumentError(f"`cost`: the weight of {name!r:.40} must be a number, not negative, got {weight!r:.60}.")
    return float(weight)


def _term(robot: Robot, cost: Any, motor_constants: Any) -> Term:
    if callable(cost):
        return _traced(robot, cost, getattr(cost, "__name__", "cost"))
    if not isinstance(cost, str):
        raise ArgumentError(
            f"`cost` must be one of {', '.join(map(repr, WORDS))}, a function of (q, v, a, tau), or a mapping of such to "
            f"weights, got {type(cost).__name__} {cost!r:.60}."
        )
    refuse_unknown_word("cost", cost, WORDS)
    ones = np.ones(robot.nv)
    if cost == "torque":
        return Squares("torque", TAU, ones)
    if cost == "acceleration":
        return Squares("acceleration", ACCELERATION, ones)
    if cost == "jerk":
        return Squares("jerk", JERK, ones)
    if cost == "time":
        return Constant()
    if cost == "losses":
        if motor_constants is None:
            raise ArgumentError(
                '`motor_constants` are missing: cost="losses" is ∫ Σ (τ_i / k_i)² dt with k_i in N·m/√W. Pass them.'
            )
        return Squares("losses", TAU, 1.0 / bound_of(robot, "motor_constants", motor_constants, "drives") ** 2)
    if cost == "energy":
        return _traced(robot, lambda q, v, a, tau: 2.0 * kinetic_energy(robot, q, v), "energy")
    return _traced(robot, _work, "work")


def _work(q: Any, v: Any, a: Any, tau: Any) -> Any:
    power = tau * v
    return sum((power[i] * power[i] + ROUNDED**2) ** 0.5 - ROUNDED for i in range(len(power)))


def _traced(robot: Robot, function: Callable[..., Any], kind: str) -> Term:
    none = np.full(1, np.inf)
    return traced_term(robot, function, kind, ("",), -none, none, np.ones(1))
