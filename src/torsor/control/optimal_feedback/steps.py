"""One step of a motion under forces that are held, as `torsor.simulate` takes it, with its derivatives.

The Hessian of Σ p · (δq⁺, δv⁺) by z = (δq, δv, δτ), with p the gradient of what is yet to be paid, is the sum over the stages
of the step of Zᵀ (∂²a · w) Z, where Z has the derivatives of the stage's state by z, and w the gradient by the stage's
acceleration. Of the semi-implicit step, with v⁺ = v + h a and q⁺ = q ⊕ u, u = h v⁺, that is ∂²a · w with w = h (p_v + h J_rᵀ
p_q).

For joints of several numbers second derivatives are along the tangent coordinates and made symmetric, and q ⊕ δq ⊕ (u + δu) has
one of its own, p_q · ½ [Ad(e^−u) δq, J_r(u) δu], by the formula of Baker, Campbell and Hausdorff; what is left out is of the
order of h³. For these joints the step of Runge and Kutta has none of these terms here: its turns are those of iLQR.
"""

from __future__ import annotations

from collections.abc import Callable

from torsor.arrays import block, concat, identity, matmul, matvec, stack_vectors, transpose, zeros
from torsor.arrays.typing import Array
from torsor.functions.public.derivatives import forward_dynamics_hessian
from torsor.functions.public.dynamics import forward_dynamics
from torsor.lie import unchecked as lie
from torsor.linearisation.step_derivatives import DERIVATIVES, Drive, increment_jacobian, joint_by_joint, transport
from torsor.mechanics.derivatives.forward_dynamics_hessian import ForwardDynamicsHessian
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
    return _symmetric(forward_dynamics_hessian(robot, q, v, tau, w)) + _of_moves(robot, u, p_q, du)


def _of_euler(robot: Robot, q: Array, v: Array, tau: Array, h: Array, p_q: Array, p_v: Array) -> Array:
    own = _symmetric(forward_dynamics_hessian(robot, q, v, tau, h * p_v))
    if robot.structure.has_plain_velocities:
        return own
    none = zeros(robot.nv, robot.nv)
    return own + _of_moves(robot, h * v, p_q, h * concat([none, identity(robot.nv), none]))


def _of_moves(robot: Robot, u: Array, p_q: Array, du: Array) -> Array:
    """The second derivatives of p_q · (δq then u + δu), with du the derivatives of u by z."""
    bracket = joint_by_joint(robot, zeros(robot.nv, robot.nv), _bracket_form, p_q)
    by_q = 0.5 * matmul(transpose(transport(robot, u)), matmul(bracket, matmul(increment_jacobian(robot, u), du)))
    one = concat([by_q, zeros(2 * robot.nv, 3 * robot.nv)], axis=-2)
    return one + transpose(one)


def _bracket_form(P: Array) -> Array:
    """The form x, y → P · [x, y] of twists (6, 6)."""
    return stack_vectors([matvec(transpose(lie.ad(x)), P) for x in identity(6)])


def _of_rk4(robot: Robot, q: Array, v: Array, tau: Array, h: Array, p_q: Array, p_v: Array) -> Array:
    """A stage is at q + c h v_before, v + c h a_before; weights of accelerations are found from the last stage to the first."""
    n = robot.nv
    if not robot.structure.has_plain_velocities:
        return zeros(3 * n, 3 * n)
    dq, dv, dtau = identity(3 * n)[:n], identity(3 * n)[n : 2 * n], identity(3 * n)[2 * n :]
    v_before, dv_before, a_before, da_before = v, dv, zeros(n), zeros(n, 3 * n)
    states, slopes = [], []
    for c in (0.0, 0.5, 0.5, 1.0):
        q_i, dq_i = q + c * h * v_before, dq + c * h * dv_before
        v_i, dv_i = v + c * h * a_before, dv + c * h * da_before
        at = Drive(robot, tau).rates(q_i, v_i)
        states.append((q_i, v_i, concat([dq_i, dv_i, dtau], axis=-2)))
        slopes.append((transpose(at.by_q), transpose(at.by_v)))
        v_before, dv_before, a_before, da_before = v_i, dv_i, at.a, at.along(dq_i, dv_i, dtau)
    w4 = h / 6.0 * p_v
    w3 = h / 3.0 * p_v + h * h / 6.0 * p_q + h * matvec(slopes[3][1], w4)
    w2 = h / 3.0 * p_v + h * h / 6.0 * p_q + h / 2.0 * matvec(slopes[2][1], w3) + h * h / 2.0 * matvec(slopes[3][0], w4)
    w1 = h / 6.0 * p_v + h * h / 6.0 * p_q + h / 2.0 * matvec(slopes[1][1], w2) + h * h / 4.0 * matvec(slopes[2][0], w3)
    total = zeros(3 * n, 3 * n)
    for (q_i, v_i, Z), w in zip(states, (w1, w2, w3, w4), strict=True):
        H = _symmetric(forward_dynamics_hessian(robot, q_i, v_i, tau, w))
        total = total + matmul(transpose(Z), matmul(H, Z))
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
