"""From one mode of the plant to the next: impacts at hard stops, and who is held by friction and stops afterwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import inverse_dynamics, mass_matrix
from torsor.simulation.complementarity import motion_under_holding_forces
from torsor.simulation.plant import Mode, Plant, Surroundings, given_to_dynamics

MOST_BOUNCES = 12  # impacts within one step after which a joint stays at its stop
SLOWEST = 1e-9  # rad/s or m/s: no joint comes back from an impact more slowly than that
# rad/s or m/s: after so many impacts in a step no joint leaves its stop more slowly. Two that knock each other off their stops
# would do so for ever, for a place is rounded, and a joint falls back from one rounding error with √(2 · 1e4 · 1e-15) rad/s.
TOO_SLOW = 1e-5


class Settled(NamedTuple):
    """A state in its new mode, the energy that impacts put in (..., ), and which numbers of v had an impact."""

    q: Array
    v: Array
    mode: Mode
    energy: Array
    impacts: Array


def settle(plant: Plant, q: Array, v: Array, tau: Array, around: Surroundings, mode: Mode, bounces: Array) -> Settled:
    """The mode that the plant goes on in from states (m, nq), (m, nv), with velocities after impacts.

    ``tau`` (m, nv) are the forces of the drives. ``bounces`` (m,): how many impacts there were in this step; many end at the
    stop.
    """
    q, v, stops = q.copy(), v.copy(), plant.stops
    mode = Mode(*(np.array(np.broadcast_to(field, v.shape)) for field in mode))
    impacts, energy = np.zeros(v.shape, bool), np.zeros(len(v))
    at_lower, at_upper = np.zeros(v.shape, bool), np.zeros(v.shape, bool)
    hard = stops is not None and stops.are_hard and len(plant.stopped) > 0
    v[mode.slip * v < 0.0] = 0.0  # a joint that has just turned round is at rest
    if hard:
        for i in plant.stopped.tolist():
            x = q[:, plant.places[i]]
            at_lower[:, i], at_upper[:, i] = x <= mode.lower[:, i], x >= mode.upper[:, i]
            q[:, plant.places[i]] = np.clip(x, mode.lower[:, i], mode.upper[:, i])
    elif stops is not None and not stops.are_hard:
        _touch(plant, q, v, mode)
    with np.errstate(all="ignore"):
        M = mass_matrix(plant.robot, q)
        impacts = (at_lower & (v < 0.0)) | (at_upper & (v > 0.0))
        for k in np.flatnonzero(impacts.any(axis=-1)):
            assert stops is not None
            e = 0.0 if bounces[k] >= MOST_BOUNCES else stops.restitution
            v_new = _after_impact(M[k], v[k], at_lower[k], at_upper[k], e)
            if bounces[k] >= MOST_BOUNCES:
                slow = (at_lower[k] | at_upper[k]) & (np.abs(v_new) < TOO_SLOW)
                v_new = _after_impact(M[k], v[k], at_lower[k] | slow, at_upper[k] | slow, e)
            energy[k] = 0.5 * (v_new @ M[k] @ v_new - v[k] @ M[k] @ v[k])
            v[k] = v_new
        load = plant.clamped(tau)
        if stops is not None and not stops.are_hard:
            load = load + plant.stop_force(q, v, mode)
        f = load - inverse_dynamics(plant.gliding, q, v, np.zeros_like(v), **given_to_dynamics(around))
    _hold(plant, v, f, M, mode, (at_lower & (v == 0.0), at_upper & (v == 0.0)), 2.0 * np.abs(load))
    return Settled(q, v, mode, energy, impacts)


def _hold(plant: Plant, v: Array, f: Array, M: Array, mode: Mode, at_stops: tuple[Array, Array], size: Array) -> None:
    """Write into the mode which joints at rest stay so, and which way the others slide."""
    at_lower, at_upper = at_stops
    c = np.broadcast_to(plant.robot.parameters.coulomb_friction if plant.sticks else np.zeros(v.shape[-1]), v.shape)
    resting = (v == 0.0) & ((c > 0.0) | at_lower | at_upper)
    least = np.where(resting, np.where(at_upper, -np.inf, -c), 0.0)
    most = np.where(resting, np.where(at_lower, np.inf, c), 0.0)
    sliding = np.where(v != 0.0, np.sign(v), 0.0) * (c > 0.0)
    f = f - c * sliding
    mode.slip[:] = sliding
    mode.held[:], mode.least[:], mode.most[:] = 0.0, -np.inf, np.inf
    for k in np.flatnonzero(resting.any(axis=-1)):
        if not (np.all(np.isfinite(M[k])) and np.all(np.isfinite(f[k]))):
            continue
        _, s = motion_under_holding_forces(M[k], f[k], least[k], most[k], size[k])
        held = resting[k] & (s == 0.0)
        mode.held[k] = held
        mode.slip[k] = np.where(resting[k] & (c[k] > 0.0), s, sliding[k])
        mode.least[k], mode.most[k] = np.where(held, least[k], -np.inf), np.where(held, most[k], np.inf)


def _after_impact(M: Array, v: Array, at_lower: Array, at_upper: Array, restitution: float) -> Array:
    """Velocities after impacts: M (v₁ − v) is pushed by stops alone, v₁ ≥ −e v at a lower one (Newton's law, as Moreau has
    it).
    """
    outwards = (at_lower & (v < -SLOWEST)) | (at_upper & (v > SLOWEST))
    bound = np.where(outwards & ~(at_lower & at_upper), -restitution * v, 0.0)  # between two stops there is no way back
    least = np.where(at_upper, -np.inf, 0.0)
    most = np.where(at_lower, np.inf, 0.0)
    x, _ = motion_under_holding_forces(M, M @ (v - bound), least, most)
    return x + bound


def _touch(plant: Plant, q: Array, v: Array, mode: Mode) -> None:
    """Write into the mode which soft stops push: those that a joint is beyond, and whose force does not pull."""
    assert plant.stops is not None and plant.stops.stiffness is not None
    d = plant.stops.damping / plant.stops.stiffness
    for i in plant.stopped.tolist():
        x = q[:, plant.places[i]]
        low, up = mode.lower[:, i] - x, x - mode.upper[:, i]
        pushed_up, pushed_down = (low > 0.0) & (low - d * v[:, i] > 0.0), (up > 0.0) & (up + d * v[:, i] > 0.0)
        mode.touch[:, i] = np.where(pushed_down, 1.0, np.where(pushed_up, -1.0, 0.0))
