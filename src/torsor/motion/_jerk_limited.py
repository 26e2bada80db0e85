"""Time-optimal motions with bounded velocity, acceleration and jerk from any state to any other, by the library Ruckig."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration, GivenJointVector, GivenNumbers
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ArgumentError, needed
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.segments import Segments
from torsor.motion.tangent_motion import (
    TangentMotion,
    bound_of,
    common_batch,
    configurations_of,
    vectors_of,
    velocity_bound,
)

UNBOUNDED = 1e6  # rad/s or m/s, where there is no bound: Ruckig wants a number
PIECES = 9  # two that brake to within the bounds, and seven


class _Axes(NamedTuple):
    """What Ruckig moves: numbers one by one, every other joint as one number s from 0 to 1 along its screw."""

    of: Array
    """For each entry of v the axis that moves it (nv,)."""
    scale: Array
    """Its displacement per unit of the axis (nv,): 1, or that of the whole joint."""
    goals: Array
    """How far the axes go."""


@explained
def jerk_limited(
    robot: Robot,
    q0: GivenConfiguration,
    q1: GivenConfiguration,
    *,
    acceleration: GivenNumbers | None = None,
    jerk: GivenNumbers | None = None,
    velocity: GivenNumbers | None = None,
    v0: GivenJointVector | None = None,
    v1: GivenJointVector | None = None,
    a0: GivenJointVector | None = None,
    a1: GivenJointVector | None = None,
    duration: float | None = None,
    within_limits: bool = True,
) -> TangentMotion:
    """Motion from q0, v0, a0 to q1, v1, a1 in the least time within bounds of velocity, acceleration and jerk [BK21].

    Computed by the library Ruckig, pip install 'torsor[ruckig]'. Every joint with one number goes by itself, and all arrive at
    the same time, in general not along a straight line (`s_curve` goes straight). Spherical, free and planar joints move
    along one screw from rest to rest.

    Parameters
    ----------
    robot : Robot
    q0, q1 : (..., nq) array
        Where it begins and ends, rad or m. Each member of a batch takes its own time and rests then.
    acceleration, jerk : float or (nv,) array
        Bounds, rad/s² or m/s², rad/s³ or m/s³. A robot has none of its own.
    velocity : float or (nv,) array, optional
        Bounds, rad/s or m/s, beside the robot's limits.
    v0, v1 : (..., nv) array, optional
        Velocities at the ends, rad/s or m/s; zero if not given, and for joints with several numbers.
    a0, a1 : (..., nv) array, optional
        Accelerations at the ends, rad/s² or m/s², likewise.
    duration : float, optional
        The least that it may take, s.
    within_limits : bool
        Keep the robot's velocity limits.

    Returns
    -------
    TangentMotion
    """
    ruckig = needed("ruckig", "jerk-limited motions need Ruckig: pip install 'torsor[ruckig]'; without it, s_curve.")
    begin, end = configurations_of(robot, q0=q0, q1=q1)
    named = {"v0": v0, "v1": v1, "a0": a0, "a1": a1}
    rates = dict(zip(named, vectors_of(robot, **named), strict=True))
    bounds = _bounds(robot, velocity, acceleration, jerk, within_limits)
    if duration is not None:
        refuse_bad_numbers(duration=duration)
    _refuse_moving_screws(robot, rates)
    batch = common_batch({"q0": begin, "q1": end, **rates})
    d = np.broadcast_to(difference(robot, begin, end), (*batch, robot.nv)).reshape(-1, robot.nv)
    full = {name: np.broadcast_to(x, (*batch, robot.nv)).reshape(-1, robot.nv) for name, x in rates.items()}
    knots, c = np.zeros((len(d), PIECES + 1, robot.nv)), np.zeros((len(d), PIECES, 4, robot.nv))
    for k in range(len(d)):
        knots[k], c[k] = _solved(ruckig, robot, d[k], {name: x[k] for name, x in full.items()}, bounds, duration)
    knots, c = knots.reshape(*batch, *knots.shape[1:]), c.reshape(*batch, *c.shape[1:])
    anchors = np.broadcast_to(begin, (*batch, robot.nq))[..., None, :]
    return TangentMotion(robot, "jerk-limited", Segments(knots, c, anchors, own=True))


def _bounds(robot: Robot, velocity: Any, acceleration: Any, jerk: Any, within_limits: bool) -> Array:
    """Bounds (3, nv) of velocity, acceleration and jerk, all finite."""
    words = "Ruckig wants numbers."
    return np.stack(
        [
            np.minimum(velocity_bound(robot, velocity, within_limits), UNBOUNDED),
            bound_of(robot, "acceleration", acceleration, "acceleration", infinite=words),
            bound_of(robot, "jerk", jerk, "jerk", infinite=words),
        ]
    )


def _refuse_moving_screws(robot: Robot, rates: dict[str, Array]) -> None:
    for c, kind in robot.structure.blocks:
        if kind.has_screw:
            continue
        for name, x in rates.items():
            if np.any(x[..., c.v]):
                raise ArgumentError(
                    f"`{name}` must be zero for joint {c.name!r}: a {kind.name} joint moves along one screw, from rest to rest."
                )


def _solved(
    ruckig: Any, robot: Robot, d: Array, rates: dict[str, Array], bounds: Array, duration: float | None
) -> tuple[Array, Array]:
    """Knots (pieces + 1, nv) and coefficients (pieces, 4, nv) of one motion."""
    axes = _axes(robot, d)
    count = len(axes.goals)
    own = np.full((3, count), np.inf)  # the least bound of each axis
    moving = axes.scale != 0.0
    for k in np.flatnonzero(moving):
        own[:, axes.of[k]] = np.minimum(own[:, axes.of[k]], bounds[:, k] / abs(axes.scale[k]))
    own[:, np.isinf(own[0])] = 1.0  # at rest
    task = ruckig.InputParameter(count)
    for name, part in (
        ("v0", "current_velocity"),
        ("v1", "target_velocity"),
        ("a0", "current_acceleration"),
        ("a1", "target_acceleration"),
    ):
        values = np.zeros(count)
        values[axes.of] = rates[name]  # of screws, zero
        setattr(task, part, values.tolist())
    task.current_position, task.target_position = [0.0] * count, axes.goals.tolist()
    task.max_velocity, task.max_acceleration, task.max_jerk = own.tolist()
    if duration is not None:
        task.minimum_duration = float(duration)
    trajectory = ruckig.Trajectory(count)
    try:
        result = ruckig.Ruckig(count).calculate(task, trajectory)
    except ruckig.RuckigError as error:
        raise ArgumentError(f"Ruckig refuses this motion: {error}") from error
    if int(result) < 0:
        raise ArgumentError(f"Ruckig finds no such motion: {result}. Are v1 and a1 within the bounds, and reachable?")
    pieces = [_pieces(profile, trajectory.duration) for profile in trajectory.profiles[0]]
    knots, c = (np.stack([piece[part] for piece in pieces], axis=-1) for part in (0, 1))
    return knots[:, axes.of], c[:, :, axes.of] * axes.scale


def _axes(robot: Robot, d: Array) -> _Axes:
    of, scale = np.zeros(robot.nv, int), np.ones(robot.nv)
    goals: list[float] = []
    for c, kind in robot.structure.blocks:
        of[c.v] = len(goals)
        if kind.has_screw:
            goals.append(float(d[c.v_start]))
        else:
            scale[c.v] = d[c.v]
            goals.append(1.0 if np.any(d[c.v]) else 0.0)
    return _Axes(of, scale, np.array(goals))


def _pieces(profile: Any, duration: float) -> tuple[Array, Array]:
    """Knots (10,) and coefficients (9, 4) of one axis: the two pieces that brake, and the seven of the profile."""
    brake = profile.brake
    times = np.array([*brake.t, *profile.t])
    p, v, a, j = (
        np.array([*first, *last[:7]])
        for first, last in ((brake.p, profile.p), (brake.v, profile.v), (brake.a, profile.a), (brake.j, profile.j))
    )
    for k in (1, 0):  # where nothing brakes, its state is not filled in
        if times[k] == 0.0:
            p[k], v[k], a[k], j[k] = p[k + 1], v[k + 1], a[k + 1], 0.0
    knots = np.concatenate([[0.0], np.cumsum(times)])
    knots[-1] = duration  # the same for all axes, but for rounding
    h = np.diff(knots)
    return knots, np.stack([p, v * h, a * h**2 / 2.0, j * h**3 / 6.0], axis=-1)
