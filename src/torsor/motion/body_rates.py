"""Velocity, acceleration and jerk of a motion q ⊕ u(t), from the coordinates u and their derivatives; and the way back.

On the rotations and the rigid motions the body velocity of exp(u(t)) is [Bar17, (7.83)]::

    V = J_r(u) u̇ = u̇ − c₂(u·u) [u, u̇] + c₃(u·u) [u, [u, u̇]]

with c₂ = (1 − cos θ)/θ² and c₃ = (θ − sin θ)/θ³ as functions of x = θ² (`series.remainders`). A rotation has vectors, their
cross product and u·u = θ². A rigid motion has the same formula for dual vectors ω + ε v with ε² = 0: [ , ] is then the bracket
of twists, u·u = ω·ω + 2 ε ω·v, and f(x + ε y) = f(x) + ε y f'(x) (the principle of transference). So its derivatives by time are
those of a product, and exact. Planar motions are rigid motions of three coordinates; numbers have V = u̇.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from torsor.arrays import concat, cross, dot, series, zeros
from torsor.arrays.typing import Array
from torsor.lie.unchecked import bracket
from torsor.mechanics.kinematics.manifold import integrate
from torsor.model import Robot
from torsor.model.joint_kinds import JointKind
from torsor.model.structure import Structure


class Rates(NamedTuple):
    """First, second and third derivative by time: of coordinates u, or velocity, acceleration and jerk of a body."""

    first: Array
    second: Array
    third: Array


def body_rates(robot: Robot, u: Array, rates: Rates) -> Rates:
    """v, a and jerk (..., nv) of q ⊕ u(t), wherever q is, from u and u̇, ü, u⃛ (..., nv)."""
    if robot.structure.has_plain_velocities:
        return rates
    parts = [
        Rates(*(x[..., at] for x in rates))
        if kind is None
        else group_rates(kind.group, u[..., at], Rates(*(x[..., at] for x in rates)))
        for at, kind in _pieces(robot.structure)
    ]
    return Rates(*(concat(list(column)) for column in zip(*parts, strict=True)))


def coordinate_rates(robot: Robot, u: Array, rates: Rates) -> Rates:
    """u̇, ü and u⃛ (..., nv) of the coordinates of q ⊕ u(t), from u and v, a, jerk (..., nv): the inverse of `body_rates`."""
    if robot.structure.has_plain_velocities:
        return rates
    parts = []
    for at, kind in _pieces(robot.structure):
        one = Rates(*(x[..., at] for x in rates))
        parts.append(one if kind is None else group_coordinate_rates(kind, u[..., at], one))
    return Rates(*(concat(list(column)) for column in zip(*parts, strict=True)))


def placed(robot: Robot, q: Array, u: Array) -> Array:
    """q ⊕ u (..., nq)."""
    return q + u if robot.structure.has_plain_velocities else integrate(robot, q, u)


def group_coordinate_rates(kind: JointKind, u: Array, rates: Rates) -> Rates:
    """The same for one joint."""
    v, a, jerk = rates
    none = 0.0 * v
    first = kind.increment_rate(u, v)
    second = kind.increment_rate(u, a - group_rates(kind.group, u, Rates(first, none, none)).second)
    third = kind.increment_rate(u, jerk - group_rates(kind.group, u, Rates(first, second, none)).third)
    return Rates(first, second, third)


def group_rates(group: str, u: Array, rates: Rates) -> Rates:
    """V and its two derivatives for "rotations" (..., 3), "motions" (..., 6) or "planar motions" (..., 3)."""
    if group == "planar motions":
        inner = group_rates("motions", _in_space(u), Rates(*map(_in_space, rates)))
        return Rates(*(x[..., 2:5] for x in inner))
    lie = cross if group == "rotations" else bracket
    du, ddu, dddu = rates
    b, b1, b2 = lie(u, du), lie(u, ddu), lie(du, ddu) + lie(u, dddu)  # [u, u̇] and its derivatives
    c, c1, c2 = lie(u, b), lie(du, b) + lie(u, b1), lie(ddu, b) + 2.0 * lie(du, b1) + lie(u, b2)
    x, x1, x2 = _product(u, u), 2.0 * _product(u, du), 2.0 * (_product(du, du) + _product(u, ddu))
    (f, f1, f2), (g, g1, g2) = _along(x, x1, x2)
    return Rates(
        du - _times(f, b) + _times(g, c),
        ddu - _times(f1, b) - _times(f, b1) + _times(g1, c) + _times(g, c1),
        dddu
        - _times(f2, b)
        - 2.0 * _times(f1, b1)
        - _times(f, b2)
        + _times(g2, c)
        + 2.0 * _times(g1, c1)
        + _times(g, c2),
    )


# Numbers (..., 1) of rotations, and dual numbers (..., 2) of rigid motions, x + ε y as (x, y).


def _product(u: Array, w: Array) -> Array:
    """u·w of vectors (..., 3), or of dual vectors (..., 6)."""
    if u.shape[-1] == 3:
        return dot(u, w)[..., None]
    real = dot(u[..., :3], w[..., :3])[..., None]
    return concat([real, (dot(u[..., :3], w[..., 3:]) + dot(u[..., 3:], w[..., :3]))[..., None]])


def _times(s: Array, u: Array) -> Array:
    """S u of a number and a vector, both dual or neither; also of two dual numbers."""
    half = u.shape[-1] // 2
    if s.shape[-1] == 1:
        return s * u
    return concat([s[..., :1] * u[..., :half], s[..., :1] * u[..., half:] + s[..., 1:] * u[..., :half]])


def _along(x: Array, x1: Array, x2: Array) -> list[Rates]:
    """c₂(x) and c₃(x) with their derivatives by time, as x has ẋ and ẍ; all of them numbers, or dual ones."""
    dual = x.shape[-1] == 2
    orders = 4 if dual else 3
    tables = [series.remainders(x[..., 0], 4 + 2 * (orders - 1))]  # c_k, and its derivatives by x
    for _ in range(orders - 1):
        last = tables[-1]
        tables.append([0.5 * (k * last[k + 2] - last[k + 1]) for k in range(len(last) - 2)])
    found = []
    for k in (2, 3):
        values = [table[k][..., None] for table in tables]
        if dual:
            values = [concat([values[j], x[..., 1:] * values[j + 1]]) for j in range(3)]
        f, f1, f2 = values[:3]
        found.append(Rates(f, _times(f1, x1), _times(f2, _times(x1, x1)) + _times(f1, x2)))
    return found


def _in_space(x: Array) -> Array:
    """The planar twist (ω, v_x, v_y) as (0, 0, ω, v_x, v_y, 0)."""
    return concat([zeros(2), x, zeros(1)])


@lru_cache(maxsize=256)
def _pieces(structure: Structure) -> tuple[tuple[slice, JointKind | None], ...]:
    """Where in v: runs of joints with one number (None), and each other joint with its kind."""
    pieces: list[tuple[slice, JointKind | None]] = []
    for c, kind in structure.blocks:
        if not kind.has_screw:
            pieces.append((c.v, kind))
        elif pieces and pieces[-1][1] is None:
            pieces[-1] = (slice(pieces[-1][0].start, c.v.stop), None)
        else:
            pieces.append((c.v, None))
    return tuple(pieces)
