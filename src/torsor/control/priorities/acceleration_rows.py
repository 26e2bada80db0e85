"""Joint limits as they bind accelerations over a step: l ≤ C a ≤ u, row by row, each with the limit it comes from.

Over a step dt with constant acceleration::

    |a| ≤ a_max                     if there are such limits
    |v + a dt| ≤ v_max              a velocity beyond its limit comes back over the time ``recovery``
    |M a + h(q, v)| ≤ τ_max         h with gravity, Coriolis forces and friction; rows are divided by |M_k|
    l_j ≤ G_j a + Ġ_j v ≤ u_j       numbers of q, that they can still brake: (2) or (3) of `braking`

q̈_j = G_j a + Ġ_j v is a itself for joints with one number. The place of planar and free joints has ṗ = R v_p, so that Ġ v is
R (ω × v_p).
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.braking import ROUNDING, acceleration_towards
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
from torsor.functions.public import dynamics, kinematics
from torsor.model import Robot


def acceleration_rows(
    robot: Robot,
    q: Array,
    v: Array,
    dt: float,
    recovery: float,
    *,
    position: bool,
    velocity: bool,
    effort: bool,
    most: Array,
) -> LimitRows:
    """All limits of accelerations over a step; ``most`` (nv,) are acceleration limits, infinite where there is none."""
    named, nv, blocks = named_limits(robot), robot.nv, []
    if effort and len(named.tau):
        blocks.append(_efforts(robot, named, q, v))
    at = np.flatnonzero(np.isfinite(most))
    if len(at):
        pairs = acceleration_limits_of(robot, tuple(most.tolist()))
        blocks.append(
            unit_rows(
                nv, at, -most[at], most[at], tuple(pairs[k] for k in at), Rank.ACCELERATION, 1.0, np.zeros(len(at))
            )
        )
    if velocity and len(named.v):
        blocks.append(_velocities(robot, named, v, dt, recovery, most))
    if position and len(named.q):
        blocks.append(_positions(robot, named, q, v, dt, recovery, most, velocity))
    return all_rows(nv, blocks)


def _efforts(robot: Robot, named: NamedLimits, q: Array, v: Array) -> LimitRows:
    at = named.tau
    M = dynamics.mass_matrix(robot, q)[..., at, :]
    h = dynamics.inverse_dynamics(robot, q, v, np.zeros(robot.nv))[..., at]
    size = np.linalg.norm(M, axis=-1)
    size = np.where(size > 0.0, size, 1.0)
    most, c = named.effort, len(at)
    units = tuple(upper.unit for _, upper in named.of_tau)
    return LimitRows(
        M / size[..., None],
        (-most - h) / size,
        (most - h) / size,
        np.zeros((c, 2)),
        size,
        h,
        np.full(c, Rank.EFFORT),
        np.full(c, -1),
        named.of_tau,
        units,
    )


def _velocities(robot: Robot, named: NamedLimits, v: Array, dt: float, recovery: float, most: Array) -> LimitRows:
    at = named.v
    speed, own, slowest = named.speed, v[..., at], -most[at]

    def towards(gap: Array) -> Array:
        beyond = np.maximum(gap / max(dt, recovery), slowest)
        return np.asarray(np.where(gap < -ROUNDING, beyond, np.maximum(gap, 0.0) / dt))

    below, above = own + speed, speed - own
    rows = unit_rows(robot.nv, at, -towards(below), towards(above), named.of_v, Rank.VELOCITY, dt, own)
    return rows._replace(gaps=np.minimum(np.stack([below, above], axis=-1), 0.0))


def _positions(
    robot: Robot,
    named: NamedLimits,
    q: Array,
    v: Array,
    dt: float,
    recovery: float,
    most: Array,
    velocity: bool,
) -> LimitRows:
    gaps, G = gaps_of(named, q), rows_of_numbers(robot, named, q)
    rates, drift = np.einsum("...cv,...v->...c", G, v), _drift(robot, named, q, v)
    braking = braking_of_numbers(named, most)
    if np.isfinite(braking).any():
        braking = np.where(
            np.isfinite(braking), np.minimum(braking, _gentlest(robot, named, gaps, dt, velocity)), np.inf
        )
    lower = -acceleration_towards(gaps[..., 0], -rates, dt, recovery, braking)
    upper = acceleration_towards(gaps[..., 1], rates, dt, recovery, braking)
    lower, upper = no_further(lower, upper, gaps)
    c, units = len(named.q), tuple(f"{upper.unit}/s²" for _, upper in named.of_q)
    return LimitRows(
        G,
        lower - drift,
        upper - drift,
        gaps,
        np.ones(c),
        drift,
        np.full(c, Rank.POSITION),
        named.entry,
        named.of_q,
        units,
    )


def _gentlest(robot: Robot, named: NamedLimits, gaps: Array, dt: float, velocity: bool) -> Array:
    """Bounds of b (..., c) by which a turn at one limit is in no conflict with velocity limits and the other limit."""
    b = gaps.sum(axis=-1) * (2.0 / 3.0) / dt**2
    if velocity:
        b = np.minimum(b, braking_of_numbers(named, np.array(robot.limits.velocity)) / dt)
    return np.asarray(b)


def _drift(robot: Robot, named: NamedLimits, q: Array, v: Array) -> Array:
    """Ġ v (..., c) of numbers of q with limits."""
    if named.are_entries:
        return np.zeros(len(named.q))
    turned = np.zeros(v.shape)
    for entries in set(named.moved_by):
        place = list(entries)
        if len(entries) == 2:  # planar: (ω, x, y)
            x, y = entries
            turned[..., place] = v[..., x - 1, None] * np.stack([-v[..., y], v[..., x]], axis=-1)
        elif len(entries) == 3:  # free: (ω, p)
            turned[..., place] = np.cross(v[..., place[0] - 3 : place[0]], v[..., place])
    return np.asarray(kinematics.configuration_rate(robot, q, turned)[..., named.q])
