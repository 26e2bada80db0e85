"""Limits along a first law, at both ends and in the middle of each interval of w, as parts of the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.time_optimality.coefficients import force_limits
from torsor.motion.time_optimality.jerk_limited.barrier import Sizes
from torsor.motion.time_optimality.jerk_limited.first_law import FirstLaw
from torsor.motion.time_optimality.jerk_limited.quadratic_splines import basis_at
from torsor.motion.time_optimality.paths import Path
from torsor.motion.time_optimality.rows import JointLimits
from torsor.motion.time_optimality.speeds import FASTEST

PLACES = np.array([0.0, 0.5, 1.0])  # of an interval
INSIDE = 1e-7  # part of an interval by which its ends are looked at from within: the jerk may jump there
SIMPSON = np.array([1.0, 4.0, 1.0]) / 6.0


class AlongLaw(NamedTuple):
    """q and its derivatives by w at places (B, K, n) each."""

    q: Array
    first: Array
    second: Array
    third: Array


def along(path: Path, law: FirstLaw, w: Array) -> AlongLaw:
    """The path at w (K,), by the chain rule."""
    s, s1, s2, s3 = (x[:, None] for x in law.at(w))
    count = int(np.prod(path.batch))
    q, d, dd, ddd = (np.asarray(x, float).reshape(count, len(w), -1) for x in path.at(s[:, 0]))
    return AlongLaw(q, d * s1, dd * s1**2 + d * s2, ddd * s1**3 + 3.0 * dd * (s1 * s2) + d * s3)


class Places(NamedTuple):
    """What the limits are at 3 N places of B paths.

    ``given`` has an array (B · 3 N, …) for each input of `barrier.slacks`; ``weight`` (3 N,) are the weights of ∫ … dw;
    ``labels`` the limit and the freedom of each row, ``jerked`` the freedoms with a limit of jerk.
    """

    batch: int
    breaks: Array
    sizes: Sizes
    given: dict[str, Array]
    weight: Array
    labels: list[tuple[str, int]]
    jerked: Array


def places_along(robot: Robot, path: Path, law: FirstLaw, breaks: Array, limits: JointLimits, jerk: Array) -> Places:
    """The limits along a law, with intervals between ``breaks`` (N + 1,); bounds of jerk (nv,)."""
    h = np.diff(breaks)
    theta = INSIDE + (1.0 - 2.0 * INSIDE) * PLACES
    motion = along(path, law, (breaks[:-1, None] + h[:, None] * theta).ravel())
    count, batch = 3 * len(h), len(motion.q)
    basis = np.broadcast_to(basis_at(breaks, PLACES).reshape(count, 3, 3), (batch, count, 3, 3)).reshape(-1, 3, 3)
    rows, friction, labels = _rows(robot, motion, limits)
    top = np.max((motion.first / limits.velocity) ** 2, axis=-1).reshape(-1)
    limited = np.isfinite(jerk)
    parts = (x[..., limited] / jerk[limited] for x in (motion.third, 1.5 * motion.second, 0.5 * motion.first))
    given = {"basis": basis, "rows": rows, "top": np.maximum(top, 1.0 / FASTEST)}
    given["jerks"] = np.stack(list(parts), axis=-2).reshape(batch * count, 3, -1)
    if friction is not None:
        given["friction"] = friction
    sizes = Sizes(rows.shape[-1], int(np.sum(limited)), friction is not None)
    return Places(batch, breaks, sizes, given, (h[:, None] * SIMPSON).ravel(), labels, np.flatnonzero(limited))


def _rows(robot: Robot, motion: AlongLaw, limits: JointLimits) -> tuple[Array, Array | None, list[tuple[str, int]]]:
    """a, b, low and high (B · 3 N, 4, R) of forces, then of accelerations, and what friction is made of (B · 3 N, 3, R)."""
    forces, rates = np.isfinite(limits.effort), np.isfinite(limits.acceleration)
    q, first, second, _ = motion
    found, friction, flat = list[Array](), None, q.shape[0] * q.shape[1]
    if np.any(forces):
        own = force_limits(robot, q, first, second, limits.effort).rows[..., forces] / limits.effort[forces]
        constant, friction = _friction(robot, first)
        if constant is not None:
            own[:, :, 2] -= (constant[0] / limits.effort)[..., forces]
            own[:, :, 3] -= (constant[1] / limits.effort)[..., forces]
        if friction is not None:
            friction[:, :, :2] /= limits.effort
            friction = np.concatenate(
                [friction[..., forces], np.zeros((*friction.shape[:3], int(np.sum(rates))))], axis=-1
            ).reshape(flat, 3, -1)
        found.append(own)
    if np.any(rates):
        a, b = (x[..., rates] / limits.acceleration[rates] for x in (first, second))
        found.append(np.stack([a, b, -np.ones_like(a), np.ones_like(a)], axis=-2))
    labels = [("effort", int(k)) for k in np.flatnonzero(forces)]
    labels += [("acceleration", int(k)) for k in np.flatnonzero(rates)]
    rows = np.concatenate(found, axis=-1) if found else np.zeros((*q.shape[:2], 4, 0))
    return rows.reshape(flat, 4, -1), friction, labels


def _friction(robot: Robot, first: Array) -> tuple[tuple[Array, Array] | None, Array | None]:
    """Friction whatever the speed, its least and most in each interval; and viscous, Coulomb and 1/width of the other."""
    viscous = np.asarray(robot.parameters.viscous_friction, float)
    coulomb, width = np.asarray(robot.parameters.coulomb_friction, float), robot.structure.coulomb_width
    constant = None
    if np.any(coulomb) and not width > 0.0:
        signs = (coulomb * np.sign(first)).reshape(len(first), -1, 3, first.shape[-1])
        constant = np.repeat(signs.min(axis=2), 3, axis=1), np.repeat(signs.max(axis=2), 3, axis=1)
    if not (np.any(viscous) or (width > 0.0 and np.any(coulomb))):
        return constant, None
    none = np.zeros_like(first)
    parts = [viscous * first, none, none] if not width > 0.0 else [viscous * first, none + coulomb, first / width]
    return constant, np.stack(parts, axis=-2)
