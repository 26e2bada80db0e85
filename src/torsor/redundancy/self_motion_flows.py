"""Self-motions of several dimensions, sampled: null-space flows q' = (1 − J⁺J) w with random constant w."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import TorsorError
from torsor.functions import configuration_rate, kinetic_energy
from torsor.model import Robot
from torsor.motion.integration import integrated
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.joint_room import nearest_limit, room
from torsor.redundancy.zero_crossing import zero_crossing
from torsor.task_functions import pseudoinverse_lift
from torsor.tasks import Task

SHORTEST = 1e-6  # step, as a fraction of the whole: shorter ones mean a singular configuration
STEPS = 20  # of each flow


class Flows(NamedTuple):
    """Samples q (D, K, nq) along flows from one configuration, their lengths (D,), m·√kg, and why each ended."""

    q: Array
    length: Array
    ends: tuple[str, ...]


def sampled_flows(
    who: str,
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
    """Flows with unit speed √Σ v² at their start, all integrated together; those that end stay where they are."""
    generator, shape = np.random.default_rng(seed), (flows, robot.nq)

    def projected(at: Array) -> Array:
        J = np.broadcast_to(task.jacobian(robot, at), (flows, task.size, robot.nv))
        return np.asarray(w - np.einsum("fia,faj,fj->fi", pseudoinverse_lift(robot, at, task), J, w))

    w = generator.normal(size=(flows, robot.nv))
    starts = np.broadcast_to(q, shape)
    w = w / np.linalg.norm(projected(starts), axis=-1, keepdims=True)

    def rate(s: float, y: Array) -> Array:
        at = y[: flows * robot.nq].reshape(shape)
        v = projected(at)
        lengths = [np.sqrt(2.0 * kinetic_energy(robot, at, v)), np.linalg.norm(v, axis=-1)]
        return np.concatenate([configuration_rate(robot, at, v).ravel(), *lengths])

    s, start = np.linspace(0.0, STEPS * step, STEPS + 1), np.concatenate([starts.ravel(), np.zeros(2 * flows)])
    run = integrated(who, rate, (0.0, float(s[-1])), start, tolerance, np.ones(len(start)), shortest=SHORTEST)
    if run.curve is None:
        raise TorsorError(
            f"{who}: a flow of robot {robot.name!r} came to a singular configuration after {run.t:.3g}; pass a smaller `step`."
        )
    curve = run.curve

    def parts(s: Array) -> tuple[Array, Array, Array]:
        y = curve(np.asarray(s, float)).T
        return y[:, : -2 * flows].reshape(len(y), *shape), y[:, -2 * flows : -flows], y[:, -flows:]

    samples, masses, ways = parts(s)
    qs, lengths, ends = np.moveaxis(samples, 1, 0).copy(), masses[-1].copy(), [f"{STEPS} steps"] * flows
    room_left = room(robot, samples) if limits else np.ones_like(ways)
    for k in range(flows):

        def left(x: float, k: int = k) -> tuple[float, float]:
            at, _, way = parts(np.array([x]))
            return float(room(robot, at[0, k])) if limits else np.inf, longest - float(way[0, k])

        found = _end(s, (room_left[:, k], longest - ways[:, k]), left)
        if found is not None:
            last, at_limit = found
            at, mass, _ = parts(np.array([last]))
            qs[k, s > last], lengths[k] = at[0, k], mass[0, k]
            limit = f"the limit of {nearest_limit(robot, at[0, k])}"
            ends[k] = limit if at_limit else f"where {longest:g} rad or m were reached"
    return Flows(with_unit_quaternions(robot, np.ascontiguousarray(qs)), lengths, tuple(ends))


def _end(s: Array, left: tuple[Array, Array], at: Callable[[float], tuple[float, float]]) -> tuple[float, bool] | None:
    """Where between samples the first of two numbers becomes negative, and whether it is the first; None if nowhere."""
    ends = []
    for which in (0, 1):
        outside = np.flatnonzero(left[which] < 0.0)
        if outside.size:
            k = max(int(outside[0]), 1)

            def margin(x: float, which: int = which) -> float:
                return at(x)[which]

            ends.append((zero_crossing(margin, float(s[k - 1]), float(s[k])), which == 0))
    return min(ends) if ends else None
