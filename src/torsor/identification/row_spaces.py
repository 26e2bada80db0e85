"""What joint forces can depend on, the row space of a robot's regressor: from its structure alone, or from random states.

From the structure, without any state. No joint force depends on a change of the parameters π if and only if the change makes
no kinetic energy and no gradient of potential energy: M(q) ≡ 0 and ∂U(q) ≡ 0. Both are sums over the joints c of terms
[PBP95, (40)]

    M_kc = S_cᵀ G_c J_k,   ∂_c U = −S_cᵀ G_c (0, g),

k at or before c, where the inertia G_c of everything beyond joint c depends on the coordinates beyond c, and the screw J_k and
gravity, seen from link c, on those up to c. As the two sets of coordinates are independent (no mimic joints), each
b = φ(w, S_c) (`lie.energy_row`) for w in the span W_c of all such J_k and (0, g) must annihilate G_c at all configurations. And

    G_l = π_l + Σ X(M_c) e^{q_c L_c} G_c,   over the children c of l,

L_c the map Ġ = L_c G of the joint's screw (`lie.inertia_rate`). So b·G_l can only be zero, or constant, if each child's share
is constant: with K_l the b for which b·G_l is constant, and Z_l ⊂ K_l those for which it is zero,

    W_c = closure of Ad(M_c)⁻¹ W_l under ad(S_c), and S_c            W_base = (0, g)
    K'  = closure of X(M_c)ᵀ K_l under L_cᵀ                          K_base = 0
    Z_c = φ(W_c, S_c) + L_cᵀ K'
    K_c = Z_c + K'

The span of all values of e^{qL} on a space is its closure under L, and the span of all differences is L of that. This holds for
every kind of joint, for the motions of each make a group: joints with several screws have several L. What is left are the
equations b·G_l = 0 at home, b in a basis of Z_l; π ↦ (G_1, …, G_n) at home is invertible, so they are independent, and the
number of base parameters is Σ dim Z_l. The question, and the recursion over attainable motions of links, are of [WNS17].

Which parameters stand for all: the columns of the regressor that are kept, and how the others join them.

If the rows of A span all that joint forces depend on, Y = C A, then for columns K with A_K invertible Y = Y_K A_K⁻¹ A: the
parameters β = A_K⁻¹ A π have the regressor Y_K, and contain the kept parameters with coefficient 1.

Kept are the first independent columns from the base outwards, in each link moments of inertia before first moments before mass:
what a joint cannot tell from a part of the link before it joins that link, as in the textbooks [GK90; Gau91]. Of a link behind
a joint about its z axis, Iyy, m c_z and m go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.mechanics.regressors.torque_regressors import torque_regressor
from torsor.model import Robot, random_state
from torsor.model.structure import Limits

_ROWS, _TWISTS = np.eye(10), np.eye(6)
POWERS = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # of the metre in m, m c and I


class RowSpace(NamedTuple):
    """The parameters that joint forces depend on: orthonormal ``rows`` (r, 10 n), for π in kg and lengths of ``unit`` m."""

    rows: Array
    unit: float
    gap: Gap


class Link(NamedTuple):
    """A link as the recursion sees it, lengths in units of the robot's: its parent, home pose (4, 4) and screws (k, 6)."""

    parent: int
    pose: Array
    screws: Array


class Spaces(NamedTuple):
    """Of each link, twists and pull of gravity that reach it, W (r, 6); and the rows Z (r, 10) that must annihilate G."""

    W: list[Array]
    Z: list[Array]
    gap: Gap


def structural_row_space(robot: Robot, tolerance: float) -> RowSpace:
    """The row space of the regressor over all states of a robot without mimic joints."""
    unit = length_unit(robot)
    links = links_of(robot, unit)
    spaces = annihilated(links, robot.parameters.gravity, tolerance)
    rows = np.zeros((sum(len(Z) for Z in spaces.Z), 10 * robot.n))
    start = 0
    for Z, beyond in zip(spaces.Z, _composites(links), strict=True):
        for j, X in beyond.items():
            rows[start : start + len(Z), 10 * j : 10 * j + 10] = Z @ X
        start += len(Z)
    return RowSpace(np.linalg.qr(rows.T)[0].T, unit, spaces.gap)


