"""Self-motions of several dimensions, sampled: null-space flows q' = (1 − J⁺J) w with random constant w."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.dynamics import kinetic_energy
from torsor.functions.public.kinematics import configuration_rate
from torsor.model import Robot
from torsor.motion.integration import integrated
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.limit_margin import leaves_limits, limit_in_words
from torsor.redundancy.report_text import vector
from torsor.redundancy.zero_crossing import zero_crossing
from torsor.tasks import Task
from torsor.tasks.public import pseudoinverse_lift

SHORTEST = 1e-6  # step, as a fraction of the whole: shorter ones mean a singular configuration
STEPS = 20  # of each flow
SINGULAR = 1e-5  # ratio of singular values of J at which flows end, where one of them cannot go on


class Flows(NamedTuple):
    """Samples q (D, K, nq) along flows from one configuration, their lengths (D,), m·√kg, and why each ended."""

    q: Array
    length: Array
    ends: tuple[str, ...]


class Along(NamedTuple):
    """At times (K,): q (K, D, nq) of all flows, their lengths in the inertia metric (K, D) and √Σ dq² (K, D)."""

    q: Array
    length: Array
    way: Array


def sampled_flows(
    robot: Robot,
    q: Array,
    task: Task,
    step: float,
    longest: float,
    limits: bool,
    flows: int,
    seed: int,
    tolerance: float,
) -> Flows:
    """Flows with unit speed √Σ v² at their start; those that end stay where they are."""
    s = np.linspace(0.0, STEPS * step, STEPS + 1)
    along, ends = _integrated_flows(robot, q, task, float(s[-1]), flows, seed, tolerance)
    samples = along(s)
    qs, lengths = np.moveaxis(samples.q, 1, 0).copy(), samples.length[-1].copy()
    for k in range(flows):

        def configurations(t: Array, k: int = k) -> Array:
            return along(t).q[:, k]

        def left(t: float, k: int = k) -> float:
            return longest - float(along(np.array([t])).way[0, k])

        stops = []
        if limits and (when := leaves_limits(robot, configurations, s)) is not None:
            stops.append((when, limit_in_words(robot, configurations(np.array([when]))[0])))
        if (beyond := np.flatnonzero(samples.way[:, k] > longest)).size:
            last = max(int(beyond[0]), 1)
            stops.append(
                (zero_crossing(left, float(s[last - 1]), float(s[last])), f"where {longest:g} rad or m were reached")
            )
        if stops:
            when, ends[k] = min(stops)
            there = along(np.array([when]))
            qs[k, s > when], lengths[k] = there.q[0, k], there.length[0, k]
    return Flows(with_unit_quaternions(robot, np.ascontiguousarray(qs)), lengths, tuple(ends))


def _integrated_flows(
    robot: Robot, q: Array, task: Task, end: float, flows: int, seed: int, tolerance: float
) -> tuple[Callable[[Array], Along], list[str]]:
    """All flows together; where one comes to a singular configuration it stays, and the others go on."""
    shape, moving, ends = (flows, robot.nq), np.full(flows, True), [f"{STEPS} steps"] * flows

    def projected(at: Array) -> Array:
        J = np.broadcast_to(task.jacobian(robot, at), (flows, task.size, robot.nv))
        v = w - np.einsum("fia,faj,fj->fi", pseudoinverse_lift(robot, at, task), J, w)
        return np.where(moving[:, None], v, 0.0)

    w = np.random.default_rng(seed).normal(size=(flows, robot.nv))
    starts = np.broadcast_to(q, shape)
    w = w / np.linalg.norm(projected(starts), axis=-1, keepdims=True)

    def rate(s: float, y: Array) -> Array:
        at = y[: flows * robot.nq].reshape(shape)
        v = projected(at)
        lengths = [np.sqrt(2.0 * kinetic_energy(robot, at, v)), np.linalg.norm(v, axis=-1)]
        return np.concatenate([configuration_rate(robot, at, v).ravel(), *lengths])

    y = np.concatenate([starts.ravel(), np.zeros(2 * flows)])
    curves: list[Callable[[Array], Array]] = []  # from one of these times to the next
    times, finished = [0.0], False
    while not finished:
        run = integrated(rate, (times[-1], end), y, tolerance, np.ones(len(y)), shortest=SHORTEST)
        if not run.finished:
            at = run.y[: flows * robot.nq].reshape(shape)
            for k in _most_singular(robot, task, at, moving):
                moving[k], ends[k] = False, f"a singular configuration near q = {vector(at[k])}"
        if run.curve is not None:
            curves.append(run.curve)
            times.append(run.t)
        y, finished = run.y, run.finished

    def along(s: Array) -> Along:
        y = np.array([curves[bisect_left(times, x, 1, len(curves)) - 1](x) for x in s])
        return Along(y[:, : -2 * flows].reshape(len(y), *shape), y[:, -2 * flows : -flows], y[:, -flows:])

    return along, ends


def _most_singular(robot: Robot, task: Task, q: Array, moving: Array) -> Array:
    """The numbers of the flows at q (D, nq) that are at singular configurations, of those that move; one at least."""
    J = np.broadcast_to(task.jacobian(robot, q), (len(q), task.size, robot.nv))
    sigma = np.linalg.svd(J, compute_uv=False)
    ratio = np.where(moving, sigma[:, -1] / np.maximum(sigma[:, 0], 1e-300), np.inf)
    return np.flatnonzero(ratio <= max(float(ratio.min()), SINGULAR))
