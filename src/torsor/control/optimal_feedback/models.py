"""What models of costs along motions have in common, whatever the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from torsor.arrays import where
from torsor.arrays.typing import Array
from torsor.compiler.print.scan import Roles
from torsor.compiler.scan import Scan
from torsor.compiler.simplify import Level
from torsor.compiler.trace import trace
from torsor.model import Robot

Shapes = dict[str, tuple[int, ...]]
Arrays = dict[str, Array]


class Models(Protocol):
    """Quadratic models of the cost along motions (P, N, …): by the states at their steps and the forces in them.

    ``where`` has ``q``, ``v``, ``tau``, ``t`` and ``h`` of all steps; ``end`` the derivatives of the final cost.
    """

    def expanded(self, where: Arrays, end: Arrays, lower: Array, upper: Array) -> Arrays:
        """First derivatives at all steps; ``p`` (P, N, 2n) of the whole cost by each state; ``steepest`` (P, N), the largest
        derivative by a force from a step on, where a limit does not hold it.
        """

    def curved(self, where: Arrays, near: Arrays, curved: Array) -> Arrays:
        """Second derivatives at all steps; those of the dynamics count ``curved`` times, (P, N) or a number."""

    def feedback(
        self,
        where: Arrays,
        near: Arrays,
        end: Arrays,
        gap: Array | None,
        mu: Array,
        held: Array,
        limits: tuple[Array, Array],
    ) -> Arrays:
        """``feed``, ``gains``, ``p`` and the sums ``first`` and ``second`` and ``least`` of `riccati.Backward`, at all steps.

        ``gap`` is None where there are none. ``held`` (P,) says for which problems limits are likely to hold forces, and in the
        result, for which they did.
        """

    def scale(self, near: Arrays, h: float) -> Array:
        """How large the cost's own Hessian by forces is, in the unit of the regularisation; (P,)."""


def at_a_step(robot: Robot) -> Shapes:
    """Shapes of the inputs of a cost at a step, and the step's length."""
    return {"q": (robot.nq,), "v": (robot.nv,), "tau": (robot.nv,), "t": (), "h": ()}


def loop(
    name: str,
    step: Callable[..., Arrays],
    state: Shapes,
    inputs: Shapes,
    constants: Shapes,
    *,
    backward: bool = False,
) -> Scan:
    """A loop over steps in machine code, from the first on or from the last."""
    program = trace(step, {**state, **inputs, **constants}, Level.FULL)
    return Scan(name, program, Roles(len(state), len(inputs), len(constants), backward))


def steeper(steepest: Array, slope: Array, tau: Array, lower: Array, upper: Array, limited: bool) -> Array:
    """The largest of ``steepest`` and the derivatives (n,) by forces that a limit does not hold against them."""
    for k in range(slope.shape[-1]):
        x = where(slope[k] < 0.0, -slope[k], slope[k])
        if limited:
            x = where(tau[k] <= lower[k], where(slope[k] > 0.0, 0.0, x), x)
            x = where(tau[k] >= upper[k], where(slope[k] < 0.0, 0.0, x), x)
        steepest = where(x <= steepest, steepest, x)  # NaN is told
    return steepest


def scale_of(by_force: Array, inverse_mass: Array, h: float) -> Array:
    """Of traces (P, N) of the Hessians of costs by forces, and M⁻¹ there."""
    own = np.abs(by_force).max(axis=-1)
    return np.where(own > 0.0, own, h) / np.maximum(np.trace(inverse_mass, axis1=-2, axis2=-1).max(axis=-1), 1e-300)


def trace_of(A: Array) -> Array:
    """The sum of the diagonal of one matrix."""
    return A[range(A.shape[-1]), range(A.shape[-1])].sum()


def every(x: Array) -> bool:
    """Whether all are true: of one problem, without a loop of NumPy's."""
    return bool(x.item() if x.size == 1 else x.all())


def some(x: Array) -> bool:
    """Whether any is true, or not zero."""
    return bool(x.item() if x.size == 1 else x.any())
