"""Motions of a pose in time: along one screw, and smoothly through via poses.

They have the verbs of motions of robots (`duration`, `at`, `sample`), with a pose in the place of q and twists in that of v: a
class of their own, since they have no robot. Twists are body twists (angular, linear), seen from the moving frame; their
acceleration and jerk are the derivatives of these six numbers. That is what `torsor.control.operational_space` takes as the
motion of a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays import matmul, reshape
from torsor.arrays.typing import POSE, Array, GivenNumbers, Pose, Twist
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import is_traced, numbers_of, refuse_bad_numbers
from torsor.border.rigid_motions import refuse_what_is_none
from torsor.errors import ArgumentError, ShapeError
from torsor.lie.unchecked import se3
from torsor.model.joint_kinds import KINDS
from torsor.motion._spline import CLOSED, ENDS, end_conditions, knot_times
from torsor.motion.body_rates import Rates, group_coordinate_rates, group_rates
from torsor.motion.motions import times_of
from torsor.motion.segments import Segments, hermite
from torsor.motion.spline_pieces import Curve, spline_pieces
from torsor.motion.tangent_motion import OUTSIDE, common_batch, repeated, time_of

LAWS = {"linear": 1, "cubic": 2, "quintic": 3, "septic": 4}


@in_one_line
class PoseState(NamedTuple):
    """A pose and how it moves; of times (K,) with the axes (..., K, ·)."""

    pose: Pose
    """T (..., 4, 4), m."""
    twist: Twist
    """Body twist (angular, linear) (..., 6), rad/s and m/s."""
    acceleration: Twist
    """Its derivative (..., 6), rad/s² and m/s²."""
    jerk: Twist
    """The next (..., 6), rad/s³ and m/s³."""


@in_one_line
class PoseSamples(NamedTuple):
    """A pose motion at times."""

    time: Array
    """(N,), s."""
    pose: Pose
    """(..., N, 4, 4), m."""
    twist: Twist
    """Body twists (..., N, 6), rad/s and m/s."""
    acceleration: Twist
    """(..., N, 6), rad/s² and m/s²."""
    jerk: Twist
    """(..., N, 6), rad/s³ and m/s³."""


@dataclass(frozen=True, eq=False, repr=False)
class PoseMotion(Report):
    """A motion of a pose in time; made by `screw` and `smooth_pose`.

    Outside [0, duration] it is held: the pose is that of the nearer end, and twist, acceleration and jerk are zero. A periodic
    one repeats.

    Attributes
    ----------
    kind : str
        What it is, in a word.
    segments : Segments
        Knots, polynomials and the poses they are seen from, row after row.
    periodic : bool
        Whether it repeats.
    """

    kind: str
    segments: Segments
    periodic: bool = False

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return self.segments.duration

    def at(self, t: Any) -> PoseState:
        """Pose, body twist, acceleration and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        t = time_of(t)
        anchor, u, rates = self.segments.at(repeated(t, self.duration) if self.periodic else t)
        pose = matmul(reshape(anchor, 1, 4, 4), se3.exp(u))
        return PoseState(pose, *group_rates("motions", u, rates))

    @explained
    def sample(self, dt: float | None = None, *, times: GivenNumbers | None = None) -> PoseSamples:
        """The motion at times from 0 to its end.

        Parameters
        ----------
        dt : float, optional
            Time between samples, s; the last is at the end. Either this or ``times``.
        times : (N,) array, optional
            s.

        Returns
        -------
        PoseSamples
        """
        chosen = times_of(0.0, self.duration, dt, times)
        return PoseSamples(chosen, *self.at(chosen))

    def __str__(self) -> str:
        return f"{self.kind} motion of a pose, {self.duration:.4g} s"


