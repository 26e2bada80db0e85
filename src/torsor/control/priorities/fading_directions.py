"""Directions that fade: how far a level has them, and how slowly it goes along them.

What is free to lower levels must not change at once. Where a level is at the edge of its reach, singular values of lower levels
go to 0 with each step, and what one of them gave up, the next one took, moved, and lost again: the robot moved in bursts. So a
level has a share of each direction, 0 ≤ φ ≤ 1: of a singular value from `RANK` (0) to `FADING` times that (1).

Continuous is not enough. Each step halves a singular value σ, and a lower level with a velocity V along what is released leads
it away again: σ ← σ/2 + c T V (1 − φ(σ)), with a curvature c and a step T. That settles, with (1 − φ) V small, only if its slope
½ − c T V φ′ is above −1; else it jumps from end to end, and V comes in bursts. With 1 − φ = (1 − r)^p, where r goes from 0 to 1
by the logarithm of σ over a range of ln f, the slope there is ½ − p ε^(−1/p)/(2 ln f) with ε = σ/(2 c T V), say 1e-3 to 1e-5:
−0.4 to −0.9 for p = 10 and f = 1e5, but −100 for p = 1 and f = 100. All that is taken from a level, σ (1 − φ), is at most
1.2e-9 of what is usual.

Accelerations are made by torques, which are held for a step while gravity and centrifugal forces go on changing. At an edge that
is held by a spring of the time T a motion V displaces σ by some m V dt T²: by 1e-7 to 1e-5 of what is usual at 1 rad/s, for
steps of 4 ms. No direction of that size can be held against a lower level: the level takes it, loses it, and the robot shakes
for ever. So of what is out of reach, and of nothing else, σ below `LOST` is left to lower levels, and up to `LOST_FADING` by a
share with p = 5 and f = 100. What a task still lacks along such a direction is of second order, σ²/2, 5e-9 of what is usual;
what lower levels take there is at most 1e-4 of what is usual for each rad/s², and nothing when they are at rest. Out of reach is
what `edge_of_reach` has, to the part 1 − σ²/θ; not what a motion bends towards, u·J̇(n) n > 0: beside a straight arm that is to
fold a slope of 1e-8 leads on.

Where limits are in the way of a level, directions of motions along these limits fade, and no others. Singular directions of all
motions mix them with what the limits hold. A joint at its limit, of which the level wants a hundred times what it can have, has a
part in each of them, and what these parts ask of the other joints adds up to their slope only if all count alike: of one alone
the sign may be the wrong one, and lead away from the edge.
"""

from __future__ import annotations

import math

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.edge_of_reach import LEAST, Edge, Kept, Split, bent_along, share_of
from torsor.control.priorities.limit_rows import Within

RANK = 1e-9  # singular values below this, relative to a level, are zero
FADING = 1e5  # times that: from there on they count fully
STEEP = 10  # the power by which shares come near to 1
FAINT = 1e4  # times that: below, a level asks for less speed the smaller they are
LOST, LOST_FADING, LOST_STEEP, LOST_FAINT = 1e5, 1e7, 5, 1e6  # the same of accelerations, for what is out of reach
TOWARDS = 0.05  # of what is usual, per rad: with this curvature a motion leads to what is wanted
MOST = 1e12  # times as slow: slower than that is at rest


def shares_of(split: Split, nothing: float, edge: Edge | None, free: Array | None) -> tuple[list[float], list[float]]:
    """A level's shares of its directions, falling with their sizes, and how far each is of what is out of reach, from 0 to 1."""
    shares, lost, least = [], [], 1.0
    for k, size in enumerate(split.sizes.tolist()):
        share, out = share_of(size, nothing, FADING * nothing, STEEP), 0.0
        if size < LOST_FADING * nothing and edge is not None and edge.held:
            out = _out_of_reach(split, k, edge, free)
            share = min(share, 1.0 - out * (1.0 - share_of(size, LOST * nothing, LOST_FADING * nothing, LOST_STEEP)))
        least = min(least, share)
        shares.append(least)
        lost.append(out)
    return shares, lost


def _out_of_reach(split: Split, k: int, edge: Edge, free: Array | None) -> float:
    """How far what is left along direction k and weaker ones is out of reach, from 0 to 1: not if its motion bends towards it."""
    left, size = split.parts[k:], float(split.sizes[k])
    lacking = float(np.linalg.norm(left))
    if size * size >= edge.factor * edge.usual * lacking:
        return 0.0
    towards = float(bent_along(edge, split.motions[k], free).dot(split.U[:, k:].dot(left))) / (lacking * edge.usual)
    return (1.0 - size * size / (edge.factor * edge.usual * lacking)) * min(max(1.0 - towards / TOWARDS, 0.0), 1.0)


def kept_rank(shares: list[float], released: float) -> tuple[int, float]:
    """How many directions with these shares, falling, a level keeps, and the least of their shares."""
    rank = sum(share > released for share in shares)
    return rank, shares[rank - 1] if rank else 1.0


def slowed(
    split: Split, lost: list[float], kept: Kept | None, nothing: float, x: Array, limits: Within | None
) -> Array:
    """What a level asks of its directions (rank,), of fading ones no more than limits allow along them from ``x`` on.

    Nor is any faster than if its size were usual, and the less of both the fainter it is. Else it would drive all joints to
    their limits for next to nothing: about axes that are in line but for rounding errors.
    """
    motions, _, sizes, parts, rank = split
    wanted = parts[:rank].copy()
    for k in range(rank):
        size, part, motion = float(sizes[k]), float(wanted[k]), motions[k]
        faint = size / ((FAINT + lost[k] * (LOST_FAINT - FAINT)) * nothing)
        if faint >= 1.0:
            continue
        room = abs(part) * RANK / nothing
        if limits is not None:
            room = min(room, limits.room(x, math.copysign(1.0, part) * motion))
        stiff = size * size + (0.0 if kept is None else float(np.sum((kept.S @ motion) ** 2)))
        wanted[k] = math.copysign(min(abs(part), stiff / size * room * faint / (1.0 - faint)), part)
    return wanted


def slowed_on_limits(
    edge: Edge, split: Split, lost: list[float], kept: Kept | None, nothing: float, x: Array, limits: Within | None
) -> Kept | None:
    """What is kept, with rows that make fading directions as slow as `slowed` does.

    They damp, since what is lacking belongs to directions that limits are in the way of, too.
    """
    motions, _, sizes, parts, rank = split
    slow = slowed(split, lost, kept, nothing, x, limits)
    rows, aims = [], []
    for k in (np.abs(slow) < np.abs(parts[:rank])).nonzero()[0].tolist():
        # σ² x = σ p without, and (σ² + d²) x = σ p with d is as slow as the part of p that is asked for.
        weight = float(sizes[k]) * math.sqrt(min(float(parts[k] / slow[k]) - 1.0 if slow[k] else MOST, MOST))
        rows.append(weight * motions[k])
        aims.append(LEAST * float(rows[-1] @ edge.aim))
    if not rows:
        return kept
    S, s = np.array(rows), np.array(aims)
    if kept is None:
        return Kept(S, s, S[:0], s[:0])
    return kept._replace(S=np.concatenate([kept.S, S]), s=np.concatenate([kept.s, s]))
