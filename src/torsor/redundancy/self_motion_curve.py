"""A self-motion of one dimension: the curve q' = z(q) with J z = 0 and Σ z² = 1, traced until it closes or ends.

Its curvature is |J⁺ (∂_z J) z|. Where that is large the fibre may be a small loop, and steps must be smaller than it: it is
tried first whether such steps come back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions import configuration_rate, kinetic_energy
from torsor.model import Robot
from torsor.motion.integration import Run, integrated
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.angle_difference import angle_difference
from torsor.redundancy.in_words import vector
from torsor.redundancy.joint_room import nearest_limit, room
from torsor.redundancy.self_motion_direction import self_motion_direction
from torsor.redundancy.zero_crossing import zero_crossing
from torsor.task_functions import pseudoinverse_lift
from torsor.tasks import Task

SHORTEST = 1e-6  # step, as a fraction of a piece: shorter ones mean a singular configuration
PIECE = 16  # samples integrated at once, before looking for the end
FEW = 8  # samples of a closed curve: with fewer it is traced again in finer steps
MEETS = 1e-6  # rad or m: how near a curve must come to its start to be closed, if steps are not small themselves
TRIED = 64  # small steps after which a curve is no small loop


class Way(NamedTuple):
    """One way from the start: q (K, nq) without it, the length, whether it came back, and why it ended."""

    q: Array
    length: float
    closed: bool
    end: str


class Curve(NamedTuple):
    """The way ahead, and the way back unless it closes."""

    ahead: Way
    back: Way | None


def traced_curve(
    who: str, robot: Robot, q: Array, task: Task, step: float, longest: float, limits: bool, tolerance: float
) -> Curve:
    """The fibre through q (nq,) in steps of √Σ dq², or smaller ones if it is a small loop."""

    def trace(step: float, longest: float) -> Trace:
        return Trace(who, robot, q, task, step, longest, limits, tolerance)

    small = 0.25 * radius_of_curvature(robot, q, task)
    while small < step:
        ahead = trace(small, min(longest, TRIED * small)).way(1.0)
        if ahead.closed:
            return Curve(ahead, None)
        small *= FEW
    tracing = trace(step, longest)
    ahead = tracing.way(1.0)
    while ahead.closed and len(ahead.q) < FEW:  # a small loop: steps as long as it may have gone round more than once
        step /= FEW
        tracing = trace(step, longest)
        ahead = tracing.way(1.0)
    return Curve(ahead, None if ahead.closed else tracing.way(-1.0))


def radius_of_curvature(robot: Robot, q: Array, task: Task) -> float:
    """1 / |J⁺ (∂_z J) z| of the fibre at q (nq,), rad or m."""
    z = self_motion_direction(robot, q, task)
    bent = np.einsum("aik,i,k->a", task.derivative(robot, q), z, z)
    curvature = float(np.linalg.norm(pseudoinverse_lift(robot, q, task) @ bent))
    return 1.0 / max(curvature, 1e-12)


class Trace:
    """Follows a self-motion of one dimension from q."""

    def __init__(
        self, who: str, robot: Robot, q: Array, task: Task, step: float, longest: float, limits: bool, tolerance: float
    ) -> None:
        self.who, self.robot, self.q, self.task, self.step, self.longest = who, robot, q, task, step, longest
        self.limits, self.tolerance = limits, tolerance
        self.tangent = self_motion_direction(robot, q, task)

    def way(self, sign: float) -> Way:
        """One way, +1 or −1 times z, to its end."""
        found: list[Array] = []
        state, travelled = np.append(self.q, 0.0), 0.0  # the last number is the length in the inertia metric
        while travelled < self.longest:
            span = PIECE * self.step
            run = self._piece(state, sign, span)
            if run.curve is None:
                return Way(
                    self._samples(found),
                    float(run.y[-1]),
                    False,
                    f"a singular configuration near q = {vector(run.y[:-1])}",
                )
            s = np.linspace(0.0, span, PIECE + 1)[1:]
            at = run.curve(s).T
            if (end := self._end(run, sign, s, at, first=travelled == 0.0)) is not None:
                when, closed, why = end
                last = run.curve(np.array([when])).T
                kept = np.concatenate([at[s < when - 1e-9 * span], last])
                return Way(self._samples([*found, kept]), float(last[0, -1]), closed, why)
            found.append(at)
            state, travelled = run.y, travelled + span
        return Way(self._samples(found), float(state[-1]), False, f"where {self.longest:g} rad or m were reached")

    def _piece(self, state: Array, sign: float, span: float) -> Run:
        def rate(s: float, y: Array) -> Array:
            z = sign * self_motion_direction(self.robot, y[:-1], self.task)
            speed = np.sqrt(2.0 * kinetic_energy(self.robot, y[:-1], z))
            return np.append(configuration_rate(self.robot, y[:-1], z), speed)

        return integrated(self.who, rate, (0.0, span), state, self.tolerance, np.ones(len(state)), shortest=SHORTEST)

    def _end(self, run: Run, sign: float, s: Array, at: Array, *, first: bool) -> tuple[float, bool, str] | None:
        """Where within a piece the curve comes to a limit or back to its start; None if nowhere."""
        assert run.curve is not None
        curve, ends = run.curve, []
        if self.limits and (outside := np.flatnonzero(room(self.robot, at[:, :-1]) < 0.0)).size:
            k = int(outside[0])
            when = zero_crossing(
                lambda x: float(room(self.robot, curve(np.array([x])).T[0, :-1])), s[k - 1] if k else 0.0, s[k]
            )
            ends.append((when, False, f"the limit of {nearest_limit(self.robot, curve(np.array([when])).T[0, :-1])}"))
        gap = angle_difference(self.robot, self.q, at[:, :-1])
        ahead, near = sign * (gap @ self.tangent), np.linalg.norm(gap, axis=-1) < 2.0 * self.step
        before = np.concatenate([[1.0 if first else self._ahead(run, 0.0, sign)], ahead[:-1]])
        for k in map(int, np.flatnonzero((before < 0.0) & (ahead >= 0.0) & near)):
            when = zero_crossing(lambda x: self._ahead(run, x, sign), s[k - 1] if k else 0.0, s[k])
            apart = angle_difference(self.robot, self.q, curve(np.array([when])).T[0, :-1])
            if np.linalg.norm(apart) < min(MEETS, 0.05 * self.step):
                ends.append((when, True, "its start"))
                break
        return min(ends) if ends else None

    def _ahead(self, run: Run, s: float, sign: float) -> float:
        """How far beyond the start the curve is, along its tangent there."""
        assert run.curve is not None
        return float(sign * (angle_difference(self.robot, self.q, run.curve(np.array([s])).T[0, :-1]) @ self.tangent))

    def _samples(self, pieces: list[Array]) -> Array:
        q = np.concatenate(pieces)[:, :-1] if pieces else np.zeros((0, self.robot.nq))
        return with_unit_quaternions(self.robot, np.ascontiguousarray(q))
