"""Joint limits as they bind velocities over a step: l ≤ C v ≤ u, row by row, each with the limit it comes from.

Over a step dt with constant velocity, q̇ = G(q) v::

    |v − previous| ≤ a_max dt                               if there are such limits
    |v| ≤ v_max
    (lower − q_j) / dt ≤ G_j v ≤ (upper − q_j) / dt         numbers of q

the last exact for joints with one number; the place of planar and free joints moves so to first order in dt. With acceleration
limits it is less than that, so that the robot can still brake: (1) of `braking`. A number that is beyond its limit has not one
step but the time ``recovery`` to come back.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.braking import ROUNDING, velocity_towards
from torsor.control.priorities.joint_limit import NamedLimits, acceleration_limits_of, named_limits
from torsor.control.priorities.limit_rows import (
    LimitRows,
    Rank,
    all_rows,
    braking_of_numbers,
    gaps_of,
    no_further,
    rows_of_numbers,
    unit_rows,
)
from torsor.model import Robot
from torsor.model.remembered import remembered


def velocity_rows(
    robot: Robot,
    q: Array,
    dt: float,
    recovery: float,
    *,
    position: bool,
    velocity: bool,
    change: tuple[Array, Array] | None,
) -> LimitRows:
    """All limits of velocities over a step. ``change``: the velocities of the step before, and acceleration limits (nv,)."""
    named, nv, blocks = named_limits(robot), robot.nv, []
    if change is None and velocity and position and named.are_entries and len(named.v) and len(named.q):
        return _usual_case(robot, named, q, dt, recovery)
    if change is not None:
        previous, most = change
        at = np.flatnonzero(np.isfinite(most))
        pairs = acceleration_limits_of(robot, tuple(most.tolist()))
        own, reach = previous[..., at], most[at] * dt
        blocks.append(
            unit_rows(
                nv, at, own - reach, own + reach, tuple(pairs[k] for k in at), Rank.ACCELERATION, 1 / dt, -own / dt
            )
        )
    if velocity and len(named.v):
        blocks.append(_velocities(nv, named))
    if position and len(named.q):
        blocks.append(_positions(robot, named, q, dt, recovery, change))
    return all_rows(nv, blocks)


def _usual_case(robot: Robot, named: NamedLimits, q: Array, dt: float, recovery: float) -> LimitRows:
    """Limits of velocity and position of joints with one number: the same rows for every q, but for the bounds of positions."""
    usual, speed, before = _usual_rows(robot), named.speed, len(named.v)
    bounds = np.empty((2, *q.shape[:-1], before + len(named.q)))
    bounds[0, ..., :before], bounds[1, ..., :before] = -speed, speed
    own = q[..., named.q]
    gaps = np.empty((2, *own.shape))
    np.subtract(own, named.lower, out=gaps[0])
    np.subtract(named.upper, own, out=gaps[1])
    if gaps.min(initial=0.0) >= -ROUNDING:
        np.divide(np.maximum(gaps, 0.0, out=gaps), dt, out=bounds[..., before:])
        np.negative(bounds[0, ..., before:], out=bounds[0, ..., before:])
        return usual._replace(lower=bounds[0], upper=bounds[1])
    bounds[0, ..., before:], bounds[1, ..., before:], gaps = _bounds(named, q, dt, recovery, None, None)
    said = np.zeros((*q.shape[:-1], before + len(named.q), 2))
    np.minimum(gaps, 0.0, out=said[..., before:, :])
    return usual._replace(lower=bounds[0], upper=bounds[1], gaps=said)


@remembered(64)
def _usual_rows(robot: Robot) -> LimitRows:
    named = named_limits(robot)
    rows = all_rows(
        robot.nv, [_velocities(robot.nv, named), _positions(robot, named, np.zeros(robot.nq), 1.0, 1.0, None)]
    )
    return rows._replace(gaps=np.zeros(rows.gaps.shape))


def _velocities(nv: int, named: NamedLimits) -> LimitRows:
    speed = named.speed
    return unit_rows(nv, named.v, -speed, speed, named.of_v, Rank.VELOCITY, 1.0, np.zeros(len(named.v)))


def _bounds(
    named: NamedLimits, q: Array, dt: float, recovery: float, braking: Array | None, before: Array | None
) -> tuple[Array, Array, Array]:
    """Bounds of the rates of numbers of q (..., c), and their gaps (..., c, 2); ``before``: the rates of the step before."""
    gaps = gaps_of(named, q)
    if braking is None or before is None:
        rates = velocity_towards(gaps, dt, recovery, None, np.zeros(2))
        return *no_further(-rates[..., 0], rates[..., 1], gaps), gaps
    lower = -velocity_towards(gaps[..., 0], dt, recovery, braking, -before)
    upper = velocity_towards(gaps[..., 1], dt, recovery, braking, before)
    return *no_further(lower, upper, gaps), gaps


def _positions(
    robot: Robot, named: NamedLimits, q: Array, dt: float, recovery: float, change: tuple[Array, Array] | None
) -> LimitRows:
    G, c = rows_of_numbers(robot, named, q), len(named.q)
    braking, before = None, None
    if change is not None:
        braking, before = braking_of_numbers(named, change[1]), np.einsum("...cv,...v->...c", G, change[0])
    lower, upper, gaps = _bounds(named, q, dt, recovery, braking, before)
    said = gaps if braking is not None else np.minimum(gaps, 0.0)
    units = tuple(f"{upper.unit}/s" for _, upper in named.of_q)
    return LimitRows(
        G,
        lower,
        upper,
        said,
        np.ones(c),
        np.zeros(c),
        np.full(c, Rank.POSITION),
        named.entry,
        named.of_q,
        units,
    )
