"""Derivatives of one step of time, the same steps as `torsor.simulate` takes, by the chain rule through their stages.

A value x has beside it its derivative dx (..., nv, 3 nv) by (δq, δv, δτ) at the start of the step; configurations in the
tangent coordinates of where they are. Each function below has the lines of its namesake in `simulation.steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector
from torsor.functions.public.derivatives import forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import integrate
from torsor.linearisation.tangent_maps import (
    increment_jacobian,
    increment_jacobian_inverse,
    increment_rate_by_increment,
    transport,
)
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot


class Drive(NamedTuple):
    """A robot under torques (..., nv), N·m or N, wrenches and a motion of its base that are held over the step."""

    robot: Robot
    tau: JointVector
    wrenches: Wrenches | None = None
    base_motion: BaseMotion | None = None

    @property
    def start(self) -> tuple[Array, Array, Array]:
        """The derivatives of q, v and tau by themselves: (1, 0, 0), (0, 1, 0) and (0, 0, 1)."""
        nv = self.robot.nv
        return tuple(np.eye(3 * nv).reshape(3, nv, 3 * nv))  # type: ignore[return-value]

    def accelerate(self, q: Array, v: Array) -> Array:
        """The acceleration a (..., nv)."""
        return forward_dynamics(self.robot, q, v, self.tau, **self._external)

    def by_state(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ (..., nv, nv)."""
        return forward_dynamics_derivatives(self.robot, q, v, self.tau, **self._external)

    def along(self, q: Array, v: Array, dq: Array, dv: Array) -> Array:
        """da where q and v change by dq and dv."""
        by_q, by_v, by_tau = self.by_state(q, v)
        return by_q @ dq + by_v @ dv + by_tau @ self.start[2]

    @property
    def _external(self) -> dict[str, Any]:
        given = {"wrenches": self.wrenches, "base_motion": self.base_motion}
        return {name: value for name, value in given.items() if value is not None}


StepDerivatives = Callable[[Drive, ConfigurationVector, JointVector, float], tuple[Array, Array]]


def euler(drive: Drive, q: ConfigurationVector, v: JointVector, h: float) -> tuple[Array, Array]:
    """Of q ⊕ h v and v + h a(q, v)."""
    dq, dv, _ = drive.start
    return _moved(drive.robot, h * v, dq, h * dv), dv + h * drive.along(q, v, dq, dv)


def semi_implicit_euler(drive: Drive, q: ConfigurationVector, v: JointVector, h: float) -> tuple[Array, Array]:
    """Of v⁺ = v + h a(q, v) and q ⊕ h v⁺."""
    dq, dv, _ = drive.start
    v_new = v + h * drive.accelerate(q, v)
    dv_new = dv + h * drive.along(q, v, dq, dv)
    return _moved(drive.robot, h * v_new, dq, h * dv_new), dv_new


def rk4(drive: Drive, q: ConfigurationVector, v: JointVector, h: float) -> tuple[Array, Array]:
    """Of the classical Runge–Kutta step on the increment u of q ⊕ u [MK99]."""
    robot, (dq, dv, _) = drive.robot, drive.start
    k, a = v, drive.accelerate(q, v)
    dk, da = dv, drive.along(q, v, dq, dv)
    u, du, dv_new = h / 6.0 * k, h / 6.0 * dk, dv + h / 6.0 * da
    for reach, weight in ((0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        u_i, du_i = reach * h * k, reach * h * dk
        v_i, dv_i = v + reach * h * a, dv + reach * h * da
        q_i, dq_i = integrate(robot, q, u_i), _moved(robot, u_i, dq, du_i)
        k, dk = increment_rate(robot, u_i, v_i), _rate(robot, u_i, v_i, du_i, dv_i)
        a, da = drive.accelerate(q_i, v_i), drive.along(q_i, v_i, dq_i, dv_i)
        u, du, dv_new = u + weight * h / 6.0 * k, du + weight * h / 6.0 * dk, dv_new + weight * h / 6.0 * da
    return _moved(robot, u, dq, du), dv_new


DERIVATIVES: dict[str, StepDerivatives] = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


def _moved(robot: Robot, u: Array, dq: Array, du: Array) -> Array:
    """The derivative of q ⊕ u, in the tangent coordinates there."""
    return transport(robot, u) @ dq + increment_jacobian(robot, u) @ du


def _rate(robot: Robot, u: Array, v: Array, du: Array, dv: Array) -> Array:
    """The derivative of J_r(u)⁻¹ v."""
    return increment_rate_by_increment(robot, u, v) @ du + increment_jacobian_inverse(robot, u) @ dv
