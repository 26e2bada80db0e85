"""Velocities and accelerations of frames, in the same three ways as Jacobians; each is J v, or J a + J̇ v.

By recursion along the joints that carry the frame, without any pose but that of a link in its parent: in the frame's axes
outwards, in base axes inwards. Inwards, V and A are the frame's motion relative to link i, in axes of link i; joint i adds its
own s = S v and S a to that, and turns the sum into the motion relative to the parent, in axes of the parent::

    about the origin of the axes     V + s,                A + S a + [s, V]                                        space
    about the frame's origin p       V + (ω, e),           A + (α, e') + (ω × Ω, ω × (2 ṗ + e))                    mixed

with V = (Ω, ṗ), (ω, e) = s referred to p, and (α, e') = S a referred to p. A base that moves is one more joint, inside of all
others, whose axes are those of the base now: s and S a are its twist and acceleration.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, cross, matvec, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Pose, Twist, Vector3
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.kinematics.poses import path_to, pose_on_link
from torsor.mechanics.recursions.joint_motion import joint_pose, joint_twist
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.model import Robot


def space_twist(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> Twist:
    """V_s of a frame, [V_s] = Ṫ T⁻¹: in base axes, about the base origin [BSP93, §2.1; Kool04, (5)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s and m/s.
    """
    return _space(robot, q, v, zeros(robot.nv), frame, base_motion).V


def body_twist(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> Twist:
    """V_b of a frame, [V_b] = T⁻¹ Ṫ: in its own axes, about its own origin [BSP93, (5), (6); PBP95, (24), (70)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s and m/s.
    """
    return _body(robot, q, v, zeros(robot.nv), frame, base_motion).V


def mixed_twist(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> Twist:
    """(ω, ṗ) of a frame in base axes: angular velocity, and velocity of its origin [Sil81, (3.13), (3.14)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s and m/s.
    """
    return _mixed(robot, q, v, zeros(robot.nv), frame, base_motion).V


def space_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> Twist:
    """V̇_s = J_s a + J̇_s v, the *spatial* acceleration in base axes: the rate of the space twist [Kool04, EK-2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s² and m/s². Not the acceleration of any point: for that use `mixed_acceleration`.
    """
    return _space(robot, q, v, a, frame, base_motion).A


def body_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> Twist:
    """V̇_b = J_b a + J̇_b v, the *spatial* acceleration in the frame's own axes: the rate of the body twist [PBP95, (25)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s² and m/s². An accelerometer at the frame's origin feels its linear part plus ω × v, less gravity [PBP95, (76)].
    """
    return _body(robot, q, v, a, frame, base_motion).A


def mixed_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> Twist:
    """(ω̇, p̈) of a frame in base axes, the *classical* acceleration of its origin: J_m a + J̇_m v [PBP95, (76), (77)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., 6) array
        rad/s² and m/s².
    """
    return _mixed(robot, q, v, a, frame, base_motion).A


class _Motion(NamedTuple):
    """Twist and acceleration (..., 6)."""

    V: Twist
    A: Twist


def _body(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str, base_motion: BaseMotion | None
) -> _Motion:
    """Outwards, V_i = Ad(T_ip) V_p + S v and A_i = Ad(T_ip) A_p + S a + [V_i, S v] [PBP95, (24), (25)]."""
    V, A = (zeros(6), zeros(6)) if base_motion is None else base_motion
    for i in path_to(robot, frame):
        T_pi, s = joint_pose(robot, i, q), joint_twist(robot, i, v)
        V = lie.transform_twist_inverse(T_pi, V) + s
        A = lie.transform_twist_inverse(T_pi, A) + joint_twist(robot, i, a) + lie.bracket(V, s)
    T_lf = pose_on_link(robot, frame)
    return _Motion(lie.transform_twist_inverse(T_lf, V), lie.transform_twist_inverse(T_lf, A))


def _space(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str, base_motion: BaseMotion | None
) -> _Motion:
    V, A = zeros(6), zeros(6)
    for i in reversed(path_to(robot, frame)):
        T_pi, s = joint_pose(robot, i, q), joint_twist(robot, i, v)
        A = lie.transform_twist(T_pi, A + joint_twist(robot, i, a) + lie.bracket(s, V))
        V = lie.transform_twist(T_pi, V + s)
    if base_motion is not None:
        V_0, A_0 = base_motion
        V, A = V + V_0, A + A_0 + lie.bracket(V_0, V)
    return _Motion(V, A)


def _mixed(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str, base_motion: BaseMotion | None
) -> _Motion:
    V, A, p = zeros(6), zeros(6), translation(pose_on_link(robot, frame))
    for i in reversed(path_to(robot, frame)):
        T_pi, s = joint_pose(robot, i, q), _referred_to(p, joint_twist(robot, i, v))
        turning = _turning(s, V)
        A = _turned(T_pi, A + _referred_to(p, joint_twist(robot, i, a)) + turning)
        V = _turned(T_pi, V + s)
        p = matvec(rotation(T_pi), p) + translation(T_pi)
    if base_motion is not None:
        V_0, A_0 = (_referred_to(p, x) for x in base_motion)
        V, A = V + V_0, A + A_0 + _turning(V_0, V)
    return _Motion(V, A)


def _turning(s: Twist, V: Twist) -> Twist:
    """(ω × Ω, ω × (2 ṗ + e)): what the motion s = (ω, e) of the axes adds to an acceleration, V = (Ω, ṗ) seen from them."""
    w, e = s[..., :3], s[..., 3:]
    return concat([cross(w, V[..., :3]), cross(w, 2.0 * V[..., 3:] + e)])


def _referred_to(point: Vector3, V: Twist) -> Twist:
    """(ω, v + ω × p): a twist, referred to the point p instead of the origin."""
    return concat([V[..., :3], V[..., 3:] + cross(V[..., :3], point)])


def _turned(T: Pose, V: Twist) -> Twist:
    """Both vectors in the axes of the parent."""
    w, v = (matvec(rotation(T), x) for x in (V[..., :3], V[..., 3:]))
    return concat([w, v])
