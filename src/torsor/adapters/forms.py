"""How somebody else writes the numbers of one joint, twists, wrenches, quaternions and poses; and the few turns and orders
all of them are made of.

Ours, for comparison: spherical and free joints have a quaternion (x, y, z, w), behind the position if there is one;
planar ones (x, y, angle). Their velocities are twists in the child frame, angular part first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy

from torsor.arrays import concat, constant, cos, cross, dot, sin, sqrt, stack, take, zeros
from torsor.arrays.typing import Array, Pose, Quaternion, Twist, Vector3, Wrench
from torsor.border.arrays import check
from torsor.lie import quaternion, se3
from torsor.model.structure import Coordinate

IN_ORDER = constant([0, 1, 2, 3, 4, 5])
LINEAR_FIRST = constant([3, 4, 5, 0, 1, 2])  # its own inverse
XYZW = constant([0, 1, 2, 3])
WXYZ = constant([3, 0, 1, 2])
XYZW_FROM_WXYZ = constant([1, 2, 3, 0])


class Form(NamedTuple):
    """One joint as a peer writes it: how many numbers, and the maps between ours and theirs.

    ``to_q(q)`` and ``from_q(x)`` map configurations; ``to_v(q, v)`` and ``from_v(q, x)`` map velocities, q being ours.
    Velocity maps only turn, reorder and pad with zeros: x = K v with KᵀK = 1, and ``from_v`` is Kᵀ. So forces of the same
    power take the same maps. ``drift(v)`` is KᵀK̇ v: what the rate of a velocity in the parent's axes has more than the
    turned rate of ours.
    """

    nq: int
    nv: int
    to_q: Callable[[Array], Array]
    from_q: Callable[[Array], Array]
    to_v: Callable[[Array, Array], Array]
    from_v: Callable[[Array, Array], Array]
    drift: Callable[[Array], Array] | None = None


def same(x: Array) -> Array:
    """The numbers as they are."""
    return x


def same_velocity(q: Array, v: Array) -> Array:
    """The velocity as it is, wherever the joint is."""
    return v


ONE_NUMBER = Form(1, 1, same, same, same_velocity, same_velocity)


def unit(quat: Quaternion) -> Quaternion:
    """The quaternion (..., 4) at length 1: ours may have any length, the others' must be 1."""
    return quat / sqrt(dot(quat, quat))[..., None]


def unit_wxyz(quat: Quaternion) -> Array:
    """(w, x, y, z) (..., 4), of length 1, of our (x, y, z, w)."""
    return take(unit(quat), WXYZ)


def to_parent_axes(quat: Quaternion, vector: Vector3) -> Vector3:
    """R u: a vector (..., 3) in child axes, seen in the parent's; the quaternion may have any length.

    R u = u + 2/|quat|² (w t + n × t) with quat = (n, w) and t = n × u: cheaper than R itself.
    """
    n, w = quat[..., :3], quat[..., 3:]
    t = cross(n, vector)
    return vector + (2.0 / dot(quat, quat))[..., None] * (w * t + cross(n, t))


def to_child_axes(quat: Quaternion, vector: Vector3) -> Vector3:
    """Rᵀ u: a vector (..., 3) in the parent's axes, seen in the child's."""
    return to_parent_axes(quaternion.conjugate(quat), vector)


def free_drift(v: Array) -> Array:
    """(0, ω × v): with u = R v, Rᵀ u̇ = v̇ + ω × v."""
    return concat([zeros(3), cross(v[..., :3], v[..., 3:])])


def planar_drift(v: Array) -> Array:
    """(0, −ω v_y, ω v_x): the same in the plane."""
    w, x, y = v[..., 0], v[..., 1], v[..., 2]
    return stack([0.0, -w * y, w * x])


def planar_to_parent_axes(q: Array, v: Array) -> Array:
    """(ẋ, ẏ, ω) (..., 3) from our (ω, v_x, v_y): what q = (x, y, angle) does per second."""
    c, s = cos(q[..., 2]), sin(q[..., 2])
    w, x, y = v[..., 0], v[..., 1], v[..., 2]
    return stack([c * x - s * y, s * x + c * y, w])


def planar_from_parent_axes(q: Array, rate: Array) -> Array:
    """Our (ω, v_x, v_y) (..., 3) from (ẋ, ẏ, ω)."""
    c, s = cos(q[..., 2]), sin(q[..., 2])
    x, y, w = rate[..., 0], rate[..., 1], rate[..., 2]
    return stack([w, c * x + s * y, c * y - s * x])


PLANAR_BY_RATES = Form(3, 3, same, same, planar_to_parent_axes, planar_from_parent_axes, planar_drift)


class Block(NamedTuple):
    """One joint of the peer, or a run of plain ones: ratio · ours + offset, in its form. A mimic joint does not lead."""

    joint: str
    ours: Coordinate
    form: Form
    ratio: float
    offset: float
    leads: bool
    q: slice  # in the peer's vectors
    v: slice


