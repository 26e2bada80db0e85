"""Paths of least energy between two configurations, within the joints' limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import checked
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.motion._path_energy import PathProblem, minimise, path_energy, path_length
from torsor.motion.integration import RUN_INSIDE

if TYPE_CHECKING:
    from torsor.motion._is_minimal import MinimalityReport

Waypoints = Mapping[int, Array] | Sequence[Array]
HUGE = 1e100  # a limit beyond this is none


@dataclass(frozen=True, eq=False, repr=False)
class PathResult(Report):
    """A path of least energy, and the straight one it started from.

    Attributes
    ----------
    robot : Robot
    path : (K, nq) array
        Configurations, rad or m, at the times ``time`` (K,), s.
    energy, straight_energy : float
        Of this path and of the straight one, J·s, as `path_energy` has them.
    length : float
        Length in the inertia metric, m·√kg.
    gradient_norm : float
        The largest entry of the energy's gradient by what is free to move, J·s per rad or m.
    iterations, converged : int, bool
        How many steps of Newton's method were taken, and whether they converged.
    active_limits : dict
        For each joint that its limits hold back, the numbers of the points where.
    through : tuple of int
        The numbers of the points between the ends that were given.
    """

    robot: Robot
    path: Array
    time: Array
    energy: float
    straight_energy: float
    length: float
    gradient_norm: float
    iterations: int
    converged: bool
    active_limits: dict[str, tuple[int, ...]]
    through: tuple[int, ...] = ()

    @property
    def q(self) -> Array:
        """``path``, by the name that other motions have for it."""
        return self.path

    @property
    def v(self) -> Array:
        """Velocities (K, nv), rad/s or m/s, by differences of second order."""
        steps = difference(self.robot, self.path[:-1], self.path[1:])
        turn = 0.5 * np.diff(steps, axis=0)  # by which the velocity changes over half a step
        ends = [steps[:1] - turn[:1], steps[-1:] + turn[-1:]] if len(turn) else [steps, steps]
        return np.concatenate([ends[0], steps[:-1] + turn, ends[1]]) * (len(steps) / self.time[-1])

    def certificate(self, *, samples: int = 61) -> MinimalityReport:
        """Whether its energy is least among all paths near it between the same ends: `torsor.motion.is_minimal`."""
        from torsor.motion._is_minimal import is_minimal

        return is_minimal(self.robot, self, samples=samples)

    def __str__(self) -> str:
        how = "converged" if self.converged else "NOT converged"
        return (
            f"path of robot {self.robot.name!r}: {self.time[-1]:g} s, length {self.length:.6g} m·√kg, energy {self.energy:.6g} "
            f"J·s (straight: {self.straight_energy:.6g}), {how} after {self.iterations} steps"
        )


@checked
def minimum_energy_path(
    robot: Robot,
    q0: GivenConfiguration,
    q1: GivenConfiguration,
    *,
    duration: float = 1.0,
    samples: int = 51,
    within_limits: bool = True,
    through: Waypoints | None = None,
    tolerance: float = 1e-9,
    iterations: int = 200,
) -> PathResult:
    """Path from q0 to q1 with the least ∫ Σ m_ij ẋ_i ẋ_j dt near the straight one, one pair at a time [PBP95, §5].

    Newton's method with the exact gradient. Where no limit holds it back, the path is a geodesic to O(1/samples²), though not
    the only one.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    q0, q1 : (nq,) arrays
        Start and end, rad or m.
    duration : float
        How long it takes, s; the path does not depend on it.
    samples : int
        How many configurations, both ends included, at even times.
    within_limits : bool
        Keep joints with one number within robot.limits.
    through : mapping or sequence of (nq,) arrays, optional
        Configurations to pass: a dict from the number of a sample (0 < number < samples − 1) to q, or a list of q at even times.
    tolerance : float
        Steps end when one changes the path by less than this fraction of its length.
    iterations : int
        At most so many steps; look at ``converged``.

    Returns
    -------
    PathResult
        With ``path`` (samples, nq), rad or m, and its ``energy``, J·s.
    """
    refuse_strangers(robot, q0, q1, duration, instead=RUN_INSIDE)
    refuse_bad_numbers(duration=duration, tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples, the start and the end")
    refuse_bad_count("iterations", iterations, 1, "`iterations` must be at least 1")
    fixed = _fixed(robot, q0, q1, samples - 1, through)
    start = straight_path(robot, fixed)
    free = np.ones((samples, robot.nv), bool)
    free[list(fixed)] = False
    lower, upper = _bounds(robot, fixed) if within_limits else (np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf))
    lower, upper = (np.broadcast_to(bound, free.shape) for bound in (lower, upper))
    found = minimise(PathProblem(robot, free, lower, upper), start, tolerance, iterations)
    return PathResult(
        robot=robot,
        path=found.path,
        time=np.linspace(0.0, duration, samples),
        energy=float(path_energy(robot, found.path, duration=duration)),
        straight_energy=float(path_energy(robot, start, duration=duration)),
        length=float(path_length(robot, found.path)),
        gradient_norm=float(np.abs(found.gradient).max()) / duration,
        iterations=found.iterations,
        converged=found.converged,
        active_limits=_active(robot, found.path, free, lower, upper),
        through=tuple(list(fixed)[1:-1]),
    )


def _fixed(robot: Robot, q0: Array, q1: Array, points: int, through: Waypoints | None) -> dict[int, Array]:
    """The configurations that do not move, by their number, in order."""
    if through is None:
        through = {}
    if not isinstance(through, Mapping):
        places = np.rint(points * np.arange(1, len(through) + 1) / (len(through) + 1)).astype(int)
        through = dict(zip(places.tolist(), through, strict=True))
        if len(through) < len(places) or 0 in through or points in through:
            raise ArgumentError(f"{len(places)} configurations to pass need more than {points} points.")
    given = {0: q0, **dict(sorted(through.items())), points: q1}
    for number, q in given.items():
        if not (isinstance(number, (int, np.integer)) and 0 <= number <= points):
            raise ArgumentError(f"`through` has point {number!r}; points are numbered 1 … {points - 1}.")
        if np.shape(q) != (robot.nq,) or not np.isfinite(q).all():
            raise ShapeError(
                f"point {number} must be one finite configuration of shape ({robot.nq},), got {np.shape(q)}."
            )
        refuse_zero_quaternions(robot, np.asarray(q, float), f"point {number}: ")
    if through.keys() & {0, points}:
        raise ArgumentError(f"points 0 and {points} are q0 and q1; leave them out of `through`.")
    return {int(number): np.asarray(q, float) for number, q in given.items()}


def straight_path(robot: Robot, fixed: Mapping[int, Array]) -> Array:
    """The path of constant velocity from one fixed configuration to the next."""
    parts = [fixed[0][None]]
    for i, j in pairwise(fixed):
        fractions = np.arange(1, j - i + 1)[:, None] / (j - i)
        part = integrate(robot, fixed[i], fractions * difference(robot, fixed[i], fixed[j]))
        part[-1] = fixed[j]
        parts.append(part)
    return np.concatenate(parts)


def stationary_path(robot: Robot, q0: Array, q1: Array, points: int) -> Array:
    """Where the straight path leads, limits apart: a path (points + 1, nq) that is nearly a geodesic, of least energy or not."""
    start = straight_path(robot, {0: q0, points: q1})
    free = np.ones((points + 1, robot.nv), bool)
    free[[0, -1]] = False
    far = np.full(free.shape, np.inf)
    return minimise(PathProblem(robot, free, -far, far), start, 1e-6, 50, leave_saddles=False).path


def _bounds(robot: Robot, fixed: Mapping[int, Array]) -> tuple[Array, Array]:
    """Limits (nv,) of joints with one number; raises if a fixed configuration is beyond them, or if others have limits."""
    lower, upper = np.full(robot.nv, -np.inf), np.full(robot.nv, np.inf)
    for c in robot.structure.coordinates:
        low, high = np.array(robot.limits.lower[c.q]), np.array(robot.limits.upper[c.q])
        if c.nq > 1:
            if np.any((low > -HUGE) | (high < HUGE)):
                raise ModelError(
                    f"the limits of joint {c.name!r}, which has {c.nq} numbers, cannot be kept here; "
                    "pass within_limits=False and look at the result."
                )
            continue
        for number, q in fixed.items():
            if not low[0] <= q[c.q_start] <= high[0]:
                raise ArgumentError(
                    f"joint {c.name!r} is at {q[c.q_start]:g} in point {number}, beyond its limits "
                    f"{low[0]:g} … {high[0]:g}; move it, or pass within_limits=False."
                )
        lower[c.v], upper[c.v] = low, high
    return lower, upper


def _active(robot: Robot, path: Array, free: Array, lower: Array, upper: Array) -> dict[str, tuple[int, ...]]:
    active = {}
    for c in robot.structure.coordinates:
        if c.nq == 1:
            q = path[:, c.q_start]
            at = free[:, c.v_start] & ((q <= lower[:, c.v_start]) | (q >= upper[:, c.v_start]))
            if at.any():
                active[c.name] = tuple(np.flatnonzero(at).tolist())
    return active
