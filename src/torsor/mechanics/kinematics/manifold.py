"""Moving on the configuration manifold: q ⊕ v dt and its inverse, joint by joint. The only exp and log in mechanics."""

from __future__ import annotations

from collections.abc import Callable

from torsor.arrays import as_numbers, atan2, concat, cos, cross, dot, matvec, series, sin, sqrt, stack, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.lie.unchecked import quaternion, se3, so3
from torsor.model import Robot
from torsor.model.joints import SCREW_KINDS


def integrate(robot: Robot, q: ConfigurationVector, v: JointVector, dt: Scalar = 1.0) -> ConfigurationVector:
    """q ⊕ v dt: where the robot is after moving with constant v for a time dt [PBP95, (15)–(17)].

    Joints with one number add; spherical, free and planar joints move along the one-parameter motion of their twist,
    T exp([v] dt). ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``dt`` (...), s. Returns (..., nq); its
    quaternions have unit length.
    """
    return _joint_by_joint(robot, _MOVES, q, v * as_numbers(dt)[..., None], "nq", "nv")


def difference(robot: Robot, q0: ConfigurationVector, q1: ConfigurationVector) -> JointVector:
    """q1 ⊖ q0: the constant velocity that leads from q0 to q1 in unit time [PBP95, (15)–(17)].

    integrate(robot, q0, difference(robot, q0, q1)) is q1 (up to a quaternion's sign and a planar joint's full turns).
    Rotations of spherical, free and planar joints go the short way. ``q0``, ``q1`` (..., nq), rad or m.
    Returns (..., nv), rad or m.
    """
    return _joint_by_joint(robot, _LEADS, q0, q1, "nq", "nq")


def configuration_rate(robot: Robot, q: ConfigurationVector, v: JointVector) -> ConfigurationVector:
    """q̇, how the numbers of q change while the robot moves with velocity v: ṗ = R v, quaternion rate ½ quat ∘ (ω, 0)
    [Fea08, §4.5].

    Joints with one number have q̇ = v. A quaternion of any length keeps it. ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or
    m/s. Returns (..., nq), per s.
    """
    if all(kind in SCREW_KINDS for kind in robot.structure.kinds):
        return v
    return _joint_by_joint(robot, _CHANGES, q, v, "nq", "nv")


def velocity_of_rate(robot: Robot, q: ConfigurationVector, q_rate: ConfigurationVector) -> JointVector:
    """v of a motion in which the numbers of q change at q̇; ω = 2 vec(quat⁻¹ ∘ quat rate) [Fea08, §4.5].

    ``q``, ``q_rate`` (..., nq), rad or m, and per s; quaternions of any length, which may change. Returns (..., nv), rad/s or
    m/s.
    """
    if all(kind in SCREW_KINDS for kind in robot.structure.kinds):
        return q_rate
    return _joint_by_joint(robot, _VELOCITIES, q, q_rate, "nq", "nq")


def increment_rate(robot: Robot, u: JointVector, v: JointVector) -> JointVector:
    """u̇ of the increment u when q ⊕ u moves with velocity v: J_r(u)⁻¹ v, joint by joint [Bar17, (7.95)].

    ``u`` (..., nv), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv), rad/s or m/s.
    """
    return _joint_by_joint(robot, _RATES, u, v, "nv", "nv")


def _joint_by_joint(robot: Robot, table: Table, one: Array, two: Array, *sizes: str) -> Array:
    s = robot.structure
    parts = []
    for c, kind in zip(s.coordinates, s.coordinate_kinds, strict=True):
        pieces = [x[..., c.q if size == "nq" else c.v] for x, size in zip((one, two), sizes, strict=True)]
        parts.append(table[kind](*pieces))
    return concat(parts)


def _add(q: Array, step: Array) -> Array:
    return q + step


def _subtract(q0: Array, q1: Array) -> Array:
    return q1 - q0


def _turn(quat: Array, step: Array) -> Array:
    return _unit(quaternion.product(quat, quaternion.exp(step)))


def _turn_between(quat0: Array, quat1: Array) -> Array:
    return quaternion.log(quaternion.product(quaternion.conjugate(quat0), quat1))


def _fly(q: Array, step: Array) -> Array:
    moved = se3.exp(step)[..., :3, 3]
    return concat([q[..., :3] + matvec(quaternion.to_rotation(q[..., 3:]), moved), _turn(q[..., 3:], step[..., :3])])


