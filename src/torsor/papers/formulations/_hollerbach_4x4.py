"""Hollerbach's recursive Lagrangian with 4×4 matrices: (1.2) in O(n).

With W_i = W_p A_i, primes for derivatives by the joint's own variable, c over the children of i [Hol80; Sil81, §1.4]::

    Ẇ_i = Ẇ_p A_i + W_p A′_i q̇_i                                                    root to leaves
    Ẅ_i = Ẅ_p A_i + 2 Ẇ_p A′_i q̇_i + W_p A″_i q̇_i² + W_p A′_i q̈_i
    D_i = J_i Ẅ_iᵀ + Σ_c A_c D_c,     c_i = m_i r_i + Σ_c A_c c_c                   leaves to root
    τ_i = tr(∂W_i/∂q_i D_i) − gᵀ ∂W_i/∂q_i c_i
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import dot, matmul, matvec, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.border import checked
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.papers.formulations.links import (
    Model,
    derivative_by_own_joint,
    joint_forces,
    matrix_model,
    matrix_rates,
    trace_of_product,
)


@checked
def hollerbach_4x4(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by the recursive Lagrangian with 4×4 matrices, O(n) [Hol80; Sil81, §1.4].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping from str to (..., 6) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m, N.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N, as `torsor.inverse_dynamics`.
    """
    return joint_forces(hollerbach_4x4_core, matrix_model, robot, q, v, a, wrenches)


def hollerbach_4x4_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """The recursion on given A, A′, A″, J."""
    (g,) = model.base
    rates = matrix_rates(model, v, a)
    D = [matmul(link.J, transpose(W_dd)) for link, W_dd in zip(model.links, rates.W_dd, strict=True)]
    c = [link.J[..., :, 3] for link in model.links]  # (m r, m), the last column of the pseudo-inertia
    tau: list[Scalar] = [None] * len(D)
    for i in range(len(D) - 1, -1, -1):
        dW = derivative_by_own_joint(model, rates, i)
        tau[i] = trace_of_product(dW, transpose(D[i])) - dot(g, matvec(dW, c[i]))
        if (p := model.parents[i]) >= 0:
            A = model.links[i].A
            D[p] = D[p] + matmul(A, D[i])
            c[p] = c[p] + matvec(A, c[i])
    return tau
