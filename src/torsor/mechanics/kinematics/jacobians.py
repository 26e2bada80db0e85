"""Jacobians of frames. Three kinds, named by where and how the twist is written; none is the default.

body    twist of the frame, in its own axes about its own origin                      J_b = Ad(T_0f)⁻¹ J_s
space   twist of the frame, in base axes about the base origin                        J_s,j = Ad(T_0j) S_j
mixed   angular velocity, and velocity of the frame's origin, both in base axes       J_m = Ad(1, −p) J_s
"""

from __future__ import annotations

from torsor.arrays import transpose
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointScrews
from torsor.lie import unchecked as lie
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.mechanics.recursions.supporting_chain import body_screws, jacobian_of, mixed_screws, rows, space_screws
from torsor.model import Robot


def space_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_s with V_s = J_s v: twist of the frame in base axes, about the base origin [PBP95, (13); LP, (9.36)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv), (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, space_screws(robot, q, frame))


def body_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_b with V_b = J_b v: twist of the frame in its own axes [PBP95, (18)–(20); BSP93, (5); Alt04, (4), E004-1].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv), (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, body_screws(robot, q, frame))


def mixed_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_m with (ω, ṗ) = J_m v in base axes, p the frame's origin: columns (z, z × p) [Sil81, (3.15), (3.16)].

    ``q`` (..., nq), rad or m. Returns (..., 6, nv), (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, mixed_screws(robot, q, frame))


def joint_axes(robot: Robot, q: ConfigurationVector) -> JointScrews:
    """The screw of every degree of freedom where it is now, in base axes: line coordinates of the axes [Kool04, (5)–(7)].

    ``q`` (..., nq), rad or m. Returns (..., nv, 6), (direction, moment + pitch · direction), m; for multi-freedom joints
    one row per freedom. `torsor.lie.line_coordinates` takes a row apart.
    """
    moved = enumerate(poses_in_base(robot, q))
    return transpose(jacobian_of(robot, {i: lie.transform_twist(rows(T), joint_screws(robot, i)) for i, T in moved}))