def annihilated(links: list[Link], gravity: Array, tolerance: float) -> Spaces:
    """The spaces W and Z of all links, by the recursion from the base outwards."""
    size = float(np.linalg.norm(gravity))
    base_W = np.concatenate([np.zeros(3), gravity / size])[None] if size else np.zeros((0, 6))
    found = Subspaces(tolerance)
    W: list[Array] = []
    K: list[Array] = []
    Z: list[Array] = []
    for l, M, S in links:
        W_l, K_l = (base_W, np.zeros((0, 10))) if l < 0 else (W[l], K[l])
        ad = [lie.bracket(S_j, _TWISTS).T for S_j in S]
        L = [lie.inertia_rate(_ROWS, S_j).T for S_j in S]
        carried = found.closure(lie.transform_twist_inverse(M, W_l), ad)
        W.append(found.sum(carried, S))
        constant = found.closure(K_l @ _transform(M), [L_j.T for L_j in L])
        own = np.concatenate([lie.energy_row(W[-1], S_j) for S_j in S])
        Z.append(found.span(np.concatenate([own, *(constant @ L_j for L_j in L)])))
        K.append(found.sum(Z[-1], constant))
    return Spaces(W, Z, found.gap)


def links_of(robot: Robot, unit: float) -> list[Link]:
    """The links, with lengths in ``unit`` and screws of length 1: tolerances then mean the same for every robot."""
    links = []
    for i, parent in enumerate(robot.structure.parents):
        pose = np.array(robot.parameters.poses[i])
        pose[:3, 3] /= unit
        S = np.array(joint_screws(robot, i))
        turns = np.any(S[:, :3] != 0.0, axis=1)
        S[turns, 3:] /= unit
        links.append(Link(parent, pose, S / np.linalg.norm(S, axis=1, keepdims=True)))
    return links


def length_unit(robot: Robot) -> float:
    """A length typical of the robot, m: the mean distance of link frames from their parents' that are apart at all."""
    distances = np.linalg.norm(robot.parameters.poses[:, :3, 3], axis=1)
    apart = distances[distances > 1e-9 * max(1.0, distances.max())]
    return float(apart.mean()) if apart.size else 1.0


def scales(n: int, unit: float) -> Array:
    """What π (10 n,) is multiplied with to be in kg and lengths of ``unit``."""
    return np.tile(unit ** -POWERS.astype(float), n)


def _transform(T: Array) -> Array:
    """X(T) (10, 10) with X(T) G the inertia G, seen from the frame in which its own is at T."""
    return lie.transform_inertia(T, _ROWS).T


def _composites(links: list[Link]) -> list[dict[int, Array]]:
    """Of each link l, X (10, 10) for every link j at or beyond it: G_l = Σ X_j π_j at home."""
    beyond: list[dict[int, Array]] = [{i: _ROWS} for i in range(len(links))]
    for i in reversed(range(len(links))):
        parent, M, _ = links[i]
        if parent >= 0:
            X = _transform(M)
            beyond[parent] |= {j: X @ X_j for j, X_j in beyond[i].items()}
    return beyond


# Subspaces of ℝᵏ as orthonormal rows, grown by vectors and closed under linear maps, with a record of how clear it was.


class Gap(NamedTuple):
    """How clearly what counts and what does not are told apart: the smallest of the first, the largest of the second.

    Both relative, 1 being a full effect; ``kept`` is infinite and ``dropped`` zero where there is none.
    """

    kept: float
    dropped: float

    @property
    def ratio(self) -> float:
        """Ratio of the two; infinite if nothing was dropped but zeros."""
        return self.kept / self.dropped if self.dropped else float("inf")


