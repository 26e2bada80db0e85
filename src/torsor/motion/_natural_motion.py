"""Natural motions: a robot left to gravity and its springs, at a given energy; the geodesics of Jacobi's metric, in time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.border import checked
from torsor.border.numbers import (
    refuse_bad_count,
    refuse_bad_numbers,
    refuse_strangers,
    refuse_unknown,
    refuse_zero_quaternions,
)
from torsor.errors import ArgumentError
from torsor.functions.public.derivatives import forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics, kinetic_energy, potential_energy
from torsor.functions.public.geometry import geodesic_acceleration, geodesic_acceleration_derivatives
from torsor.functions.public.kinematics import configuration_rate
from torsor.model import Robot
from torsor.motion.integrated_motion import IntegratedMotion, States, stuck
from torsor.motion.integration import RUN_INSIDE, held, integrated, with_unit_quaternions

if TYPE_CHECKING:
    from torsor.motion._is_minimal import MinimalityReport


@dataclass(frozen=True, eq=False, repr=False)
class NaturalMotion(IntegratedMotion):
    """A motion under gravity and springs alone, known at every instant: ``q, v = motion(t)``, or ``motion.at(t)``.

    Attributes
    ----------
    robot : Robot
    time : (K,) array
        Times of the samples, s.
    q : (..., K, nq) array
        Configurations, rad or m, quaternions of length one.
    v : (..., K, nv) array
        Velocities, rad/s or m/s.
    energy : (...) array
        Kinetic plus potential energy, J, which does not change.
    action : (..., K) array
        Maupertuis' action ∫ 2 T dt since the start, J·s: the length in Jacobi's metric.
    energy_drift : (...) array
        The largest change of the energy at all samples, as a fraction of the largest kinetic energy: what integration has cost.
    """

    robot: Robot
    time: Array
    q: Array
    v: Array
    energy: Array
    action: Array
    energy_drift: Array
    _state: States = field(repr=False)
    _word = "natural motion"

    def __str__(self) -> str:
        many = "" if self.action.ndim == 1 else f", {np.prod(self.action.shape[:-1])} motions"
        energies, drift = np.unique(self.energy), float(np.max(self.energy_drift, initial=0.0))
        energy = "" if not energies.size else f"{energies[0]:.6g}" + (f" … {energies[-1]:.6g}" * (energies.size > 1))
        return (
            f"natural motion of robot {self.robot.name!r}{many}: {self.duration:g} s at the energy {energy} J, action "
            f"{float(self.action.max(initial=0.0)):.6g} J·s, the energy drifts by {drift:.1e} "
            "of the largest kinetic energy"
        )

    def _accelerations(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Under gravity and springs."""
        return natural_acceleration(self.robot, q, v), *natural_slopes(self.robot, q, v)

    def action_at(self, t: Scalar) -> Array:
        """Maupertuis' action ∫ 2 T dt (..., *t) from the start to times ``t`` of any shape, J·s."""
        t = np.asarray(t, float)
        _, u = self._state(t.ravel() / self.duration)
        return u[..., self.robot.nv].reshape(*u.shape[:-2], *t.shape) / self.duration

    def certificate(self, *, fixed: str = "duration", samples: int = 61) -> MinimalityReport:
        """Whether its action is least among paths near it of the same duration or energy: `torsor.motion.is_minimal`."""
        from torsor.motion._is_minimal import is_minimal

        return is_minimal(self.robot, self, fixed=fixed, samples=samples)


