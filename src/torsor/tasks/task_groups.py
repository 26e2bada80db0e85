"""What a task, or a joint, moves on: numbers, rotations or rigid motions, and how motions there are compared.

With X = g⁻¹ g_ref for something at g that moves with body velocity v, and a reference at g_ref with v_ref, a_ref in its own
axes [BL05, §11; Bar17, (7.95)]::

    e   = log X                                          the error, in the tangent space at g
    v_r = Ad(X) v_ref                                    the reference velocity, in axes of g
    a_r = v̇_r = Ad(X) a_ref − [v, v_r]                   its rate as g and g_ref move
    ė   = J_l(e)⁻¹ (v_r − v)
    s   = J_l(e)⁻ᵀ K e                                   force of a spring with the energy ½ eᵀ K e

so that the energy changes at eᵀ K ė = sᵀ (v_r − v), exactly. Of numbers all of it is e = y_ref − y, v_r = v_ref, a_r = a_ref,
s = K e.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from torsor.arrays import concat, cross, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array
from torsor.lie.unchecked import bracket, se3, so3, transform_twist


class Compared(NamedTuple):
    """v_r and a_r of one joint or task."""

    velocity: Array
    acceleration: Array


@dataclass(frozen=True, eq=False)
class Group:
    """How to compare motions: (e, v, v_ref, a_ref) → (v_r, a_r); (e, v_r − v) → ė; (e, K e) → J_l(e)⁻ᵀ K e."""

    name: str
    compare: Callable[[Array, Array, Array, Array], Compared]
    rate: Callable[[Array, Array], Array]
    spring: Callable[[Array, Array], Array]

    def __repr__(self) -> str:
        return f"<group of {self.name}>"


@dataclass(frozen=True, eq=False, repr=False)
class TaskGroup(Group):
    """The same for the values of a task.

    ``moved`` takes a value g and y to g exp(y); ``flow`` g and v to ġ; ``velocity`` coordinates y about g and their rate ẏ to v
    at g exp(y), J_r(y) ẏ.
    """

    moved: Callable[[Array, Array], Array]
    flow: Callable[[Array, Array], Array]
    velocity: Callable[[Array, Array], Array]


def _compare_numbers(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(v_ref, a_ref)


def _of_numbers(e: Array, x: Array) -> Array:
    return x


def _moved_numbers(y: Array, by: Array) -> Array:
    return y + by


def _compare_rotations(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = so3.exp(e)
    v_r = matvec(X, v_ref)
    a_r = matvec(X, a_ref) - cross(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_rotations(e: Array, relative: Array) -> Array:
    return matvec(so3.left_jacobian_inverse(e), relative)


def _spring_of_rotations(e: Array, pull: Array) -> Array:
    return matvec(so3.right_jacobian_inverse(e), pull)  # J_r = J_lᵀ


def _moved_rotation(R: Array, by: Array) -> Array:
    return matmul(R, so3.exp(by))


def _flow_of_rotation(R: Array, w: Array) -> Array:
    return matmul(R, so3.hat(w))


def _velocity_of_rotations(y: Array, rate: Array) -> Array:
    return matvec(so3.right_jacobian(y), rate)


def _compare_motions(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = se3.exp(e)
    v_r = transform_twist(X, v_ref)
    a_r = transform_twist(X, a_ref) - bracket(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_motions(e: Array, relative: Array) -> Array:
    return matvec(se3.left_jacobian_inverse(e), relative)


def _spring_of_motions(e: Array, pull: Array) -> Array:
    return matvec(transpose(se3.left_jacobian_inverse(e)), pull)


def _moved_pose(T: Array, by: Array) -> Array:
    return se3.compose(T, se3.exp(by))


def _flow_of_pose(T: Array, V: Array) -> Array:
    return matmul(T, se3.hat(V))


def _velocity_of_motions(y: Array, rate: Array) -> Array:
    return matvec(se3.right_jacobian(y), rate)


def _compare_planar(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(*(x[..., 2:5] for x in _compare_motions(*map(_in_space, (e, v, v_ref, a_ref)))))


def _rate_of_planar(e: Array, relative: Array) -> Array:
    return _rate_of_motions(_in_space(e), _in_space(relative))[..., 2:5]


def _spring_of_planar(e: Array, pull: Array) -> Array:
    return _spring_of_motions(_in_space(e), _in_space(pull))[..., 2:5]


def _in_space(x: Array) -> Array:
    """The planar twist (ω, v_x, v_y) as (0, 0, ω, v_x, v_y, 0)."""
    return concat([zeros(2), x, zeros(1)])


_LIKE_NUMBERS = (_compare_numbers, _of_numbers, _of_numbers, _moved_numbers, _of_numbers, _of_numbers)
NUMBERS = TaskGroup("numbers", *_LIKE_NUMBERS)
FIRST_ORDER = TaskGroup("values compared by an error of their own", *_LIKE_NUMBERS)  # as numbers, near the target
ROTATIONS = TaskGroup(
    "rotations",
    _compare_rotations,
    _rate_of_rotations,
    _spring_of_rotations,
    _moved_rotation,
    _flow_of_rotation,
    _velocity_of_rotations,
)
MOTIONS = TaskGroup(
    "rigid motions",
    _compare_motions,
    _rate_of_motions,
    _spring_of_motions,
    _moved_pose,
    _flow_of_pose,
    _velocity_of_motions,
)
PLANAR = Group("planar motions", _compare_planar, _rate_of_planar, _spring_of_planar)
