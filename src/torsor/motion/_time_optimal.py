"""The least time in which a path can be followed, within the limits of the drives and the joints."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, GivenNumbers
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_strangers
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.motion.tangent_motion import OUTSIDE, bound_of, velocity_bound
from torsor.motion.time_optimality.arc_length import by_length, is_regular
from torsor.motion.time_optimality.corners import corners_of, halts_at
from torsor.motion.time_optimality.intervals import Grid, grid_of
from torsor.motion.time_optimality.jerk_limited.solution import Given, smooth_laws
from torsor.motion.time_optimality.joint_friction import depends_on_speed
from torsor.motion.time_optimality.obstacles import Obstacle, obstacle
from torsor.motion.time_optimality.paths import Path, path_of
from torsor.motion.time_optimality.profile import Ends, Profile, fastest_profile
from torsor.motion.time_optimality.report import TimeOptimalMotion
from torsor.motion.time_optimality.resolution import finer, is_seen, measured_excess
from torsor.motion.time_optimality.rows import Derivatives, JointLimits
from torsor.motion.time_optimality.speeds import Speeds, speeds_of, weights_of

SLACK = 1e-3  # part of a range of positions by which a path may leave it: planners keep it about as well between their points
COARSE = 100  # intervals, below which more places of each are looked at
KEPT = 5e-4  # part of a limit by which it may be left there
MOST_PLACES = (
    16_000  # of all paths that are worked on at the same time, so that what is known of them stays in the cache
)


@explained
def time_optimal(
    robot: Robot,
    path: Any,
    *,
    velocity: GivenNumbers | None = None,
    acceleration: GivenNumbers | None = None,
    effort: GivenNumbers | None = None,
    jerk: GivenNumbers | None = None,
    within_limits: bool = True,
    intervals: int = 1000,
    s_rate0: GivenNumbers = 0.0,
    s_rate1: GivenNumbers = 0.0,
) -> TimeOptimalMotion:
    """Motion along a path in the least time that limits of joint forces, velocities, accelerations and jerks allow [PP18; BDG85].

    Joint forces are those of `torsor.inverse_dynamics`, with gravity, friction, springs, armature and payload. The path is cut
    into intervals of constant s̈; limits are met between their ends too, to a ten-thousandth. Sets of speeds from which the end
    can be reached are found backward, then the motion goes forward as fast as these and the limits allow (TOPP-RA).

    With ``jerk`` an interior-point method goes from a slow motion to the fastest nearby [DVP13]. That motion keeps all limits; it
    is the least to a ten-thousandth for the intervals, but the problem is not convex: no proof excludes a faster one far away. It
    goes from rest to rest, halts where direction or curvature of the path jump, and the robot must be able to move slowly
    anywhere.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    path : array, Motion or function
        Waypoints (..., N, nq), through which a spline is led; a motion, whose time does not matter; or a function of numbers
        s (K,) from 0 to 1 that returns q (..., K, nq) and its derivatives q' and q'' by s (..., K, nv), perhaps q''' too.
    velocity, acceleration, effort : float or (nv,) array, optional
        Bounds beside the robot's limits, rad/s or m/s, rad/s² or m/s², N·m or N. A robot has none of acceleration of its own.
    jerk : float or (nv,) array, optional
        Bounds of the joints' jerks, rad/s³ or m/s³. A function must then return q''' too.
    within_limits : bool
        Keep the robot's limits of position, velocity and effort.
    intervals : int
        How many, at least; places where pieces of a path meet are added, and more where it turns sharply. Beside the least time a
        part of one interval is lost.
    s_rate0, s_rate1 : float or (...) array
        ṡ at the beginning and at the end, 1/s: 0 for rest.

    Returns
    -------
    TimeOptimalMotion
        With ``motion``, ``duration``, ``s`` and ``s_rate``; false, with the reason, if the path cannot be followed.
    """
    refuse_strangers(robot, instead=OUTSIDE)
    refuse_bad_count("intervals", intervals, 2, "`intervals` must be 2 or more")
    limits = _limits(robot, velocity, acceleration, effort, within_limits, jerk)
    rates = None if jerk is None else _jerk_limits(robot, jerk, s_rate0, s_rate1)
    problem = _posed(path_of(robot, path), int(intervals), limits)
    _refuse_bad_path(robot, problem.places.q, problem.grid, within_limits)
    squares = _squared("s_rate0", s_rate0, problem.path), _squared("s_rate1", s_rate1, problem.path)
    problem, found, obstacles = _followed(robot, problem, limits, squares)
    report = TimeOptimalMotion.of(problem.path, problem.grid, limits, problem.halts, found, obstacles)
    if rates is None or not report:
        return report
    given = Given(robot, problem.grid, int(intervals), problem.inserted, limits, rates, weights_of(limits.velocity))
    return report.with_jerk(rates, smooth_laws(problem.path, given, problem.corners, problem.by_length))


class _Posed(NamedTuple):
    """A path that never stands still in s, its grid, the points of it where the robot must halt (B, N + 1), and the places.

    ``corners`` are the s of halts, path by path; ``by_length`` is whether s is the part of the path's length; ``inserted``
    (k,) are points where even ones were too far apart, and ``is_seen`` is whether that was enough.
    """

    path: Path
    grid: Grid
    halts: Array
    places: Derivatives
    corners: list[Array]
    by_length: bool
    inserted: Array
    is_seen: bool

    def on(self, grid: Grid, limits: JointLimits) -> _Posed:
        """The same on a finer grid."""
        places, _ = _places(self.path, grid, limits.velocity, weights_of(limits.velocity))
        more = np.union1d(self.inserted, np.setdiff1d(grid.points, self.grid.points))
        return self._replace(grid=grid, halts=halts_at(grid.points, self.corners), places=places, inserted=more)


def _posed(path: Path, intervals: int, limits: JointLimits) -> _Posed:
    """The path by its own length if it stands still or jumps in s, with corners in its grid."""
    weights, grid = weights_of(limits.velocity), grid_of(intervals, path.knots)
    places, speeds = _places(path, grid, limits.velocity, weights)
    second = None if path.pieces is not None else places.second
    given, corners = path, [np.zeros(0)] * len(places.q)
    if not np.all(is_regular(speeds.square, places.first, second, grid, weights)):
        path = by_length(path, weights)
        grid = grid_of(intervals, path.knots)
        places, speeds = _places(path, grid, limits.velocity, weights)
        corners = corners_of(path, places.first, places.second, grid, weights)
        if any(len(x) for x in corners):
            grid = grid_of(intervals, path.knots, np.concatenate(corners))
            places, speeds = _places(path, grid, limits.velocity, weights)
    even = grid.points
    while not np.all(seen := is_seen(path, places, speeds.farthest, grid, weights)):
        closer = finer(grid, seen, intervals)
        if closer is None:
            break
        grid = closer
        places, speeds = _places(path, grid, limits.velocity, weights)
    halts = halts_at(grid.points, corners)
    inserted = np.setdiff1d(grid.points, even, assume_unique=True) if len(grid.points) > len(even) else np.zeros(0)
    return _Posed(path, grid, halts, places, corners, path is not given, inserted, bool(np.all(seen)))


def _places(path: Path, grid: Grid, velocity: Array, weights: Array) -> tuple[Derivatives, Speeds]:
    """Derivatives at all places, and how fast the path goes by there."""
    count = math.prod(path.batch)
    q, first, second = (np.asarray(x, float).reshape(count, len(grid.s), np.shape(x)[-1]) for x in path.places(grid))
    speeds = speeds_of(first, velocity, weights)
    return Derivatives(q, first, second, speeds.limit), speeds


def _followed(
    robot: Robot, problem: _Posed, limits: JointLimits, squares: tuple[Array, Array]
) -> tuple[_Posed, Profile, dict[int, Obstacle]]:
    """The profiles, on a finer grid where limits are left between its places; and that grid."""
    found, obstacles = _in_parts(robot, problem, limits, Ends(*squares, problem.halts))
    doubtful = not problem.is_seen or len(problem.grid.spacing) < COARSE or depends_on_speed(robot)
    intervals = len(problem.grid.spacing)
    while doubtful:
        beyond = measured_excess(robot, problem.path, problem.grid, found.x, limits)
        worst = beyond.max(axis=0, initial=0.0)
        closer = finer(problem.grid, worst <= KEPT, intervals) if np.any(worst > KEPT) and problem.is_seen else None
        if closer is None:
            found = replace(found, excess=beyond.max(axis=1, initial=-1.0))  # what is measured, not what parabolas say
            break
        problem = problem.on(closer, limits)
        found, obstacles = _in_parts(robot, problem, limits, Ends(*squares, problem.halts))
    return problem, found, obstacles


def _in_parts(robot: Robot, problem: _Posed, limits: JointLimits, ends: Ends) -> tuple[Profile, dict[int, Obstacle]]:
    """The profiles of all paths, some at a time."""
    grid = problem.grid
    at_once = max(1, MOST_PLACES // len(grid.s))
    parts, obstacles = [], {}
    for k in range(0, max(1, len(ends.start)), at_once):
        some = slice(k, k + at_once)
        places, own = Derivatives(*(x[some] for x in problem.places)), Ends(*(x[some] for x in ends))
        found = fastest_profile(robot, places, grid, limits, own)
        for j in np.flatnonzero(np.isnan(found.x[:, 0])).tolist():
            one = slice(j, j + 1)
            alone = Derivatives(*(x[one] for x in places)), Ends(*(x[one] for x in own))
            obstacles[k + j] = obstacle(robot, alone[0], grid, limits, found.only(one), alone[1])
        parts.append(found)
    return Profile.joined(parts), obstacles


def _jerk_limits(robot: Robot, jerk: Any, start: Any, end: Any) -> Array:
    """Bounds of jerk (nv,), for motions from rest to rest."""
    for name, rate in (("s_rate0", start), ("s_rate1", end)):
        if np.any(np.asarray(rate, float) != 0.0):
            raise ArgumentError(
                f"`{name}` must be 0 where `jerk` is limited, got {rate!r:.60}: such motions go from rest to rest."
            )
    return np.array(bound_of(robot, "jerk", jerk, "jerk"))


def _limits(robot: Robot, velocity: Any, acceleration: Any, effort: Any, within_limits: bool, jerk: Any) -> JointLimits:
    """All bounds, of which there must be some."""
    free = np.full(robot.nv, np.inf)
    own = np.array(robot.structure.limits.effort, float)
    own = np.where(own > 0.0, own, np.inf) if within_limits else free  # 0 is no limit
    found = JointLimits(
        np.array(velocity_bound(robot, velocity, within_limits)),
        free if acceleration is None else np.array(bound_of(robot, "acceleration", acceleration, "acceleration")),
        own if effort is None else np.minimum(own, bound_of(robot, "effort", effort, "effort")),
    )
    if jerk is None and not (np.any(np.isfinite(found.effort)) or np.any(np.isfinite(found.acceleration))):
        raise ArgumentError(
            f"robot {robot.name!r} has no limits of effort that hold here, and no bound of `acceleration` is given, so that "
            "velocities could jump: pass effort=... or acceleration=..., a number or one for each of "
            f"{', '.join(robot.structure.freedoms[:3])}{', …' * (robot.nv > 3)}."
        )
    return found


def _squared(name: str, rate: Any, path: Path) -> Array:
    """ṡ² at an end, of each path."""
    count = math.prod(path.batch)
    try:
        value = np.broadcast_to(np.asarray(rate, float), path.batch).reshape(count)
    except (TypeError, ValueError):
        raise ShapeError(f"`{name}` must be a number, or one for each path {path.batch}, got {rate!r:.60}.") from None
    if not np.all((value >= 0.0) & np.isfinite(value)):
        raise ArgumentError(f"`{name}` must be finite and not negative, 1/s, got {rate!r:.60}.")
    squared: Array = value * value
    return squared


def _refuse_bad_path(robot: Robot, q: Array, grid: Grid, within_limits: bool) -> None:
    """Refuse a path (B, 2 N + 1, nq) that is not finite or leaves the limits of position."""
    if not np.all(np.isfinite(q)):
        place = grid.s[int(np.argmax(np.any(~np.isfinite(q), axis=(0, 2))))]
        raise ArgumentError(f"`path` must be finite numbers, got NaN or infinity at s = {place:.4g}.")
    if not within_limits:
        return
    low, high = (np.array(bound, float) for bound in (robot.structure.limits.lower, robot.structure.limits.upper))
    beyond = np.maximum(q - high, low - q)
    if not np.any(beyond > 1e-9 + SLACK * np.where(np.isfinite(high - low), high - low, 0.0)):
        return
    _, place, k = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
    name = next(c.name for c in robot.structure.coordinates if c.q.start <= k < c.q.stop)
    raise ArgumentError(
        f"`path` leaves the limits of position: {name} is {beyond.max():.4g} beyond [{low[k]:.6g}, {high[k]:.6g}] at "
        f"s = {grid.s[place]:.4g}. Lead the path elsewhere, raise the limits by robot.with_limits(...), or pass "
        "within_limits=False."
    )
