"""Drake. What it writes differently::

    quantity              torsor                          Drake
    twist                 (angular, linear)               (rotational, translational): the same order
    wrench                (moment, force)                 (torque, force): the same order
    quaternion            (x, y, z, w)                    (w, x, y, z)
    pose, 7 numbers       position, quaternion            quaternion, position
    revolute, helical     q                               q: angle, also of a ScrewJoint
    planar          q     (x, y, angle)                   (x, y, angle) (PlanarJoint)
                    v     (ω, v_x, v_y), child axes       (ẋ, ẏ, ω): rates of q, parent axes
    spherical       q     quaternion                      (roll, pitch, yaw) (BallRpyJoint)
                    v     ω in child axes                 ω in parent axes
    free            q     position, quaternion            quaternion, position (QuaternionFloatingJoint)
                                                          or (roll, pitch, yaw), position (RpyFloatingJoint)
                    v     (angular, linear), child axes   (angular, linear), parent axes
    order of joints       depth first, file's order       the plant's: sort its joints by velocity_start()
    spatial velocity      body, space or mixed twist      V_WB_W is the mixed twist

Parent axes are those of the joint's frame F, ours at q = 0. The rate of a linear velocity in parent axes is
R (v̇ + ω × v): accelerations differ by ω × v, beside the turn. Forces have the power tau · v on both sides.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torsor.adapters.adapter import Adapter, joints_of_kind
from torsor.adapters.forms import (
    ONE_NUMBER,
    PLANAR_BY_RATES,
    WXYZ,
    XYZW_FROM_WXYZ,
    Form,
    free_drift,
    to_child_axes,
    to_parent_axes,
    unit_wxyz,
)
from torsor.arrays import atan2, concat, cos, sin, stack, take
from torsor.arrays.typing import Array, Quaternion, Vector3
from torsor.border import explained
from torsor.lie import quaternion
from torsor.model import Robot


class Drake(Adapter):
    """A robot in Drake: ``Drake(robot, order=[joint names by velocity_start()])``.

    Spherical joints are always a BallRpyJoint. A body that Drake itself lets float has a free joint from the world, at the
    identity pose. Methods and batch axes are those of all adapters; ``to_q(q)`` takes (..., nq), rad or m.

    Parameters
    ----------
    robot : Robot
    order : iterable of str, optional
        The joints in the order of the plant's vectors.
    rpy : iterable of str
        The free joints that are an RpyFloatingJoint there.
    """

    peer = "Drake"
    _quaternion = WXYZ
    _position_first = False
    _hint = " A free joint that is an RpyFloatingJoint has six numbers there: name it in `rpy=[...]`."

    @explained
    def __init__(self, robot: Robot, *, order: Iterable[str] | None = None, rpy: Iterable[str] = ()) -> None:
        meaning = "only a free joint can be an RpyFloatingJoint"
        self.rpy: Final = joints_of_kind(robot, "rpy", rpy, "free", meaning)
        super().__init__(robot, order=order)

    def _form(self, i: int) -> Form:
        if self.robot.joints[i] in self.rpy:
            return _RPY_FLOATING
        return _FORMS.get(self.robot.structure.kinds[i], ONE_NUMBER)


def roll_pitch_yaw(quat: Quaternion) -> Vector3:
    """(roll, pitch, yaw) (..., 3), rad, with R = R_z(yaw) R_y(pitch) R_x(roll), of a quaternion (..., 4).

    Roll and pitch are taken from R_zᵀ R, so that they fit the yaw also where |pitch| is a right angle and any yaw will do.
    """
    R = quaternion.to_rotation(quat)
    yaw = atan2(R[..., 1, 0], R[..., 0, 0])
    c, s = cos(yaw), sin(yaw)
    pitch = atan2(-R[..., 2, 0], c * R[..., 0, 0] + s * R[..., 1, 0])
    roll = atan2(s * R[..., 0, 2] - c * R[..., 1, 2], c * R[..., 1, 1] - s * R[..., 0, 1])
    return stack([roll, pitch, yaw])


def quaternion_of(rpy: Vector3) -> Quaternion:
    """Quaternion (..., 4) of (roll, pitch, yaw) (..., 3), rad: the product of the three half turns."""
    half = 0.5 * rpy
    c, s = cos(half), sin(half)
    x, y, z = (stack([s[..., k] if k == j else 0.0 for j in range(3)] + [c[..., k]]) for k in range(3))
    return quaternion.product(z, quaternion.product(y, x))


def _ball_to_v(q: Array, v: Array) -> Array:
    return to_parent_axes(q, v)


def _ball_from_v(q: Array, v: Array) -> Array:
    return to_child_axes(q, v)


def _free_to_q(q: Array) -> Array:
    return concat([unit_wxyz(q[..., 3:]), q[..., :3]])


def _free_from_q(x: Array) -> Array:
    return concat([x[..., 4:], take(x[..., :4], XYZW_FROM_WXYZ)])


def _rpy_to_q(q: Array) -> Array:
    return concat([roll_pitch_yaw(q[..., 3:]), q[..., :3]])


def _rpy_from_q(x: Array) -> Array:
    return concat([x[..., 3:], quaternion_of(x[..., :3])])


def _free_to_v(q: Array, v: Array) -> Array:
    return concat([to_parent_axes(q[..., 3:], v[..., :3]), to_parent_axes(q[..., 3:], v[..., 3:])])


def _free_from_v(q: Array, v: Array) -> Array:
    return concat([to_child_axes(q[..., 3:], v[..., :3]), to_child_axes(q[..., 3:], v[..., 3:])])


_RPY_FLOATING = Form(6, 6, _rpy_to_q, _rpy_from_q, _free_to_v, _free_from_v, free_drift)
_FORMS = {
    "planar": PLANAR_BY_RATES,
    "spherical": Form(3, 3, roll_pitch_yaw, quaternion_of, _ball_to_v, _ball_from_v),
    "free": Form(7, 6, _free_to_q, _free_from_q, _free_to_v, _free_from_v, free_drift),
}
