"""Inertia of every link and how it flows, in base axes about the base origin; summed from the leaves inwards.

The flow of a link is p = Σ m ẋ and Q = Σ m ẋ xᵀ over its particles (`lie.mass_flow`).
"""

from __future__ import annotations

from typing import NamedTuple

from torsor import lie
from torsor.arrays import concat, cross, matvec, transpose
from torsor.arrays.typing import ConfigurationVector, InertiaRow, JointVector, Matrix3, Scalar, Twist, Vector3, Wrench
from torsor.mechanics.joint_motion import joint_screws
from torsor.mechanics.kinematics import poses_in_base
from torsor.mechanics.supporting_chain import rows
from torsor.model import Robot


class Flow(NamedTuple):
    """Inertia row G (..., 10), momentum p (..., 3) and Q = Σ m ẋ xᵀ (..., 3, 3) of a set of links; flows add."""

    G: InertiaRow
    p: Vector3
    Q: Matrix3

    def plus(self, other: Flow) -> Flow:
        """Both sets of links together."""
        return Flow(self.G + other.G, self.p + other.p, self.Q + other.Q)

    def rate_of_inertia(self, V: Twist) -> Wrench:
        """Ġ V: how the inertia's change acts on a twist (..., k, 6)."""
        return lie.apply_inertia(lie.MassFlow(self.p, self.Q).inertia_rate()[..., None, :], V)

    def coriolis(self, V: Twist) -> Wrench:
        """B V = (tr(Q) ω − Q ω, −p × ω), with B + Bᵀ = Ġ: the body-level Coriolis matrix [EW21, (11)]."""
        w, p, Q = V[..., :3], self.p[..., None, :], self.Q[..., None, :, :]
        return concat([_trace(Q) * w - matvec(Q, w), -cross(p, w)])

    def coriolis_transposed(self, V: Twist) -> Wrench:
        """Bᵀ V = (tr(Q) ω − Qᵀ ω + p × v, 0)."""
        w, v, p, Q = V[..., :3], V[..., 3:], self.p[..., None, :], self.Q[..., None, :, :]
        moment = _trace(Q) * w - matvec(transpose(Q), w) + cross(p, v)
        return concat([moment, 0.0 * moment])


class MovingTree(NamedTuple):
    """Per joint, in base axes: screws J (..., k, 6), their rates J̇, and the flow of all links it moves."""

    J: list[Twist]
    J_dot: list[Twist]
    composite: list[Flow]


def moving_tree(robot: Robot, q: ConfigurationVector, v: JointVector) -> MovingTree:
    """Screws, rates and composite flows of a robot in motion."""
    J: list[Twist] = []
    J_dot: list[Twist] = []
    V: list[Twist] = []
    flows: list[Flow] = []
    for i, T_0i in enumerate(poses_in_base(robot, q)):
        J.append(lie.transform_twist(rows(T_0i), joint_screws(robot, i)))
        parent = robot.structure.parents[i]
        own = matvec(transpose(J[i]), v[..., robot.structure.coordinate_of(i).v])
        V.append(own if parent < 0 else V[parent] + own)
        J_dot.append(lie.bracket(V[i][..., None, :], J[i]))
        flows.append(flow_of(lie.transform_inertia(T_0i, robot.parameters.inertias[i]), V[i]))
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            flows[parent] = flows[parent].plus(flows[i])
    return MovingTree(J, J_dot, flows)


def flow_of(G: InertiaRow, V: Twist) -> Flow:
    """The flow of one link with inertia row G and twist V."""
    return Flow(G, *lie.mass_flow(G, V))


def _trace(Q: Matrix3) -> Scalar:
    return (Q[..., 0, 0] + Q[..., 1, 1] + Q[..., 2, 2])[..., None]
