"""Configurations of a robot: checked, regular or not, the same up to whole turns, and within limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from torsor.arrays.primitives import namespace
from torsor.arrays.typing import Array
from torsor.border.arrays import as_array
from torsor.border.numbers import refuse_bad_count, refuse_no_robot, refuse_unknown, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.kinematics import difference
from torsor.model import Robot, Structure
from torsor.model.structure import Coordinate
from torsor.motion.curvature import Drawn, drawn_configurations
from torsor.motion.integration import sign_change, with_unit_quaternions
from torsor.tasks import Task, as_task

LOST = 1e-7  # ratio of singular values below which a direction of the task counts as lost
LIMIT = 1e4  # condition up to which a configuration counts as regular: measurements there lose eight digits at most
SAME = 1e-6  # rad or m
OUTSIDE = 1e-12  # rad or m: beyond a limit by rounding
CLOSER = 16  # times that the interval is halved in which a curve is nearest to a limit


def configurations_of(robot: Robot, q: Any, name: str = "q") -> Array:
    """The argument ``name``, configurations (..., nq), checked, as NumPy numbers."""
    refuse_no_robot(robot)
    try:
        known = namespace(q) is np or np.asarray(q, float) is not None
    except Exception:  # each library has its own for values that are not there yet
        known = False
    if not (known and robot.is_concrete):
        raise ArgumentError(
            "decides by numbers, and cannot run inside jit, grad, vmap or torsor.compile, where they are not known yet: "
            "call it outside. torsor.redundancy.horizontal_lift, split_velocity, velocity_projectors and vertical_brackets run "
            "inside."
        )
    return np.asarray(as_array(name, q, ("nq",), robot), float)


def single_configuration(robot: Robot, q: Any, name: str = "q0") -> Array:
    """The argument ``name``, one configuration (nq,), checked: finite numbers, quaternions of length one."""
    q = configurations_of(robot, q, name)
    if q.ndim != 1:
        raise ShapeError(f"one motion has one start (nq,), got {q.shape}; call it for each of them.")
    refuse_unknown(q, "the configuration")
    refuse_zero_quaternions(robot, q)
    return np.asarray(with_unit_quaternions(robot, q))


def is_regular(robot: Robot, q: Array, J: Array, limit: float = 1.0 / LOST) -> Array:
    """Whether M and J N⁻¹ (NᵀN = M) are far from singular at q (..., nq), with J (..., m, nv) there: (...)."""
    M = mass_matrix(robot, q)
    with np.errstate(all="ignore"):
        values, vectors = np.linalg.eigh(np.where(np.isfinite(M), M, 0.0))
        good = values[..., 0] > values[..., -1] / limit
        roots = np.sqrt(np.where(good[..., None], values, 1.0))
        sigma = np.linalg.svd((J @ vectors) / roots[..., None, :], compute_uv=False)
    enough = J.shape[-2] <= J.shape[-1]
    return np.asarray(good & (sigma[..., -1] * limit > sigma[..., 0]) & enough)


def regular_configurations(
    robot: Robot, task: Task | str, q: Any, configurations: int, seed: int | np.random.Generator
) -> Drawn:
    """Those of ``q`` (..., nq) at which the task is regular; if it is None, ``configurations`` random ones within the limits."""
    found = as_task(robot, task)
    if robot.nv < found.size:
        raise ArgumentError(
            f"robot {robot.name!r} has {robot.nv} degrees of freedom, fewer than the {found.size} rows of the task."
        )
    if q is not None:
        given = configurations_of(robot, q).reshape(-1, robot.nq)
        if len(given) == 0:
            raise ArgumentError("`q` holds no configuration; leave it out for random ones.")
        refuse_unknown(given)
        good = is_regular(robot, given, jacobian_at(robot, given, found), LIMIT)
        if not good.any():
            raise ArgumentError(f"none of the configurations of robot {robot.name!r} is regular.")
        return Drawn(given[good], int(np.sum(~good)))
    refuse_bad_count("configurations", configurations, 1, "`configurations` must be positive")
    return drawn_configurations(
        robot,
        configurations,
        seed,
        lambda q: is_regular(robot, q, jacobian_at(robot, q, found), LIMIT),
        "the task or the mass matrix",
        ". torsor.tasks.task_rank(robot, q, task) tells what cannot be done, torsor.dynamics.mass_matrix_report(robot, q) which "
        "motion meets no inertia.",
    )


def angle_difference(robot: Robot, start: Array, end: Array) -> Array:
    """`torsor.difference` from start to end (..., nv), angles of revolute joints between −π and π."""
    d = np.array(difference(robot, np.broadcast_to(start, np.shape(end)), end))
    turning = _turning(robot.structure)
    d[..., turning] = (d[..., turning] + np.pi) % (2 * np.pi) - np.pi
    return d


def turned_inside(robot: Robot, q: Array) -> Array:
    """Configurations q (..., nq) with revolute joints that are whole turns beyond a limit turned back within it."""
    q = np.array(q)
    turning = [c.q_start for c in _turning_alone(robot.structure)]
    lower, upper = (np.array(bound)[turning] for bound in robot.limits[:2])
    angle = q[..., turning]
    back = np.ceil(np.maximum(angle - upper, 0.0) / (2 * np.pi))
    forth = np.ceil(np.maximum(lower - angle, 0.0) / (2 * np.pi))
    q[..., turning] = angle + 2 * np.pi * (forth - back)
    return q


def same_configuration(robot: Robot, one: Array, other: Array) -> bool:
    """Whether two configurations (nq,) are the same up to whole turns and what Newton's method leaves."""
    return bool(np.linalg.norm(angle_difference(robot, one, other)) < SAME)


