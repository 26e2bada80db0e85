"""The second derivatives of a weighted sum of joint forces along a direction, in O(n).

Every second derivative by two joints a ≤ b is a product of a factor of a and a factor of b (`inverse_dynamics_hessian`), so
that sums over all joints that carry b, and over all that a carries, are each one pass over the tree::

    x_b = Σ_{a<b} Ψ̇_a δq_a + J_a δv_a          X⁺_a = Σ_{b>a} X_b δq_b + R_b δv_b
    y_b = Σ_{a<b} Ψ̈_a δq_a + Φ_a δv_a + J_a δa_a   U⁺_a = Σ_{b>a} U_b δq_b
    z_b = Σ_{a<b} Ω_a δq_a                      Y⁺_a = Σ_{b>a} Y_b δq_b + D_b δv_b + p_b δa_b

    by_q = X · x + U · y + Y · z + X⁺ · Ψ̇ + U⁺ · Ψ̈ + Y⁺ · Ω
    by_v = R · x + D · z + X⁺ · J + U⁺ · Φ
    by_a = p · z + U⁺ · J

and what the freedoms of one joint do to each other is added.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Twist, Vector3, Wrench
from torsor.mechanics.derivatives.inverse_dynamics_hessian import VirtualRates, virtual_rates
from torsor.mechanics.dynamics.friction import friction_curvatures
from torsor.mechanics.recursions.acceleration_tree import acceleration_tree
from torsor.mechanics.recursions.joint_motion import gather_vector
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.mechanics.recursions.wrenches import Wrenches
from torsor.model import Robot


class InverseDynamicsHessianProduct(NamedTuple):
    """The changes of Σ_i weights_i ∂τ_i/∂q, ∂τ_i/∂v and ∂τ_i/∂a along a direction, each (..., nv)."""

    by_q: JointVector
    by_v: JointVector
    by_a: JointVector


def inverse_dynamics_hessian_product(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    weights: JointVector,
    dq: JointVector,
    dv: JointVector,
    da: JointVector,
    wrenches: Wrenches | None = None,
    *,
    base_motion: BaseMotion | None = None,
) -> InverseDynamicsHessianProduct:
    """The Hessian of Σ_i weights_i τ_i of inverse dynamics times (dq, dv, da), exact, in O(n) [PBP95, §5; SRW22].

    With the matrices of `inverse_dynamics_hessian`: by_q = qq dq + qv dv + aqᵀ da, by_v = qvᵀ dq + vv dv, by_a = aq dq.

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s; ``weights`` (..., nv), any unit; ``dq``, ``dv``, ``da``
    (..., nv), along q, v and a; ``wrenches``, N·m and N, and ``base_motion`` as in inverse dynamics. Returns three vectors
    (..., nv).
    """
    tree, s = acceleration_tree(robot, q, v, a, wrenches, base_motion), robot.structure
    rates = virtual_rates(robot, tree, weights)
    steps = [tuple(x[..., s.coordinate_of(i).v] for x in (dq, dv, da)) for i in range(robot.n)]
    beyond = _beyond(robot, rates, steps)
    before: list[_Before] = []
    by_q: list[Array] = []
    by_v: list[Array] = []
    by_a: list[Array] = []
    for i, (parent, r, (dq_i, dv_i, da_i)) in enumerate(zip(s.parents, rates, steps, strict=True)):
        w, J, Psi, Psi_dot, Phi = tree.J[i][..., :3], tree.J[i], tree.Psi[i][..., :3], tree.Psi_dot[i], tree.Phi[i]
        x, y, z = (zeros(3), zeros(6), zeros(6)) if parent < 0 else before[parent]
        x, y, z = x + _sum(Psi, dq_i), y + _sum(Psi_dot, dq_i), z + _sum(r.Omega, dq_i)
        X, U, Y = beyond[i]
        X_own, Y_own = X + _sum(r.R, dv_i), Y + _sum(r.D, dv_i) + _sum(r.p, da_i)
        inner = matvec(r.X, x) + matvec(r.U, y) + matvec(r.Y, z)
        by_q.append(inner + matvec(Psi, X_own) + matvec(Psi_dot, U) + matvec(r.Omega, Y_own))
        x = x + _sum(w, dv_i)
        before.append(_Before(x, y + _sum(Phi, dv_i) + _sum(J, da_i), z))
        by_v.append(matvec(r.R, x) + matvec(r.D, z) + matvec(r.twist, dv_i) + matvec(w, X) + matvec(Phi, U))
        by_a.append(matvec(r.p, z) + matvec(J, U))
    friction = weights * friction_curvatures(robot, v) * dv
    return InverseDynamicsHessianProduct(
        gather_vector(robot, by_q), gather_vector(robot, by_v) + friction, gather_vector(robot, by_a)
    )


class _Before(NamedTuple):
    """x (..., 3), y and z (..., 6), summed over a joint and all that carry it."""

    x: Vector3
    y: Twist
    z: Twist


class _Beyond(NamedTuple):
    """X⁺ (..., 3), U⁺ and Y⁺ (..., 6), summed over all joints that a joint carries."""

    X: Vector3
    U: Wrench
    Y: Wrench


def _beyond(robot: Robot, rates: list[VirtualRates], steps: list[tuple[Array, ...]]) -> list[_Beyond]:
    total = [_Beyond(zeros(3), zeros(6), zeros(6))] * robot.n
    for i in range(robot.n - 1, -1, -1):
        if (p := robot.structure.parents[i]) >= 0:
            r, (X, U, Y), (X_p, U_p, Y_p), (dq, dv, da) = rates[i], total[i], total[p], steps[i]
            Y = Y + _sum(r.Y, dq) + _sum(r.D, dv) + _sum(r.p, da)
            total[p] = _Beyond(X_p + X + _sum(r.X, dq) + _sum(r.R, dv), U_p + U + _sum(r.U, dq), Y_p + Y)
    return total


def _sum(rows: Array, x: Array) -> Array:
    """Σ_k x_k rows_k: of rows (..., k, m), by x (..., k)."""
    return matvec(transpose(rows), x)
