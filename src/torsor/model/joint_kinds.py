"""What a kind of joint is: one record for each kind, with everything that depends on the kind of a joint and on nothing else.

====================  =======================  ==========================================
kind                  q                        v, in the axes of the child
====================  =======================  ==========================================
revolute, helical     angle                    its rate
prismatic             length                   its rate
planar                x, y, angle              ω, v_x, v_y
spherical             quaternion (x, y, z, w)  angular velocity
free                  position, quaternion     body twist (angular, linear)
====================  =======================  ==========================================

A revolute, prismatic or helical joint has a unit screw of its own, and v = q̇. The screws of all other kinds are constant rows,
and v is a body velocity of the kind's group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torsor.arrays import (
    atan2,
    concat,
    cos,
    cross,
    dot,
    identity,
    is_concrete,
    matvec,
    series,
    sin,
    sqrt,
    stack,
    transpose,
    zeros,
)
from torsor.arrays.typing import Array, Pose, Twist, Vector3
from torsor.lie.unchecked import quaternion, se3, so3, twists

Pair = Callable[[Array, Array], Array]
HUGE = 1e100  # a limit beyond this is none


@dataclass(frozen=True, eq=False)
class JointKind:
    """A kind of joint. q (..., nq) and v (..., nv) below are the numbers of one joint."""

    name: str
    q_units: tuple[str, ...]
    """Unit of each number of q: "rad", "m", or "1" for those of a quaternion, which are its last four."""
    v_units: tuple[str, ...]
    """Unit of each number of v, times s: "rad" or "m"."""
    group: str
    """What the joint moves on: "numbers", "rotations", "motions" or "planar motions"."""
    rows: Twist | None
    """Screws S (nv, 6) in the child's frame; None if each joint of the kind has one screw of its own."""
    moved_by: tuple[tuple[int, ...], ...]
    """For each number of q the entries of v that move it; none for those of a quaternion."""
    has_fixed_point: bool
    """Whether some point of the child stays where it is in the parent: the joint turns and does not slide."""
    whole_turns: tuple[int, ...]
    """Which numbers of q are angles that a whole turn leaves as good as they were."""
    motion: Pair
    """Screw (6,), q → e^{S q}, the pose (..., 4, 4) of the child's frame seen from where it is at q = 0."""
    move: Pair
    """q, step (..., nv) → q ⊕ step."""
    lead: Pair
    """q0, q1 → q1 ⊖ q0 (..., nv)."""
    rate: Pair
    """q, v → q̇."""
    velocity: Pair
    """q, q̇ → v."""
    increment_rate: Pair
    """u, v → u̇ of the increment u when q ⊕ u moves with velocity v."""

    @property
    def nq(self) -> int:
        """How many numbers a joint of this kind has in q."""
        return len(self.q_units)

    @property
    def nv(self) -> int:
        """How many degrees of freedom it has."""
        return len(self.v_units)

    @property
    def has_screw(self) -> bool:
        """Whether each joint of this kind has one screw of its own: revolute, prismatic and helical ones."""
        return self.rows is None

    @property
    def turns_about_axis(self) -> bool:
        """Whether it turns about the axis of its screw: revolute and helical joints."""
        return self.has_screw and self.q_units == ("rad",)

    @property
    def has_pitch(self) -> bool:
        """Whether it slides along the axis that it turns about: helical joints."""
        return self.turns_about_axis and not self.has_fixed_point

    @property
    def quaternion(self) -> slice | None:
        """Where its quaternion is in q."""
        return slice(self.nq - 4, self.nq) if self.q_units[-1] == "1" else None

    @property
    def bounded(self) -> int:
        """How many of its numbers add up and may have limits, the first ones; the rest is a quaternion."""
        return self.nq - self.q_units.count("1")

    @property
    def lengths(self) -> slice:
        """Which numbers of q are lengths, the first ones."""
        return slice(0, self.q_units.count("m"))

    @property
    def half_ranges(self) -> Array:
        """Where there is no limit, a number of q is drawn from (−x, x): π for angles, 1 m for lengths (nq,)."""
        return np.array([np.pi if unit == "rad" else 1.0 for unit in self.q_units])

    @property
    def home(self) -> Array:
        """q (nq,) at which the child is in its home pose."""
        return np.array([0.0] * self.bounded + [0.0, 0.0, 0.0, 1.0] * (self.quaternion is not None))

    def axis_of(self, screw: Twist) -> Vector3:
        """The direction (..., 3) of a screw of this kind: what it turns about, or slides along if it does not turn."""
        return screw[..., :3] if self.turns_about_axis else screw[..., 3:]

    def screw_along(self, axis: Vector3, pitch: float = 0.0) -> Twist:
        """The screw (6,) of this kind along an axis through the origin; ``pitch`` in m per rad."""
        return concat([axis, pitch * axis] if self.turns_about_axis else [np.zeros(3), axis])

    def sample(self, generator: np.random.Generator, batch: tuple[int, ...], lower: Array, upper: Array) -> Array:
        """Random q (*batch, nq), uniform within limits (nq,), or over `half_ranges`; rotations uniform over SO(3)."""
        free = self.half_ranges
        open_below, open_above = lower < -HUGE, upper > HUGE
        low = np.where(open_below, np.where(open_above, -free, upper - 2 * free), lower)
        high = np.where(open_above, np.where(open_below, free, lower + 2 * free), upper)
        q: Array = low + generator.uniform(0.0, 1.0, (*batch, self.nq)) * (high - low)
        if self.quaternion is not None:
            quat = generator.normal(size=(*batch, 4))
            q[..., self.quaternion] = quat / np.linalg.norm(quat, axis=-1, keepdims=True)
        return q


