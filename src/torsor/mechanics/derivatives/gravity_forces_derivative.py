"""How gravity's forces change with the configuration: the stiffness of the potential energy, in O(n d) for depth d."""

from __future__ import annotations

from torsor.arrays import cross, matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.recursions.first_moments import first_moments
from torsor.mechanics.recursions.joint_motion import gather_matrix, joint_poses
from torsor.mechanics.recursions.root_axes import poses_in_root, turned_to_root
from torsor.model import Robot


def gravity_forces_derivative(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """∂g/∂q of gravity_forces, the Hessian of potential energy, along the tangent coordinates v (body side) [LP, (9.84); SRW22].

    g_i = −p_i · γ, with γ the acceleration of gravity and p_i the momentum that a unit of v_i gives to all links beyond joint i.
    Where joint j carries joint i or is it, ∂_j p_i = ω_j × p_i, and ∂_i p_j is the same (`first_moments`)::

        ∂g_i/∂q_j = ∂g_j/∂q_i = p_i · (ω_j × γ)

    Symmetric but for the blocks of spherical, planar and free joints, whose tangent coordinates do not commute.
    ``q`` (..., nq), rad or m. Returns (..., nv, nv), N·m or N per rad or m.
    """
    poses = joint_poses(robot, q)
    gravity = turned_to_root(robot, poses, robot.parameters.gravity)
    w, p = first_moments(robot, poses, [rotation(T_ri) for T_ri in poses_in_root(robot, poses)])
    pulled = [cross(w_j, gravity[j][..., None, :]) for j, w_j in enumerate(w)]
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n):
        j = i
        while j >= 0:
            blocks[i, j] = matmul(p[i], transpose(pulled[j]))
            if j != i:
                blocks[j, i] = transpose(blocks[i, j])
            j = robot.structure.parents[j]
    return gather_matrix(robot, blocks)
