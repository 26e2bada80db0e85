"""Links as 4×4 matrices: the data of Uicker, Kahn and of Hollerbach's first recursion."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, identity, matmul, zeros
from torsor.arrays.typing import Algebra, Array, ConfigurationVector, Pose, Scalar
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.recursions.joint_motion import joint_pose
from torsor.model import Robot
from torsor.papers.formulations.model import Model
from torsor.papers.formulations.vector_links import centre_of_mass


class MatrixLink(NamedTuple):
    """One link: its joint's transform with derivatives, and its inertia.

    ``A`` (..., 4, 4): T_pi, m. ``A1`` and ``A2``: first and second derivative by the joint's variable. ``J`` (4, 4): the
    pseudo-inertia, kg, kg·m, kg·m². ``m``: mass, kg. ``r`` (4,): the centre of mass (x, y, z, 1), m.
    """

    A: Pose
    A1: Algebra
    A2: Algebra
    J: Array
    m: Scalar
    r: Array


def matrix_model(robot: Robot, q: ConfigurationVector) -> Model:
    """The robot in matrices: A = M e^{Sq}, ∂A/∂q = A [S], ∂²A/∂q² = A [S]², for every screw S; base: (g, 0) (4,)."""
    p = robot.parameters
    links = []
    for i in range(robot.n):
        A, S, G = joint_pose(robot, i, q), se3.hat(p.screws[i]), p.inertias[i]
        A1 = matmul(A, S)
        r = concat([centre_of_mass(G), identity(1)[0]])
        links.append(MatrixLink(A, A1, matmul(A1, S), lie.pseudo_inertia(G), G[..., 0], r))
    return Model(robot.structure.parents, links, (concat([p.gravity, zeros(1)]),))
