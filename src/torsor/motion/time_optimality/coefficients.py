"""Joint forces along a path as a s̈ + b ṡ² + c: what the dynamics of a path are made of [BDG85]."""

from __future__ import annotations

from dataclasses import replace

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
    rows: Array = _kernel_of(robot)(*flat, effort)
    return Limits(rows.reshape(*q.shape[:-1], 4, robot.nv))


@remembered(256)
def _kernel_of(robot: Robot) -> Kernel:
    """The kernel of the same robot without friction and limits: robots that differ in these alone share it."""
    p, s = robot.parameters, robot.structure
    if np.any(p.viscous_friction) or np.any(p.coulomb_friction):
        none = np.zeros(robot.nv)
        robot = robot.with_parameters(viscous_friction=none, coulomb_friction=none)
    free = {"lower": (-np.inf,), "upper": (np.inf,), "velocity": (np.inf,), "effort": (np.inf,)}
    unlimited = s.limits._replace(**{name: x * len(getattr(s.limits, name)) for name, x in free.items()})
    return _kernel(replace(robot, structure=replace(robot.structure, limits=unlimited)))


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
