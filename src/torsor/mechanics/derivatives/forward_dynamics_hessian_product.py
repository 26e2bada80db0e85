"""The second derivatives of a weighted sum of accelerations, times a direction.

With μ = M⁻¹ λ and the change da = a_q dq + a_v dv + M⁻¹ dτ of the acceleration along the direction, the product is that of
inverse dynamics, (y_q, y_v, y_a) = H(μ) (dq, dv, da), through the first derivatives::

    by_q = −(y_q + a_qᵀ y_a),     by_v = −(y_v + a_vᵀ y_a),     by_tau = −M⁻¹ y_a
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import matvec, transpose
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.derivatives.inverse_dynamics_hessian_product import inverse_dynamics_hessian_product
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.mechanics.recursions.wrenches import Wrenches
from torsor.model import Robot


class ForwardDynamicsHessianProduct(NamedTuple):
    """The gradient by q, v and τ of the weighted accelerations' change along a direction: three vectors (..., nv)."""

    by_q: JointVector
    by_v: JointVector
    by_tau: JointVector


def forward_dynamics_hessian_product(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    weights: JointVector,
    dq: JointVector,
    dv: JointVector,
    dtau: JointVector,
    wrenches: Wrenches | None = None,
    *,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsHessianProduct:
    """The Hessian of Σ_i weights_i a_i of forward dynamics times (dq, dv, dτ), exact, without forming it [PBP95, §5; SRW22].

    by_q = qq dq + qv dv + tauqᵀ dτ, by_v = qvᵀ dq + vv dv and by_tau = tauq dq in the matrices of `forward_dynamics_hessian`.
    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``tau`` (..., nv), N·m or N; ``weights`` (..., nv), any unit;
    ``dq``, ``dv``, ``dtau`` (..., nv), along q, v and tau; ``wrenches``, N·m and N, and ``base_motion`` as in forward
    dynamics. Returns three vectors (..., nv).
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches, base_motion=base_motion)
    first = inverse_dynamics_derivatives(robot, q, v, a, wrenches, base_motion=base_motion)
    da = matvec(M_inverse, dtau - matvec(first.dq, dq) - matvec(first.dv, dv))
    product = inverse_dynamics_hessian_product(
        robot, q, v, a, matvec(M_inverse, weights), dq, dv, da, wrenches, base_motion=base_motion
    )
    back = -matvec(M_inverse, product.by_a)
    return ForwardDynamicsHessianProduct(
        -product.by_q - matvec(transpose(first.dq), back),
        -product.by_v - matvec(transpose(first.dv), back),
        back,
    )
