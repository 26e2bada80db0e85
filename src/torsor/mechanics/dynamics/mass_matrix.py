"""The mass matrix by composite bodies, its inverse, and how it changes along a motion."""

from __future__ import annotations

from itertools import accumulate

from torsor.arrays import concat, factor, identity, inverse, matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, InertiaRow, JointMatrix, JointVector, Pose
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_matrix, joint_poses, joint_screws
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.mechanics.recursions.velocity_tree import poses_in_root, velocity_tree
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular


def mass_matrix(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """M(q) with kinetic energy ½ vᵀ M v, armature included, by composite bodies (CRBA) [PBP95, (40); LP, (9.61)].

    The composite inertia of link i is its own plus those of all links beyond it, moved to frame i. A unit of v_i gives
    that composite the momentum F = G_i S_i, and carried towards the base F works on each joint j it passes:
    M_ji = S_jᵀ F [Fea08, §6.2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv) array
        Symmetric, kg·m², kg·m or kg.
    """
    T_pi = joint_poses(robot, q)
    blocks: dict[tuple[int, int], Array] = {}
    for i, G in enumerate(composite_inertias(robot, T_pi)):
        F = lie.apply_inertia(G[..., None, :], joint_screws(robot, i))
        for j in robot.structure.path_to_base(i):
            M_ji = matmul(joint_screws(robot, j), transpose(F))
            blocks[j, i] = M_ji
            if j != i:
                blocks[i, j] = transpose(M_ji)
            F = lie.transform_wrench_inverse(rows(T_pi[j]), F)
    return gather_matrix(robot, blocks) + identity(robot.nv) * robot.parameters.armature


def mass_matrix_by_root_axes(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """M(q) as `mass_matrix`, with screws and momenta in the axes of the root link: six products for a pair of freedoms.

    Each momentum F = G_i S_i is carried to the root once instead of from joint to joint, and M_ji = J_jᵀ F there [PBP95, (40)]:
    fewer operations from about eight joints in a row. A joint's own M_ii is taken in its own frame, where it loses no digit.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv) array
        Symmetric, kg·m², kg·m or kg.
    """
    T_pi = joint_poses(robot, q)
    T_ri = poses_in_root(robot, T_pi)
    S = [joint_screws(robot, i) for i in range(robot.n)]
    J = [lie.transform_twist(rows(T), screws) for T, screws in zip(T_ri, S, strict=True)]
    F = [lie.apply_inertia(G[..., None, :], S[i]) for i, G in enumerate(composite_inertias(robot, T_pi))]
    F_r = [lie.transform_wrench_inverse(rows(T), momentum) for T, momentum in zip(T_ri, F, strict=True)]
    works = matmul(concat(J, axis=-2), transpose(concat(F_r, axis=-2)))  # of all with all: one product of two matrices
    ends = list(accumulate(screws.shape[-2] for screws in S))
    own = [slice(end - screws.shape[-2], end) for screws, end in zip(S, ends, strict=True)]
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n):
        blocks[i, i] = matmul(S[i], transpose(F[i]))
        for j in robot.structure.path_to_base(i)[1:]:
            blocks[j, i] = works[..., own[j], own[i]]
            blocks[i, j] = transpose(blocks[j, i])
    return gather_matrix(robot, blocks) + identity(robot.nv) * robot.parameters.armature


def composite_inertias(robot: Robot, T_pi: list[Pose]) -> list[InertiaRow]:
    """Inertia row of each link with all links beyond it, in the link's frame: leaves to root."""
    G: list[InertiaRow] = [robot.parameters.inertias[i] for i in range(robot.n)]
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            G[parent] = G[parent] + lie.transform_inertia(T_pi[i], G[i])
    return G


def inverse_mass_matrix(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """M(q)⁻¹, by the factorisation M = LᵀDL that keeps the zeros between branches [Fea08, §6.5; LP, (9.2)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, nv) array
        1/(kg·m²), 1/(kg·m) or 1/kg; NaN where M is singular.
    """
    return inverse(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)))


def mass_matrix_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointMatrix:
    """Ṁ = d/dt M(q) along q̇ = v: Σ J̇ᵀ G J + Jᵀ Ġ J + Jᵀ G J̇ over the links each pair of joints moves [LP, (9.61), Prop. 9.1].

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
        Symmetric, kg·m²/s, kg·m/s or kg/s.
    """
    tree = velocity_tree(robot, q, v)
    J, J_dot = tree.J, tree.J_dot
    blocks: dict[tuple[int, int], Array] = {}
    for j in range(robot.n):
        G, twice = tree.bodies[j].G[..., None, :], tree.bodies[j].B.inertia_rate()[..., None, :]
        momentum = lie.apply_inertia(G, J[j])
        force = lie.apply_inertia(G, J_dot[j]) + lie.apply_inertia(twice, 0.5 * J[j])
        for i in robot.structure.path_to_base(j):
            blocks[i, j] = matmul(J_dot[i], transpose(momentum)) + matmul(J[i], transpose(force))
            if i != j:
                blocks[j, i] = transpose(blocks[i, j])
    return gather_matrix(robot, blocks)
