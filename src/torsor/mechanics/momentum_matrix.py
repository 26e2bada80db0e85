"""The matrix that takes joint velocities to the momentum of the whole robot, about the base origin or the centre of mass.

A unit of v_k gives all links beyond joint k the momentum G_k S_k, G_k their inertia in frame k (the composite of the mass
matrix [Fea08, §6.2]); carried to the base it is column k.
"""

from __future__ import annotations

from torsor import lie
from torsor.arrays import concat, cross, zeros
from torsor.arrays.typing import ConfigurationVector, InertiaRow, Jacobian, JointVector, Pose, Twist, Vector3, Wrench
from torsor.mechanics.first_moments import centre_from_roots
from torsor.mechanics.joint_motion import joint_poses, joint_screws
from torsor.mechanics.kinematics import poses_in_base
from torsor.mechanics.newton_euler import accumulate, link_motion
from torsor.mechanics.supporting_chain import jacobian_of, rows
from torsor.model import Robot


def momentum_matrix(robot: Robot, q: ConfigurationVector) -> Jacobian:
    """A with P = A v, P the momentum of all moving links about the base origin, spatial_momentum [LP, (9.25); Kool04, (8)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv), (angular, linear) in base axes, kg·m² or kg·m and kg·m or kg.
    """
    return jacobian_of(robot, _columns(robot, q))


def centroidal_momentum_matrix(robot: Robot, q: ConfigurationVector) -> Jacobian:
    """A with h = A v, h the momentum of all moving links about their centre of mass, in base axes [Fea08, §6.2; LP, (9.25)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv), (angular, linear), kg·m² or kg·m and kg·m or kg; NaN without mass.
    """
    c = centre_from_roots(robot, joint_poses(robot, q))[..., None, :]
    return jacobian_of(robot, {i: about(c, A) for i, A in _columns(robot, q).items()})


def centroidal_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> Wrench:
    """h, the momentum of all moving links about their centre of mass c: (L − c × p, p) of spatial_momentum (L, p) [LP, (9.25)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6), (angular, linear) in base axes, kg·m²/s and
    kg·m/s; NaN for a robot without mass.
    """
    T_pi = joint_poses(robot, q)
    V: list[Twist] = link_motion(robot, T_pi, v, None, gravity=False, base_motion=None)[0]
    P = accumulate(
        robot, T_pi, [lie.apply_inertia(G, V_i) for G, V_i in zip(robot.parameters.inertias, V, strict=True)]
    )
    total = zeros(6)
    for i, parent in enumerate(robot.structure.parents):
        if parent < 0:
            total = total + lie.transform_wrench_inverse(T_pi[i], P[i])
    return about(centre_from_roots(robot, T_pi), total)


def composite_inertias(robot: Robot, T_pi: list[Pose]) -> list[InertiaRow]:
    """Inertia row of each link with all links beyond it, in the link's frame: leaves to root."""
    G: list[InertiaRow] = [robot.parameters.inertias[i] for i in range(robot.n)]
    for i in range(robot.n - 1, -1, -1):
        if (parent := robot.structure.parents[i]) >= 0:
            G[parent] = G[parent] + lie.transform_inertia(T_pi[i], G[i])
    return G


def about(point: Vector3, P: Wrench) -> Wrench:
    """(L − c × p, p): a momentum in base axes about the base origin, referred to the point c."""
    return concat([P[..., :3] - cross(point, P[..., 3:]), P[..., 3:]])


def _columns(robot: Robot, q: ConfigurationVector) -> dict[int, Wrench]:
    """G_k S_k in base axes about the base origin, rows (..., k, 6) of every joint."""
    G, columns = composite_inertias(robot, joint_poses(robot, q)), {}
    for i, T_0i in enumerate(poses_in_base(robot, q)):
        local = lie.apply_inertia(G[i][..., None, :], joint_screws(robot, i))
        columns[i] = lie.transform_wrench_inverse(rows(T_0i), local)
    return columns
