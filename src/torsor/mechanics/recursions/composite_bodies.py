"""Each link with all links beyond it as one body in motion, in the link's own frame; summed from the leaves inwards.

Moving joint k along v_k, with all velocities kept, turns the momentum P_k of what is beyond it with the screw S_k, and changes
the twists there by Ψ̇_k = [V_p, S_k], V_p the twist of the joint's parent [SRW22, (22)]::

    ∂_k P_k = G_k Ψ̇_k − ad(S_k)ᵀ P_k,     ∂P_k/∂v_k = G_k S_k
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays.typing import ConfigurationVector, InertiaRow, JointVector, Pose, Twist, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.energy import link_momenta
from torsor.mechanics.dynamics.mass_matrix import composite_inertias
from torsor.mechanics.recursions.joint_motion import joint_poses, joint_screws, joint_twist
from torsor.mechanics.recursions.newton_euler import accumulate
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
