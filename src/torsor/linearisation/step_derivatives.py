"""Derivatives of one step of time, the same steps as `torsor.simulate` takes, by the chain rule through their stages.

Displacements of a configuration are body-side, q ⊕ δ. The velocities of planar, spherical and free joints span a subalgebra of
the twists, with screws S as basis; on it the maps of SE(3) act, X restricted as S X Sᵀ. For all other joints they are 1, or 0
where said::

    (q ⊕ δ) ⊕ (u + δu) = (q ⊕ u) ⊕ (Ad(e^−u) δ + J_r(u) δu)      to first order [Bar17, (7.87)]
    δ̇ = δv − ad(v) δ                                             for q ⊕ δ with the velocity v + δv

A value x has beside it its derivative dx (..., nv, 3 nv) by (δq, δv, δτ) at the start of the step; configurations in the
tangent coordinates of where they are. Each function below has the lines of its namesake in `torsor.simulation`. All of it is
traceable.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import concat, identity, matmul, matvec, namespace, transpose, zeros
from torsor.arrays.typing import Array, JointMatrix, JointVector
from torsor.compiler.kernel import Kernel
from torsor.compiler.trace import inline
from torsor.compiler.traced_array import TracedArray
from torsor.functions.derivative import derivative
from torsor.functions.public.derivatives import forward_dynamics_derivatives
from torsor.functions.public.dynamics import forward_dynamics
from torsor.functions.public.kinematics import integrate
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse, through_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.mechanics.kinematics.manifold import increment_rate
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Inertia, Joint, Robot, assemble


class Rates(NamedTuple):
    """The acceleration a (..., nv) at a state, and ∂a/∂q, ∂a/∂v and ∂a/∂τ (..., nv, nv)."""

    a: JointVector
    by_q: JointMatrix
    by_v: JointMatrix
    by_tau: JointMatrix

    def along(self, dq: Array, dv: Array, dtau: Array) -> Array:
        """da where q, v and τ change by dq, dv and dτ."""
        return matmul(self.by_q, dq) + matmul(self.by_v, dv) + matmul(self.by_tau, dtau)


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

    def rates(self, q: Array, v: Array) -> Rates:
        """The acceleration and its derivatives: while they are traced, from one recursion for all."""
        if namespace(self.robot, q, v, self.tau) is np:
            a, by = self.accelerate(q, v), forward_dynamics_derivatives(self.robot, q, v, self.tau, **self._external)
            return Rates(a, *by)
        a, M_inverse = acceleration_and_inverse(self.robot, q, v, self.tau, **self._external)
        by_inverse = inverse_dynamics_derivatives(self.robot, q, v, a, **self._external)
        return Rates(a, *through_inverse(M_inverse, by_inverse))

    @property
    def _external(self) -> dict[str, Any]:
        given = {"wrenches": self.wrenches, "base_motion": self.base_motion}
        return {name: value for name, value in given.items() if value is not None}


class Derived(NamedTuple):
    """Derivatives (..., nv, 3 nv) of q and v after a step, by (δq, δv, δτ), and the acceleration (..., nv) at its start."""

    dq: Array
    dv: Array
    acceleration: JointVector


StepDerivatives = Callable[[Drive, Array, JointVector, Any], Derived]  # of drive, q, v and the step h, s


def euler(drive: Drive, q: Array, v: JointVector, h: Any) -> Derived:
    """Derivatives of q ⊕ h v and v + h a(q, v)."""
    dq, dv, dtau = drive.start
    at = drive.rates(q, v)
    return Derived(_moved(drive.robot, h * v, dq, h * dv), dv + h * at.along(dq, dv, dtau), at.a)


def semi_implicit_euler(drive: Drive, q: Array, v: JointVector, h: Any) -> Derived:
    """Derivatives of v⁺ = v + h a(q, v) and q ⊕ h v⁺."""
    dq, dv, dtau = drive.start
    at = drive.rates(q, v)
    v_new, dv_new = v + h * at.a, dv + h * at.along(dq, dv, dtau)
    return Derived(_moved(drive.robot, h * v_new, dq, h * dv_new), dv_new, at.a)


def rk4(drive: Drive, q: Array, v: JointVector, h: Any) -> Derived:
    """Derivatives of the classical Runge–Kutta step on the increment u of q ⊕ u [MK99]."""
    robot, (dq, dv, dtau) = drive.robot, drive.start
    at = drive.rates(q, v)
    k, a = v, at.a
    dk, da = dv, at.along(dq, dv, dtau)
    u, du, dv_new = h / 6.0 * k, h / 6.0 * dk, dv + h / 6.0 * da
    for reach, weight in ((0.5, 2.0), (0.5, 2.0), (1.0, 1.0)):
        u_i, du_i = reach * h * k, reach * h * dk
        v_i, dv_i = v + reach * h * a, dv + reach * h * da
        q_i, dq_i = integrate(robot, q, u_i), _moved(robot, u_i, dq, du_i)
        k, dk = increment_rate(robot, u_i, v_i), rate_derivative(robot, u_i, v_i, du_i, dv_i)
        there = drive.rates(q_i, v_i)
        a, da = there.a, there.along(dq_i, dv_i, dtau)
        u, du, dv_new = u + weight * h / 6.0 * k, du + weight * h / 6.0 * dk, dv_new + weight * h / 6.0 * da
    return Derived(_moved(robot, u, dq, du), dv_new, at.a)


DERIVATIVES: dict[str, StepDerivatives] = {"semi_implicit_euler": semi_implicit_euler, "euler": euler, "rk4": rk4}


def _moved(robot: Robot, u: Array, dq: Array, du: Array) -> Array:
    """The derivative of q ⊕ u, in the tangent coordinates there."""
    return matmul(transport(robot, u), dq) + matmul(increment_jacobian(robot, u), du)


def rate_derivative(robot: Robot, u: Array, v: Array, du: Array, dv: Array) -> Array:
    """The derivative of J_r(u)⁻¹ v."""
    return matmul(increment_rate_by_increment(robot, u, v), du) + matmul(increment_jacobian_inverse(robot, u), dv)


def drift_of_displacement(robot: Robot, v: JointVector) -> JointMatrix:
    """−ad(v), how a displacement that moves along turns in the axes of the moving links; 0 for joints with one number.

    ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    return joint_by_joint(robot, zeros(robot.nv, robot.nv), lambda V: -lie.ad(V), v)


