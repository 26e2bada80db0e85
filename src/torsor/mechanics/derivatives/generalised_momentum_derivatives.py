"""Derivatives of the generalised momentum p = M v by configuration and velocity, in O(n d) for a tree of depth d."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import identity, matmul, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.composite_bodies import composite_bodies
from torsor.mechanics.recursions.joint_motion import gather_matrix
from torsor.mechanics.recursions.supporting_chain import rows
from torsor.model import Robot


class MomentumDerivatives(NamedTuple):
    """∂p/∂q and ∂p/∂v = M (..., nv, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    dq: JointMatrix
    dv: JointMatrix


def generalised_momentum_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> MomentumDerivatives:
    """∂p/∂q and ∂p/∂v = M of the generalised momentum p = M(q) v [Kool04, (8); SRW22, (22)–(25)].

    In frame i: S_i the screws of joint i, V_p the twist of its parent, Ψ̇_i = [V_p, S_i]; G_i and P_i the inertia and momentum of
    all links beyond it. Where joint j carries joint i, with both momenta G_i S_i and dP_i carried to frame j::

        dP_i = G_i Ψ̇_i − ad(S_i)ᵀ P_i
        ∂p_i/∂q_j = Ψ̇_jᵀ G_i S_i  (j = i too),     ∂p_j/∂q_i = S_jᵀ dP_i,     M_ij = S_jᵀ G_i S_i

    The rate of p along a motion is ∂p/∂q v + M a; ∂p/∂q v = Ṁ v.
    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns two matrices (..., nv, nv), kg·m²/s, kg·m/s, … and kg·m²,
    kg·m or kg.
    """
    bodies = composite_bodies(robot, q, v)
    dq: dict[tuple[int, int], Array] = {}
    dv: dict[tuple[int, int], Array] = {}
    for i in range(robot.n):
        momentum, turned = bodies.momentum(i), bodies.momentum_derivative(i)
        j = i
        while j >= 0:
            S = bodies.S[j]
            dq[i, j] = matmul(momentum, transpose(bodies.Psi[j]))
            dv[i, j] = matmul(momentum, transpose(S))
            if j != i:
                dq[j, i] = matmul(S, transpose(turned))
                dv[j, i] = transpose(dv[i, j])
            momentum = lie.transform_wrench_inverse(rows(bodies.T_pi[j]), momentum)
            turned = lie.transform_wrench_inverse(rows(bodies.T_pi[j]), turned)
            j = robot.structure.parents[j]
    M = gather_matrix(robot, dv) + identity(robot.nv) * robot.parameters.armature
    return MomentumDerivatives(gather_matrix(robot, dq), M)
