"""What the states at both ends of a motion leave free of its control points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.motion.body_rates import Rates, coordinate_rates
from torsor.motion.optimal_motions.problem import Unknowns
from torsor.motion.optimal_motions.splines import Spline
from torsor.motion.optimal_motions.terms import ACCELERATION, VELOCITY, Bound
from torsor.motion.tangent_motion import vectors_of

FREE = "free"


class End(NamedTuple):
    """A state: q as coordinates u, v and a (n,), None where it is free."""

    u: Array | None
    v: Array | None
    a: Array | None

    @property
    def moves(self) -> bool:
        """Whether velocity or acceleration are given and not zero."""
        return any(x is not None and np.any(x) for x in (self.v, self.a))


def end_of(robot: Robot, names: tuple[str, str], u: Array | None, v: object, a: object) -> End:
    """The state at an end: v is zero if it is not given, a is free."""
    found: list[Array | None] = []
    for name, value in zip(names, (np.zeros(robot.nv) if v is None else v, FREE if a is None else a), strict=True):
        if isinstance(value, str):
            if value != FREE:
                raise ArgumentError(f'`{name}` must be numbers ({robot.nv},), or "free", got {value!r:.60}.')
            found.append(None)
        else:
            (numbers,) = vectors_of(robot, **{name: value})
            found.append(numbers)
    return End(u, *found)


def unknowns_of(spline: Spline, robot: Robot, ends: Mapping[float, End], duration: float | None) -> Unknowns:
    """The free control points: derivatives at an end that are known give one of its first points each."""
    K, n = spline.points, robot.nv
    free, fixed = np.eye(K), np.zeros((K, n))
    solved = []
    for s, end in ends.items():
        piece, values = spline.at(np.array([s]))
        known = _derivatives(robot, end, duration)
        places = np.arange(3) if s == 0.0 else np.arange(K - 1, K - 4, -1)
        rows = values[0][:3][:, places - piece[0]]  # of the three points, which are nearest to the end
        orders = [order for order in range(3) if known[order] is not None]
        rest = [order for order in range(3) if order not in orders]
        inverse = np.linalg.inv(rows[np.ix_(orders, orders)])
        fixed[places[orders]] = inverse @ np.array([known[order] for order in orders]).reshape(len(orders), n)
        free[np.ix_(places[orders], places[orders])] = 0.0
        free[np.ix_(places[orders], places[rest])] = np.round(-inverse @ rows[np.ix_(orders, rest)], 12)
        solved += places[orders].tolist()
    return Unknowns(np.delete(free, solved, axis=1), fixed)


def rows_of_ends(robot: Robot, ends: Mapping[float, End], duration: float | None) -> tuple[Bound, ...]:
    """Equations for velocities and accelerations at ends that `unknowns_of` cannot give: they depend on what is free."""
    found, all_of_them = [], np.arange(robot.nv)
    names, no_units = robot.structure.freedoms, ("",) * robot.nv
    for s, end in ends.items():
        if not _depends(robot, end, duration):
            continue
        for kind, slot, x in (("velocity", VELOCITY, end.v), ("acceleration", ACCELERATION, end.a)):
            if x is not None:
                one = np.ones(robot.nv)
                found.append(
                    Bound(
                        f"{kind} at an end", names, no_units, slot, all_of_them, all_of_them, x, x, one, np.array([s])
                    )
                )
    return tuple(found)


def _depends(robot: Robot, end: End, duration: float | None) -> bool:
    return end.moves and (duration is None or (end.u is None and not robot.structure.has_plain_velocities))


def _derivatives(robot: Robot, end: End, duration: float | None) -> list[Array | None]:
    """Of u by s, of orders 0, 1 and 2; None where it is free."""
    if _depends(robot, end, duration):
        return [end.u, None, None]
    none, T = np.zeros(robot.nv), duration or 1.0
    if end.v is None and end.a is not None and not robot.structure.has_plain_velocities:
        raise ArgumentError(
            "an acceleration at an end needs the velocity there, of a robot whose joints move on groups."
        )
    given = Rates(none if end.v is None else end.v, none if end.a is None else end.a, none)
    rates = coordinate_rates(robot, none if end.u is None else end.u, given)
    return [end.u, None if end.v is None else T * rates.first, None if end.a is None else T * T * rates.second]