def transport(robot: Robot, u: JointVector) -> JointMatrix:
    """Ad(e^−u), ∂(q ⊕ u)/∂q. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return joint_by_joint(robot, identity(robot.nv), lambda U: lie.Ad(se3.exp(-U)), u)


def increment_jacobian(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u), ∂(q ⊕ u)/∂u. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return joint_by_joint(robot, identity(robot.nv), se3.right_jacobian, u)


def increment_jacobian_inverse(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u)⁻¹, ∂/∂v of `increment_rate`. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return joint_by_joint(robot, identity(robot.nv), se3.right_jacobian_inverse, u)


def increment_rate_by_increment(robot: Robot, u: JointVector, v: JointVector) -> JointMatrix:
    """∂(J_r(u)⁻¹ v)/∂u, 0 for joints with one number.

    ``u`` (..., nv), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    zero = zeros(robot.nv, robot.nv)
    return joint_by_joint(robot, zero, _twist_rate_by_increment, u, v)


def _twist_rate_by_increment(U: Array, V: Array) -> Array:
    kernel = _rate_by_increment()
    if isinstance(U, TracedArray) or isinstance(V, TracedArray):
        (found,) = inline(kernel.program, {"U": U, "V": V}).values()
        return found
    return kernel(U, V)


def joint_by_joint(robot: Robot, others: Array, on_twists: Callable[..., Array], *vectors: JointVector) -> JointMatrix:
    """Block diagonal S X Sᵀ with X = on_twists(Sᵀ u, …); ``others`` (nv, nv) where joints have one number."""
    if robot.structure.has_plain_velocities:
        return others
    rows = []
    for c, kind in robot.structure.blocks:
        at, S = c.v, kind.rows
        if S is None:
            rows.append(others[at])
            continue
        X = matmul(S, matmul(on_twists(*(matmul(x[..., None, at], S)[..., 0, :] for x in vectors)), transpose(S)))
        before, after = zeros(len(S), at.start), zeros(len(S), robot.nv - at.stop)
        rows.append(concat([before, X, after]))
    return concat(rows, axis=-2)


@lru_cache(maxsize=1)
def _rate_by_increment() -> Kernel:
    """The kernel of ∂(J_r(U)⁻¹ V)/∂U on twists, which knows every smaller group too."""
    body = assemble([Joint(name="float", kind="free", inertia=Inertia.sphere(1.0, mass=1.0))], name="one body")
    return derivative(_twist_rate, body, {"U": (6,), "V": (6,)}, wrt="U")


def _twist_rate(robot: Robot, U: Array, V: Array) -> Array:
    return matvec(se3.right_jacobian_inverse(U), V)
