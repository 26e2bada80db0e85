"""Sections of a task and the lift of one; and local trivialisations, coordinates (y, s) of configurations.

A section σ gives, for each value y of the task ρ, a configuration with that value: ρ(σ(y)) = y. Above a curve y(t) lies σ(y(t)),
with v = dσ ẏ. So that it is a lift near its image too, other configurations keep their displacement from it: with a basis Z₀ of
ker J at q₀ ::

    h(q) = Z₀ᵀ (q ⊖ σ(ρ(q)))

vanishes on the image, and its extended Jacobian is regular near q₀, for along self-motions σ(ρ(q)) does not change. There
K = (J; ∂h)⁻¹ (1; 0) = dσ on the image, since h ∘ σ = 0.

Near a configuration where (J; ∂h) is regular, the task is the projection of a product [Alt04, Th. III.1]: q ↦ (y, s), s = h(q),
is a chart. In general it is not a product of metrics, and it ends at singular configurations [E004-5]. Its surfaces s = constant
are the sections of an `extended_jacobian_lift`, its surfaces y = constant the self-motions. The way back follows the straight
line from (0, 0) to (y, s) in steps, each by Newton's method on the group ::

    q ← q ⊞ E⁻¹ r        r from where task and h are to where they should be, log(T⁻¹ T_wanted) of poses
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import Report, one_line
from torsor.arrays import as_numbers, constant, matvec, stack
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration
from torsor.border import explained
from torsor.border.arrays import as_floats
from torsor.border.numbers import numbers_of, refuse_unknown
from torsor.errors import ArgumentError, ShapeError, TorsorError
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot, random_configuration
from torsor.motion.integration import with_unit_quaternions
from torsor.redundancy.configurations import (
    angle_difference,
    configurations_of,
    jacobian_at,
    single_configuration,
    units_of_freedoms,
    vector,
)
from torsor.redundancy.extended_jacobian import (
    Constraint,
    ExtendedJacobianLift,
    extended_jacobian_lift,
    refuse_no_redundancy,
    vertical_basis,
)
from torsor.redundancy.task_places import body_rates, displaced, displacement, is_frame, place
from torsor.tasks import StackedTask, Task, as_task, function_task
from torsor.tasks.task import leaves
from torsor.tasks.task_groups import FIRST_ORDER
from torsor.tasks.task_kinds import refuse_other_arguments

ON_SECTION = 1e-6  # rad or m: how near to what the section gives q0 must be
Section = Callable[[Robot, Any], Array]  # (robot, value of the task) → q (nq,)
LONGEST = 0.2  # rad: no joint turns farther at once
SHORTEST = 1e-6  # of the line: where steps get shorter, there is a singular configuration
ROUNDS = 8  # of Newton's method in a step
ARRIVED = 1e-13  # rad or m: a change of q after which the next would be nothing
ROUNDED = 1e-9  # rad or m: changes that were this small and are halved no more are rounding
SAME = 1e-6  # of exponential coordinates and those of what they stand for
VANISHED = 1e-9  # of the largest entry of a Jacobian: a row that never moves
SAMPLES = 16  # configurations at which that is asked


@explained
def section_lift(robot: Robot, q0: GivenConfiguration, task: Task | str, section: Section) -> ExtendedJacobianLift:
    """Lift v = dσ ẏ of a section σ of the task, a choice of one configuration for each of its values [Alt04, Th. III.1].

    Closed paths of the task close in the joints, for where the task is says where the joints are. From q₀ on the section, lifted
    curves are σ(y(t)). Like every `extended_jacobian_lift` it is accepted wherever a ``lift`` is.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    q0 : (nq,) array
        A configuration on the section, rad or m, σ(ρ(q₀)) = q₀ up to whole turns, at which the task is regular.
    task : Task or str
        m rows; the name of a frame means its pose.
    section : function
        (robot, value) → q (nq,), rad or m, made of torsor's functions and NumPy's: an inverse kinematics in closed form. The
        value is a pose (4, 4), a rotation (3, 3), a position (3,), some rows of a position, the numbers (m,) of a function; of
        stacked tasks, a tuple.

    Returns
    -------
    ExtendedJacobianLift
        Called with (robot, q), q (..., nq), it gives K (..., nv, m), in rad or m per unit of the task: dσ on the section.
    """
    q0 = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_no_redundancy(robot, found)
    if not callable(section):
        raise ArgumentError(
            f"`section` is a function (robot, value of the task) → q ({robot.nq},), got {type(section).__name__} "
            f"{section!r:.60}."
        )
    at = value(robot, q0, found)
    refuse_other_arguments("`section` must take (robot, value of the task)", section, robot, at)
    given = as_floats("what the section gives", section(robot, at))
    if given.shape != (robot.nq,):
        raise ShapeError(f"a section gives one configuration ({robot.nq},), got shape {given.shape}.")
    off = angle_difference(robot, given, q0)
    if not np.abs(off).max() <= ON_SECTION:
        raise ArgumentError(
            f"q0 = {vector(q0)} is not on the section, which gives {vector(given)} for its value of the task. Pass that "
            "as q0, if the section is right."
        )
    Z = vertical_basis(robot, found, q0)
    held = function_task(DisplacementFromSection(found, section, tuple(map(tuple, Z.tolist()))), len(Z))
    held.key_for(robot)  # traces it: what cannot be traced is refused here
    _refuse_no_section(robot, found, section, q0)
    return ExtendedJacobianLift(found, held, "section")


def _refuse_no_section(robot: Robot, task: Task, section: Section, q0: Array) -> None:
    """Raise unless ρ(σ(y)) = y also beside q₀: J (1 − dσ J) = 0, for 1 − dσ J is the slope of q ⊖ σ(ρ(q))."""
    whole = function_task(
        DisplacementFromSection(task, section, tuple(map(tuple, np.eye(robot.nv).tolist()))), robot.nv
    )
    J = task.jacobian(robot, q0)
    off = np.abs(J @ whole.jacobian(robot, q0)).max() / np.abs(J).max()
    if np.isnan(off):
        raise ArgumentError(f"the section has no derivative at q0 = {vector(q0)}. Take another q0.")
    if off > ON_SECTION:
        raise ArgumentError(
            f"`section` is none: the configuration that it gives for a value beside that of q0 has not that value of the "
            f"task, but one that is off by {off:.2g} of the difference. Is it made for this robot and this task?"
        )


@dataclass(frozen=True)
class DisplacementFromSection:
    """h of one configuration: how far it is from the section, along the directions of ``rows`` (nv − m of nv)."""

    task: Task
    section: Section
    rows: tuple[tuple[float, ...], ...]

    @property
    def __name__(self) -> str:
        return f"section {getattr(self.section, '__name__', 'given')}"

    def __call__(self, robot: Robot, q: Array) -> Array:
        """Value of h, (nv − m,), rad or m."""
        there = self.section(robot, value(robot, q, self.task))
        if isinstance(there, (list, tuple)) or (isinstance(there, np.ndarray) and there.dtype.hasobject):
            there = stack([as_numbers(entry) for entry in there])
        return matvec(constant(np.array(self.rows)), difference(robot, there, q))


def value(robot: Robot, q: Array, task: Task) -> Any:
    """Where a task is at q (nq,), as a section takes it: of rows of numbers, these rows."""
    if not is_frame(task):
        raise ArgumentError(
            f"the task {task.title!r} has no value that a section could take: pass a whole pose or orientation, a position or "
            "rows of it, a function of q (torsor.function_task), or a stack of these."
        )
    whole = task.value(robot, q)
    if all(part.is_whole for part in task.parts):
        return whole
    parts = zip(task.parts, leaves(whole), strict=True)
    found = tuple(leaf if part.is_whole else leaf[..., constant(part.rows)] for part, leaf in parts if part.rows)
    return found[0] if len(found) == 1 else found


class Trivialised(NamedTuple):
    """``y`` (..., m): the task, ``s`` (..., nv − m): the fibre; both 0 at q₀, in units of the task and of h."""

    y: Array
    s: Array

    def __repr__(self) -> str:
        return one_line(self)


@dataclass(frozen=True, eq=False, repr=False)
class LocalTrivialisation(Report):
    """Coordinates (y, s) near one configuration: what `local_trivialisation` gives.

    Attributes
    ----------
    robot : Robot
    q0 : (nq,) array
        The configuration at which y and s are zero, rad or m.
    lift : ExtendedJacobianLift
        The lift whose curves keep s.
    """

    robot: Robot
    q0: Array
    lift: ExtendedJacobianLift

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
        q = single_configuration(self.robot, q, "q")
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
    robot: Robot, q0: GivenConfiguration, task: Task | str, constraint: Constraint | ExtendedJacobianLift
) -> LocalTrivialisation:
    """Coordinates q ↦ (y, s), the task and a place on its fibre, and the way back (y, s) ↦ q, near q₀ [Alt04, Th. III.1].

    y is from where the task is at q₀: differences of positions and functions, exponential coordinates of poses and orientations,
    T = T₀ exp(y); s is h(q) − h(q₀). ``configuration(y)`` is a section through q₀, and ``configuration(y(t))`` the curve that
    ``lift_curve(..., lift=chart.lift)`` integrates. They are good as far as (J; ∂h) is regular, and rotations stay below π.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    q0 : (nq,) array
        One configuration, rad or m, at which (J; ∂h) is regular.
    task : Task or str
        m rows that are the rates of a value; the name of a frame means its pose.
    constraint : Task, function or ExtendedJacobianLift
        nv − m functions h of the configuration, as for `extended_jacobian_lift`, or a lift that has been made of them.

    Returns
    -------
    LocalTrivialisation
        With ``coordinates``, ``configuration``, ``derivative`` and ``lift``.
    """
    q0 = single_configuration(robot, q0)
    lift = constraint
    if not isinstance(lift, ExtendedJacobianLift):
        lift = extended_jacobian_lift(robot, task, constraint)
    elif lift.task != as_task(robot, task):
        raise ArgumentError(f"this lift is one of the task {lift.task.title!r}, and the task is another.")
    lift.refuse_other_robot(robot)
    for one in (lift.task, lift.constraint):
        _refuse_no_coordinates(robot, one)
    if not float(lift.transversality(robot, q0)) > 0.0 or not np.isfinite(lift(robot, q0)).all():
        why = lift.why_singular(robot, q0) or "J loses rank there."
        raise ArgumentError(f"(J; ∂h) is singular at q0 = {vector(q0)} of robot {robot.name!r}. {why}")
    return LocalTrivialisation(robot, q0, lift)


def _refuse_no_coordinates(robot: Robot, task: Task) -> None:
    """Raise for rows that are no coordinates: some of a twist, unless the others never move, and those of no known group."""
    place(robot, random_configuration(robot, seed=0), task)  # raises of tasks that are nowhere
    for part in task.parts:
        if part.rows and part.task.group is FIRST_ORDER:
            raise ArgumentError(
                f"the task {part.task.title!r} has an error of its own, and no coordinates are known of it: pass a pose, an "
                "orientation, a position or a function of q (torsor.function_task)."
            )
        if not part.rows or part.is_whole or part.has_coordinates:
            continue
        J = jacobian_at(robot, random_configuration(robot, seed=0, batch=(SAMPLES,)), part.task)
        others = [row for row in range(part.task.size) if row not in part.rows]
        if np.abs(J[..., others, :]).max(initial=0.0) > VANISHED * np.abs(J).max():
            raise ArgumentError(
                f"some rows of a twist have no coordinates, and {task.title!r} is that: pass the whole pose or "
                "orientation, a position (torsor.position_task) or a function of q (torsor.function_task)."
            )