@explained
def screw(T0: GivenNumbers, T1: GivenNumbers, *, duration: float, law: str = "quintic") -> PoseMotion:
    """Motion of a pose from T0 to T1 along the one screw that joins them, T0 exp(s(t) log(T0⁻¹ T1)) [LP17, §9.2.1].

    Parameters
    ----------
    T0, T1 : (..., 4, 4) array
        Poses, m. The turn is at most half of one.
    duration : float
        s.
    law : str
        How s goes from 0 to 1: "linear", at constant speed; "cubic", "quintic" or "septic", from rest to rest, with
        acceleration (quintic) and jerk (septic) zero at the ends.

    Returns
    -------
    PoseMotion
    """
    refuse_unknown_word("law", law, LAWS)
    begin, end = _poses("T0", T0), _poses("T1", T1)
    batch = common_batch({"T0": begin, "T1": end}, 2)
    S = np.broadcast_to(se3.log(se3.compose(se3.inverse(begin), end)), (*batch, 6))
    if duration != 0.0 or np.any(np.abs(S) > 1e-12):
        refuse_bad_numbers(duration=duration)
    none = [np.zeros(1)] * (LAWS[law] - 1)
    s = hermite(np.array(float(duration)), [np.zeros(1), *none], [np.ones(1), *none])  # (degree + 1, 1)
    anchors = np.broadcast_to(begin, (*batch, 4, 4)).reshape(*batch, 1, 16)
    return PoseMotion(
        "screw", Segments(np.array([0.0, float(duration)]), (s * S[..., None, :])[..., None, :, :], anchors)
    )


@explained
def smooth_pose(
    times: GivenNumbers,
    poses: GivenNumbers,
    *,
    ends: str = "clamped",
    v0: GivenNumbers | None = None,
    v1: GivenNumbers | None = None,
    a0: GivenNumbers | None = None,
    a1: GivenNumbers | None = None,
) -> PoseMotion:
    """Motion of a pose through via poses at given times, twice continuously differentiable on SE(3) [PR97].

    It does not depend on the choice of the fixed frame. Between poses it goes the short way.

    Parameters
    ----------
    times : (N,) array
        When it is at each pose, s: increasing, from 0 on.
    poses : (..., N, 4, 4) array
        m.
    ends : str
        "clamped", "natural" or "periodic", as for `spline`.
    v0, v1 : (..., 6) array, optional
        Body twists at the ends of a clamped one, rad/s and m/s; zero if not given.
    a0, a1 : (..., 6) array, optional
        Their derivatives, rad/s² and m/s².

    Returns
    -------
    PoseMotion
    """
    refuse_unknown_word("ends", ends, ENDS)
    T = _poses("poses", poses)
    if T.ndim < 3 or not T.shape[-3]:
        raise ShapeError(f"`poses` must have shape (..., N, 4, 4) with at least one, got {T.shape}.")
    knots = knot_times(times, T.shape[-3])
    given = {"v0": v0, "v1": v1, "a0": a0, "a1": a1}
    numbers = [np.zeros(6) if x is None else numbers_of(name, x, (6,)) for name, x in given.items()]
    conditions = end_conditions(ends, given, numbers)
    flat = T.reshape(*T.shape[:-2], 16)
    if len(knots) == 1:
        return PoseMotion("smooth", Segments(np.zeros(2), np.zeros((*T.shape[:-3], 1, 1, 6)), flat))
    d = se3.log(se3.compose(se3.inverse(T[..., :-1, :, :]), T[..., 1:, :, :]))
    gap = np.abs(T[..., 0, :, :] - T[..., -1, :, :]).max(initial=0.0)
    if ends == "periodic" and gap > CLOSED:
        raise ArgumentError(f"the last of periodic `poses` must be the first again, but they differ by {gap:.3g}.")
    batch = common_batch({"poses": d[..., 0, :], **dict(zip(given, numbers, strict=True))})
    d = np.broadcast_to(d, (*batch, *d.shape[-2:]))
    c = spline_pieces(_CURVE, np.diff(knots), d, conditions)
    return PoseMotion("smooth", Segments(knots, c, flat[..., :-1, :]), ends == "periodic")


def _to_body(u: Array, rates: Rates) -> Rates:
    return group_rates("motions", u, rates)


def _to_coordinates(u: Array, rates: Rates) -> Rates:
    return group_coordinate_rates(KINDS["free"], u, rates)


_CURVE = Curve(_to_body, _to_coordinates, False)


def _poses(name: str, value: Any) -> Array:
    if is_traced(value):
        raise ArgumentError(f"`{name}` must be plain numbers: {OUTSIDE}")
    T = numbers_of(name, value, (4, 4))
    refuse_what_is_none(name, T, POSE)
    return T
