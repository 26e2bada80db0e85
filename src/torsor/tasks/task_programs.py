"""Jacobians of tasks that only say where they are, differentiated exactly: J, J̇ v and ∂J are programs of their own.

With y(q₀, q) = error(value(q₀), value(q)) and q̇ = R(q) v, the columns of J are derivatives of y by q along the columns of R,
where q₀ = q, and ∂_k J those of J. J̇ v is the derivative along R v of J v, itself one of y along R v. Each program is made once
for a robot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from torsor._once import once
from torsor.arrays import as_numbers, stack
from torsor.arrays.primitives import namespace
from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.kernel import Kernel
from torsor.compiler.print import numpy as emit_numpy
from torsor.compiler.run import jax_call
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.compiler.traced_array import TracedArray
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.derivative import tangent_map
from torsor.mechanics.kinematics.manifold import configuration_rate
from torsor.model import Robot
from torsor.model.remembered import remembered

if TYPE_CHECKING:
    from torsor.tasks.task import Task

KEPT = 64  # tasks and robots whose programs are in memory


def programs(task: Task, robot: Robot) -> TaskPrograms:
    """The programs of a task for a robot."""
    refuse_traced(task.name, robot)
    return _programs(task, robot)


def refuse_traced(name: str, robot: Robot) -> None:
    """Raise if a function cannot be traced for a robot, whose own numbers are being traced."""
    if not robot.is_concrete:
        raise ArgumentError(
            f"task {name!r}: a function task needs a robot of plain numbers, and those of {robot.name!r} are being traced "
            "or differentiated. Tasks of frames have no such limit."
        )


@remembered(KEPT)
def _programs(task: Task, robot: Robot) -> TaskPrograms:
    return TaskPrograms(task, robot)


class TaskPrograms:
    """The value and error of a task for one robot, and their derivatives, each made when it is first asked for."""

    def __init__(self, task: Task, robot: Robot) -> None:
        self._task, self._robot = task, robot
        self._q: dict[str, tuple[int, ...]] = {"q": (robot.nq,)}

    @once
    def jacobian(self) -> Evaluation:
        """J (m, nv)."""
        slope = self._moved({"here": self._q["q"]}, self._from_here)
        return self._evaluation(lambda q: slope(here=q, q=q), self._q)

    @once
    def derivative(self) -> Evaluation:
        """∂J (m, nv, nv)."""
        return self._moved({}, lambda q: self.jacobian(q=q))

    @once
    def drift(self) -> Evaluation:
        """J̇ v (m,)."""
        v: dict[str, tuple[int, ...]] = {"v": (self._robot.nv,)}
        velocity = self._moved({"here": self._q["q"], **v}, lambda here, q, v: self._from_here(here, q), self._along)
        rate = self._moved(v, lambda q, v: velocity(here=q, q=q, v=v)[..., 0], self._along)
        return self._evaluation(lambda q, v: rate(q=q, v=v)[..., 0], {**self._q, **v})

    def _from_here(self, here: Array, q: Array) -> Array:
        return self._error(self._value(here), self._value(q))

    def _along(self, q: Array, v: Array, **_: Array) -> Array:
        return configuration_rate(self._robot, q, v)[..., None]

    @once
    def error_rate(self) -> Evaluation:
        """∂e (m, nv), of the error to a target."""
        more = {"target": tuple(self._task.target_shape)}
        return self._moved(more, lambda q, target: self._error(self._value(q), target))

    def _evaluation(self, function: Callable[..., Array], inputs: dict[str, tuple[int, ...]]) -> Evaluation:
        return Evaluation(self._task.name, trace(lambda **given: {"y": function(**given)}, inputs, Level.FULL))

    def _moved(
        self,
        more: dict[str, tuple[int, ...]],
        function: Callable[..., Array],
        directions: Callable[..., Array] | None = None,
    ) -> Evaluation:
        """Derivatives of a function of q, and perhaps more, by q along the tangent coordinates or other directions."""

        def run(**given: Array) -> dict[str, Array]:
            along = tangent_map(self._robot, given["q"]) if directions is None else directions(**given)
            return {"y": function(**given), "directions": along}

        program = trace(run, {**self._q, **more}, Level.FULL)
        return Evaluation(self._task.name, derivatives(program, Wanted(("y",), ("q",), {"q": "directions"})))

    def _value(self, q: Array) -> Array:
        value = as_array(self._task.value(self._robot, q))
        return _refuse_other_shape(self._task, "value", "(robot, q)", value, tuple(self._task.target_shape))

    def _error(self, value: Array, target: Array) -> Array:
        error = as_array(self._task.error(value, target))
        return _refuse_other_shape(self._task, "error", "(value, target)", error, (self._task.size,))


def _refuse_other_shape(task: Task, method: str, takes: str, got: Array, shape: tuple[int, ...]) -> Array:
    if np.shape(got) != shape:
        words = {"value": "its `target_shape`", "error": "one number for each of its labels"}[method]
        raise ShapeError(
            f"task {task.name!r}: {method}{takes} must have shape {shape} for one configuration, {words}, got {np.shape(got)}."
        )
    return got


def as_array(y: Any) -> Array:
    """What a function of the user's returns: lists of traced numbers, and arrays of them, too."""
    if isinstance(y, (list, tuple)) or (isinstance(y, np.ndarray) and y.dtype.hasobject):
        return stack([as_numbers(entry) for entry in y])
    return y


class Evaluation:
    """A program of one output, for whatever arrays it is called with: machine code, JAX, or part of another trace."""

    def __init__(self, name: str, program: Program) -> None:
        self.program = program
        self._kernel = Kernel(name, program)
        self.inputs = tuple(self._kernel.inputs)

    def __call__(self, **given: Any) -> Any:
        """The output, for inputs by name with any batch axes in front."""
        if any(isinstance(x, TracedArray) for x in given.values()):
            (found,) = inline(self.program, given).values()
            return found
        arrays = [given[name] for name in self.inputs]
        if namespace(*arrays) is np:
            return self._kernel(*arrays)
        return self._in_jax(*arrays)

    @once
    def _in_jax(self) -> Callable[..., Any]:
        if jax_call.why_missing() is None:
            return self._kernel.to_jax()
        return _alone(emit_numpy.build(self.program, "jax.numpy"))


def _alone(function: Callable[..., dict[str, Any]]) -> Callable[..., Any]:
    """Of a function with one output, by its name, that output."""
    return lambda *arrays: next(iter(function(*arrays).values()))
