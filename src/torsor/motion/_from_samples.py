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
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.motion import local_fit
from torsor.motion.body_rates import Rates, body_rates
from torsor.motion.integration import with_nearby_quaternions
from torsor.motion.motions import Motion, MotionState
from torsor.motion.tangent_motion import time_of
from torsor.motion.trajectory import Trajectory

TOGETHER = 2**21  # numbers in one piece of work
EVEN = 1e-6  # of a step: times that differ by less from even ones are taken as even


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
    _measured: Array

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
        q, *rates, _ = _fitted(self.robot, times, self._measured, held, around, self.dt, self.half_width)
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
    H = local_fit.half_width_of(cutoff)
    _refuse_sparse(times, H, cutoff)
    dt = float(np.median(np.diff(times)))
    measured = with_nearby_quaternions(robot, _unwrapped(robot, measured))
    start, times = float(times[0]), times - times[0]
    q_smooth, v, a, jerk, moved = _fitted(robot, times, measured, times, np.arange(len(times)), dt, H)
    run = Trajectory(robot, times, with_nearby_quaternions(robot, q_smooth), v, a)
    return SmoothedLog(run, jerk, -moved, start, dt, float(cutoff), H, measured)


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


def _refuse_sparse(times: Array, H: float, cutoff: float) -> None:
    """Refuse windows with too few samples, and gaps that a window cannot bridge."""
    if len(times) < local_fit.LEAST or times[-1] - times[0] < 2.0 * H:
        span = times[-1] - times[0] if len(times) else 0.0
        least = f", or pass cutoff={1.05 * local_fit.HALF_GAIN / np.pi / span:.3g} or more" if span > 0.0 else ""
        raise ArgumentError(
            f"a `cutoff` of {cutoff:.4g} Hz takes windows of {2.0 * H:.4g} s with {local_fit.LEAST} samples or more, got "
            f"{len(times)} samples over {span:.4g} s: pass a longer log{least}."
        )
    steps = np.diff(times)
    if steps.max() > H:
        k = int(np.argmax(steps))
        raise ArgumentError(
            f"there is a gap of {steps[k]:.4g} s in `time` after sample {k}, {times[k]:.6g} s, longer than half a window "
            f"({H:.4g} s): smooth the parts before and after it apart, or lower the `cutoff`."
        )
    # The number of samples in a window is least where one has just left it, or is just about to enter
    places = np.concatenate([times, times + H, times - H])
    places = places[(places >= times[0]) & (places <= times[-1])]
    first, last = local_fit.windows(times, local_fit.half_widths(times, H, places), places)
    if (last - first).min() < local_fit.LEAST:
        k = int(np.argmin(last - first))
        most = local_fit.half_width_of(1.0) * 2.0 / (local_fit.LEAST + 1) / float(np.max(steps))
        raise ArgumentError(
            f"near {places[k]:.6g} s a window of {2.0 * H:.4g} s holds {int((last - first)[k])} samples only, and "
            f"{local_fit.LEAST} are needed: pass a `cutoff` of {most:.3g} Hz or less."
        )


def _unwrapped(robot: Robot, q: Array) -> Array:
    """Angles that whole turns leave as good, without the jumps by whole turns: those of joints without limits."""
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    free = (lower < -HUGE) & (upper > HUGE)
    turning = [c.q.start + k for c, kind in robot.structure.blocks for k in kind.whole_turns if free[c.q.start + k]]
    if not turning:
        return q
    q = np.array(q)
    q[..., turning] = np.unwrap(q[..., turning], axis=-2)
    return q


def _fitted(
    robot: Robot, times: Array, q: Array, at: Array, centres: Array, dt: float, H: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Smoothed q, v, a and jerk at times ``at`` (K,), and q in the coordinates of the samples ``centres`` (K,): (..., K, ·)."""
    widths = local_fit.half_widths(times, H, at)
    first, last = local_fit.windows(times, widths, at)
    batch, N, K, most = q.shape[:-2], len(times), len(at), int((last - first).max(initial=1))
    found = [np.empty((*batch, K, size)) for size in (robot.nq, *(robot.nv,) * 4)]
    even = bool(np.all(np.abs(np.diff(times) - dt) < EVEN * dt))
    middle = local_fit.even_weights(dt, H)[1] if even else None
    size = max(1, TOGETHER // (most * max(robot.nv, 4) * max(1, int(np.prod(batch)))))
    for begin in range(0, K, size):
        some = slice(begin, min(begin + size, K))
        near = first[some, None] + np.arange(most)
        valid, near = near < last[some, None], np.minimum(near, N - 1)
        here = q[..., centres[some], :]
        if middle is not None and np.all(
            (widths[some] == H) & (last[some] - first[some] == middle.shape[-1]) & (at[some] == times[centres[some]])
        ):
            near, rows = near[:, : middle.shape[-1]], middle
        else:
            rows = local_fit.weights(times[near] - at[some, None], widths[some], valid)
        around = _seen_from(robot, here, q[..., near, :])  # (..., C, W, nv)
        u, *rates = np.moveaxis(rows @ around, -2, 0)
        placed = integrate(robot, here, u)
        for target, value in zip(found, (placed, *body_rates(robot, u, Rates(*rates)), u), strict=True):
            target[..., some, :] = value
    q_smooth, v, a, jerk, moved = found
    return q_smooth, v, a, jerk, moved


def _seen_from(robot: Robot, here: Array, near: Array) -> Array:
    """Configurations (..., C, W, nq) in tangent coordinates (..., C, W, nv) of those in the middle (..., C, nq)."""
    centre = here[..., :, None, :]
    if robot.structure.has_plain_velocities:
        return near - centre
    return difference(robot, np.broadcast_to(centre, near.shape), near)
