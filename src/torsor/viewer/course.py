"""A motion as the viewer plays it: configurations over time from 0, one of a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.model import Robot
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory

PAGE_RATE = 60.0  # samples that a written page has for each second: between them it interpolates
MOST_SAMPLES = 3000


class Course:
    """A motion of one robot, with its batch flattened; ``chosen`` is the one that is shown."""

    def __init__(self, robot: Robot, motion: Any, name: str = "motion") -> None:
        if not (hasattr(motion, "duration") and callable(getattr(motion, "at", None))):
            raise ArgumentTypeError(
                f"`{name}` must be a motion (it has `duration` and `at`), such as a torsor.Trajectory, got "
                f"{type(motion).__name__}. Configurations (N, nq) become one by torsor.motion.spline(robot, times, q)."
            )
        own = getattr(motion, "robot", None)
        if isinstance(own, Robot) and own.nq != robot.nq:
            raise ArgumentError(
                f"`{name}` is of robot {own.name!r} with {own.nq} numbers in q, but robot {robot.name!r} has {robot.nq}."
            )
        self.robot, self.motion = robot, motion
        self.duration = float(motion.duration)
        if not np.isfinite(self.duration):
            raise ArgumentError(f"`{name}` must have an end, got a duration of {self.duration} s.")
        self._start = float(motion._start) if isinstance(motion, Motion) else 0.0
        first = self._all_at(0.0)
        if first.ndim < 1 or first.shape[-1] != robot.nq:
            raise ArgumentTypeError(
                f"`{name}` must give configurations ({robot.nq},) of robot {robot.name!r}, got shape {first.shape}. "
                "A motion of a pose has none: follow it by torsor.inverse_kinematics first."
            )
        self.batch = first.shape[:-1]
        self.count = int(np.prod(self.batch))
        if not self.count:
            raise ArgumentError(f"`{name}` has a batch of {self.batch}: there is nothing to show.")
        self.chosen = 0

    def _all_at(self, t: Any) -> Array:
        state = self.motion.at(t + self._start)
        return np.asarray(getattr(state, "q", state[0] if isinstance(state, tuple) else state), float)

    def q(self, t: float) -> Array:
        """Configuration (nq,) at a time from the start, s."""
        return self._all_at(t).reshape(-1, self.robot.nq)[self.chosen]

    def samples(self, times: Array) -> Array:
        """Configurations (N, nq) at times (N,) from the start, s."""
        if not isinstance(self.motion, Motion):  # one of the user's own, which may take one time only
            return np.array([self.q(float(t)) for t in times])
        return self._all_at(times).reshape(-1, len(times), self.robot.nq)[self.chosen]

    def velocity(self, t: float) -> Array:
        """Velocity (nv,) at a time from the start, where the motion gives it; else zero."""
        v = getattr(self.motion.at(t + self._start), "v", None)
        return np.zeros(self.robot.nv) if v is None else np.asarray(v, float).reshape(-1, self.robot.nv)[self.chosen]

    def wrenches(self, times: Array) -> dict[str, Array]:
        """External wrenches (N, 6) by frame, held from sample to sample, if the motion has any."""
        if not isinstance(self.motion, Trajectory) or not self.motion.wrenches:
            return {}
        run = self.motion
        place = np.clip(np.searchsorted(run.time, times + self._start, side="right") - 1, 0, len(run.time) - 1)
        return {frame: x.reshape(-1, len(run.time), 6)[self.chosen][place] for frame, x in run.wrenches.items()}

    def page_times(self) -> Array:
        """Times (N,) at which a written page has the robot: those of the samples where there are few, evenly spaced else."""
        few = int(min(np.ceil(self.duration * PAGE_RATE), MOST_SAMPLES - 1)) + 1
        if isinstance(self.motion, Trajectory) and len(self.motion) <= few:
            return self.motion.time - self._start
        return np.linspace(0.0, self.duration, max(few, 2))
