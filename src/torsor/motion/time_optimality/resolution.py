"""Where a grid is too coarse for a path, so that what happens within an interval would not be seen at its three places.

Within an interval q'' should be about a parabola: what three places say of it is then right. The cubic through q' and q'' at
both ends has in the middle::

    q'' = 3/2 (q'_right − q'_left)/Δ − (q''_left + q''_right)/4

and a path of which that is not true, or that turns a joint far within one interval, is looked at in shorter ones. It is always
true of polynomials of the fifth degree: these have some intervals in each piece.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.motion.time_optimality.arc_length import jumps
from torsor.motion.time_optimality.intervals import Grid, at_places, grid_with
from torsor.motion.time_optimality.paths import Path
from torsor.motion.time_optimality.rows import Derivatives, JointLimits

SEEN = 1e-4  # part of |q''| by which it may differ from that in the middle: forces then keep limits to some 1e-4
NEARBY = 0.1  # part of the largest |q''| that it counts as at least
ROUNDING = 1e-6  # part of |q'| that does not matter
FARTHEST = 0.25  # rad or m: how far a joint may go in an interval
QUINTIC, IN_A_PIECE = 6, 3  # coefficients, and intervals at least in a piece of a path in polynomials
PARTS = 4  # that an interval is cut into
SHORTEST = 1e-7  # of s: what is shorter is a corner, or a jump of q'', on whose sides the path is seen
MORE_PLACES = 8  # of an interval, where three may not tell enough
MOST = 20  # times as many intervals as were asked for, beside a thousand


def is_seen(path: Path, places: Derivatives, farthest: Array, grid: Grid, weights: Array) -> Array:
    """Whether each interval (N,) is short enough for all paths; ``farthest`` (B, 2 N + 1) is how far any joint goes by s."""
    count, longest = len(grid.spacing), float(grid.spacing.max())
    if longest * farthest.max(initial=0.0) <= FARTHEST:
        seen = np.ones(count, bool)
    else:
        speed = farthest[:, : count + 1].max(axis=0, initial=0.0)
        seen = np.maximum(speed[1:], speed[:-1]) * grid.spacing <= FARTHEST
    if path.pieces is None or path.pieces.segments.coefficients.shape[-2] > QUINTIC:
        seen &= _is_smooth(places, grid, weights)
    elif (pieces := np.diff(path.knots, prepend=0.0, append=1.0)).min() < IN_A_PIECE * longest:
        own = pieces[np.searchsorted(path.knots, grid.s[count + 1 :])]
        seen &= IN_A_PIECE * grid.spacing <= own * (1.0 + 1e-9)
    return seen | (grid.spacing < SHORTEST)


def _is_smooth(places: Derivatives, grid: Grid, weights: Array) -> Array:
    """Whether q'' is about a parabola in each interval (N,)."""
    _, first, second, _ = places
    size, length = (np.linalg.norm(x * weights, axis=-1) for x in (second, first))
    here = np.maximum(np.max(at_places(size), axis=0), NEARBY * size.max(axis=1, initial=0.0)[:, None])
    apart, rounding = jumps(first, second, grid, weights), ROUNDING * length.max(axis=1, initial=0.0)[:, None]
    fine: Array = np.all((1.5 * apart <= SEEN * here * grid.spacing) | (apart <= rounding), axis=0)
    # Where the difference changes its sign it says nothing: those next to one that is not fine are not either
    return fine & np.append(True, fine[:-1]) & np.append(fine[1:], True)


def finer(grid: Grid, seen: Array, intervals: int) -> Grid | None:
    """The grid with what was not ``seen`` (N,) cut into parts; None if that takes too many."""
    where = np.flatnonzero(~seen)
    if len(grid.spacing) + (PARTS - 1) * len(where) > MOST * intervals + 1000:
        return None
    inner = grid.points[where, None] + grid.spacing[where, None] * (np.arange(1, PARTS) / PARTS)
    return grid_with(np.union1d(grid.points, inner.ravel()))


def measured_excess(robot: Robot, path: Path, grid: Grid, x: Array, limits: JointLimits) -> Array:
    """By which part of a limit motions with x = ṡ² (B, N + 1) leave it at most at some more places of each interval (B, N)."""
    theta, whole = (np.arange(MORE_PLACES) + 0.5) / MORE_PLACES, np.flatnonzero(grid.spacing > SHORTEST)
    shape = (len(x), len(whole), MORE_PLACES)
    s = grid.points[whole, None] + grid.spacing[whole, None] * theta
    rise = np.diff(x, axis=1)[:, whole, None]
    square = (x[:, whole, None] + rise * theta)[..., None]
    u = (rise / (2.0 * grid.spacing[whole, None]))[..., None]
    q, first, second = (np.asarray(y, float).reshape(*shape, np.shape(y)[-1]) for y in path.at(s.ravel())[:3])
    v, a = first * np.sqrt(square), second * square + first * u
    parts = [np.abs(v) / limits.velocity, np.abs(a) / limits.acceleration]
    if np.any(np.isfinite(limits.effort)):
        parts.append(np.abs(inverse_dynamics(robot, q, v, a)) / limits.effort)
    found = np.full((len(x), len(grid.spacing)), -1.0)
    found[:, whole] = np.max([np.nan_to_num(part).max(axis=(2, 3), initial=0.0) for part in parts], axis=0) - 1.0
    return found
