"""One step of a motion under forces that are held, as `torsor.simulate` takes it, with its derivatives.

The Hessian of Σ p · (δq⁺, δv⁺) by z = (δq, δv, δτ), with p the gradient of what is yet to be paid, is the sum over the stages
of the step of Zᵀ (∂²a · w) Z, where Z has the derivatives of the stage's state by z, and w the gradient by the stage's
acceleration. Of the semi-implicit step, with v⁺ = v + h a and q⁺ = q ⊕ u, u = h v⁺, that is ∂²a · w with w = h (p_v + h J_rᵀ
p_q).

For joints of several numbers second derivatives are along the tangent coordinates and made symmetric, and motions on their groups
have second derivatives of their own (`curved_moves`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays import block, concat, identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array
from torsor.control.optimal_feedback.curved_moves import of_moved, of_rate
from torsor.functions.public.derivatives import forward_dynamics_hessian
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import integrate
from torsor.linearisation.step_derivatives import (
    DERIVATIVES,
    Drive,
    Rates,
    increment_jacobian,
    increment_jacobian_inverse,
    increment_rate_by_increment,
    rate_derivative,
    transport,
)
from torsor.mechanics.derivatives.forward_dynamics_hessian import ForwardDynamicsHessian
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.model import Robot
from torsor.simulation.steps.euler import euler, semi_implicit_euler
from torsor.simulation.steps.rate import Rate
from torsor.simulation.steps.rk4 import rk4

METHODS = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


def step(robot: Robot, method: str, q: Array, v: Array, tau: Array, h: Array) -> tuple[Array, Array]:
    """q and v after a step of length h, s."""

    def rate(t: Array, q: Array, v: Array) -> Rate:
        return Rate(forward_dynamics(robot, q, v, tau), zeros(1))

    new = METHODS[method](robot, rate, h, q, v, h)
    return new.q, new.v


def step_derivative(robot: Robot, method: str, q: Array, v: Array, tau: Array, h: Array) -> Array:
    """F (2 nv, 3 nv): the state after the step by z."""
    found = DERIVATIVES[method](Drive(robot, tau), q, v, h)
    return concat([found.dq, found.dv], axis=-2)


def step_hessian(robot: Robot, method: str, q: Array, v: Array, tau: Array, h: Array, p: Array) -> Array:
    """(3 nv, 3 nv): the second derivatives of p · (δq⁺, δv⁺) by z, for p (2 nv,)."""
    return _HESSIANS[method](robot, q, v, tau, h, p[: robot.nv], p[robot.nv :])


def _of_semi_implicit_euler(robot: Robot, q: Array, v: Array, tau: Array, h: Array, p_q: Array, p_v: Array) -> Array:
    if robot.structure.has_plain_velocities:
        return _symmetric(forward_dynamics_hessian(robot, q, v, tau, h * (p_v + h * p_q)))
    at = Drive(robot, tau).rates(q, v)
    u = h * (v + h * at.a)
    w = h * (p_v + h * matvec(transpose(increment_jacobian(robot, u)), p_q))
    du = h * concat([h * at.by_q, identity(robot.nv) + h * at.by_v, h * at.by_tau])
    return _symmetric(forward_dynamics_hessian(robot, q, v, tau, w)) + of_moved(robot, u, du, p_q)


def _of_euler(robot: Robot, q: Array, v: Array, tau: Array, h: Array, p_q: Array, p_v: Array) -> Array:
    none = zeros(robot.nv, robot.nv)
    du = h * concat([none, identity(robot.nv), none])
    own = _symmetric(forward_dynamics_hessian(robot, q, v, tau, h * p_v))
    return own + of_moved(robot, h * v, du, p_q)


class _Stage(NamedTuple):
    """The increment u that leads to a stage, its state there, their derivatives by z, and those of its rates."""

    u: Array
    q: Array
    v: Array
    du: Array
    dq: Array
    dv: Array
    at: Rates


def _of_rk4(robot: Robot, q: Array, v: Array, tau: Array, h: Array, p_q: Array, p_v: Array) -> Array:
    """A stage is at q ⊕ c h k_before, v + c h a_before; weights are found from the last stage to the first."""
    n = robot.nv
    start = identity(3 * n)
    dq, dv, dtau = start[:n], start[n : 2 * n], start[2 * n :]
    k, dk, a, da = v, dv, zeros(n), zeros(n, 3 * n)
    stages, rates, reaches, shares = list[_Stage](), [], (0.0, 0.5, 0.5, 1.0), (1.0, 2.0, 2.0, 1.0)
    for c in reaches:
        u, du, v_i, dv_i = c * h * k, c * h * dk, v + c * h * a, dv + c * h * da
        dq_i = matmul(transport(robot, u), dq) + matmul(increment_jacobian(robot, u), du)
        q_i = integrate(robot, q, u) if c else q
        at = Drive(robot, tau).rates(q_i, v_i)
        stages.append(_Stage(u, q_i, v_i, du, dq_i, dv_i, at))
        k, dk = increment_rate(robot, u, v_i), rate_derivative(robot, u, v_i, du, dv_i)
        a, da = at.a, at.along(dq_i, dv_i, dtau)
        rates.append((k, dk))
    u, du = (sum(h / 6.0 * share * x for share, x in zip(shares, xs, strict=True)) for xs in zip(*rates, strict=True))
    total = of_moved(robot, u, du, p_q)
    by_u = matvec(transpose(increment_jacobian(robot, u)), p_q)
    more_k, more_a = zeros(n), zeros(n)  # what later stages add to the weights of one
    for c, share, x in zip(reaches[::-1], shares[::-1], stages[::-1], strict=True):
        w_k, w_a = h / 6.0 * share * by_u + more_k, h / 6.0 * share * p_v + more_a
        Z = concat([x.dq, x.dv, dtau], axis=-2)
        H = _symmetric(forward_dynamics_hessian(robot, x.q, x.v, tau, w_a))
        total = total + matmul(transpose(Z), matmul(H, Z)) + of_rate(robot, x.u, x.v, x.du, x.dv, w_k)
        w_q = matvec(transpose(x.at.by_q), w_a)
        total = total + of_moved(robot, x.u, x.du, w_q)
        w_u = matvec(transpose(increment_jacobian(robot, x.u)), w_q)
        w_u = w_u + matvec(transpose(increment_rate_by_increment(robot, x.u, x.v)), w_k)
        w_v = matvec(transpose(x.at.by_v), w_a) + matvec(transpose(increment_jacobian_inverse(robot, x.u)), w_k)
        more_k, more_a = c * h * w_u, c * h * w_v
    return total


def _symmetric(H: ForwardDynamicsHessian) -> Array:
    """Its blocks as one matrix by (δq, δv, δτ)."""
    n = H.qq.shape[-1]
    qq, qv, vv = 0.5 * (H.qq + transpose(H.qq)), H.qv, 0.5 * (H.vv + transpose(H.vv))
    none = zeros(n, n)
    return block([[qq, qv, transpose(H.tauq)], [transpose(qv), vv, none], [H.tauq, none, none]])


_HESSIANS: dict[str, Callable[..., Array]] = {
    "semi_implicit_euler": _of_semi_implicit_euler,
    "euler": _of_euler,
    "rk4": _of_rk4,
}
