"""A function of the configuration as a task, traced once for each robot and differentiated exactly."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, TaskVector
from torsor.border import explained
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks.task import Task
from torsor.tasks.task_programs import KEPT, Evaluation, as_array, refuse_traced

Function = Callable[[Robot, Array], Array]


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
        return _program(self, robot)(q=q)

    def key_for(self, robot: Robot) -> str:
        """By what the function does for the robot, never by its name or place in memory."""
        return f"function {_program(self, robot).program.digest()}"


def _program(task: FunctionTask, robot: Robot) -> Evaluation:
    refuse_traced(task.name, robot)
    return _traced(task, robot)


@remembered(KEPT)
def _traced(task: FunctionTask, robot: Robot) -> Evaluation:
    def run(q: Array) -> dict[str, Array]:
        refuse_other_arguments(f"function_task: {task.name!r} must take (robot, q)", task.function, robot, q)
        y = as_array(task.function(robot, q))
        if np.shape(y) != (task.rows,):
            raise ShapeError(
                f"function_task: {task.name!r} must return {task.rows} numbers for one configuration, shape "
                f"({task.rows},), got {np.shape(y)}."
            )
        return {"y": y}

    return Evaluation(task.name, trace(run, {"q": (robot.nq,)}, Level.FULL))


def refuse_other_arguments(words: str, function: Callable[..., Any], *given: Any) -> None:
    """Raise ``words`` unless a function of the user takes what it will be given."""
    try:
        inspect.signature(function).bind(*given)
    except TypeError as error:
        raise ArgumentError(f"{words}: {error}.") from None
    except ValueError:
        pass  # some functions written in C do not say what they take
