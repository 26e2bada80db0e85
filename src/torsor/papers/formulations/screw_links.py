"""Links as poses and screws: the data of Park's recursion, of Kool and of the Lagrange equation by Jacobians."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, zeros
from torsor.arrays.typing import ConfigurationVector, InertiaRow, Matrix6, Pose, Twist
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.recursions.joint_motion import joint_pose
from torsor.model import Robot
from torsor.papers.formulations.model import Model


class ScrewLink(NamedTuple):
    """One link: ``T`` (..., 4, 4): T_pi, m; ``S`` (6,): its joint's screw, in its frame; ``G`` (10,): its inertia row, kg, m."""

    T: Pose
    S: Twist
    G: InertiaRow


class DenseLink(NamedTuple):
    """One link: ``X`` (..., 6, 6): Ad(T_pi)⁻¹, m; ``S`` (6,): its joint's screw; ``G`` (6, 6): its inertia matrix, kg, m."""

    X: Matrix6
    S: Twist
    G: Matrix6


def screw_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in screws; base: the acceleration of gravity (3,)."""
    return Model(robot.structure.parents, _links(robot, q), (robot.parameters.gravity,))


def moving_screw_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in screws; base: its twist and acceleration (0, −g), (6,) each [LP, E002-7]."""
    return Model(robot.structure.parents, _links(robot, q), _lift(robot))


def dense_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in 6×6 matrices; base as above."""
    links = [DenseLink(lie.Ad(se3.inverse(T)), S, lie.inertia_matrix(G)) for T, S, G in _links(robot, q)]
    return Model(robot.structure.parents, links, _lift(robot))


def _links(robot: Robot, q: ConfigurationVector) -> list[ScrewLink]:
    p = robot.parameters
    return [ScrewLink(joint_pose(robot, i, q), p.screws[i], p.inertias[i]) for i in range(robot.n)]


def _lift(robot: Robot) -> tuple[Twist, Twist]:
    return zeros(6), concat([zeros(3), -robot.parameters.gravity])
