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
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot

if TYPE_CHECKING:
    from torsor.motion.trajectory import Trajectory


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
        """Samples of the motion, with the joint forces that it takes (`torsor.inverse_dynamics`).

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

        given = _times(self._start, self.duration, dt, times)
        q, v, a, _ = self.at(given)
        return Trajectory(self.robot, given, q, v, a=a, tau=inverse_dynamics(self.robot, q, v, a))

    @explained
    def check(self, *, robot: Robot | None = None) -> MotionCheck:
        """Report on the limits that the motion breaks, true if it keeps all of them; looked at at a thousand times.

        Parameters
        ----------
        robot : Robot, optional
            Another robot than that of the motion, with a payload say.

        Returns
        -------
        MotionCheck
        """
        robot = self.robot if robot is None else robot
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

    def _times_to_check(self) -> Array:
        return np.linspace(0.0, self.duration, 1001)


@dataclass(frozen=True, repr=False)
class MotionCheck(Report):
    """Which limits a motion breaks: in words, one for each joint and kind of limit. True if there are none."""

    robot: Robot
    broken: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.broken

    def __str__(self) -> str:
        if not self.broken:
            return f"The motion keeps all limits of robot {self.robot.name!r}."
        return "\n".join([f"The motion breaks limits of robot {self.robot.name!r}:", *(f"  {x}" for x in self.broken)])


def check_limits(robot: Robot, times: Array, q: Array, v: Array, tau: Array) -> MotionCheck:
    """The report on samples (..., K, n)."""
    limits, s = robot.structure.limits, robot.structure
    broken: list[str] = []
    names = [
        name for c in s.coordinates for name in ([c.name] if c.nq == 1 else [f"{c.name}[{k}]" for k in range(c.nq)])
    ]
    lower, upper, speed = (np.array(limit) for limit in (limits.lower, limits.upper, limits.velocity))
    speed = np.where(speed > 0.0, speed, np.inf)  # 0 is no limit, as for control laws
    for what, x, low, high, labels in (
        ("position", q, lower, upper, names),
        ("velocity", v, -speed, speed, list(s.freedoms)),
        ("effort", tau, -np.array(limits.effort), np.array(limits.effort), list(s.freedoms)),
    ):
        rows = np.reshape(x, (-1, len(times), x.shape[-1]))
        for i, label in enumerate(labels):
            excess = np.maximum(rows[..., i] - high[i], low[i] - rows[..., i])
            if not np.any(excess > 1e-9 * max(1.0, abs(high[i]) if np.isfinite(high[i]) else 1.0)):
                continue
            over = excess > 0.0
            first = float(times[np.argmax(over.any(axis=0))])
            worst = np.unravel_index(np.argmax(excess), excess.shape)
            value = float(rows[(*worst, i)])
            bound = high[i] if value > high[i] else low[i]
            broken.append(
                f"{label}: {what} {value:.6g} beyond {bound:.6g}, at {float(times[worst[-1]]):.4g} s; first at {first:.4g} s."
            )
    return MotionCheck(robot, tuple(broken))


def _times(start: float, duration: float, dt: float | None, times: Any) -> Array:
    """The times that are asked for."""
    if (dt is None) == (times is None):
        raise ArgumentError("give `dt`, the time between samples, or `times`, one of the two.")
    if dt is not None:
        if not (dt > 0.0 and np.isfinite(dt)):
            raise ArgumentError(f"`dt` must be positive, got {dt}.")
        number = int(np.floor(duration / dt * (1.0 + 1e-12)))
        grid = dt * np.arange(number + 1)
        return start + (np.append(grid, duration) if duration - grid[-1] > 1e-9 * dt else grid)
    given = np.asarray(times, float)
    if given.ndim != 1 or not len(given) or not np.all(np.isfinite(given)) or np.any(np.diff(given) <= 0.0):
        raise ArgumentError("`times` must be a list of finite times that grow.")
    return given
