"""Self-motion manifolds: all that a robot can do without its task noticing, traced from one configuration.

With nv − m = 1 the fibre is a curve, q' = z(q) with J z = 0 and Σ z² = 1, and it is traced both ways until it closes or ends.
With more freedom it is sampled by null-space flows, q' = (1 − J⁺J) w with random constant w.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import TorsorError
from torsor.functions import configuration_rate, kinetic_energy
from torsor.model import Robot
from torsor.motion.border import refuse_bad_count, refuse_bad_numbers
from torsor.motion.integration import Run, integrated
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.angle_difference import angle_difference, turns_between
from torsor.redundancy.in_words import vector
from torsor.redundancy.regularity import LOST
from torsor.redundancy.self_motion_direction import self_motion_direction
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_displacement import displacement, place
from torsor.task_functions import pseudoinverse_lift, task_rank
from torsor.tasks import Task, as_task

WHO = "self_motion"
SHORTEST = 1e-6  # step, as a fraction of a piece: shorter ones mean a singular configuration
PIECE = 16  # samples integrated at once, before looking for the end
FEW = 8  # samples of a closed curve: with fewer it is traced again in finer steps
MEETS = 1e-6  # rad or m: how near a curve must come to its start to be closed


@dataclass(frozen=True, eq=False)
class SelfMotion:
    """Configurations that do the same to the task.

    ``freedoms``: the names of v. ``q``: (K, nq) along the curve where ``dimension`` = nv − m is 1, else (D, K, nq) along D flows
    from the start; rad or m. ``closed``: the curve came back to its start (revolute joints modulo whole turns), and ``turns``
    (nv,) counts the whole turns that joints made on the way. ``length``: of the curve in the inertia metric, m·√kg, or (D,) of
    the flows. ``start``: the sample at which it began. ``ends``: why the curve ends, in words, backwards and forwards.
    ``task_error``: how far the task moved at most, m and rad as numbers.
    """

    robot: str
    dimension: int
    freedoms: tuple[str, ...]
    q: Array
    closed: bool
    length: Array
    turns: Array
    start: int
    ends: tuple[str, ...]
    task_error: float

    def __str__(self) -> str:
        if self.dimension > 1:
            return (
                f"self-motion of robot {self.robot!r}: {self.dimension} dimensions, sampled along {len(self.q)} flows of "
                f"{np.mean(self.length):.3g} m·√kg on average; the task moves by {self.task_error:.1g} at most"
            )
        if self.closed:
            how = f"a closed curve of length {float(self.length):.4g} m·√kg"
            turned = [f"{int(n):+d} of {name}" for name, n in zip(self.freedoms, self.turns, strict=True) if n]
            how += f", with whole turns {', '.join(turned)}" if turned else ""
        else:
            how = f"an open curve of length {float(self.length):.4g} m·√kg, from {self.ends[0]} to {self.ends[1]}"
        return f"self-motion of robot {self.robot!r}: {how}; the task moves by {self.task_error:.1g} at most"


class _Way(NamedTuple):
    """One way from the start: q (K, nq) without it, the length, whether it came back, and why it ended."""

    q: Array
    length: float
    closed: bool
    end: str


def self_motion(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    step: float = 0.05,
    *,
    longest: float = 100.0,
    within_limits: bool = False,
    flows: int = 16,
    seed: int = 0,
    tolerance: float = 1e-10,
) -> SelfMotion:
    """The fibre through q: all that ker J leads to, the space of internal motions [Alt04, §II.B].

    ``q`` (nq,), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``step``: √Σ dq² between samples, rad
    or m; ``longest``: where to give up each way, the same unit. ``within_limits``: ends where a joint comes to a limit. With more
    than one dimension, ``flows`` random ones, each of 20 steps. ``tolerance`` of each integration step.
    """
    found = as_task(robot, task)
    q = single_configuration(WHO, robot, q)
    refuse_bad_numbers(WHO, step=step, longest=longest, tolerance=tolerance)
    refuse_bad_count(WHO, "flows", flows, 1, "`flows` must be positive")
    dimension = robot.nv - found.size
    rank = task_rank(robot, q, found, tolerance=LOST)
    if dimension < 1 or not rank.is_onto:
        why = f"it has {robot.nv} degrees of freedom for {found.size} rows" if dimension < 1 else f"J has {rank}"
        raise TorsorError(f"{WHO}: robot {robot.name!r} has no regular self-motion here: {why}")
    if dimension > 1:
        return _flows(robot, q, found, step, flows, seed, tolerance)
    ends: tuple[str, ...] = ()
    trace = _Trace(robot, q, found, step, longest, within_limits, tolerance)
    ahead = trace.way(1.0)
    while ahead.closed and len(ahead.q) < FEW:  # a small loop: steps as long as it may have gone round more than once
        step = step / FEW
        trace = _Trace(robot, q, found, step, longest, within_limits, tolerance)
        ahead = trace.way(1.0)
    if ahead.closed:
        qs, length, start = np.concatenate([q[None], ahead.q]), ahead.length, 0
    else:
        back = trace.way(-1.0)
        qs, start = np.concatenate([back.q[::-1], q[None], ahead.q]), len(back.q)
        ends, length = (back.end, ahead.end), back.length + ahead.length
    turns = turns_between(robot, qs[0], qs[-1]) if ahead.closed else np.zeros(robot.nv)
    error = _task_error(robot, q, qs, found)
    return SelfMotion(
        robot.name, 1, robot.structure.freedoms, qs, ahead.closed, np.asarray(length), turns, start, ends, error
    )


class _Trace:
    """Follows a self-motion of one dimension from q."""

    def __init__(
        self, robot: Robot, q: Array, task: Task, step: float, longest: float, limits: bool, tolerance: float
    ) -> None:
        self.robot, self.q, self.task, self.step, self.longest = robot, q, task, step, longest
        self.limits, self.tolerance = limits, tolerance
        self.tangent = self_motion_direction(robot, q, task)

        if limits and self._margin(np.append(q, 0.0)[None])[0] < 0.0:
            raise TorsorError(
                f"{WHO}: the start is already outside the limits of robot {robot.name!r}, at {self._limit(np.append(q, 0.0))}."
            )

    def way(self, sign: float) -> _Way:
        """One way, +1 or −1 times z, to its end."""
        found: list[Array] = []
        state, travelled = np.append(self.q, 0.0), 0.0  # the last number is the length in the inertia metric
        while travelled < self.longest:
            span = PIECE * self.step
            run = self._piece(state, sign, span)
            if run.curve is None:
                return _Way(
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
                return _Way(self._samples([*found, kept]), float(last[0, -1]), closed, why)
            found.append(at)
            state, travelled = run.y, travelled + span
        return _Way(self._samples(found), float(state[-1]), False, f"where {self.longest:g} rad or m were reached")

    def _piece(self, state: Array, sign: float, span: float) -> Run:
        def rate(s: float, y: Array) -> Array:
            z = sign * self_motion_direction(self.robot, y[:-1], self.task)
            speed = np.sqrt(2.0 * kinetic_energy(self.robot, y[:-1], z))
            return np.append(configuration_rate(self.robot, y[:-1], z), speed)

        return integrated(WHO, rate, (0.0, span), state, self.tolerance, np.ones(len(state)), shortest=SHORTEST)

    def _end(self, run: Run, sign: float, s: Array, at: Array, *, first: bool) -> tuple[float, bool, str] | None:
        """Where within a piece the curve comes to a limit or back to its start; None if nowhere."""
        assert run.curve is not None
        curve, ends = run.curve, []
        if self.limits and (outside := np.flatnonzero(self._margin(at) < 0.0)).size:
            k = int(outside[0])
            when = _root(lambda x: float(self._margin(curve(np.array([x])).T)[0]), s[k - 1] if k else 0.0, s[k])
            ends.append((when, False, f"the limit of {self._limit(curve(np.array([when])).T[0])}"))
        gap = angle_difference(self.robot, self.q, at[:, :-1])
        ahead, near = sign * (gap @ self.tangent), np.linalg.norm(gap, axis=-1) < 2.0 * self.step
        before = np.concatenate([[1.0 if first else self._ahead(run, 0.0, sign)], ahead[:-1]])
        for k in map(int, np.flatnonzero((before < 0.0) & (ahead >= 0.0) & near)):
            when = _root(lambda x: self._ahead(run, x, sign), s[k - 1] if k else 0.0, s[k])
            apart = angle_difference(self.robot, self.q, curve(np.array([when])).T[0, :-1])
            if np.linalg.norm(apart) < MEETS:
                ends.append((when, True, "its start"))
                break
        return min(ends) if ends else None

    def _ahead(self, run: Run, s: float, sign: float) -> float:
        """How far beyond the start the curve is, along its tangent there."""
        assert run.curve is not None
        return float(sign * (angle_difference(self.robot, self.q, run.curve(np.array([s])).T[0, :-1]) @ self.tangent))

    def _margin(self, at: Array) -> Array:
        """The room (K,) that is left within the limits."""
        limits, q = self.robot.limits, at[:, :-1]
        return np.asarray(np.min(np.minimum(q - np.array(limits.lower), np.array(limits.upper) - q), axis=-1))

    def _limit(self, at: Array) -> str:
        limits, q = self.robot.limits, at[:-1]
        k = int(np.argmin(np.minimum(q - np.array(limits.lower), np.array(limits.upper) - q)))
        owners = [name for name in self.robot.coordinates if self.robot.q_slice(name).start <= k]
        return repr(owners[-1])

    def _samples(self, pieces: list[Array]) -> Array:
        q = np.concatenate(pieces)[:, :-1] if pieces else np.zeros((0, self.robot.nq))
        return with_unit_quaternions(self.robot, np.ascontiguousarray(q))


def _flows(robot: Robot, q: Array, task: Task, step: float, flows: int, seed: int, tolerance: float) -> SelfMotion:
    """Null-space flows with unit speed √Σ v² at their start, all integrated together."""
    generator, shape = np.random.default_rng(seed), (flows, robot.nq)

    def projected(at: Array) -> Array:
        J = np.broadcast_to(task.jacobian(robot, at), (flows, task.size, robot.nv))
        return np.asarray(w - np.einsum("fia,faj,fj->fi", pseudoinverse_lift(robot, at, task), J, w))

    w = generator.normal(size=(flows, robot.nv))
    starts = np.broadcast_to(q, shape)
    w = w / np.linalg.norm(projected(starts), axis=-1, keepdims=True)

    def rate(s: float, y: Array) -> Array:
        at = y[:-flows].reshape(shape)
        v = projected(at)
        return np.concatenate([configuration_rate(robot, at, v).ravel(), np.sqrt(2.0 * kinetic_energy(robot, at, v))])

    s, start = np.linspace(0.0, 20 * step, 21), np.concatenate([starts.ravel(), np.zeros(flows)])
    run = integrated(WHO, rate, (0.0, float(s[-1])), start, tolerance, np.ones(len(start)), shortest=SHORTEST)
    if run.curve is None:
        raise TorsorError(
            f"{WHO}: a flow of robot {robot.name!r} came to a singular configuration after {run.t:.3g}; pass a smaller `step`."
        )
    y = run.curve(s)
    qs = with_unit_quaternions(robot, np.ascontiguousarray(np.moveaxis(y[:-flows].reshape(*shape, len(s)), -1, 1)))
    error = _task_error(robot, q, qs.reshape(-1, robot.nq), task)
    names = robot.structure.freedoms
    return SelfMotion(
        robot.name, robot.nv - task.size, names, qs, False, y[-flows:, -1], np.zeros(robot.nv), 0, (), error
    )


def _task_error(robot: Robot, q: Array, qs: Array, task: Task) -> float:
    began = tuple(np.broadcast_to(part, (len(qs), *part.shape)) for part in place(robot, q, task))
    return float(np.max(np.abs(displacement(task, began, place(robot, qs, task))), initial=0.0))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with a change of sign between low and high is zero, by bisection."""
    start = function(low) < 0.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (function(middle) < 0.0) == start else (low, middle)
    return 0.5 * (low + high)