def turns_between(robot: Robot, start: Array, end: Array) -> Array:
    """How many whole turns (..., nv) separate the two, for configurations that are the same up to these."""
    turns = np.zeros((*np.shape(end)[:-1], robot.nv))
    turning = _turning(robot.structure)
    turns[..., turning] = np.round(np.asarray(difference(robot, start, end))[..., turning] / (2 * np.pi))
    return turns


@lru_cache(maxsize=256)
def _turning(structure: Structure) -> Array:
    """Places in v of revolute joints that share their coordinate with no other."""
    return np.array([c.v_start for c in _turning_alone(structure)], int)


def _turning_alone(structure: Structure) -> list[Coordinate]:
    """Coordinates of revolute joints that share them with no other."""
    shared = [coupling.coordinate for coupling in structure.couplings]
    own = enumerate(structure.blocks)
    return [c for k, (c, kind) in own if kind.nq == 1 and kind.whole_turns and shared.count(k) == 1]


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
    return sign_change(lambda t: float(room(robot, curve(np.array([t]))[0])) + OUTSIDE, times[k - 1], times[k])


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


def vector(x: Array, precision: int = 4) -> str:
    """The numbers of a vector as text on one line."""
    return np.array2string(
        np.round(np.asarray(x), precision) + 0.0,
        precision=precision,
        separator=", ",
        suppress_small=True,
        max_line_width=10_000,
    )


def tried(configurations: int, skipped: int) -> str:
    """How many configurations an answer rests on."""
    count = f"{configurations} configuration{'' if configurations == 1 else 's'}"
    return count + (f" ({skipped} more singular)" if skipped else "")


def units_of_freedoms(structure: Structure) -> tuple[str, ...]:
    """For each of v (nv,), "rad" or "m"."""
    return tuple(unit for _, kind in structure.blocks for unit in kind.v_units)


def jacobian_at(robot: Robot, q: Array, task: Task) -> Array:
    """J (..., m, nv) at q (..., nq), also of a task whose J is the same at all of them."""
    return np.broadcast_to(task.jacobian(robot, q), (*np.shape(q)[:-1], task.size, robot.nv))


def derivative_at(robot: Robot, q: Array, task: Task) -> Array:
    """∂J (..., m, nv, nv) at q (..., nq), derivative index last, also of a task whose ∂J is the same at all of them."""
    return np.broadcast_to(task.derivative(robot, q), (*np.shape(q)[:-1], task.size, robot.nv, robot.nv))
