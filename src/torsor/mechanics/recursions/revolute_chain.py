"""Luh, Walker and Paul's recursion for a chain of revolute joints as two loops over the links, for small code.

In frames along common normals (`torsor.model.aligned.uniform`) all links have the same equations, those of `luh_walker_paul`:
the turn from a link to its parent is R_x(α) R_z(θ + q), and r is where its origin is there [DH55; LWP80]. The first loop carries
ω, ω̇, a and U from the root to the tip, and leaves of each link its turn, f and n; the second carries f and n, in the parent's
axes, from the tip to the root. The base is taken in the axes of the first link at q = 0.
"""

from __future__ import annotations

from torsor.arrays import (
    along,
    concat,
    constant,
    cos,
    cross,
    matvec,
    reshape,
    sin,
    stack,
    stack_vectors,
    transpose,
    zeros,
)
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Rotation, Vector3
from torsor.lie.unchecked.se3 import rotation, translation
from torsor.mechanics.recursions.luh_walker_paul import Motion, own_wrench
from torsor.model import Robot
from torsor.model.aligned import uniform


def is_revolute_chain(robot: Robot) -> bool:
    """Whether a robot is one chain of revolute joints, each with its own coordinate."""
    s = robot.structure
    in_a_row = s.parents == tuple(range(-1, robot.n - 1)) and not s.has_couplings
    return in_a_row and robot.n > 1 and all(s.kind_of(i).name == "revolute" for i in range(robot.n))


def revolute_chain(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector) -> JointVector:
    """The moments (..., n) about the axes of a chain of revolute joints that move it so, N·m."""
    chain = uniform(robot)
    poses, inertias = chain.parameters.poses, chain.parameters.inertias
    felt = inertias[0] * constant(_FELT_BY_THE_FIRST)
    # The base is taken to be turned with the first link's frame at q = 0, and to be where that is.
    twists = stack_vectors([constant([1.0, 0.0, 1.0, 0.0]), *(_twist(rotation(T)) for T in poses[1:])])
    offsets = stack_vectors([zeros(3), *(translation(T) for T in poses[1:])])
    start = concat([zeros(6), -matvec(transpose(rotation(poses[0])), chain.parameters.gravity), zeros(9)])
    moved = along(_outwards, start, stack([q, v, a]), twists, offsets, stack_vectors([felt, *inertias[1:]]))
    back = along(_inwards, zeros(6), moved[..., ::-1, 18:], twists[::-1], offsets[::-1])
    return back[..., ::-1, 6]


# Of an inertia row: neither the mass nor its moment along the axis
_FELT_BY_THE_FIRST = (0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def _twist(R: Rotation) -> Array:
    """cos α, sin α, cos θ, sin θ of R = R_x(α) R_z(θ)."""
    return stack([R[..., 2, 2], -R[..., 1, 2], R[..., 0, 0], -R[..., 0, 1]])


def _outwards(state: Array, joint: Array, twist: Array, offset: Vector3, inertia: Array) -> Array:
    """ω, ω̇, a and U of a link from those of its parent; then cos and sin of the joint's turn, f and n of the link alone."""
    parent, U = Motion(state[..., :3], state[..., 3:6], state[..., 6:9]), reshape(state[..., 9:], 1, 3, 3)
    angle, rate, acceleration = (joint[..., k] for k in range(3))
    c0, s0, c, s = twist[..., 2], twist[..., 3], cos(angle), sin(angle)
    turn = stack([c0 * c - s0 * s, s0 * c + c0 * s])
    w, w_rate, at = (_down(x, twist, turn) for x in (parent.w, parent.w_rate, parent.a + matvec(U, offset)))
    x, y, z = (w[..., k] for k in range(3))
    own = Motion(
        stack([x, y, z + rate]),
        stack([w_rate[..., 0] + y * rate, w_rate[..., 1] - x * rate, w_rate[..., 2] + acceleration]),
        at,
    )
    return concat([*own, reshape(own.U, 2, 9), turn, *own_wrench(inertia, own)])


def _inwards(state: Array, given: Array, twist: Array, offset: Vector3) -> Array:
    """f and n that a link passes on to its parent, from those of its child and its own; then the moment about its axis."""
    turn, f, n = given[..., :2], given[..., 2:5] + state[..., :3], given[..., 5:] + state[..., 3:]
    f_parent = _up(f, twist, turn)
    n_parent = _up(n, twist, turn) + cross(offset, f_parent)
    return concat([f_parent, n_parent, n[..., 2:]])


def _down(x: Vector3, twist: Array, turn: Array) -> Vector3:
    """A vector in the parent's axes, in the link's: R_zᵀ R_xᵀ x."""
    c, s, cz, sz = twist[..., 0], twist[..., 1], turn[..., 0], turn[..., 1]
    y = c * x[..., 1] + s * x[..., 2]
    return stack([cz * x[..., 0] + sz * y, cz * y - sz * x[..., 0], c * x[..., 2] - s * x[..., 1]])


def _up(x: Vector3, twist: Array, turn: Array) -> Vector3:
    """A vector in the link's axes, in the parent's: R_x R_z x."""
    c, s, cz, sz = twist[..., 0], twist[..., 1], turn[..., 0], turn[..., 1]
    y = sz * x[..., 0] + cz * x[..., 1]
    return stack([cz * x[..., 0] - sz * x[..., 1], c * y - s * x[..., 2], s * y + c * x[..., 2]])