# Joints with one number. Screws that are inputs of a program, or being differentiated, may be any: the motion is then e^{S q}
# of that screw, so that its derivatives are right in every direction, also in those that leave the joint's kind.


def _revolve(S: Twist, q: Array) -> Pose:
    angle = q[..., 0]
    return twists.revolute_motion(S, sin(angle), cos(angle)) if is_concrete(S) else twists.turning_motion(S, angle)


def _slide_along(S: Twist, q: Array) -> Pose:
    return twists.prismatic_motion(S, q[..., 0]) if is_concrete(S) else se3.exp(q * S)


def _screw(S: Twist, q: Array) -> Pose:
    angle = q[..., 0]
    if not is_concrete(S):
        return twists.turning_motion(S, angle)
    return twists.helical_motion(S, sin(angle), cos(angle), angle)


def _add(q: Array, step: Array) -> Array:
    return q + step


def _subtract(q0: Array, q1: Array) -> Array:
    return q1 - q0


def _same(u: Array, v: Array) -> Array:
    return v


# Spherical joints: q is a quaternion.


def _turned(S: Twist, quat: Array) -> Pose:
    return se3.pose(quaternion.to_rotation(quat), zeros(3))


def _turn(quat: Array, step: Array) -> Array:
    quat = quaternion.product(quat, quaternion.exp(step))
    return quat / sqrt(dot(quat, quat))[..., None]


def _turn_between(quat0: Array, quat1: Array) -> Array:
    return quaternion.log(quaternion.product(quaternion.conjugate(quat0), quat1))


def _spin(quat: Array, w: Array) -> Array:
    u, s = quat[..., :3], quat[..., 3:]
    return 0.5 * concat([s * w + cross(u, w), -dot(u, w)[..., None]])


def _spin_of(quat: Array, rate: Array) -> Array:
    spin = quaternion.product(quaternion.conjugate(quat), rate)[..., :3]
    return 2.0 * spin / dot(quat, quat)[..., None]


def _turn_rate(u: Array, v: Array) -> Array:
    return matvec(so3.right_jacobian_inverse(u), v)


# Free joints: q is a position and a quaternion.


def _flown(S: Twist, q: Array) -> Pose:
    return se3.pose(quaternion.to_rotation(q[..., 3:]), q[..., :3])


def _fly(q: Array, step: Array) -> Array:
    moved = se3.exp(step)[..., :3, 3]
    return concat([q[..., :3] + matvec(quaternion.to_rotation(q[..., 3:]), moved), _turn(q[..., 3:], step[..., :3])])


def _flight_between(q0: Array, q1: Array) -> Array:
    w = _turn_between(q0[..., 3:], q1[..., 3:])
    R_10 = transpose(quaternion.to_rotation(q0[..., 3:]))
    return concat([w, matvec(so3.left_jacobian_inverse(w), matvec(R_10, q1[..., :3] - q0[..., :3]))])


