"""The second derivatives of a weighted sum of accelerations: those of a weighted sum of joint forces, through M⁻¹.

With μ = M⁻¹ λ, the sums Σ_i λ_i ∂²a_i are those of `forward_dynamics_second_derivatives`, where M⁻¹ has met the weights first, so
that only H, the Hessian of Σ_i μ_i τ_i of inverse dynamics at that acceleration, is needed::

    qq = −(H_qq + H_aqᵀ a_q + a_qᵀ H_aq),     qv = −(H_qv + H_aqᵀ a_v),     vv = −H_vv,     tauq = −M⁻¹ H_aq
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import matmul, matvec, transpose
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse, through_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.derivatives.inverse_dynamics_hessian import inverse_dynamics_hessian
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.mechanics.recursions.wrenches import Wrenches
from torsor.model import Robot


class ForwardDynamicsHessian(NamedTuple):
    """Σ_i weights_i ∂_k (∂a_i/∂q_j), ∂²a_i/∂q_j∂v_k, ∂²a_i/∂v_j∂v_k and ∂_k (∂a_i/∂τ_j), each [j, k] (..., nv, nv)."""

    qq: JointMatrix
    qv: JointMatrix
    vv: JointMatrix
    tauq: JointMatrix


def forward_dynamics_hessian(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    weights: JointVector,
    wrenches: Wrenches | None = None,
    *,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsHessian:
    """Second derivatives of Σ_i weights_i a_i for forward dynamics a(q, v, τ), exact, without forming tensors [PBP95, §5; SRW22].

    The tensors of `forward_dynamics_second_derivatives`, contracted with ``weights`` over their first index: what
    differential dynamic programming needs, with the gradient of the value function as weights. ``q`` (..., nq), rad or m;
    ``v`` (..., nv), rad/s or m/s; ``tau`` (..., nv), N·m or N; ``weights`` (..., nv), any unit; ``wrenches``, N·m and N, and
    ``base_motion`` as in forward dynamics. Returns four matrices (..., nv, nv), per two of rad, m, their rates, N·m and N.
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches, base_motion=base_motion)
    first = through_inverse(M_inverse, inverse_dynamics_derivatives(robot, q, v, a, wrenches, base_motion=base_motion))
    H = inverse_dynamics_hessian(robot, q, v, a, matvec(M_inverse, weights), wrenches, base_motion=base_motion)
    crossed = matmul(transpose(H.aq), first.dq)
    return ForwardDynamicsHessian(
        -(H.qq + crossed + transpose(crossed)),
        -(H.qv + matmul(transpose(H.aq), first.dv)),
        -H.vv,
        -matmul(M_inverse, H.aq),
    )
