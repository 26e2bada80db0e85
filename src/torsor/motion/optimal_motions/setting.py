"""From what a user asks for to the finite problem and the motions that a search begins with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.optimal_motions.costs import Costs, costs_of
from torsor.motion.optimal_motions.ends import End, end_of, rows_of_ends, unknowns_of
from torsor.motion.optimal_motions.limits import limits_of, refuse_beyond_limits
from torsor.motion.optimal_motions.obstacles import clear_of
from torsor.motion.optimal_motions.problem import Problem
from torsor.motion.optimal_motions.splines import Spline
from torsor.motion.optimal_motions.tasks_along import configurations_in, kept, passed
from torsor.motion.optimal_motions.terms import JERK, Bound, Squares, Term

COULOMB = 0.05  # rad/s or m/s, over which Coulomb friction without a width is smoothed: sign(v) has no derivative at 0
SPREAD = 0.3  # of other starts, rad or m


@dataclass(eq=False)
class Setting:
    """What is asked for, but for where the motion begins and ends."""

    robot: Robot
    duration: float | None
    cost: Any
    within_limits: bool
    limits: dict[str, Any]
    motor_constants: Any
    rates: dict[str, Any]
    pieces: int
    through: Any = None
    along: Any = None
    along_within: float = 1e-3
    obstacles: Any = None
    capsules: Any = None

    @once
    def smooth(self) -> Robot:
        """The robot with friction that has derivatives."""
        if np.any(np.asarray(self.robot.parameters.coulomb_friction)) and self.robot.structure.coulomb_width == 0.0:
            return self.robot.with_coulomb_width(COULOMB)
        return self.robot

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know."""
        if self.smooth is self.robot:
            return ()
        return (
            f"Coulomb friction is smoothed over {COULOMB:g} rad/s or m/s (Robot.with_coulomb_width): sign(v) has no "
            "derivative.",
        )

    @once
    def costs(self) -> Costs:
        """The terms of the cost."""
        return costs_of(self.smooth, self.cost, self.motor_constants)

    @once
    def terms(self) -> tuple[Term, ...]:
        """The terms with limits that do not depend on the ends."""
        return (
            *limits_of(self.smooth, self.within_limits, self.limits),
            *passed(self.smooth, self.through),
            *kept(self.smooth, self.along, self.along_within),
            *clear_of(self.smooth, self.obstacles, self.capsules),
        )

    @once
    def orders(self) -> int:
        """How many of u, u̇, ü, u⃛ are needed."""
        slots = [t.slot for _, t in self.costs if isinstance(t, Squares)] + [
            t.slot for t in self.terms if isinstance(t, Bound)
        ]
        return 4 if JERK in slots else 3


def problem_of(setting: Setting, q0: Array | None, q1: Array | None) -> Problem:
    """The finite problem, its cost in units of that of the straight line."""
    robot = setting.smooth
    for name, q in (("q0", q0), ("q1", q1)):
        if setting.within_limits and q is not None:
            refuse_beyond_limits(robot, q, name)
    anchor = q0 if q0 is not None else q1
    if anchor is None:
        raise ArgumentError("`q0` and `q1` are both missing: one of them says near which configuration to search.")
    spline, n = Spline(setting.pieces), robot.nv
    ends = ends_of(setting, q0, q1)
    problem = Problem(
        robot,
        spline,
        unknowns_of(spline, robot, ends, setting.duration),
        anchor,
        setting.costs,
        (*setting.terms, *rows_of_ends(robot, ends, setting.duration)),
        setting.duration,
        setting.orders,
        np.zeros(0),
    )
    size = abs(problem.at(straight(problem, setting, q0, q1)).cost)
    problem.size = 1.0 / size if size > 1e-12 * n else 1.0
    return problem


def ends_of(setting: Setting, q0: Array | None, q1: Array | None) -> dict[float, End]:
    """The states at s = 0 and s = 1."""
    robot, rates = setting.smooth, setting.rates
    none = np.zeros(robot.nv)
    u0 = None if q0 is None else none
    u1 = None if q1 is None else none if q0 is None else difference(robot, q0, q1)
    return {
        0.0: end_of(robot, ("v0", "a0"), u0, rates["v0"], rates["a0"]),
        1.0: end_of(robot, ("v1", "a1"), u1, rates["v1"], rates["a1"]),
    }


def straight(problem: Problem, setting: Setting, q0: Array | None, q1: Array | None) -> Array:
    """Unknowns of the motion along u(s) = s (q1 ⊖ q0), at constant rate but for its ends."""
    robot = problem.robot
    via = {s: difference(robot, problem.anchor, q) for s, q in configurations_in(setting.through).items()}
    d: Array = list(via.values())[-1] if via else np.zeros(robot.nv)
    if q0 is not None and q1 is not None:
        d = difference(robot, q0, q1)
    stops = dict(sorted({0.0: 0.0 * d, **via, 1.0: d}.items()))
    s, table = np.array(list(stops)), np.array(list(stops.values()))
    points = np.column_stack([np.interp(problem.spline.greville(), s, column) for column in table.T])
    Y = np.linalg.lstsq(problem.unknowns.free, points - problem.unknowns.fixed, rcond=None)[0]
    if not problem.has_free_time:
        return Y.ravel()
    speed = np.array(robot.structure.limits.velocity)
    speed = np.where((speed > 0.0) & np.isfinite(speed), speed, 1.0)
    return np.append(Y.ravel(), np.log(max(0.1, 2.0 * float((np.abs(d) / speed).max()))))


def starts_of(
    problem: Problem, setting: Setting, q0: Array | None, q1: Array | None, count: int, seed: int | np.random.Generator
) -> Iterator[Array]:
    """The straight line, then motions that leave it by random amounts, most in the middle."""
    first = straight(problem, setting, q0, q1)
    yield first
    rng = np.random.default_rng(seed)
    n, k = problem.robot.nv, problem.unknowns.free.shape[1]
    bump = np.sin(np.pi * np.linspace(0.0, 1.0, k))[:, None]
    for _ in range(count - 1):
        way = (
            SPREAD * rng.normal(size=n) * bump
            + 0.3 * SPREAD * rng.normal(size=n) * bump * np.cos(np.pi * np.linspace(0.0, 1.0, k))[:, None]
        )
        y = first.copy()
        y[: k * n] += way.ravel()
        yield y
