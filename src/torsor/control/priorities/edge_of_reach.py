"""At the edge of what can be reached: what a level cannot have leads no joint past the place where its task turns back.

Least squares know J alone. Along a direction u of the task that is out of reach, u·J = σ n becomes small at the edge, and the
velocity u·ẏ/σ along n large. A step at that velocity passes the place where u·y is largest; beyond it σ has the other sign, and
the next step comes back: the robot shakes for ever. What J leaves out is the second order of a step T::

    u·y(q ⊕ v T) = u·y + T σ n·v + ½ T² v·H v,      H = u·∂J,   v·H v = u·J̇(v) v

and the least |ẏ − J v|² with it has, besides JᵀJ, the second derivative −T Σ (what is not attained)_i ∂J_i [NW06, (10.5)].
Directions in which the task turns back, −H > 0, are damped by just that::

    |ẏ − J v|² + μ T v·|K| v          K = −Σ_i w_i u_i·∂J, over weak directions i, w_i = u_i·ẏ what is wanted        (1)

With μ = 1 joints would be led in one step to where the task turns back; μ = 2 leads them half the way in each, and they come to
rest. |K| has the absolute eigenvalues of K, none below a tenth of the largest, so that no motion is large only because it bends
nothing. Along the n_i it is at least |w_i| |J̇(n_i) n_i|, which bounds what is asked of joints where the task bends on, or to the
side: beside a straight arm that is to fold, or an axis that the hand is on. T is the step. For accelerations it is the same with
T², T a few steps, and the motion is braked, s = −(2/√μ T) v: critically damped. Along eigenvectors whose curvature is raised to
a tenth of the largest the spring is weaker by that factor, and critical damping by its root; it is no less than a tenth. All of
it would hold back a posture that is left part of such a motion: with k_p = 16 and T = 10 ms to 16/140 of its way per second.
Where there are acceleration limits, T is longer by the time |v|/a_max that it takes to stop: v = φ/μT at a distance φ is then
v² ≈ ½ a_max φ, which can be braked.

A direction is weak if a step T would lead past its turning point: σ² < θ, with θ = μ T λ and λ the largest eigenvalue, to which
all counts that is not attained, whichever way: a level at its best has nothing left along n itself, and bends by the rest. And if
limits let it be so fast, σ |w| < θ |n·v|. The w_i, and the n_i, are weighted by 1 − σ_i²/θ, so that nothing jumps. Without weak
directions nothing is changed, and directions that are not weak are as exact as ever. Levels before this one hold on the way,
which bends it more: ∂J − J J_<⁺ ∂J_< in place of ∂J.

Lower levels may not move along e where K₊ e ≠ 0, with K₊ the positive part of K: to second order that would take from this
level. About an axis through a straight arm K₊ e = 0 at the edge itself, and no more than nearly so beside it, where a step of a
lower level leads. There e is reserved in part, by the logarithm of |K₊ e|; what that means is said in `hierarchy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array

SHARE = 2.0  # μ: in each step 1/μ of the way to where the task turns back
CURVED = 4.0  # times what is usual for a row, per rad: no curvature of a task is larger
ABOUT = 1.5  # times the curvature along its own motion: the largest of those that it is part of, or nearly
BENT = 0.05  # of what is usual for a row: a curvature that directions near their edge have at least
SEEN = 1e-7  # of what is usual for a row: less damping than its square is none
TURNED = 1e-5  # of what is usual for a row: a curvature with which the task turns back for certain
RELEASED = 1e4  # times less is no turning back
NEGLIGIBLE = 1e-9  # a share of this size is none
UNLIMITED = 1e100  # rad/s or rad/s²
LEAST = 0.1  # of the largest curvature, and of the braking: what the level itself moves along is damped by no less
TINY = 1e-6  # of a motion of length 1: what a joint does less of, it does not do
SOUND = 1e-3  # of what is usual for a row: less than that of the levels before is not followed
ITERATED = 2  # times: what is usual then counts but for 1e-18, as exactly as rounding allows


Bend = Callable[[Array], Array]


class Edge(NamedTuple):
    """What is known of a level with A x = b besides A and b, and of those before it."""

    A: Array
    bend: Bend
    """J̇(d) d (k, m) along directions d (k, n)."""
    before: Sequence[tuple[Array, Bend, float]]
    """A and the same of the levels before, and the usual length of their rows."""
    usual: float
    """The length of the rows of A, as it usually is."""
    factor: float
    """μ T for velocities, μ T² for accelerations."""
    aim: Array
    """The x (n,) for what is out of reach: 0 for velocities, −(2/√μ T) v for accelerations."""
    largest: Callable[[], Array]
    """The largest |x| (n,) that limits allow."""
    held: bool
    """Whether x are accelerations, whose torques are held for a step."""


class Split(NamedTuple):
    """A (m, n) along motions (k, n) at right angles: A motions_i = sizes_i U_i, 0 beyond the sizes (min(m, k),)."""

    motions: Array
    U: Array
    sizes: Array
    parts: Array
    """What is left to do (m,), along the U_i."""
    rank: int
    """How many sizes count: the motions after them are left to lower levels."""


class Kept(NamedTuple):
    """What is added to a level: |S x − s|², with S (r, n) and s (r,)."""

    S: Array
    s: Array
    reserved: Array
    """Rows (k, n), motions at right angles that lower levels may not change: along them the task turns back."""
    shares: Array
    """How far each of them is reserved (k,), above 0 and at most 1."""


def kept_at_edge(edge: Edge, split: Split, free: Array | None) -> Kept | None:
    """What to add to a level: the second term of (1). None if no direction is weak.

    ``free`` (n, f) is a basis of all motions that no limit is in the way of, None for all.
    """
    motions, U, sizes, parts, rank = split
    if (moving := _weak(edge, split)) is None:
        return None
    r, k = len(sizes), len(motions)
    squares, speeds = _padded(sizes * sizes, max(len(U), k)), _speeds(edge, motions)
    weak, moved = parts != 0.0, np.ones(k, bool)
    weak[:r], moved[:rank] = moving, moving[:rank]
    sizes = np.sqrt(squares[:k])
    N, U = motions[moved].T, U[:, weak]
    bent = _bent(edge, N, free)
    own = np.linalg.norm(np.diagonal(bent, axis1=1, axis2=2), axis=0) * np.abs(_padded(parts, k)[moved])
    most = max(float(np.abs(np.linalg.eigvalsh(np.tensordot(U @ parts[weak], bent, 1))).max()), float(own.max()))
    limit = edge.factor * most
    if limit <= (SEEN * edge.usual) ** 2:
        return None
    share = np.maximum(1.0 - squares / limit, 0.0)
    share[:k][limit * speeds < sizes * np.abs(_padded(parts, k))] = 0.0
    root = np.sqrt(share[:k][moved])
    K = -np.tensordot(U @ (share[: len(weak)] * parts)[weak], bent * np.outer(root, root), 1)
    values, vectors = np.linalg.eigh(K)
    own = own * share[:k][moved]
    most = max(float(np.abs(values).max()), float(own.max()))
    if edge.factor * most <= (SEEN * edge.usual) ** 2:
        return None
    damped = np.maximum(np.abs(values), LEAST * most)
    aside = np.maximum(own - (vectors**2) @ damped, 0.0)
    M = np.concatenate([np.sqrt(damped)[:, None] * vectors.T, np.diag(np.sqrt(aside))[aside > 0.0]])
    S = np.sqrt(edge.factor) * (M * root) @ N.T
    slower = np.ones(len(M))
    slower[: len(values)] = np.maximum(np.sqrt(np.abs(values) / damped), LEAST)
    left = int(np.count_nonzero(moved[:rank]))  # the first motion that the level leaves
    turned = TURNED * edge.usual * float(np.linalg.norm(parts[weak]))
    reserved, shares = _reserved((np.sqrt(np.maximum(values, 0.0)) * vectors).T, left, turned)
    return Kept(S, slower * (S @ edge.aim), reserved @ N[:, left:].T, shares)


def _reserved(root: Array, left: int, turned: float) -> tuple[Array, Array]:
    """Motions (k, ·) from ``left`` on along which the task turns back, and how far they are reserved (k,).

    ``root`` is R with RᵀR the positive part of K: what R leaves out changes no slope of the task, along no other motion.
    """
    sizes, Vt = np.linalg.svd(root.T @ root[:, left:])[1:]
    shares = np.array([share_of(size, turned / RELEASED, turned) for size in sizes.tolist()])
    return Vt[: len(shares)][shares > 0.0], shares[shares > 0.0]


def share_of(size: float, least: float, most: float, steep: int = 1) -> float:
    """How far a direction counts: not at all up to ``least``, fully from ``most`` on, and between 1 − (1 − r)^``steep``.

    r goes from 0 to 1 by the logarithm of size.
    """
    if size <= least:
        return 0.0
    left = max(1.0 - math.log(size / least) / math.log(most / least), 0.0) ** steep
    return 1.0 - left if left > NEGLIGIBLE else 1.0


def bent_along(edge: Edge, n: Array, free: Array | None) -> Array:
    """J̇(n) n (m,) along one motion n (n,), levels before held by ``free`` motions."""
    return np.asarray(_bent(edge, n[:, None], free)[:, 0, 0])


def _weak(edge: Edge, split: Split) -> Array | None:
    """Which of the directions that joints move (min(m, k),) may be weak, None if none is: (1) is not needed, most often."""
    motions, _, sizes, parts, _ = split
    r = len(sizes)
    squares, pulls = sizes * sizes, _not_attained(parts)[:r]
    turns: float | Array = edge.factor * CURVED * edge.usual
    weak = squares < turns * pulls
    if True not in weak.tolist():
        return None
    if not edge.before and len(likely := (weak & (sizes > 0.0)).nonzero()[0]):
        # How it bends along its own motion says in most cases that it does not turn back so soon.
        own = edge.bend(motions[likely])
        turns = np.full(r, turns)
        turns[likely] = edge.factor * np.maximum(ABOUT * np.sqrt(np.einsum("ij,ij->i", own, own)), BENT * edge.usual)
        weak &= squares < turns * pulls
        if True not in weak.tolist():
            return None
    weak &= sizes * np.abs(parts[:r]) < turns * pulls * _speeds(edge, motions[:r])
    return weak if True in weak.tolist() else None


def _not_attained(parts: Array) -> Array:
    """What bends a motion (m,): all that is left along its own direction and along those that joints move less, or not at all."""
    return np.asarray(np.sqrt(np.cumsum((parts * parts)[::-1])[::-1]))


def _padded(x: Array, size: int) -> Array:
    """The first numbers of x, or zeros after them."""
    return np.concatenate([x, np.zeros(max(size - len(x), 0))])[:size]


@cache
def _pairs(k: int) -> tuple[Array, Array]:
    return np.triu_indices(k)


def _speeds(edge: Edge, motions: Array) -> Array:
    """The largest |n·x| (k,) along motions n (k, n) that limits allow."""
    N = np.abs(motions)
    return np.asarray(np.where(N > TINY, N, 0.0).dot(np.minimum(edge.largest(), UNLIMITED)))


def _bent(edge: Edge, N: Array, free: Array | None) -> Array:
    """∂J (m, k, k) along the columns of N (n, k), symmetric in them, levels before held by ``free`` motions."""
    k = N.shape[1]
    first, second = _pairs(k)
    along = N[:, first].T + np.where(first == second, 0.0, N[:, second]).T
    values = edge.bend(along)
    if edge.before:
        J = np.concatenate([A / usual for A, _, usual in edge.before])
        held = np.concatenate([bend(along) / usual for _, bend, usual in edge.before], axis=-1)
        own = edge.A
        if free is not None:
            J, own = J @ free, own @ free
        # J J_<⁺ with what is nearly singular damped: levels before that are at their own edge hold nothing by it. Iterated, so
        # that a level that wants what one before it has, too, bends nothing: by SOUND² it would hold the posture for ever.
        damped, wanted = np.linalg.inv(J @ J.T + SOUND**2 * np.eye(len(J))), J @ own.T
        holding = damped @ wanted
        for _ in range(ITERATED):
            holding = damped @ (wanted + SOUND**2 * holding)
        values = values - held @ holding
    bent = np.zeros((values.shape[1], k, k))
    bent[:, first, second] = bent[:, second, first] = values.T
    own = bent[:, range(k), range(k)]
    both = 0.5 * (bent - own[:, :, None] - own[:, None, :])
    both[:, range(k), range(k)] = own
    return both
