"""Jacobians of frames. Three kinds, named by where and how the twist is written; none is the default.

body    twist of the frame, in its own axes about its own origin                      J_b = Ad(T_0f)⁻¹ J_s
space   twist of the frame, in base axes about the base origin                        J_s,j = Ad(T_0j) S_j
mixed   angular velocity, and velocity of the frame's origin, both in base axes       J_m = Ad(1, −p) J_s

Along a motion a joint's axis, which is fixed in its link, turns with it in base axes: J̇ = [V, J].
"""

from __future__ import annotations

from torsor.arrays import concat, cross, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointScrews, JointVector, Twist
from torsor.lie import unchecked as lie
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.mechanics.recursions.supporting_chain import (
    body_screws,
    jacobian_of,
    link_twists,
    mixed_screws,
    rows,
    space_screws,
)
from torsor.model import Robot


def space_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_s with V_s = J_s v: twist of the frame in base axes, about the base origin [PBP95, (13); LP, (9.36)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, space_screws(robot, q, frame))


def body_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_b with V_b = J_b v: twist of the frame in its own axes [PBP95, (18)–(20); BSP93, (5); Alt04, (4), E004-1].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, body_screws(robot, q, frame))


def mixed_jacobian(robot: Robot, q: ConfigurationVector, frame: str) -> Jacobian:
    """J_m with (ω, ṗ) = J_m v in base axes, p the frame's origin: columns (z, z × p) [Sil81, (3.15), (3.16)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        (angular, linear), rad and m per unit of v.
    """
    return jacobian_of(robot, mixed_screws(robot, q, frame))


def joint_axes(robot: Robot, q: ConfigurationVector) -> JointScrews:
    """The screw of every degree of freedom where it is now, in base axes: line coordinates of the axes [Kool04, (5)–(7)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv, 6) array
        (direction, moment + pitch · direction), m; for multi-freedom joints one row per freedom. `torsor.lie.line_coordinates`
        takes a row apart.
    """
    moved = enumerate(poses_in_base(robot, q))
    return transpose(jacobian_of(robot, {i: lie.transform_twist(rows(T), joint_screws(robot, i)) for i, T in moved}))


def space_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_s: J̇_s,j = [V_j, J_s,j] with V_j the space twist of link j [Kool04, after (10), EK-2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        Per s.
    """
    screws = space_screws(robot, q, frame)
    V = link_twists(robot, screws, v)
    return jacobian_of(robot, {j: lie.bracket(V[j][..., None, :], J) for j, J in screws.items()})


def body_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_b: J̇_b,j = [J_b,j, V_f − V_j], all in the frame's own axes [PBP95, (53)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        Per s.
    """
    ahead, columns = zeros(6), {}
    for j, J in reversed(body_screws(robot, q, frame).items()):
        columns[j] = lie.bracket(J, ahead[..., None, :])
        ahead = ahead + matvec(transpose(J), v[..., robot.structure.coordinate_of(j).v])
    return jacobian_of(robot, columns)


def mixed_jacobian_rate(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Jacobian:
    """J̇_m: columns (z, u) turn with the axis, and the point p moves on: (Ω_j × z, Ω_j × u + z × (ṗ − v_j)) [Sil81, (A.2), (A.3)].

    Ω_j is the angular velocity of link j, v_j the velocity of its point that is at p.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.

    Returns
    -------
    (..., 6, nv) array
        Per s.
    """
    screws = mixed_screws(robot, q, frame)
    V = link_twists(robot, screws, v)
    p_dot = V[robot.structure.frame(frame).link][..., 3:]
    columns = {}
    for j, J in screws.items():
        turning, ahead = V[j][..., None, :3], (p_dot - V[j][..., 3:])[..., None, :]
        z, u = J[..., :3], J[..., 3:]
        columns[j] = concat([cross(turning, z), cross(turning, u) + cross(z, ahead)])
    return jacobian_of(robot, columns)


def joint_axes_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointScrews:
    """L̇ = ad(T) L: rate of the axes' line coordinates, T the twist of the link they are fixed to [Kool04, EK-2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv, 6) array
        Per s.
    """
    rates: dict[int, Twist] = {}
    twists: dict[int, Twist] = {-1: zeros(6)}
    for i, T_0i in enumerate(poses_in_base(robot, q)):
        L = lie.transform_twist(rows(T_0i), joint_screws(robot, i))
        own = matvec(transpose(L), v[..., robot.structure.coordinate_of(i).v])
        twists[i] = twists[robot.structure.parents[i]] + own
        rates[i] = lie.bracket(twists[i][..., None, :], L)
    return transpose(jacobian_of(robot, rates))
