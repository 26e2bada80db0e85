"""Derivatives of one step of time, the same steps as `torsor.simulate` takes, by the chain rule through their stages.

Displacements of a configuration are body-side, q ⊕ δ. The velocities of planar, spherical and free joints span a subalgebra of
the twists, with screws S as basis; on it the maps of SE(3) act, X restricted as S X Sᵀ. For all other joints they are 1, or 0
where said::

    (q ⊕ δ) ⊕ (u + δu) = (q ⊕ u) ⊕ (Ad(e^−u) δ + J_r(u) δu)      to first order [Bar17, (7.87)]
    δ̇ = δv − ad(v) δ                                             for q ⊕ δ with the velocity v + δv

A value x has beside it its derivative dx (..., nv, 3 nv) by (δq, δv, δτ) at the start of the step; configurations in the
tangent coordinates of where they are. Each function below has the lines of its namesake in `simulation.steps`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import matvec
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Twist
from torsor.compiler.kernel import Kernel
from torsor.functions.derivative import derivative
from torsor.functions.public.derivatives import forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import integrate
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Inertia, Joint, Robot, assemble


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
    """Derivatives of q ⊕ h v and v + h a(q, v)."""
    dq, dv, _ = drive.start
    return _moved(drive.robot, h * v, dq, h * dv), dv + h * drive.along(q, v, dq, dv)


def semi_implicit_euler(drive: Drive, q: ConfigurationVector, v: JointVector, h: float) -> tuple[Array, Array]:
    """Derivatives of v⁺ = v + h a(q, v) and q ⊕ h v⁺."""
    dq, dv, _ = drive.start
    v_new = v + h * drive.accelerate(q, v)
    dv_new = dv + h * drive.along(q, v, dq, dv)
    return _moved(drive.robot, h * v_new, dq, h * dv_new), dv_new


def rk4(drive: Drive, q: ConfigurationVector, v: JointVector, h: float) -> tuple[Array, Array]:
    """Derivatives of the classical Runge–Kutta step on the increment u of q ⊕ u [MK99]."""
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
    return _transport(robot, u) @ dq + _increment_jacobian(robot, u) @ du


def _rate(robot: Robot, u: Array, v: Array, du: Array, dv: Array) -> Array:
    """The derivative of J_r(u)⁻¹ v."""
    return _increment_rate_by_increment(robot, u, v) @ du + _increment_jacobian_inverse(robot, u) @ dv


def drift_of_displacement(robot: Robot, v: JointVector) -> JointMatrix:
    """−ad(v), how a displacement that moves along turns in the axes of the moving links; 0 for joints with one number.

    ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    return _joint_by_joint(robot, np.zeros((robot.nv, robot.nv)), lambda V: -lie.ad(V), v)


def _transport(robot: Robot, u: JointVector) -> JointMatrix:
    """Ad(e^−u), ∂(q ⊕ u)/∂q. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), lambda U: lie.Ad(se3.exp(-U)), u)


def _increment_jacobian(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u), ∂(q ⊕ u)/∂u. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian, u)


def _increment_jacobian_inverse(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u)⁻¹, ∂/∂v of `increment_rate`. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian_inverse, u)


def _increment_rate_by_increment(robot: Robot, u: JointVector, v: JointVector) -> JointMatrix:
    """∂(J_r(u)⁻¹ v)/∂u, 0 for joints with one number.

    ``u`` (..., nv), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    zero = np.zeros((robot.nv, robot.nv))
    return _joint_by_joint(robot, zero, lambda U, V: _rate_by_increment()(U, V), u, v)


def _joint_by_joint(robot: Robot, others: Array, on_twists: Callable[..., Array], *vectors: JointVector) -> JointMatrix:
    """Block diagonal S X Sᵀ with X = on_twists(Sᵀ u, …); ``others`` (nv, nv) where joints have one number."""
    result = np.array(np.broadcast_to(others, (*np.broadcast_shapes(*(x.shape for x in vectors)), robot.nv)))
    for c, kind in robot.structure.blocks:
        if (S := kind.rows) is not None:
            at = c.v
            result[..., at, at] = S @ on_twists(*(x[..., at] @ S for x in vectors)) @ S.T
    return result


@lru_cache(maxsize=1)
def _rate_by_increment() -> Kernel:
    """The kernel of ∂(J_r(U)⁻¹ V)/∂U on twists, which knows every smaller group too."""
    body = assemble([Joint(name="float", kind="free", inertia=Inertia.sphere(1.0, mass=1.0))], name="one body")
    return derivative(_twist_rate, body, {"U": (6,), "V": (6,)}, wrt="U")


def _twist_rate(robot: Robot, U: Twist, V: Twist) -> Twist:
    return matvec(se3.right_jacobian_inverse(U), V)
