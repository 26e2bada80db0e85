"""Horizontal lift of curves: the joint motion above a motion of the task, from one configuration, without self-motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.numbers import refuse_bad_count, refuse_bad_numbers, refuse_unknown
from torsor.errors import ArgumentError
from torsor.functions.public.dynamics import kinetic_energy, mass_matrix
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.motion.optional_scipy import scipy_module
from torsor.redundancy.given_lift import Lift
from torsor.redundancy.self_motion_direction import self_motion_direction
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_displacement import displacement, place
from torsor.redundancy.task_path import task_path
from torsor.redundancy.tracking import Tracker
from torsor.tasks import Task, as_task
from torsor.tasks.public import split_velocity

AT_ONCE = 1e-9  # of a leg: what is shorter is none


@dataclass(frozen=True, eq=False)
class LiftedCurve:
    """A joint motion above a motion of the task: K samples over all of its legs.

    ``t`` (K,): the path parameter, one unit for each leg; ``q`` (K, nq), rad or m; ``v`` (K, nv), rad or m per unit of t.
    ``fibre`` (K,), m·√kg: how far it has moved along the fibres, in the inertia metric. Where they are curves (nv − m = 1) it is
    a coordinate, ∫ ⟨z, v⟩ dt with the unit self-motion z, and goes back when the motion does. With more dimensions it is the
    length ∫ |v vertical| dt: ker J has no frame of its own, and coordinates in one carried along would depend on the way it was
    carried. Zero for the horizontal lift in either case. ``task_change`` (m,): from where the task began to where it is at the
    end. ``limit``: the first limit of positions that is passed, with joint and t, in words; None if there is none. ``finished``:
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
    q0: ConfigurationVector,
    task: Task | str,
    curve: Any,
    *,
    lift: Lift = "inertia",
    samples: int = 101,
    feedback: float = 0.0,
    tolerance: float = 1e-10,
    within_limits: bool = False,
) -> LiftedCurve:
    """q(t) above a curve of the task with q̇ = K(q) ẏ, the only one from q0 that is always horizontal [Alt04, Cor. III.1].

    ``q0`` (nq,), rad or m. ``task``: a `Task`, or the name of a frame for its body twist. ``curve``: a function t → ẏ (m,), t
    from 0 to 1; or points (k, m) joined by straight legs, of which only the differences to the first count: of a pose or
    orientation they are exponential coordinates about where it starts, T = T₀ exp(y − y₀); for a pose also poses (k, 4, 4), in
    base axes, joined by screw motions, the first where the frame is. ``lift``: "inertia", "pseudoinverse", a metric (nv, nv),
    or a function (robot, q) → metric (nv, nv) or K (nv, m). ``samples`` of each leg, the ends included; ``feedback``: how fast
    an error of the task is made good, per unit of t; ``tolerance`` of each step. ``within_limits``: ends where a joint comes
    to a limit of its position; if False it goes on beyond, and the result says where. Raises at singular configurations, with
    what cannot be done there [E004-5]: the theorem's promise of a lift for all times does not hold across them.
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
