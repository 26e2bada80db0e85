"""Joint limits as they bind velocities over a step: l ≤ C v ≤ u, row by row, each with the limit it comes from.

Velocity limits are rows of the unit matrix, |v_k| ≤ v_max. Of numbers of q, with q̇ = G(q) v, over a step dt::

    (lower − q_j) / dt ≤ G_j v ≤ (upper − q_j) / dt

exact for joints with one number; the place of planar and free joints moves so to first order in dt. A number that is
beyond its limit has not one step but the time ``recovery`` to come back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot, Structure
from torsor.resolution.objectives import rate_columns


@dataclass(frozen=True)
class JointLimit:
    """One limit of a robot: ``side`` "lower" or "upper" of ``kind`` "position" or "velocity", of a joint."""

    joint: str
    """The joint, with the number in brackets for those with several: "panda_joint4", "base[1]"."""
    kind: str
    side: str
    value: float
    """The limit itself, in ``unit``."""
    unit: str
    beyond: float = 0.0
    """How far the robot is beyond it, in ``unit``; 0 within."""

    def __str__(self) -> str:
        at = f"{number(self.beyond)} {self.unit} beyond" if self.beyond else "at"
        return f"{self.joint} {at} its {self.side} {self.kind} limit {number(self.value)} {self.unit}"


class LimitRows(NamedTuple):
    """l ≤ C v ≤ u: ``C`` (c, nv), ``lower`` and ``upper`` (c,), finite or not, and the limits behind both sides."""

    C: Array
    lower: Array
    upper: Array
    names: tuple[tuple[JointLimit, JointLimit], ...]
    position: Array
    """Which rows are limits of position (c,)."""


def no_limits(nv: int) -> LimitRows:
    """No rows at all."""
    return LimitRows(np.zeros((0, nv)), np.zeros(0), np.zeros(0), (), np.zeros(0, bool))


def limit_rows(robot: Robot, q: Array, dt: float, recovery: float, *, position: bool, velocity: bool) -> LimitRows:
    """All rows with a finite limit, those of velocities first."""
    named = _named_limits(robot.structure)
    own, of_v = (named.v, named.of_v) if velocity else (named.v[:0], ())
    at, of_q = (named.q, named.of_q) if position else (named.q[:0], ())
    lower, upper = (np.array(x)[at] - q[at] for x in (robot.limits.lower, robot.limits.upper))
    below, above = lower > 0.0, upper < 0.0
    if below.any() or above.any():
        of_q = tuple(_beyond(pair, *far) for pair, *far in zip(of_q, lower, -upper, strict=True))
    lower, upper = (x / np.where(out, max(dt, recovery), dt) for x, out in ((lower, below), (upper, above)))
    most = np.array(robot.limits.velocity)[own]
    G = np.broadcast_to(rate_columns(robot, q), (robot.nv, robot.nq)).T
    return LimitRows(
        np.concatenate([np.eye(robot.nv)[own], G[at]]),
        np.concatenate([-most, lower]),
        np.concatenate([most, upper]),
        (*of_v, *of_q),
        np.arange(len(own) + len(at)) >= len(own),
    )


Pair = tuple[JointLimit, JointLimit]


class _Named(NamedTuple):
    """Which entries of v and numbers of q have limits, and those."""

    v: Array
    of_v: tuple[Pair, ...]
    q: Array
    of_q: tuple[Pair, ...]


@lru_cache(maxsize=64)
def _named_limits(s: Structure) -> _Named:
    units_v, units_q = _units(s)
    names_q = [c.name if c.nq == 1 else f"{c.name}[{k}]" for c in s.coordinates for k in range(c.nq)]
    lower, upper, most = (np.array(x) for x in (s.limits.lower, s.limits.upper, s.limits.velocity))
    v = np.flatnonzero(np.isfinite(most))
    q = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
    of_v = tuple(_pair(s.freedoms[k], "velocity", -most[k], most[k], f"{units_v[k]}/s") for k in v)
    return _Named(v, of_v, q, tuple(_pair(names_q[j], "position", lower[j], upper[j], units_q[j]) for j in q))


def _pair(name: str, kind: str, low: float, high: float, unit: str) -> Pair:
    return JointLimit(name, kind, "lower", float(low), unit), JointLimit(name, kind, "upper", float(high), unit)


def _beyond(pair: Pair, below: float, above: float) -> Pair:
    lower, upper = pair
    return replace(lower, beyond=max(0.0, float(below))), replace(upper, beyond=max(0.0, float(above)))


def number(x: float) -> str:
    """A number as people write it, with a minus that is one."""
    return f"{x:.4g}".replace("-", "−")


def _units(s: Structure) -> tuple[list[str], list[str]]:
    """Of the entries of v (per s) and of the numbers of q."""
    owner = {s.couplings[i].coordinate: i for i in range(s.n) if s.coordinate_of(i).name == s.joints[i]}
    of_v: list[str] = []
    of_q: list[str] = []
    for k in range(len(s.coordinates)):
        v, q = _UNITS[s.kinds[owner[k]]]
        of_v += v.split()
        of_q += q.split()
    return of_v, of_q


_UNITS = {
    "revolute": ("rad", "rad"),
    "helical": ("rad", "rad"),
    "prismatic": ("m", "m"),
    "planar": ("rad m m", "m m rad"),
    "spherical": ("rad rad rad", "1 1 1 1"),
    "free": ("rad rad rad m m m", "m m m 1 1 1 1"),
}
