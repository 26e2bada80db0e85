"""What each degree of freedom does to the centre of mass of the links it moves.

With m and h the mass and first moment of all links beyond joint k, J_k = (ω_k, v_k) its screws, a unit of v_k gives them the
linear momentum p_k = m v_k + ω_k × h, which is also ∂_k h [Kool04, (8)]. Moving joint k turns the momenta of joints beyond it,
and moves the mass that joints before it carry; both ways the second derivative is the same product::

    ∂_k p_j = ω_k × p_j        joint k carries joint j, or is it
    ∂_k p_j = ω_j × p_k        joint j carries joint k
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import cross, matmul, matvec, transpose, where, zeros
from torsor.arrays.typing import Array, Pose, Rotation, Scalar, Vector3
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.mechanics.recursions.velocity_tree import roots
from torsor.model import Robot


class FirstMoments(NamedTuple):
    """Per joint, rows (..., k, 3): angular parts ω of its screws and momenta p, both in the axes of ``turns``."""

    w: list[Array]
    p: list[Array]


def first_moments(robot: Robot, poses: list[Pose], turns: list[Rotation]) -> FirstMoments:
    """From the poses T_pi of all links in their parents, and the rotations of all links in the axes of the result."""
    masses, moments = beyond(robot, poses)
    w: list[Array] = []
    p: list[Array] = []
    for i, R in enumerate(turns):
        S = joint_screws(robot, i)
        momentum = masses[i] * S[..., 3:] + cross(S[..., :3], moments[i][..., None, :])
        w.append(matmul(S[..., :3], transpose(R)))
        p.append(matmul(momentum, transpose(R)))
    return FirstMoments(w, p)


def rotations_in_base(robot: Robot, poses: list[Pose]) -> list[Rotation]:
    """R_0i of all links."""
    R: list[Rotation] = []
    for parent, T_pi in zip(robot.structure.parents, poses, strict=True):
        R.append(rotation(T_pi) if parent < 0 else matmul(R[parent], rotation(T_pi)))
    return R


def first_moment(robot: Robot, poses: list[Pose]) -> Vector3:
    """Σ m_i p_i (..., 3) of all moving links in the base frame, from what each root carries."""
    masses, moments = beyond(robot, poses)
    h = zeros(3)
    for i in roots(robot):
        h = h + matvec(rotation(poses[i]), moments[i]) + masses[i] * translation(poses[i])
    return h


def centre(robot: Robot, poses: list[Pose]) -> Vector3:
    """Centre of mass (..., 3) of all moving links in the base frame; NaN without mass."""
    return first_moment(robot, poses) / total_mass(robot)


def total_mass(robot: Robot) -> Scalar:
    """Mass of all moving links; NaN if there is none."""
    total = robot.parameters.inertias[..., 0].sum()
    return where(total > 0.0, total, float("nan"))


def beyond(robot: Robot, poses: list[Pose]) -> tuple[list[Scalar], list[Vector3]]:
    """Mass, and first moment in the link's own frame, of each link with all links beyond it: leaves to root."""
    masses = [robot.parameters.inertias[i, 0] for i in range(robot.n)]
    moments = [robot.parameters.inertias[i, 1:4] for i in range(robot.n)]
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            moved = matvec(rotation(poses[i]), moments[i]) + masses[i] * translation(poses[i])
            masses[parent], moments[parent] = masses[parent] + masses[i], moments[parent] + moved
    return masses, moments
