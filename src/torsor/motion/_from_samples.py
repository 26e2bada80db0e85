"""Measured configurations, smoothed and differentiated on the manifold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._html import words
from torsor.arrays.typing import Array, GivenConfiguration, GivenNumbers
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.motion import local_fit
from torsor.motion.motions import Motion, MotionState
from torsor.motion.sample_windows import SampleWindows, Sampling
from torsor.motion.tangent_motion import time_of
from torsor.motion.trajectory import Trajectory


@dataclass(frozen=True, eq=False, repr=False)
class SmoothedLog(Motion):
    """A measured motion, smoothed: what `torsor.motion.from_samples` returns. A motion in time, from 0 to ``duration``.

    At every time, between the samples too, q, v, a and jerk are those of the best polynomial there, each with its own stated
    transfer function (`gain`). So v is the derivative of q as far as both let a motion pass: not to the last digit of the noise.

    Attributes
    ----------
    trajectory : Trajectory
        The smoothed samples, with velocities, accelerations and the joint forces of inverse dynamics; time begins at 0.
        Between the samples ask the log itself, not the trajectory: that one makes v and a its derivatives, and noise large.
    jerk : (..., N, nv) array
        rad/s³ or m/s³.
    residual : (..., N, nv) array
        What was measured less what is left, on the manifold, rad or m: noise, if the cutoff is well chosen.
    start : float
        Time of the first sample in the log, s.
    dt : float
        Typical (median) time between samples, s.
    cutoff : float
        Frequency, Hz, of which half the amplitude passes.
    half_width : float
        Samples up to this time before and after have a part in each value, s.
    """

    trajectory: Trajectory
    jerk: Array
    residual: Array
    start: float
    dt: float
    cutoff: float
    half_width: float
    _windows: SampleWindows

    @property
    def robot(self) -> Robot:  # type: ignore[override]
        """Whose motion it is."""
        return self.trajectory.robot

    @property
    def duration(self) -> float:
        """From the first to the last sample, s."""
        return self.trajectory.duration

    def at(self, t: Any) -> MotionState:
        """Configuration, velocity, acceleration and jerk at a time, or at times (K,), s, since the first sample.

        Outside [0, duration] q is that of the nearer end, and the others are zero. The time cannot be traced.
        """
        t = time_of(t)
        if not isinstance(t, np.ndarray):
            raise ArgumentError(
                "a smoothed log cannot be traced. Pass a spline through some of its samples: "
                "motion.spline(robot, log.trajectory.time[::10], log.trajectory.q[::10])."
            )
        times, times_asked = self.trajectory.time, np.atleast_1d(t)
        held = np.clip(times_asked, 0.0, times[-1])
        held = np.where(np.isnan(held), 0.0, held)
        around = np.clip(np.searchsorted(times, held), 1, len(times) - 1)
        around -= held - times[around - 1] < times[around] - held  # the nearest sample
        q, *rates, _ = self._windows.fitted(held, around)
        within = np.where((times_asked >= 0.0) & (times_asked <= times[-1]), 1.0, 0.0)[:, None]
        unknown = np.where(np.isnan(times_asked), np.nan, 0.0)[:, None]
        state = MotionState(q + unknown, *(within * x + unknown for x in rates))
        return state if t.ndim else MotionState(*(x[..., 0, :] for x in state))

    @explained
    def gain(self, frequency: GivenNumbers, derivative: int = 0) -> Array:
        """Transfer function: the part of a sine of the log that is in the result, for even times ``dt`` and far from the ends.

        It is real: the phase is kept.

        Parameters
        ----------
        frequency : (...) array
            Hz.
        derivative : int
            0 for q, 1 for v, 2 for a, 3 for jerk; compared with the exact derivative of the sine.

        Returns
        -------
        (...) array
            No unit; 1 at frequency 0.
        """
        if derivative not in (0, 1, 2, 3):
            raise ArgumentError(f"`derivative` must be 0 (q), 1 (v), 2 (a) or 3 (jerk), got {derivative!r:.40}.")
        omega = 2.0 * np.pi * np.asarray(frequency, float)
        offsets, rows = local_fit.even_weights(self.dt, self.half_width)
        angle = np.where(omega == 0.0, 1.0, omega)[..., None] * offsets
        wave = np.cos(angle) if derivative % 2 == 0 else np.sin(angle)
        sign = -1.0 if derivative in (2, 3) else 1.0
        found = sign * (wave @ rows[derivative]) / np.where(omega == 0.0, 1.0, omega) ** derivative
        return np.where(omega == 0.0, 1.0, found)[()]

    @property
    def noise(self) -> Array:
        """Deviation of q, v, a and jerk (4,) that white noise of deviation 1 in the log leaves, far from the ends: 1, 1/s, ..."""
        _, rows = local_fit.even_weights(self.dt, self.half_width)
        return np.sqrt(np.sum(rows**2, axis=-1))

    @property
    def noise_at_ends(self) -> Array:
        """The same (4,) at the first and the last sample, where all neighbours are on one side."""
        reach = int(np.ceil(2.0 * self.half_width / self.dt)) - 1
        offsets = self.dt * np.arange(reach + 1)[None]
        rows = local_fit.weights(offsets, np.array([2.0 * self.half_width]), offsets >= 0.0)[0]
        return np.sqrt(np.sum(rows**2, axis=-1))

    def __repr__(self) -> str:
        """One line."""
        run = self.trajectory
        return f"<SmoothedLog of {run.robot.name!r}: {len(run)} samples over {run.duration:.6g} s, cutoff {self.cutoff:.4g} Hz>"

    def __str__(self) -> str:
        run, noise, ends = self.trajectory, self.noise, self.noise_at_ends
        size = np.sqrt(np.mean(self.residual**2)) if self.residual.size else 0.0
        return "\n".join(
            [
                f"{len(run)} samples of {run.robot.name!r} over {run.duration:.6g} s, about {self.dt:.4g} s apart, smoothed by "
                f"polynomials of degree {local_fit.DEGREE} over ±{self.half_width:.4g} s; no phase is lost.",
                f"Of a sine of {self.cutoff:.4g} Hz {self.gain(self.cutoff):.3f} passes, of half this frequency "
                f"{self.gain(0.5 * self.cutoff):.4f}, of twice {self.gain(2.0 * self.cutoff):.4f}.",
                f"White noise of 1 in q becomes {noise[0]:.3g} in q, {noise[1]:.3g}/s in v, {noise[2]:.3g}/s² in a and "
                f"{noise[3]:.3g}/s³ in jerk; at the ends {ends[0]:.3g}, {ends[1]:.3g}, {ends[2]:.3g} and {ends[3]:.3g}.",
                f"What was taken away has a root mean square of {size:.3g} (rad or m).",
            ]
        )

    def _repr_html_(self) -> str:
        return words(str(self))


@explained
def from_samples(time: GivenNumbers, q: GivenConfiguration, *, robot: Robot, cutoff: float) -> SmoothedLog:
    """A measured log as a motion: smoothed and differentiated on the manifold, with a stated transfer function.

    Around each sample the best polynomial of fifth degree in tangent coordinates of that sample is taken over a window
    (Savitzky–Golay with smooth weights, at any times) [Cle79; SG64]. A motion of fifth degree passes unchanged.

    Parameters
    ----------
    time : (N,) array
        s, growing, at any distances.
    q : (..., N, nq) array
        Measured configurations, rad or m. Angles of joints without limits may jump by whole turns, quaternions may change sign.
    robot : Robot
    cutoff : float
        Frequency, Hz, of which half the amplitude passes: above what the motion holds, below what is noise.

    Returns
    -------
    SmoothedLog
        A motion; ``trajectory`` has q, v, a and tau at all samples, `SmoothedLog.gain` the transfer function, and ``noise`` how
        much noise is left in each derivative.
    """
    refuse_strangers(robot, q, time)
    refuse_bad_numbers(cutoff=cutoff)
    times, measured = _log(robot, time, q)
    sampling = Sampling(float(cutoff))
    sampling.add(times)
    sampling.refuse_unfit()
    windows = SampleWindows(robot, sampling)
    smooth = windows.add(times, measured)
    run = Trajectory(robot, times - times[0], smooth.q, smooth.v, smooth.a)
    dt = float(np.median(np.diff(times)))
    return SmoothedLog(run, smooth.jerk, -smooth.moved, float(times[0]), dt, float(cutoff), sampling.H, windows)


def _log(robot: Robot, time: Any, q: Any) -> tuple[Array, Array]:
    """Times (N,) and configurations (..., N, nq), checked."""
    try:
        times, measured = np.asarray(time, float), np.asarray(q, float)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`time` and `q` must be arrays of numbers: {error}.") from None
    if times.ndim != 1 or measured.ndim < 2 or measured.shape[-2:] != (len(times), robot.nq):
        raise ShapeError(
            f"`time` must have shape (N,) and `q` (..., N, {robot.nq}) for robot {robot.name!r}, got {times.shape} and "
            f"{measured.shape}."
        )
    if not np.all(np.isfinite(times)):
        raise ArgumentError(f"`time` must be finite, sample {int(np.argmin(np.isfinite(times)))} is not.")
    if len(times) > 1 and np.any(np.diff(times) <= 0.0):
        k = int(np.argmax(np.diff(times) <= 0.0)) + 1
        twice = "is the same as" if times[k] == times[k - 1] else "is before"
        raise ArgumentError(
            f"`time` must grow, but sample {k}, {times[k]:.9g} s, {twice} the one before it. Take doubled ones out: "
            "time, keep = np.unique(time, return_index=True); q = q[..., keep, :]."
        )
    good = np.all(np.isfinite(measured), axis=-1).reshape(-1, len(times)).all(axis=0)
    if not np.all(good):
        raise ArgumentError(
            f"`q` must be finite, but {int(np.sum(~good))} of {len(times)} samples are not, the first at "
            f"{times[int(np.argmin(good))]:.6g} s. Leave them out: keep = np.isfinite(q).all(-1); time[keep], q[keep]."
        )
    refuse_zero_quaternions(robot, measured, "`q`: ")
    return times, measured
