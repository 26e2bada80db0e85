"""The limits of a robot by name, and which entries of v move a number of q that has one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays import identity
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix
from torsor.functions.public.kinematics import configuration_rate
from torsor.model import Robot, Structure
from torsor.model.remembered import remembered


@dataclass(frozen=True, repr=False)
class JointLimit(Report):
    """One limit, of a robot or added to its own: ``side`` "lower" or "upper" of ``kind`` "position", "velocity", "acceleration"
    or "effort".
    """

    joint: str
    """The joint, with the number in brackets for those with several: "panda_joint4", "base[1]". Of a task, its name and row."""
    kind: str
    """Empty for a limit of a user's own, which has no one ``value``."""
    side: str
    value: float
    """The limit itself, in ``unit``."""
    unit: str
    beyond: float = 0.0
    """How far the robot is beyond it, in ``unit``; 0 within."""
    before: float = 0.0
    """How far ahead it still is, in ``unit``, where the robot must brake for it now; 0 at it and where there is no braking."""

    def __str__(self) -> str:
        at = "at"
        if self.beyond:
            at = f"{self._of(self.beyond)} beyond"
        elif self.before:
            at = f"{self._of(self.before)} before"
        kind = f"{self.kind} limit" if self.kind else "limit"
        value = f" {self._of(self.value)}" if math.isfinite(self.value) else ""
        return f"{self.joint} {at} its {self.side} {kind}{value}"

    def _of(self, x: float) -> str:
        return f"{number(x)} {self.unit}".rstrip()


Pair = tuple[JointLimit, JointLimit]


class NamedLimits(NamedTuple):
    """Which entries of v and tau, and which numbers of q, have limits, and those: lower and upper."""

    v: Array
    of_v: tuple[Pair, ...]
    tau: Array
    of_tau: tuple[Pair, ...]
    q: Array
    of_q: tuple[Pair, ...]
    moved_by: tuple[tuple[int, ...], ...]
    """For each number in ``q`` the entries of v that move it: one, or all those of a place."""
    entry: Array
    """That one entry (c,), −1 for numbers of a place."""
    are_entries: bool
    """Whether every number in ``q`` is moved by one entry alone."""
    lower: Array
    upper: Array
    """Of those in ``q`` (c,)."""
    speed: Array
    """Of those in ``v``."""
    effort: Array
    """Of those in ``tau``."""


@remembered(64)
def named_limits(robot: Robot) -> NamedLimits:
    """All finite limits; quaternions have none."""
    s = robot.structure
    units_v, units_q = _units(s)
    names_q = [c.name if c.nq == 1 else f"{c.name}[{k}]" for c in s.coordinates for k in range(c.nq)]
    lower, upper, most, effort = (np.array(x) for x in s.limits)
    moved = _moved_by(s)
    has_limit = np.isfinite(lower) | np.isfinite(upper)
    v, tau = np.flatnonzero(np.isfinite(most)), np.flatnonzero(np.isfinite(effort))
    q = np.array([j for j in np.flatnonzero(has_limit) if moved[j]], int)
    forces = {"rad": "N m", "m": "N"}
    return NamedLimits(
        v,
        tuple(pair_of(s.freedoms[k], "velocity", -most[k], most[k], f"{units_v[k]}/s") for k in v),
        tau,
        tuple(pair_of(s.freedoms[k], "effort", -effort[k], effort[k], forces[units_v[k]]) for k in tau),
        q,
        tuple(pair_of(names_q[j], "position", lower[j], upper[j], units_q[j]) for j in q),
        tuple(moved[j] for j in q),
        np.array([moved[j][0] if len(moved[j]) == 1 else -1 for j in q], int),
        all(len(moved[j]) == 1 for j in q),
        lower[q],
        upper[q],
        most[v],
        effort[tau],
    )


@remembered(64)
def acceleration_limits_of(robot: Robot, most: tuple[float, ...]) -> tuple[Pair, ...]:
    """Limits |a| ≤ ``most`` (nv,) by name, all of them."""
    s = robot.structure
    units, _ = _units(s)
    return tuple(pair_of(s.freedoms[k], "acceleration", -x, x, f"{units[k]}/s²") for k, x in enumerate(most))


def rate_columns(robot: Robot, q: ConfigurationVector) -> JointMatrix:
    """Gᵀ (..., nv, nq) of q̇ = G v: how each entry of v changes the numbers of q."""
    return configuration_rate(robot, q[..., None, :], identity(robot.nv))


def number(x: float) -> str:
    """A number as people write it, with a minus that is one."""
    return f"{x:.4g}".replace("-", "−")


def pair_of(name: str, kind: str, low: float, high: float, unit: str) -> Pair:
    """The lower and the upper limit of one number, both of one kind."""
    return JointLimit(name, kind, "lower", float(low), unit), JointLimit(name, kind, "upper", float(high), unit)


def _moved_by(s: Structure) -> list[tuple[int, ...]]:
    """For each number of q the entries of v that move it; none for those of quaternions."""
    return [tuple(c.v_start + k for k in entries) for c, kind in s.blocks for entries in kind.moved_by]


def _units(s: Structure) -> tuple[list[str], list[str]]:
    """Of the entries of v (per s) and of the numbers of q."""
    kinds = [kind for _, kind in s.blocks]
    return [unit for kind in kinds for unit in kind.v_units], [unit for kind in kinds for unit in kind.q_units]
