"""The energy of a motion against what was put in and taken out."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report, table
from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import friction_forces
from torsor.functions.public.kinematics import body_twist
from torsor.model import Robot

TOO_LARGE = 1e-3  # a residual that asks for smaller steps


@dataclass(frozen=True, repr=False)
class EnergyAudit(Report):
    """Change of energy and work over a motion.

    Attributes
    ----------
    change : (...) array
        Energy at the end less that at the start, J.
    drives, wrenches, friction, stops : (...) array
        Work of each until the end, J; friction is what was lost.
    exchanged : (...) array
        Energy that went in and out in all, between kinetic and potential too, J.
    residual : float
        The largest difference between change of energy and work at any sample, relative to the energy exchanged.
    by_quadrature : bool
        Whether the works were not recorded and are sums over the samples.
    """

    change: Array
    drives: Array
    wrenches: Array
    friction: Array
    stops: Array
    exchanged: Array
    residual: float
    by_quadrature: bool

    def __str__(self) -> str:
        def number(x: Array) -> str:
            values = np.atleast_1d(x)
            if values.size < 2:
                return f"{float(values.sum()):.6g} J"
            return f"{values.min():.6g} … {values.max():.6g} J"

        rows = [
            ["change of energy", number(self.change)],
            ["work of drives", number(self.drives)],
            ["work of wrenches", number(self.wrenches)],
            ["loss by friction", number(self.friction)],
            ["work of stops", number(self.stops)],
            ["energy exchanged", number(self.exchanged)],
            ["residual", f"{self.residual:.2g} of the energy exchanged"],
        ]
        lines = table(rows)
        if self.by_quadrature:
            lines.append("The works were not recorded: they are sums over the samples, as exact as these are close.")
        if not self.residual <= TOO_LARGE:
            lines.append("The step is too large for this motion, or something acts that is not recorded.")
        return "\n".join(lines)


def audited(
    time: Array,
    kinetic: Array,
    potential: Array,
    work: Any,
    v: Array,
    tau: Array,
    robot: Robot,
    wrenches: Mapping[str, Array],
    q: Array,
) -> EnergyAudit:
    """The report; see `torsor.Trajectory.audit`."""
    quadrature = work is None
    if quadrature:
        zero = np.zeros(kinetic.shape)
        pushed = zero
        for frame, F in wrenches.items():
            pushed = pushed + np.sum(F * body_twist(robot, q, v, frame), axis=-1)
        drives, push, loss = (
            _summed(time, power)
            for power in (np.sum(tau * v, axis=-1), pushed, np.sum(friction_forces(robot, v) * v, axis=-1))
        )
        parts = [drives, push, loss, zero]
    else:
        parts = list(work)
    kinetic, potential, *parts = (_as_it_ended(x, kinetic) for x in (kinetic, potential, *parts))
    energy = kinetic + potential
    total = parts[0] + parts[1] - parts[2] + parts[3]
    difference = np.abs(energy - energy[..., :1] - total)
    flows = [kinetic, potential, *parts]
    exchanged = sum(np.sum(np.abs(np.diff(x, axis=-1)), axis=-1) for x in flows)
    with np.errstate(all="ignore"):
        worst = np.max(difference, axis=-1) / np.where(exchanged > 0.0, exchanged, 1.0)
    residual = float(np.max(worst, initial=0.0))
    if not residual <= TOO_LARGE:
        warnings.warn(
            f"the energy of this motion and the work done on it differ by {residual:.2g} of the energy exchanged: the step is "
            f"too "
            "large, or something acts that is not recorded",
            RuntimeWarning,
            stacklevel=4,
        )
    drives, push, loss, stops = (x[..., -1] for x in parts)
    change = energy[..., -1] - energy[..., 0]
    return EnergyAudit(change, drives, push, loss, stops, exchanged, residual, quadrature)


def _as_it_ended(x: Array, like: Array) -> Array:
    """Values (..., N) that stay what they were where a motion of a batch has ended before, and is NaN from there on."""
    going = np.isfinite(like)
    last = like.shape[-1] - 1 - np.argmax(going[..., ::-1], axis=-1)
    if np.all(going[..., -1]) or not x.size:
        return x
    return np.take_along_axis(x, np.minimum(np.arange(x.shape[-1]), last[..., None]), axis=-1)


def _summed(time: Array, power: Array) -> Array:
    """∫ power dt from the first sample on, by trapezoids."""
    steps = 0.5 * (power[..., 1:] + power[..., :-1]) * np.diff(time)
    return np.concatenate([np.zeros_like(power[..., :1]), np.cumsum(steps, axis=-1)], axis=-1)
