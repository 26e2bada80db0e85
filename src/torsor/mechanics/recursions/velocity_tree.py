"""Screws in motion, and inertia and Coriolis matrix of all links they move; summed from the leaves inwards.

All quantities in the axes of the root link, taken at rest, about its origin (`root_axes`).
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, InertiaRow, JointVector, Pose, Twist
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.coriolis_action import CoriolisAction, coriolis_action
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.mechanics.recursions.root_axes import moved_to_root, poses_in_root
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot


class MovingInertia(NamedTuple):
    """Of a set of links: inertia row G (..., 10), and *twice* the Coriolis matrix, as derivatives by the motion have it."""

    G: InertiaRow
    B: CoriolisAction

    def plus(self, other: MovingInertia) -> MovingInertia:
        """Both sets of links together."""
        return MovingInertia(self.G + other.G, self.B.plus(other.B))


class VelocityTree(NamedTuple):
    """Per joint: pose in the root; screws J, Ψ̇ = [V_p, J], J̇ (..., k, 6); twist of its link; its link alone, and all it moves."""

    T_ri: list[Pose]
    J: list[Twist]
    Psi: list[Twist]
    J_dot: list[Twist]
    V: list[Twist]
    links: list[MovingInertia]
    bodies: list[MovingInertia]


def velocity_tree(
    robot: Robot, q: ConfigurationVector, v: JointVector, base_twist: Twist | None = None
) -> VelocityTree:
    """A robot that moves with v, on a base that moves with a twist (..., 6) in base axes, or stands still."""
    T_pi = joint_poses(robot, q)
    V_0 = [zeros(6)] * robot.n if base_twist is None else moved_to_root(robot, T_pi, base_twist)
    tree = VelocityTree(poses_in_root(robot, T_pi), [], [], [], [], [], [])
    for i, (T, parent) in enumerate(zip(tree.T_ri, robot.structure.parents, strict=True)):
        J, V_p = lie.transform_twist(rows(T), joint_screws(robot, i)), V_0[i] if parent < 0 else tree.V[parent]
        own = matvec(transpose(J), v[..., robot.structure.coordinate_of(i).v])
        Psi = lie.bracket(V_p[..., None, :], J)
        tree.J.append(J)
        tree.Psi.append(Psi)
        # One screw commutes with itself.
        tree.J_dot.append(Psi if J.shape[-2] == 1 else Psi + lie.bracket(own[..., None, :], J))
        tree.V.append(V_p + own)
        G = lie.transform_inertia(T, robot.parameters.inertias[i])
        tree.links.append(MovingInertia(G, coriolis_action(G, 2.0 * tree.V[i])))
    tree.bodies.extend(tree.links)
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            tree.bodies[parent] = tree.bodies[parent].plus(tree.bodies[i])
    return tree