@checked
def natural_motion(
    robot: Robot,
    q0: ConfigurationVector,
    direction: JointVector,
    *,
    energy: Scalar,
    duration: float,
    samples: int = 101,
    tolerance: float = 1e-10,
) -> NaturalMotion:
    """Motion under gravity and springs at an energy E: the geodesic of Jacobi's metric 2 (E − V) M, in time [Arn89, §45 D].

    From q0 in the given direction, with the speed that the energy leaves. No motor and no friction acts, and limits are not
    looked at. A batch is integrated together. A robot that comes to rest on its way turns back.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    q0 : (..., nq) array
        Configuration at the start, rad or m.
    direction : (..., nv) array
        Where to: a velocity of any length.
    energy : (...) array
        Kinetic plus potential energy, J, as `potential_energy` counts it; more than the potential energy at q0.
    duration : float
        How long it moves, s.
    samples : int
        How many instants, both ends included.
    tolerance : float
        The energy stays within this fraction of the largest kinetic energy at all samples.

    Returns
    -------
    NaturalMotion
        With ``time`` (K,), ``q`` (..., K, nq), ``v`` (..., K, nv) and ``action`` (..., K).
    """
    refuse_strangers(robot, q0, direction, energy, duration, instead=RUN_INSIDE)
    refuse_bad_numbers(duration=duration, tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples, the start and the end")
    E = np.asarray(energy, float)
    batch = np.broadcast_shapes(q0.shape[:-1], direction.shape[:-1], E.shape)
    q = np.broadcast_to(np.asarray(q0, float), (*batch, robot.nq))
    way, E = np.broadcast_to(np.asarray(direction, float), (*batch, robot.nv)), np.broadcast_to(E, batch)
    refuse_unknown(np.concatenate([q, way, E[..., None]], axis=-1), "`q0`, `direction` and `energy`")
    refuse_zero_quaternions(robot, q)
    v = way * np.sqrt(_kinetic(robot, q, E) / _of_direction(robot, q, way))[..., None]
    s = np.linspace(0.0, 1.0, samples)

    def attempt(finest: float) -> tuple[NaturalMotion, float]:
        state = _flow(robot, q, v, duration, finest)
        qs, us = state(s)
        vs, action = us[..., : robot.nv] / duration, us[..., robot.nv] / duration
        kinetic = kinetic_energy(robot, qs, vs)
        change = np.abs(kinetic + potential_energy(robot, qs) - E[..., None])
        drift = np.max(change, axis=-1) / np.max(kinetic, axis=-1)
        return NaturalMotion(robot, duration * s, qs, vs, E, action, drift, state), float(drift.max(initial=0.0))

    motion, drift = held(tolerance, attempt)
    if drift <= tolerance:
        return motion
    raise ArgumentError(
        f"the energy of robot {robot.name!r} drifts by {drift:.1e} of the largest kinetic energy in {duration:g} s, more "
        f"than the tolerance {tolerance:.1e}, however fine the steps. Shorten the motion or pass tolerance={2 * drift:.1e}."
    )


def natural_acceleration(robot: Robot, q: Array, v: Array) -> Array:
    """a = −Γ(v, v) − grad V (..., nv): the fall from rest is added, which friction does not touch."""
    still = np.zeros(robot.nv)
    return geodesic_acceleration(robot, q, v) + forward_dynamics(robot, q, still, still)


def natural_slopes(robot: Robot, q: Array, v: Array) -> tuple[Array, Array]:
    """∂a/∂q and ∂a/∂v (..., nv, nv) of `natural_acceleration`."""
    still = np.zeros(robot.nv)
    by = geodesic_acceleration_derivatives(robot, q, v)
    return by.q + forward_dynamics_derivatives(robot, q, still, still).q, by.v


def _kinetic(robot: Robot, q: Array, E: Array) -> Array:
    """E − V (...); raises in words where it is not positive."""
    V = potential_energy(robot, q)
    left = E - V
    if np.all(left > 0.0):
        return left
    place = np.unravel_index(np.argmin(left), left.shape)
    which = "" if left.ndim == 0 else f" (state {', '.join(map(str, place))} of the batch)"
    how = "at this energy the robot is at rest there" if left[place] == 0.0 else "no motion of this energy comes there"
    raise ArgumentError(
        f"`energy` is {float(E[place]):.6g} J and the potential energy at q0 is {float(V[place]):.6g} J{which}: {how}. "
        f"Pass an energy above {float(V[place]):.6g} J, or start at a q0 with less: torsor.potential_energy(robot, q0)."
    )


def _of_direction(robot: Robot, q: Array, way: Array) -> Array:
    kinetic = kinetic_energy(robot, q, way)
    if np.all(kinetic > 0.0):
        return kinetic
    raise ArgumentError(
        f"`direction` must move something of robot {robot.name!r} that has mass: its kinetic energy at q0 is "
        f"{float(np.min(kinetic)):g}. Pass a velocity (..., {robot.nv}) of any length, not zero."
    )


def _flow(robot: Robot, q: Array, v: Array, duration: float, tolerance: float) -> States:
    """States of u = v · duration, and of the action beside it in the last place (..., nv + 1), over one unit of time."""
    q = with_unit_quaternions(robot, q)
    u = np.concatenate([v * duration, np.zeros((*v.shape[:-1], 1))], axis=-1)
    split = q.size

    def rate(s: float, y: Array) -> Array:
        here, now = y[:split].reshape(q.shape), y[split:].reshape(u.shape)[..., :-1]
        a = geodesic_acceleration(robot, here, now) + duration**2 * forward_dynamics(robot, here, 0.0 * now, 0.0 * now)
        twice = 2.0 * kinetic_energy(robot, here, now)[..., None]
        return np.concatenate([configuration_rate(robot, here, now).ravel(), np.concatenate([a, twice], -1).ravel()])

    y = np.concatenate([q.ravel(), u.ravel()])
    first = rate(0.0, y)
    size = np.max(np.abs(u[..., :-1]), axis=-1, keepdims=True)
    action = first[split:].reshape(u.shape)[..., -1:]
    sizes = np.concatenate(
        [np.broadcast_to(size, q.shape).ravel(), np.concatenate([np.broadcast_to(size, v.shape), action], -1).ravel()]
    )
    run = integrated(rate, (0.0, 1.0), y, tolerance, sizes)
    if run.curve is None or not run.finished:
        raise stuck(robot, run.y[:split].reshape(q.shape), run.t, duration)
    return States(robot, run.curve, q.shape, u.shape)
