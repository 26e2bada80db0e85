"""Kinematic Hessians: derivatives of the Jacobians by the configuration, H[..., :, j, k] = ∂_k J_j.

∂_k is along the tangent coordinate v_k (body side), so that J̇ = Σ_k H[..., :, :, k] v_k for every joint kind.
"""

from __future__ import annotations

from torsor.arrays import concat, cross, stack_matrices
from torsor.arrays.typing import Array, ConfigurationVector, JacobianDerivative, Twist
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_matrix
from torsor.mechanics.recursions.supporting_chain import body_screws, mixed_screws, space_screws
from torsor.model import Robot

Blocks = dict[tuple[int, int], Array]  # (j, k) → (..., k_j, k_k, 6)


def space_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k J_s,j = [J_s,k, J_s,j] if joint k carries joint j or is it, else 0 [BSP93, §4, E000-10].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv, nv) array
        Per unit of v, derivative index last.
    """
    screws = space_screws(robot, q, frame)
    return _gather(robot, {(j, k): -_brackets(screws[j], screws[k]) for j in screws for k in screws if k <= j})


def body_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k J_b,j = [J_b,j, J_b,k] if joint k lies beyond joint j, else 0 [PBP95, (53)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv, nv) array
        Per unit of v, derivative index last.
    """
    screws = body_screws(robot, q, frame)
    return _gather(robot, {(j, k): _brackets(screws[j], screws[k]) for j in screws for k in screws if k > j})


def mixed_jacobian_derivative(robot: Robot, q: ConfigurationVector, frame: str) -> JacobianDerivative:
    """∂_k (z_j, u_j), columns of J_m: z_k × (z_j, u_j) if joint k carries joint j or is it, else (0, z_j × u_k) [Sil81, (A.3)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv, nv) array
        Per unit of v, derivative index last.
    """
    screws = mixed_screws(robot, q, frame)
    blocks: Blocks = {}
    for j, J in screws.items():
        for k, K in screws.items():
            J_j, K_k = J[..., :, None, :], K[..., None, :, :]
            if k <= j:
                z_k = K_k[..., :3]
                blocks[j, k] = concat([cross(z_k, J_j[..., :3]), cross(z_k, J_j[..., 3:])])
            else:
                moved = cross(J_j[..., :3], K_k[..., 3:])
                blocks[j, k] = concat([0.0 * moved, moved])
    return _gather(robot, blocks)


def _brackets(J: Twist, K: Twist) -> Array:
    """[J_a, K_b] for all rows a and b."""
    return lie.bracket(J[..., :, None, :], K[..., None, :, :])


def _gather(robot: Robot, blocks: Blocks) -> JacobianDerivative:
    """One nv × nv matrix for each of the six rows of the Jacobian."""
    return stack_matrices(
        [gather_matrix(robot, {key: part[..., row] for key, part in blocks.items()}) for row in range(6)]
    )
