"""An optimal motion as a finite problem: the least f(y) with l ≤ c(y) ≤ u, y the free control points of a spline.

    f = Σ_k w_k T ℓ(x_k)                 c: limited numbers at every node k

With u(t) = Σ B_j P_j every node has 6 control points, so derivatives by y are sums of small blocks: those by z = (u, u̇, ü, …) of
a node, between the B_j there [LKPKB05]. Where the duration T is free, its logarithm σ is one more unknown: ∂z_d/∂σ = −d z_d.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.optimal_motions.nodes import Nodes, States
from torsor.motion.optimal_motions.splines import DEGREE, Spline
from torsor.motion.optimal_motions.terms import Term


@dataclass(frozen=True, eq=False)
class Unknowns:
    """Control points P (K, n) = fixed + free · Y, with Y (k, n) unknown; what the ends of a motion leave free."""

    free: Array
    fixed: Array

    def points(self, y: Array) -> Array:
        """P (K, n) of y (k n,) or more."""
        n = self.fixed.shape[1]
        return self.fixed + self.free @ y[: self.free.shape[1] * n].reshape(-1, n)

    def pulled(self, gradients: Array) -> Array:
        """Gradients (..., k, n) by Y of what has gradients (..., K, n) by the control points."""
        return gradients[..., self._chosen, :] if self._chosen is not None else self.free.T @ gradients

    @once
    def _chosen(self) -> Array | None:
        """Which control points the unknowns are, if they are no sums of them."""
        choice = np.all(self.free.sum(axis=0) == 1.0) and np.all((self.free == 0.0) | (self.free == 1.0))
        return np.argmax(self.free, axis=0) if choice else None


@dataclass(eq=False)
class Point:
    """The problem at some y: states, the cost, and all limited numbers (N, M)."""

    y: Array
    duration: float
    states: States
    cost: float
    densities: Array
    """ℓ at each node (N,)."""
    c: Array
    violation: float
    """The largest of all, in units of the scales."""


class Model(NamedTuple):
    """Derivatives at a point."""

    gradient: Array
    """Of the cost."""
    slope: Array
    """Of the Lagrangian f + Σ λ c."""
    H: Array
    """Of the Lagrangian."""


class Problem:
    """The problem with some nodes; `refined` has more of them."""

    def __init__(
        self,
        robot: Robot,
        spline: Spline,
        unknowns: Unknowns,
        anchor: Array,
        costs: tuple[tuple[float, Term], ...],
        terms: tuple[Term, ...],
        duration: float | None,
        orders: int,
        more: Array,
        size: float = 1.0,
    ) -> None:
        self.robot, self.spline, self.unknowns, self.anchor = robot, spline, unknowns, anchor
        self.costs, self.terms, self.duration, self.orders, self.size = costs, terms, duration, orders, size
        self.more = np.unique(np.concatenate([more, *(t.places for t in terms if t.places is not None)]))
        self.nodes = Nodes.of(spline, orders, self.more)
        self.starts = np.concatenate([[0], np.cumsum([term.size for term in terms])]).astype(int)
        N = len(self.nodes.s)
        self.lower, self.upper = np.full((N, self.width), -np.inf), np.full((N, self.width), np.inf)
        for k, term in enumerate(terms):
            at = slice(None) if term.places is None else np.isin(self.nodes.s, term.places)
            self.lower[at, self.columns(k)], self.upper[at, self.columns(k)] = term.lower, term.upper
        self.scale = np.concatenate([np.zeros(0), *(term.scale for term in terms)])

    @property
    def width(self) -> int:
        """How many limited numbers a node has."""
        return int(self.starts[-1])

    @property
    def count(self) -> int:
        """How many unknowns there are."""
        return int(self.unknowns.free.shape[1] * self.robot.nv + self.has_free_time)

    @property
    def has_free_time(self) -> bool:
        """Whether the duration is an unknown, by its logarithm, the last one."""
        return self.duration is None

    def columns(self, k: int) -> slice:
        """Where the numbers of a term are among all."""
        return slice(int(self.starts[k]), int(self.starts[k + 1]))

    def duration_of(self, y: Array) -> float:
        """How long the motion takes, s."""
        return float(np.exp(y[-1])) if self.duration is None else self.duration

    def refined(self, more: Array) -> Problem:
        """The same with more nodes."""
        more = np.union1d(self.more, more)
        return Problem(
            self.robot,
            self.spline,
            self.unknowns,
            self.anchor,
            self.costs,
            self.terms,
            self.duration,
            self.orders,
            more,
            self.size,
        )

    def states(self, y: Array, nodes: Nodes) -> States:
        """The robot at some nodes."""
        points, T = self.unknowns.points(y), self.duration_of(y)
        z = nodes.basis @ points[nodes.piece[:, None] + np.arange(DEGREE + 1)]
        return States(self.robot, self.anchor, z / T ** np.arange(self.orders)[:, None])

    def at(self, y: Array) -> Point:
        """The cost and what is limited."""
        x, T = self.states(y, self.nodes), self.duration_of(y)
        densities = sum((factor * term.values(x)[:, 0] for factor, term in self.costs), np.zeros(len(x.q)))
        c = self.limited(x)
        beyond = np.maximum(c - self.upper, self.lower - c) / self.scale
        cost = self.size * T * float(self.nodes.weights @ densities)
        return Point(y, T, x, cost, densities, c, max(0.0, float(beyond.max(initial=0.0))))

    def limited(self, x: States) -> Array:
        """The limited numbers (N, M)."""
        return np.concatenate([np.zeros((len(x.q), 0)), *(term.values(x) for term in self.terms)], axis=1)

    def model(self, p: Point, multipliers: Array) -> Model:
        """Derivatives of the cost and of the Lagrangian, with multipliers (N, M)."""
        cost_part, g, h = self.by_nodes(p, multipliers)
        gradient, slope = self._gathered(cost_part, p), self._gathered(g, p)
        if self.has_free_time:
            gradient[-1] += p.cost
            slope[-1] += p.cost
        H = self.form(h, p)
        return Model(gradient, slope, self._with_time(H, h, g, cost_part, p) if self.has_free_time else H)

    def by_nodes(self, p: Point, multipliers: Array) -> tuple[Array, Array, Array]:
        """Gradients of the cost and of the Lagrangian by z (N, orders, n), and the latter's Hessian (N, orders, n, orders, n)."""
        x, n = p.states, self.robot.nv
        N, slots = len(x.q), self.orders + 1
        G, H = np.zeros((N, slots, n)), np.zeros((N, slots * n, slots * n))
        for factor, term in self.costs:
            term.add(x, self.size * factor * p.duration * self.nodes.weights[:, None], G, H)
        cost_part = x.pulled(G)
        for k, term in enumerate(self.terms):
            own = multipliers[:, self.columns(k)]
            if own.any():
                term.add(x, own, G, H)
        return cost_part, x.pulled(G), x.pulled_twice(G, H).reshape(N, self.orders, n, self.orders, n)

    def rows(self, p: Point, node: Array, column: Array) -> Array:
        """Gradients (k, count) of limited numbers, each in units of its scale."""
        x, n = p.states, self.robot.nv
        slots = np.zeros((len(node), self.orders + 1, n))
        for k, term in enumerate(self.terms):
            mine = np.flatnonzero((column >= self.starts[k]) & (column < self.starts[k + 1]))
            if len(mine):
                slots[mine] = term.rows(x, node[mine], column[mine] - self.starts[k])
        dz = x.pulled(slots, node) / self.scale[column][:, None, None]
        K, b = self.spline.points, self._basis(p)[node]
        wide = np.zeros((len(node), K, n))
        places = self.nodes.piece[node][:, None] + np.arange(DEGREE + 1)
        wide[np.arange(len(node))[:, None], places] = b.mT @ dz
        found = self.unknowns.pulled(wide).reshape(len(node), -1)
        if not self.has_free_time:
            return found
        return np.column_stack([found, np.einsum("kdn,kdn->k", dz, self._by_time(x)[node])])

    def changes(self, p: Point, step: Array) -> Array:
        """Changes (N, M) of all limited numbers with a step, to first order, in their units."""
        n = self.robot.nv
        moved = self.unknowns.free @ step[: self.unknowns.free.shape[1] * n].reshape(-1, n)
        dz = self._basis(p) @ moved[self.nodes.piece[:, None] + np.arange(DEGREE + 1)]
        if self.has_free_time:
            dz = dz + step[-1] * self._by_time(p.states)
        dx = p.states.moved(dz)
        return np.concatenate([np.zeros((len(dx), 0)), *(t.changes(p.states, dx) for t in self.terms)], axis=1)

    def _basis(self, p: Point) -> Array:
        """Derivatives by time of the B_j (N, orders, p + 1)."""
        return self.nodes.basis / p.duration ** np.arange(self.orders)[:, None]

    def _by_time(self, x: States) -> Array:
        """∂z/∂σ (N, orders, n)."""
        return -np.arange(self.orders)[:, None] * x.z

    def _gathered(self, g: Array, p: Point) -> Array:
        """The gradient (count,) of a sum over nodes, of those by z (N, orders, n)."""
        n, pieces = self.robot.nv, self.nodes.piece
        blocks = np.add.reduceat(self._basis(p).mT @ g, self._firsts(), axis=0)
        total = np.zeros((self.spline.points, n))
        for piece, block in zip(np.unique(pieces).tolist(), blocks, strict=True):
            total[piece : piece + DEGREE + 1] += block
        found = self.unknowns.pulled(total).ravel()
        return np.append(found, np.vdot(g, self._by_time(p.states))) if self.has_free_time else found

    def form(self, h: Array, p: Point) -> Array:
        """The quadratic form of the control points that second derivatives h by z (N, orders, n, orders, n) add up to."""
        N, orders, n = h.shape[:3]
        K, width = self.spline.points, DEGREE + 1
        nodes, pairs = self._pairs
        by_time = p.duration ** -np.arange(orders, dtype=float)
        own = h.transpose(0, 1, 3, 2, 4) * (by_time[:, None] * by_time)[:, :, None, None]
        own = np.concatenate([own.reshape(N, orders * orders, n * n), np.zeros((1, orders * orders, n * n))])
        pieces, most = nodes.shape
        blocks = np.matmul(pairs, own[nodes].reshape(pieces, most * orders * orders, n * n))
        blocks = blocks.reshape(pieces, width, width, n, n)  # of functions j and l
        wide = np.zeros((K, K, n, n))
        for piece, block in enumerate(blocks):
            wide[piece : piece + width, piece : piece + width] += block
        near = self.unknowns.pulled(self.unknowns.pulled(wide.reshape(K, K, n * n)).swapaxes(0, 1))
        k = near.shape[0]
        H = near.reshape(k, k, n, n).transpose(1, 2, 0, 3).reshape(k * n, -1)
        return np.asarray(0.5 * (H + H.T))

    @once
    def _pairs(self) -> tuple[Array, Array]:
        """The nodes of each piece (pieces, m), N where there are fewer, and B_j⁽ᵈ⁾ B_l⁽ᵉ⁾ there: (pieces, (j, l), m (d, e))."""
        N, (counts, width) = (
            len(self.nodes.s),
            (np.bincount(self.nodes.piece, minlength=self.spline.pieces), DEGREE + 1),
        )
        first = np.cumsum(counts) - counts
        place = np.arange(counts.max())
        nodes = np.where(place < counts[:, None], first[:, None] + place, N)
        basis = np.concatenate([self.nodes.basis, np.zeros((1, self.orders, width))])[
            nodes
        ]  # (pieces, m, orders, p + 1)
        pairs = np.einsum("pmdj,pmel->pjlmde", basis, basis)
        return nodes, np.ascontiguousarray(pairs.reshape(self.spline.pieces, width * width, -1))

    def _with_time(self, H: Array, h: Array, g: Array, cost_part: Array, p: Point) -> Array:
        """With a row and a column of the logarithm of the duration."""
        orders = g.shape[1]
        dz, d = self._by_time(p.states), np.arange(orders)[:, None]
        hz = np.einsum("ndaeb,neb->nda", h, dz)
        # The cost has the factor T, by which its gradient comes twice.
        border = self._gathered(hz - d * g + cost_part, p)
        corner = np.vdot(hz, dz) - np.vdot(d * g, dz) + 2.0 * np.vdot(cost_part, dz) + p.cost
        found = np.zeros((len(H) + 1, len(H) + 1))
        found[:-1, :-1] = H
        found[:-1, -1] = found[-1, :-1] = border[:-1]
        found[-1, -1] = corner
        return found

    def _firsts(self) -> Array:
        """The first node of each piece."""
        return np.flatnonzero(np.diff(self.nodes.piece, prepend=-1))
