"""How the mass matrix changes along a motion."""

from __future__ import annotations

from torsor.arrays import matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_matrix
from torsor.mechanics.recursions.velocity_tree import velocity_tree
from torsor.model import Robot


def mass_matrix_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointMatrix:
    """Ṁ = d/dt M(q) along q̇ = v: Σ J̇ᵀ G J + Jᵀ Ġ J + Jᵀ G J̇ over the links each pair of joints moves [LP, (9.61), Prop. 9.1].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), symmetric, kg·m²/s, kg·m/s or kg/s.
    """
    tree = velocity_tree(robot, q, v)
    J, J_dot = tree.J, tree.J_dot
    blocks: dict[tuple[int, int], Array] = {}
    for j in range(robot.n):
        G, twice = tree.bodies[j].G[..., None, :], tree.bodies[j].B.inertia_rate()[..., None, :]
        momentum = lie.apply_inertia(G, J[j])
        force = lie.apply_inertia(G, J_dot[j]) + lie.apply_inertia(twice, 0.5 * J[j])
        i = j
        while i >= 0:
            blocks[i, j] = matmul(J_dot[i], transpose(momentum)) + matmul(J[i], transpose(force))
            if i != j:
                blocks[j, i] = transpose(blocks[i, j])
            i = robot.structure.parents[i]
    return gather_matrix(robot, blocks)