def _float(q: Array, v: Array) -> Array:
    return concat([matvec(quaternion.to_rotation(q[..., 3:]), v[..., 3:]), _spin(q[..., 3:], v[..., :3])])


def _float_of(q: Array, rate: Array) -> Array:
    moved = matvec(transpose(quaternion.to_rotation(q[..., 3:])), rate[..., :3])
    return concat([_spin_of(q[..., 3:], rate[..., 3:]), moved])


def _fly_rate(u: Array, v: Array) -> Array:
    return matvec(se3.right_jacobian_inverse(u), v)


# Planar joints: q is (x, y, angle), v the twist (0, 0, ω, v_x, v_y, 0).


def _placed(S: Twist, q: Array) -> Pose:
    x, y, angle = q[..., 0], q[..., 1], q[..., 2]
    return se3.pose(so3.rotation_about(_UNIT[2, :3], sin(angle), cos(angle)), stack([x, y, 0.0]))


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


def _glide(q: Array, v: Array) -> Array:
    return stack([*_rotate(q[..., 2], v[..., 1], v[..., 2]), v[..., 0]])


def _glide_of(q: Array, rate: Array) -> Array:
    return stack([rate[..., 2], *_rotate(-q[..., 2], rate[..., 0], rate[..., 1])])


def _slide_rate(u: Array, v: Array) -> Array:
    full = [concat([zeros(2), x, zeros(1)]) for x in (u, v)]
    return _fly_rate(*full)[..., 2:5]


def _rotate(angle: Array, x: Array, y: Array) -> tuple[Array, Array]:
    c, s = cos(angle), sin(angle)
    return c * x - s * y, s * x + c * y


def _with_screw(name: str, unit: str, motion: Pair, *, has_fixed_point: bool) -> JointKind:
    return JointKind(
        name=name,
        q_units=(unit,),
        v_units=(unit,),
        group="numbers",
        rows=None,
        moved_by=((0,),),
        has_fixed_point=has_fixed_point,
        whole_turns=(0,) if has_fixed_point else (),
        motion=motion,
        move=_add,
        lead=_subtract,
        rate=_same,
        velocity=_same,
        increment_rate=_same,
    )


_UNIT = identity(6)
_KINDS = (
    _with_screw("revolute", "rad", _revolve, has_fixed_point=True),
    _with_screw("prismatic", "m", _slide_along, has_fixed_point=False),
    _with_screw("helical", "rad", _screw, has_fixed_point=False),
    JointKind(
        name="planar",
        q_units=("m", "m", "rad"),
        v_units=("rad", "m", "m"),
        group="planar motions",
        rows=_UNIT[[2, 3, 4]],
        moved_by=((1, 2), (1, 2), (0,)),
        has_fixed_point=False,
        whole_turns=(2,),
        motion=_placed,
        move=_slide,
        lead=_slide_between,
        rate=_glide,
        velocity=_glide_of,
        increment_rate=_slide_rate,
    ),
    JointKind(
        name="spherical",
        q_units=("1",) * 4,
        v_units=("rad",) * 3,
        group="rotations",
        rows=_UNIT[:3],
        moved_by=((),) * 4,
        has_fixed_point=True,
        whole_turns=(),
        motion=_turned,
        move=_turn,
        lead=_turn_between,
        rate=_spin,
        velocity=_spin_of,
        increment_rate=_turn_rate,
    ),
    JointKind(
        name="free",
        q_units=(*("m",) * 3, *("1",) * 4),
        v_units=(*("rad",) * 3, *("m",) * 3),
        group="motions",
        rows=_UNIT,
        moved_by=(*((3, 4, 5),) * 3, *((),) * 4),
        has_fixed_point=False,
        whole_turns=(),
        motion=_flown,
        move=_fly,
        lead=_flight_between,
        rate=_float,
        velocity=_float_of,
        increment_rate=_fly_rate,
    ),
)
KINDS = {kind.name: kind for kind in _KINDS}
SCREW_KINDS = tuple(kind.name for kind in _KINDS if kind.has_screw)
DESCRIBED_KINDS = (*KINDS, "continuous", "fixed")
"""What `torsor.Joint` takes: "continuous" is a revolute joint without limits, and a "fixed" one moves nothing."""
