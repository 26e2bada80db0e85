"""Derivatives of inverse dynamics by configuration, velocity and acceleration, in O(n d) for a tree of depth d.

All quantities in the axes of the root link, taken at rest, about its origin. With V_p, A_p the twist and acceleration (less
gravity) of joint j's parent, J_j its screws, G and B the inertia and body-level Coriolis matrix of all links that joint i
moves, F_i the wrench through it [SRW22, (22)–(25)]::

    Ψ̇_j = [V_p, J_j],     Ψ̈_j = [A_p, J_j] + [V_p, Ψ̇_j]
    ∂τ_i/∂q_j = J_iᵀ (2 B_i Ψ̇_j + G_i Ψ̈_j)                              j carries i, or is it
    ∂τ_j/∂q_i = J_jᵀ (2 B_i Ψ̇_i + G_i Ψ̈_i − ad(J_i)ᵀ F_i)               j carries i
    ∂τ_i/∂v_j = J_iᵀ (2 B_i J_j + G_i (Ψ̇_j + J̇_j)),   ∂τ_j/∂v_i = J_jᵀ (2 B_i J_i + G_i (Ψ̇_i + J̇_i))
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import concat, identity, matmul, parts, reshape, transpose
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.friction import friction_slopes
from torsor.mechanics.dynamics.springs import plus_stiffness
from torsor.mechanics.recursions.acceleration_tree import AccelerationTree, acceleration_tree, mass_matrix_of
from torsor.mechanics.recursions.joint_motion import Blocks, by_joints, gather_matrix
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.mechanics.recursions.velocity_tree import CoriolisAction
from torsor.model import Robot


@in_one_line
class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of joint forces: ``.q`` is ∂τ/∂q, ``.v`` is ∂τ/∂v and ``.a`` is ∂τ/∂a = M, each (..., nv, nv).

    ∂/∂q is along the tangent coordinates v, on the body side.
    """

    q: JointMatrix
    v: JointMatrix
    a: JointMatrix


def inverse_dynamics_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> InverseDynamicsDerivatives:
    """∂τ/∂q, ∂τ/∂v and ∂τ/∂a of inverse dynamics, exact, with armature, friction, springs and wrenches [PBP95, §5; SRW22].

    For every joint kind, ∂/∂q along the tangent coordinates v on the body side. A wrench is held constant in its frame. The
    sign of Coulomb friction without a width has no derivative and counts as none.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three matrices (..., nv, nv)
        N·m or N per rad, m and their rates.
    """
    tree = acceleration_tree(robot, q, v, a, wrenches, base_motion)
    dq, dv = Blocks(), Blocks()
    for i, (momentum, back, by_q, by_v) in enumerate(_of_joints(robot, tree)):
        for j in robot.structure.path_to_base(i):
            dq[i, j] = matmul(back, transpose(tree.Psi[j][..., :3])) + matmul(momentum, transpose(tree.Psi_dot[j]))
            dv[i, j] = matmul(back, transpose(tree.J[j][..., :3])) + matmul(momentum, transpose(tree.Phi[j]))
            if j != i:
                dq[j, i] = matmul(tree.J[j], transpose(by_q))
                dv[j, i] = matmul(tree.J[j], transpose(by_v))
    return InverseDynamicsDerivatives(
        plus_stiffness(robot, gather_matrix(robot, dq)),
        gather_matrix(robot, dv) + identity(robot.nv) * friction_slopes(robot, v)[..., None, :],
        mass_matrix_of(robot, tree),
    )


def _of_joints(robot: Robot, tree: AccelerationTree) -> list[list[Array]]:
    """Of each joint G J, the moment of 2 Bᵀ J, 2 B Ψ̇ + G Ψ̈ − ad(J)ᵀ F and 2 B J + G (Ψ̇ + J̇), rows (..., k, 6) or (..., k, 3)."""
    rows = [_row(tree, i) for i in range(robot.n)]
    found = by_joints(robot, _of_freedoms, rows)
    return [[of_joint[..., part] for part in parts(6, 3, 6, 6)] for of_joint in found]


def _row(tree: AccelerationTree, i: int) -> Array:
    """J, Ψ̇, Ψ̈ and Φ of joint i, with F, G and 2 B of what it moves (..., k, 52)."""
    G, B = tree.bodies[i]
    twists = concat([x[i] for x in (tree.J, tree.Psi, tree.Psi_dot, tree.Phi)])
    same = concat([tree.F[i], G, B.p, reshape(B.E, 2, 9)])
    return concat([twists, same[..., None, :]])


def _of_freedoms(rows: Array) -> Array:
    """The same of single freedoms, from what `_row` has of each."""
    J, Psi, Psi_dot, Phi, F, G, p, E = (rows[..., part] for part in parts(6, 6, 6, 6, 6, 10, 3, 9))
    B = CoriolisAction(reshape(E, 1, 3, 3), p)
    by_q = B.on(Psi) + lie.apply_inertia(G, Psi_dot) - lie.bracket_dual(J, F)
    return concat([lie.apply_inertia(G, J), B.transposed_on(J), by_q, B.on(J) + lie.apply_inertia(G, Phi)])
