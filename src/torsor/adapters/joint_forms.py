"""How somebody else writes the numbers of one joint, and the few turns and orders all of them are made of.

Ours, for comparison: spherical and free joints have a quaternion (x, y, z, w), behind the position if there is one;
planar ones (x, y, angle). Their velocities are twists in the child frame, angular part first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays import concat, constant, cos, cross, dot, sin, sqrt, stack, take, zeros
from torsor.arrays.typing import Array, Quaternion, Vector3
from torsor.lie import quaternion

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
