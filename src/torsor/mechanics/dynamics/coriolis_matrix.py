"""The Coriolis matrix with Ṁ = C + Cᵀ, in O(n d) for a tree of depth d."""

from __future__ import annotations

from torsor.arrays import matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_matrix
from torsor.mechanics.recursions.velocity_tree import velocity_tree
from torsor.model import Robot


def coriolis_matrix(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointMatrix:
    """C(q, v) with C v = coriolis_forces and Ṁ = C + Cᵀ, so that Ṁ − 2C is skew [LP, (9.87), Prop. 9.1].

    C = Σ J_kᵀ (G_k J̇_k + B_k J_k) over links k, with a body-level B_k + B_kᵀ = Ġ_k [EW21]. For joints with one degree of
    freedom it is the Christoffel matrix C_ij = Σ_k Γ_jki v_k. With G and B summed over the links beyond joint j::

        C_ij = J_iᵀ (G J̇_j + B J_j)        for i on the way to j,  and  C_ji = J̇_iᵀ G J_j + J_iᵀ Bᵀ J_j  transposed

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv, nv) array
        kg·m²/s, kg·m/s or kg/s.
    """
    tree = velocity_tree(robot, q, v)
    J, J_dot = tree.J, tree.J_dot
    blocks: dict[tuple[int, int], Array] = {}
    for j in range(robot.n):
        G, twice = tree.bodies[j].G[..., None, :], tree.bodies[j].B.rows(None)
        momentum = lie.apply_inertia(G, J[j])
        force = lie.apply_inertia(G, J_dot[j]) + twice.on(0.5 * J[j])
        back = twice.transposed_on(0.5 * J[j])
        for i in robot.structure.path_to_base(j):
            blocks[i, j] = matmul(J[i], transpose(force))
            if i != j:
                blocks[j, i] = matmul(momentum, transpose(J_dot[i])) + matmul(back, transpose(J[i][..., :3]))
    return gather_matrix(robot, blocks)
