"""Geodesics of the inertia metric: how a robot moves when nothing pushes it, neither motors nor gravity nor friction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.border import checked
from torsor.border.numbers import (
    refuse_bad_count,
    refuse_bad_numbers,
    refuse_strangers,
    refuse_unknown,
    refuse_zero_quaternions,
)
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import kinetic_energy
from torsor.functions.public.geometry import geodesic_acceleration, geodesic_acceleration_derivatives
from torsor.mechanics.kinematics.manifold import configuration_rate
from torsor.model import Robot
from torsor.motion.integrated_motion import IntegratedMotion, States, stuck
from torsor.motion.integration import RUN_INSIDE, SHORTEST, Effort, held, integrated, with_unit_quaternions

if TYPE_CHECKING:
    from torsor.motion._is_minimal import MinimalityReport


@dataclass(frozen=True, eq=False, repr=False)
class Geodesic(IntegratedMotion):
    """A free motion, known at every instant: ``q, v = curve(t)``, or ``curve.at(t)`` like any motion; batch axes first.

    Attributes
    ----------
    robot : Robot
    time : (K,) array
        Times of the samples, s.
    q : (..., K, nq) array
        Configurations, rad or m, quaternions of length one.
    v : (..., K, nv) array
        Velocities, rad/s or m/s.
    energy : (..., K) array
        Kinetic energy ½ vᵀ M v, J.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    energy: Array
    _state: States = field(repr=False)
    _word = "geodesic"

    def __str__(self) -> str:
        many = "" if self.energy.ndim == 1 else f", {np.prod(self.energy.shape[:-1])} motions"
        length, drift = float(self.length.max(initial=0.0)), float(self.energy_drift.max(initial=0.0))
        return (
            f"geodesic of robot {self.robot.name!r}{many}: {self.duration:g} s, length {length:.6g} m·√kg, the energy drifts by "
            f"{drift:.1e} of itself"
        )

    @property
    def length(self) -> Array:
        """∫ √(vᵀ M v) dt (...), m·√kg; the speed does not change along the way."""
        return np.sqrt(2.0 * self.energy[..., 0]) * self.duration

    @property
    def energy_drift(self) -> Array:
        """The largest change of the energy over all samples (...), as a fraction of it: what integration has cost."""
        return _drift(self.energy)

    def _accelerations(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Of the free robot."""
        by = geodesic_acceleration_derivatives(self.robot, q, v)
        return geodesic_acceleration(self.robot, q, v), by.q, by.v

    def certificate(self, *, samples: int = 61) -> MinimalityReport:
        """Whether it is shorter than all paths near it between the same ends: `torsor.motion.is_minimal`."""
        from torsor.motion._is_minimal import is_minimal

        return is_minimal(self.robot, self, samples=samples)


@checked
def geodesic(
    robot: Robot,
    q0: ConfigurationVector,
    v0: JointVector,
    duration: float,
    *,
    samples: int = 101,
    tolerance: float = 1e-10,
) -> Geodesic:
    """Free motion ∇_v v = 0, that is v̇_k = −Σ Γ^k_ij v_i v_j, from q0 with v0 [Alt04, (6), (7); BSP93, §4, E000-11].

    Any joint kind; a batch is integrated together. Limits are not looked at. It raises where the mass matrix becomes singular on
    the way, and if the energy cannot be held.

    Parameters
    ----------
    robot : Robot
    q0 : (..., nq) array
        Configuration at the start, rad or m.
    v0 : (..., nv) array
        Velocity at the start, rad/s or m/s.
    duration : float
        How long it moves, s.
    samples : int
        How many instants, both ends included.
    tolerance : float
        The kinetic energy stays within this fraction of itself at all samples: it is integrated again, finer, if it does not.

    Returns
    -------
    Geodesic
        With ``time`` (K,), ``q`` (..., K, nq), ``v`` (..., K, nv) and ``energy`` (..., K); called with a time, it gives q and v.
    """
    refuse_strangers(robot, q0, v0, duration, instead=RUN_INSIDE)
    refuse_bad_numbers(duration=duration, tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples, the start and the end")
    batch = np.broadcast_shapes(q0.shape[:-1], v0.shape[:-1])
    q = np.broadcast_to(np.asarray(q0, float), (*batch, robot.nq))
    u = np.broadcast_to(np.asarray(v0, float) * duration, (*batch, robot.nv))
    refuse_unknown(np.concatenate([q, u], axis=-1), "`q0` and `v0`")
    refuse_zero_quaternions(robot, q)
    s = np.linspace(0.0, 1.0, samples)

    def attempt(finest: float) -> tuple[Geodesic, float]:
        state = flow(robot, q, u, finest, duration).state
        assert state is not None  # it is dense
        qs, us = state(s)
        energy = kinetic_energy(robot, qs, us) / duration**2
        return Geodesic(robot, duration * s, qs, us / duration, energy, state), float(_drift(energy).max(initial=0.0))

    curve, drift = held(tolerance, attempt)
    if drift <= tolerance:
        return curve
    raise ArgumentError(
        f"the energy of robot {robot.name!r} drifts by {drift:.1e} of itself in {duration:g} s, more than the "
        f"tolerance {tolerance:.1e}, however fine the steps. Shorten the motion or pass tolerance={2 * drift:.1e}."
    )


class Flow(NamedTuple):
    """Free motions over one unit of time: the states at the end, and of a dense one at any times between."""

    q: Array
    u: Array
    state: States | None


def flow(
    robot: Robot,
    q: Array,
    u: Array,
    tolerance: float,
    duration: float = 1.0,
    *,
    dense: bool = True,
    shortest: float = SHORTEST,
    effort: Effort | None = None,
) -> Flow:
    """Free motions from q (..., nq) with velocities u (..., nv) per unit of time, which ``duration`` s are (for messages).

    In this unit the equation is the same for slow and fast motions, and u is the size of what happens.
    """
    q = with_unit_quaternions(robot, q)
    split = q.size

    def unpacked(y: Array) -> tuple[Array, Array]:
        return y[:split].reshape(q.shape), y[split:].reshape(u.shape)

    def rate(s: float, y: Array) -> Array:
        q, u = unpacked(y)
        return np.concatenate([configuration_rate(robot, q, u).ravel(), geodesic_acceleration(robot, q, u).ravel()])

    if not np.isfinite(geodesic_acceleration(robot, q, u)).all():
        raise stuck(robot, q, 0.0, duration)
    size = np.max(np.abs(u), axis=-1, keepdims=True)
    size = np.where(size == 0.0, 1.0, size)
    sizes = np.concatenate([np.broadcast_to(size, x.shape).ravel() for x in (q, u)])
    start = np.concatenate([q.ravel(), u.ravel()])
    run = integrated(rate, (0.0, 1.0), start, tolerance, sizes, dense=dense, shortest=shortest, effort=effort)
    end = unpacked(run.y)
    if not run.finished:
        raise stuck(robot, end[0], run.t, duration)

    state = None if run.curve is None else States(robot, run.curve, q.shape, u.shape)
    return Flow(with_unit_quaternions(robot, end[0]), end[1], state)


def _drift(energy: Array) -> Array:
    start = energy[..., :1]
    return np.max(np.abs(energy - start), axis=-1) / np.where(start > 0.0, start, 1.0)[..., 0]
