"""A geodesic from one configuration to another: first the path of least energy, then multiple shooting.

It is made of several short geodesics whose ends are made to meet. Short ones depend on their start nearly linearly, where a long
one may depend on it wildly; Newton's method then finds all starts at once. Derivatives of their ends are differences of motions
integrated with the very same steps, all in one batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import checked
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_strangers, refuse_zero_quaternions
from torsor.errors import ArgumentError, ShapeError, TorsorError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.motion._geodesic import Geodesic, flow, geodesic
from torsor.motion._minimum_energy_path import stationary_path, straight_path
from torsor.motion.integration import RUN_INSIDE, Effort, scipy_module

ARCS = (8, 32)  # how many arcs to shoot with; more if that fails
STEPS_PER_ARC = 5  # of the path they start from
STEP = 1e-5  # of the starts, as a fraction of what the motion covers: differences are then good to 1e-10
MOST_ITERATIONS = 25
LEAST_FRACTION = 1e-2  # of a Newton step
MOST_CONDITION = 1e14
SHORTEST = 1e-5  # step of integration, as a fraction of an arc: what needs shorter ones is not worth shooting at

MOST_STEPS, STEPS_PER_START = 2600, 1300  # of integration, about 1 ms each; what succeeds takes some hundreds


@checked
def geodesic_between(
    robot: Robot,
    q0: ConfigurationVector,
    q1: ConfigurationVector,
    *,
    duration: float = 1.0,
    tolerance: float = 1e-8,
    samples: int = 101,
    start: Array | None = None,
) -> Geodesic:
    """Free motion ∇_v v = 0 from q0 to q1, one pair at a time [Alt04, (6), (7); BSP93, §4, E000-11; PBP95, §5].

    There may be several, and the one found need not be the shortest: joints that turn can go either way round, and curved
    inertia bends motions around both sides of a hill. It is the one next to the path that the straight one leads to when its
    energy falls (or next to the straight path, if that fails) or, if given, next to ``start``. Limits are not looked at: see
    `minimum_energy_path`.

    Parameters
    ----------
    robot : Robot
        Any joint kind.
    q0, q1 : (nq,) arrays
        Start and end, rad or m.
    duration : float
        How long it takes, s.
    tolerance : float
        It ends within this distance of q1, rad or m, whole turns of joints with one number counted; raises if not.
    samples : int
        How many instants, both ends included.
    start : (K + 1, nq) or (nv,) array, optional
        What the search starts from: a path at even times, rad or m; or the velocity at q0, rad/s or m/s.

    Returns
    -------
    Geodesic
    """
    refuse_strangers(robot, q0, q1, duration, start, instead=RUN_INSIDE)
    refuse_bad_numbers(duration=duration, tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples, the start and the end")
    scipy_module("integrate")
    for name, q in (("q0", q0), ("q1", q1)):
        if q.shape != (robot.nq,) or not np.isfinite(q).all():
            raise ShapeError(f"`{name}` must be one finite configuration of shape ({robot.nq},), got {q.shape}.")
        refuse_zero_quaternions(robot, np.asarray(q, float))
    q0, q1 = np.asarray(q0, float), np.asarray(q1, float)
    if start is None and not difference(robot, q0, q1).any():
        return geodesic(robot, q0, np.zeros(robot.nv), duration, samples=samples)
    integration = min(1e-10, max(1e-13, 1e-4 * tolerance))  # errors on the way grow towards the end
    shots: list[Shot] = []
    left = MOST_STEPS
    for count, path in _starts(robot, q0, q1, duration, start):
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


def _starts(robot: Robot, q0: Array, q1: Array, duration: float, start: Array | None) -> Iterator[tuple[int, Array]]:
    """Where to shoot from, one after the other: numbers of arcs, and paths (K + 1, nq)."""
    if start is not None:
        path = _first_path(robot, q0, duration, np.asarray(start, float))
        yield from ((count, path) for count in ARCS)
        return
    for count in ARCS:
        K = STEPS_PER_ARC * count
        yield count, stationary_path(robot, q0, q1, K)
        if count == ARCS[0]:  # the long way round is a geodesic too, though no path of least energy
            yield count, straight_path(robot, {0: q0, K: q1})


def _first_path(robot: Robot, q0: Array, duration: float, start: Array) -> Array:
    if start.shape == (robot.nv,):
        return geodesic(robot, q0, start, duration).q
    if start.ndim != 2 or start.shape[0] < 3 or start.shape[1] != robot.nq or not np.isfinite(start).all():
        raise ShapeError(
            f"`start` must be a velocity ({robot.nv},) or a path (K + 1, {robot.nq}) of three "
            f"configurations or more, all finite, got {start.shape}."
        )
    return np.concatenate([q0[None], start[1:]])


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
        f"{shot.gap:.1e} rad or m are left, with a tolerance of {tolerance:.1e}.{conjugate} Pass start= a path (K + 1, "
        f"{robot.nq}) or the velocity ({robot.nv},) at q0, or go there by way of a configuration between."
    )


class Arcs(NamedTuple):
    """S short geodesics, each over one unit of time: from q (S, nq) with u (S, nv); the last is to end at q1 (nq,)."""

    q: Array
    u: Array
    q1: Array

    def moved(self, robot: Robot, step: Array) -> Arcs:
        """After a step (S, 2 nv) of all starts."""
        return self._replace(q=integrate(robot, self.q, step[:, : robot.nv]), u=self.u + step[:, robot.nv :])


class Shot(NamedTuple):
    """What shooting came to: arcs, the largest gap left between them (rad or m, and per unit of time).

    ``condition`` is the condition number of ∂q(end)/∂u(start), infinite where the end is conjugate to the start.
    """

    arcs: Arcs
    gap: float
    condition: float
    iterations: int


class Linearised(NamedTuple):
    """How the ends of all arcs move with their starts, Φ (S, 2 nv, 2 nv), and the last end with the first velocity."""

    Phi: Array
    whole: Array

    @property
    def condition(self) -> float:
        """The condition number of ∂q(end)/∂u(start)."""
        return float(np.linalg.cond(self.whole)) if np.isfinite(self.whole).all() else np.inf

    def step(self, gaps: Array) -> Array:
        """Moves δ (S, 2 nv) of all starts that close gaps: Φ_s δ_s − δ_{s+1} = gap_s, the first q and the last end at rest.

        On a group the start of the next arc closes its gap by J_r⁻¹(gap) δ, taken as δ: exact where the gaps vanish.
        """
        n = len(self.whole)
        reached = np.zeros(2 * n)  # by the ends of the arcs, if the first start stays
        for Phi, gap in zip(self.Phi, gaps, strict=True):
            reached = Phi @ reached - gap
        moves = [np.concatenate([np.zeros(n), np.linalg.solve(self.whole, -reached[:n])])]
        for Phi, gap in zip(self.Phi[:-1], gaps[:-1], strict=True):
            moves.append(Phi @ moves[-1] - gap)
        return np.array(moves)


def shoot(robot: Robot, arcs: Arcs, tolerance: float, integration: float, effort: Effort) -> Shot:
    """Newton's method with Deuflhard's natural monotonicity test, until a step is smaller than ``tolerance``.

    It gives up when the ``effort`` is spent: motions next to singular configurations cost very many steps of integration.
    """
    condition, iterations = np.inf, 0
    gaps = _gaps(robot, arcs, integration, effort)
    while iterations < MOST_ITERATIONS:
        iterations += 1
        try:
            linear = _linearised(robot, arcs, integration, effort)
        except TorsorError:
            if effort.left >= 0:
                raise
            break
        condition = linear.condition
        if not condition < MOST_CONDITION:
            break
        step = linear.step(gaps)
        size, fraction = np.abs(step).max(), 1.0
        while fraction >= LEAST_FRACTION:
            trial = arcs.moved(robot, fraction * step)
            try:
                new_gaps = _gaps(robot, trial, integration, effort)
            except TorsorError:  # through a singular configuration, or too much effort
                fraction *= 0.25
                continue
            if size <= tolerance or np.abs(linear.step(new_gaps)).max() <= (1.0 - 0.25 * fraction) * size:
                break
            fraction *= 0.5
        else:
            break
        arcs, gaps = trial, new_gaps
        if size <= tolerance:
            break
    return Shot(arcs, float(np.abs(gaps).max()), condition, iterations)


def _gaps(robot: Robot, arcs: Arcs, integration: float, effort: Effort) -> Array:
    """From the end of each arc to the start of the next (S, 2 nv): (δq, δu); the last has no δu, which is 0."""
    end = flow(robot, arcs.q, arcs.u, integration, dense=False, shortest=SHORTEST, effort=effort)
    following = np.concatenate([arcs.q[1:], arcs.q1[None]])
    gaps = np.zeros((len(arcs.q), 2 * robot.nv))
    gaps[:, : robot.nv] = difference(robot, end.q, following)
    gaps[:-1, robot.nv :] = arcs.u[1:] - end.u[:-1]
    return gaps


def _linearised(robot: Robot, arcs: Arcs, integration: float, effort: Effort) -> Linearised:
    """Derivatives Φ of the ends of all arcs by their starts, by central differences."""
    n, S = robot.nv, len(arcs.q)
    size = STEP * max(1e-3, float(np.abs(arcs.u).max()))
    moves = np.concatenate([np.eye(2 * n), -np.eye(2 * n), np.zeros((1, 2 * n))]) * size  # (4 nv + 1, 2 nv)
    q = integrate(robot, arcs.q[:, None], np.broadcast_to(moves[:, :n], (S, 4 * n + 1, n)))
    u = arcs.u[:, None] + moves[:, n:]
    end = flow(robot, q, u, integration, dense=False, shortest=SHORTEST, effort=effort)
    dq = difference(robot, end.q[:, -1:], end.q[:, :-1])
    du = end.u[:, :-1] - end.u[:, -1:]
    ends = np.concatenate([dq, du], axis=-1)  # (S, 4 nv, 2 nv)
    Phi = np.swapaxes(ends[:, : 2 * n] - ends[:, 2 * n :], 1, 2) / (2.0 * size)
    whole = Phi[0, :, n:]
    for following in Phi[1:]:
        whole = following @ whole
    return Linearised(Phi, whole[:n])
