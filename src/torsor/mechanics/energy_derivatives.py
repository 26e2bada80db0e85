"""Derivatives of kinetic energy by configuration and velocity, in O(n)."""

from __future__ import annotations

from typing import NamedTuple

from torsor import lie
from torsor.arrays.typing import ConfigurationVector, JointVector, Twist
from torsor.mechanics.joint_motion import gather_vector, joint_poses, joint_twist, project_on_joint
from torsor.mechanics.newton_euler import accumulate, link_motion
from torsor.model import Robot


class EnergyDerivatives(NamedTuple):
    """∂T/∂q and ∂T/∂v = p, the generalised momentum (..., nv); ∂/∂q along the tangent coordinates v, on the body side."""

    dq: JointVector
    dv: JointVector


def kinetic_energy_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> EnergyDerivatives:
    """∂T/∂q and ∂T/∂v of kinetic energy, the two terms of Lagrange's equations [LP, (9.59); Kool04, (8); SRW22, (22)].

    Seen from the links beyond it, moving joint k along v_k changes their twists by [V_p, S_k], V_p the twist of its parent; with
    P_k their momentum, all in frame k::

        ∂T/∂q_k = [V_p, S_k]ᵀ P_k = S_kᵀ ad(V_p)ᵀ P_k,     ∂T/∂v_k = S_kᵀ P_k + armature · v_k

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns two vectors (..., nv), J per rad or m and kg·m²/s or kg·m/s.
    """
    T_pi = joint_poses(robot, q)
    V: list[Twist] = link_motion(robot, T_pi, v, None, gravity=False, base_motion=None)[0]
    P = accumulate(
        robot, T_pi, [lie.apply_inertia(G, V_i) for G, V_i in zip(robot.parameters.inertias, V, strict=True)]
    )
    dq, dv = [], []
    for i, (V_i, P_i) in enumerate(zip(V, P, strict=True)):
        # One screw commutes with itself, so that the link's own twist serves as its parent's.
        several = robot.structure.coordinate_of(i).nv > 1
        V_p = V_i - joint_twist(robot, i, v) if several else V_i
        dq.append(project_on_joint(robot, i, lie.bracket_dual(V_p, P_i)))
        dv.append(project_on_joint(robot, i, P_i))
    return EnergyDerivatives(gather_vector(robot, dq), gather_vector(robot, dv) + robot.parameters.armature * v)
