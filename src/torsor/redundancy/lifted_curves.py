"""Lifted curves: the joint motion above a motion of the task, q̇ = K(q) (ẏ + feedback · error), to a stated accuracy."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_unknown
from torsor.errors import ArgumentError, TorsorError
from torsor.functions.public.dynamics import kinetic_energy, mass_matrix
from torsor.functions.public.kinematics import configuration_rate, difference
from torsor.model import Robot
from torsor.motion.integration import integrated, scipy_module, with_unit_quaternions
from torsor.redundancy.configurations import leaves_limits, limit_in_words, refuse_outside, single_configuration, vector
from torsor.redundancy.fibres import self_motion_direction
from torsor.redundancy.lifts import Lift, given_lift
from torsor.redundancy.task_places import Rate, displacement, moves_on_group, place, task_path
from torsor.tasks import Task, as_task
from torsor.tasks.public import split_velocity, task_rank
from torsor.tasks.targets import flat_value, leaves_of, unflattened

AT_ONCE = 1e-9  # of a leg: what is shorter is none
LOOKS = 9  # times within a step of the integrator at which limits are looked at: its curve is smooth
SHORTEST = 1e-7  # step, as a fraction of a leg: where steps get shorter than this, the joints run away


@dataclass(frozen=True, eq=False, repr=False)
class LiftedCurve(Report):
    """A joint motion above a motion of the task: K samples over all of its legs.

    Attributes
    ----------
    robot : Robot
    lift : str
        The name of the lift.
    t : (K,) array
        The path parameter, one unit for each leg.
    q : (K, nq) array
        Configurations, rad or m.
    v : (K, nv) array
        Velocities, rad or m per unit of t.
    fibre : (K,) array
        How far it has moved along the fibres, in the inertia metric, m·√kg. Where they are curves (nv − m = 1) it is a
        coordinate, ∫ ⟨z, v⟩ dt with the unit self-motion z, and goes back when the motion does. With more dimensions it is the
        length ∫ |v vertical| dt: ker J has no frame of its own, and coordinates in one carried along would depend on the way it
        was carried. Zero for the horizontal lift in either case.
    task_change : (m,) array
        From where the task began to where it is at the end.
    limit : str or None
        The first limit of positions that is passed, with joint and t, in words.
    finished : bool
        False if the motion was to stay within the limits, and so ends there, before the curve does.
    """

    robot: Robot
    lift: str
    t: Array
    q: Array
    v: Array
    fibre: Array
    task_change: Array
    limit: str | None = None
    finished: bool = True

    @property
    def holonomy(self) -> Array:
        """From the first configuration to the last (nv,), rad or m: of a closed curve, a displacement within the fibre."""
        return difference(self.robot, self.q[0], self.q[-1])

    def __str__(self) -> str:
        limit = "" if self.limit is None else f"; it {'goes beyond' if self.finished else 'ends at'} {self.limit}"
        return (
            f"{self.lift} lift of a curve of {self.t[-1]:g} leg{'s' if self.t[-1] > 1 else ''} by robot {self.robot.name!r}: the "
            f"joints move by {np.linalg.norm(self.holonomy):.3g} from end to end, {abs(self.fibre[-1]):.2g} m·√kg of it along "
            f"fibres; the task moves by {np.linalg.norm(self.task_change):.3g}{limit}"
        )


@explained
def lift_curve(
    robot: Robot,
    q0: GivenConfiguration,
    task: Task | str,
    curve: Any,
    *,
    lift: Lift = "inertia",
    samples: int = 101,
    feedback: float = 0.0,
    tolerance: float = 1e-10,
    within_limits: bool = False,
) -> LiftedCurve:
    """Joint motion q(t) above a curve of the task, q̇ = K(q) ẏ, the only horizontal one [Alt04, Cor. III.1]. One start only.

    It raises at singular configurations, with what cannot be done there [E004-5]: the theorem's promise of a lift for all times
    does not hold across them.

    Parameters
    ----------
    robot : Robot
    q0 : (nq,) array
        Where it begins, rad or m.
    task : Task or str
        The name of a frame means its body twist.
    curve : array or function
        A function t → ẏ (m,), t from 0 to 1; or points (k, m) joined by straight legs, of which only the differences to the first
        count: of a pose or orientation they are exponential coordinates about where it starts, T = T₀ exp(y − y₀); for a pose
        also poses (k, 4, 4), in base axes, joined by screw motions, the first where the frame is.
    lift : str, metric or function
        "inertia", "pseudoinverse", a metric (nv, nv), or a function (robot, q) → metric (nv, nv) or K (nv, m).
    samples : int
        Of each leg, the ends included.
    feedback : float
        How fast an error of the task is made good, per unit of t.
    tolerance : float
        Of each step.
    within_limits : bool
        Ends where a joint comes to a limit of its position. If False it goes on beyond, and the result says where.

    Returns
    -------
    LiftedCurve
        ``q`` (K, nq), rad or m, and ``v`` (K, nv) at ``t`` (K,).
    """
    q0 = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_bad_numbers(tolerance=tolerance)
    refuse_bad_count("samples", samples, 2, "needs at least 2 samples of a leg, the start and the end")
    tracker = Tracker(robot, q0, found, lift, feedback, tolerance, within_limits=within_limits)
    legs = task_path(robot, q0, found, curve, closed=False).legs
    shares = np.linspace(0.0, 1.0, samples)
    q, reference, limit, done = q0, tracker.reference.start, None, []
    rates: list[Array] = []
    for number, leg in enumerate(legs):
        end = tracker.follow(q, reference, leg, shares)
        if limit is None and end.limit is not None:
            limit = f"{end.limit}, at t = {number + end.at:.6g}"
        if end.end < AT_ONCE:
            break
        done.append(end)
        y_rate = np.array([leg(float(t)) for t in end.times], float)
        rates.append(np.einsum("kia,ka->ki", tracker.given.lift_at(robot, end.samples, found), y_rate))
        q, reference = end.q, end.reference
        if end.end < 1.0:
            break
    if not done:
        raise ArgumentError(f"robot {robot.name!r} would leave its limits at once: it begins at {limit}.")
    qs, vs, times = np.array([leg.samples for leg in done]), np.array(rates), np.array([leg.times for leg in done])
    fibre = _fibre(robot, found, times, qs, vs)
    t = (np.arange(len(done))[:, None] + times).ravel()
    keep = np.concatenate([[True], np.diff(t) > 0.0])  # the end of a leg is the beginning of the next
    flat_q, flat_v = np.concatenate(qs), np.concatenate(vs)
    refuse_unknown(flat_q, "configurations on the way")
    change = displacement(found, place(robot, flat_q[0], found), place(robot, flat_q[-1], found))
    finished = len(done) == len(legs) and done[-1].end == 1.0
    way = fibre.ravel()[keep]
    return LiftedCurve(robot, tracker.given.name, t[keep], flat_q[keep], flat_v[keep], way, change, limit, finished)


def _fibre(robot: Robot, task: Task, times: Array, q: Array, v: Array) -> Array:
    """The fibre coordinate at samples at times (legs, K), from configurations (legs, K, nq) and velocities (legs, K, nv)."""
    if robot.nv == task.size:
        return np.zeros(q.shape[:-1])
    if robot.nv == task.size + 1:
        z, M = self_motion_direction(robot, q, task), mass_matrix(robot, q)
        Mz = np.einsum("...ij,...j->...i", M, z)
        speed = np.sum(Mz * v, axis=-1) / np.sqrt(np.sum(Mz * z, axis=-1))
    else:
        speed = np.sqrt(2.0 * np.maximum(kinetic_energy(robot, q, split_velocity(robot, q, v, task).vertical), 0.0))
    splines = scipy_module("interpolate")
    degree = min(5, times.shape[1] - 1)
    parts = np.array(
        [splines.make_interp_spline(t, x, k=degree).antiderivative()(t) for t, x in zip(times, speed, strict=True)]
    )
    ends = np.concatenate([[0.0], np.cumsum(parts[:-1, -1])])
    return np.asarray(parts + ends[:, None])


class Reference(Protocol):
    """Where the task should be, as numbers that are integrated beside q."""

    start: Array

    def rate(self, now: Array, y_rate: Array) -> Array:
        """Rate at which the numbers change, when the task should move with ẏ (m,)."""

    def error(self, now: Array, q: Array) -> Array:
        """From where the task is to where it should be (m,)."""


class _Nowhere:
    """The reference of a motion without feedback: nothing is carried along."""

    start = np.zeros(0)

    def rate(self, now: Array, y_rate: Array) -> Array:
        return now

    def error(self, now: Array, q: Array) -> Array:
        return np.zeros(1)


class _Values:
    """The reference of a task whose values are numbers, rotations or rigid motions: ẏ of numbers, Ṫ = T [V] of poses."""

    def __init__(self, robot: Robot, q: Array, task: Task) -> None:
        self._robot, self._task = robot, task
        self.start = np.asarray(flat_value(task.value(robot, q), task))

    def rate(self, now: Array, y_rate: Array) -> Array:
        parts = zip(self._task.parts, leaves_of(self._task, now), strict=True)
        return np.concatenate([np.ravel(part.task.group.flow(leaf, part.own(y_rate))) for part, leaf in parts])

    def error(self, now: Array, q: Array) -> Array:
        return np.asarray(self._task.error(self._task.value(self._robot, q), unflattened(self._task, now)))


class Leg(NamedTuple):
    """The end of a leg, q (nq,) and the numbers of the reference, and when that is; ``samples`` q (K, nq) at ``times`` (K,).

    ``limit``: the limit to which the leg came, and ``at`` which t, or None; it ended there if it was to stay within the limits.
    """

    q: Array
    reference: Array
    end: float
    times: Array
    samples: Array
    limit: str | None
    at: float


class Tracker:
    """Follows legs of a task from one configuration to the next."""

    def __init__(
        self,
        robot: Robot,
        q: Array,
        task: Task,
        lift: Any,
        feedback: float,
        tolerance: float,
        *,
        within_limits: bool = False,
    ) -> None:
        self.robot, self.task, self.tolerance, self.feedback = robot, task, tolerance, feedback
        self.within_limits = within_limits
        if within_limits:
            refuse_outside(robot, q)
        if task.size > robot.nv:
            raise ArgumentError(
                f"robot {robot.name!r} has {robot.nv} degrees of freedom, fewer than the {task.size} rows of the task: no "
                "joint motion does all of it."
            )
        if not (np.ndim(feedback) == 0 and np.isfinite(feedback) and feedback >= 0):
            raise ArgumentError(f"`feedback` must be one number, finite and not negative, got {feedback!r:.60}.")
        self.given = given_lift(robot, task, lift, q)
        self.reference: Reference = _reference(robot, q, task) if feedback else _Nowhere()

    def velocity(self, q: Array, y_rate: Array, reference: Array) -> Array:
        """v (nv,) = K (ẏ + feedback · error)."""
        wanted = y_rate + self.feedback * self.reference.error(reference, q) if self.feedback else y_rate
        return np.asarray(self.given.lift_at(self.robot, q, self.task) @ wanted)

    def follow(self, q: Array, reference: Array, leg: Rate, shares: Array) -> Leg:
        """One leg from q, sampled at these shares of it; ends at a limit if so asked, raises where the task becomes singular."""
        split, limits = len(q), _Limits(self.robot)

        def rate(t: float, y: Array) -> Array:
            here, carried, y_rate = y[:split], y[split:], np.asarray(leg(t), float)
            refuse_unknown(y_rate, f"the path's velocities, here at t = {t:.6g} of a leg,")
            v = self.velocity(here, y_rate, carried)
            return np.concatenate([configuration_rate(self.robot, here, v), self.reference.rate(carried, y_rate)])

        start = np.concatenate([with_unit_quaternions(self.robot, q), reference])
        run = integrated(
            rate,
            (0.0, 1.0),
            start,
            self.tolerance,
            np.ones(len(start)),
            dense=len(shares) > 0,
            shortest=SHORTEST,
            stop=partial(limits.passed, ends=self.within_limits) if limits.any else None,
        )
        stopped = self.within_limits and limits.words is not None
        if not run.finished and not stopped:
            raise self._stuck(run.t, run.y[:split])
        times = shares * (run.t if stopped else 1.0)
        samples = np.zeros((0, split)) if run.curve is None else run.curve(times)[:split].T
        end = with_unit_quaternions(self.robot, run.y[:split])
        samples = with_unit_quaternions(self.robot, np.ascontiguousarray(samples))
        return Leg(end, run.y[split:], run.t, times, samples, limits.words, limits.at)

    def _stuck(self, t: float, q: Array) -> TorsorError:
        where = vector(q, 6)
        report = task_rank(self.robot, q, self.task, tolerance=1e-3)
        condition = float(np.linalg.cond(mass_matrix(self.robot, q)))
        weight = f" Its mass matrix is nearly singular (condition {condition:.1e})." if condition > 1e5 else ""
        choice = f" {why}" if (why := self.given.why_singular(self.robot, q)) else ""
        return ArgumentError(
            f"robot {self.robot.name!r} cannot go on after t = {t:.6g} of this leg, at q = {where}: the lift runs "
            f"away, as it does at singular configurations. J has {report}.{weight}{choice} Take a path that keeps away from it, "
            "or start elsewhere on the self-motion (torsor.redundancy.self_motion)."
        )


class _Limits:
    """Where a leg first comes to a limit of positions."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.any = bool(np.isfinite([*robot.limits.lower, *robot.limits.upper]).any())
        self.words: str | None = None
        self.at = np.nan

    def passed(self, step: Any, *, ends: bool) -> float | None:
        """Looks at one step of the integrator; when within it a limit is come to, if that ends the leg."""
        if self.words is None:
            n = self.robot.nq
            when = leaves_limits(self.robot, lambda t: step(t)[:n].T, np.linspace(step.t_old, step.t, LOOKS))
            if when is not None:
                self.at, self.words = when, limit_in_words(self.robot, step(when)[:n])
                return when if ends else None
        return None


def _reference(robot: Robot, q: Array, task: Task) -> Reference:
    if not moves_on_group(task):
        raise ArgumentError(
            "feedback is known of whole poses and orientations, of positions, functions and rows of these, and of stacks of "
            "all that; pass feedback=0, or another task."
        )
    return _Values(robot, q, task)
