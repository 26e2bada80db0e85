"""A and B of one step of `torsor.simulate`, x⁺ = A x + B δτ, as one kernel for a robot and a method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor.arrays import concat
from torsor.arrays.typing import ConfigurationVector, JointVector, Scalar, TaskMatrix
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.linearisation.step_derivatives import DERIVATIVES, Derived, Drive, StepDerivatives
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot

# Freedoms up to which the four stages of Runge and Kutta's step are one program: it compiles in seconds
LARGEST_WHOLE = 9


class StepMatrices(NamedTuple):
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv), and the acceleration (..., nv) at the start of the step."""

    A: TaskMatrix
    B: TaskMatrix
    acceleration: JointVector


def _matrices_of(method: str, derivatives: StepDerivatives) -> Callable[..., StepMatrices]:
    """The algorithm for a step, by its name: machine code is kept under it."""

    def matrices(
        robot: Robot,
        q: ConfigurationVector,
        v: JointVector,
        tau: JointVector,
        h: Scalar,
        *,
        wrenches: Wrenches | None = None,
        base_motion: BaseMotion | None = None,
    ) -> StepMatrices:
        return _split(derivatives(Drive(robot, tau, wrenches, base_motion), q, v, h))

    matrices.__name__ = matrices.__qualname__ = f"{method}_matrices"
    return matrices


def _split(x: Derived) -> StepMatrices:
    """The columns by (δq, δv), and those by δτ."""
    dx = concat([x.dq, x.dv], axis=-2)
    nv = dx.shape[-2] // 2
    return StepMatrices(dx[..., : 2 * nv], dx[..., 2 * nv :], x.acceleration)


_WRITTEN = {method: _matrices_of(method, derivatives) for method, derivatives in DERIVATIVES.items()}
_COMPILED = {
    method: public(algorithm, StepMatrices, joint_space=True, rivals=with_inverse(algorithm), registered=False)
    for method, algorithm in _WRITTEN.items()
}


def _of_rk4(robot: Robot, *given: Any, **external: Any) -> StepMatrices:
    """One kernel where that is short enough to compile, else its lines with a kernel for each stage."""
    return (_COMPILED if robot.nv <= LARGEST_WHOLE else _WRITTEN)["rk4"](robot, *given, **external)


STEP_MATRICES: dict[str, Callable[..., StepMatrices]] = {**_COMPILED, "rk4": _of_rk4}
