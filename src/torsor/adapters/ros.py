"""ROS messages. What they write differently::

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

from torsor.adapters.adapter import Adapter
from torsor.adapters.joint_forms import LINEAR_FIRST, ONE_NUMBER, Form, same, unit
from torsor.arrays import atan2, concat, cos, sin, stack, take, zeros
from torsor.arrays.typing import Array


class ROS(Adapter):
    """A robot in ROS messages: ``ROS(robot, order=message.name)``.

    Of a robot whose joints have one number each, ``to_q(q)``, ``to_v(q, v)`` and ``to_tau(q, tau)`` are the three lists of
    a JointState whose names are `order`. For others, `q_slice` and `v_slice` tell where a joint's pose and twist are.
    Methods and batch axes as in all adapters; ``to_q(q)`` of (..., nq), rad or m.
    """

    peer = "ROS"
    _six = LINEAR_FIRST

    def _form(self, i: int) -> Form:
        return _FORMS.get(self.robot.structure.kinds[i], ONE_NUMBER)


def _planar_to_q(q: Array) -> Array:
    x, y, half = q[..., 0], q[..., 1], 0.5 * q[..., 2]
    return stack([x, y, 0.0, 0.0, 0.0, sin(half), cos(half)])


def _planar_from_q(x: Array) -> Array:
    z, w = x[..., 5], x[..., 6]
    return stack([x[..., 0], x[..., 1], atan2(2.0 * z * w, w * w - z * z)])


def _planar_to_v(q: Array, v: Array) -> Array:
    w, x, y = v[..., 0], v[..., 1], v[..., 2]
    return stack([x, y, 0.0, 0.0, 0.0, w])


def _planar_from_v(q: Array, x: Array) -> Array:
    return stack([x[..., 5], x[..., 0], x[..., 1]])


def _spherical_to_q(q: Array) -> Array:
    return concat([zeros(3), unit(q)])


def _spherical_from_q(x: Array) -> Array:
    return x[..., 3:]


def _spherical_to_v(q: Array, v: Array) -> Array:
    return concat([zeros(3), v])


def _spherical_from_v(q: Array, x: Array) -> Array:
    return x[..., 3:]


def _free_to_q(q: Array) -> Array:
    return concat([q[..., :3], unit(q[..., 3:])])


def _swap(q: Array, v: Array) -> Array:
    return take(v, LINEAR_FIRST)


_FORMS = {
    "planar": Form(7, 6, _planar_to_q, _planar_from_q, _planar_to_v, _planar_from_v),
    "spherical": Form(7, 6, _spherical_to_q, _spherical_from_q, _spherical_to_v, _spherical_from_v),
    "free": Form(7, 6, _free_to_q, same, _swap, _swap),
}
