"""Pinocchio and ROS, which write the linear part of twists and wrenches first.

Pinocchio. What it writes differently::

    quantity              torsor                          Pinocchio
    twist                 (angular, linear)               (linear, angular)
    wrench                (moment, force)                 (force, moment)
    quaternion            (x, y, z, w)                    (x, y, z, w)
    pose, 7 numbers       position, quaternion            position, quaternion
    revolute              q                               q; a "continuous" joint of a URDF: (cos q, sin q)
    planar          q     (x, y, angle)                   (x, y, cos angle, sin angle)
                    v     (ω, v_x, v_y), child axes       (v_x, v_y, ω), child axes
    spherical       q, v  quaternion; ω in child axes     the same (JointModelSpherical, not SphericalZYX)
    free            q     position, quaternion            the same (JointModelFreeFlyer)
                    v     (angular, linear), child axes   (linear, angular), child axes
    order of joints       depth first, file's order       siblings by name: pass ``order=model.names``
    external wrench       on the robot, any frame         on the robot, in the joint's frame, one per joint

Accelerations are rates of v on both sides, forces have the power tau · v on both.

ROS messages. What they write differently::

    quantity              torsor                          ROS
    twist                 (angular, linear)               (linear, angular) (geometry_msgs/Twist)
    wrench                (moment, force)                 (force, torque) (geometry_msgs/Wrench)
    quaternion            (x, y, z, w)                    (x, y, z, w) (geometry_msgs/Quaternion)
    pose, 7 numbers       position, quaternion            position, quaternion (geometry_msgs/Pose)
    one-number joints     q, v, tau                       position, velocity, effort of sensor_msgs/JointState
    planar, spherical,    see docs/conventions.md         a pose and a twist, as in nav_msgs/Odometry:
    free            q                                     position, quaternion of the child frame in its parent's
                    v                                     (linear, angular) in the child frame
                    tau                                   (force, torque) in the child frame
    order of joints       depth first, file's order       any, by name: pass ``order=message.name``

A planar or spherical joint moves in some of the seven numbers only; the others are 0 on the way out and not read on the
way back. Accelerations are rates of the twist's numbers, not what an accelerometer measures
(`torsor.kinematics.mixed_acceleration`, in the frame's axes, less gravity). A world-frame twist is
`torsor.kinematics.mixed_twist`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from torsor.adapters.adapter import Adapter, joints_of_kind
from torsor.adapters.forms import LINEAR_FIRST, ONE_NUMBER, Form, same, same_velocity, unit
from torsor.arrays import atan2, concat, constant, cos, sin, stack, take, zeros
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.model import Robot

_PLANAR_ORDER, _PLANAR_BACK = constant([1, 2, 0]), constant([2, 0, 1])


class Pinocchio(Adapter):
    """A robot in Pinocchio: ``Pinocchio(robot, order=model.names)``.

    Methods and batch axes are those of all adapters; ``to_q(q)`` takes (..., nq), rad or m.

    Parameters
    ----------
    robot : Robot
    order : iterable of str, optional
        The joints in the order of Pinocchio's vectors; "universe", the first of ``model.names``, is passed over.
    continuous : iterable of str
        The revolute joints that Pinocchio keeps as (cos, sin): those of type "continuous" in a URDF.
    """

    peer = "Pinocchio"
    _six = LINEAR_FIRST
    _hint = " A joint that a URDF calls continuous has two numbers there, (cos, sin): name it in `continuous=[...]`."

    @explained
    def __init__(self, robot: Robot, *, order: Iterable[str] | None = None, continuous: Iterable[str] = ()) -> None:
        meaning = "only revolute joints can be continuous"
        self.continuous: Final = joints_of_kind(robot, "continuous", continuous, "revolute", meaning)
        moving = None if order is None else [name for name in order if name != "universe" or name in robot.joints]
        super().__init__(robot, order=moving)

    def _form(self, i: int) -> Form:
        if self.robot.joints[i] in self.continuous:
            return _CONTINUOUS
        return _FORMS.get(self.robot.structure.kinds[i], ONE_NUMBER)


def _to_circle(q: Array) -> Array:
    return concat([cos(q), sin(q)])


def _from_circle(x: Array) -> Array:
    return atan2(x[..., 1:], x[..., :1])


def _planar_to_q(q: Array) -> Array:
    x, y, angle = q[..., 0], q[..., 1], q[..., 2]
    return stack([x, y, cos(angle), sin(angle)])


def _planar_from_q(x: Array) -> Array:
    return concat([x[..., :2], _from_circle(x[..., 2:])])


def _planar_to_v(q: Array, v: Array) -> Array:
    return take(v, _PLANAR_ORDER)


def _planar_from_v(q: Array, v: Array) -> Array:
    return take(v, _PLANAR_BACK)


def _free_to_q(q: Array) -> Array:
    return concat([q[..., :3], unit(q[..., 3:])])


def _swap(q: Array, v: Array) -> Array:
    return take(v, LINEAR_FIRST)


_FREE = Form(7, 6, _free_to_q, same, _swap, _swap)
_CONTINUOUS = Form(2, 1, _to_circle, _from_circle, same_velocity, same_velocity)
_FORMS = {
    "planar": Form(4, 3, _planar_to_q, _planar_from_q, _planar_to_v, _planar_from_v),
    "spherical": Form(4, 3, unit, same, same_velocity, same_velocity),
    "free": _FREE,
}


class ROS(Adapter):
    """A robot in ROS messages: ``ROS(robot, order=message.name)``.

    Of a robot whose joints have one number each, ``to_q(q)``, ``to_v(q, v)`` and ``to_tau(q, tau)`` are the three lists of
    a JointState whose names are `order`. For others, `q_slice` and `v_slice` tell where a joint's pose and twist are.
    Methods and batch axes are those of all adapters; ``to_q(q)`` takes (..., nq), rad or m.

    Parameters
    ----------
    robot : Robot
    order : iterable of str, optional
        The joints in the order of the message.
    """

    peer = "ROS"
    _six = LINEAR_FIRST

    def _form(self, i: int) -> Form:
        return _ROS_FORMS.get(self.robot.structure.kinds[i], ONE_NUMBER)


def _ros_planar_to_q(q: Array) -> Array:
    x, y, half = q[..., 0], q[..., 1], 0.5 * q[..., 2]
    return stack([x, y, 0.0, 0.0, 0.0, sin(half), cos(half)])


def _ros_planar_from_q(x: Array) -> Array:
    z, w = x[..., 5], x[..., 6]
    return stack([x[..., 0], x[..., 1], atan2(2.0 * z * w, w * w - z * z)])


def _ros_planar_to_v(q: Array, v: Array) -> Array:
    w, x, y = v[..., 0], v[..., 1], v[..., 2]
    return stack([x, y, 0.0, 0.0, 0.0, w])


def _ros_planar_from_v(q: Array, x: Array) -> Array:
    return stack([x[..., 5], x[..., 0], x[..., 1]])


def _ros_spherical_to_q(q: Array) -> Array:
    return concat([zeros(3), unit(q)])


def _ros_spherical_from_q(x: Array) -> Array:
    return x[..., 3:]


def _ros_spherical_to_v(q: Array, v: Array) -> Array:
    return concat([zeros(3), v])


def _ros_spherical_from_v(q: Array, x: Array) -> Array:
    return x[..., 3:]


_ROS_FORMS = {
    "planar": Form(7, 6, _ros_planar_to_q, _ros_planar_from_q, _ros_planar_to_v, _ros_planar_from_v),
    "spherical": Form(7, 6, _ros_spherical_to_q, _ros_spherical_from_q, _ros_spherical_to_v, _ros_spherical_from_v),
    "free": _FREE,
}
