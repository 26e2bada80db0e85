"""Euler's step, and the semi-implicit one that takes the new velocity."""

from __future__ import annotations

from torsor.arrays import factor, matvec, solve
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.steps.extrapolated_euler import plus_diagonal
from torsor.simulation.steps.moved import moved
from torsor.simulation.steps.rate import RateOf, Stepped


def euler(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """q ⊕ h v, v + h a(q, v): first order, gains energy [LP, §9.5, E002-12]."""
    start, dt = rate(t, q, v), h[..., None]
    return Stepped(moved(robot, q, dt * v), v + dt * start.a, dt * start.power, start)


def semi_implicit_euler(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """v first, then q with the new v: first order [HLW06, §I.1.2]."""
    start, dt = rate(t, q, v), h[..., None]
    v_new = v + dt * start.a
    return Stepped(moved(robot, q, dt * v_new), v_new, dt * start.power, start)


def damped_semi_implicit_euler(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """The semi-implicit step with viscous friction D taken at the new velocity: (M + h D) (v₁ − v) = h M a."""
    start, dt = rate(t, q, v), h[..., None]
    M = mass_matrix(robot, q)
    damped = factor(plus_diagonal(M, dt * robot.parameters.viscous_friction), guarded=may_be_singular(robot))
    v_new = v + dt * solve(damped, matvec(M, start.a))
    return Stepped(moved(robot, q, dt * v_new), v_new, dt * start.power, start)
