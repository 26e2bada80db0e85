"""Moving on the configuration manifold: q ⊕ v dt and its inverse, joint by joint, as its kind (`JointKind`) says."""

from __future__ import annotations

from torsor.arrays import as_numbers, concat
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.model import Robot


def integrate(robot: Robot, q: ConfigurationVector, v: JointVector, dt: Scalar = 1.0) -> ConfigurationVector:
    """q ⊕ v dt: where the robot is after moving with constant v for a time dt [PBP95, (15)–(17)].

    Joints with one number add; spherical, free and planar joints move along the one-parameter motion of their twist,
    T exp([v] dt).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    dt : (...) array, optional
        Duration, s.

    Returns
    -------
    (..., nq) array
        Its quaternions have unit length.
    """
    return _joint_by_joint(robot, "move", q, v * as_numbers(dt)[..., None], "nq", "nv")


def difference(robot: Robot, q0: ConfigurationVector, q1: ConfigurationVector) -> JointVector:
    """q1 ⊖ q0: the constant velocity that leads from q0 to q1 in unit time [PBP95, (15)–(17)].

    integrate(robot, q0, difference(robot, q0, q1)) is q1 (up to a quaternion's sign and a planar joint's full turns). Rotations
    of spherical, free and planar joints go the short way.

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        Configuration to start from, rad or m.
    q1 : (..., nq) array
        Configuration to arrive at, rad or m.

    Returns
    -------
    (..., nv) array
        rad or m.
    """
    return _joint_by_joint(robot, "lead", q0, q1, "nq", "nq")


def configuration_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> ConfigurationVector:
    """Rate q̇ at which the numbers of q change while the robot moves with velocity v: ṗ = R v, quaternion rate ½ quat ∘ (ω, 0)
    [Fea08, §4.5].

    Joints with one number have q̇ = v. A quaternion of any length keeps it.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nq) array
        Per s.
    """
    if robot.structure.has_plain_velocities:
        return v
    return _joint_by_joint(robot, "rate", q, v, "nq", "nv")


def velocity_of_rate(robot: Robot, q: ConfigurationVector, q_rate: ConfigurationVector) -> JointVector:
    """v of a motion in which the numbers of q change at q̇; ω = 2 vec(quat⁻¹ ∘ quat rate) [Fea08, §4.5].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    q_rate : (..., nq) array
        Rate of q, rad/s or m/s; quaternions of any length, which may change.

    Returns
    -------
    (..., nv) array
        rad/s or m/s.
    """
    if robot.structure.has_plain_velocities:
        return q_rate
    return _joint_by_joint(robot, "velocity", q, q_rate, "nq", "nq")


def increment_rate(robot: Robot, u: JointVector, v: JointVector) -> JointVector:
    """u̇ of the increment u when q ⊕ u moves with velocity v: J_r(u)⁻¹ v, joint by joint [Bar17, (7.95)].

    ``u`` (..., nv), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv), rad/s or m/s.
    """
    if robot.structure.has_plain_velocities:
        return v
    return _joint_by_joint(robot, "increment_rate", u, v, "nv", "nv")


def _joint_by_joint(robot: Robot, what: str, one: Array, two: Array, *sizes: str) -> Array:
    """A function of each joint's kind by its name, of the joint's parts of two vectors of sizes "nq" or "nv"."""
    parts = []
    for c, kind in robot.structure.blocks:
        pieces = [x[..., c.q if size == "nq" else c.v] for x, size in zip((one, two), sizes, strict=True)]
        parts.append(getattr(kind, what)(*pieces))
    return concat(parts)