def with_runs_joined(blocks: Sequence[Block]) -> list[Block]:
    """The same blocks, with plain joints that are neighbours on both sides taken as one: an arm is a single copy."""
    drivers = Counter(block.ours.name for block in blocks)  # more than one: a mimic joint follows
    runs: list[Block] = []
    extends = False
    for block in blocks:
        plain = block.form is ONE_NUMBER and block.ratio == 1.0 and drivers[block.ours.name] == 1
        if extends and plain and runs[-1].ours.v.stop == block.ours.v_start:
            runs[-1] = _longer(runs[-1], block)
        else:
            runs.append(block)
        extends = plain
    return runs


def _longer(run: Block, block: Block) -> Block:
    nq, nv = run.form.nq + 1, run.form.nv + 1
    ours, form = run.ours._replace(nq=nq, nv=nv), run.form._replace(nq=nq, nv=nv)
    return run._replace(ours=ours, form=form, q=slice(run.q.start, block.q.stop), v=slice(run.v.start, block.v.stop))


def scaled(block: Block, x: Array, offset: float = 0.0) -> Array:
    """What the joint of a block does when ours does x."""
    return x if block.ratio == 1.0 and offset == 0.0 else block.ratio * x + offset


def divided(block: Block, x: Array) -> Array:
    """What ours does when the joint of a block does x."""
    return x if block.ratio == 1.0 else x / block.ratio


class Orders:
    """Twists, wrenches, quaternions and poses in the order of a peer: no robot is needed for these."""

    peer: ClassVar[str]
    # Where the peer's numbers come from in ours: (angular, linear), (x, y, z, w), (position, quaternion).
    _six: ClassVar[Array] = IN_ORDER
    _quaternion: ClassVar[Array] = XYZW
    _position_first: ClassVar[bool] = True

    @classmethod
    def to_twist(cls, V: Twist) -> Array:
        """A twist in the peer's order; axes and origin stay what they are.

        Parameters
        ----------
        V : (..., 6) array
            A twist (angular, linear), rad/s, m/s.

        Returns
        -------
        (..., 6) array
            rad/s, m/s.
        """
        return take(check(f"{cls.peer}.to_twist", "V", V, ("6",), None), cls._six)

    @classmethod
    def from_twist(cls, V: Array) -> Twist:
        """A twist in torsor's order; axes and origin stay what they are.

        Parameters
        ----------
        V : (..., 6) array
            A twist in the peer's order, rad/s, m/s.

        Returns
        -------
        (..., 6) array
            (angular, linear), rad/s, m/s.
        """
        return take(check(f"{cls.peer}.from_twist", "V", V, ("6",), None), cls._six)

    @classmethod
    def to_wrench(cls, F: Wrench) -> Array:
        """A wrench in the peer's order; axes and origin stay what they are.

        Parameters
        ----------
        F : (..., 6) array
            A wrench (moment, force), N·m, N.

        Returns
        -------
        (..., 6) array
            N·m, N.
        """
        return take(check(f"{cls.peer}.to_wrench", "F", F, ("6",), None), cls._six)

    @classmethod
    def from_wrench(cls, F: Array) -> Wrench:
        """A wrench in torsor's order; axes and origin stay what they are.

        Parameters
        ----------
        F : (..., 6) array
            A wrench in the peer's order, N·m, N.

        Returns
        -------
        (..., 6) array
            (moment, force), N·m, N.
        """
        return take(check(f"{cls.peer}.from_wrench", "F", F, ("6",), None), cls._six)

    @classmethod
    def to_quaternion(cls, quat: Quaternion) -> Array:
        """A quaternion in the peer's order.

        Parameters
        ----------
        quat : (..., 4) array
            (x, y, z, w), no unit.

        Returns
        -------
        (..., 4) array
        """
        return take(check(f"{cls.peer}.to_quaternion", "quat", quat, ("4",), None), cls._quaternion)

    @classmethod
    def from_quaternion(cls, quat: Array) -> Quaternion:
        """A quaternion in torsor's order.

        Parameters
        ----------
        quat : (..., 4) array
            In the peer's order, no unit.

        Returns
        -------
        (..., 4) array
            (x, y, z, w).
        """
        return take(check(f"{cls.peer}.from_quaternion", "quat", quat, ("4",), None), numpy.argsort(cls._quaternion))

    @classmethod
    def to_pose(cls, T: Pose) -> Array:
        """The peer's seven numbers of a pose: position and quaternion, in the peer's order.

        Parameters
        ----------
        T : (..., 4, 4) array
            A pose, m.

        Returns
        -------
        (..., 7) array
            m, no unit.
        """
        T = check(f"{cls.peer}.to_pose", "T", T, ("4", "4"), None)
        parts = [T[..., :3, 3], cls.to_quaternion(quaternion.from_rotation(T[..., :3, :3]))]
        return concat(parts if cls._position_first else parts[::-1])

    @classmethod
    def from_pose(cls, x: Array) -> Pose:
        """The pose of the peer's seven numbers.

        Parameters
        ----------
        x : (..., 7) array
            Position and quaternion in the peer's order, m.

        Returns
        -------
        (..., 4, 4) array
            m.
        """
        x = check(f"{cls.peer}.from_pose", "x", x, ("7",), None)
        position, quat = (x[..., :3], x[..., 3:]) if cls._position_first else (x[..., 4:], x[..., :4])
        return se3.pose(quaternion.to_rotation(cls.from_quaternion(quat)), position)
