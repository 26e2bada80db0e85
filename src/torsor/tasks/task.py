"""What of a robot's motion is controlled: a task, with its value y(q), its rates ẏ = J(q) v, and the error to a target.

A task holds no numbers of a motion, and no target: it is a static object that functions take beside a robot. Its error is on
the group that its values belong to, in the axes of J, so that for targets nearby ::

    error(value(q), value(q ⊕ dq)) = J dq        and, at its target,        ė = −J v

Tasks can be selected from and stacked. Whatever they are made of, `Task.parts` has the tasks at the bottom, with the rows of
each that are meant; so nothing else asks of which class a task is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._once import once
from torsor.arrays import concat, constant, stack, transpose, zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointVector,
    TaskJacobian,
    TaskJacobianDerivative,
    TaskVector,
)
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, unknown_name
from torsor.model import Robot, random_configuration
from torsor.tasks.task_groups import FIRST_ORDER, NUMBERS, TaskGroup
from torsor.tasks.task_programs import programs

Value = Any  # an array of a task's `target_shape`, or of stacked tasks a tuple of their values
Shape = tuple[Any, ...]  # whole numbers, or of stacked tasks one shape for each
SAMPLES = 8  # random configurations at which it is asked what moves a task


class Residual(NamedTuple):
    """e (..., m), and A (..., m, nv) with ė = −A v, but for what no gradient of ½ eᵀ e has."""

    error: TaskVector
    rate: TaskJacobian


class Part(NamedTuple):
    """Some rows of a task that is neither selected nor stacked, and which rows of the whole they are."""

    task: Task
    rows: tuple[int, ...]
    places: tuple[int, ...]

    @property
    def is_whole(self) -> bool:
        """Whether these are all rows of the task, in order."""
        return self.rows == tuple(range(self.task.size))

    @property
    def has_coordinates(self) -> bool:
        """Whether the rows are rates of numbers: entries of the value."""
        return self.task.has_value and self.task.group is NUMBERS and self.task.target_shape == (self.task.size,)

    def own(self, x: Array) -> Array:
        """Of numbers for all rows of the whole (..., m) those of these rows, among zeros for the task's others."""
        if self.is_whole:
            return x[..., constant(self.places)]
        places = dict(zip(self.rows, self.places, strict=True))
        return stack([x[..., places[k]] if k in places else zeros() for k in range(self.task.size)])


