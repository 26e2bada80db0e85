"""Splines through waypoints, twice continuously differentiable on every kind of joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, GivenJointVector, GivenNumbers
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.body_rates import Rates, body_rates, coordinate_rates
from torsor.motion.segments import Segments
from torsor.motion.spline_pieces import Curve, Ends, spline_pieces
from torsor.motion.tangent_motion import TangentMotion, numbers_of_waypoints, vectors_of

ENDS = ("clamped", "natural", "periodic")
CLOSED = 1e-9  # rad or m: how far the last waypoint of a periodic spline may be from the first


@explained
def spline(
    robot: Robot,
    times: GivenNumbers,
    waypoints: GivenNumbers,
    *,
    ends: str = "clamped",
    v0: GivenJointVector | None = None,
    v1: GivenJointVector | None = None,
    a0: GivenJointVector | None = None,
    a1: GivenJointVector | None = None,
) -> TangentMotion:
    """Motion through waypoints at given times, with continuous velocity and acceleration: the cubic spline [dB78, ch. IV; PR97].

    Spherical, free and planar joints move on their groups, by the short way from one waypoint to the next, and their acceleration
    is continuous as exactly as that of numbers.

    Parameters
    ----------
    robot : Robot
    times : (N,) array
        When the robot is at each waypoint, s: increasing, from 0 on.
    waypoints : (..., N, nq) array
        rad or m. One alone is a motion of duration 0.
    ends : str
        "clamped": with velocities ``v0`` and ``v1`` at the ends, zero if not given, and perhaps accelerations ``a0``, ``a1``.
        "natural": without acceleration at the ends. "periodic": the last waypoint is the first, with the same velocity
        and acceleration, and the motion repeats.
    v0, v1 : (..., nv) array, optional
        rad/s or m/s.
    a0, a1 : (..., nv) array, optional
        rad/s² or m/s². The first or last piece is then a quintic.

    Returns
    -------
    TangentMotion
    """
    refuse_unknown_word("ends", ends, ENDS)
    q = numbers_of_waypoints(robot, waypoints)
    refuse_zero_quaternions(robot, q, "`waypoints`: ")
    knots = knot_times(times, q.shape[-2])
    given = {"v0": v0, "v1": v1, "a0": a0, "a1": a1}
    conditions = end_conditions(ends, given, vectors_of(robot, **given))
    if len(knots) == 1:
        return _resting(robot, q)
    d = difference(robot, q[..., :-1, :], q[..., 1:, :])
    if ends == "periodic":
        _refuse_open(robot, difference(robot, q[..., 0, :], q[..., -1, :]))
    rates = [x for x in conditions[1:] if x is not None]
    try:
        d = np.broadcast_to(d, (*np.broadcast_shapes(d.shape[:-2], *(x.shape[:-1] for x in rates)), *d.shape[-2:]))
    except ValueError:
        raise ShapeError("the batch axes of `waypoints` and of the rates at the ends do not broadcast.") from None
    c = spline_pieces(_curve(robot), np.diff(knots), d, conditions)
    return TangentMotion(robot, "spline", Segments(knots, c, q[..., :-1, :]), ends == "periodic")


def _curve(robot: Robot) -> Curve:
    def to_body(u: Array, rates: Rates) -> Rates:
        return body_rates(robot, u, rates)

    def to_coordinates(u: Array, rates: Rates) -> Rates:
        return coordinate_rates(robot, u, rates)

    return Curve(to_body, to_coordinates, robot.structure.has_plain_velocities)


def _resting(robot: Robot, q: Array) -> TangentMotion:
    """At one waypoint for no time."""
    c = np.zeros((*q.shape[:-2], 1, 1, robot.nv))
    return TangentMotion(robot, "spline", Segments(np.zeros(2), c, q))


def _refuse_open(robot: Robot, gap: Array) -> None:
    far = np.abs(gap).reshape(-1, robot.nv).max(axis=0, initial=0.0)
    if np.any(far > CLOSED):
        k = int(np.argmax(far))
        raise ArgumentError(
            f"the last of periodic `waypoints` must be the first again, but {robot.structure.freedoms[k]} is "
            f"{far[k]:.3g} away. Append waypoints[..., :1, :], with its time; a whole turn of a joint makes no difference to "
            "where the robot is, but it does to numbers: such a motion is not periodic."
        )


def knot_times(times: Any, count: int) -> Array:
    """Times (N,) of N waypoints, increasing from 0."""
    try:
        knots = np.asarray(times, float)
    except (TypeError, ValueError):
        raise ShapeError(f"`times` must be numbers ({count},), got {times!r:.60}.") from None
    if knots.shape != (count,):
        raise ShapeError(f"`times` must have shape ({count},), one for each waypoint, got {knots.shape}.")
    if not np.all(np.isfinite(knots)) or knots[0] != 0.0 or np.any(np.diff(knots) <= 0.0):
        raise ArgumentError(
            f"`times` must increase from 0, s, got {np.array2string(knots, precision=4, threshold=6)}. "
            "Pass `times - times[0]`; two waypoints at one time cannot be."
        )
    return knots


def end_conditions(ends: str, given: Mapping[str, Any], numbers: list[Array]) -> Ends:
    """The conditions as arrays, if they go together."""
    allowed = {"clamped": ("v0", "v1", "a0", "a1"), "natural": (), "periodic": ()}[ends]
    for name, value in given.items():
        if value is not None and name not in allowed:
            raise ArgumentError(
                f'`{name}` belongs to ends="clamped"; with ends={ends!r} it follows from the waypoints.'
            )
    values = [None if given[name] is None else x for name, x in zip(given, numbers, strict=True)]
    return Ends(ends, *values)
