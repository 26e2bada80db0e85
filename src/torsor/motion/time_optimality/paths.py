"""Paths: where a robot is at every s from 0 to 1, and the derivatives by s, from waypoints, a motion or a function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.numbers import refuse_unknown, refuse_zero_quaternions
from torsor.errors import ArgumentError, ArgumentTypeError, ShapeError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion._spline import spline
from torsor.motion.motions import Motion, MotionState
from torsor.motion.segments import Segments
from torsor.motion.tangent_motion import TangentMotion, numbers_of_waypoints
from torsor.motion.time_optimality.intervals import Grid
from torsor.motion.time_optimality.polynomials import places_of_pieces

SAME = 1e-9  # rad or m: waypoints that are not farther apart are one
LOOKED_AT = np.array([0.173, 0.482, 0.829])  # where the derivatives of a function are compared with differences
STEP, LIKENESS = 1e-5, 1e-3


@dataclass(frozen=True, eq=False)
class Path:
    """A path of a robot.

    Attributes
    ----------
    robot : Robot
    at : function
        s (K,) or one number → q, q', q'', q''', as a `MotionState` with derivatives by s; batch axes come first.
    knots : (k,) array
        The s between 0 and 1 where the third derivative may jump.
    batch : tuple of int
        Batch axes, ().
    member : function
        The number of one path of a batch → the path alone.
    pieces : TangentMotion, optional
        The motion in numbers whose path it is: its derivatives by s do not jump but at most the second.
    own : Motion, optional
        The motion of all paths of a batch.
    """

    robot: Robot
    at: Callable[[Any], MotionState]
    knots: Array
    batch: tuple[int, ...]
    member: Callable[[int], Path]
    pieces: TangentMotion | None = None
    own: Motion | None = None

    def only(self, some: slice) -> Path:
        """Some paths of a batch, one after the other."""
        return _part_of(self, some)

    def places(self, grid: Grid) -> tuple[Array, Array, Array]:
        """q, q' and q'' at the places of a grid, (..., 2 N + 1, n) each."""
        return self.at(grid.s)[:3] if self.pieces is None else places_of_pieces(self.pieces, grid)


def path_of(robot: Robot, path: Any) -> Path:
    """The path that a user means."""
    if isinstance(path, Motion):
        return of_motion(robot, path)
    if callable(path):
        return of_function(robot, path)
    return of_motion(robot, _through(robot, path))


def of_motion(robot: Robot, motion: Motion) -> Path:
    """The path of a motion, s being the part of its duration."""
    own, s = motion.robot.structure, robot.structure
    if (own.freedoms, motion.robot.nq) != (s.freedoms, robot.nq):
        raise ArgumentError(
            f"`path` is a motion of robot {motion.robot.name!r}, whose joints are others than those of robot {robot.name!r}."
        )
    whole, start = motion.duration, motion._start
    if not whole > 0.0:
        raise ArgumentError("`path` must lead from one configuration to another, got a motion that lasts no time.")

    def at(x: Any) -> MotionState:
        q, v, a, jerk = motion.at(start + x * whole)
        return MotionState(q, whole * v, whole**2 * a, whole**3 * jerk)

    inner, pieces = np.zeros(0), None
    if isinstance(motion, TangentMotion) and motion.knots.ndim == 1 and not motion.segments.own:
        inner, pieces = _inner_knots(motion), motion if robot.structure.has_plain_velocities else None
    if pieces is not None:
        batch = np.broadcast_shapes(pieces.segments.coefficients.shape[:-3], pieces.segments.anchors.shape[:-2])
    else:
        batch = tuple(motion.at(np.array(start)).q.shape[:-1])
    found = Path(robot, at, inner, batch, lambda k: found, pieces)
    if batch:
        return replace(found, member=lambda k: _part_of(found, k), own=motion)
    return found


def of_function(robot: Robot, function: Callable[[Array], Any]) -> Path:
    """The path of a function s (K,) → q, q', q'' and perhaps q'''."""

    def at(x: Any) -> MotionState:
        said = function(x)
        if not isinstance(said, (tuple, list)) or len(said) not in (3, 4):
            raise ArgumentError(
                f"`path` must return q, q' and q'' (and perhaps q''') at s (K,), got {said!r:.60}. With a spline of SciPy: "
                "path=lambda s: (spline(s), spline(s, 1), spline(s, 2))."
            )
        q, *rates = said
        return MotionState(q, *rates, *([np.full_like(rates[0], np.nan)] if len(rates) == 2 else []))

    try:
        given = at(LOOKED_AT)
        state = MotionState(*(np.asarray(x, float) for x in given))
    except ArgumentError:
        raise
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(f"`path` must take s as an array (K,): {error}") from error
    for name, x, n in zip(("q", "q'", "q''"), state, (robot.nq, robot.nv, robot.nv), strict=False):
        if x.ndim < 2 or x.shape[-2:] != (len(LOOKED_AT), n):
            raise ShapeError(f"`path` must return {name} (..., K, {n}) for s (K,), got shape {x.shape} for K = 3.")
    refuse_zero_quaternions(robot, state.q, "`path`: ")
    batch = state.q.shape[:-2]
    _refuse_other_derivatives(robot, at, state)

    found = Path(robot, at, np.zeros(0), batch, lambda k: _part_of(found, k))
    return found


