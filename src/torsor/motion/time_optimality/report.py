"""What `time_optimal` found: the motion, the phase plane, and which limit is in the way where."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.motion.motions import MotionState
from torsor.motion.time_optimality.intervals import Grid
from torsor.motion.time_optimality.jerk_limited.law import SmoothLaw, SmoothLaws
from torsor.motion.time_optimality.jerk_limited.solution import Smooth
from torsor.motion.time_optimality.obstacles import Obstacle
from torsor.motion.time_optimality.paths import Path
from torsor.motion.time_optimality.profile import Profile
from torsor.motion.time_optimality.retimed import RetimedMotion, law_of
from torsor.motion.time_optimality.rows import JointLimits

REACHED = 0.995  # part of a limit from which on it is in the way
OFTEN_KEPT = 1e-3  # part of a limit by which it may be left without a word
SHORT = 2e-3  # of s: what is in the way for less is not told in the summary


class ReachedLimit(NamedTuple):
    """A limit that is reached over a stretch of a path; as text, a phrase.

    Attributes
    ----------
    joint : str
        The joint, or its freedom.
    limit : str
        "effort", "velocity", "acceleration" or "jerk".
    side : int
        1 at the upper bound, −1 at the lower.
    s : pair of float
        From where to where, 0 to 1.
    """

    joint: str
    limit: str
    side: int
    s: tuple[float, float]

    def __str__(self) -> str:
        return f"{self.s[0]:.3f} to {self.s[1]:.3f}: {self.limit} of {self.joint}, {'+' if self.side > 0 else '−'}"


@dataclass(frozen=True, eq=False, repr=False)
class TimeOptimalMotion(Report):
    """The motion of least time along a path; true if there is one (for all paths of a batch).

    Attributes
    ----------
    robot : Robot
    duration : (...) array
        Of each path, s; NaN where a path cannot be followed.
    s : (N + 1,) array
        Places along the path, from 0 to 1: the parameter of a function, the part of a motion's duration, or of the length where
        the path stands still along its own parameter.
    s_rate : (..., N + 1) array
        ṡ there, 1/s. Without a limit of jerk ṡ² is linear between places, s̈ constant.
    s_rate_limit : (..., N + 1) array
        The maximum velocity curve, 1/s: beyond it no acceleration keeps all limits but that of jerk.
    excess : (...) array
        The largest part of a limit of force, acceleration or jerk by which it is left anywhere.
    settled : (...) array
        Whether the search for the least time has come to its end. It is stopped after 20 passes over friction that depends on
        speed, and after 100 steps with a limit of jerk, at a motion that keeps limits to within ``excess``.
    obstacles : dict
        For the numbers of paths that cannot be followed (0 for one path), the `Obstacle`.
    """

    robot: Robot
    duration: Array
    s: Array
    s_rate: Array
    s_rate_limit: Array
    excess: Array
    settled: Array
    obstacles: dict[int, Obstacle]
    _path: Path = field(repr=False)
    _limits: JointLimits = field(repr=False)
    _halts: Array = field(repr=False)
    _smooth: SmoothLaw | SmoothLaws | None = field(default=None, repr=False)
    _jerk: Array | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, path: Path, grid: Grid, limits: JointLimits, halts: Array, found: Profile, obstacles: dict[int, Obstacle]
    ) -> TimeOptimalMotion:
        """The report on profiles."""

        def shaped(x: Array) -> Array:
            return x.reshape((*path.batch, *x.shape[1:]))

        rate, most = np.sqrt(shaped(found.x)), np.sqrt(np.maximum(shaped(found.ceilings), 0.0))
        took, excess, settled = (shaped(x) for x in (found.duration, found.excess, found.settled))
        return cls(path.robot, took, grid.points, rate, most, excess, settled, obstacles, path, limits, shaped(halts))

    def with_jerk(self, jerk: Array, found: Smooth) -> TimeOptimalMotion:
        """The report on motions along the same paths with a limit of jerk."""
        laws = [law for law in found.laws if law is not None]
        batch = self._path.batch
        took = np.array([law.duration if law else np.nan for law in found.laws]).reshape(batch)
        none = np.full(len(self.s), np.nan)
        rate = np.array([law.rate_at(self.s) if law else none for law in found.laws]).reshape(self.s_rate.shape)
        return replace(
            self,
            duration=took,
            s_rate=rate,
            excess=found.excess.reshape(batch),
            settled=found.settled.reshape(batch),
            obstacles=self.obstacles | found.obstacles,
            _smooth=None if found.obstacles or not laws else SmoothLaws(laws, batch) if batch else laws[0],
            _jerk=jerk,
        )

    def __bool__(self) -> bool:
        return not self.obstacles

    @property
    def motion(self) -> RetimedMotion:
        """The motion, or that of all paths of a batch: ``at(t)``, ``sample(dt)``. Refused where there is none."""
        if self.obstacles:
            k, reason = next(iter(self.obstacles.items()))
            which = f"path {k}, " if self._path.batch else ""
            raise ArgumentError(f"there is no motion along the path within the limits: {which}{reason}")
        return RetimedMotion(self.robot, self._smooth or law_of(self.s, self.s_rate**2, self._halts), self._path)

    @property
    def active(self) -> tuple[ReachedLimit, ...]:
        """Limits that are reached, in the order of s, for one path."""
        if self._path.batch:
            raise ArgumentError("`active` is of one path: pass that path alone.")
        if not self:
            return ()
        found, motion = [], self.motion
        times = 0.5 * (motion.knots[1:] + motion.knots[:-1])
        places = self.s if self._smooth is None else np.clip(motion.law.at(motion.knots).u[:, 0], 0.0, 1.0)
        for limit, share in self._shares(motion.at(times)).items():
            for k, name in enumerate(self.robot.structure.freedoms):
                for side in (1, -1):
                    for first, last in _stretches(side * share[:, k] >= REACHED):
                        found.append(ReachedLimit(name, limit, side, (float(places[first]), float(places[last + 1]))))
        return tuple(sorted(found, key=lambda one: one.s))

    def _shares(self, state: MotionState) -> dict[str, Array]:
        """Forces, velocities, accelerations and jerks at some times as parts of their limits (K, nv)."""
        q, v, a, jerk = state
        parts = {"velocity": v / self._limits.velocity, "acceleration": a / self._limits.acceleration}
        if np.any(np.isfinite(self._limits.effort)):
            parts["effort"] = inverse_dynamics(self.robot, q, v, a) / self._limits.effort
        if self._jerk is not None:
            parts["jerk"] = jerk / self._jerk
        return parts

    def __str__(self) -> str:
        if self._path.batch:
            return self._words_of_batch()
        if not self:
            return f"The path of {self.robot.name!r} cannot be followed: {self.obstacles[0]}"
        lines = [
            f"Motion of {self.robot.name!r} along a path in {float(self.duration):.6g} s, the least within the limits "
            f"({len(self.s) - 1} intervals, limits left by at most {100.0 * max(0.0, float(self.excess)):.2g} % between them)."
        ]
        if float(self.excess) > OFTEN_KEPT:
            lines.append(
                "The path turns more sharply than was looked at: pass more `intervals`, or lead it more smoothly."
            )
        if not np.all(self.settled):
            lines.append(
                "The search for the least time was stopped early: there may be a faster motion within the limits."
            )
        told = [one for one in self.active if one.s[1] - one.s[0] > SHORT]
        if told:
            lines += ["Limits that are reached, by s:", *(f"  {one}" for one in told)]
        return "\n".join(lines)

    def _words_of_batch(self) -> str:
        total, wrong = self.duration.size, len(self.obstacles)
        lines = [f"Motions of {self.robot.name!r} along {total} paths" + ("." if wrong or not total else "")]
        if total > wrong:
            fine = self.duration[~np.isnan(self.duration)]
            lines[0] = (
                lines[0].rstrip(".") + f" in {fine.min():.4g} to {fine.max():.4g} s, the least within the limits."
            )
        if wrong:
            lines.append(f"{wrong} cannot be followed:")
            lines += [f"  path {k}, {reason}" for k, reason in list(self.obstacles.items())[:5]]
        return "\n".join(lines)


def _stretches(chosen: Array) -> list[tuple[int, int]]:
    """First and last of each run of true values (N,)."""
    edges = np.diff(np.concatenate([[0], chosen.astype(int), [0]]))
    return list(zip(np.flatnonzero(edges == 1).tolist(), (np.flatnonzero(edges == -1) - 1).tolist(), strict=True))
