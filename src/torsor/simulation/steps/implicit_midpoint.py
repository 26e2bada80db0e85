"""The implicit midpoint step, on the manifold."""

from __future__ import annotations

from torsor.arrays import absolute, factor, matvec, solve, where
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.steps.broyden import improved
from torsor.simulation.steps.extrapolated_euler import plus_diagonal
from torsor.simulation.steps.rate import RateOf, Stepped
from torsor.simulation.steps.variational import early, largest

ITERATIONS = 6
NOT_CONVERGED = 1e-9  # of the velocities


def implicit_midpoint(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """q ⊕ h w, 2 w − v with w = v + ½ h a(t + ½ h, q ⊕ ½ h w, w): second order, symmetric, A-stable [HLW06, §II.1].

    NaN where the iterations did not find w, so that the step is taken in shorter ones.
    """
    new, residual = solved_midpoint(robot, rate, t, q, v, h)
    found = residual <= NOT_CONVERGED * (1.0 + _sum_of_sizes(v) + _sum_of_sizes(new.v))
    return new._replace(v=where(found[..., None], new.v, float("nan")))


def damped_implicit_midpoint(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """The same with a place nearer to the end in place of the middle, ½ + O(h), where viscous friction is faster than the step.

    The midpoint rule turns a velocity round that friction takes away at once; at the end of the step it dies out (L-stable).
    """
    place = largest(early(robot, h))
    new, residual = solved_midpoint(robot, rate, t, q, v, h, place)
    found = residual <= NOT_CONVERGED * (1.0 + _sum_of_sizes(v) + _sum_of_sizes(new.v))
    return new._replace(v=where(found[..., None], new.v, float("nan")))


def solved_midpoint(
    robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array, place: Array | float = 0.5
) -> tuple[Stepped, Array]:
    """The step, and what its equation for w is still off by after the last iteration (...), rad/s or m/s.

    Quasi-Newton: the first slope is 1 + ½ h M(q)⁻¹ D with D the viscous friction, Broyden's updates make it better from iteration
    to iteration. ``place``: where in the step w is, ½ for the midpoint.
    """
    then = place * h
    start, half, D = rate(t, q, v), then[..., None], robot.parameters.viscous_friction
    M = mass_matrix(robot, q)
    damped = factor(plus_diagonal(M, half * D), guarded=may_be_singular(robot))

    def off(w: Array) -> Array:
        return w - v - half * rate(t + then, integrate(robot, q, half * w), w).a

    w = v + solve(damped, matvec(M, half * start.a))
    steps: list[Array] = []
    for _ in range(ITERATIONS):
        steps.append(improved(steps, -solve(damped, matvec(M, off(w)))))
        w = w + steps[-1]
    end = rate(t + then, integrate(robot, q, half * w), w)
    residual = _sum_of_sizes(w - v - half * end.a)
    v_new = v + h[..., None] * end.a
    return Stepped(integrate(robot, q, h[..., None] * w), v_new, h[..., None] * end.power, start), residual


def _sum_of_sizes(x: Array) -> Array:
    total = absolute(x[..., 0])
    for k in range(1, x.shape[-1]):
        total = total + absolute(x[..., k])
    return total
