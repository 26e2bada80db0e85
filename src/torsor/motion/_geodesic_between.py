"""A geodesic from one configuration to another: first the path of least energy, then shooting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import checked
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError, TorsorError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.motion._geodesic import Geodesic, geodesic
from torsor.motion._minimum_energy_path import stationary_path, straight_path
from torsor.motion.integration import RUN_INSIDE, Effort
from torsor.motion.multiple_shooting import Arcs, Shot, shoot
from torsor.motion.optional_scipy import scipy_module

ARCS = (8, 32)  # how many arcs to shoot with; more if that fails
STEPS_PER_ARC = 5  # of the path they start from
MOST_STEPS, STEPS_PER_START = 2600, 1300  # of integration, about 1 ms each; what succeeds takes some hundreds


@checked
def geodesic_between(
    robot: Robot,
    q0: ConfigurationVector,
    q1: ConfigurationVector,
    duration: float = 1.0,
    *,
    tolerance: float = 1e-8,
    samples: int = 101,
    guess: Array | None = None,
) -> Geodesic:
    """A free motion ∇_v v = 0 from q0 to q1 [Alt04, (6), (7); BSP93, §4, E000-11; PBP95, §5].

    There may be several, and the one found need not be the shortest: joints that turn can go either way round, and curved
    inertia bends motions around both sides of a hill. It is the one next to the path that the straight one leads to when its
    energy falls (or next to the straight path, if that fails) or, if given, next to ``guess``: a path (K + 1, nq) at even times,
    or the velocity (nv,) at the start, rad/s or m/s. It ends within ``tolerance`` (rad or m) of q1, whole turns of joints with
    one number counted; raises if not. Limits are not looked at: see `minimum_energy_path`.

    ``q0``, ``q1`` (nq,), rad or m, of any joint kind; ``duration`` s.
    """
    refuse_strangers(robot, q0, q1, duration, guess, instead=RUN_INSIDE)
    refuse_bad_numbers(duration=duration, tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples, the start and the end")
    scipy_module("integrate")
    for name, q in (("q0", q0), ("q1", q1)):
        if q.shape != (robot.nq,) or not np.isfinite(q).all():
            raise ShapeError(f"`{name}` must be one finite configuration of shape ({robot.nq},), got {q.shape}.")
        refuse_zero_quaternions(robot, np.asarray(q, float))
    q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
    if guess is None and not difference(robot, q0, q1).any():
        return geodesic(robot, q0, np.zeros(robot.nv), duration, samples=samples)
    integration = min(1e-10, max(1e-13, 1e-4 * tolerance))  # errors on the way grow towards the end
    shots: list[Shot] = []
    left = MOST_STEPS
    for count, path in _starts(robot, q0, q1, duration, guess):
        effort = Effort(min(left, STEPS_PER_START))
        left -= effort.left
        try:
            shot = shoot(robot, _arcs(robot, path, q1, count), tolerance, integration, effort)
            left += max(effort.left, 0)
            if shot.gap <= 1e3 * tolerance:
                # One arc from end to end takes out what is left of the gaps, as the motion itself adds them up.
                whole = Arcs(q0[None], count * shot.arcs.u[:1], q1)
                shot = shoot(robot, whole, 0.1 * tolerance, integration, Effort(STEPS_PER_START))
        except TorsorError as error:  # what it started from meets a singular configuration
            stuck = error
            continue
        if shot.gap <= tolerance:
            v = shot.arcs.u[0] / duration
            curve = geodesic(robot, q0, v, duration, samples=samples, tolerance=10.0 * integration)
            shot = shot._replace(gap=float(np.abs(difference(robot, curve.q[-1], q1)).max()))
            if shot.gap <= tolerance:
                return curve
        shots.append(shot)
        if left <= 0:
            break
    raise _lost(robot, min(shots, key=lambda shot: shot.gap), tolerance) if shots else stuck


def _starts(robot: Robot, q0: Array, q1: Array, duration: float, guess: Array | None) -> Iterator[tuple[int, Array]]:
    """Where to shoot from, one after the other: numbers of arcs, and paths (K + 1, nq)."""
    if guess is not None:
        path = _guessed(robot, q0, duration, np.asarray(guess, float))
        yield from ((count, path) for count in ARCS)
        return
    for count in ARCS:
        K = STEPS_PER_ARC * count
        yield count, stationary_path(robot, q0, q1, K)
        if count == ARCS[0]:  # the long way round is a geodesic too, though no path of least energy
            yield count, straight_path(robot, {0: q0, K: q1})


def _guessed(robot: Robot, q0: Array, duration: float, guess: Array) -> Array:
    if guess.shape == (robot.nv,):
        return geodesic(robot, q0, guess, duration).q
    if guess.ndim != 2 or guess.shape[0] < 3 or guess.shape[1] != robot.nq or not np.isfinite(guess).all():
        raise ShapeError(
            f"`guess` must be a velocity ({robot.nv},) or a path (K + 1, {robot.nq}) of three "
            f"configurations or more, all finite, got {guess.shape}."
        )
    return np.concatenate([q0[None], guess[1:]])


def _arcs(robot: Robot, path: Array, q1: Array, count: int) -> Arcs:
    """``count`` arcs along a path, their velocities to second order."""
    steps = difference(robot, path[:-1], path[1:])
    rates = np.concatenate([1.5 * steps[:1] - 0.5 * steps[1:2], 0.5 * (steps[1:] + steps[:-1])])
    place = np.arange(count) * (len(path) - 1) / count
    k = place.astype(int)
    q = integrate(robot, path[k], (place - k)[:, None] * steps[k])
    return Arcs(q, rates[k] * ((len(path) - 1) / count), q1)


def _lost(robot: Robot, shot: Shot, tolerance: float) -> TorsorError:
    conjugate = (
        " The equations are all but singular: the end is (nearly) conjugate to the start, where geodesics that leave it "
        "meet again."
        if shot.condition > 1e10
        else ""
    )
    return ArgumentError(
        f"found no geodesic of robot {robot.name!r}; after {shot.iterations} steps of Newton's method gaps of "
        f"{shot.gap:.1e} rad or m are left, with a tolerance of {tolerance:.1e}.{conjugate} Pass guess= a path (K + 1, "
        f"{robot.nq}) or the velocity ({robot.nv},) at the start, or go there by way of a configuration between."
    )
