"""A step of third order that stays stable whatever the viscous friction: linearly implicit Euler steps, extrapolated."""

from __future__ import annotations

import math

from torsor.arrays import factor, identity, matvec, solve
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import mass_matrix
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.steps.moved import moved
from torsor.simulation.steps.rate import Rate, RateOf, Stepped

PARTS = (1, 2, 3)  # into how many short steps the step is cut, one after the other
# Of the three ends: what is wrong with them in h/n and (h/n)² cancels
WEIGHTS = tuple(math.prod(n / (n - m) for m in PARTS if m != n) for n in PARTS)


def extrapolated_euler(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """Σ w_n y_n of the ends y_n = (u, v) after n short steps of h/n, n = 1, 2, 3, with q(t + s) = q ⊕ u(s) [HW96, §IV.9].

    A short step takes viscous friction D at its new velocity: (M + s D) (v₁ − v₀) = s M a, u₁ = u₀ + s v₁, with M and a at its
    start. So a velocity that friction takes at once moves nothing, and what friction gives to the other joints is never more
    than the momentum that it takes, whatever D is. A Rosenbrock method with this matrix is cheaper by two decompositions, but
    has velocities within the step that friction has not taken yet: as M changes with q, their forces push the other joints.
    """
    start = rate(t, q, v)
    ends = [_after(n, robot, rate, t, q, v, h / n, start) for n in PARTS]
    u, v_new, work = (sum(w * end for w, end in zip(WEIGHTS, kind, strict=True)) for kind in zip(*ends, strict=True))
    return Stepped(moved(robot, q, u), v_new, work, start)


def _after(
    n: int, robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, s: Array, start: Rate
) -> tuple[Array, Array, Array]:
    """Increment, velocity and work after n short steps of length s (...); ``start`` is the rate before the first."""
    short, D, u = s[..., None], robot.parameters.viscous_friction, 0.0 * v
    work = 0.0 * start.power
    for k in range(n):
        there = moved(robot, q, u) if k else q
        now = rate(t + k * s, there, v) if k else start
        M = mass_matrix(robot, there)
        damped = factor(plus_diagonal(M, short * D), guarded=may_be_singular(robot))
        v = v + solve(damped, short * matvec(M, now.a))
        u = u + short * increment_rate(robot, u, v)
        work = work + short * now.power
    return u, v, work


def plus_diagonal(M: Array, d: Array) -> Array:
    """M (..., n, n) with d (..., n) added to its diagonal."""
    eye = identity(M.shape[-1])
    return M + d[..., :, None] * eye
