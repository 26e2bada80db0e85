"""Screws in motion, and inertia and Coriolis matrix of all links they move; summed from the leaves inwards.

All quantities in the axes of the root link, taken at rest, about its origin (`root_axes`). The Coriolis matrix of a set of links
is twelve numbers and an action. With p = Σ m ẋ and Q = Σ m ẋ xᵀ over the particles of the links (`lie.mass_flow`) [EW21, (11)]::

    B V = (E ω, −p × ω),     Bᵀ V = (Eᵀ ω + p × v, 0),     E = tr(Q) 1 − Q,     B + Bᵀ = Ġ

It acts on angular parts alone, and its transpose gives moments alone. B is linear in the twists of the links. B(U) of a body that
moves as a whole, with one twist U, satisfies B(U)ᵀ W = −B(W)ᵀ U and B(U) W − B(W) U = −G [U, W]: it is the connection of the
body's inertia G on the group of motions; and B(U) U = −ad(U)ᵀ G U.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torsor.arrays import concat, cross, dot, identity, matmul, matvec, outer, parts, reshape, transpose, zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    InertiaRow,
    JointVector,
    Matrix3,
    Pose,
    Twist,
    Vector3,
    Wrench,
)
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import so3
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.recursions.joint_motion import by_joints, joint_poses, joint_screws
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot


def roots(robot: Robot) -> list[int]:
    """The links that hang on the base."""
    return [i for i, parent in enumerate(robot.structure.parents) if parent < 0]


def poses_in_root(robot: Robot, T_pi: list[Pose]) -> list[Pose]:
    """T_ri of every link in its root link r, from its pose in its parent."""
    T: list[Pose] = []
    for i, parent in enumerate(robot.structure.parents):
        T.append(identity(4) if parent < 0 else matmul(T[parent], T_pi[i]))
    return T


def turned_to_root(robot: Robot, T_pi: list[Pose], x: Vector3) -> list[Vector3]:
    """A vector (..., 3) of the base, in the axes of every link's root."""
    turned: list[Vector3] = []
    for i, parent in enumerate(robot.structure.parents):
        turned.append(matvec(transpose(rotation(T_pi[i])), x) if parent < 0 else turned[parent])
    return turned


def moved_to_root(robot: Robot, T_pi: list[Pose], V: Twist) -> list[Twist]:
    """A twist (..., 6) in base axes about the base origin, in the axes of every link's root about that root's origin."""
    moved: list[Twist] = []
    for i, parent in enumerate(robot.structure.parents):
        moved.append(lie.transform_twist_inverse(T_pi[i], V) if parent < 0 else moved[parent])
    return moved


class CoriolisAction(NamedTuple):
    """B: E (..., 3, 3), kg·m²/s, and p (..., 3), kg·m/s. Those of two sets of links add."""

    E: Matrix3
    p: Vector3

    def plus(self, other: CoriolisAction) -> CoriolisAction:
        """Both sets of links together."""
        return CoriolisAction(self.E + other.E, self.p + other.p)

    def on(self, V: Twist) -> Wrench:
        """B V (..., 6)."""
        w = V[..., :3]
        return concat([matvec(self.E, w), -cross(self.p, w)])

    def transposed_on(self, V: Twist) -> Vector3:
        """The moment of Bᵀ V (..., 3), which is all of it."""
        return matvec(transpose(self.E), V[..., :3]) + cross(self.p, V[..., 3:])

    def inertia_rate(self) -> InertiaRow:
        """Ġ = B + Bᵀ in ten numbers."""
        return lie.inertia_row(0.0 * self.p[..., 0], self.p, self.E + transpose(self.E))

    def rows(self, chosen: Any) -> CoriolisAction:
        """Some of many: those with numbers ``chosen``, or all with one more axis."""
        return CoriolisAction(self.E[..., chosen, :, :], self.p[..., chosen, :])


def coriolis_action(G: InertiaRow, V: Twist) -> CoriolisAction:
    """B of a body with inertia row G that moves with the twist V."""
    p, Q = lie.mass_flow(G, V)
    trace = dot(V[..., 3:], G[..., 1:4])  # of v hᵀ, for that of [ω] J vanishes
    return CoriolisAction(trace[..., None, None] * identity(3) - Q, p)


def coriolis_action_moved(G: InertiaRow, B: CoriolisAction, J: Twist, U: Twist) -> CoriolisAction:
    """∂B if links with inertia G are displaced along J and their twists change by U, as seen from them.

    δx = v + ω × x and δẋ = ω × ẋ + u + μ × x for J = (ω, v) and U = (μ, u): δp = ω × p and δQ = [ω] Q − Q [ω] + p vᵀ, and B(U).
    """
    w, v, W = J[..., :3], J[..., 3:], so3.hat(J[..., :3])
    moved = dot(B.p, v)[..., None, None] * identity(3) - outer(B.p, v)
    turned = matmul(W, B.E) - matmul(B.E, W)
    return coriolis_action(G, U).plus(CoriolisAction(turned + moved, cross(w, B.p)))


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
    G = robot.parameters.inertias
    seen = [concat([reshape(T[..., :3, :], 2, 12), G[i], tree.V[i]]) for i, T in enumerate(tree.T_ri)]
    for found in by_joints(robot, _of_links, [row[..., None, :] for row in seen]):
        G, p, E = (found[..., 0, part] for part in parts(10, 3, 9))
        tree.links.append(MovingInertia(G, CoriolisAction(reshape(E, 1, 3, 3), p)))
    tree.bodies.extend(tree.links)
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            tree.bodies[parent] = tree.bodies[parent].plus(tree.bodies[i])
    return tree


def _of_links(rows: Array) -> Array:
    """G and 2 B of a link in the axes of its root, from its pose there, its inertia and its twist."""
    T, G, V = (rows[..., part] for part in parts(12, 10, 6))
    G = lie.transform_inertia(reshape(T, 1, 3, 4), G)
    B = coriolis_action(G, 2.0 * V)
    return concat([G, B.p, reshape(B.E, 2, 9)])
