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
from torsor.model import Robot
from torsor.resolution.braking import velocity_towards
from torsor.resolution.joint_limit import NamedLimits, acceleration_limits_of, named_limits
from torsor.resolution.limit_rows import (
    LimitRows,
    Rank,
    all_rows,
    braking_of_numbers,
    gaps_of,
    no_further,
    rows_of_numbers,
    unit_rows,
)


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
        speed = named.speed
        blocks.append(unit_rows(nv, named.v, -speed, speed, named.of_v, Rank.VELOCITY, 1.0, np.zeros(len(named.v))))
    if position and len(named.q):
        blocks.append(_positions(robot, named, q, dt, recovery, change))
    return all_rows(nv, blocks)


def _positions(
    robot: Robot, named: NamedLimits, q: Array, dt: float, recovery: float, change: tuple[Array, Array] | None
) -> LimitRows:
    gaps, G = gaps_of(named, q), rows_of_numbers(robot, named, q)
    c = len(named.q)
    braking, before = None, np.zeros(c)
    if change is not None:
        braking, before = braking_of_numbers(named, change[1]), np.einsum("...cv,...v->...c", G, change[0])
    lower = -velocity_towards(gaps[..., 0], dt, recovery, braking, -before)
    upper = velocity_towards(gaps[..., 1], dt, recovery, braking, before)
    lower, upper = no_further(lower, upper, gaps)
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
