"""Models of costs along motions of any method and joint kinds: `riccati.backward` with the derivatives F of each step."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from torsor.arrays import matvec, transpose
from torsor.arrays.typing import Array
from torsor.compiler.kernel import Kernel
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.control.optimal_feedback.costs import Cost
from torsor.control.optimal_feedback.models import Arrays, Shapes, at_a_step, loop, scale_of, steeper, trace_of
from torsor.control.optimal_feedback.riccati import backward
from torsor.control.optimal_feedback.steps import step_derivative, step_hessian
from torsor.model import Robot
from torsor.model.aligned import aligned


class ModelsOfAnyStep:
    """As `models.Models` says."""

    def __init__(self, robot: Robot, costs: Cost, method: str, second_order: bool, limited: bool) -> None:
        n = robot.nv
        self._first = _first(robot, costs, method)
        self._second = _second(robot, costs, method, second_order)
        self._costate, self._riccati = _costate(n, limited), _riccati(n, limited)
        self._n = n

    def expanded(self, where: Arrays, end: Arrays, lower: Array, upper: Array) -> Arrays:  # noqa: D102 as the protocol says
        near: Arrays = self._first(**where)
        held = {"lower": lower, "upper": upper}
        found = self._costate(
            steps=where["tau"].shape[-2], p=end["gradient"], steepest=0.0, **near, tau=where["tau"], **held
        )
        return near | found

    def curved(self, where: Arrays, near: Arrays, curved: Array) -> Arrays:  # noqa: D102
        return {"L": self._second(**where, p=near["later"], curved=curved)}

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
        gap = np.zeros(near["l"].shape[-1] // 3 * 2) * np.ones((where["tau"].shape[-2], 1)) if gap is None else gap
        found: Arrays = self._riccati(
            steps=where["tau"].shape[-2], F=near["F"], L=near["L"], l=near["l"], gap=gap, tau=where["tau"], mu=mu,
            h=where["h"], lower=limits[0], upper=limits[1], **start_of_riccati(**end),
        )  # fmt: skip
        return found | {"held": held}

    def scale(self, near: Arrays, h: float) -> Array:  # noqa: D102
        n = self._n
        by_force = np.trace(near["L"][..., 2 * n :, 2 * n :], axis1=-2, axis2=-1)
        return scale_of(by_force, near["F"][..., n:, 2 * n :] / h, h)


def _first(robot: Robot, costs: Cost, method: str) -> Kernel:
    inner = aligned(robot)

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array) -> dict[str, Array]:
        slope = h * costs.at("gradient", q=q, v=v, tau=tau, t=t)
        return {"F": step_derivative(inner, method, q, v, tau, h), "l": slope}

    return Kernel(f"derivatives of steps of {robot.name}", trace(expand, at_a_step(robot), Level.FULL))


def _second(robot: Robot, costs: Cost, method: str, second_order: bool) -> Kernel:
    inner = aligned(robot)

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array, p: Array, curved: Array) -> dict[str, Array]:
        L = h * costs.at("hessian", q=q, v=v, tau=tau, t=t)
        return {"L": L + curved * step_hessian(inner, method, q, v, tau, h, p) if second_order else L}

    shapes: Shapes = {**at_a_step(robot), "p": (2 * robot.nv,), "curved": ()}
    return Kernel(f"second derivatives of steps of {robot.name}", trace(expand, shapes, Level.FULL))


@lru_cache(maxsize=32)
def _costate(n: int, limited: bool) -> Scan:
    def before(
        p: Array, steepest: Array, F: Array, l: Array, tau: Array, lower: Array, upper: Array
    ) -> dict[str, Array]:
        slope = l + matvec(transpose(F), p)
        most = steeper(steepest, slope[2 * n :], tau, lower, upper, limited)
        return {"p": slope[: 2 * n], "steepest": most, "later": p, "by_tau": slope[2 * n :]}

    state: Shapes = {"p": (2 * n,), "steepest": ()}
    inputs: Shapes = {"F": (2 * n, 3 * n), "l": (3 * n,), "tau": (n,)}
    return loop(f"costate of {n} freedoms", before, state, inputs, {"lower": (n,), "upper": (n,)}, backward=True)


@lru_cache(maxsize=32)
def _riccati(n: int, limited: bool) -> Scan:
    state: Shapes = {"V": (2 * n, 2 * n), "p": (2 * n,), "first": (), "second": (), "least": ()}
    inputs: Shapes = {"F": (2 * n, 3 * n), "L": (3 * n, 3 * n), "l": (3 * n,), "gap": (2 * n,), "tau": (n,)}
    constants: Shapes = {"lower": (n,), "upper": (n,), "mu": (), "h": ()}
    before = before_any_step(limited)
    return loop(f"Riccati recursion of {n} freedoms", before, state, inputs, constants, backward=True)


def before_any_step(limited: bool) -> Callable[..., Arrays]:
    """A step backward within limits of the forces."""

    def before(tau: Array, lower: Array, upper: Array, gap: Array | None = None, **given: Array) -> dict[str, Array]:
        bounds = {"lower": lower - tau, "upper": upper - tau} if limited else {"lower": None, "upper": None}
        return backward(**given, gap=gap, **bounds)._asdict()

    return before


def expansion_of_any_step(robot: Robot, costs: Cost, method: str) -> Callable[..., Arrays]:
    """All that `before_any_step` needs of a step, without second derivatives of the dynamics, and what `scale_of` asks for."""
    inner, n = aligned(robot), robot.nv

    def expand(q: Array, v: Array, tau: Array, t: Array, h: Array) -> dict[str, Array]:
        F = step_derivative(inner, method, q, v, tau, h)
        l, own = (h * costs.at(which, q=q, v=v, tau=tau, t=t) for which in ("gradient", "hessian"))
        inverse_mass = trace_of(F[n:, 2 * n :]) / h
        return {"L": own, "l": l, "F": F, "own": trace_of(own[2 * n :, 2 * n :]), "inverse_mass": inverse_mass}

    return expand


def riccati_of(n: int) -> Scan:
    """The recursion for ``n`` freedoms along any steps, without limits."""
    return _riccati(n, False)


def start_of_riccati(gradient: Array, hessian: Array, **_: Array) -> dict[str, Array]:
    """The state of the recursion at the end of a motion."""
    return {"V": hessian, "p": gradient, "first": 0.0, "second": 0.0, "least": np.inf}
