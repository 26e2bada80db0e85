"""A function of the configuration as a task, differentiated exactly: its Jacobian, J̇ v and ∂J are programs of their own.

With y = f(q) and q̇ = R(q) v, the columns of J are derivatives along the columns of R, and ∂_k J those of J. J̇ v is the
derivative along R v of ẏ, itself the derivative along R v of y. Each program is made once for a robot.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._once import once
from torsor.arrays import as_numbers, stack
from torsor.arrays.primitives import namespace
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    JointVector,
    TaskJacobian,
    TaskJacobianDerivative,
    TaskVector,
)
from torsor.border import explained
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
from torsor.tasks.task import Task

Function = Callable[[Robot, Array], Array]
KEPT = 64  # functions and robots whose programs are in memory


@explained
def function_task(function: Function, size: int) -> Task:
    """Task y = ``function(robot, q)``: any function built from torsor's and NumPy's, of any units.

    It is traced once for each robot and differentiated exactly, so it must do the same operations for every q (np.where
    instead of ``if``) and must not change afterwards: what it has closed over is read once. ::

        height = torsor.function_task(lambda robot, q: torsor.dynamics.centre_of_mass(robot, q)[2:], 1)

    Parameters
    ----------
    function : callable
        From a robot and q (nq,) to y (``size``,).
    size : int
        The number of rows m.

    Returns
    -------
    Task
        With J, J̇ v and ∂J of the function.
    """
    if not callable(function) or isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1:
        raise ArgumentError(
            f"needs a function of (robot, q) and the number of its rows, got {function!r:.60} and {size!r}."
        )
    return FunctionTask(function, int(size))


@dataclass(frozen=True)
class FunctionTask(Task):
    """A task y = f(robot, q) with ``rows`` rows, made by `function_task`."""

    function: Function
    rows: int

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows: y0, y1, …"""
        return tuple(f"y{k}" for k in range(self.rows))

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.function, "__name__", type(self.function).__name__))

    def value(self, robot: Robot, q: ConfigurationVector) -> TaskVector:
        """y (..., m) itself."""
        return programs(self, robot).value(q=q)

    def jacobian(self, robot: Robot, q: ConfigurationVector) -> TaskJacobian:
        """∂y (..., m, nv) along the tangent coordinates v."""
        return programs(self, robot).jacobian(q=q)

    def drift(self, robot: Robot, q: ConfigurationVector, v: JointVector) -> TaskVector:
        """J̇ v (..., m): the derivative of J v along v."""
        return programs(self, robot).drift(q=q, v=v)[..., 0, 0]

    def derivative(self, robot: Robot, q: ConfigurationVector) -> TaskJacobianDerivative:
        """∂_k J (..., m, nv, nv), derivative index last."""
        return programs(self, robot).derivative(q=q)

    def key_for(self, robot: Robot) -> str:
        """By what the function does for the robot, never by its name or place in memory."""
        return f"function {programs(self, robot).value.program.digest()}"


def programs(task: FunctionTask, robot: Robot) -> FunctionPrograms:
    """The programs of a task for a robot."""
    if not robot.is_concrete:
        raise ArgumentError(
            f"task {task.name!r}: a function task needs a robot of plain numbers, and those of {robot.name!r} are being traced "
            "or differentiated. Tasks of frames have no such limit."
        )
    return _programs(task, robot)


@remembered(KEPT)
def _programs(task: FunctionTask, robot: Robot) -> FunctionPrograms:
    return FunctionPrograms(task, robot)


class FunctionPrograms:
    """A function for one robot, and its derivatives, each made when it is first asked for."""

    def __init__(self, task: FunctionTask, robot: Robot) -> None:
        self._task, self._robot, self._q = task, robot, {"q": (robot.nq,)}

    @once
    def value(self) -> Evaluation:
        """y (m,)."""
        return Evaluation(self._task.name, trace(lambda q: {"y": self._checked(q)}, self._q, Level.FULL))

    @once
    def jacobian(self) -> Evaluation:
        """J (m, nv)."""
        return self._moved(lambda q: (self.value(q=q), tangent_map(self._robot, q)))

    @once
    def derivative(self) -> Evaluation:
        """∂J (m, nv, nv)."""
        return self._moved(lambda q: (self.jacobian(q=q), tangent_map(self._robot, q)))

    @once
    def drift(self) -> Evaluation:
        """J̇ v (m, 1, 1)."""
        return self._along_v(self._along_v(self.value))

    def _along_v(self, evaluation: Evaluation) -> Evaluation:
        """The rate of what depends on q, and perhaps v, as q moves along v and v does not change."""

        def run(q: Array, v: Array) -> tuple[Array, Array]:
            given = {"q": q, "v": v}
            used = {name: given[name] for name in evaluation.inputs}
            return evaluation(**used), configuration_rate(self._robot, q, v)[..., None]

        return self._moved(run, {"v": (self._robot.nv,)})

    def _moved(
        self, function: Callable[..., tuple[Array, Array]], more: dict[str, tuple[int, ...]] | None = None
    ) -> Evaluation:
        """The derivatives of a function's first result along the directions that are its second."""

        def run(**given: Array) -> dict[str, Array]:
            return dict(zip(("y", "directions"), function(**given), strict=True))

        program = trace(run, {**self._q, **(more or {})}, Level.FULL)
        return Evaluation(self._task.name, derivatives(program, Wanted(("y",), ("q",), {"q": "directions"})))

    def _checked(self, q: Array) -> Array:
        function = self._task.function
        refuse_other_arguments(f"function_task: {self._task.name!r} must take (robot, q)", function, self._robot, q)
        y = function(self._robot, q)
        if isinstance(y, (list, tuple)) or (
            isinstance(y, np.ndarray) and y.dtype.hasobject
        ):  # np.array of traced numbers, too
            y = stack([as_numbers(entry) for entry in y])
        if np.shape(y) != (self._task.rows,):
            raise ShapeError(
                f"function_task: {self._task.name!r} must return {self._task.rows} numbers for one configuration, shape "
                f"({self._task.rows},), got {np.shape(y)}."
            )
        return y


def refuse_other_arguments(words: str, function: Callable[..., Any], *given: Any) -> None:
    """Raise ``words`` unless a function of the user takes what it will be given."""
    try:
        inspect.signature(function).bind(*given)
    except TypeError as error:
        raise ArgumentError(f"{words}: {error}.") from None
    except ValueError:
        pass  # some functions written in C do not say what they take


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
