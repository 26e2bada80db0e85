"""Least time within limits of jerk too: halts, a first law, the speed along it, and what is between places."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.motion.time_optimality.corners import kinks_of
from torsor.motion.time_optimality.intervals import Grid
from torsor.motion.time_optimality.jerk_limited.between_places import Between, Shares
from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
from torsor.motion.time_optimality.jerk_limited.interior_point import LEAST_AT_REST, Found, least_time
from torsor.motion.time_optimality.jerk_limited.law import SmoothLaw
from torsor.motion.time_optimality.jerk_limited.places import Places, places_along
from torsor.motion.time_optimality.obstacles import RELAX, Obstacle
from torsor.motion.time_optimality.paths import Path
from torsor.motion.time_optimality.rows import JointLimits

MOST_PASSES = 3  # after the first
TOLERANCE = (
    3e-4  # part of a limit by which it may be left between places before it is drawn in there; the rest is slowed down
)
LEAST_LEFT = 0.2  # part of a limit that is left where it is drawn in
MOST_PLACES = 12_000  # of all paths that are worked on at the same time


class Smooth(NamedTuple):
    """What was found of each path: its law, or None, by how much limits are left (B,), and whether the search has settled."""

    laws: list[SmoothLaw | None]
    excess: Array
    settled: Array
    obstacles: dict[int, Obstacle]


class Given(NamedTuple):
    """What all paths have in common; ``inserted`` (k,) are s that motions are looked at besides even places."""

    robot: Robot
    grid: Grid
    intervals: int
    inserted: Array
    limits: JointLimits
    jerk: Array
    weights: Array


def smooth_laws(path: Path, given: Given, corners: list[Array], alone: bool) -> Smooth:
    """The laws of least time along paths whose ``corners`` are known, all with one first law, or each ``alone`` with its own."""
    if not corners:
        return _joined([])
    motion = path.at(given.grid.s)
    derivatives = [np.asarray(x, float).reshape(len(corners), len(given.grid.s), -1) for x in motion[1:]]
    if not np.all(np.isfinite(derivatives[2])):
        raise ArgumentError(
            "`path` must return its third derivative too where `jerk` is limited. With a spline of SciPy: "
            "path=lambda s: (spline(s), spline(s, 1), spline(s, 2), spline(s, 3))."
        )
    kinks = kinks_of(path, derivatives, given.grid, given.weights)
    halts = [np.union1d(*x) for x in zip(corners, kinks, strict=True)]
    if path.batch and (alone or any(len(x) for x in halts)):
        return _joined([_some(path.member(k), given, own) for k, own in enumerate(halts)])
    if not path.batch:
        return _some(path, given, halts[0])
    at_once = max(1, MOST_PLACES // (3 * len(given.grid.spacing)))
    parts = [path.only(slice(k, k + at_once)) for k in range(0, len(halts), at_once)]
    return _joined([_some(part, given, np.zeros(0)) for part in parts])


def _joined(parts: list[Smooth]) -> Smooth:
    laws, obstacles = list[SmoothLaw | None](), dict[int, Obstacle]()
    for part in parts:
        obstacles |= {len(laws) + k: reason for k, reason in part.obstacles.items()}
        laws += part.laws
    none = np.zeros(0)
    excess = np.concatenate([none, *(part.excess for part in parts)])
    return Smooth(laws, excess, np.concatenate([none > 0.0, *(part.settled for part in parts)]), obstacles)


def _some(path: Path, given: Given, halts: Array) -> Smooth:
    """The laws of one path, or of some that halt nowhere on the way."""
    law = FirstLaw.between(halts)
    breaks = law.breaks(given.intervals, np.union1d(path.knots, given.inserted))
    places = places_along(given.robot, path, law, breaks, given.limits, given.jerk)
    obstacles = _not_at_rest(places, law, given)
    held = np.array([k not in obstacles for k in range(places.batch)], bool)
    if not np.any(held):
        return Smooth([None] * places.batch, np.zeros(places.batch), held, obstacles)
    if not np.all(held):
        parts = [_some(path.member(k), given, halts) for k in range(places.batch)]
        return _joined(parts)
    between = Between(given.robot, path, law, breaks, given.limits, given.jerk)
    found, kept = least_time(places), np.zeros(places.batch, bool)
    for _ in range(MOST_PASSES):
        shares = between.shares(found.coefficients)
        kept |= shares.worst <= 1.0 + TOLERANCE
        if np.all(kept):
            break
        places = _drawn_in(places, shares)
        again = least_time(places)
        c = np.where(
            kept[:, None], found.coefficients, again.coefficients
        )  # those that are done do not wait for the others
        found = Found(c, np.where(kept, found.settled, again.settled))
    c, excess = between.slower(found.coefficients)
    laws: list[SmoothLaw | None] = [SmoothLaw(law, breaks, one) for one in c]
    return Smooth(laws, excess, found.settled, {})


def _drawn_in(places: Places, shares: Shares) -> Places:
    """Limits drawn in by as much as they were left in an interval."""
    count = len(places.breaks) - 1

    def spread(x: Array) -> Array:
        """The largest of each interval, at its three places (B · 3 N, n)."""
        found: Array = np.repeat(x.reshape(places.batch, count, x.shape[1] // count, -1).max(axis=2), 3, axis=1)
        return found.reshape(places.batch * count * 3, -1)

    given = dict(places.given)
    given["top"] = given["top"] * np.maximum(1.0, spread(np.abs(shares.velocity).max(axis=-1, initial=0.0))[:, 0]) ** 2
    limited = given["jerks"].shape[-1]
    beyond = np.maximum(1.0, spread(np.abs(shares.jerk)))
    given["jerks"] = given["jerks"] * beyond[:, None, places.jerked] if limited else given["jerks"]
    rows = given["rows"].copy()
    for row, (limit, k) in enumerate(places.labels):
        share = getattr(shares, limit)[..., k : k + 1]
        for side, bound in ((1.0, 3), (-1.0, 2)):
            less = np.maximum(0.0, spread(side * share)[:, 0] - 1.0)
            own = side * rows[:, bound, row]
            rows[:, bound, row] = side * np.maximum(own - less, LEAST_LEFT * own)
    return places._replace(given=given | {"rows": rows})


def _not_at_rest(places: Places, law: FirstLaw, given: Given) -> dict[int, Obstacle]:
    """Where the limits do not allow for rest, of each path."""
    rows = places.given["rows"].reshape(places.batch, len(places.weight), 4, places.sizes.rows)
    left = np.minimum(-rows[:, :, 2], rows[:, :, 3])
    w = (places.breaks[:-1, None] + np.diff(places.breaks)[:, None] * np.array([0.0, 0.5, 1.0])).ravel()
    found = {}
    for k in np.flatnonzero(left.min(axis=(1, 2), initial=1.0) <= LEAST_AT_REST).tolist():
        place, row = np.unravel_index(int(np.argmin(left[k])), left[k].shape)
        limit, joint = places.labels[int(row)]
        s, name = float(law.at(w[place : place + 1]).s[0]), given.robot.structure.freedoms[joint]
        reason = (
            f"gravity and friction alone take all of the {limit} limit of {name}. With a limit of jerk the robot must be able to "
            f"move slowly anywhere along the path. {RELAX}"
        )
        found[k] = Obstacle(s, name, limit, reason)
    return found
