"""Costs of the user's, with their exact gradients and Hessians in the tangent coordinates of where a motion is.

A state and its forces are displaced by z = (δq, δv, δτ), to (q ⊕ δq, v + δv, τ + δτ). The function is traced there once, its
program differentiated twice by z, and z set to 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.differentiate import Wanted, derivatives
from torsor.compiler.graph import Program
from torsor.compiler.simplify import Level
from torsor.compiler.trace import inline, trace
from torsor.errors import ArgumentError, ArgumentTypeError, TorsorError
from torsor.mechanics.kinematics.manifold import configuration_rate
from torsor.model import Robot


class Cost(NamedTuple):
    """Programs of a cost: its value, its gradient and its Hessian by z, each of the same inputs."""

    value: Program
    gradient: Program
    hessian: Program

    def at(self, which: str, **given: Array) -> Array:
        """One of the programs within another, for traced inputs: (), (m,) or (m, m)."""
        (found,) = inline(getattr(self, which), given).values()
        return found


def running_cost(robot: Robot, function: Callable[..., Any]) -> Cost:
    """Of running(robot, q, v, tau, t), with z = (δq, δv, δτ)."""
    nv = robot.nv

    def displaced(z: Array, q: Array, v: Array, tau: Array, t: Array) -> Array:
        return function(robot, _moved(robot, q, z[:nv]), v + z[nv : 2 * nv], tau + z[2 * nv :], t)

    shapes = {"q": (robot.nq,), "v": (nv,), "tau": (nv,), "t": ()}
    return _cost("running", function, displaced, 3 * nv, shapes, "running(robot, q, v, tau, t)")


def final_cost(robot: Robot, function: Callable[..., Any]) -> Cost:
    """Of final(robot, q, v), with z = (δq, δv)."""
    nv = robot.nv

    def displaced(z: Array, q: Array, v: Array) -> Array:
        return function(robot, _moved(robot, q, z[:nv]), v + z[nv:])

    return _cost("final", function, displaced, 2 * nv, {"q": (robot.nq,), "v": (nv,)}, "final(robot, q, v)")


def _moved(robot: Robot, q: Array, dq: Array) -> Array:
    """q ⊕ δq to the second order, by the midpoint rule: all that a Hessian at 0 sees, and much shorter."""
    if robot.structure.has_plain_velocities:
        return q + dq
    half = q + 0.5 * configuration_rate(robot, q, dq)
    return q + configuration_rate(robot, half, dq)


def _cost(
    name: str,
    function: Callable[..., Any],
    displaced: Callable[..., Any],
    size: int,
    shapes: dict[str, tuple[int, ...]],
    form: str,
) -> Cost:
    if not callable(function):
        raise ArgumentTypeError(f"`{name}` must be a function, {form} → a number, got {function!r:.60}.")
    try:
        moved = trace(displaced, {"z": (size,), **shapes}, Level.FULL)
    except TorsorError as error:
        raise ArgumentError(f"`{name}` could not be traced: {error}") from error
    except TypeError as error:
        raise ArgumentTypeError(
            f"`{name}` must be a function {form} → a number, made of torsor's and NumPy's: {error}"
        ) from error
    if len(moved.outputs) != 1 or moved.outputs[0].shape != ():
        found = ", ".join(str(port.shape) for port in moved.outputs)
        raise ArgumentError(f"`{name}` must return one number, of shape (), got {found}. Sum the squares: e @ e.")
    moved = moved.renamed(["cost"])
    gradient = derivatives(moved, Wanted(("cost",), ("z",))).renamed(["gradient"])
    rest = {"z": np.zeros(size)}
    hessian = derivatives(gradient, Wanted(("gradient",), ("z",), at=rest)).renamed(["hessian"])
    return Cost(*(_at_rest(program, shapes, size) for program in (moved, gradient, hessian)))


def _at_rest(program: Program, shapes: dict[str, tuple[int, ...]], size: int) -> Program:
    """A program with z = 0, and no other inputs than those of the function."""
    has_z = any(port.name == "z" for port in program.graph.inputs)
    rest = {"z": np.zeros(size)} if has_z else {}
    return trace(lambda **given: inline(program, {**rest, **given}), shapes, Level.FULL)
