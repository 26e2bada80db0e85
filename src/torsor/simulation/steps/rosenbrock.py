"""A step of third order that stays stable whatever the viscous friction: ROS34PW2 of Rang and Angermann."""

from __future__ import annotations

from torsor.arrays import factor, identity, matvec, solve
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import mass_matrix
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.simulation.steps.moved import moved
from torsor.simulation.steps.rate import Rate, RateOf, Stepped

# ROS34PW2 of [RA05]: γ; α_ij of the stages' places, γ_ij, weights b_i
GAMMA = 4.3586652150845900e-01
PLACES = (
    (),
    (8.7173304301691801e-01,),
    (8.4457060015369423e-01, -1.1299064236484185e-01),
    (0.0, 0.0, 1.0),
)
SLOPES = (
    (),
    (-8.7173304301691801e-01,),
    (-9.0338057013044082e-01, 5.4180672388095326e-02),
    (2.4212380706095346e-01, -1.2232505839045147e00, 5.4526025533510214e-01),
)
WEIGHTS = (2.4212380706095346e-01, -1.2232505839045147e00, 1.5452602553351020e00, 4.3586652150845900e-01)


def rosenbrock(robot: Robot, rate: RateOf, t: Array, q: Array, v: Array, h: Array) -> Stepped:
    """Four stages k_i = h f(y + Σ α_ij k_j) + h A Σ γ_ij k_j + h γ A k_i for y = (u, v), q(t + s) = q ⊕ u(s) [RA05].

    A need not be the derivative of f: the method keeps its order with any matrix. Here it is that of viscous friction D alone,
    −M(q)⁻¹ D in the rows of v, and the identity in those of u, for u̇ is v to begin with. So (M + h γ D) k_i = h M f_i −
    h D Σ γ_ij k_j is solved for the velocities, which then move u. It is L-stable for what A describes: a velocity that friction
    takes at once moves nothing.
    """
    dt, D = h[..., None], robot.parameters.viscous_friction
    M = mass_matrix(robot, q)
    damped = factor(plus_diagonal(M, GAMMA * dt * D), guarded=may_be_singular(robot))
    rates: list[Rate] = []
    us: list[Array] = []
    vs: list[Array] = []
    for places, slopes in zip(PLACES, SLOPES, strict=True):
        u_i = sum((x * k for x, k in zip(places, us, strict=True) if x), start=0.0 * v)
        v_i = sum((x * k for x, k in zip(places, vs, strict=True) if x), start=v)
        rates.append(rate(t + sum(places) * h, moved(robot, q, u_i) if us else q, v_i))
        pull = sum((x * k for x, k in zip(slopes, vs, strict=True)), start=0.0 * v)
        vs.append(solve(damped, dt * (matvec(M, rates[-1].a) - D * pull)))
        us.append(dt * (increment_rate(robot, u_i, v_i) + pull + GAMMA * vs[-1]))
    u = sum((b * k for b, k in zip(WEIGHTS, us, strict=True)), start=0.0 * v)
    v_new = sum((b * k for b, k in zip(WEIGHTS, vs, strict=True)), start=v)
    work = dt * sum((b * r.power for b, r in zip(WEIGHTS, rates, strict=True)), start=0.0 * rates[0].power)
    return Stepped(moved(robot, q, u), v_new, work, rates[0])


def plus_diagonal(M: Array, d: Array) -> Array:
    """M (..., n, n) with d (..., n) added to its diagonal."""
    eye = identity(M.shape[-1])
    return M + d[..., :, None] * eye