def _flight_between(q0: Array, q1: Array) -> Array:
    w = _turn_between(q0[..., 3:], q1[..., 3:])
    R_10 = transpose(quaternion.to_rotation(q0[..., 3:]))
    return concat([w, matvec(so3.left_jacobian_inverse(w), matvec(R_10, q1[..., :3] - q0[..., :3]))])


def _slide(q: Array, step: Array) -> Array:
    w, vx, vy = step[..., 0], step[..., 1], step[..., 2]
    a, b = series.sine_over_angle(w * w), w * series.versine_over_square(w * w)
    dx, dy = _rotate(q[..., 2], a * vx - b * vy, b * vx + a * vy)
    return stack([q[..., 0] + dx, q[..., 1] + dy, q[..., 2] + w])


def _slide_between(q0: Array, q1: Array) -> Array:
    turn = q1[..., 2] - q0[..., 2]
    w = atan2(sin(turn), cos(turn))
    x, y = _rotate(-q0[..., 2], q1[..., 0] - q0[..., 0], q1[..., 1] - q0[..., 1])
    a, b = 1.0 - w * w * series.cotangent_defect(w * w), 0.5 * w  # (w/2) cot(w/2), w/2
    return stack([w, a * x + b * y, a * y - b * x])


def _spin(quat: Array, w: Array) -> Array:
    u, s = quat[..., :3], quat[..., 3:]
    return 0.5 * concat([s * w + cross(u, w), -dot(u, w)[..., None]])


def _float(q: Array, v: Array) -> Array:
    return concat([matvec(quaternion.to_rotation(q[..., 3:]), v[..., 3:]), _spin(q[..., 3:], v[..., :3])])


def _glide(q: Array, v: Array) -> Array:
    return stack([*_rotate(q[..., 2], v[..., 1], v[..., 2]), v[..., 0]])


def _spin_of(quat: Array, rate: Array) -> Array:
    spin = quaternion.product(quaternion.conjugate(quat), rate)[..., :3]
    return 2.0 * spin / dot(quat, quat)[..., None]


def _float_of(q: Array, rate: Array) -> Array:
    moved = matvec(transpose(quaternion.to_rotation(q[..., 3:])), rate[..., :3])
    return concat([_spin_of(q[..., 3:], rate[..., 3:]), moved])


def _glide_of(q: Array, rate: Array) -> Array:
    return stack([rate[..., 2], *_rotate(-q[..., 2], rate[..., 0], rate[..., 1])])


def _same(u: Array, v: Array) -> Array:
    return v


def _turn_rate(u: Array, v: Array) -> Array:
    return matvec(so3.right_jacobian_inverse(u), v)


def _fly_rate(u: Array, v: Array) -> Array:
    return matvec(se3.right_jacobian_inverse(u), v)


def _slide_rate(u: Array, v: Array) -> Array:
    """The planar motions are the twists (0, 0, ω, v_x, v_y, 0)."""
    full = [concat([zeros(2), x, zeros(1)]) for x in (u, v)]
    return _fly_rate(*full)[..., 2:5]


def _rotate(angle: Array, x: Array, y: Array) -> tuple[Array, Array]:
    c, s = cos(angle), sin(angle)
    return c * x - s * y, s * x + c * y


def _unit(quat: Array) -> Array:
    return quat / sqrt(dot(quat, quat))[..., None]


Table = dict[str, Callable[[Array, Array], Array]]
_MOVES: Table = {**dict.fromkeys(SCREW_KINDS, _add), "spherical": _turn, "free": _fly, "planar": _slide}
_CHANGES: Table = {**dict.fromkeys(SCREW_KINDS, _same), "spherical": _spin, "free": _float, "planar": _glide}
_VELOCITIES: Table = {
    **dict.fromkeys(SCREW_KINDS, _same),
    "spherical": _spin_of,
    "free": _float_of,
    "planar": _glide_of,
}
_LEADS: Table = dict.fromkeys(SCREW_KINDS, _subtract)
_LEADS |= {"spherical": _turn_between, "free": _flight_between, "planar": _slide_between}
_RATES: Table = {**dict.fromkeys(SCREW_KINDS, _same), "spherical": _turn_rate, "free": _fly_rate, "planar": _slide_rate}
