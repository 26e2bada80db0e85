"""The curvature that a motion meets: the operator of Jacobi's equation."""

from __future__ import annotations

from torsor.arrays import matmul, matvec
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector
from torsor.geometry.curvature import curvature_of, tensor_of
from torsor.geometry.inertia_metric import InertiaMetric, inertia_metric
from torsor.model import Robot


def jacobi_operator(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointMatrix:
    """K(q, v) with K ξ = R(ξ, v) v, so that D²ξ/dt² = −K ξ for geodesics side by side [dC92, ch. 5, (1); PBP95, (66)].

    M K is symmetric, K v = 0, and ξᵀ M K ξ is the curvature of the plane of ξ and v, times its squared area. Where it is
    positive, motions that start side by side draw together. Also called the tidal or the directional curvature operator.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv, nv) array
        1/s² between rotations; NaN where M is singular.
    """
    return jacobi_operator_of(inertia_metric(robot, q, 0.5), v)


def jacobi_operator_of(half: InertiaMetric, v: JointVector) -> JointMatrix:
    """K^i_k = Σ m^ih R_hjkl v^j v^l from half the metric."""
    entries, _, M_inverse = curvature_of(half)
    R = tensor_of(entries, M_inverse.shape[-1])
    return matmul(M_inverse, _twice(R, v))


def _twice(R: JointMatrix, v: JointVector) -> JointMatrix:
    """Σ R_hjkl v^j v^l at [h, k]."""
    last = matvec(R, v[..., None, None, :])  # [h, j, k]
    return matvec(last.swapaxes(-1, -2), v[..., None, :])
