"""The matrix that takes joint velocities to the momentum of the whole robot, about the base origin or the centre of mass.

A unit of v_k gives all links beyond joint k the momentum G_k S_k, G_k their inertia in frame k (the composite of the mass
matrix [Fea08, §6.2]); carried to the base it is column k.
"""

from __future__ import annotations

from torsor.arrays import concat, cross
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointVector, Vector3, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.energy import spatial_momentum
from torsor.mechanics.dynamics.mass_matrix import composite_inertias
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.first_moments import centre
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws
from torsor.mechanics.recursions.supporting_chain import jacobian_of, rows
from torsor.model import Robot


def spatial_momentum_matrix(robot: Robot, q: ConfigurationVector) -> Jacobian:
    """A with P = A v, P the momentum of all moving links about the base origin, spatial_momentum [LP, (9.25); Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 6, nv) array
        (angular, linear) in base axes, kg·m² or kg·m and kg·m or kg.
    """
    return jacobian_of(robot, _columns(robot, q))


def centroidal_momentum_matrix(robot: Robot, q: ConfigurationVector) -> Jacobian:
    """A with h = A v, h the momentum of all moving links about their centre of mass, in base axes [Fea08, §6.2; LP, (9.25)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 6, nv) array
        (angular, linear), kg·m² or kg·m and kg·m or kg; NaN without mass.
    """
    c = centre(robot, joint_poses(robot, q))[..., None, :]
    return jacobian_of(robot, {i: about(c, A) for i, A in _columns(robot, q).items()})


def centroidal_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> Wrench:
    """h, the momentum of all moving links about their centre of mass c: (L − c × p, p) of spatial_momentum (L, p) [LP, (9.25)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 6) array
        (angular, linear) in base axes, kg·m²/s and kg·m/s; NaN for a robot without mass.
    """
    return about(centre(robot, joint_poses(robot, q)), spatial_momentum(robot, q, v))


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
