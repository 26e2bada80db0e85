"""Limits of joint forces and accelerations along a path, as rows low ≤ a s̈ + b ṡ² ≤ high."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.time_optimality.between_points import Excess, with_middles
from torsor.motion.time_optimality.coefficients import force_limits
from torsor.motion.time_optimality.intervals import Grid, Limits, at_places
from torsor.motion.time_optimality.joint_friction import Friction, JointFriction, spread_over_intervals
from torsor.motion.time_optimality.speeds import FASTEST

DRAWN_IN = 0.5  # part of what is left at rest by which a limit is drawn in at most


class JointLimits(NamedTuple):
    """Bounds of the joints' velocities, accelerations and forces (nv,), infinite where there are none."""

    velocity: Array
    acceleration: Array
    effort: Array


class Derivatives(NamedTuple):
    """Configurations (B, 2 N + 1, nq) of a path at the places of a grid, with two derivatives by s (B, 2 N + 1, nv).

    ``fastest`` (B, 2 N + 1) is the largest ṡ² that the limits of velocity allow.
    """

    q: Array
    first: Array
    second: Array
    fastest: Array


class Rows:
    """Limits of forces and accelerations as rows, about a motion or at it.

    ``labels`` has the limit and the freedom of each row, ``scale`` the bound. Without any limit there is one row, of s̈ itself.
    """

    def __init__(self, robot: Robot, path: Derivatives, limits: JointLimits) -> None:
        self.path, self.friction = path, JointFriction(robot, path.first)
        self.forces, self.rates = np.isfinite(limits.effort), np.isfinite(limits.acceleration)
        self.effort, self.acceleration = limits.effort[self.forces], limits.acceleration[self.rates]
        self.scale = (
            np.concatenate([self.effort, self.acceleration])
            if np.any(self.forces | self.rates)
            else np.full(1, FASTEST)
        )
        self.labels = [("effort", int(k)) for k in np.flatnonzero(self.forces)]
        self.labels += [("acceleration", int(k)) for k in np.flatnonzero(self.rates)]
        self._plain: Limits | None = None
        self._forces: Limits | None = None
        if np.any(self.forces):
            rows = force_limits(robot, *path[:3], limits.effort).rows
            self._forces = Limits(rows if np.all(self.forces) else rows[..., self.forces])

    def about(self, x: Array | None, margin: Excess, grid: Grid) -> Limits:
        """Rows with friction along its tangents at x (B, N + 1), bounds drawn in by a margin of intervals."""
        there = None if x is None or not self.friction.depends_on_speed else with_middles(x)
        limits = self._with(self.friction.tangent(there)) if self.friction.is_there else self._frictionless()
        if isinstance(margin.above, float):
            return limits
        rows = limits.rows.copy()
        for k, sign, own in ((2, 1.0, margin.below), (3, -1.0, margin.above)):
            left = -sign * rows[:, :, k]  # at rest, of which some stays
            less = _at_all_places(own, grid)
            rows[:, :, k] += sign * np.where(left > 0.0, np.minimum(less, DRAWN_IN * left), less)
        return Limits(rows)

    def lasting(self) -> Array:
        """The largest ṡ² (B, N + 1) at which viscous friction does not take all that gravity and Coulomb friction leave."""
        points = self.path.first.shape[1] // 2 + 1
        if self._forces is None or not self.friction.is_there:
            return np.full((len(self.path.first), points), FASTEST)
        rows = self._with(self.friction.tangent(None)).rows[:, :points, 2:, : int(np.sum(self.forces))]
        left = np.minimum(-rows[:, :, 0], rows[:, :, 1])
        drag = np.abs(self._of(self.forces, self.friction.viscous[:, :points]))
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where((left > 0.0) & (drag > 0.0), (left / drag) ** 2, FASTEST)
        found: Array = np.minimum(each.min(axis=-1, initial=FASTEST), FASTEST)
        return found

    def at(self, x: Array) -> Limits:
        """Rows with the friction at x (B, 2 N + 1) itself."""
        return self._with(self.friction.at(x)) if self.friction.is_there else self._frictionless()

    def _frictionless(self) -> Limits:
        if self._plain is None:
            self._plain = self._with(None)
        return self._plain

    def _with(self, friction: Friction | None) -> Limits:
        parts = []
        if self._forces is not None:
            rows = self._forces.rows
            if friction is not None:
                rows = rows.copy()
                for k, (sign, part) in enumerate(zip((1.0, -1.0, -1.0), friction, strict=True), start=1):
                    rows[:, :, k] += sign * self._of(self.forces, part)
            parts.append(Limits(rows))
        if len(self.acceleration):
            a, b = self._of(self.rates, self.path.first), self._of(self.rates, self.path.second)
            parts.append(Limits.of(a, b, -self.acceleration, self.acceleration))
        if not parts:
            one = np.ones((*self.path.q.shape[:2], 1))
            parts.append(Limits.of(one, 0.0 * one, -FASTEST * one, FASTEST * one))
        return parts[0] if len(parts) == 1 else Limits(np.concatenate([part.rows for part in parts], axis=-1))

    @staticmethod
    def _of(which: Array, x: Array) -> Array:
        return x if np.all(which) else x[..., which]


def _at_all_places(margin: Array, grid: Grid) -> Array:
    """Margins of intervals (B, N, R) at the places of the grid (B, 2 N + 1, R): the larger one at points between two."""
    found = np.zeros((len(margin), len(grid.s), margin.shape[-1]))
    at_places(found)[1][...] = margin
    spread_over_intervals(found, np.maximum)
    return found
