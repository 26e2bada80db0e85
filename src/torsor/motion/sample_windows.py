"""A log smoothed and differentiated piece by piece, with the same numbers as all at once.

What a value depends on beside the samples near it, the first and last time and whether times are even, is found out first, by
`Sampling`, which sees the times alone. Then `SampleWindows` takes the samples in order and gives back what it has enough of.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.motion import local_fit
from torsor.motion.body_rates import Rates, body_rates
from torsor.motion.integration import with_nearby_quaternions

TOGETHER = 2**21  # numbers in one piece of work
EVEN = 1e-6  # of a step: times that differ by less from even ones are taken as even


class Sampling:
    """What smoothing must know of all times of a log, which are shown to it in order, in any number of pieces."""

    def __init__(self, cutoff: float) -> None:
        self.cutoff = cutoff
        self.H = local_fit.half_width_of(cutoff)
        self.count = 0
        self.first = self.last = np.nan
        self.shortest, self.longest = np.inf, 0.0
        self.longest_after = (0, 0.0)  # the sample before the longest step, and its time

    def add(self, times: Array) -> None:
        """The next times (N,), finite and growing."""
        if not len(times):
            return
        before = np.array([self.last] if self.count else [])
        all_times = np.concatenate([before, times])
        steps = np.diff(all_times)
        if not self.count:
            self.first = float(times[0])
        if len(steps) and steps.max() > self.longest:
            k = int(np.argmax(steps))
            self.longest, self.longest_after = float(steps[k]), (self.count - len(before) + k, float(all_times[k]))
        self.shortest = min(self.shortest, float(steps.min(initial=np.inf)))
        self.count, self.last = self.count + len(times), float(times[-1])

    def refuse_unfit(self) -> None:
        """Refuse a log that is shorter than a window, or has a gap that no window bridges, once all times are known."""
        span = self.last - self.first if self.count else 0.0
        if self.count < local_fit.LEAST or span < 2.0 * self.H:
            least = f", or pass cutoff={1.05 * local_fit.HALF_GAIN / np.pi / span:.3g} or more" if span > 0.0 else ""
            raise ArgumentError(
                f"a `cutoff` of {self.cutoff:.4g} Hz takes windows of {2.0 * self.H:.4g} s with {local_fit.LEAST} samples or "
                f"more, got {self.count} samples over {span:.4g} s: pass a longer log{least}."
            )
        if self.shortest > self.H:
            raise ArgumentError(
                f"samples are {self.step:.4g} s apart, but a `cutoff` of {self.cutoff:.4g} Hz takes several within "
                f"{2.0 * self.H:.4g} s: check that `time` is in seconds, or lower the `cutoff`."
            )
        if self.longest > self.H:
            k, start = self.longest_after
            raise ArgumentError(
                f"there is a gap of {self.longest:.4g} s in `time` after sample {k}, {start:.6g} s, longer than half a window "
                f"({self.H:.4g} s): smooth the parts before and after it apart, or lower the `cutoff`."
            )

    @property
    def step(self) -> float:
        """Mean time between samples, s."""
        return (self.last - self.first) / (self.count - 1)

    @property
    def is_even(self) -> bool:
        """Whether all samples are equally far apart."""
        return max(self.longest - self.step, self.step - self.shortest) < EVEN * self.step


class Measured(NamedTuple):
    """Which entries of v and of a are measured too: their places among the degrees of freedom."""

    v: tuple[int, ...] = ()
    a: tuple[int, ...] = ()


class Smoothed(NamedTuple):
    """Some samples (..., N, ·), smoothed; ``moved`` is by how much q was moved, in tangent coordinates."""

    time: Array
    q: Array
    v: Array
    a: Array
    jerk: Array
    moved: Array


class SampleWindows:
    """Smooths a log that comes in pieces. Measured velocities and accelerations pass the same filter as q."""

    def __init__(self, robot: Robot, sampling: Sampling, measured: Measured = Measured()) -> None:  # noqa: B008 it is frozen
        self.robot, self.sampling, self.measured = robot, sampling, measured
        self.turning = _turning(robot)
        self.turns = np.zeros(len(self.turning))
        self.span = sampling.last - sampling.first
        self.time = np.zeros(0)  # since the first sample
        self.kept = list[Array]()  # q, measured v and a, and the log's own time, of the samples that are still needed
        self.raw: Array = None  # the last q as it was measured
        self.smooth: Array = None  # and as it became
        self.done = 0  # how many of the kept ones have been given back

    def add(self, time: Array, q: Array, v: Array | None = None, a: Array | None = None) -> Smoothed:
        """The next samples in, those out of which all neighbours are known: all, once the last one has come."""
        batch = q.shape[:-2]
        given = [
            self._continued(q),
            np.zeros((*batch, len(time), 0)) if v is None else v,
            np.zeros((*batch, len(time), 0)) if a is None else a,
            time[:, None],
        ]
        self.kept = (
            [np.concatenate(pair, axis=-2) for pair in zip(self.kept, given, strict=True)] if self.kept else given
        )
        self.time = np.concatenate([self.time, time - self.sampling.first])
        reach = 2.0 * self.sampling.H
        known_until = np.max(self.time, initial=-np.inf) - reach
        ready = len(self.time) if np.any(self.time >= self.span) else int(np.searchsorted(self.time, known_until))
        begin, ready = self.done, max(self.done, ready)
        self._refuse_sparse(self.time[begin:ready])
        found = list(self.fitted(self.time[begin:ready], np.arange(begin, ready)))
        smoothed = Smoothed(self.kept[3][begin:ready, 0], self._smooth_continued(found[0]), *found[1:])
        needed_from = self.time[ready] - reach if ready < len(self.time) else -np.inf
        unneeded = int(np.searchsorted(self.time, needed_from))
        self.time, self.done = self.time[unneeded:], ready - unneeded
        self.kept = [x[..., unneeded:, :] for x in self.kept]
        return smoothed

    @once
    def _middle(self) -> Array | None:
        """Weights (4, W) of samples in the middle of even times, asked for once there are enough samples."""
        return local_fit.even_weights(self.sampling.step, self.sampling.H)[1] if self.sampling.is_even else None

    def _continued(self, q: Array) -> Array:
        """Configurations without the jumps of angles by whole turns, and with quaternions of the sign of the one before."""
        if not q.shape[-2]:
            return q
        raw, q = q, np.array(q)
        if self.turning:
            before = raw[..., :1, :] if self.raw is None else self.raw
            steps = np.diff(np.concatenate([before, raw], axis=-2)[..., self.turning], axis=-2)
            # Whole numbers of turns, so that pieces of a log get the very numbers of the whole
            turns = self.turns[..., None, :] - np.cumsum(np.where(np.abs(steps) >= np.pi, _turns(steps), 0.0), axis=-2)
            q[..., self.turning] += 2.0 * np.pi * turns
            self.turns = turns[..., -1, :]
        last = self.kept[0][..., -1:, :] if self.kept else q[..., :0, :]
        self.raw = raw[..., -1:, :]
        return with_nearby_quaternions(self.robot, np.concatenate([last, q], axis=-2))[..., last.shape[-2] :, :]

    def fitted(self, at: Array, centres: Array) -> tuple[Array, ...]:
        """q, v, a, jerk and the move at times ``at`` (K,), s, since the first sample: (..., K, ·).

        The move is from kept samples ``centres`` (K,), in whose coordinates q is taken.
        """
        robot, H, K = self.robot, self.sampling.H, len(at)
        batch = self.kept[0].shape[:-2]
        found = [np.empty((*batch, K, size)) for size in (robot.nq, *(robot.nv,) * 4)]
        widths = local_fit.half_widths(at, H, 0.0, self.span)
        first, last = local_fit.windows(self.time, at, widths)
        # Decided for each time by itself, so that it does not matter which ones come together
        even = np.zeros(K, bool)
        if self._middle is not None:
            even = (widths == H) & (last - first == self._middle.shape[-1]) & (at == self.time[centres])
        most = int((last - first).max(initial=1))
        size = max(1, TOGETHER // (most * max(robot.nv, 4) * max(1, int(np.prod(batch)))))
        for start in range(0, K, size):
            piece = np.arange(start, min(start + size, K))
            for some in (piece[even[piece]], piece[~even[piece]]):
                if not len(some):
                    continue
                near = first[some, None] + np.arange(int((last - first)[some].max()))
                valid, near = near < last[some, None], np.minimum(near, len(self.time) - 1)
                if even[some[0]]:
                    rows = self._middle
                else:
                    rows = local_fit.weights(self.time[near] - at[some, None], widths[some], valid)
                for target, value in zip(found, self._values(centres[some], near, rows), strict=True):
                    target[..., some, :] = value
        return tuple(found)

    def _values(self, some: Array, near: Array, rows: Array) -> tuple[Array, ...]:
        """q, v, a, jerk and the move of kept samples ``some`` (C,), of which those ``near`` (C, W) have weights ``rows``."""
        q, v_measured, a_measured, _ = self.kept
        here = q[..., some, :]
        around = _seen_from(self.robot, here, q[..., near, :])  # (..., C, W, nv)
        u, *rates = np.moveaxis(rows @ around, -2, 0)
        v, a, jerk = body_rates(self.robot, u, Rates(*rates))
        if self.measured.v:
            smooth = np.moveaxis(rows @ v_measured[..., near, :], -2, 0)
            for target, value in zip((v, a, jerk), smooth[:3], strict=True):
                target[..., self.measured.v] = value
        if self.measured.a:
            smooth = np.moveaxis(rows @ a_measured[..., near, :], -2, 0)
            for target, value in zip((a, jerk), smooth[:2], strict=True):
                target[..., self.measured.a] = value
        return integrate(self.robot, here, u), v, a, jerk, u

    def _smooth_continued(self, q: Array) -> Array:
        """Smoothed configurations with quaternions of the sign of the one before."""
        if not q.shape[-2]:
            return q
        before = q[..., :0, :] if self.smooth is None else self.smooth
        q = with_nearby_quaternions(self.robot, np.concatenate([before, q], axis=-2))[..., before.shape[-2] :, :]
        self.smooth = q[..., -1:, :]
        return q

    def _refuse_sparse(self, times: Array) -> None:
        """Refuse windows with too few samples, near these times and between them."""
        H = self.sampling.H
        # The number of samples in a window is least where one has just left it, or is just about to enter
        places = np.concatenate([times, times + H, times - H])
        places = places[(places >= 0.0) & (places <= self.span)]
        first, last = local_fit.windows(self.time, places, local_fit.half_widths(places, H, 0.0, self.span))
        if len(places) and (last - first).min() < local_fit.LEAST:
            k = int(np.argmin(last - first))
            most = local_fit.half_width_of(1.0) * 2.0 / (local_fit.LEAST + 1) / self.sampling.longest
            raise ArgumentError(
                f"near {self.sampling.first + places[k]:.6g} s a window of {2.0 * H:.4g} s holds {int((last - first)[k])} "
                f"samples only, and {local_fit.LEAST} are needed: pass a `cutoff` of {most:.3g} Hz or less."
            )


def _turning(robot: Robot) -> list[int]:
    """Places in q of angles that whole turns leave as good: those of joints without limits."""
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    free = (lower < -HUGE) & (upper > HUGE)
    return [c.q.start + k for c, kind in robot.structure.blocks for k in kind.whole_turns if free[c.q.start + k]]


def _turns(steps: Array) -> Array:
    """Whole turns in each step, so that what is left is within half a turn; half a turn itself is left as it is."""
    turns = np.ceil(np.abs(steps) / (2.0 * np.pi) - 0.5)
    return np.copysign(turns, steps)


def _seen_from(robot: Robot, here: Array, near: Array) -> Array:
    """Configurations (..., C, W, nq) in tangent coordinates (..., C, W, nv) of those in the middle (..., C, nq)."""
    centre = here[..., :, None, :]
    if robot.structure.has_plain_velocities:
        return near - centre
    return difference(robot, np.broadcast_to(centre, near.shape), near)
