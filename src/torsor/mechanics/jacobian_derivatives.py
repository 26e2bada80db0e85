"""Kinematic Hessians: derivatives of the Jacobians by the configuration, H[..., :, j, k] = ∂_k J_j.

∂_k is along the tangent coordinate v_k (body side), so that J̇ = Σ_k H[..., :, :, k] v_k for every joint kind.
"""

from __future__ import annotations

from torsor import lie
from torsor.arrays import concat, cross, matvec, stack_matrices
from torsor.arrays.typing import Array, ConfigurationVector, JacobianDerivative, Twist
from torsor.lie.se3 import rotation
from torsor.mechanics.joint_motion import gather_matrix
from torsor.mechanics.supporting_chain import supporting_chain
from torsor.model import Robot

Blocks = dict[tuple[int, int], Array]  # (j, k) → (..., k_j, k_k, 6)


def space_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k J_s,j = [J_s,k, J_s,j] if joint k carries joint j or is it, else 0 [BSP93, §4, E000-10].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv, nv), per unit of v, derivative index last.
    """
    screws = supporting_chain(robot, q, frame).screws
    return _gather(robot, {(j, k): -_brackets(screws[j], screws[k]) for j in screws for k in screws if k <= j})


def body_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k J_b,j = [J_b,j, J_b,k] if joint k lies beyond joint j, else 0 [PBP95, (53)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv, nv), per unit of v, derivative index last.
    """
    return _gather(robot, _body(supporting_chain(robot, q, frame).in_frame()))


def mixed_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k J_m = diag(R, R) ∂_k J_b + (ω_k × J_m), since J_m = diag(R, R) J_b [Sil81, (A.3)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv, nv), per unit of v, derivative index last.
    """
    chain = supporting_chain(robot, q, frame)
    R = rotation(chain.T_0f)[..., None, None, :, :]
    inner, mixed = _body(chain.in_frame()), chain.at_point()
    blocks: Blocks = {}
    for j, J in mixed.items():
        for k, K in mixed.items():
            w_k, J_j = K[..., None, :, :3], J[..., :, None, :]
            blocks[j, k] = concat([cross(w_k, J_j[..., :3]), cross(w_k, J_j[..., 3:])])
            if (j, k) in inner:
                D = inner[j, k]
                blocks[j, k] = blocks[j, k] + concat([matvec(R, D[..., :3]), matvec(R, D[..., 3:])])
    return _gather(robot, blocks)


def _body(screws: dict[int, Twist]) -> Blocks:
    return {(j, k): _brackets(screws[j], screws[k]) for j in screws for k in screws if k > j}


def _brackets(J: Twist, K: Twist) -> Array:
    """[J_a, K_b] for all rows a and b."""
    return lie.bracket(J[..., :, None, :], K[..., None, :, :])


def _gather(robot: Robot, blocks: Blocks) -> JacobianDerivative:
    """One nv × nv matrix for each of the six rows of the Jacobian."""
    return stack_matrices(
        [gather_matrix(robot, {key: part[..., row] for key, part in blocks.items()}) for row in range(6)]
    )
