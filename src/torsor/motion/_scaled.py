"""Other motions made of motions: faster or slower ones, ones with a time law of their own, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.mechanics.kinematics.manifold import difference
from torsor.model import Robot
from torsor.motion.motions import Motion, MotionState
from torsor.motion.segments import Segments, hermite
from torsor.motion.tangent_motion import common_batch, time_of

TimeLaw = Callable[[Any], tuple[Any, Any, Any, Any]]
SEAM = 1e-6  # rad or m: how far apart two motions in sequence may be
DEGREES = {"cubic": 3, "quintic": 5, "septic": 7}


@dataclass(frozen=True, eq=False, repr=False)
class ScaledMotion(Motion, Report):
    """A motion passed through by a time law, q(σ(t)); made by `scaled`. Outside [0, duration] it rests at its ends.

    v = σ̇ v, a = σ̇² a + σ̈ v and jerk = σ̇³ jerk + 3 σ̇ σ̈ a + σ⃛ v, with those of the motion at σ on the right.

    Attributes
    ----------
    robot : Robot
    motion : Motion
        What is passed through.
    law : function
        t, s → σ, σ̇, σ̈, σ⃛, in seconds of the motion.
    end : float
        When it ends, s.
    """

    robot: Robot
    motion: Motion
    law: TimeLaw
    end: float

    @property
    def duration(self) -> float:
        """How long it takes, s."""
        return self.end

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        t = time_of(t)
        held = where(t < 0.0, 0.0, where(t > self.duration, self.duration, t))
        within = where((t >= 0.0) & (t <= self.duration), 1.0, 0.0)
        sigma, *rates = self.law(held)
        first, second, third = (_column(within * rate) for rate in rates)
        q, v, a, jerk = self.motion.at(self.motion._start + sigma)
        return MotionState(
            q,
            first * v,
            first**2 * a + second * v,
            first**3 * jerk + 3.0 * first * second * a + third * v,
        )

    def __str__(self) -> str:
        return f"{self.motion} in {self.duration:.4g} s"


@explained
def scaled(
    motion: Motion, *, duration: float | None = None, factor: float | None = None, law: str | TimeLaw | None = None
) -> ScaledMotion:
    """The same path in another time: q(σ(t)), with its velocity, acceleration and jerk.

    Parameters
    ----------
    motion : Motion
    duration : float, optional
        How long it is to take, s. Either this or ``factor``.
    factor : float, optional
        How many times as fast it is: 2.0 takes half the time.
    law : str or function, optional
        How σ goes from 0 to the motion's duration: at a constant rate if not given; "cubic", "quintic" or "septic", from rest
        to rest; or a function t → σ, σ̇, σ̈, σ⃛, in seconds, which needs ``duration``. To be traced, it must be made of what
        can be.

    Returns
    -------
    ScaledMotion
    """
    whole = _refuse_no_motion("motion", motion).duration
    if (duration is None) == (factor is None):
        raise ArgumentError("pass either `duration`, s, or `factor`, how many times as fast.")
    if factor is not None:
        refuse_bad_numbers(factor=factor)
        duration = whole / factor
    elif duration is not None and not (whole == 0.0 and duration == 0.0):
        refuse_bad_numbers(duration=duration)
    length = float(duration or 0.0)
    if callable(law):
        if factor is not None:
            raise ArgumentError("a `law` of your own has its own speed: pass `duration`, and not `factor`.")
        _refuse_no_law(law)
        return ScaledMotion(motion.robot, motion, law, length)
    if law is None:
        return ScaledMotion(motion.robot, motion, _Steady(whole / length if length else 1.0, whole), length)
    refuse_unknown_word("law", law, DEGREES, also="a function of time")
    orders = (DEGREES[law] + 1) // 2
    none = [np.zeros(1)] * (orders - 1)
    c = hermite(np.array(length), [np.zeros(1), *none], [np.full(1, whole), *none])
    return ScaledMotion(
        motion.robot, motion, _Polynomial(Segments(np.array([0.0, length]), c[None], np.zeros((1, 1))), whole), length
    )


@dataclass(frozen=True)
class _Steady:
    """σ = rate · t, at most ``whole``: rounding must not lead beyond the end, where a motion rests."""

    rate: float
    whole: float

    def __call__(self, t: Any) -> tuple[Any, Any, Any, Any]:
        return _at_most(self.rate * t, self.whole), self.rate + 0.0 * t, 0.0 * t, 0.0 * t


@dataclass(frozen=True, eq=False)
class _Polynomial:
    """σ by a polynomial of time, between 0 and ``whole``."""

    segments: Segments
    whole: float

    def __call__(self, t: Any) -> tuple[Any, Any, Any, Any]:
        _, u, rates = self.segments.at(t)
        sigma = _at_most(where(u[..., 0] < 0.0, 0.0, u[..., 0]), self.whole)
        return sigma, rates.first[..., 0], rates.second[..., 0], rates.third[..., 0]


def _refuse_no_law(law: TimeLaw) -> None:
    """Refuse a function that does not give four numbers, asked at the beginning."""
    said: Any = law(np.zeros(()))
    if not isinstance(said, (tuple, list)) or len(said) != 4 or not all(np.shape(x) == () for x in said):
        raise ArgumentError(
            f"`law` must return four numbers at a time t: σ, σ̇, σ̈ and σ⃛, got {said!r:.60}. "
            "At half the speed: law=lambda t: (0.5 * t, 0.5 + 0.0 * t, 0.0 * t, 0.0 * t)."
        )


def _at_most(t: Array, most: float) -> Array:
    return where(t > most, most, t)


@dataclass(frozen=True, eq=False, repr=False)
class JoinedMotion(Motion, Report):
    """One motion after another; made by `in_sequence`. At a seam it is already the later one; outside it rests at its ends.

    Attributes
    ----------
    robot : Robot
    motions : tuple of Motion
    """

    robot: Robot
    motions: tuple[Motion, ...]

    @property
    def duration(self) -> float:
        """The sum of their durations, s."""
        return float(sum(motion.duration for motion in self.motions))

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        t = time_of(t)
        held = where(t < 0.0, 0.0, _at_most(t, self.duration))
        state, begun = None, 0.0
        for motion in self.motions:
            own = where(
                held < begun, 0.0, _at_most(held - begun, motion.duration)
            )  # its own time, from its start to its end
            now = motion.at(motion._start + own)
            if state is not None:
                later = _column(held >= begun)
                now = MotionState(*(where(later, x, y) for x, y in zip(now, state, strict=True)))
            state, begun = now, begun + motion.duration
        assert state is not None
        within = _column(where((t >= 0.0) & (t <= self.duration), 1.0, 0.0))
        return MotionState(state.q, *(within * x for x in state[1:]))

    def __str__(self) -> str:
        return f"{len(self.motions)} motions of {self.robot.name!r}, one after another, {self.duration:.4g} s"


@explained
def in_sequence(motions: Sequence[Motion]) -> JoinedMotion:
    """One motion after another, each from its own beginning.

    Velocities may jump at a seam, configurations may not. A part that ends before the longest of its batch waits there.

    Parameters
    ----------
    motions : sequence of Motion
        Of one robot, each beginning where the one before ends, to 1e-6 rad or m.

    Returns
    -------
    JoinedMotion
    """
    parts = tuple(_refuse_no_motion(f"motions[{k}]", motion) for k, motion in enumerate(motions))
    if not parts:
        raise ArgumentError("`motions` must be at least one.")
    if any(part.robot is not parts[0].robot for part in parts):
        raise ArgumentError("`motions` must be of one robot, the same object.")
    for k, (one, other) in enumerate(pairwise(parts), start=1):
        _refuse_jump(k, one, other)
    return JoinedMotion(parts[0].robot, parts)


def _refuse_jump(k: int, one: Motion, other: Motion) -> None:
    """Refuse a motion that begins elsewhere than the one before it ends."""
    ends = one.at(one._end).q, other.at(other._start).q
    common_batch({f"motions[{k - 1}]": ends[0], f"motions[{k}]": ends[1]})
    gap = np.abs(difference(one.robot, *ends)).reshape(-1, one.robot.nv).max(axis=0, initial=0.0)
    if not np.all(gap <= SEAM):
        worst = int(np.argmax(np.where(np.isnan(gap), np.inf, gap)))
        raise ArgumentError(
            f"motions[{k}] does not begin where motions[{k - 1}] ends: {one.robot.structure.freedoms[worst]} would jump by "
            f"{gap[worst]:.3g}. Put a motion between them, such as polynomial(robot, one.at(one.duration).q, other.at(0.0).q, "
            "duration=1.0)."
        )


def _refuse_no_motion(name: str, motion: Any) -> Motion:
    if not isinstance(motion, Motion):
        raise ArgumentTypeError(
            f"`{name}` must be a motion, as torsor.motion makes them, got {type(motion).__name__} {motion!r:.60}."
        )
    return motion


def _column(x: Array) -> Array:
    """Numbers (K,) as (K, 1), which multiply (..., K, m)."""
    return x[..., None] if np.ndim(x) else x
