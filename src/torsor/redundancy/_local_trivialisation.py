"""Local trivialisation: coordinates (y, s) of configurations, y where the task is and s where on the fibre.

Near a configuration where (J; ∂h) is regular, the task is the projection of a product [Alt04, Th. III.1]: q ↦ (y, s), s = h(q),
is a chart. In general it is not a product of metrics, and it ends at singular configurations [E004-5]. Its surfaces s = constant
are the sections of an `extended_jacobian_lift`, its surfaces y = constant the self-motions.

The way back follows the straight line from (0, 0) to (y, s) in steps, each by Newton's method on the group ::

    q ← q ⊞ E⁻¹ r        r from where task and h are to where they should be, log(T⁻¹ T_wanted) of poses
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector
from torsor.border import explained
from torsor.border.numbers import numbers_of, refuse_unknown
from torsor.errors import ArgumentError, ShapeError, TorsorError
from torsor.functions.public.kinematics import body_jacobian, integrate
from torsor.model import Robot, random_configuration
from torsor.motion.quaternions_along import with_unit_quaternions
from torsor.redundancy.connection import configurations_of
from torsor.redundancy.extended_jacobian import Constraint, ExtendedJacobianLift, extended_jacobian_lift
from torsor.redundancy.report_text import units_of_freedoms, vector
from torsor.redundancy.single_configuration import single_configuration
from torsor.redundancy.task_displacement import displaced, displacement, place
from torsor.redundancy.task_path import body_rates
from torsor.tasks import FrameTask, SelectedTask, StackedTask, Task

LONGEST = 0.2  # rad: no joint turns farther at once
SHORTEST = 1e-6  # of the line: where steps get shorter, there is a singular configuration
ROUNDS = 8  # of Newton's method in a step
ARRIVED = 1e-13  # rad or m: a change of q after which the next would be nothing
ROUNDED = 1e-9  # rad or m: changes that were this small and are halved no more are rounding
SAME = 1e-6  # of exponential coordinates and those of what they stand for
VANISHED = 1e-9  # of the largest entry of a Jacobian: a row that never moves
SAMPLES = 16  # configurations at which that is asked


class Trivialised(NamedTuple):
    """``y`` (..., m): the task, ``s`` (..., nv − m): the fibre; both 0 at q₀, in units of the task and of h."""

    y: Array
    s: Array


@dataclass(frozen=True, eq=False)
class LocalTrivialisation:
    """Coordinates (y, s) near ``q0`` (nq,): what `local_trivialisation` gives."""

    robot: Robot
    q0: Array
    lift: ExtendedJacobianLift
    """The lift whose curves keep s."""

    @property
    def _both(self) -> Task:
        return StackedTask((self.lift.task, self.lift.constraint))

    @explained
    def coordinates(self, q: ConfigurationVector) -> Trivialised:
        """(y, s) of configurations q (..., nq), rad or m: y (..., m) and s (..., nv − m)."""
        q = configurations_of(self.robot, q)
        x = displacement(self._both, place(self.robot, self.q0, self._both), place(self.robot, q, self._both))
        x = np.broadcast_to(x, (*q.shape[:-1], self.robot.nv))
        m = self.lift.task.size
        return Trivialised(x[..., :m], x[..., m:])

    @explained
    def configuration(self, y: Array, s: Array | None = None) -> ConfigurationVector:
        """q (..., nq), rad or m, at coordinates ``y`` (..., m) and ``s`` (..., nv − m); without s, on the section through q₀.

        Raises where the straight line from (0, 0) meets a configuration at which (J; ∂h) is singular, and says which it is.
        """
        m, n = self.lift.task.size, self.robot.nv
        y = numbers_of("y", y, (m,))
        s = np.zeros(n - m) if s is None else numbers_of("s", s, (n - m,))
        try:
            batch = np.broadcast_shapes(y.shape[:-1], s.shape[:-1])
        except ValueError as error:
            raise ShapeError(f"batch axes of `y` {y.shape[:-1]} and `s` {s.shape[:-1]} do not go together.") from error
        parts = [np.broadcast_to(y, (*batch, m)), np.broadcast_to(s, (*batch, n - m))]
        x = np.concatenate(parts, axis=-1)
        refuse_unknown(x, "coordinates")
        self._refuse_large_rotations(x)
        found = [self._follow(one) for one in x.reshape(-1, n)]
        return np.array(found).reshape(*batch, self.robot.nq)

    @explained
    def derivative(self, q: ConfigurationVector) -> Array:
        """∂q/∂(y, s) (nv, nv) at one configuration (nq,), rad or m along v: its first m columns are the lift in coordinates y."""
        q = single_configuration(self.robot, q)
        x = np.concatenate(self.coordinates(q))
        rates = np.stack([body_rates(self._both, x, column) for column in np.eye(self.robot.nv)], axis=-1)
        return np.asarray(self.lift.inverse(self.robot, q) @ rates)

    def __str__(self) -> str:
        at = float(self.lift.transversality(self.robot, self.q0))
        return (
            f"local trivialisation of {self.lift.task.title!r} by robot {self.robot.name!r} at q0 = {vector(self.q0)}: "
            f"{self.lift.task.size} coordinates y of the task, {self.lift.constraint.size} of the fibre, s = h(q) − h(q0) of "
            f"{self.lift.constraint.name!r}; it is good as far as (J; ∂h) is regular (transversality {at:.2g} here)"
        )

    def _refuse_large_rotations(self, x: Array) -> None:
        start = place(self.robot, self.q0, self._both)
        off = np.abs(displacement(self._both, start, displaced(self._both, start, x)) - x)
        if np.any(off > SAME * (1.0 + np.abs(x))):
            raise ArgumentError(
                "exponential coordinates of rotations are good below π: larger ones stand for another rotation's. "
                "Take a q0 that is nearer, or nearer coordinates."
            )

    def _follow(self, x: Array) -> Array:
        """The configuration (nq,) at coordinates x (nv,)."""
        q, done, step = self.q0, 0.0, 1.0
        orientation = np.linalg.slogdet(self.lift.inverse(self.robot, q))[0]
        while done < 1.0:
            step = min(step, 1.0 - done)
            ahead = self._corrected(q, (done + step) * x, orientation)
            if ahead is None:
                step *= 0.5
                if step < SHORTEST:
                    raise self._lost(q, x, done)
                continue
            q, done, step = ahead, done + step, 2.0 * step
        return q

    def _corrected(self, q: Array, x: Array, orientation: float) -> Array | None:
        """The configuration at x (nv,) near q, by Newton's method; None if it turns far or converges slowly."""
        goal, before = displaced(self._both, place(self.robot, self.q0, self._both), x), np.inf
        turning = np.array([unit == "rad" for unit in units_of_freedoms(self.robot.structure)])
        for _ in range(ROUNDS):
            inverse = self.lift.inverse(self.robot, q)
            if not np.isfinite(inverse).all() or np.linalg.slogdet(inverse)[0] != orientation:
                return None
            dq = inverse @ displacement(self._both, place(self.robot, q, self._both), goal)
            size = float(np.abs(dq).max())
            if np.abs(dq[turning]).max(initial=0.0) > LONGEST or not size <= 0.5 * before:
                return q if before <= ROUNDED else None
            q, before = np.asarray(with_unit_quaternions(self.robot, np.asarray(integrate(self.robot, q, dq)))), size
            if size <= ARRIVED:
                return q
        return None

    def _lost(self, q: Array, x: Array, done: float) -> TorsorError:
        m = self.lift.task.size
        why = (
            self.lift.why_singular(self.robot, q)
            or f"The task comes to a singular configuration, near q = {vector(q)}."
        )
        return ArgumentError(
            f"the line from q0 to y = {vector(x[:m])}, s = {vector(x[m:])} cannot be followed beyond {done:.4g} of it, at "
            f"q = {vector(q)}. {why} Coordinates are good as far as (J; ∂h) is regular: take nearer ones, another q0 or h."
        )


