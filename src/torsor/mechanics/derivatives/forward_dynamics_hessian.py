"""The second derivatives of a weighted sum of accelerations: those of a weighted sum of joint forces, through M⁻¹.

With μ = M⁻¹ λ, the sums Σ_i λ_i ∂²a_i are those of `forward_dynamics_second_derivatives`, where M⁻¹ has met the weights first, so
that only H, the Hessian of Σ_i μ_i τ_i of inverse dynamics at that acceleration, is needed::

    qq = −(H_qq + H_aqᵀ a_q + a_qᵀ H_aq),     qv = −(H_qv + H_aqᵀ a_v),     vv = −H_vv,     tauq = −M⁻¹ H_aq

Times a direction, along which the acceleration changes by da = a_q dq + a_v dv + M⁻¹ dτ, it is the product of inverse dynamics,
(y_q, y_v, y_a) = H(μ) (dq, dv, da), through the first derivatives::

    .q = −(y_q + a_qᵀ y_a),     .v = −(y_v + a_vᵀ y_a),     .tau = −M⁻¹ y_a
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import one_line
from torsor.arrays import matmul, matvec, transpose
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse, through_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.derivatives.inverse_dynamics_hessian import (
    inverse_dynamics_hessian,
    inverse_dynamics_hessian_product,
)
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot


class ForwardDynamicsHessian(NamedTuple):
    """Σ_i weights_i ∂_k (∂a_i/∂q_j), ∂²a_i/∂q_j∂v_k, ∂²a_i/∂v_j∂v_k and ∂_k (∂a_i/∂τ_j), each [j, k] (..., nv, nv)."""

    qq: JointMatrix
    qv: JointMatrix
    vv: JointMatrix
    tauq: JointMatrix

    def __repr__(self) -> str:
        return one_line(self)


def forward_dynamics_hessian(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    weights: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsHessian:
    """Second derivatives of Σ_i weights_i a_i for forward dynamics a(q, v, τ), exact, without forming tensors [PBP95, §5; SRW22].

    The tensors of `forward_dynamics_second_derivatives`, contracted with ``weights`` over their first index: what differential
    dynamic programming needs, with the gradient of the value function as weights.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    weights : (..., nv) array
        What each component is multiplied with, in any unit.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    four matrices (..., nv, nv)
        Per two of rad, m, their rates, N·m and N.
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)
    first = through_inverse(
        M_inverse, inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    )
    H = inverse_dynamics_hessian(robot, q, v, a, matvec(M_inverse, weights), wrenches=wrenches, base_motion=base_motion)
    crossed = matmul(transpose(H.aq), first.q)
    return ForwardDynamicsHessian(
        -(H.qq + crossed + transpose(crossed)),
        -(H.qv + matmul(transpose(H.aq), first.v)),
        -H.vv,
        -matmul(M_inverse, H.aq),
    )


class ForwardDynamicsHessianProduct(NamedTuple):
    """The gradient by q, v and τ of the weighted accelerations' change along a direction: three vectors (..., nv)."""

    q: JointVector
    v: JointVector
    tau: JointVector

    def __repr__(self) -> str:
        return one_line(self)


def forward_dynamics_hessian_product(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    weights: JointVector,
    dq: JointVector,
    dv: JointVector,
    dtau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsHessianProduct:
    """The Hessian of Σ_i weights_i a_i of forward dynamics times (dq, dv, dτ), exact, without forming it [PBP95, §5; SRW22].

    .q = qq dq + qv dv + tauqᵀ dτ, .v = qvᵀ dq + vv dv and .tau = tauq dq in the matrices of `forward_dynamics_hessian`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    weights : (..., nv) array
        What each component is multiplied with, in any unit.
    dq : (..., nv) array
        Direction along q, rad or m.
    dv : (..., nv) array
        Direction along v, rad/s or m/s.
    dtau : (..., nv) array
        Direction along tau, N·m or N.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three vectors (..., nv)
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)
    first = inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    da = matvec(M_inverse, dtau - matvec(first.q, dq) - matvec(first.v, dv))
    product = inverse_dynamics_hessian_product(
        robot, q, v, a, matvec(M_inverse, weights), dq, dv, da, wrenches=wrenches, base_motion=base_motion
    )
    back = -matvec(M_inverse, product.a)
    return ForwardDynamicsHessianProduct(
        -product.q - matvec(transpose(first.q), back),
        -product.v - matvec(transpose(first.v), back),
        back,
    )
