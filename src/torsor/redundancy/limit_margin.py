"""How much room a configuration has within the limits of its robot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.redundancy.zero_crossing import zero_crossing

OUTSIDE = 1e-12  # rad or m: beyond a limit by rounding
CLOSER = 16  # times that the interval is halved in which a curve is nearest to a limit


def room(robot: Robot, q: Array) -> Array:
    """The least distance (...) of q (..., nq) from a limit, rad or m; negative outside."""
    return np.asarray(np.min(_rooms(robot, q), axis=-1))


def nearest_limit(robot: Robot, q: Array) -> str:
    """The coordinate of q (nq,) that is nearest to a limit, or furthest outside, by its name."""
    k = int(np.argmin(_rooms(robot, q)))
    owners = [c.name for c in robot.structure.coordinates if c.q_start <= k < c.q_start + c.nq]
    return repr(owners[0])


def limit_in_words(robot: Robot, q: Array) -> str:
    """The limit to which q (nq,) has come, or that it has passed furthest: which end, where, and of which joint."""
    k = int(np.argmin(_rooms(robot, q)))
    lower, upper = robot.limits.lower[k], robot.limits.upper[k]
    side, bound = ("lower", lower) if q[k] - lower < upper - q[k] else ("upper", upper)
    return f"the {side} limit of {nearest_limit(robot, q)}, {bound:.6g}"


def refuse_outside(robot: Robot, q: Array) -> None:
    """Raise if q (nq,), where something within the limits is to begin, is outside them."""
    if room(robot, q) < 0.0:
        raise ArgumentError(
            f"the start is already outside the limits of robot {robot.name!r}, beyond {limit_in_words(robot, q)}. Start "
            "elsewhere, pass within_limits=False, or give it other limits (robot.with_limits)."
        )


def leaves_limits(robot: Robot, curve: Callable[[Array], Array], times: Array) -> float | None:
    """When a smooth curve, times (K,) → q (K, nq), first leaves the limits; None if it does not. ``times`` have equal distances.

    Beyond what they show: a number with second differences D dips by D/8 between two of them, and where that may lead beyond a
    limit it is looked at more closely, at the ends of the curve too.
    """
    limited = np.isfinite(robot.limits.lower) | np.isfinite(robot.limits.upper)
    if not limited.any():
        return None
    rooms = _rooms(robot, curve(times))[:, limited]
    bent = np.diff(rooms, n=2, axis=0)
    bent = np.maximum(np.concatenate([bent[:1], bent]), np.concatenate([bent, bent[-1:]]))  # in each interval
    dips = (np.minimum(rooms[:-1], rooms[1:]) < bent) & (bent > OUTSIDE)  # 8 times more than it takes
    left = np.min(rooms, axis=-1)
    for k in map(int, np.flatnonzero(dips.any(axis=-1))):
        turn, least = _least_room(robot, curve, times[k : k + 2])
        if least < -OUTSIDE:
            times, left = np.append(times, turn), np.append(left, least)
    order = np.argsort(times)
    times, outside = times[order], left[order] < -OUTSIDE
    if not outside.any():
        return None
    k = int(np.argmax(outside))
    if k == 0:
        return float(times[0])
    return zero_crossing(lambda t: float(room(robot, curve(np.array([t]))[0])) + OUTSIDE, times[k - 1], times[k])


def _least_room(robot: Robot, curve: Callable[[Array], Array], between: Array) -> tuple[float, float]:
    """Where between two times the room is least, and how much it is."""
    for _ in range(CLOSER):
        times = np.linspace(between[0], between[-1], 5)
        left = room(robot, curve(times))
        k = int(np.argmin(left))
        between = times[max(k - 1, 0) : k + 2]
    return float(times[k]), float(left[k])


def _rooms(robot: Robot, q: Array) -> Array:
    limits = robot.limits
    return np.asarray(np.minimum(q - np.array(limits.lower), np.array(limits.upper) - q))
