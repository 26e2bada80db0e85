"""From where something is to where it should be, on its group: the error, the reference's motion seen from here, the spring.

With X = g⁻¹ g_ref for a joint (or frame) at g that moves with body velocity v, and a reference at g_ref with v_ref, a_ref in
its own axes [BL05, §11; Bar17, (7.95)]::

    e   = log X                                          the error, in the tangent space at g
    v_r = Ad(X) v_ref                                    the reference velocity, in axes of g
    a_r = v̇_r = Ad(X) a_ref − [v, v_r]                   its rate as g and g_ref move
    ė   = J_l(e)⁻¹ (v_r − v)
    s   = J_l(e)⁻ᵀ K e                                   force of a spring with the energy ½ eᵀ K e

so that the energy changes at eᵀ K ė = sᵀ (v_r − v), exactly. For a joint with one number all of it is e = q_ref − q, v_r = v_ref,
a_r = a_ref, s = K e. With one gain for a whole joint, J_l(e)⁻ᵀ K e = K e for rotations; of free and planar joints never.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays import concat, cross, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.functions.public.kinematics import difference
from torsor.lie.unchecked import bracket, se3, so3, transform_twist
from torsor.model import Robot


class TrackingError(NamedTuple):
    """What a controller makes zero, and the motion of the reference: all (..., nv), in the tangent space where the robot is."""

    error: JointVector
    """e, rad or m."""
    velocity: JointVector
    """v_r, the reference velocity seen from here, rad/s or m/s."""
    acceleration: JointVector
    """a_r = v̇_r, rad/s² or m/s²."""


def tracking_error(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
) -> TrackingError:
    """e, v_r and a_r of a robot and its reference, each with velocity and acceleration in its own axes."""
    e = difference(robot, q, q_ref)
    groups = _groups(robot)
    if groups is None:
        return TrackingError(e, v_ref, a_ref)
    parts = [group.compare(*(x[..., at] for x in (e, v, v_ref, a_ref))) for at, group in groups]
    velocities, accelerations = (concat(list(column)) for column in zip(*parts, strict=True))
    return TrackingError(e, velocities, accelerations)


def error_rate(robot: Robot, e: JointVector, relative: JointVector) -> JointVector:
    """ė = J_l(e)⁻¹ (v_r − v) (..., nv), rad/s or m/s, of the relative velocity v_r − v."""
    groups = _groups(robot)
    if groups is None:
        return relative
    return concat([group.rate(e[..., at], relative[..., at]) for at, group in groups])


def spring_force(robot: Robot, e: JointVector, stiffness: JointVector) -> JointVector:
    """J_l(e)⁻ᵀ K e (..., nv): minus the gradient, as the robot moves, of ½ eᵀ K e with e = difference(robot, q, q_ref)."""
    pull = stiffness * e
    groups = _groups(robot)
    if groups is None:
        return pull
    return concat([group.spring(e[..., at], pull[..., at]) for at, group in groups])


class Compared(NamedTuple):
    """v_r and a_r of one joint or frame."""

    velocity: Array
    acceleration: Array


class Group(NamedTuple):
    """How to compare motions on a group: (e, v, v_ref, a_ref) → (v_r, a_r); (e, v_r − v) → ė; (e, K e) → J_l(e)⁻ᵀ K e."""

    compare: Callable[[Array, Array, Array, Array], Compared]
    rate: Callable[[Array, Array], Array]
    spring: Callable[[Array, Array], Array]


def _groups(robot: Robot) -> list[tuple[slice, Group]] | None:
    """Where in v each coordinate is, and the group it moves on; None if all are numbers."""
    s = robot.structure
    if s.has_plain_velocities:
        return None
    return [(c.v, GROUPS[kind.group]) for c, kind in s.blocks]


def _compare_numbers(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(v_ref, a_ref)


def _of_numbers(e: Array, x: Array) -> Array:
    return x


def _compare_rotations(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = so3.exp(e)
    v_r = matvec(X, v_ref)
    a_r = matvec(X, a_ref) - cross(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_rotations(e: Array, relative: Array) -> Array:
    return matvec(so3.left_jacobian_inverse(e), relative)


def _spring_of_rotations(e: Array, pull: Array) -> Array:
    return matvec(so3.right_jacobian_inverse(e), pull)  # J_r = J_lᵀ


def _compare_motions(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = se3.exp(e)
    v_r = transform_twist(X, v_ref)
    a_r = transform_twist(X, a_ref) - bracket(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_motions(e: Array, relative: Array) -> Array:
    return matvec(se3.left_jacobian_inverse(e), relative)


def _spring_of_motions(e: Array, pull: Array) -> Array:
    return matvec(transpose(se3.left_jacobian_inverse(e)), pull)


def _compare_planar(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(*(x[..., 2:5] for x in _compare_motions(*map(_in_space, (e, v, v_ref, a_ref)))))


def _rate_of_planar(e: Array, relative: Array) -> Array:
    return _rate_of_motions(_in_space(e), _in_space(relative))[..., 2:5]


def _spring_of_planar(e: Array, pull: Array) -> Array:
    return _spring_of_motions(_in_space(e), _in_space(pull))[..., 2:5]


def _in_space(x: Array) -> Array:
    """The planar twist (ω, v_x, v_y) as (0, 0, ω, v_x, v_y, 0)."""
    return concat([zeros(2), x, zeros(1)])


NUMBERS = Group(_compare_numbers, _of_numbers, _of_numbers)
ROTATIONS = Group(_compare_rotations, _rate_of_rotations, _spring_of_rotations)
MOTIONS = Group(_compare_motions, _rate_of_motions, _spring_of_motions)
GROUPS = {
    "numbers": NUMBERS,
    "rotations": ROTATIONS,
    "motions": MOTIONS,
    "planar motions": Group(_compare_planar, _rate_of_planar, _spring_of_planar),
}
