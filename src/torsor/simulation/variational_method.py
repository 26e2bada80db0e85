"""The variational step as a method of `stepping`, and who takes the steps that it is not for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.simulation.steps.extrapolated_euler import extrapolated_euler
from torsor.simulation.steps.rate import RateOf, Stepped
from torsor.simulation.steps.rk4 import rk4
from torsor.simulation.steps.variational import Force, variational_step


def variational(
    robot: Robot,
    load: Force,
    rate: RateOf,
    t: Array,
    q: Array,
    v: Array,
    h: Array,
    given: Mapping[str, Array],
) -> tuple[Stepped, dict[str, Array], Array]:
    """A variational step, what it carries on, and the correction (...) that it would still need; works by trapezoids."""
    before = {"p": given["momentum"], "mean": given["mean"], "mean_before": given["mean_before"]}
    new = variational_step(robot, load, t, q, v, before, h)
    start, end = rate(t, q, v), rate(t + h, new.q, new.v)
    work = 0.5 * h[..., None] * (start.power + end.power)
    memory = {"momentum": new.memory["p"], "mean": new.memory["mean"], "mean_before": new.memory["mean_before"]}
    return Stepped(new.q, new.v, work, start), memory, new.residual


def damped_variational(*given: Any) -> tuple[Stepped, dict[str, Array], Array]:
    """The same: it takes viscous friction of any size. What differs is the method through changes of the mode."""
    return variational(*given)


THROUGH_CHANGES: dict[Callable[..., Any], Callable[..., Any]] = {
    variational: rk4,
    damped_variational: extrapolated_euler,
}
"""What takes the steps in which joints are held, or begin to be, where the method itself is for none of these."""
