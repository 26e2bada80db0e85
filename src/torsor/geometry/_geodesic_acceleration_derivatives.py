"""Derivatives of the acceleration of free motions: how geodesics that start side by side come apart.

They are the derivatives of forward dynamics of the robot left alone, without gravity, friction and springs, through M⁻¹. Armature
that turns with a joint adds the derivative of its gyroscopic forces, ⟨[v, e_k], A v⟩, which Coriolis forces leave out.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import identity, matmul, matvec, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.geometry._covariant_derivative import left_alone
from torsor.geometry.freedoms import structure_constants
from torsor.mechanics.derivatives.forward_dynamics_derivatives import acceleration_and_inverse
from torsor.mechanics.derivatives.inverse_dynamics_derivatives import inverse_dynamics_derivatives
from torsor.model import Robot


@in_one_line
class GeodesicAccelerationDerivatives(NamedTuple):
    """Derivatives of the acceleration of free motions: ``.q`` is ∂a/∂q and ``.v`` is ∂a/∂v, each (..., nv, nv).

    ∂/∂q is along the tangent coordinates v, on the body side.
    """

    q: JointMatrix
    v: JointMatrix


def geodesic_acceleration_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector
) -> GeodesicAccelerationDerivatives:
    """∂a/∂q and ∂a/∂v of a = −Γ(v, v), the acceleration of `geodesic_acceleration`, exact [CM18; Alt04, (6), (7)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    two matrices (..., nv, nv)
        rad/s² or m/s² per rad, m, or their rates; NaN where M is singular.
    """
    alone, s = left_alone(robot), structure_constants(robot.structure)
    gyroscopic = 0.0 * v if s is None else _gyroscopic_forces(s, robot.parameters.armature, v)
    a, M_inverse = acceleration_and_inverse(alone, q, v, gyroscopic)
    by_inverse = inverse_dynamics_derivatives(alone, q, v, a)
    by_v = by_inverse.v if s is None else by_inverse.v - _gyroscopic_slopes(s, robot.parameters.armature, v)
    return GeodesicAccelerationDerivatives(-matmul(M_inverse, by_inverse.q), -matmul(M_inverse, by_v))


def _gyroscopic_forces(s: Array, A: Array, v: JointVector) -> JointVector:
    """⟨[v, e_k], A v⟩ = Σ s_ik^r v_i A_r v_r for all k."""
    return matvec(transpose(matvec(s, (A * v)[..., None, :])), v)


def _gyroscopic_slopes(s: Array, A: Array, v: JointVector) -> JointMatrix:
    """Their derivatives by v_m, at [k, m]: Σ_r s_mk^r A_r v_r + Σ_i s_ik^m v_i A_m."""
    first = transpose(matvec(s, (A * v)[..., None, :]))  # [k, m]
    second = matmul(s.swapaxes(0, 1).swapaxes(1, 2), identity(len(s)))  # [k, m, i]
    return first + matvec(second, v[..., None, :]) * A
