"""The semi-implicit step of joints with one number as `riccati_by_velocity` takes it: seen from the velocity that it leads to.

With the acceleration a of the step and inverse dynamics ID(q, v, a) = τ, the changes w = δv⁺ of the velocity after a step of
length h, and δτ, determine each other::

    δτ = T (δq, δv, w),     T = (∂ID/∂q,  ∂ID/∂v − M/h,  M/h)
    w = B (δτ − T_x x),     B = h M⁻¹

The gradient p of what is yet to be paid weighs the second derivatives of the accelerations by λ = h (p_v + h p_q), and
λ · ∂²a along a displacement is −μ · ∂²ID along the same one, seen as (δq, δv, δa = (w − δv)/h), with μ = M⁻¹ λ: the recursion for
second derivatives of a weighted sum of joint forces gives it, with no product of matrices more. The same μ is the gradient by
the forces of what is yet to be paid.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import block, concat, looped_matmul, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.derivatives.inverse_dynamics_hessian import inverse_dynamics_hessian
from torsor.model import Robot


class Near(NamedTuple):
    """B (n, n), T (n, 3n), and the acceleration (n,)."""

    B: Array
    T: Array
    a: Array


class Costate(NamedTuple):
    """The gradient p (2n,) of the whole cost by the state at a step, that by its forces (n,), and μ of its accelerations (n,)."""

    p: Array
    by_tau: Array
    weights: Array


def near(robot: Robot, q: Array, v: Array, tau: Array, h: Array) -> Near:
    """How the velocity after a step depends on the state and the forces, and the forces on the state and that velocity."""
    a, inverse_mass = acceleration_and_inverse(robot, q, v, tau)
    by = inverse_dynamics_derivatives(robot, q, v, a)
    per_step = by.a / h
    return Near(h * inverse_mass, concat([by.q, by.v - per_step, per_step]), a)


def costate(p: Array, B: Array, T: Array, l: Array, h: Array) -> Costate:
    """One step backward, with the gradient l (3n,) of the step's own cost by (δq, δv, δτ)."""
    n = B.shape[-2]
    weights = matvec(B, p[n:] + h * p[:n])
    before = l[: 2 * n] + concat([p[:n], zeros(n)]) - matvec(transpose(T[:, : 2 * n]), weights)
    return Costate(before, l[2 * n :] + weights, weights)


def velocity_after(B: Array, T: Array) -> Array:
    """F_v (n, 3n), of w = F_v (δq, δv, δτ)."""
    return concat([-looped_matmul(B, T[:, : 2 * B.shape[-2]]), B])


def gradient_by_velocity(l: Array, T: Array) -> Array:
    """The gradient by (δq, δv, w) (3n,) of a cost with the gradient l by (δq, δv, δτ)."""
    m = 2 * T.shape[-2]
    return concat([l[:m], zeros(T.shape[-2])]) + matvec(transpose(T), l[m:])


def hessian_by_velocity(L: Array, T: Array) -> Array:
    """The Hessian by (δq, δv, w) (3n, 3n) of a cost with the Hessian L by (δq, δv, δτ)."""
    n = T.shape[-2]
    m = 2 * n
    mixed = concat([matmul(L[:m, m:], T), zeros(n, 3 * n)], axis=-2)
    inner = concat([concat([L[:m, :m], zeros(m, n)]), zeros(n, 3 * n)], axis=-2)
    return inner + mixed + transpose(mixed) + matmul(transpose(T), matmul(L[m:, m:], T))


def regularisation(B: Array, T: Array, mu: Array, h: Array) -> Array:
    """The Hessian by (δq, δv, w) (3n, 3n) of ½ μ δτᵀ M⁻¹ δτ = ½ μ δτᵀ B δτ / h."""
    return matmul(transpose(T), mu / h * matmul(B, T))


def dynamics_hessian(robot: Robot, q: Array, v: Array, a: Array, weights: Array, h: Array) -> Array:
    """The second derivatives (3n, 3n) by (δq, δv, w) of what is yet to be paid that those of the dynamics make."""
    H = inverse_dynamics_hessian(robot, q, v, a, weights)
    by_w, none = H.aq / h, zeros(robot.nv, robot.nv)
    qv = H.qv - transpose(by_w)
    return -block([[H.qq, qv, transpose(by_w)], [transpose(qv), H.vv, none], [by_w, none, none]])
