"""How displacements of a configuration are carried along: the derivatives of ⊕ and of its increment, joint by joint.

Displacements are body-side, q ⊕ δ. The velocities of planar, spherical and free joints span a subalgebra of the twists, with
screws S as basis; on it the maps of SE(3) act, X restricted as S X Sᵀ. For all other joints they are 1, or 0 where said::

    (q ⊕ δ) ⊕ (u + δu) = (q ⊕ u) ⊕ (Ad(e^−u) δ + J_r(u) δu)      to first order [Bar17, (7.87)]
    δ̇ = δv − ad(v) δ                                             for q ⊕ δ with the velocity v + δv
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from torsor.arrays import matvec
from torsor.arrays.typing import Array, JointMatrix, JointVector, Twist
from torsor.compiler.kernel import Kernel
from torsor.functions.derivative import derivative
from torsor.lie import unchecked as lie
from torsor.lie.unchecked import se3
from torsor.model import Inertia, Joint, Robot, assemble


def drift_of_displacement(robot: Robot, v: JointVector) -> JointMatrix:
    """−ad(v), how a displacement that moves along turns in the axes of the moving links; 0 for joints with one number.

    ``v`` (..., nv), rad/s or m/s. Returns (..., nv, nv), 1/s.
    """
    return _joint_by_joint(robot, np.zeros((robot.nv, robot.nv)), lambda V: -lie.ad(V), v)


def transport(robot: Robot, u: JointVector) -> JointMatrix:
    """Ad(e^−u), ∂(q ⊕ u)/∂q. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), lambda U: lie.Ad(se3.exp(-U)), u)


def increment_jacobian(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u), ∂(q ⊕ u)/∂u. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian, u)


def increment_jacobian_inverse(robot: Robot, u: JointVector) -> JointMatrix:
    """J_r(u)⁻¹, ∂/∂v of `increment_rate`. ``u`` (..., nv), rad or m. Returns (..., nv, nv)."""
    return _joint_by_joint(robot, np.eye(robot.nv), se3.right_jacobian_inverse, u)


def increment_rate_by_increment(robot: Robot, u: JointVector, v: JointVector) -> JointMatrix:
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
