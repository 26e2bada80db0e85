"""Periodic motions as sums of sines and cosines, as they are used to excite a robot for identification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays import cos, sin
from torsor.arrays.typing import Array, GivenConfiguration, GivenNumbers
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_bad_numbers
from torsor.errors import ShapeError
from torsor.model import Robot
from torsor.motion.body_rates import Rates, body_rates, placed
from torsor.motion.motions import Motion, MotionState
from torsor.motion.tangent_motion import common_batch, configurations_of, repeated, time_of


@dataclass(frozen=True, eq=False, repr=False)
class FourierMotion(Motion, Report):
    """q0 ⊕ Σ_k (s_k sin kωt + c_k cos kωt), ω = 2π/period; made by `fourier`. It repeats for ever, before 0 too.

    Attributes
    ----------
    robot : Robot
    q0 : (..., nq) array
        rad or m.
    sines, cosines : (..., h, nv) array
        s_k and c_k, rad or m.
    period : float
        s.
    """

    robot: Robot
    q0: Array
    sines: Array
    cosines: Array
    period: float

    periodic = True

    @property
    def duration(self) -> float:
        """One period, s."""
        return self.period

    def at(self, t: Any) -> MotionState:
        """q, v, a and jerk at a time, or at times (K,), s. Batch axes come first, then those of time."""
        t = time_of(t)
        many, omega = bool(np.ndim(t)), 2.0 * np.pi / self.period
        phase = omega * repeated(t, self.period)
        phase = phase[:, None] if many else phase
        totals: list[Array] = [0.0, 0.0, 0.0, 0.0]
        for k in range(self.sines.shape[-2]):
            rate = (k + 1) * omega
            s, c = (x[..., k, None, :] if many else x[..., k, :] for x in (self.sines, self.cosines))
            sine, cosine = sin((k + 1) * phase), cos((k + 1) * phase)
            value, slope = s * sine + c * cosine, s * cosine - c * sine
            terms = (value, rate * slope, -(rate**2) * value, -(rate**3) * slope)
            totals = [total + term for total, term in zip(totals, terms, strict=True)]
        q0 = self.q0[..., None, :] if many else self.q0
        return MotionState(placed(self.robot, q0, totals[0]), *body_rates(self.robot, totals[0], Rates(*totals[1:])))

    def __str__(self) -> str:
        harmonics = self.sines.shape[-2]
        return f"Fourier motion of {self.robot.name!r}, {harmonics} harmonics, period {self.period:.4g} s"


@explained
def fourier(
    robot: Robot, q0: GivenConfiguration, sines: GivenNumbers, *, cosines: GivenNumbers | None = None, period: float
) -> FourierMotion:
    """Periodic motion q0 ⊕ Σ_k (s_k sin kωt + c_k cos kωt) with ω = 2π/period, a finite Fourier series [SGT97].

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        The configuration about which it moves, rad or m.
    sines : (..., h, nv) array
        s_1 … s_h, rad or m.
    cosines : (..., h, nv) array, optional
        c_1 … c_h, rad or m; zero if not given.
    period : float
        s.

    Returns
    -------
    FourierMotion
    """
    (centre,) = configurations_of(robot, q0=q0)
    refuse_bad_numbers(period=period)
    s = _harmonics(robot, "sines", sines)
    c = np.zeros_like(s) if cosines is None else _harmonics(robot, "cosines", cosines)
    if c.shape[-2] != s.shape[-2]:
        raise ShapeError(f"`cosines` must be as many as `sines`, {s.shape[-2]}, got {c.shape[-2]}.")
    common_batch({"q0": centre[..., None, :], "sines": s, "cosines": c}, 2)
    return FourierMotion(robot, centre, s, c, float(period))


def _harmonics(robot: Robot, name: str, value: Any) -> Array:
    found = numbers_of(name, value, (robot.nv,))
    if found.ndim < 2 or not found.shape[-2]:
        raise ShapeError(f"`{name}` must have shape (..., h, {robot.nv}), a row for each harmonic, got {found.shape}.")
    return found
