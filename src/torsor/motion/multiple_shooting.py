"""Multiple shooting: a geodesic through two configurations as several short ones whose ends are made to meet.

Short geodesics depend on their start nearly linearly, where a long one may depend on it wildly; Newton's method then finds all
starts at once. Derivatives of their ends are differences of motions integrated with the very same steps, all in one batch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import TorsorError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.motion._geodesic import flow
from torsor.motion.integration import Effort

STEP = 1e-5  # of the starts, as a fraction of what the motion covers: differences are then good to 1e-10
MOST_ITERATIONS = 25
LEAST_FRACTION = 1e-2  # of a Newton step
MOST_CONDITION = 1e14
SHORTEST = 1e-5  # step of integration, as a fraction of an arc: what needs shorter ones is not worth shooting at


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
    """Φ by central differences."""
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
