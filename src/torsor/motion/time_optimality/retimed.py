"""A path in time: q(s(t)), with velocity, acceleration and jerk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.motions import Motion, MotionState
from torsor.motion.segments import Segments
from torsor.motion.tangent_motion import time_of
from torsor.motion.time_optimality.jerk_limited.law import SmoothLaw, SmoothLaws
from torsor.motion.time_optimality.paths import Path


@dataclass(frozen=True, eq=False, repr=False)
class RetimedMotion(Motion, Report):
    """A path passed through by a time law, q(s(t)); `time_optimal` makes it. Outside [0, duration] it rests at its ends.

    v = q' ṡ, a = q'' ṡ² + q' s̈ and jerk = q''' ṡ³ + 3 q'' ṡ s̈ + q' s⃛. Without limits of jerk s̈ is constant between points of a
    grid. Where it jumps the jerk is not bounded; what is given is that on both sides.

    Attributes
    ----------
    robot : Robot
    law : Segments, SmoothLaw or SmoothLaws
        s(t), in pieces (..., N). Each member of a batch takes its own time and rests then.
    """

    robot: Robot
    law: Segments | SmoothLaw | SmoothLaws
    _path: Path = field(repr=False)

    @property
    def duration(self) -> float:
        """How long it takes, s; of a batch, the longest."""
        return self.law.duration

    @property
    def knots(self) -> Array:
        """When the acceleration may jump (..., N + 1), s."""
        return self.law.knots

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        _, u, rates = self.law.at(time_of(t))
        s = where(u < 0.0, 0.0, where(u > 1.0, 1.0, u))[..., 0]  # (..., K)
        first, second, third = rates
        if not self._path.batch:
            q, d, dd, ddd = self._path.at(s)
        else:
            q, d, dd, ddd = self._each(s)
        return MotionState(
            q,
            first * d,
            first**2 * dd + second * d,
            first**3 * ddd + 3.0 * first * second * dd + third * d,
        )

    def _each(self, s: Array) -> MotionState:
        """Every path of a batch at its own s."""
        batch = self._path.batch
        rows = np.asarray(s).reshape(int(np.prod(batch)), -1)
        states = [self._path.member(k).at(row) for k, row in enumerate(rows)]
        shape = s.shape
        parts = zip(*states, strict=True)
        sizes = (self.robot.nq, *[self.robot.nv] * 3)
        return MotionState(*(np.reshape(np.stack(x), (*shape, n)) for x, n in zip(parts, sizes, strict=True)))

    def _times_to_check(self) -> Array:
        times = super()._times_to_check()
        return np.union1d(times, self.knots) if self.knots.ndim == 1 else times

    def __str__(self) -> str:
        return f"motion of {self.robot.name!r} along a path in {self.duration:.4g} s"


def law_of(s: Array, x: Array, halts: Array) -> Segments:
    """s(t) with s̈ constant between points s (N + 1,), where ṡ² = x (..., N + 1)."""
    lengths, spacing = times_of_intervals(x, s, halts), np.diff(s)
    knots = np.concatenate([np.zeros((*lengths.shape[:-1], 1)), np.cumsum(lengths, axis=-1)], axis=-1)
    first = np.sqrt(x[..., :-1]) * lengths
    starts = np.broadcast_to(s[:-1], first.shape)
    c = np.stack([starts, first, spacing - first], axis=-1)[..., None]
    return Segments(knots, c, np.zeros((*lengths.shape, 1)))


def times_of_intervals(x: Array, s: Array, halts: Array) -> Array:
    """How long each interval takes (..., N), s; those from one side of a corner to the other, no time."""
    rate = np.sqrt(x)
    total, crossing = rate[..., 1:] + rate[..., :-1], halts[..., 1:] & halts[..., :-1]
    with np.errstate(divide="ignore"):
        found: Array = np.where(crossing, 0.0, 2.0 * np.diff(s) / np.where(crossing, 1.0, total))
    return found
