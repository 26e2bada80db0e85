"""MuJoCo. What it writes differently::

    quantity              torsor                          MuJoCo
    twist                 (angular, linear)               (rot, lin): the same order
    wrench                (moment, force)                 (torque, force): the same order, but for xfrc_applied and
                                                          mj_contactForce, which are (force, torque)
    quaternion            (x, y, z, w)                    (w, x, y, z)
    pose, 7 numbers       position, quaternion            position, quaternion
    revolute, prismatic   q                               q of a hinge or slide (with ref = 0)
    planar          q     (x, y, angle)                   slide x, slide y and hinge z, in this order on one body
                    v     (ω, v_x, v_y), child axes       (ẋ, ẏ, ω): rates of q, parent axes
    spherical       q, v  quaternion; ω in child axes     the same (ball), but for the quaternion's order
    free            q     position, quaternion, from the  position, quaternion, from the *world*, whatever the body's
                          joint's home pose               pos and quat (freejoint; its parent is the world)
                    v     (angular, linear), child axes   (linear in *world* axes, angular in *child* axes)
    helical               one number                      no such joint
    cvel, cfrc_int,       body twist, wrench in a frame   world axes, about subtree_com of the tree's root body
    cfrc_ext
    xfrc_applied          wrench in a frame               world axes, about the body's centre of mass xipos

The rate of a linear velocity in world axes is R (v̇ + ω × v): accelerations differ by ω × v, beside the turn. Forces
have the power tau · v on both sides.
"""

from __future__ import annotations

from torsor.adapters.adapter import Adapter
from torsor.adapters.forms import (
    LINEAR_FIRST,
    ONE_NUMBER,
    PLANAR_BY_RATES,
    WXYZ,
    XYZW_FROM_WXYZ,
    Form,
    free_drift,
    same_velocity,
    to_child_axes,
    to_parent_axes,
    unit_wxyz,
)
from torsor.arrays import concat, cross, identity, is_concrete, matvec, take, transpose
from torsor.arrays.typing import Array, Pose, Quaternion, Twist, Vector3, Wrench
from torsor.border import checked
from torsor.errors import ModelError
from torsor.lie import quaternion
from torsor.lie.se3 import rotation, translation


class MuJoCo(Adapter):
    """A robot in MuJoCo: ``MuJoCo(robot, order=[model.joint(i).name for i in range(model.njnt)])``.

    For ``qpos``, ``qvel``, ``qacc`` and ``qfrc_*``. Methods and batch axes are those of all adapters; ``to_q(q)`` takes
    (..., nq), rad or m.

    Parameters
    ----------
    robot : Robot
    order : iterable of str, optional
        The joints in the order of MuJoCo's vectors; a planar joint stands here once, for its three joints in
        MuJoCo.
    """

    peer = "MuJoCo"
    _quaternion = WXYZ

    def _form(self, i: int) -> Form:
        s = self.robot.structure
        if s.kinds[i] == "helical":
            raise ModelError(
                f"MuJoCo has no helical joint, and {s.joints[i]!r} of robot {s.name!r} is one: "
                f"convert robot.lock({{{s.joints[i]!r}: 0.0}}) instead, or model it there as two joints and a constraint."
            )
        if s.kinds[i] == "free":
            if s.parents[i] >= 0:
                raise ModelError(
                    f"MuJoCo: the parent of a free joint must be the world, but {s.joints[i]!r} of robot {s.name!r} hangs "
                    f"on {s.links[s.parents[i]]!r}. Convert robot.subtree({s.joints[i]!r}), a robot of its own, instead."
                )
            return _free_in_world(self.robot.parameters.poses[i])
        return _FORMS.get(s.kinds[i], ONE_NUMBER)

    @staticmethod
    @checked
    def to_xfrc_applied(F: Wrench, T_0f: Pose, xipos: Vector3) -> Array:
        """The xfrc_applied of a wrench on a frame f.

        Parameters
        ----------
        F : (..., 6) array
            A wrench (moment, force) on the robot, in frame f, N·m, N.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        xipos : (..., 3) array
            The body's centre of mass, data.xipos[body], m.

        Returns
        -------
        (..., 6) array
            (force, torque), world axes, about ``xipos``; N, N·m.
        """
        return take(_wrench_about(F, T_0f, xipos), LINEAR_FIRST)

    @staticmethod
    @checked
    def from_xfrc_applied(x: Wrench, T_0f: Pose, xipos: Vector3) -> Wrench:
        """The wrench in frame f of an xfrc_applied.

        Parameters
        ----------
        x : (..., 6) array
            (force, torque), world axes, about ``xipos``; N, N·m.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        xipos : (..., 3) array
            The body's centre of mass, data.xipos[body], m.

        Returns
        -------
        (..., 6) array
            (moment, force) in frame f, N·m, N.
        """
        return _wrench_in(take(x, LINEAR_FIRST), T_0f, xipos)

    @staticmethod
    @checked
    def to_cfrc(F: Wrench, T_0f: Pose, centre: Vector3) -> Array:
        """The cfrc_int or cfrc_ext of a wrench in frame f.

        Parameters
        ----------
        F : (..., 6) array
            A wrench (moment, force) on the robot, in frame f, N·m, N.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        centre : (..., 3) array
            data.subtree_com[model.body_rootid[body]], m.

        Returns
        -------
        (..., 6) array
            (torque, force), world axes, about ``centre``; N·m, N.
        """
        return _wrench_about(F, T_0f, centre)

    @staticmethod
    @checked
    def from_cfrc(x: Wrench, T_0f: Pose, centre: Vector3) -> Wrench:
        """The wrench in frame f of a cfrc_int or cfrc_ext.

        Parameters
        ----------
        x : (..., 6) array
            (torque, force), world axes, about ``centre``; N·m, N.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        centre : (..., 3) array
            data.subtree_com[model.body_rootid[body]], m.

        Returns
        -------
        (..., 6) array
            (moment, force) in frame f, N·m, N.
        """
        return _wrench_in(x, T_0f, centre)

    @staticmethod
    @checked
    def to_cvel(V: Twist, T_0f: Pose, centre: Vector3) -> Array:
        """The cvel of the body twist of a frame f.

        Parameters
        ----------
        V : (..., 6) array
            Body twist (angular, linear) of frame f, rad/s, m/s.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        centre : (..., 3) array
            data.subtree_com[model.body_rootid[body]], m.

        Returns
        -------
        (..., 6) array
            (rot, lin), world axes, about ``centre``; rad/s, m/s.
        """
        R = rotation(T_0f)
        w = matvec(R, V[..., :3])
        return concat([w, matvec(R, V[..., 3:]) + cross(w, centre - translation(T_0f))])

    @staticmethod
    @checked
    def from_cvel(x: Twist, T_0f: Pose, centre: Vector3) -> Twist:
        """The body twist of a frame f of the cvel of its body.

        Parameters
        ----------
        x : (..., 6) array
            cvel (rot, lin), world axes, about ``centre``; rad/s, m/s.
        T_0f : (..., 4, 4) array
            Pose of frame f from `torsor.frame_pose`, m.
        centre : (..., 3) array
            data.subtree_com[model.body_rootid[body]], m.

        Returns
        -------
        (..., 6) array
            (angular, linear) in frame f, rad/s, m/s.
        """
        R_f0, w = transpose(rotation(T_0f)), x[..., :3]
        return concat([matvec(R_f0, w), matvec(R_f0, x[..., 3:] + cross(w, translation(T_0f) - centre))])