def _refuse_other_derivatives(robot: Robot, at: Callable[[Any], MotionState], state: MotionState) -> None:
    """Refuse derivatives that are not those of the function."""
    before, after = at(LOOKED_AT - STEP), at(LOOKED_AT + STEP)
    for name, value, expected in (
        ("q'", state.v, difference(robot, before.q, after.q) / (2.0 * STEP)),
        ("q''", state.a, (after.v - before.v) / (2.0 * STEP)),
    ):
        size = np.abs(expected).max(initial=0.0) + np.abs(state.v).max(initial=0.0)
        wrong = np.abs(value - expected).max(axis=tuple(range(value.ndim - 1)), initial=0.0)
        if not np.all(wrong <= LIKENESS * size):
            k = int(np.argmax(np.nan_to_num(wrong, nan=np.inf)))
            raise ArgumentError(
                f"`path` must return derivatives by s: its {name} is not the derivative of what it returns before it, at "
                f"{robot.structure.freedoms[k]} (compared with differences at s = 0.173, 0.482 and 0.829)."
            )


def _through(robot: Robot, waypoints: Any) -> TangentMotion:
    """The spline without acceleration at its ends through waypoints (..., N, nq), in steps of s as long as they are apart."""
    q = numbers_of_waypoints(robot, waypoints)
    refuse_unknown(q, "`path`")
    refuse_zero_quaternions(robot, q, "`path`: ")
    apart = np.linalg.norm(difference(robot, q[..., :-1, :], q[..., 1:, :]), axis=-1)
    batch = tuple(range(apart.ndim - 1))
    kept = np.flatnonzero(np.concatenate([[True], (apart.max(axis=batch, initial=0.0) > SAME) | (apart.size == 0)]))
    if len(kept) < 2:
        raise ArgumentError("`path` must have two waypoints that are apart, got one place.")
    between = np.linalg.norm(difference(robot, q[..., kept[:-1], :], q[..., kept[1:], :]), axis=-1)
    total = between.sum(axis=-1, keepdims=True)
    shares = np.divide(between, total, out=np.zeros_like(between), where=total > 0.0).sum(axis=batch)
    shares = np.where(shares > 0.0, shares, 1.0 if not between.size else SAME)
    times = np.concatenate([[0.0], np.cumsum(shares)]) / shares.sum()
    return spline(robot, times, q[..., kept, :], ends="natural")


def _inner_knots(motion: TangentMotion) -> Array:
    s = motion.knots / motion.duration
    return np.unique(s[(s > 0.0) & (s < 1.0)])


def _part_of(whole: Path, which: int | slice) -> Path:
    """One path of a batch, or some, one after the other; without computing the others where a motion is made of pieces."""
    if isinstance(motion := whole.own, TangentMotion):
        x = motion.segments
        own = 2 if x.own else 1
        knots = x.knots if x.knots.ndim == own else _part(x.knots, own, whole.batch, which)
        c, anchors = (_part(y, trailing, whole.batch, which) for y, trailing in ((x.coefficients, 3), (x.anchors, 2)))
        alone, T = (
            TangentMotion(motion.robot, motion.kind, Segments(knots, c, anchors, x.own), motion.periodic),
            motion.duration,
        )

        def at(s: Any) -> MotionState:
            q, v, a, jerk = alone.at(s * T)
            return MotionState(q, T * v, T**2 * a, T**3 * jerk)

    else:

        def at(s: Any) -> MotionState:
            return MotionState(*(_part(y, y.ndim - len(whole.batch), whole.batch, which) for y in whole.at(s)))

    if isinstance(which, slice):
        numbers = range(math.prod(whole.batch))[which]
        return Path(whole.robot, at, whole.knots, (len(numbers),), lambda k: whole.member(numbers[k]))
    found = Path(whole.robot, at, whole.knots, (), lambda _: found)
    return found


def _part(values: Array, trailing: int, batch: tuple[int, ...], which: int | slice) -> Array:
    """A member of a batch, or some of its members, one after the other."""
    own = values.shape[values.ndim - trailing :]
    found: Array = np.broadcast_to(values, (*batch, *own)).reshape(math.prod(batch), *own)[which]
    return found
