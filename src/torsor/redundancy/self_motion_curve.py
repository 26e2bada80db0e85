"""A self-motion of one dimension: the curve q' = z(q) with J z = 0 and Σ z² = 1, traced until it closes or ends.

Its curvature is |J⁺ (∂_z J) z|. Where that is large the fibre may be a small closed curve, and steps must be smaller than it:
it is tried first whether such steps come back.

After each step of the integrator Newton's method takes q back onto the fibre, to rounding. Fibres beside a singular configuration
turn from one of the curves that cross there to the other: a curve that has drifted off its fibre would turn either way, by luck.
Near singular configurations q*, which `singular_nearby` finds, steps are a fraction of the distance to q*, so that none leads
across it; the curve ends in q* if q* is on the fibre. Beyond it z would point back: it has the sign of the minors of J, which
change theirs on each curve through q* [AG03, ch. 8].
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import kinetic_energy
from torsor.functions.public.kinematics import configuration_rate, integrate
from torsor.model import Robot
from torsor.motion.integration import FINEST, scipy_module, sign_change, with_unit_quaternions
from torsor.redundancy.configurations import angle_difference, leaves_limits, limit_in_words, same_configuration, vector
from torsor.redundancy.fibres import (
    SingularConfiguration,
    is_on_fibre,
    onto_fibre,
    self_motion_direction,
    singular_nearby,
)
from torsor.redundancy.task_places import is_frame, place
from torsor.tasks import Task
from torsor.tasks.public import pseudoinverse_lift

LOOKS = 9  # times within a step of the integrator at which limits are looked at: its curve is smooth
FEW = 8  # samples of a closed curve: with fewer it is traced again in finer steps
MEETS = 1e-6  # rad or m: how near a curve must come to its start to be closed, if steps are not small themselves
TRIED = 64  # small steps after which a curve is no small closed curve
NEAR = 0.02  # ratio of singular values of J below which singular configurations are looked for
SHARE = 0.4  # of the distance to a singular configuration: how long a step may be
AHEAD = 0.02  # of the distance between samples: how near a curve must come to a singular configuration to end there
MISSED = (
    1e-6  # of the largest singular value of J: by how much a singular configuration is missed that is worth telling
)
STRAIGHT = 0.99  # cosine between a curve and the way to the singular configuration at its end


class Way(NamedTuple):
    """One way from the start: q (K, nq) without it, the length, whether it came back, why it ended, and where if singular."""

    q: Array
    length: float
    closed: bool
    end: str
    singular: SingularConfiguration | None = None


class Curve(NamedTuple):
    """The way ahead, the way back unless it closes, and singular configurations that it passes and narrowly misses."""

    ahead: Way
    back: Way | None
    missed: tuple[SingularConfiguration, ...]


def traced_curve(
    robot: Robot, q: Array, task: Task, step: float, longest: float, limits: bool, tolerance: float
) -> Curve:
    """The fibre through q (nq,) in steps of √Σ dq², or smaller ones if it is a small closed curve."""

    def trace(step: float, longest: float) -> Trace:
        return Trace(robot, q, task, step, longest, limits, tolerance)

    small = 0.25 * radius_of_curvature(robot, q, task)
    while small < step:
        tracing = trace(small, min(longest, TRIED * small))
        ahead = tracing.way(1.0)
        if ahead.closed:
            return Curve(ahead, None, tuple(tracing.missed))
        small *= FEW
    tracing = trace(step, longest)
    ahead = tracing.way(1.0)
    while (
        ahead.closed and len(ahead.q) < FEW
    ):  # a small closed curve: steps as long as it may have gone round more than once
        step /= FEW
        tracing = trace(step, longest)
        ahead = tracing.way(1.0)
    back = None if ahead.closed else tracing.way(-1.0)
    return Curve(ahead, back, tuple(tracing.missed))


def radius_of_curvature(robot: Robot, q: Array, task: Task) -> float:
    """1 / |J⁺ (∂_z J) z| of the fibre at q (nq,), rad or m."""
    z = self_motion_direction(robot, q, task)
    bent = np.einsum("aik,i,k->a", task.derivative(robot, q), z, z)
    curvature = float(np.linalg.norm(pseudoinverse_lift(robot, q, task) @ bent))
    return 1.0 / max(curvature, 1e-12)


class Trace:
    """Follows a self-motion of one dimension from q."""

    def __init__(
        self, robot: Robot, q: Array, task: Task, step: float, longest: float, limits: bool, tolerance: float
    ) -> None:
        self.robot, self.q, self.task, self.step, self.longest = robot, q, task, step, longest
        self.limits, self.tolerance = limits, max(tolerance, FINEST)
        self.tangent = self_motion_direction(robot, q, task)
        # Some rows of a twist turn with it: how far they are from where they were is known to first order nearby alone.
        self.target = place(robot, q, task) if is_frame(task) else None
        self.missed: list[SingularConfiguration] = []

    def way(self, sign: float) -> Way:
        """One way, +1 or −1 times z, to its end."""
        solver = self._solver(sign)
        found: list[Array] = []
        before, count = 1.0, 1  # how far beyond the start, and the number of the next sample
        while solver.t < self.longest:
            last, nearby = solver.y, self._singular(solver.y[:-1])
            if nearby is not None:
                apart = angle_difference(self.robot, last[:-1], nearby.q)
                distance = float(np.linalg.norm(apart))
                if self._ends_in(nearby, last[:-1], apart, sign):
                    length = float(last[-1]) + self._rest(last[:-1], apart)
                    return Way(self._samples(found, nearby.q), length, False, str(nearby), nearby)
                self._note(nearby)
                solver.max_step = max(SHARE * distance, 1e-12)
            else:
                solver.max_step = np.inf
            with np.errstate(all="ignore"):  # what is not finite makes a step fail
                solver.step()
            if solver.status == "failed":
                return self._stuck(last, found, nearby)
            curve = solver.dense_output()
            numbers = np.arange(count, int(solver.t / self.step) + 1)
            s = np.unique(np.append(numbers * self.step, solver.t))
            at = curve(s).T
            if (end := self._end(curve, sign, s, at, before)) is not None:
                when, closed, why = end
                kept = at[(s < when - 1e-9 * self.step) & np.isin(s, numbers * self.step)]
                stop = curve(when)
                return Way(self._samples([*found, *kept, stop]), float(stop[-1]), closed, why)
            found += list(at[np.isin(s, numbers * self.step)])
            before, count = self._ahead(curve, solver.t, sign), count + len(numbers)
            self._back_onto_fibre(solver)
        why = f"where {self.longest:g} rad or m were reached"
        return Way(self._samples(found), float(solver.y[-1]), False, why)

    def _solver(self, sign: float) -> Any:
        """The integrator at its start; the last number of y is the length in the inertia metric."""

        def rate(s: float, y: Array) -> Array:
            z = sign * self_motion_direction(self.robot, y[:-1], self.task)
            speed = np.sqrt(2.0 * kinetic_energy(self.robot, y[:-1], z))
            return np.append(configuration_rate(self.robot, y[:-1], z), speed)

        integrators: Any = scipy_module("integrate")
        start, fine = np.append(self.q, 0.0), self.tolerance
        first = min(1e-2 * self.step, self.longest)  # steps grow tenfold at once where that is too short
        return integrators.DOP853(rate, 0.0, start, self.longest, rtol=fine, atol=fine, first_step=first)

    def _back_onto_fibre(self, solver: Any) -> None:
        if self.target is not None and solver.status == "running":
            q = with_unit_quaternions(self.robot, solver.y[:-1])
            solver.y = np.append(onto_fibre(self.robot, q, self.task, self.target), solver.y[-1])
            solver.f = solver.fun(solver.t, solver.y)

    def _singular(self, q: Array) -> SingularConfiguration | None:
        """The singular configuration near q, if there may be one; also one that the fibre misses."""
        if self.target is None:
            return None
        sigma = np.linalg.svd(self.task.jacobian(self.robot, q), compute_uv=False)
        return None if sigma[-1] > NEAR * sigma[0] else singular_nearby(self.robot, q, self.task, self.target)

    def _note(self, nearby: SingularConfiguration) -> None:
        """Keep a singular configuration that the fibre narrowly misses."""
        misses = not is_on_fibre(nearby, self.robot, self.task) and is_on_fibre(nearby, self.robot, self.task, MISSED)
        if misses and not any(same_configuration(self.robot, nearby.q, known.q) for known in self.missed):
            self.missed.append(nearby)

    def _ends_in(self, singular: SingularConfiguration, q: Array, apart: Array, sign: float) -> bool:
        """Whether the fibre contains it, close by and straight ahead."""
        distance = float(np.linalg.norm(apart))
        if distance > AHEAD * self.step or not is_on_fibre(singular, self.robot, self.task):
            return False
        z = self_motion_direction(self.robot, q, self.task)
        return bool(sign * (z @ apart) > STRAIGHT * distance)

    def _rest(self, q: Array, apart: Array) -> float:
        """Length in the inertia metric of the straight way by ``apart`` from q, by Simpson's rule."""
        moves = np.array([0.0, 0.5, 1.0])[:, None] * apart
        on_way = integrate(self.robot, np.broadcast_to(q, (3, len(q))), moves)
        speed = np.sqrt(2.0 * kinetic_energy(self.robot, on_way, np.broadcast_to(apart, moves.shape)))
        return float(speed @ [1.0, 4.0, 1.0]) / 6.0

    def _stuck(self, last: Array, found: list[Array], nearby: SingularConfiguration | None) -> Way:
        """The way to where the integrator cannot go on, which is a singular configuration."""
        why = f"a singular configuration near q = {vector(last[:-1])}"
        return Way(self._samples(found, last[:-1]), float(last[-1]), False, why, nearby)

    def _end(self, curve: Any, sign: float, s: Array, at: Array, before: float) -> tuple[float, bool, str] | None:
        """Where within a step the curve comes to a limit or back to its start; None if nowhere."""
        ends = []
        starts = np.concatenate([[curve.t_old], s[:-1]])
        if self.limits:
            looks = np.linspace(curve.t_old, curve.t, LOOKS)
            if (when := leaves_limits(self.robot, lambda t: curve(t)[:-1].T, looks)) is not None:
                ends.append((when, False, limit_in_words(self.robot, curve(when)[:-1])))
        gap = angle_difference(self.robot, self.q, at[:, :-1])
        ahead, near = sign * (gap @ self.tangent), np.linalg.norm(gap, axis=-1) < 2.0 * self.step
        earlier = np.concatenate([[before], ahead[:-1]])
        for k in map(int, np.flatnonzero((earlier < 0.0) & (ahead >= 0.0) & near)):
            when = sign_change(lambda x: self._ahead(curve, x, sign), starts[k], s[k])
            apart = angle_difference(self.robot, self.q, curve(when)[:-1])
            if np.linalg.norm(apart) < min(MEETS, 0.05 * self.step):
                ends.append((when, True, "its start"))
                break
        return min(ends) if ends else None

    def _ahead(self, curve: Any, s: float, sign: float) -> float:
        """How far beyond the start the curve is, along its tangent there."""
        return float(sign * (angle_difference(self.robot, self.q, curve(s)[:-1]) @ self.tangent))

    def _samples(self, found: list[Array], end: Array | None = None) -> Array:
        """Samples (K, nq), on the fibre to rounding, and where the curve ends."""
        q = np.array(found)[:, :-1] if found else np.zeros((0, self.robot.nq))
        q = with_unit_quaternions(self.robot, np.ascontiguousarray(q))
        if self.target is not None and len(q):
            q = onto_fibre(self.robot, q, self.task, self.target)
        return q if end is None else np.concatenate([q, with_unit_quaternions(self.robot, end)[None]])
