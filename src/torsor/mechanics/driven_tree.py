"""What the derivatives of inverse dynamics are made of: screws in motion, and inertia, flow and wrench of all they move.

All quantities in the axes of the root link, taken at rest, about its origin. If V_p and A_p are the twist and acceleration
(less gravity) of joint j's parent, then a change of q_j, or of v_j, changes twist and acceleration of every link l beyond it,
seen from that link, by [SRW22, (22)–(25)]::

    Ψ̇_j  and  Ψ̈_j + [Ψ̇_j, V_l],     Ψ̇_j = [V_p, J_j],     Ψ̈_j = [A_p, J_j] + [V_p, Ψ̇_j]          by q_j
    J_j  and  Φ_j + [J_j, V_l],      Φ_j = Ψ̇_j + J̇_j                                             by v_j
"""

from __future__ import annotations

from typing import NamedTuple

from torsor import lie
from torsor.arrays import concat, matmul, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Pose, Twist, Wrench
from torsor.lie.se3 import rotation
from torsor.mechanics.joint_motion import joint_poses, joint_screws
from torsor.mechanics.moving_inertia import Flow, flow_of
from torsor.mechanics.supporting_chain import rows
from torsor.mechanics.wrenches import Wrenches, wrenches_on_links
from torsor.model import Robot


class DrivenTree(NamedTuple):
    """Per joint: screws J (..., k, 6), Ψ̇, Ψ̈, Φ; flows and wrenches of all links it moves; the flow of its own link alone."""

    J: list[Twist]
    Psi: list[Twist]
    Psi_dot: list[Twist]
    Phi: list[Twist]
    flows: list[Flow]
    F: list[Wrench]
    links: list[Flow]


def driven_tree(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, wrenches: Wrenches | None
) -> DrivenTree:
    """A robot that moves with v and a, under external wrenches."""
    poses, external = joint_poses(robot, q), wrenches_on_links(robot, wrenches)
    tree = DrivenTree([], [], [], [], [], [], [])
    T_ri: list[Pose | None] = []
    V: list[Twist] = []
    A: list[Twist] = []
    for i, p in enumerate(robot.structure.parents):
        J, G, wrench = joint_screws(robot, i), robot.parameters.inertias[i], external.get(i)
        c = robot.structure.coordinate_of(i).v
        if p < 0:  # seen from the root link, what lifts the base (gravity) is turned
            T_ri.append(None)
            lift = -matvec(transpose(rotation(poses[i])), robot.parameters.gravity)
            V_p, A_p = zeros(6), concat([zeros(3), lift])
        else:
            T = poses[i] if T_ri[p] is None else matmul(T_ri[p], poses[i])
            T_ri.append(T)
            J, G = lie.transform_twist(rows(T), J), lie.transform_inertia(T, G)
            wrench = None if wrench is None else lie.transform_wrench_inverse(T, wrench)
            V_p, A_p = V[p], A[p]
        own = matvec(transpose(J), v[..., c])
        Psi = lie.bracket(V_p[..., None, :], J)
        J_dot = Psi if J.shape[-2] == 1 else Psi + lie.bracket(own[..., None, :], J)  # one screw commutes with itself
        V.append(V_p + own)
        A.append(A_p + matvec(transpose(J), a[..., c]) + matvec(transpose(J_dot), v[..., c]))
        flow = flow_of(G, V[i])
        F = lie.apply_inertia(G, A[i]) + flow.coriolis(V[i][..., None, :])[..., 0, :]  # B V = −ad(V)ᵀ G V
        tree.J.append(J)
        tree.Psi.append(Psi)
        tree.Psi_dot.append(lie.bracket(A_p[..., None, :], J) + lie.bracket(V_p[..., None, :], Psi))
        tree.Phi.append(Psi + J_dot)
        tree.flows.append(flow)
        tree.F.append(F if wrench is None else F - wrench)
    tree.links.extend(tree.flows)
    for i in range(robot.n - 1, -1, -1):
        if (p := robot.structure.parents[i]) >= 0:
            tree.flows[p] = tree.flows[p].plus(tree.flows[i])
            tree.F[p] = tree.F[p] + tree.F[i]
    return tree
