"""Joint forces along a path as a s̈ + b ṡ² + c: what the dynamics of a path are made of [BDG85]."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.functions.compile import compile
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.motion.time_optimality.intervals import Limits


def force_limits(robot: Robot, q: Array, first: Array, second: Array, effort: Array) -> Limits:
    """Limits of joint forces without friction, |a s̈ + b ṡ² + c| ≤ effort (nv,), at places of paths.

    With derivatives by s (B, 2 N + 1, nv), a = M q', b = M q'' + C(q, q') q', and c is gravity and springs.
    """
    flat = q.reshape(-1, robot.nq), first.reshape(-1, robot.nv), second.reshape(-1, robot.nv)
    rows: Array = _kernel(without_friction(robot))(*flat, effort)
    return Limits(rows.reshape(*q.shape[:-1], 4, robot.nv))


def without_friction(robot: Robot) -> Robot:
    """The same robot with joints that turn freely."""
    p = robot.parameters
    if not (np.any(p.viscous_friction) or np.any(p.coulomb_friction)):
        return robot
    return robot.with_parameters(viscous_friction=0.0 * p.viscous_friction, coulomb_friction=0.0 * p.coulomb_friction)


@remembered(64)
def _kernel(robot: Robot) -> Kernel:
    """Three inverse dynamics in one program: what they have in common is computed once."""

    def along(robot: Robot, q: Array, first: Array, second: Array, effort: Array) -> Array:
        still = 0.0 * first
        c = inverse_dynamics(robot, q, still, still)
        a = inverse_dynamics(robot, q, still, first) - c
        b = inverse_dynamics(robot, q, first, second) - c
        rows: Array = np.stack([a, b, -effort - c, effort - c])
        return rows

    return compile(along, robot, {"q": robot.nq, "first": robot.nv, "second": robot.nv, "effort": robot.nv})
