"""A motion in time: what every planner gives, and every controller, plot and simulation takes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot

if TYPE_CHECKING:
    from torsor.motion.trajectory import Trajectory

MOST_SAMPLES = 1e9  # more fit in no memory


@in_one_line
class MotionState(NamedTuple):
    """Where a motion is at some time.

    Attributes
    ----------
    q : (..., nq) array
        Configuration, rad or m.
    v, a, jerk : (..., nv) array
        Velocity, acceleration and its rate, in rad or m and s.
    """

    q: Array
    v: Array
    a: Array
    jerk: Array


class Motion(ABC):
    """A motion of a robot in time, from 0 to ``duration``; before and after it rests at its ends."""

    robot: Robot

    @property
    @abstractmethod
    def duration(self) -> float:
        """How long it lasts, s."""

    @abstractmethod
    def at(self, t: Any) -> MotionState:
        """Configuration, velocity, acceleration and jerk at a time, or at times (K,): then (..., K, n) each."""

    @explained
    def sample(self, dt: float | None = None, *, times: Any = None) -> Trajectory:
        """Samples of the motion, with the joint forces ``tau`` that it takes (`torsor.inverse_dynamics`).

        Parameters
        ----------
        dt : float, optional
            Time from one sample to the next, s; the last one is at the end.
        times : (K,) array, optional
            The times themselves, s, which grow.

        Returns
        -------
        Trajectory
        """
        from torsor.motion.trajectory import Trajectory

        given = times_of(self._start, self._end, dt, times)
        q, v, a, _ = self.at(given)
        return Trajectory(self.robot, given, q, v, a=a, tau=inverse_dynamics(self.robot, q, v, a))

    @explained
    def check(self, robot: Robot | None = None) -> MotionCheck:
        """Report on the limits of position, velocity and effort that the motion breaks, true if it keeps all of them.

        It is looked at at a thousand times and more; what happens between them is not seen.

        Parameters
        ----------
        robot : Robot, optional
            Another robot than that of the motion, with a payload say.

        Returns
        -------
        MotionCheck
        """
        robot = robot_to_check(self.robot, robot)
        times = self._times_to_check()
        q, v, a, _ = self.at(times)
        return check_limits(robot, times, q, v, inverse_dynamics(robot, q, v, a))

    @explained
    def animate(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write a film of the motion: .html, .gif or .mp4, by the ending (`torsor.viewer.animate`).

        Parameters
        ----------
        path : str or path
        **options
            As for `torsor.viewer.animate`.

        Returns
        -------
        Path
            The file.
        """
        import torsor

        return torsor.viewer.animate(self, path, **options)

    @property
    def _start(self) -> float:
        """The time of its beginning, s: 0 but for samples that were cut out of others."""
        return 0.0

    @property
    def _end(self) -> float:
        return self._start + self.duration

    def _times_to_check(self) -> Array:
        return np.linspace(0.0, self.duration, 1001)


class BrokenLimit(NamedTuple):
    """A limit that a motion breaks; as text, a sentence.

    Attributes
    ----------
    joint : str
        Its name, with the place of the number for joints with several.
    limit : str
        "position", "velocity" or "effort".
    value, bound : float
        The worst value, and the limit; rad, m, rad/s, m/s, N·m or N. NaN if the motion has no numbers there.
    time, first : float
        When it is worst, and when the limit is broken first, s.
    which : tuple of int
        Which motion of a batch; empty for one motion.
    """

    joint: str
    limit: str
    value: float
    bound: float
    time: float
    first: float
    which: tuple[int, ...]

    @property
    def excess(self) -> float:
        """By how much the value is beyond the limit."""
        return abs(self.value - self.bound)

    def __str__(self) -> str:
        who = f"motion {', '.join(map(str, self.which))}: " if self.which else ""
        if np.isnan(self.value):
            return f"{who}{self.joint}: {self.limit} is not a number from {self.first:.4g} s."
        return (
            f"{who}{self.joint}: {self.limit} {self.value:.6g} is beyond {self.bound:.6g} by {self.excess:.3g} at "
            f"{self.time:.4g} s, first at {self.first:.4g} s."
        )