class Task(ABC):
    """m quantities whose rates are linear in the joint velocities, ẏ = J(q) v: small, immutable, hashable, picklable.

    Made by `pose_task`, `position_task`, `orientation_task`, `function_task`, `stack_tasks` and `Task.select`. A class of your
    own is a task if it is a frozen dataclass with ``labels`` and ``value``, and with ``error`` (and ``target_shape``) where a
    difference of values is not what is meant, written for NumPy, JAX and traced arrays with any batch axes in front. J, J̇ v
    and ∂J are then derivatives of these, and a class may write them itself. A task that has them and no ``value`` is a velocity
    without targets.
    """

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Names of the rows, for reports."""

    @property
    def size(self) -> int:
        """m, the number of rows."""
        return len(self.labels)

    @property
    def name(self) -> str:
        """What the rows belong to, for the labels of stacked tasks."""
        return type(self).__name__

    @property
    def title(self) -> str:
        """What is controlled, for reports: as "hand_tcp position"."""
        return self.name

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of every row of an error: "rad", "m", or "" where that is not known."""
        return ("",) * self.size

    @property
    def target_shape(self) -> Shape:
        """Shape of a value, and of a target: (m,) if nothing else is said; of stacked tasks a tuple of shapes."""
        if not self.has_value:
            raise self._nowhere()
        return (self.size,)

    @property
    def group(self) -> TaskGroup:
        """What values belong to: numbers or, where ``error`` is written anew, something like them near a target."""
        return NUMBERS if type(self).error is Task.error else FIRST_ORDER

    @once
    def parts(self) -> tuple[Part, ...]:
        """The tasks that it is made of, in the order of their values: itself, unless it is selected or stacked."""
        rows = tuple(range(self.size))
        return (Part(self, rows, rows),)

    @property
    def has_value(self) -> bool:
        """Whether it is known where the task is, and not only how fast it moves."""
        return all(type(part.task).value is not Task.value for part in self.parts)

    @property
    def has_coordinates(self) -> bool:
        """Whether its rows are rates of numbers, as those of positions and functions are."""
        return all(part.has_coordinates for part in self.parts if part.rows)

    def value(self, robot: Robot, q: ConfigurationVector) -> Value:
        """Where the task is, (..., *target_shape): a pose, a rotation, a point, numbers. ``q`` (..., nq), rad or m."""
        raise self._nowhere()

    def error(self, value: Value, target: Value) -> TaskVector:
        """From a value to a target (..., m): their difference, or the logarithm on their group, in the axes of J."""
        return target - value

    def residual(self, robot: Robot, q: ConfigurationVector, target: Value) -> Residual:
        """What a search for a target makes small, and how it changes with q (..., nq): the error, unless a class has better."""
        e = self.error(self.value(robot, q), target)
        if self.group is FIRST_ORDER:
            return Residual(e, -programs(self, robot).error_rate(q=q, target=target))
        J = self.jacobian(robot, q)
        return Residual(e, transpose(self.group.rate(e[..., None, :], transpose(J))))

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """J (..., m, nv) with ẏ = J v. ``q`` (..., nq), rad or m."""
        return programs(self, robot).jacobian(q=q)

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """J̇ v (..., m), what ÿ is at zero joint acceleration. ``q`` (..., nq); ``v`` (..., nv), rad/s or m/s."""
        return programs(self, robot).drift(q=q, v=v)

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """∂_k J (..., m, nv, nv), derivative index last, along the tangent coordinates v. ``q`` (..., nq), rad or m."""
        return programs(self, robot).derivative(q=q)

    def coordinates(self, robot: Robot) -> tuple[int, ...]:
        """Which coordinates of a robot move the task, by number."""
        q = random_configuration(robot, seed=0, batch=(SAMPLES,))
        moving = np.any(np.asarray(self.jacobian(robot, q)).reshape(-1, robot.nv) != 0.0, axis=0)
        return tuple(k for k, c in enumerate(robot.structure.coordinates) if moving[c.v].any())

    def select(self, rows: int | str | Sequence[int | str]) -> Task:
        """Some of the rows, each once, by number or label, in the order given: ``task.select(["vx", "vy"])``."""
        wanted = tuple(rows) if isinstance(rows, (Sequence, np.ndarray)) and not isinstance(rows, str) else (rows,)
        chosen = tuple(self._row(row) for row in wanted)
        if not chosen or len(set(chosen)) < len(chosen):
            raise ArgumentError(
                f"task {self.title!r}: select some of its rows ({', '.join(self.labels)}), each once, got {rows!r}."
            )
        return SelectedTask(self, chosen)

    def key_for(self, robot: Robot) -> str:
        """What identifies the task among machine code on disk: all of what it computes for a robot, by its program."""
        inputs: dict[str, tuple[int, ...]] = {"q": (robot.nq,), "v": (robot.nv,)}
        somewhere, own = self.has_value, type(self).jacobian is not Task.jacobian
        if somewhere:
            inputs["target"] = self.target_shape

        def all_of_it(q: Array, v: Array, target: Array | None = None) -> tuple[Array, ...]:
            value = self.value(robot, q) if somewhere else None
            found = (value, self.error(value, target)) if somewhere else ()
            own_rows = (self.jacobian(robot, q), self.drift(robot, q, v), self.derivative(robot, q)) if own else ()
            return (*found, *own_rows)

        return f"{type(self).__name__} {trace(all_of_it, inputs, Level.FULL).digest()}"

    def _nowhere(self) -> ArgumentError:
        return ArgumentError(
            f"the task {self.name!r} says how fast it moves, not where it is: places, errors and targets are known of tasks of "
            "frames and functions, and of classes that have a `value`."
        )

    def _row(self, row: object) -> int:
        if isinstance(row, str):
            places = [k for k, label in enumerate(self.labels) if row in (label, label.rpartition(".")[2])]
            if len(places) == 1:
                return places[0]
            if places:
                which = ", ".join(f"{self.labels[k]!r} is row {k}" for k in places)
                raise ArgumentError(f"task {self.title!r}: {row!r} names several rows, select by number: {which}.")
        elif isinstance(row, (int, np.integer)) and not isinstance(row, bool) and 0 <= row < self.size:
            return int(row)
        listing = ", ".join(self.labels)
        raise unknown_name(f"task {self.title!r} of {self.size} rows", "row", row, self.labels, listing)


