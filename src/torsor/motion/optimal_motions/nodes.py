"""The nodes of a spline, and the state of the robot at each of them with all that equations need there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.functions.public.derivatives import inverse_dynamics_derivatives, inverse_dynamics_hessian
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.motion.optimal_motions.coordinates import coordinates_of
from torsor.motion.optimal_motions.splines import Spline

TAU = -1  # the slot of joint forces, after those of q, v, a and perhaps jerk


class Nodes(NamedTuple):
    """Where a spline is looked at."""

    s: Array
    """Parts of the duration (N,), increasing."""
    weights: Array
    """In integrals over [0, 1]; zero of nodes where there are only constraints."""
    piece: Array
    basis: Array
    """The functions B_k of the piece, with derivatives by s (N, orders, p + 1)."""

    @classmethod
    def of(cls, spline: Spline, orders: int, more: Array) -> Nodes:
        """The nodes of integrals over the pieces of a spline, and ``more`` places (k,) where there are only constraints."""
        s, weights = spline.nodes()
        more = np.setdiff1d(more, s)
        order = np.argsort(np.append(s, more), kind="stable")
        return cls.at(spline, orders, np.append(s, more)[order], np.append(weights, np.zeros(len(more)))[order])

    @classmethod
    def at(cls, spline: Spline, orders: int, s: Array, weights: Array) -> Nodes:
        """Nodes at places s (N,) of one's own, with their weights (N,)."""
        piece, basis = spline.at(s)
        return cls(s, weights, piece, np.ascontiguousarray(basis[:, :orders]))


class States:
    """The robot at nodes: z = (u, u̇, ü, …) by time (N, orders, n), q, v, a and τ, and derivatives when they are asked for."""

    def __init__(self, robot: Robot, anchor: Array, z: Array) -> None:
        self.robot, self.z = robot, z
        self.orders = z.shape[1]
        self.coordinates = coordinates_of(robot, self.orders)
        self.q, rates = self.coordinates.placed(anchor, z)
        self.rates = rates
        self.tau: Array = inverse_dynamics(robot, self.q, rates[:, 0], rates[:, 1])

    @property
    def v(self) -> Array:
        """Velocities v at the nodes (N, n), rad/s or m/s."""
        return self.rates[:, 0]

    @property
    def a(self) -> Array:
        """Accelerations a at the nodes (N, n), rad/s² or m/s²."""
        return self.rates[:, 1]

    @once
    def tau_slopes(self) -> Array:
        """Derivatives ∂τ/∂(q, v, a) of joint forces side by side (N, n, 3 n), those by q along the axes of v."""
        return np.concatenate(inverse_dynamics_derivatives(self.robot, self.q, self.v, self.a), axis=-1)

    @once
    def J(self) -> Array | None:
        """The matrix δξ/δz (N, orders n, orders n) of `coordinates`, for joints on groups; None where it is the unit matrix."""
        return None if self.robot.structure.has_plain_velocities else self.coordinates.jacobian(self.z)

    def moved(self, dz: Array) -> Array:
        """Changes (N, orders + 1, n) of q, v, a, … and τ, to first order, with those of z (N, orders, n)."""
        N, orders, n = dz.shape
        dx = dz.reshape(N, orders * n)
        if self.J is not None:
            dx = np.matmul(self.J, dx[..., None])[..., 0]
        dtau = np.matmul(self.tau_slopes, dx[:, : 3 * n, None])[..., 0]
        return np.concatenate([dx, dtau], axis=1).reshape(N, orders + 1, n)

    def pulled(self, rows: Array, at: Array | None = None) -> Array:
        """Gradients (k, orders, n) by z at nodes ``at`` (k,) of what has gradients (k, orders + 1, n) by q, v, a, … and τ."""
        k, slots, n = rows.shape
        slopes = self.tau_slopes if at is None else self.tau_slopes[at]
        found = rows[:, :-1].reshape(k, -1).copy()
        found[:, : 3 * n] += np.matmul(rows[:, None, -1], slopes)[:, 0]
        if self.J is not None:
            found = np.matmul(found[:, None], self.J if at is None else self.J[at])[:, 0]
        return found.reshape(k, slots - 1, n)

    def pulled_twice(self, G: Array, H: Array) -> Array:
        """Second derivatives (N, orders n, orders n) by z of what has G (N, orders + 1, n) and H, with orders + 1 slots."""
        N, slots, n = G.shape
        near, three = (slots - 1) * n, 3 * n
        D, found = self.tau_slopes, H[:, :near, :near].copy()
        if H[:, :near, near:].any():  # of powers, and of functions of τ and something else
            mixed = np.matmul(H[:, :near, near:], D)
            found[:, :, :three] += mixed
            found[:, :three, :] += mixed.mT
        found[:, :three, :three] += D.mT @ (H[:, near:, near:] @ D)
        h = inverse_dynamics_hessian(self.robot, self.q, self.v, self.a, G[:, TAU])
        q, v, a = slice(0, n), slice(n, 2 * n), slice(2 * n, three)
        found[:, q, q] += h.qq
        found[:, q, v] += h.qv
        found[:, v, q] += h.qv.mT
        found[:, v, v] += h.vv
        found[:, a, q] += h.aq
        found[:, q, a] += h.aq.mT
        if self.J is not None:
            g = G[:, :-1].reshape(N, near).copy()
            g[:, :three] += np.matmul(G[:, None, TAU], D)[:, 0]
            found = self.J.mT @ found @ self.J + self.coordinates.curvature(self.z, g.reshape(N, slots - 1, n))
        return found