class Subspaces:
    """Operations on subspaces that take what is shorter than ``tolerance`` for zero, and remember how close that was."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.gap = Gap(float("inf"), 0.0)

    def sum(self, space: Array, vectors: Array) -> Array:
        """Orthonormal rows of span(space, vectors): ``space`` (r, k) orthonormal, ``vectors`` (s, k) of length about 1."""
        left = vectors - (vectors @ space.T) @ space
        left = left - (left @ space.T) @ space  # twice is enough: the first leaves rounding errors of size 1 · ε
        _, sizes, directions = np.linalg.svd(left, full_matrices=False)
        fresh = sizes > self.tolerance
        self._note(sizes[fresh], sizes[~fresh])
        return np.concatenate([space, directions[fresh]])

    def span(self, vectors: Array) -> Array:
        """Orthonormal rows (r, k) of the span of ``vectors`` (s, k)."""
        return self.sum(np.zeros((0, vectors.shape[1])), vectors)

    def closure(self, vectors: Array, maps: Sequence[Array]) -> Array:
        """Orthonormal rows of the smallest space with ``vectors`` (s, k) in it that the ``maps`` (k, k) map into itself."""
        space, done = self.span(vectors), 0
        while done < len(space):
            fresh, done = space[done:], len(space)
            space = self.sum(space, np.concatenate([fresh @ A.T for A in maps]))
        return space

    def _note(self, kept: Array, dropped: Array) -> None:
        smallest, largest = (
            (float(kept.min()) if kept.size else np.inf),
            (float(dropped.max()) if dropped.size else 0.0),
        )
        self.gap = Gap(min(self.gap.kept, smallest), max(self.gap.dropped, largest))


# What joint forces can depend on, from the numerical rank of a regressor stacked over random states [Gau91].

LEAST = 64  # states: more than any one joint force can need for the parameters of its own link
ROWS_PER_COLUMN = 3
AT_ONCE = 2_000_000  # numbers of a regressor that are held together
SHORT = 0.3  # of the longest column: shorter ones are weighted as if they were so long


def numerical_row_space(robot: Robot, tolerance: float, seed: int) -> RowSpace:
    """The row space of the regressor at enough random states: right singular vectors with values above ``tolerance``.

    Columns are made about equally long, so that light and heavy, long and short count alike; but a column that is nearly
    zero stays so. Joint limits are not heeded: the regressor is an analytic function, and what it depends on within the
    limits it depends on everywhere.
    """
    unit = length_unit(robot)
    triangle = stacked_regressor(robot, seed) / scales(robot.n, unit)
    lengths = np.linalg.norm(triangle, axis=0)
    lengths = np.maximum(lengths, SHORT * lengths.max())
    _, sizes, directions = np.linalg.svd(triangle / lengths, full_matrices=False)
    sizes = sizes / sizes[0]
    rank = int(np.sum(sizes > tolerance))
    rows = directions[:rank] * lengths
    dropped = float(sizes[rank]) if rank < len(sizes) else 0.0
    return RowSpace(np.linalg.qr(rows.T)[0].T, unit, Gap(float(sizes[rank - 1]), dropped))


def stacked_regressor(robot: Robot, seed: int) -> Array:
    """The triangular factor (≤ 10 n, 10 n) of the regressor at random states, one below the other."""
    s, columns = robot.structure, robot.n_inertial_parameters
    free = np.full(robot.nq, np.inf)
    no_limits = Limits(tuple(-free), tuple(free), s.limits.velocity, s.limits.effort)
    states = max(LEAST, -(-ROWS_PER_COLUMN * columns // robot.nv))
    unlimited = Robot(replace(s, limits=no_limits), robot.parameters)
    q, v, a = random_state(unlimited, seed=seed, batch=(states,))
    triangle: Array = np.zeros((0, columns))
    step = max(1, AT_ONCE // (columns * robot.nv))
    for some in range(0, states, step):
        part = slice(some, some + step)
        Y = np.broadcast_to(
            torque_regressor(robot, q[part], v[part], a[part]), (len(q[part]), robot.nv, columns)
        ).reshape(-1, columns)
        triangle = np.linalg.qr(np.concatenate([triangle, Y]), mode="r")
    return triangle


IN_LINK = (4, 5, 6, 7, 8, 9, 1, 2, 3, 0)
CLEAR = (1e-2, 1e-4, 1e-6, 1e-9)  # how far from the span of those before: clearly independent columns go first
SMALL = 0.1  # of orthonormal rows, shorter columns must stand out as if they were so long: they may be almost none
ROUNDING = 1e-11  # of a coefficient in the robot's units: what should have been zero


class Regrouping(NamedTuple):
    """``columns`` (count,) that are kept, in order, and ``matrix`` (count, 10 n) with β = matrix π, in SI units."""

    columns: Array
    matrix: Array


def regrouped(space: RowSpace) -> Regrouping:
    """The kept columns of a row space, and the base parameters that go with them."""
    A = space.rows
    n = A.shape[1] // 10
    columns = np.sort(_independent(A, [10 * link + k for link in range(n) for k in IN_LINK]))
    matrix = np.linalg.solve(A[:, columns], A)
    matrix = np.where(np.abs(matrix) > ROUNDING, matrix, 0.0)
    matrix[:, columns] = np.eye(len(columns))
    per = scales(n, space.unit)
    return Regrouping(columns, matrix * per / per[columns][:, None])


def _independent(A: Array, order: list[int]) -> Array:
    """Columns of A (r, k), r of them and independent: the first in this order that are so clearly."""
    basis = np.zeros((0, len(A)))
    kept: list[int] = []
    for clear in CLEAR:
        for j in order:
            size = float(np.linalg.norm(A[:, j]))
            if len(kept) == len(A) or j in kept or size < CLEAR[-1]:
                continue
            left = A[:, j] - basis.T @ (basis @ A[:, j])
            left = left - basis.T @ (basis @ left)
            if np.linalg.norm(left) > clear * max(size, SMALL):
                kept.append(j)
                basis = np.concatenate([basis, left[None] / np.linalg.norm(left)])
    return np.array(kept, dtype=int)
