"""Twice the body-level Coriolis matrix of a set of links, as twelve numbers and an action.

With p = Σ m ẋ and Q = Σ m ẋ xᵀ over the particles of the links [EW21, (11)]::

    2 B V = (E ω, −r × ω),     2 Bᵀ V = (Eᵀ ω + r × v, 0),     E = 2 (tr(Q) 1 − Q),     r = 2 p

It acts on angular parts alone, and its transpose gives moments alone. B(U) of a body that moves as a whole, with one twist U,
satisfies B(U)ᵀ W = −B(W)ᵀ U and B(U) W − B(W) U = −G [U, W]: it is the connection of the body's inertia G on the group of
motions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torsor.arrays import concat, cross, identity, matmul, matvec, outer, transpose
from torsor.arrays.typing import InertiaRow, Matrix3, Twist, Vector3, Wrench
from torsor.lie import so3
from torsor.mechanics.moving_inertia import Flow, flow_of


class CoriolisAction(NamedTuple):
    """2 B: E (..., 3, 3), kg·m²/s, and r (..., 3), kg·m/s."""

    E: Matrix3
    r: Vector3

    def on(self, V: Twist) -> Wrench:
        """2 B V (..., 6)."""
        w = V[..., :3]
        return concat([matvec(self.E, w), -cross(self.r, w)])

    def transposed_on(self, V: Twist) -> Vector3:
        """The moment of 2 Bᵀ V (..., 3), which is all of it."""
        return matvec(transpose(self.E), V[..., :3]) + cross(self.r, V[..., 3:])

    def rows(self, chosen: Any) -> CoriolisAction:
        """Some of many: those with numbers ``chosen``, or all with one more axis."""
        return CoriolisAction(self.E[..., chosen, :, :], self.r[..., chosen, :])


def coriolis_action(flow: Flow) -> CoriolisAction:
    """2 B of links that flow."""
    return CoriolisAction(_turning(flow.Q), 2.0 * flow.p)


def coriolis_action_moved(G: InertiaRow, flow: Flow, J: Twist, U: Twist) -> CoriolisAction:
    """∂(2 B) if links with inertia G that flow are displaced along J and their twists change by U, as seen from them.

    δx = v + ω × x and δẋ = ω × ẋ + u + μ × x for J = (ω, v) and U = (μ, u): δp = ω × p, δQ = [ω] Q − Q [ω] + p vᵀ and a flow U.
    """
    w, v = J[..., :3], J[..., 3:]
    more = flow_of(G, U)
    W = so3.hat(w)
    Q = more.Q + matmul(W, flow.Q) - matmul(flow.Q, W) + outer(flow.p, v)
    return CoriolisAction(_turning(Q), 2.0 * (more.p + cross(w, flow.p)))


def _turning(Q: Matrix3) -> Matrix3:
    twice = 2.0 * Q
    return (twice[..., 0, 0] + twice[..., 1, 1] + twice[..., 2, 2])[..., None, None] * identity(3) - twice
