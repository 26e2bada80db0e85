"""Self-motion manifolds: all that a robot can do without its task noticing, from one configuration.

With nv − m = 1 the fibre is a curve (`self_motion_curve`). With more it is sampled by null-space flows q' = (1 − J⁺J) w with
random constant w, if it exists: ker J of some rows of a twist need not be integrable (`task_places`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import kinetic_energy
from torsor.functions.public.kinematics import configuration_rate, difference
from torsor.model import Robot
from torsor.motion.integration import integrated, sign_change, with_unit_quaternions
from torsor.redundancy.configurations import (
    LOST,
    jacobian_at,
    leaves_limits,
    limit_in_words,
    refuse_outside,
    same_configuration,
    single_configuration,
    turns_between,
    units_of_freedoms,
    vector,
)
from torsor.redundancy.fibres import SingularConfiguration, singular_nearby
from torsor.redundancy.self_motion_curve import Curve, traced_curve
from torsor.redundancy.task_places import displacement, has_value, is_frame, place, refuse_no_manifold
from torsor.tasks import Task, as_task
from torsor.tasks.public import pseudoinverse_lift, task_rank

MEASURED = 1e-6  # what a task of rows without a value may seem to move by
SHORTEST = 1e-6  # step, as a fraction of the whole: shorter ones mean a singular configuration
STEPS = 20  # of each flow
SINGULAR = 1e-5  # ratio of singular values of J at which flows end, where one of them cannot go on


@dataclass(frozen=True, eq=False, repr=False)
class SelfMotion(Report):
    """Configurations that do the same to the task.

    Attributes
    ----------
    robot : Robot
    dimension : int
        nv − m.
    q : (K, nq) or (D, K, nq) array
        Along the curve where ``dimension`` is 1, else along D flows from the start; rad or m.
    closed : bool
        The curve came back to its start (revolute joints modulo whole turns).
    length : () or (D,) array
        Of the curve or the flows in the inertia metric, m·√kg; of a closed curve until it is back modulo whole turns of every
        revolute joint, though a joint that has turned be elsewhere with its cables.
    turns : (nv,) array
        Whole turns that joints made on the way round a closed curve.
    start : int
        The sample at which it began.
    ends : tuple of str
        Why the curve ends, in words, backwards and forwards, or why each of the flows does; a flow that has ended stays where
        it is.
    task_error : float
        How far the task moved at most, m and rad as numbers; NaN if it has no value to measure that by.
    singular : tuple of SingularConfiguration
        At the ends of a curve, each once. A curve that ends in some is the arc of the fibre between them:
        `self_motion_components` has the other arcs that meet there.
    missed : tuple of SingularConfiguration
        Those that the curve passes beside, with the task less than 1e-6 of the largest singular value of J away; it bends sharply
        there.
    """

    robot: Robot
    dimension: int
    q: Array
    closed: bool
    length: Array
    turns: Array
    start: int
    ends: tuple[str, ...]
    task_error: float
    singular: tuple[SingularConfiguration, ...] = ()
    missed: tuple[SingularConfiguration, ...] = ()

    @property
    def joint_length(self) -> Array:
        """Of the curve () or the flows (D,) in joint coordinates, ∫ √Σ dq² along the samples, in ``joint_unit``: as `spacing`."""
        steps = difference(self.robot, self.q[..., :-1, :], self.q[..., 1:, :])
        return np.asarray(np.linalg.norm(steps, axis=-1).sum(axis=-1))

    @property
    def joint_unit(self) -> str:
        """The unit of distances in joint coordinates: "rad", "m", or "rad and m" where the robot has joints of both."""
        return " and ".join(dict.fromkeys(sorted(units_of_freedoms(self.robot.structure), reverse=True)))

    def __str__(self) -> str:
        moved = f"the task moves by {self.task_error:.1g} at most"
        moved = (
            moved if np.isfinite(self.task_error) else "the rows of the task stay zero, and have no value to measure"
        )
        if self.dimension > 1:
            cut = sum("limit" in end for end in self.ends)
            lost = sum("singular" in end for end in self.ends)
            return (
                f"self-motion of robot {self.robot.name!r}: {self.dimension} dimensions, sampled along {len(self.q)} flows of "
                f"{np.mean(self.length):.3g} m·√kg on average{f', {cut} of them to a limit' if cut else ''}"
                f"{f', {lost} of them to a singular configuration' if lost else ''}; {moved}"
            )
        if self.closed:
            how = f"a closed curve of length {self._lengths()}"
            turned = [
                f"{int(n):+d} of {name}" for name, n in zip(self.robot.structure.freedoms, self.turns, strict=True) if n
            ]
            how += f", with whole turns {', '.join(turned)}" if turned else ""
        else:
            how = f"an open curve of length {self._lengths()}, from {self.ends[0]} to {self._last_end()}"
        how += "".join(
            f", beside the singular configuration q = {vector(one.q)} with the task {one.off:.1g} away"
            for one in self.missed
        )
        return f"self-motion of robot {self.robot.name!r}: {how}; {moved}"

    def _lengths(self) -> str:
        return f"{float(self.length):.4g} m·√kg ({float(self.joint_length):.4g} {self.joint_unit} in joint coordinates)"

    def _last_end(self) -> str:
        found = all(end.startswith("the singular configuration") for end in self.ends)
        return "the same configuration, from another side" if found and len(self.singular) == 1 else self.ends[1]


@explained
def self_motion(
    robot: Robot,
    q0: ConfigurationVector,
    task: Task | str,
    *,
    spacing: float = 0.05,
    longest: float = 100.0,
    within_limits: bool = False,
    flows: int = 16,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-10,
) -> SelfMotion:
    """Fibre through q0: all that ker J leads to, the space of internal motions [Alt04, §II.B]. Null-space motion. One start only.

    With nv − m = 1 it is a curve, which closes, or ends in a singular configuration, at a limit or after ``longest``. A singular
    configuration is on the fibre if the task is the same there to 1e-13 of the largest singular value of J; the
    curve is then the arc between such ends, the same from every start on it. Where the smallest singular value falls below 1e-7
    of the largest, a curve cannot be followed any further and ends too. With more dimensions the fibre is sampled by flows.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    q0 : (nq,) array
        Where to start, rad or m; not a singular configuration.
    task : Task or str
        A `Task`, or the name of a frame for its body twist.
    spacing : float
        Distance between samples in joint coordinates, √Σ dq²: in rad, in m for joints that slide, the numbers added where a robot
        has both. Not in m·√kg, the unit of the result's ``length``; its ``joint_length`` has the unit of ``spacing``.
    longest : float
        Where to give up each way, in the unit of ``spacing``.
    within_limits : bool
        Ends where a joint comes to a limit of its position. Otherwise limits are not looked at.
    flows : int
        How many random flows of about 20 steps, with more than one dimension.
    seed : int or numpy.random.Generator
        Of the flows.
    tolerance : float
        Of each integration step.

    Returns
    -------
    SelfMotion
        ``q`` (K, nq) along a curve, (D, K, nq) along flows, rad or m.

    Raises
    ------
    ArgumentError
        Where there is no self-motion manifold, for ker J is not integrable: that can only be of some rows of a body twist; and at
        singular configurations, with what the fibre is like there.
    """
    q = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_bad_numbers(spacing=spacing, longest=longest, tolerance=tolerance)
    refuse_bad_count("flows", flows, 1, "`flows` must be positive")
    dimension = robot.nv - found.size
    rank = task_rank(robot, q, found, tolerance=LOST)
    if dimension < 1 or not rank.is_onto:
        why = f"it has {robot.nv} degrees of freedom for {found.size} rows" if dimension < 1 else f"J has {rank}."
        around = _around(robot, q, found) if dimension == 1 and is_frame(found) else ""
        raise ArgumentError(f"robot {robot.name!r} has no regular self-motion here: {why}{around}")
    refuse_no_manifold(robot, found, q)
    if within_limits:
        refuse_outside(robot, q)
    if dimension > 1:
        some = sampled_flows(robot, q, found, spacing, longest, within_limits, flows, seed, tolerance)
        error = _task_error(robot, q, some.q.reshape(-1, robot.nq), found)
        none = np.zeros(robot.nv)
        return SelfMotion(robot, dimension, some.q, False, some.length, none, 0, some.ends, error)
    return _described(robot, q, found, traced_curve(robot, q, found, spacing, longest, within_limits, tolerance))


def _described(robot: Robot, q: Array, task: Task, curve: Curve) -> SelfMotion:
    """The self-motion of one dimension that was traced from q (nq,)."""
    ends: tuple[str, ...] = ()
    ahead, back, missed = curve
    if back is None:
        qs, length, start = np.concatenate([q[None], ahead.q]), ahead.length, 0
        turns = turns_between(robot, qs[0], qs[-1])
    else:
        qs, start = np.concatenate([back.q[::-1], q[None], ahead.q]), len(back.q)
        ends, length, turns = (back.end, ahead.end), back.length + ahead.length, np.zeros(robot.nv)
    error = _task_error(robot, q, qs, task)
    singular, way = _each_once(robot, [] if back is None else [back.singular, ahead.singular]), np.asarray(length)
    missed = tuple(one for one in missed if not any(same_configuration(robot, one.q, end.q) for end in singular))
    return SelfMotion(robot, 1, qs, ahead.closed, way, turns, start, ends, error, singular, missed)


def _each_once(robot: Robot, ends: list[SingularConfiguration | None]) -> tuple[SingularConfiguration, ...]:
    some = [end for end in ends if end is not None]
    return tuple(some[:1]) if len(some) == 2 and same_configuration(robot, some[0].q, some[1].q) else tuple(some)


def _around(robot: Robot, q: Array, task: Task) -> str:
    """What the fibre of a singular configuration is like there, in words."""
    found = singular_nearby(robot, q, task, place(robot, q, task))
    if found is None or not found.known:
        return ""
    if found.is_isolated:
        return " The fibre is this configuration alone, at least nearby: no joint can move while the task stays."
    return (
        " Two curves of the self-motion cross here: torsor.redundancy.self_motion_components(robot, q, task) follows all that "
        "lead away."
    )


def _task_error(robot: Robot, q: Array, qs: Array, task: Task) -> float:
    began = tuple(np.broadcast_to(part, (len(qs), *part.shape)) for part in place(robot, q, task))
    error = float(np.max(np.abs(displacement(task, began, place(robot, qs, task))), initial=0.0))
    return error if error < MEASURED or has_value(robot, task) else np.nan


class Flows(NamedTuple):
    """Samples q (D, K, nq) along flows from one configuration, their lengths (D,), m·√kg, and why each ended."""

    q: Array
    length: Array
    ends: tuple[str, ...]


class Along(NamedTuple):
    """All flows at times (K,): q (K, D, nq), their lengths in the inertia metric (K, D) and √Σ dq² (K, D)."""

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
    seed: int | np.random.Generator,
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
                (sign_change(left, float(s[last - 1]), float(s[last])), f"where {longest:g} rad or m were reached")
            )
        if stops:
            when, ends[k] = min(stops)
            there = along(np.array([when]))
            qs[k, s > when], lengths[k] = there.q[0, k], there.length[0, k]
    return Flows(with_unit_quaternions(robot, np.ascontiguousarray(qs)), lengths, tuple(ends))


def _integrated_flows(
    robot: Robot, q: Array, task: Task, end: float, flows: int, seed: int | np.random.Generator, tolerance: float
) -> tuple[Callable[[Array], Along], list[str]]:
    """All flows together; where one comes to a singular configuration it stays, and the others go on."""
    shape, moving, ends = (flows, robot.nq), np.full(flows, True), [f"{STEPS} steps"] * flows

    def projected(at: Array) -> Array:
        J = jacobian_at(robot, at, task)
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
    J = jacobian_at(robot, q, task)
    sigma = np.linalg.svd(J, compute_uv=False)
    ratio = np.where(moving, sigma[:, -1] / np.maximum(sigma[:, 0], 1e-300), np.inf)
    return np.flatnonzero(ratio <= max(float(ratio.min()), SINGULAR))