def _wrench_about(F: Wrench, T_0f: Pose, point: Vector3) -> Wrench:
    R = rotation(T_0f)
    f = matvec(R, F[..., 3:])
    return concat([matvec(R, F[..., :3]) + cross(translation(T_0f) - point, f), f])


def _wrench_in(F: Wrench, T_0f: Pose, point: Vector3) -> Wrench:
    R_f0, f = transpose(rotation(T_0f)), F[..., 3:]
    return concat([matvec(R_f0, F[..., :3] + cross(point - translation(T_0f), f)), matvec(R_f0, f)])


def _from_wxyz(x: Array) -> Quaternion:
    return take(x, XYZW_FROM_WXYZ)


def _free_in_world(home: Pose) -> Form:
    """A free joint whose numbers are those of home · pose: MuJoCo has them from the world."""
    if is_concrete(home) and not (home - identity(4)).any():
        return _FREE
    turned, moved = quaternion.from_rotation(rotation(home)), translation(home)

    def in_world(q: Array) -> Array:
        return concat([moved + to_parent_axes(turned, q[..., :3]), quaternion.product(turned, q[..., 3:])])

    def from_world(q: Array) -> Array:
        quat = quaternion.product(quaternion.conjugate(turned), q[..., 3:])
        return concat([to_child_axes(turned, q[..., :3] - moved), quat])

    return _FREE._replace(
        to_q=lambda q: _FREE.to_q(in_world(q)),
        from_q=lambda x: from_world(_FREE.from_q(x)),
        to_v=lambda q, v: _FREE.to_v(in_world(q), v),
        from_v=lambda q, x: _FREE.from_v(in_world(q), x),
    )


def _free_to_q(q: Array) -> Array:
    return concat([q[..., :3], unit_wxyz(q[..., 3:])])


def _free_from_q(x: Array) -> Array:
    return concat([x[..., :3], _from_wxyz(x[..., 3:])])


def _free_to_v(q: Array, v: Array) -> Array:
    return concat([to_parent_axes(q[..., 3:], v[..., 3:]), v[..., :3]])


def _free_from_v(q: Array, x: Array) -> Array:
    return concat([x[..., 3:], to_child_axes(q[..., 3:], x[..., :3])])


_FREE = Form(7, 6, _free_to_q, _free_from_q, _free_to_v, _free_from_v, free_drift)
_FORMS = {
    "planar": PLANAR_BY_RATES,
    "spherical": Form(4, 3, unit_wxyz, _from_wxyz, same_velocity, same_velocity),
}
