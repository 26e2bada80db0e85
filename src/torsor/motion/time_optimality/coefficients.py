"""Joint forces along a path as a s̈ + b ṡ² + c: what the dynamics of a path are made of [BDG85, (5)–(8)]."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.functions.compile import compile
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.model.remembered import remembered


class Coefficients(NamedTuple):
    """Joint forces without friction at points of a path (..., nv): τ = a s̈ + b ṡ² + c."""

    a: Array
    """M q'."""
    b: Array
    """M q'' + C(q, q') q'."""
    c: Array
    """Gravity and springs."""


def coefficients(robot: Robot, q: Array, first: Array, second: Array) -> Coefficients:
    """The coefficients at configurations (..., nq), with derivatives by s (..., nv)."""
    flat = {"q": q.reshape(-1, robot.nq), "first": first.reshape(-1, robot.nv), "second": second.reshape(-1, robot.nv)}
    return Coefficients(*(x.reshape(first.shape) for x in _kernel(without_friction(robot))(**flat).values()))


def without_friction(robot: Robot) -> Robot:
    """The same robot with joints that turn freely."""
    p = robot.parameters
    if not (np.any(p.viscous_friction) or np.any(p.coulomb_friction)):
        return robot
    return robot.with_parameters(viscous_friction=0.0 * p.viscous_friction, coulomb_friction=0.0 * p.coulomb_friction)


@remembered(64)
def _kernel(robot: Robot) -> Kernel:
    """Three inverse dynamics in one program: what they have in common is computed once."""

    def along(robot: Robot, q: Array, first: Array, second: Array) -> dict[str, Array]:
        still = 0.0 * first
        c = inverse_dynamics(robot, q, still, still)
        a = inverse_dynamics(robot, q, still, first) - c
        b = inverse_dynamics(robot, q, first, second) - c
        return {"a": a, "b": b, "c": c}

    return compile(along, robot, {"q": robot.nq, "first": robot.nv, "second": robot.nv})
