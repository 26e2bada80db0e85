"""The machine code of an optimal control problem: expansions at all its steps at once, and loops over its steps.

Everything that goes backward in time takes its steps in that order, the last one first, and so do the arrays between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from torsor.arrays import concat, matvec, transpose, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.control.optimal_feedback.costs import Cost, final_cost, running_cost
from torsor.control.optimal_feedback.riccati import backward
from torsor.control.optimal_feedback.steps import step, step_derivative, step_hessian
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.model.aligned import aligned

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Programs:
    """What a problem is computed with.

    Attributes
    ----------
    rollout : Scan
        The motion that follows from a feedback along another, and what it costs.
    first : Kernel
        F (2 nv, 3 nv) of a step, and the gradient l (3 nv,) of its cost.
    second : Kernel
        The Hessian L (3 nv, 3 nv) of a step's cost and, ``curved`` times, of its dynamics weighted by p.
    costate : Scan
        The gradient p (2 nv,) of the whole cost by the state, and by the forces of each step (nv,).
    riccati : Scan
        `riccati.backward`.
    final : Kernel
        Value, gradient and Hessian of the final cost.
    """

    rollout: Scan
    first: Kernel
    second: Kernel
    costate: Scan
    riccati: Scan
    final: Kernel


def programs_of(
    robot: Robot, running: Callable[..., Any], final: Callable[..., Any], method: str, second_order: bool, limited: bool
) -> Programs:
    """Trace all of it; what is compiled is kept on disk."""
    costs, ends = running_cost(robot, running), final_cost(robot, final)
    n = robot.nv
    return Programs(
        _rollout(robot, costs, method, limited),
        _first(robot, costs, method),
        _second(robot, costs, method, second_order),
        _costate(n),
        _riccati(n, limited, method == "semi_implicit_euler" and robot.structure.has_plain_velocities),
        _final(robot, ends),
    )


def _at(robot: Robot) -> Shapes:
    return {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,), "t": ()}


def _rollout(robot: Robot, costs: Cost, method: str, limited: bool) -> Scan:
    inner, n = aligned(robot), robot.nv

    def follow(
        q: Array, v: Array, cost: Array, q_bar: Array, v_bar: Array, tau_bar: Array, feed: Array, gains: Array, gap: Array,
        t: Array, length: Array, lower: Array, upper: Array, h: Array,
    ) -> dict[str, Array]:  # fmt: skip
        x = concat([_between(robot, q_bar, q), v - v_bar])
        tau = tau_bar + length * feed + matvec(gains, x)
        if limited:
            tau = where(tau < lower, lower, where(tau > upper, upper, tau))
        paid = cost + h * costs.at("value", q=q, v=v, tau=tau, t=t)
        q_new, v_new = step(inner, method, q, v, tau, h)
        kept = length - 1.0  # how much of a gap is left open
        return {"q": _moved(robot, q_new, kept * gap[:n]), "v": v_new + kept * gap[n:], "cost": paid, "tau": tau}

    state: Shapes = {"q": (robot.nq,), "v": (n,), "cost": ()}
    inputs: Shapes = {"q_bar": (robot.nq,), "v_bar": (n,), "tau_bar": (n,), "feed": (n,), "gains": (n, 2 * n)}
    inputs |= {"gap": (2 * n,), "t": ()}
    constants: Shapes = {"length": (), "lower": (n,), "upper": (n,), "h": ()}
    return _scan(f"rollout of {robot.name}", follow, state, inputs, constants)


def _first(robot: Robot, costs: Cost, method: str) -> Kernel:
    inner = aligned(robot)

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array) -> dict[str, Array]:
        slope = h * costs.at("gradient", q=q, v=v, tau=tau, t=t)
        return {"F": step_derivative(inner, method, q, v, tau, h), "l": slope}

    return Kernel(f"derivatives of steps of {robot.name}", trace(expand, {**_at(robot), "h": ()}, Level.FULL))


def _second(robot: Robot, costs: Cost, method: str, second_order: bool) -> Kernel:
    inner = aligned(robot)

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array, p: Array, curved: Array) -> dict[str, Array]:
        L = h * costs.at("hessian", q=q, v=v, tau=tau, t=t)
        return {"L": L + curved * step_hessian(inner, method, q, v, tau, h, p) if second_order else L}

    shapes: Shapes = {**_at(robot), "h": (), "p": (2 * robot.nv,), "curved": ()}
    return Kernel(f"second derivatives of steps of {robot.name}", trace(expand, shapes, Level.FULL))


def _final(robot: Robot, costs: Cost) -> Kernel:
    def expand(q: Array, v: Array) -> dict[str, Array]:
        return {which: costs.at(which, q=q, v=v) for which in costs._fields}

    return Kernel(f"final cost of {robot.name}", trace(expand, {"q": (robot.nq,), "v": (robot.nv,)}, Level.FULL))


@lru_cache(maxsize=32)
def _costate(n: int) -> Scan:
    def before(p: Array, F: Array, l: Array) -> dict[str, Array]:
        slope = l + matvec(transpose(F), p)
        return {"p": slope[: 2 * n], "by_tau": slope[2 * n :]}

    return _scan(f"costate of {n} freedoms", before, {"p": (2 * n,)}, {"F": (2 * n, 3 * n), "l": (3 * n,)}, {})


@lru_cache(maxsize=32)
def _riccati(n: int, limited: bool, moved_by_velocity: bool) -> Scan:
    def before(tau: Array, lower: Array, upper: Array, **given: Array) -> dict[str, Array]:
        bounds = {"lower": lower - tau, "upper": upper - tau} if limited else {"lower": None, "upper": None}
        return backward(**given, **bounds, moved_by_velocity=moved_by_velocity)._asdict()

    state: Shapes = {"V": (2 * n, 2 * n), "p": (2 * n,), "first": (), "second": (), "least": ()}
    inputs: Shapes = {"F": (2 * n, 3 * n), "L": (3 * n, 3 * n), "l": (3 * n,), "gap": (2 * n,), "tau": (n,)}
    constants: Shapes = {"lower": (n,), "upper": (n,), "mu": (), "h": ()}
    return _scan(f"Riccati recursion of {n} freedoms", before, state, inputs, constants)


def _scan(name: str, step: Callable[..., dict[str, Array]], state: Shapes, inputs: Shapes, constants: Shapes) -> Scan:
    program = trace(step, {**state, **inputs, **constants}, Level.FULL)
    return Scan(name, program, Roles(len(state), len(inputs), len(constants)))


def _between(robot: Robot, q0: Array, q1: Array) -> Array:
    return q1 - q0 if robot.structure.has_plain_velocities else difference(robot, q0, q1)


def _moved(robot: Robot, q: Array, u: Array) -> Array:
    return q + u if robot.structure.has_plain_velocities else integrate(robot, q, u)


def riccati_of(n: int) -> Scan:
    """The recursion for ``n`` freedoms along any steps, without limits."""
    return _riccati(n, False, False)


def start_of_riccati(value: Array, gradient: Array, hessian: Array) -> dict[str, Array]:
    """The state of `Programs.riccati` at the end of a motion."""
    none = np.zeros(np.shape(value))
    return {"V": hessian, "p": gradient, "first": none, "second": none, "least": none + np.inf}
