"""Derivatives of kinetic energy by configuration and velocity, in O(n)."""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import matvec
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.mechanics.recursions.composite_bodies import composite_bodies
from torsor.mechanics.recursions.joint_motion import gather_vector
from torsor.model import Robot


class EnergyDerivatives(NamedTuple):
    """∂T/∂q and ∂T/∂v = p, the generalised momentum (..., nv); ∂/∂q along the tangent coordinates v, on the body side."""

    dq: JointVector
    dv: JointVector


def kinetic_energy_derivatives(robot: Robot, q: ConfigurationVector, v: JointVector) -> EnergyDerivatives:
    """∂T/∂q and ∂T/∂v of kinetic energy, the two terms of Lagrange's equations [LP, (9.59); Kool04, (8); SRW22, (22)].

    Seen from the links beyond it, moving joint k along v_k changes their twists by Ψ̇_k = [V_p, S_k], V_p the twist of its parent;
    with P_k their momentum, all in frame k (`composite_bodies`)::

        ∂T/∂q_k = Ψ̇_kᵀ P_k,     ∂T/∂v_k = S_kᵀ P_k + armature · v_k

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns two vectors (..., nv), J per rad or m and kg·m²/s or kg·m/s.
    """
    bodies = composite_bodies(robot, q, v)
    dq, dv = ([matvec(x, P) for x, P in zip(screws, bodies.P, strict=True)] for screws in (bodies.Psi, bodies.S))
    return EnergyDerivatives(gather_vector(robot, dq), gather_vector(robot, dv) + robot.parameters.armature * v)
