"""Second derivatives of forward dynamics: those of inverse dynamics, through M⁻¹.

Along a = FD(q, v, τ) the equation ID(q, v, a) = τ holds identically. Differentiated once it gives ∂a, and once more, with
ID_qq … the second derivatives of inverse dynamics at that acceleration and ∂_k M = ID_aq (M is what multiplies a)::

    M ∂_k ∂_j a = −(ID_qq[j, k] + ∂_j M ∂_k a + ∂_k M ∂_j a)              by q and q
    M ∂²a/∂q_j∂v_k = −(ID_qv[j, k] + ∂_j M ∂a/∂v_k)                       by q and v
    M ∂²a/∂v_j∂v_k = −ID_vv[j, k],     ∂_k (M⁻¹) = −M⁻¹ ∂_k M M⁻¹         by v and v, by τ and q
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import one_line
from torsor.arrays import matmul, permute, reshape
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointTensor3, JointVector
from torsor.geometry.inverse_dynamics_second_derivatives import (
    InverseDynamicsSecondDerivatives,
    inverse_dynamics_second_derivatives,
)
from torsor.mechanics.derivatives.forward_dynamics_derivatives import (
    ForwardDynamicsDerivatives,
    acceleration_and_inverse,
    through_inverse,
)
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot


class ForwardDynamicsSecondDerivatives(NamedTuple):
    """∂_k (∂a_i/∂q_j), ∂²a_i/∂q_j∂v_k, ∂²a_i/∂v_j∂v_k and ∂_k (∂a_i/∂τ_j), each [i, j, k] (..., nv, nv, nv)."""

    qq: JointTensor3
    qv: JointTensor3
    vv: JointTensor3
    tauq: JointTensor3

    def __repr__(self) -> str:
        return one_line(self)


def forward_dynamics_second_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsSecondDerivatives:
    """All second derivatives of forward dynamics a(q, v, τ) that do not vanish, exact [PBP95, §5; SRW22].

    qq[i, j, k] = ∂_k (∂a_i/∂q_j), qv[i, j, k] = ∂²a_i/∂q_j∂v_k, vv[i, j, k] = ∂²a_i/∂v_j∂v_k and tauq[i, j, k] = ∂_k (M⁻¹)_ij,
    with ∂/∂q along the tangent coordinates v on the body side; the order of j and k in qq, friction and wrenches as in
    `inverse_dynamics_second_derivatives`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    four tensors (..., nv, nv, nv)
        rad/s² or m/s² per two of rad, m, their rates, N·m and N; NaN where the mass matrix is singular, but for entries that
        are 0 in every state.
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)
    first = through_inverse(
        M_inverse, inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    )
    second = inverse_dynamics_second_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    return second_through_inverse(first, second)


def second_through_inverse(
    first: ForwardDynamicsDerivatives, by_inverse: InverseDynamicsSecondDerivatives
) -> ForwardDynamicsSecondDerivatives:
    """From the first derivatives, and the second ones of inverse dynamics at the acceleration of forward dynamics."""
    less = -first.tau
    dM = permute(by_inverse.aq, (0, 2, 1))  # [i, j, l] = ∂_j M_il
    crossed = _last(dM, first.q)
    qq = by_inverse.qq + crossed + permute(crossed, (0, 2, 1))
    return ForwardDynamicsSecondDerivatives(
        _first(less, qq),
        _first(less, by_inverse.qv + _last(dM, first.v)),
        _first(less, by_inverse.vv),
        permute(_last(_first(less, dM), first.tau), (0, 2, 1)),
    )


def _first(A: JointMatrix, X: JointTensor3) -> JointTensor3:
    """Σ_l A[i, l] X[l, j, k]."""
    n = X.shape[-1]
    return reshape(matmul(A, reshape(X, 3, n, n * n)), 2, n, n, n)


def _last(X: JointTensor3, A: JointMatrix) -> JointTensor3:
    """Σ_l X[i, j, l] A[l, k]."""
    n = X.shape[-1]
    return reshape(matmul(reshape(X, 3, n * n, n), A), 2, n, n, n)
