"""The machine code of an optimal control problem: expansions at all its steps at once, and loops over its steps.

Models of the costs along a motion are made in one of two ways, which have the same three functions: `ModelsOfAnyStep`, and
`ModelsByVelocity` where the recursion takes a tenth of the operations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torsor.arrays import concat, matvec, where
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.control.optimal_feedback.costs import Cost, final_cost, running_cost
from torsor.control.optimal_feedback.models import Models, Shapes, loop
from torsor.control.optimal_feedback.models_by_velocity import ModelsByVelocity
from torsor.control.optimal_feedback.models_of_any_step import ModelsOfAnyStep
from torsor.control.optimal_feedback.riccati_by_velocity import triangle
from torsor.control.optimal_feedback.steps import step
from torsor.functions.public.kinematics import difference, integrate
from torsor.model import Robot
from torsor.model.aligned import aligned


@dataclass(frozen=True, eq=False)
class Programs:
    """What a problem is computed with.

    Attributes
    ----------
    rollout : Scan
        The motion that follows from a feedback along another, and what it costs.
    final : Kernel
        Value, gradient and Hessian of the final cost, and the Hessian's upper triangle.
    models : Models
        What a small change of the motion costs, and the feedback that pays least.
    """

    rollout: Scan
    final: Kernel
    models: Models


def programs_of(
    robot: Robot, running: Callable[..., Any], final: Callable[..., Any], method: str, second_order: bool, limited: bool
) -> Programs:
    """Trace all of it; what is compiled is kept on disk."""
    costs, ends = running_cost(robot, running), final_cost(robot, final)
    models: Models
    if is_by_velocity(robot, method):
        models = ModelsByVelocity(robot, costs, second_order, limited)
    else:
        models = ModelsOfAnyStep(robot, costs, method, second_order, limited)
    return Programs(_rollout(robot, costs, method, limited), kernel_of_final(robot, ends), models)


def is_by_velocity(robot: Robot, method: str) -> bool:
    """Whether steps are those of `riccati_by_velocity`."""
    return method == "semi_implicit_euler" and bool(robot.structure.has_plain_velocities)


def follower(robot: Robot, costs: Cost, method: str, limited: bool) -> Callable[..., Array]:
    """A step along a motion with its feedback, and what is paid until then."""
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

    return follow


def _rollout(robot: Robot, costs: Cost, method: str, limited: bool) -> Scan:
    n, follow = robot.nv, follower(robot, costs, method, limited)
    state: Shapes = {"q": (robot.nq,), "v": (n,), "cost": ()}
    inputs: Shapes = {"q_bar": (robot.nq,), "v_bar": (n,), "tau_bar": (n,), "feed": (n,), "gains": (n, 2 * n)}
    inputs |= {"gap": (2 * n,), "t": ()}
    constants: Shapes = {"length": (), "lower": (n,), "upper": (n,), "h": ()}
    return loop(f"rollout of {robot.name}", follow, state, inputs, constants)


def kernel_of_final(robot: Robot, costs: Cost) -> Kernel:
    """Value, gradient, Hessian and its upper triangle."""

    def expand(q: Array, v: Array) -> dict[str, Array]:
        found = {which: costs.at(which, q=q, v=v) for which in costs._fields}
        return found | {"upper": triangle(found["hessian"])}

    return Kernel(f"final cost of {robot.name}", trace(expand, {"q": (robot.nq,), "v": (robot.nv,)}, Level.FULL))


def _between(robot: Robot, q0: Array, q1: Array) -> Array:
    return q1 - q0 if robot.structure.has_plain_velocities else difference(robot, q0, q1)


def _moved(robot: Robot, q: Array, u: Array) -> Array:
    return q + u if robot.structure.has_plain_velocities else integrate(robot, q, u)