@explained
def local_trivialisation(
    robot: Robot, task: Task | str, constraint: Constraint | ExtendedJacobianLift, q0: ConfigurationVector
) -> LocalTrivialisation:
    """Coordinates q ↦ (y, s), the task and a place on its fibre, and the way back (y, s) ↦ q, near q₀ [Alt04, Th. III.1].

    y is from where the task is at q₀: differences of positions and functions, exponential coordinates of poses and orientations,
    T = T₀ exp(y); s is h(q) − h(q₀). ``configuration(y)`` is a section through q₀, and ``configuration(y(t))`` the curve that
    ``lift_curve(..., lift=chart.lift)`` integrates. They are good as far as (J; ∂h) is regular, and rotations stay below π.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    task : Task or str
        m rows that are the rates of a value; the name of a frame means its pose.
    constraint : Task, function or ExtendedJacobianLift
        nv − m functions h of the configuration, as for `extended_jacobian_lift`, or a lift that has been made of them.
    q0 : array
        A configuration (nq,), rad or m, at which (J; ∂h) is regular.

    Returns
    -------
    LocalTrivialisation
        With ``coordinates``, ``configuration``, ``derivative`` and ``lift``.
    """
    q0 = single_configuration(robot, q0)
    lift = constraint
    if not isinstance(lift, ExtendedJacobianLift):
        lift = extended_jacobian_lift(robot, task, constraint)
    elif lift.task != (task if isinstance(task, Task) else FrameTask(task, "pose")):
        raise ArgumentError(f"this lift is one of the task {lift.task.title!r}, and the task is another.")
    lift.refuse_other_robot(robot)
    for one in (lift.task, lift.constraint):
        _refuse_no_coordinates(robot, one)
    if not float(lift.transversality(robot, q0)) > 0.0 or not np.isfinite(lift(robot, q0)).all():
        why = lift.why_singular(robot, q0) or "J loses rank there."
        raise ArgumentError(f"(J; ∂h) is singular at q0 = {vector(q0)} of robot {robot.name!r}. {why}")
    return LocalTrivialisation(robot, q0, lift)


def _refuse_no_coordinates(robot: Robot, task: Any) -> None:
    """Raise for rows of a twist that are no coordinates: some of them, unless the others never move."""
    if isinstance(task, StackedTask):
        for one in task.tasks:
            _refuse_no_coordinates(robot, one)
        return
    if not isinstance(task, SelectedTask):
        place(robot, random_configuration(robot, seed=0), task)  # raises of tasks that are nowhere
        return
    whole = task.task
    if isinstance(whole, (SelectedTask, StackedTask)):
        _refuse_no_coordinates(robot, whole)
        return
    if isinstance(whole, FrameTask) and whole.kind != "position":
        J = np.asarray(body_jacobian(robot, random_configuration(robot, seed=0, batch=(SAMPLES,)), whole.frame))
        others = [row for row in range(whole.size) if row not in task.rows]
        if np.abs(J[..., others, :]).max(initial=0.0) > VANISHED * np.abs(J).max():
            raise ArgumentError(
                f"some rows of a twist have no coordinates, and {task.title!r} is that: pass the whole pose or "
                "orientation, a position (torsor.position_task) or a function of q (torsor.function_task)."
            )
