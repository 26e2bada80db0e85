"""How far a motion leaves its limits between the places where they were asked for, and how much slower it keeps them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
from torsor.motion.time_optimality.jerk_limited.places import AlongLaw, along
from torsor.motion.time_optimality.jerk_limited.quadratic_splines import around, basis_at
from torsor.motion.time_optimality.paths import Path
from torsor.motion.time_optimality.rows import JointLimits

FINER, AT_LEAST = 10, 8000  # places of an interval, and of the path
WITH_JUMPS = 3  # times as many where Coulomb friction makes forces jump between them
MOST_TIMES, STRICT = 20, 1e-9
STILL = 1e-9  # part of a velocity at which friction is that of the beginning of the motion


class Shares(NamedTuple):
    """Velocities, accelerations, forces and jerks as parts of their limits (B, N · count, nv); 0 where there is none."""

    velocity: Array
    acceleration: Array
    effort: Array
    jerk: Array

    @property
    def worst(self) -> Array:
        """The largest of each path (B,)."""
        found: Array = np.max([np.abs(x).max(axis=(1, 2), initial=0.0) for x in self], axis=0)
        return found


class Between:
    """A path along a first law at ``count`` places in each interval."""

    def __init__(
        self, robot: Robot, path: Path, law: FirstLaw, breaks: Array, limits: JointLimits, jerk: Array
    ) -> None:
        self._robot, self._limits, self._jerk = robot, limits, jerk
        more = WITH_JUMPS if np.any(robot.parameters.coulomb_friction) else 1
        self.count = more * max(FINER, -(-AT_LEAST // (len(breaks) - 1)))
        theta = (np.arange(self.count) + 0.5) / self.count
        w = breaks[:-1, None] + np.diff(breaks)[:, None] * theta
        self._basis, self._path = basis_at(breaks, theta), along(path, law, w.ravel())

    def shares(self, coefficients: Array) -> Shares:
        """The shares of motions with these coefficients of y (B, N + 2)."""
        return self._shares_of(self._rates(coefficients))

    def slower(self, coefficients: Array) -> tuple[Array, Array]:
        """Coefficients of the same motions, as much slower as it takes to keep all limits, and by how much they do not (B,)."""
        factor = np.ones(len(coefficients))
        still = None
        for _ in range(MOST_TIMES):
            rates = self._rates(coefficients * factor[:, None])
            shares = self._shares_of(rates)
            beyond = shares.worst > 1.0
            if not np.any(beyond):
                break
            if still is None:
                still = self._forces(rates, STILL)
            less = np.where(beyond, self._factor(shares, still), 1.0)
            factor = factor * less * np.where(beyond, 1.0 - STRICT, 1.0)
        return coefficients * factor[:, None], shares.worst - 1.0

    def _rates(self, coefficients: Array) -> AlongLaw:
        """q, v, a and jerk (B, N · count, n)."""
        y, slope, bend = np.moveaxis(np.einsum("nkij,bnj->bnki", self._basis, around(coefficients)), -1, 0)
        y, slope, bend = (x.reshape(len(coefficients), -1, 1) for x in (y, slope, bend))
        q, first, second, third = self._path
        rate = np.sqrt(y)
        jerk = rate * (third * y + 1.5 * second * slope + 0.5 * first * bend)
        return AlongLaw(q, first * rate, second * y + 0.5 * first * slope, jerk)

    def _shares_of(self, rates: AlongLaw) -> Shares:
        v, a = rates.first / self._limits.velocity, rates.second / self._limits.acceleration
        return Shares(v, a, self._forces(rates, 1.0), rates.third / self._jerk)

    def _forces(self, rates: AlongLaw, share: float) -> Array:
        """Forces as parts of their limits, of all the motion or of some share of its velocity."""
        if not np.any(np.isfinite(self._limits.effort)):
            return np.zeros_like(rates.first)
        tau: Array = inverse_dynamics(self._robot, rates.q, share * rates.first, share**2 * rates.second)
        return tau / self._limits.effort

    @staticmethod
    def _factor(shares: Shares, still: Array) -> Array:
        """What y is to be multiplied by (B,) so that all shares are at most 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            of_forces = (np.sign(shares.effort) - still) / (shares.effort - still)
            parts = [
                shares.velocity**-2.0,
                1.0 / np.abs(shares.acceleration),
                np.where(np.abs(shares.effort) > 1.0, np.clip(of_forces, 0.5, 1.0), 1.0),
                np.abs(shares.jerk) ** (-2.0 / 3.0),
            ]
        found: Array = np.min([x.min(axis=(1, 2), initial=1.0) for x in parts], axis=0)
        return found
