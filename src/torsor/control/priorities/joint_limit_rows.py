"""Joint limits as they bind velocities or accelerations over a step: l ≤ C x ≤ u, row by row, each with the limit it comes from.

**Velocities** over a step dt, constant, q̇ = G(q) v::

    |v − previous| ≤ a_max dt                               if there are such limits
    |v| ≤ v_max
    (lower − q_j) / dt ≤ G_j v ≤ (upper − q_j) / dt         numbers of q

the last exact for joints with one number; the place of planar and free joints moves so to first order in dt. With acceleration
limits it is less than that, so that the robot can still brake: (1) below. A number that is beyond its limit has not one
step but the time ``recovery`` to come back.

**Accelerations** over a step dt, constant::

    |a| ≤ a_max                     if there are such limits
    |v + a dt| ≤ v_max              a velocity beyond its limit comes back over the time ``recovery``
    |M a + h(q, v)| ≤ τ_max         h with gravity, Coriolis forces, friction and springs; rows are divided by |M_k|
    l_j ≤ G_j a + Ġ_j v ≤ u_j       numbers of q, that they can still brake: (2) or (3) below

q̈_j = G_j a + Ġ_j v is a itself for joints with one number. The place of planar and free joints has ṗ = R v_p, so that Ġ v is
R (ω × v_p).

**Braking**: how fast a number may move towards its limit, and speed up towards it, so that it never has to pass it.
With the gap g ≥ 0 to a limit and the rate r towards it, both over steps dt. Bounds towards a lower limit are those of −r.

Velocities, constant over a step, that change by at most b dt from one step to the next, stop after n steps within the gap if
n r dt − ½ n (n − 1) b dt² ≤ g. Of that the left side is largest at the n that it takes, so that ::

    r ≤ g / (n dt) + ½ (n − 1) b dt      for all n = 1, 2, …                                     (1)

is all that is needed; the least is that of ½ n (n − 1) ≤ g / (b dt²) ≤ ½ n (n + 1). If r satisfies (1) for n + 1 then r − b dt
satisfies it for n after the step, and if for n = 1, then so does 0. So it is never in conflict with the bound of the change,
whatever r was chosen, nor with limits |r| ≤ r_max.

Accelerations, constant over a step and at most b. A number that brakes by b stops within g if r² ≤ 2 b g; the largest
acceleration after which the same holds, and no position on the way is beyond the limit, is [Del18]::

    r + a dt ≤ −b dt/2 + √(b² dt²/4 + b (2 g − r dt))            where r dt ≤ 2 g               (2)
    a ≤ −r²/2g                                                   elsewhere: it turns at the limit, within the step

and a = −b satisfies both whenever r² ≤ 2 b g. For those who integrate the position by r + a dt instead of r + a dt/2,
r + a dt ≤ −b dt + √(b² dt² + 2 b g) gives the same; both are asked, so that either way of integrating keeps the limit. After a
turn r ≥ −b dt: with b ≤ r_max/dt and b ≤ ⅔ (upper − lower)/dt² that is neither too fast nor too near to the other limit, so
that (2), the same for the other side, |a| ≤ b and |r + a dt| ≤ r_max hold together. A number with r² > 2 b g is too fast, and
asked for a ≤ −r²/2g, which stops it at the limit.

Accelerations without a bound need no such square root, but a time T ≥ dt in which to come to rest: with h = g/T − r,
the condition h(t + dt) ≥ (1 − dt/T) h(t) is ::

    a (1 + dt/2T) ≤ g/T² − 2 r/T                                                               (3)

(1 + dt/T for the other way of integrating). h ≥ 0 remains so, and keeps g ≥ 0; it always allows to stop, r + a dt = 0. More is
allowed where r ≤ g/2T after the step, which is h ≥ 0 too and has no need to brake yet. Where h < 0 the number is too fast for
(3), and a ≤ −r²/2g stops it at the limit. Beyond a limit, (3) is a critically damped way back.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.joint_limit import NamedLimits, acceleration_limits_of, named_limits, rate_columns
from torsor.control.priorities.limit_rows import (
    ROUNDING,
    LimitRows,
    Rank,
    all_rows,
    no_further,
    unit_rows,
)
from torsor.functions.public import dynamics, kinematics
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
        blocks.append(_velocities_after(robot, named, v, dt, recovery, most))
    if position and len(named.q):
        blocks.append(_positions_after(robot, named, q, v, dt, recovery, most, velocity))
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


def _velocities_after(robot: Robot, named: NamedLimits, v: Array, dt: float, recovery: float, most: Array) -> LimitRows:
    at = named.v
    speed, own, slowest = named.speed, v[..., at], -most[at]

    def towards(gap: Array) -> Array:
        beyond = np.maximum(gap / max(dt, recovery), slowest)
        return np.asarray(np.where(gap < -ROUNDING, beyond, np.maximum(gap, 0.0) / dt))

    below, above = own + speed, speed - own
    rows = unit_rows(robot.nv, at, -towards(below), towards(above), named.of_v, Rank.VELOCITY, dt, own)
    return rows._replace(gaps=np.minimum(np.stack([below, above], axis=-1), 0.0))


def _positions_after(
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


def gaps_of(named: NamedLimits, q: Array) -> Array:
    """How far above their lower and below their upper limits numbers of q are (..., c, 2)."""
    own = q[..., named.q]
    gaps = np.empty((*own.shape, 2))
    np.subtract(own, named.lower, out=gaps[..., 0])
    np.subtract(named.upper, own, out=gaps[..., 1])
    return gaps


def rows_of_numbers(robot: Robot, named: NamedLimits, q: Array) -> Array:
    """G (..., c, nv) of the numbers of q that have limits."""
    if named.are_entries:
        return np.asarray(np.eye(robot.nv)[named.entry])
    G = np.broadcast_to(rate_columns(robot, q), (*q.shape[:-1], robot.nv, robot.nq))
    return np.ascontiguousarray(np.swapaxes(G, -1, -2)[..., named.q, :])


def braking_of_numbers(named: NamedLimits, most: Array) -> Array:
    """The acceleration that each number of q with limits can brake by (c,), of acceleration limits (nv,).

    That of its own entry; for a place whatever the axes, also if several of its numbers brake at once.
    """
    if named.are_entries:
        return np.asarray(most[named.entry])
    return np.array([float(most[list(entries)].min()) / np.sqrt(len(entries)) for entries in named.moved_by])


def velocity_towards(gap: Array, dt: float, recovery: float, braking: Array | None, previous: Array) -> Array:
    """The most velocity towards limits at ``gap`` (c,), negative beyond them: from there the way back takes ``recovery``.

    ``braking`` b and ``previous`` rates towards the limits (c,): (1), and no way back starts faster than b allows. None: no
    bound, and what is left of the gap may be used up in one step.
    """
    beyond = gap < -ROUNDING
    room = np.maximum(gap, 0.0)
    back = gap / max(dt, recovery)
    if braking is None:
        return np.asarray(np.where(beyond, back, room / dt))
    slowest = previous - braking * dt
    bounded = np.isfinite(braking) & np.isfinite(room)
    b, g = np.where(bounded, braking, 1.0), np.where(bounded, room, 0.0)
    n = np.maximum(1.0, np.ceil(0.5 * np.sqrt(1.0 + 8.0 * g / (b * dt**2)) - 0.5))
    within = np.where(bounded, g / (n * dt) + 0.5 * (n - 1.0) * b * dt, room / dt)
    within = np.where(slowest <= within + ROUNDING, np.maximum(within, slowest), within)
    return np.asarray(np.where(beyond, np.maximum(back, slowest), within))


def acceleration_towards(gap: Array, rate: Array, dt: float, recovery: float, braking: Array) -> Array:
    """The most acceleration towards limits at ``gap`` (c,), negative beyond them, that leaves room to stop: (2) or (3).

    ``rate`` towards the limits (c,); ``braking`` b (c,), infinite where there is no bound. Beyond a limit it is (3) with
    T = ``recovery``, no more than b; a number within that is too fast to stop is asked for what it would need.
    """
    T, room = max(dt, recovery), np.maximum(gap, 0.0)
    spring = gap / T**2 - 2.0 * rate / T
    spring = spring / np.where(spring > 0.0, 1.0 + dt / T, 1.0 + 0.5 * dt / T)
    bounded = np.isfinite(braking)
    b = np.where(bounded, braking, 1.0)
    turns = rate * dt > 2.0 * room
    with np.errstate(invalid="ignore", divide="ignore"):
        stop = -0.5 * rate**2 / room
        left = np.maximum(2.0 * room - rate * dt, 0.0)
        exact = 2.0 * b * left / (b * dt + np.sqrt((b * dt) ** 2 + 4.0 * b * left))
        other = 2.0 * b * room / (b * dt + np.sqrt((b * dt) ** 2 + 2.0 * b * room))
    by_root = (np.fmax(np.minimum(exact, other), 0.0) - rate) / dt
    # To turn within the step may take any acceleration; the end of the step at the limit is all that is asked of the too fast.
    back = 2.0 * (room - rate * dt) / dt**2
    too_fast = rate > np.sqrt(2.0 * b * room) + ROUNDING
    limited = np.where(too_fast, np.where(turns, back, stop), np.fmax(np.where(turns, stop, by_root), -b))
    easy = (0.5 * room / T - rate * (1.0 + 0.5 * dt / T)) / (dt * (1.0 + 0.5 * dt / T))
    gentle = np.maximum(spring, easy)
    gentle = np.where(rate < 0.0, np.maximum(gentle, -rate / dt), gentle)  # what moves away may always stop
    unlimited = np.minimum(gentle, np.where(turns, back, np.where(rate * T > room, stop, np.inf)))
    within = np.where(np.isinf(gap), np.inf, np.where(bounded, limited, unlimited))
    return np.asarray(np.where(gap < -ROUNDING, np.where(bounded, np.maximum(spring, -b), spring), within))
