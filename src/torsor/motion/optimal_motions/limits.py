"""The limits of a robot, and those that are given, as terms at nodes."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.motion.optimal_motions.nodes import TAU
from torsor.motion.optimal_motions.terms import ACCELERATION, JERK, VELOCITY, Bound, Power, Term
from torsor.motion.optimal_motions.traced_terms import traced_term
from torsor.motion.tangent_motion import bound_of


def limits_of(robot: Robot, within_limits: bool, given: dict[str, Any]) -> tuple[Term, ...]:
    """Positions, velocities and efforts of the robot if ``within_limits``; acceleration, jerk and power as ``given``."""
    terms: list[Term] = []
    if within_limits:
        own = robot.structure.limits
        terms += _positions(robot)
        terms += _bounds(robot, "velocity", VELOCITY, _positive(own.velocity), "/s")
        terms += _bounds(robot, "effort", TAU, np.array(own.effort), "")
    for name, slot, rate in (("acceleration", ACCELERATION, "/s²"), ("jerk", JERK, "/s³")):
        if given.get(name) is not None:
            terms += _bounds(robot, name, slot, bound_of(robot, name, given[name], name), rate)
    if given.get("power") is not None:
        bound = bound_of(robot, "power", given["power"], "power")
        which = np.flatnonzero(np.isfinite(bound))
        names = tuple(robot.structure.freedoms[i] for i in which)
        if len(which):
            terms.append(Power(names, which, -bound[which], bound[which], bound[which]))
    return tuple(terms)


def refuse_beyond_limits(robot: Robot, q: Array, name: str) -> None:
    """Raise if a configuration is beyond the limits of the joints."""
    low, high = (np.array(x) for x in (robot.structure.limits.lower, robot.structure.limits.upper))
    for c in robot.structure.coordinates:
        beyond = np.flatnonzero((q[c.q] < low[c.q] - 1e-12) | (q[c.q] > high[c.q] + 1e-12))
        if len(beyond):
            k = c.q_start + int(beyond[0])
            raise ArgumentError(
                f"`{name}`: joint {c.name!r} is at {q[k]:g}, beyond its limits {low[k]:g} … {high[k]:g}; move it, or pass "
                "within_limits=False."
            )


def units_of(robot: Robot) -> tuple[str, ...]:
    """The unit of each freedom, "rad" or "m"."""
    s = robot.structure
    return tuple(unit for c in s.coordinates for unit in s.kind_of(s.joints.index(c.name)).v_units)


def _positions(robot: Robot) -> list[Term]:
    low, high = (np.array(x) for x in (robot.structure.limits.lower, robot.structure.limits.upper))
    simple, entries, others = [], [], []
    units = units_of(robot)
    for c in robot.structure.coordinates:
        limited = [k for k in range(c.q.start, c.q.stop) if low[k] > -HUGE or high[k] < HUGE]
        if c.nq == 1:
            simple += [c.v_start] * bool(limited)
            entries += limited
        else:
            others += limited
    found: list[Term] = []
    if simple:
        which, at = np.array(simple), np.array(entries)
        names = tuple(robot.structure.freedoms[i] for i in simple)
        found.append(
            Bound(
                "position",
                names,
                tuple(units[i] for i in simple),
                0,
                which,
                at,
                low[at],
                high[at],
                _half(low[at], high[at]),
            )
        )
    if others:
        at = np.array(others)
        names = tuple(f"q[{k}]" for k in others)
        function = _numbers(tuple(others))
        found.append(traced_term(robot, function, "position", names, low[at], high[at], _half(low[at], high[at])))
    return found


def _numbers(places: tuple[int, ...]) -> Any:
    def chosen(q: Any, v: Any, a: Any, tau: Any) -> Any:
        return q[np.array(places)]

    return chosen


def _bounds(robot: Robot, kind: str, slot: int, bound: Array, rate: str) -> list[Term]:
    which = np.flatnonzero(bound < HUGE)
    if not len(which):
        return []
    names, high = tuple(robot.structure.freedoms[i] for i in which), bound[which]
    units = units_of(robot)
    words = {"rad": "N·m", "m": "N"} if slot == TAU else {"rad": f"rad{rate}", "m": f"m{rate}"}
    size = np.where(high > 0.0, high, 1.0)
    return [Bound(kind, names, tuple(words[units[i]] for i in which), slot, which, which, -high, high, size)]


def _positive(bound: Any) -> Array:
    """0 is no limit of a velocity."""
    found = np.array(bound, float)
    return np.where(found > 0.0, found, np.inf)


def _half(low: Array, high: Array) -> Array:
    half = 0.5 * (high - low)
    return np.where((half < HUGE) & (half > 0.0), half, 1.0)
