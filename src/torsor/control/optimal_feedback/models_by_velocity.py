"""Models of costs along motions of semi-implicit steps and joints of one number: `riccati_by_velocity`.

As long as no limit is reached and nothing has to be regularised, the recursion is that without either.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.control.optimal_feedback.costs import Cost
from torsor.control.optimal_feedback.models import (
    Arrays,
    Shapes,
    at_a_step,
    every,
    loop,
    scale_of,
    some,
    steeper,
    trace_of,
)
from torsor.control.optimal_feedback.riccati_by_velocity import eliminated, in_forces, triangle, within_limits
from torsor.control.optimal_feedback.steps_by_velocity import (
    costate,
    dynamics_hessian,
    gradient_by_velocity,
    hessian_by_velocity,
    near,
    regularisation,
    velocity_after,
)
from torsor.model import Robot
from torsor.model.aligned import aligned


class ModelsByVelocity:
    """As `models.Models` says."""

    def __init__(self, robot: Robot, costs: Cost, second_order: bool, limited: bool) -> None:
        n = robot.nv
        self._first = _first(robot, costs)
        self._own = _second(robot, costs, False)  # of the cost alone, which is all where models are not believed
        self._second = _second(robot, costs, True) if second_order else self._own
        self._costate = _costate(n, limited)
        self._in_forces, self._weighed = _in_forces(n), _weighed(n)
        self._free = {closed: _free(n, closed) for closed in (True, False)}
        self._within = {closed: _within(n, limited, closed) for closed in (True, False)}

    def expanded(self, where: Arrays, end: Arrays, lower: Array, upper: Array) -> Arrays:  # noqa: D102 as the protocol says
        found: Arrays = self._first(**where)
        found |= self._costate(
            steps=where["tau"].shape[-2], p=end["gradient"], steepest=0.0, B=found["B"], T=found["T"], l=found["l"],
            tau=where["tau"], lower=lower, upper=upper, h=where["h"],
        )  # fmt: skip
        return found

    def curved(self, where: Arrays, near: Arrays, curved: Array) -> Arrays:  # noqa: D102
        given = {name: near[name] for name in ("a", "T", "weights", "l")}
        of_dynamics = isinstance(curved, np.ndarray) or curved != 0.0
        found: Arrays = (self._second if of_dynamics else self._own)(**where, **given, curved=curved)
        return found

    def feedback(  # noqa: D102
        self,
        where: Arrays,
        near: Arrays,
        end: Arrays,
        gap: Array | None,
        mu: Array,
        held: Array,
        limits: tuple[Array, Array],
    ) -> Arrays:
        tau, (lower, upper) = where["tau"], limits
        steps, found, fits = tau.shape[-2], dict[str, Array](), ~held
        start = {"p": end["gradient"], "first": 0.0, "second": 0.0, "least": np.inf}
        given = {"l": near["l_y"], "h": where["h"]} | start | ({} if gap is None else {"gap": gap})
        if some(fits):
            L = (
                self._weighed(near["L"], near["B"], near["T"], _at_all(mu, steps), where["h"])
                if some(mu)
                else near["L"]
            )
            found = self._free[gap is None](steps=steps, V=end["upper"], L=L, **given)
            found |= self._in_forces(found["scaled"], found["unit"], near["T"], tau, lower, upper)
            within = found["beyond"].max(axis=-1) <= 0.0
            if not every(within):  # where there is no minimum, limits are not what is missing
                fits &= within | ~(found["least"][:, 0] > 0.0)
        if not every(fits):
            bound = self._within[gap is None](
                steps=steps,
                V=end["hessian"],
                L=near["L"],
                B=near["B"],
                T=near["T"],
                tau=tau,
                lower=lower,
                upper=upper,
                mu=mu,
                **given,
            )
            found = _either(fits, found, bound) if some(fits) else bound
        return found | {"held": ~fits}

    def scale(self, near: Arrays, h: float) -> Array:  # noqa: D102
        return scale_of(near["by_force"].sum(axis=-1), near["B"] / h, h)


def _either(which: Array, one: Arrays, other: Arrays) -> Arrays:
    """For each problem what it has in one dict or the other, of what both have."""
    names = ("p", "first", "second", "least", "feed", "gains")
    return {name: np.where(which.reshape(-1, *[1] * (one[name].ndim - 1)), one[name], other[name]) for name in names}


def _at_all(x: Array, steps: int) -> Array:
    """A number for each problem, at each of its steps."""
    return np.repeat(x[:, None], steps, axis=1)


def _first(robot: Robot, costs: Cost) -> Kernel:
    inner = aligned(robot)

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array) -> dict[str, Array]:
        return near(inner, q, v, tau, h)._asdict() | {"l": h * costs.at("gradient", q=q, v=v, tau=tau, t=t)}

    return Kernel(f"derivatives of semi-implicit steps of {robot.name}", trace(expand, at_a_step(robot), Level.FULL))


def _second(robot: Robot, costs: Cost, second_order: bool) -> Kernel:
    inner, n = aligned(robot), robot.nv

    def expand(
        q: Array, v: Array, tau: Array, t: Array, h: Array, a: Array, T: Array, weights: Array, l: Array, curved: Array
    ) -> dict[str, Array]:
        own = h * costs.at("hessian", q=q, v=v, tau=tau, t=t)
        L = hessian_by_velocity(own, T)
        if second_order:
            L = L + dynamics_hessian(inner, q, v, a, curved * weights, h)
        return {
            "L": triangle(L),
            "l_y": gradient_by_velocity(l, T),
            "by_force": own[range(2 * n, 3 * n), range(2 * n, 3 * n)],
        }

    shapes: Shapes = {**at_a_step(robot), "a": (n,), "T": (n, 3 * n), "weights": (n,), "l": (3 * n,), "curved": ()}
    name = f"second derivatives of semi-implicit steps of {robot.name}"
    return Kernel(name, trace(expand, shapes, Level.FULL))


@lru_cache(maxsize=32)
def _costate(n: int, limited: bool) -> Scan:
    def before(
        p: Array, steepest: Array, B: Array, T: Array, l: Array, tau: Array, lower: Array, upper: Array, h: Array
    ) -> dict[str, Array]:
        found = costate(p, B, T, l, h)
        most = steeper(steepest, found.by_tau, tau, lower, upper, limited)
        return {"p": found.p, "steepest": most, "by_tau": found.by_tau, "weights": found.weights}

    state: Shapes = {"p": (2 * n,), "steepest": ()}
    inputs: Shapes = {"B": (n, n), "T": (n, 3 * n), "l": (3 * n,), "tau": (n,)}
    constants: Shapes = {"lower": (n,), "upper": (n,), "h": ()}
    return loop(f"costate of {n} freedoms by velocity", before, state, inputs, constants, backward=True)


@lru_cache(maxsize=32)
def _free(n: int, closed: bool) -> Scan:
    """``closed``: without gaps between steps."""

    def before(gap: Array | None = None, **given: Array) -> dict[str, Array]:
        return eliminated(gap=gap, **given)._asdict()

    state: Shapes = {"V": (n * (2 * n + 1),), "p": (2 * n,), "first": (), "second": (), "least": ()}
    inputs = _quadratic(n, closed)
    return loop(f"elimination for {n} freedoms", before, state, inputs, {"h": ()}, backward=True)


def _quadratic(n: int, closed: bool) -> Shapes:
    """Shapes of the quadratic function of a step, and of the gap after it."""
    shapes: Shapes = {"L": (3 * n * (3 * n + 1) // 2,), "l": (3 * n,)}
    return shapes if closed else shapes | {"gap": (2 * n,)}


@lru_cache(maxsize=32)
def _weighed(n: int) -> Kernel:
    def plus(L: Array, B: Array, T: Array, mu: Array, h: Array) -> Array:
        return L + triangle(regularisation(B, T, mu, h))

    shapes: Shapes = {"L": (3 * n * (3 * n + 1) // 2,), "B": (n, n), "T": (n, 3 * n), "mu": (), "h": ()}
    return Kernel(f"regularisation for {n} freedoms", trace(plus, shapes, Level.FULL))


@lru_cache(maxsize=32)
def _in_forces(n: int) -> Kernel:
    shapes: Shapes = {"scaled": (n, 2 * n + 1), "unit": (n * (n - 1) // 2,), "T": (n, 3 * n)}
    shapes |= {name: (n,) for name in ("tau", "lower", "upper")}
    return Kernel(f"feedback of {n} forces", trace(in_forces, shapes, Level.FULL))


@lru_cache(maxsize=32)
def _within(n: int, limited: bool, closed: bool) -> Scan:
    state: Shapes = {"V": (2 * n, 2 * n), "p": (2 * n,), "first": (), "second": (), "least": ()}
    inputs: Shapes = _quadratic(n, closed) | {"B": (n, n), "T": (n, 3 * n), "tau": (n,)}
    constants: Shapes = {"lower": (n,), "upper": (n,), "mu": (), "h": ()}
    before = before_by_velocity(limited)
    return loop(f"Riccati recursion of {n} freedoms by velocity", before, state, inputs, constants, backward=True)


def before_by_velocity(limited: bool) -> Callable[..., Arrays]:
    """A step backward within limits of the forces."""

    def before(
        B: Array, T: Array, tau: Array, lower: Array, upper: Array, gap: Array | None = None, **given: Array
    ) -> dict[str, Array]:
        bounds = {"lower": lower - tau, "upper": upper - tau} if limited else {"lower": None, "upper": None}
        return within_limits(**given, gap=gap, **bounds, F_v=velocity_after(B, T))._asdict()

    return before


def expansion_by_velocity(robot: Robot, costs: Cost) -> Callable[..., Arrays]:
    """All that `before_by_velocity` needs of a step, without second derivatives of the dynamics, and what `scale_of` asks for."""
    inner, n = aligned(robot), robot.nv

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array) -> dict[str, Array]:
        at = near(inner, q, v, tau, h)
        l, own = (h * costs.at(which, q=q, v=v, tau=tau, t=t) for which in ("gradient", "hessian"))
        return {
            "L": triangle(hessian_by_velocity(own, at.T)),
            "l": gradient_by_velocity(l, at.T),
            "B": at.B,
            "T": at.T,
            "own": trace_of(own[2 * n :, 2 * n :]),
            "inverse_mass": trace_of(at.B) / h,
        }

    return expand
