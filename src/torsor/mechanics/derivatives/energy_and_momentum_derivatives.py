"""Derivatives of energy and momentum by configuration and velocity: in O(n), of the generalised momentum in O(n d) for depth d.

Moving joint k changes the momentum of what is beyond it, and no other (`composite_bodies`): carried from frame k to the base,
∂_k P = G_k Ψ̇_k − ad(S_k)ᵀ P_k and ∂P/∂v_k = G_k S_k. About the centre of mass c, with m the mass of the robot, p its linear
momentum and p_k the linear part of ∂P/∂v_k, for which ∂_k c = p_k / m::

    ∂_k h = (∂_k L − c × ∂_k p − p_k × p / m, ∂_k p)
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import concat, cross, identity, matmul, matvec, transpose, zeros
from torsor.arrays.typing import (
    ConfigurationVector,
    InertiaRow,
    Jacobian,
    JointMatrix,
    JointVector,
    Pose,
    Twist,
    Wrench,
)
from torsor.lie import unchecked as lie
from torsor.lie.unchecked.se3 import rotation
from torsor.mechanics.dynamics.energy import link_momenta
from torsor.mechanics.dynamics.mass_matrix import composite_inertias
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.momentum.spatial_momentum_matrix import about
from torsor.mechanics.recursions.first_moments import centre, total_mass
from torsor.mechanics.recursions.joint_motion import (
    Blocks,
    gather_matrix,
    gather_vector,
    joint_poses,
    joint_screws,
    joint_twist,
)
from torsor.mechanics.recursions.newton_euler import accumulate
from torsor.mechanics.recursions.supporting_chain import jacobian_of, rows
from torsor.mechanics.recursions.velocity_tree import roots
from torsor.model import Robot


class CompositeBodies(NamedTuple):
    """Per joint: pose in the parent; screws S and Ψ̇ (..., k, 6); inertia row G and momentum P of all links beyond it."""

    T_pi: list[Pose]
    S: list[Twist]
    Psi: list[Twist]
    G: list[InertiaRow]
    P: list[Wrench]

    def momentum(self, k: int) -> Wrench:
        """G_k S_k, rows (..., k, 6)."""
        return lie.apply_inertia(self.G[k][..., None, :], self.S[k])

    def momentum_derivative(self, k: int) -> Wrench:
        """G_k Ψ̇_k − ad(S_k)ᵀ P_k, rows (..., k, 6)."""
        by_twist = lie.apply_inertia(self.G[k][..., None, :], self.Psi[k])
        return by_twist - lie.bracket_dual(self.S[k], self.P[k][..., None, :])


def composite_bodies(robot: Robot, q: ConfigurationVector, v: JointVector) -> CompositeBodies:
    """All of a robot's composite bodies in motion."""
    T_pi = joint_poses(robot, q)
    V, P = link_momenta(robot, T_pi, v)
    S = [joint_screws(robot, i) for i in range(robot.n)]
    Psi = []
    for i, V_i in enumerate(V):
        V_p = V_i if S[i].shape[0] == 1 else V_i - joint_twist(robot, i, v)  # one screw commutes with itself
        Psi.append(lie.bracket(V_p[..., None, :], S[i]))
    return CompositeBodies(T_pi, S, Psi, composite_inertias(robot, T_pi), accumulate(robot, T_pi, P))


@in_one_line
class EnergyDerivatives(NamedTuple):
    """∂T/∂q and ∂T/∂v = p, the generalised momentum (..., nv); ∂/∂q along the tangent coordinates v, on the body side."""

    q: JointVector
    v: JointVector


def kinetic_energy_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> EnergyDerivatives:
    """∂T/∂q and ∂T/∂v of kinetic energy, the two terms of Lagrange's equations [LP, (9.59); Kool04, (8); SRW22, (22)].

    Seen from the links beyond it, moving joint k along v_k changes their twists by Ψ̇_k = [V_p, S_k], V_p the twist of its parent;
    with P_k their momentum, all in frame k (`composite_bodies`)::

        ∂T/∂q_k = Ψ̇_kᵀ P_k,     ∂T/∂v_k = S_kᵀ P_k + armature · v_k

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    two vectors (..., nv)
        J per rad or m and kg·m²/s or kg·m/s.
    """
    bodies = composite_bodies(robot, q, v)
    dq, dv = ([matvec(x, P) for x, P in zip(screws, bodies.P, strict=True)] for screws in (bodies.Psi, bodies.S))
    return EnergyDerivatives(gather_vector(robot, dq), gather_vector(robot, dv) + robot.parameters.armature * v)


@in_one_line
class MomentumDerivatives(NamedTuple):
    """∂p/∂q and ∂p/∂v = M (..., nv, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    q: JointMatrix
    v: JointMatrix


def generalised_momentum_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> MomentumDerivatives:
    """∂p/∂q and ∂p/∂v = M of the generalised momentum p = M(q) v [Kool04, (8); SRW22, (22)–(25)].

    In frame i: S_i the screws of joint i, V_p the twist of its parent, Ψ̇_i = [V_p, S_i]; G_i and P_i the inertia and momentum of
    all links beyond it. Where joint j carries joint i, with both momenta G_i S_i and dP_i carried to frame j::

        dP_i = G_i Ψ̇_i − ad(S_i)ᵀ P_i
        ∂p_i/∂q_j = Ψ̇_jᵀ G_i S_i  (j = i too),     ∂p_j/∂q_i = S_jᵀ dP_i,     M_ij = S_jᵀ G_i S_i

    The rate of p along a motion is ∂p/∂q v + M a; ∂p/∂q v = Ṁ v.

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
        kg·m²/s, kg·m/s, … and kg·m², kg·m or kg.
    """
    bodies = composite_bodies(robot, q, v)
    dq, dv = Blocks(), Blocks()
    for i in range(robot.n):
        momentum, turned = bodies.momentum(i), bodies.momentum_derivative(i)
        for j in robot.structure.path_to_base(i):
            S = bodies.S[j]
            dq[i, j] = matmul(momentum, transpose(bodies.Psi[j]))
            dv[i, j] = matmul(momentum, transpose(S))
            if j != i:
                dq[j, i] = matmul(S, transpose(turned))
                dv[j, i] = transpose(dv[i, j])
            momentum = lie.transform_wrench_inverse(rows(bodies.T_pi[j]), momentum)
            turned = lie.transform_wrench_inverse(rows(bodies.T_pi[j]), turned)
    M = gather_matrix(robot, dv) + identity(robot.nv) * robot.parameters.armature
    return MomentumDerivatives(gather_matrix(robot, dq), M)


@in_one_line
class SpatialMomentumDerivatives(NamedTuple):
    """∂P/∂q and ∂P/∂v, the momentum matrix (..., 6, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    q: Jacobian
    v: Jacobian


def spatial_momentum_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> SpatialMomentumDerivatives:
    """∂P/∂q and ∂P/∂v, the momentum matrix, of the robot's momentum about the base origin [SRW22, (22); Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    two matrices (..., 6, nv)
        kg·m²/s, kg·m/s, … per unit of v.
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

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    two matrices (..., 6, nv)
        kg·m²/s, kg·m/s, … per unit of v; NaN for a robot without mass.
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