@dataclass(frozen=True)
class SelectedTask(Task):
    """Some rows of a task, made by `Task.select`: ``rows`` of ``task``, by number. Its values are those of the whole task."""

    task: Task
    rows: tuple[int, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the rows selected."""
        return tuple(self.task.labels[row] for row in self.rows)

    @property
    def name(self) -> str:
        """The name of the whole task."""
        return self.task.name

    @property
    def title(self) -> str:
        """The title of the whole task, and which rows."""
        return f"{self.task.title} ({', '.join(self.labels)})"

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the rows selected."""
        return tuple(self.task.units[row] for row in self.rows)

    @property
    def target_shape(self) -> Shape:
        """That of the whole task: numbers of a target that belong to other rows do not matter."""
        return self.task.target_shape

    @once
    def parts(self) -> tuple[Part, ...]:
        """Parts of the whole task with the rows selected, some perhaps with none."""
        found = []
        for part in self.task.parts:
            row_at = dict(zip(part.places, part.rows, strict=True))
            places = tuple(place for place, row in enumerate(self.rows) if row in row_at)
            found.append(Part(part.task, tuple(row_at[self.rows[place]] for place in places), places))
        return tuple(found)

    def value(self, robot: Robot, q: ConfigurationVector) -> Value:
        """Where the whole task is."""
        return self.task.value(robot, q)

    def error(self, value: Value, target: Value) -> TaskVector:
        """Entries of the error of the whole task."""
        return self.task.error(value, target)[..., constant(self.rows)]

    def residual(self, robot: Robot, q: ConfigurationVector, target: Value) -> Residual:
        """Rows of the error, part by part."""
        return residual(self, robot, q, leaves(target))

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """The rows of J."""
        return self.task.jacobian(robot, q)[..., constant(self.rows), :]

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """The entries of J̇ v."""
        return self.task.drift(robot, q, v)[..., constant(self.rows)]

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """The rows of ∂J."""
        return self.task.derivative(robot, q)[..., constant(self.rows), :, :]

    def coordinates(self, robot: Robot) -> tuple[int, ...]:
        """Those that move the whole task."""
        return self.task.coordinates(robot)

    def key_for(self, robot: Robot) -> str:
        """The whole task and which rows."""
        return f"{self.task.key_for(robot)}[{self.rows}]"


@dataclass(frozen=True)
class StackedTask(Task):
    """Several tasks, one below the other, made by `stack_tasks`. Its values are tuples, with one for each task."""

    tasks: tuple[Task, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Each with the name of its task in front, as "tool.vx"."""
        return tuple(f"{task.name}.{label}" for task in self.tasks for label in task.labels)

    @property
    def name(self) -> str:
        """The names of all tasks, joined by +."""
        return " + ".join(task.name for task in self.tasks)

    @property
    def title(self) -> str:
        """The titles of all tasks, joined by +."""
        return " + ".join(task.title for task in self.tasks)

    @property
    def units(self) -> tuple[str, ...]:
        """All units, one after the other."""
        return tuple(unit for task in self.tasks for unit in task.units)

    @property
    def target_shape(self) -> Shape:
        """The shapes of all tasks."""
        return tuple(task.target_shape for task in self.tasks)

    @once
    def parts(self) -> tuple[Part, ...]:
        """The parts of all tasks."""
        found, first = [], 0
        for task in self.tasks:
            found += [Part(one, rows, tuple(first + place for place in places)) for one, rows, places in task.parts]
            first += task.size
        return tuple(found)

    def value(self, robot: Robot, q: ConfigurationVector) -> Value:
        """Where each of them is."""
        return tuple(task.value(robot, q) for task in self.tasks)

    def error(self, value: Value, target: Value) -> TaskVector:
        """All errors, one after the other."""
        return concat([task.error(a, b) for task, a, b in zip(self.tasks, value, target, strict=True)])

    def residual(self, robot: Robot, q: ConfigurationVector, target: Value) -> Residual:
        """All of them, one below the other."""
        return residual(self, robot, q, leaves(target))

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """All Jacobians, one below the other."""
        return concat([task.jacobian(robot, q) for task in self.tasks], axis=-2)

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """All J̇ v, one after the other."""
        return concat([task.drift(robot, q, v) for task in self.tasks])

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """All ∂J, one below the other."""
        return concat([task.derivative(robot, q) for task in self.tasks], axis=-3)

    def coordinates(self, robot: Robot) -> tuple[int, ...]:
        """Those that move any of them."""
        return tuple(sorted({k for task in self.tasks for k in task.coordinates(robot)}))

    def key_for(self, robot: Robot) -> str:
        """What identifies the tasks, each by its own key."""
        return f"stack({'; '.join(task.key_for(robot) for task in self.tasks)})"


def leaves(value: Value) -> list[Array]:
    """Of a value of stacked tasks, the values of all parts."""
    if isinstance(value, (tuple, list)):
        return [leaf for one in value for leaf in leaves(one)]
    return [value]


def joined(parts: Iterable[Part], values: Sequence[Array], axis: int = -1) -> Array:
    """What belongs to the rows of each part, (..., k) or with axis=-2 (..., k, nv), as that of the whole."""
    places = [place for part in parts for place in part.places]
    whole = concat(list(values), axis=axis)
    if places == sorted(places):
        return whole
    order = constant(np.argsort(places))
    return whole[..., order] if axis == -1 else whole[..., order, :]


def residual(task: Task, robot: Robot, q: ConfigurationVector, targets: Sequence[Array]) -> Residual:
    """e and A of a task whose parts have these targets; rows of a twist are those of its logarithm."""
    asked, errors, rates = [], [], []
    for part, target in zip(task.parts, targets, strict=True):
        if part.rows:
            own = type(part.task) if part.is_whole else Task
            e, A = own.residual(part.task, robot, q, target)
            asked.append(part)
            errors.append(e if part.is_whole else e[..., constant(part.rows)])
            rates.append(A if part.is_whole else A[..., constant(part.rows), :])
    return Residual(joined(asked, errors), joined(asked, rates, axis=-2))
