"""What the derivatives of inverse dynamics are made of: screws in motion; inertia, Coriolis matrix and wrench of what they move.

All quantities in the axes of the root link, taken at rest, about its origin. If V_p and A_p are the twist and acceleration
(less gravity) of joint j's parent, then a change of q_j, or of v_j, changes twist and acceleration of every link l beyond it,
seen from that link, by [SRW22, (22)–(25)]::

    Ψ̇_j  and  Ψ̈_j + [Ψ̇_j, V_l],     Ψ̇_j = [V_p, J_j],     Ψ̈_j = [A_p, J_j] + [V_p, Ψ̇_j]          by q_j
    J_j  and  Φ_j + [J_j, V_l],      Φ_j = Ψ̇_j + J̇_j                                             by v_j
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import gather_matrix, joint_poses
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches, wrenches_on_links
from torsor.mechanics.recursions.velocity_tree import MovingInertia, moved_to_root, turned_to_root, velocity_tree
from torsor.model import Robot


class AccelerationTree(NamedTuple):
    """Per joint: screws J (..., k, 6), Ψ̇, Ψ̈, Φ; inertia and wrench F of all links it moves; the inertia of its own link alone."""

    J: list[Twist]
    Psi: list[Twist]
    Psi_dot: list[Twist]
    Phi: list[Twist]
    bodies: list[MovingInertia]
    F: list[Wrench]
    links: list[MovingInertia]


def acceleration_tree(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    wrenches: Wrenches | None,
    base_motion: BaseMotion | None = None,
) -> AccelerationTree:
    """A robot that moves with v and a, under external wrenches, on a base that may move."""
    V_0, A_0 = (None, None) if base_motion is None else base_motion
    moving, external = velocity_tree(robot, q, v, V_0), wrenches_on_links(robot, wrenches)
    T_pi = joint_poses(robot, q)
    lift = turned_to_root(robot, T_pi, -robot.parameters.gravity)  # gravity as what lifts the base
    A_base = [concat([zeros(3), x]) for x in lift]
    V_base = [zeros(6)] * robot.n
    if base_motion is not None:
        V_base = moved_to_root(robot, T_pi, V_0)
        A_base = [x + y for x, y in zip(A_base, moved_to_root(robot, T_pi, A_0), strict=True)]
    A: list[Twist] = []
    Psi_dot: list[Twist] = []
    F: list[Wrench] = []
    for i, p in enumerate(robot.structure.parents):
        J, c, (G, B) = moving.J[i], robot.structure.coordinate_of(i).v, moving.links[i]
        V_p, A_p = (V_base[i], A_base[i]) if p < 0 else (moving.V[p], A[p])
        Psi_dot.append(lie.bracket(A_p[..., None, :], J) + lie.bracket(V_p[..., None, :], moving.Psi[i]))
        A.append(A_p + matvec(transpose(J), a[..., c]) + matvec(transpose(moving.J_dot[i]), v[..., c]))
        F.append(lie.apply_inertia(G, A[i]) + B.on(0.5 * moving.V[i]))
        if i in external:
            F[i] = F[i] - lie.transform_wrench_inverse(moving.T_ri[i], external[i])
    for i in range(robot.n - 1, -1, -1):
        if (p := robot.structure.parents[i]) >= 0:
            F[p] = F[p] + F[i]
    Phi = [Psi + J_dot for Psi, J_dot in zip(moving.Psi, moving.J_dot, strict=True)]
    return AccelerationTree(moving.J, moving.Psi, Psi_dot, Phi, moving.bodies, F, moving.links)


def mass_matrix_of(robot: Robot, tree: AccelerationTree) -> JointMatrix:
    """M, armature included, of quantities that derivatives of dynamics have anyway."""
    blocks: dict[tuple[int, int], Array] = {}
    for i in range(robot.n):
        momentum = lie.apply_inertia(tree.bodies[i].G[..., None, :], tree.J[i])
        for j in robot.structure.path_to_base(i):
            blocks[i, j] = matmul(momentum, transpose(tree.J[j]))
            blocks[j, i] = transpose(blocks[i, j])
    return gather_matrix(robot, blocks) + identity(robot.nv) * robot.parameters.armature
