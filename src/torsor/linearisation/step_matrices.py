"""A and B of one step of `torsor.simulate`, x⁺ = A x + B δτ, as one kernel for a robot and a method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torsor.arrays import concat
from torsor.arrays.typing import ConfigurationVector, JointVector, Scalar, TaskMatrix
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import with_inverse
from torsor.linearisation.step_derivatives import Derived, Drive, euler, rk4, semi_implicit_euler
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot

LARGEST_WHOLE = (
    9  # freedoms up to which the four stages of Runge and Kutta's step are one program: it compiles in seconds
)


class StepMatrices(NamedTuple):
    """A (..., 2 nv, 2 nv) and B (..., 2 nv, nv), and the acceleration (..., nv) at the start of the step."""

    A: TaskMatrix
    B: TaskMatrix
    acceleration: JointVector


def euler_matrices(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    h: Scalar,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> StepMatrices:
    """Of q ⊕ h v and v + h a(q, v)."""
    return split(euler(Drive(robot, tau, wrenches, base_motion), q, v, h))


def semi_implicit_euler_matrices(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    h: Scalar,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> StepMatrices:
    """Of v⁺ = v + h a(q, v) and q ⊕ h v⁺."""
    return split(semi_implicit_euler(Drive(robot, tau, wrenches, base_motion), q, v, h))


def rk4_matrices(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    h: Scalar,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> StepMatrices:
    """Of the classical Runge–Kutta step."""
    return split(rk4(Drive(robot, tau, wrenches, base_motion), q, v, h))


def split(x: Derived) -> StepMatrices:
    """The columns by (δq, δv), and those by δτ."""
    dx = concat([x.dq, x.dv], axis=-2)
    nv = dx.shape[-2] // 2
    return StepMatrices(dx[..., : 2 * nv], dx[..., 2 * nv :], x.acceleration)


def _compiled(algorithm: Callable[..., StepMatrices]) -> Callable[..., StepMatrices]:
    return public(algorithm, StepMatrices, joint_space=True, rivals=with_inverse(algorithm), registered=False)


_EULER, _SEMI_IMPLICIT, _RK4 = map(_compiled, (euler_matrices, semi_implicit_euler_matrices, rk4_matrices))


def matrices_of_rk4(robot: Robot, *given: Any, **external: Any) -> StepMatrices:
    """One kernel where that is short enough to compile, else its lines with a kernel for each stage."""
    return (_RK4 if robot.nv <= LARGEST_WHOLE else rk4_matrices)(robot, *given, **external)


STEP_MATRICES: dict[str, Callable[..., StepMatrices]] = {
    "semi_implicit_euler": _SEMI_IMPLICIT,
    "euler": _EULER,
    "rk4": matrices_of_rk4,
}
