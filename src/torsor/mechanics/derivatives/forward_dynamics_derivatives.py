"""Derivatives of forward dynamics by configuration, velocity and joint forces: those of inverse dynamics, through M⁻¹.

Along a = FD(q, v, τ) the equation ID(q, v, a) = τ holds identically, so that M ∂a + ∂ID = ∂τ [CM18]::

    ∂a/∂q = −M⁻¹ ∂ID/∂q,     ∂a/∂v = −M⁻¹ ∂ID/∂v,     ∂a/∂τ = M⁻¹
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import factor, inverse, matmul, matvec, zeros
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import (
    InverseDynamicsDerivatives,
    inverse_dynamics_derivatives,
)
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.recursions.acceleration_tree import acceleration_tree, mass_matrix_of
from torsor.mechanics.recursions.joint_motion import gather_vector
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular


@in_one_line
class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of accelerations: ``.q`` is ∂a/∂q, ``.v`` is ∂a/∂v and ``.tau`` is ∂a/∂τ = M⁻¹, each (..., nv, nv).

    ∂/∂q is along the tangent coordinates v, on the body side.
    """

    q: JointMatrix
    v: JointMatrix
    tau: JointMatrix


def forward_dynamics_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> ForwardDynamicsDerivatives:
    """∂a/∂q, ∂a/∂v and ∂a/∂τ of forward dynamics, exact, with armature, friction, springs and wrenches [CM18; SRW22].

    For every joint kind, ∂/∂q along the tangent coordinates v on the body side. A wrench is held constant in its frame. The
    sign of Coulomb friction without a width has no derivative and counts as none.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three matrices (..., nv, nv)
        rad/s² or m/s² per rad, m, their rates, N·m or N. Where the mass matrix is singular they are NaN, but for entries that
        do not go through its inverse and are 0 in every state of the robot.
    """
    a, M_inverse = acceleration_and_inverse(robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)
    by_inverse = inverse_dynamics_derivatives(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    return through_inverse(M_inverse, by_inverse)


class AccelerationAndInverse(NamedTuple):
    """a (..., nv) of forward dynamics, and M⁻¹ (..., nv, nv)."""

    a: JointVector
    M_inverse: JointMatrix


def acceleration_and_inverse(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> AccelerationAndInverse:
    """a of forward dynamics and M⁻¹, in the axes of the derivatives of inverse dynamics, which share their parts."""
    at_rest = acceleration_tree(robot, q, v, zeros(robot.nv), wrenches, base_motion)
    bias = gather_vector(robot, [matvec(J, F) for J, F in zip(at_rest.J, at_rest.F, strict=True)])
    bias = plus_springs(robot, q, bias)
    M_inverse = inverse(factor(mass_matrix_of(robot, at_rest), guarded=may_be_singular(robot)))
    return AccelerationAndInverse(matvec(M_inverse, tau - bias - friction_forces(robot, v)), M_inverse)


def through_inverse(M_inverse: JointMatrix, by_inverse: InverseDynamicsDerivatives) -> ForwardDynamicsDerivatives:
    """From M⁻¹ and the derivatives of inverse dynamics at the acceleration of forward dynamics."""
    less = -M_inverse
    return ForwardDynamicsDerivatives(matmul(less, by_inverse.q), matmul(less, by_inverse.v), M_inverse)
