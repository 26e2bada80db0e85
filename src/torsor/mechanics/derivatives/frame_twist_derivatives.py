"""Derivatives of a frame's twist by configuration and velocity, in O(d) for a frame that d joints carry.

∂_k moves joint k along its own tangent coordinate (body side): everything beyond it moves with the screw J_k. With V_f the
twist of the frame, V_p that of joint k's parent, all in the axes the twist is written in [SRW22, (22)]::

    space    ∂_k V = [J_k, V_f − V_p]                         the twists gained beyond joint k turn with it
    body     ∂_k V = [V_p, J_k]                               seen from the frame, it is the base that turns
    mixed    ∂_k V = [J_k, V_f − V_p] + (0, ω_f × v_k)        the point the twist is referred to moves too: ∂_k p = v_k
                   = (ω_k × (ω_f − ω_p), ω_k × (v_f − v_p) + ω_p × v_k)
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, cross
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointVector
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.newton_euler import BaseMotion
from torsor.mechanics.recursions.supporting_chain import (
    body_screws,
    in_body_axes,
    in_mixed_axes,
    jacobian_of,
    link_twists,
    mixed_screws,
    space_screws,
)
from torsor.model import Robot


class TwistDerivatives(NamedTuple):
    """∂V/∂q and ∂V/∂v = J (..., 6, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    dq: Jacobian
    dv: Jacobian


def space_twist_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> TwistDerivatives:
    """∂V_s/∂q, ∂V_s/∂v = J_s of the space twist of a frame: ∂_k V_s = [J_k, V_f − V_p] [SRW22, (22); Kool04, EK-2].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``base_motion`` as in `inverse_dynamics`. Returns
    two matrices (..., 6, nv), rad/s and m/s per unit of v.
    """
    screws = space_screws(robot, q, frame)
    V = link_twists(robot, screws, v, None if base_motion is None else base_motion[0])
    V_f, dq = V[robot.structure.frame(frame).link], {}
    for k, J in screws.items():
        gained = V_f - V[robot.structure.parents[k]]
        dq[k] = lie.bracket(J, gained[..., None, :])
    return TwistDerivatives(jacobian_of(robot, dq), jacobian_of(robot, screws))


def body_twist_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> TwistDerivatives:
    """∂V_b/∂q, ∂V_b/∂v = J_b of the body twist of a frame: ∂_k V_b = [V_p, J_b,k] in the frame's axes [SRW22, (22); PBP95, (53)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``base_motion`` as in `inverse_dynamics`. Returns
    two matrices (..., 6, nv), rad/s and m/s per unit of v.
    """
    screws = body_screws(robot, q, frame)
    V = link_twists(robot, screws, v, in_body_axes(robot, q, frame, base_motion)[0])
    dq = {k: lie.bracket(V[robot.structure.parents[k]][..., None, :], J) for k, J in screws.items()}
    return TwistDerivatives(jacobian_of(robot, dq), jacobian_of(robot, screws))


def mixed_twist_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> TwistDerivatives:
    """∂(ω, ṗ)/∂q and ∂(ω, ṗ)/∂v = J_m of a frame, in base axes [SRW22, (22); Sil81, (A.2), (A.3)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``base_motion`` as in `inverse_dynamics`. Returns
    two matrices (..., 6, nv), rad/s and m/s per unit of v.
    """
    screws = mixed_screws(robot, q, frame)
    V = link_twists(robot, screws, v, in_mixed_axes(robot, q, frame, base_motion)[0])
    V_f, dq = V[robot.structure.frame(frame).link], {}
    for k, J in screws.items():
        w_k, v_k = J[..., :3], J[..., 3:]
        V_p = V[robot.structure.parents[k]]
        w_p, gained = V_p[..., None, :3], (V_f - V_p)[..., None, :]
        dq[k] = concat([cross(w_k, gained[..., :3]), cross(w_k, gained[..., 3:]) + cross(w_p, v_k)])
    return TwistDerivatives(jacobian_of(robot, dq), jacobian_of(robot, screws))
