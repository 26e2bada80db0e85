"""How the mass matrix changes along a motion."""

from __future__ import annotations

from torsor import lie
from torsor.arrays import matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.mechanics.joint_motion import gather_matrix
from torsor.mechanics.moving_inertia import moving_tree
from torsor.model import Robot


def mass_matrix_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointMatrix:
    """Ṁ = d/dt M(q) along q̇ = v: Σ J̇ᵀ G J + Jᵀ Ġ J + Jᵀ G J̇ over the links each pair of joints moves [LP, (9.61), Prop. 9.1].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), symmetric, kg·m²/s, kg·m/s or kg/s.
    """
    J, J_dot, composite = moving_tree(robot, q, v)
    blocks: dict[tuple[int, int], Array] = {}
    for j in range(robot.n):
        G, flow = composite[j].G[..., None, :], composite[j]
        momentum = lie.apply_inertia(G, J[j])
        force = lie.apply_inertia(G, J_dot[j]) + flow.rate_of_inertia(J[j])
        i = j
        while i >= 0:
            blocks[i, j] = matmul(J_dot[i], transpose(momentum)) + matmul(J[i], transpose(force))
            if i != j:
                blocks[j, i] = transpose(blocks[i, j])
            i = robot.structure.parents[i]
    return gather_matrix(robot, blocks)