@dataclass(frozen=True, repr=False)
class MotionCheck(Report):
    """Which limits a motion breaks, one entry for each joint and kind of limit; true if there are none.

    Attributes
    ----------
    robot : Robot
        Whose limits.
    broken : tuple of BrokenLimit
        For a batch, the worst of its motions.
    """

    robot: Robot
    broken: tuple[BrokenLimit, ...]

    def __bool__(self) -> bool:
        return not self.broken

    def __str__(self) -> str:
        if not self.broken:
            return f"The motion keeps all limits of robot {self.robot.name!r}."
        return "\n".join([f"The motion breaks limits of robot {self.robot.name!r}:", *(f"  {x}" for x in self.broken)])


def robot_to_check(own: Robot, given: Robot | None) -> Robot:
    """The robot whose limits are asked for, if its q and v are those of the motion."""
    if given is None:
        return own
    if not isinstance(given, Robot):
        raise ArgumentTypeError(f"`robot` must be a torsor.Robot, got {type(given).__name__} {given!r:.60}.")
    if (given.nq, given.structure.freedoms) != (own.nq, own.structure.freedoms):
        raise ArgumentError(
            f"this is a motion of robot {own.name!r}, and robot {given.name!r} has other joints: "
            f"{', '.join(given.structure.freedoms[:9])}."
        )
    return given


def check_limits(robot: Robot, times: Array, q: Array, v: Array, tau: Array) -> MotionCheck:
    """The report on samples (..., K, n)."""
    limits, s = robot.structure.limits, robot.structure
    names = [
        name for c in s.coordinates for name in ([c.name] if c.nq == 1 else [f"{c.name}[{k}]" for k in range(c.nq)])
    ]
    speed, effort = (np.array(limit) for limit in (limits.velocity, limits.effort))
    speed, effort = (np.where(limit > 0.0, limit, np.inf) for limit in (speed, effort))  # 0 is no limit
    found = []
    for what, x, low, high, labels in (
        ("position", q, np.array(limits.lower), np.array(limits.upper), names),
        ("velocity", v, -speed, speed, list(s.freedoms)),
        ("effort", tau, -effort, effort, list(s.freedoms)),
    ):
        for i, label in enumerate(labels):
            found.append(_broken(label, what, times, x[..., i], float(low[i]), float(high[i])))
    return MotionCheck(robot, tuple(limit for limit in found if limit is not None))


def _broken(joint: str, what: str, times: Array, x: Array, low: float, high: float) -> BrokenLimit | None:
    """What values (..., K) of one number break, beyond rounding."""
    excess = np.where(np.isnan(x), np.inf, np.maximum(x - high, low - x))  # a value that is none keeps no limit
    slack = 1e-9 * max([1.0, *(abs(bound) for bound in (low, high) if np.isfinite(bound))])
    if not np.any(excess > slack):
        return None
    worst = np.unravel_index(np.argmax(excess), excess.shape)
    *which, k = (int(place) for place in worst)
    value = float(x[worst])
    first = int(np.argmax(excess[tuple(which)] > slack))
    bound = high if value - high >= low - value else low
    return BrokenLimit(joint, what, value, bound, float(times[k]), float(times[first]), tuple(which))


def times_of(start: float, end: float, dt: float | None, times: Any) -> Array:
    """The times that are asked for: every ``dt`` from start to end, both of them among them, or those that are given."""
    if (dt is None) == (times is None):
        raise ArgumentError("give `dt`, the time between samples, s, or `times`, one of the two.")
    if dt is not None:
        if not (dt > 0.0 and np.isfinite(dt)):
            raise ArgumentError(f"`dt` must be positive, got {dt}.")
        count = (end - start) / dt
        if count > MOST_SAMPLES:
            raise ArgumentError(
                f"`dt` = {dt:.3g} s makes {count:.3g} samples of {end - start:.3g} s: pass a larger one."
            )
        grid = start + dt * np.arange(int(np.floor(count * (1.0 + 1e-12))) + 1)
        at_end = len(grid) > 1 and end - grid[-1] <= 1e-9 * dt  # but for rounding, by which it may also lie beyond
        return np.append(grid[:-1] if at_end or end == start else grid, end)
    try:
        given = np.asarray(times, float)
    except (TypeError, ValueError):
        given = np.zeros((0, 0))
    if given.ndim != 1 or not len(given) or not np.all(np.isfinite(given)) or np.any(np.diff(given) <= 0.0):
        raise ArgumentError(f"`times` must be finite times (N,) that grow, s, at least one, got {times!r:.60}.")
    return given
