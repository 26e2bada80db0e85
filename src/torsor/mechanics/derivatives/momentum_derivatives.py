"""Derivatives of the momentum of the whole robot by configuration and velocity, in O(n).

Moving joint k changes the momentum of what is beyond it, and no other (`composite_bodies`): carried from frame k to the base,
∂_k P = G_k Ψ̇_k − ad(S_k)ᵀ P_k and ∂P/∂v_k = G_k S_k. About the centre of mass c, with m the mass of the robot, p its linear
momentum and p_k the linear part of ∂P/∂v_k, for which ∂_k c = p_k / m::

    ∂_k h = (∂_k L − c × ∂_k p − p_k × p / m, ∂_k p)
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, cross, matvec, zeros
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointVector, Wrench
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.momentum.spatial_momentum_matrix import about
from torsor.mechanics.recursions.composite_bodies import composite_bodies
from torsor.mechanics.recursions.first_moments import centre, total_mass
from torsor.mechanics.recursions.root_axes import roots
from torsor.mechanics.recursions.supporting_chain import jacobian_of, rows
from torsor.model import Robot


class SpatialMomentumDerivatives(NamedTuple):
    """∂P/∂q and ∂P/∂v, the momentum matrix (..., 6, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    dq: Jacobian
    dv: Jacobian


def spatial_momentum_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> SpatialMomentumDerivatives:
    """∂P/∂q and ∂P/∂v, the momentum matrix, of the robot's momentum about the base origin [SRW22, (22); Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns two matrices (..., 6, nv), kg·m²/s, kg·m/s, … per unit of v.
    """
    bodies = composite_bodies(robot, q, v)
    dq: dict[int, Wrench] = {}
    dv: dict[int, Wrench] = {}
    for k, T_0k in enumerate(poses_in_base(robot, q)):
        dq[k] = lie.transform_wrench_inverse(rows(T_0k), bodies.momentum_derivative(k))
        dv[k] = lie.transform_wrench_inverse(rows(T_0k), bodies.momentum(k))
    return SpatialMomentumDerivatives(jacobian_of(robot, dq), jacobian_of(robot, dv))


def centroidal_momentum_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> SpatialMomentumDerivatives:
    """∂h/∂q and ∂h/∂v, the centroidal momentum matrix, of the momentum about the centre of mass [SRW22, (22); LP, (9.25)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns two matrices (..., 6, nv), kg·m²/s, kg·m/s, … per unit of v;
    NaN for a robot without mass.
    """
    bodies, T_0i = composite_bodies(robot, q, v), poses_in_base(robot, q)
    c, velocity = centre(robot, bodies.T_pi)[..., None, :], zeros(1, 3)
    for r in roots(robot):
        velocity = velocity + matvec(rotation(T_0i[r]), bodies.P[r][..., 3:])[..., None, :] / total_mass(robot)
    dq: dict[int, Wrench] = {}
    dv: dict[int, Wrench] = {}
    for k, T_0k in enumerate(T_0i):
        turned = lie.transform_wrench_inverse(rows(T_0k), bodies.momentum_derivative(k))
        column = lie.transform_wrench_inverse(rows(T_0k), bodies.momentum(k))
        dq[k] = about(c, turned) - concat([cross(column[..., 3:], velocity), zeros(3)])
        dv[k] = about(c, column)
    return SpatialMomentumDerivatives(jacobian_of(robot, dq), jacobian_of(robot, dv))
