"""Derivatives of the twist and the acceleration of a frame that d joints carry, in O(d).

∂_k moves joint k along its own tangent coordinate (body side): everything beyond it moves with the screw J_k. With V_f the
twist of the frame, V_p that of joint k's parent, all in the axes the twist is written in [SRW22, (22)]::

    space    ∂_k V = [J_k, V_f − V_p]                         the twists gained beyond joint k turn with it
    body     ∂_k V = [V_p, J_k]                               seen from the frame, it is the base that turns
    mixed    ∂_k V = [J_k, V_f − V_p] + (0, ω_f × v_k)        the point the twist is referred to moves too: ∂_k p = v_k
                   = (ω_k × (ω_f − ω_p), ω_k × (v_f − v_p) + ω_p × v_k)

With V_f, A_f the twist and spatial acceleration of the frame, V_p, A_p those of joint k's parent and V_k of its link, all in
the axes the acceleration is written in, J = (ω, u) the screws of joint k and Ψ̇ = [V_p, J] = (ψ, φ) [SRW22, (22), (23)]::

    body         ∂A/∂q_k = [A_p, J] + [Ψ̇, V_f − V_p]
    space        ∂A/∂q_k = [J, A_f − A_p] + [Ψ̇, V_f − V_p]         body + [J, A_f]: the axes do not turn with the joint
    both         ∂A/∂v_k = [V_k + V_p − V_f, J],     ∂A/∂a_k = J

Referred to the frame's origin, with (ω_f, v_f) = V_f, (α_f, a_f) = A_f and likewise for p and k, the classical acceleration is
p̈ = a_f + ω_f × v_f, and the derivatives of V_f and A_f in body axes, turned to base axes, give::

    ∂ω̇/∂q_k = ω × (α_f − α_p) + ψ × (ω_f − ω_p),     ∂p̈/∂q_k = ω × (p̈ − a_p) + α_p × u + ψ × (2 v_f − v_p) + ω_p × φ
    ∂ω̇/∂v_k = (ω_k + ω_p − ω_f) × ω,                 ∂p̈/∂v_k = (ω_k + ω_p) × u + ω × (2 v_f − v_k − v_p)
"""

from __future__ import annotations

from typing import NamedTuple

from torsor._reports import in_one_line
from torsor.arrays import concat, cross, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, Jacobian, JointVector, Twist, Vector3
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


@in_one_line
class TwistDerivatives(NamedTuple):
    """∂V/∂q and ∂V/∂v = J (..., 6, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    q: Jacobian
    v: Jacobian


def space_twist_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> TwistDerivatives:
    """∂V_s/∂q, ∂V_s/∂v = J_s of the space twist of a frame: ∂_k V_s = [J_k, V_f − V_p] [SRW22, (22); Kool04, EK-2].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    two matrices (..., 6, nv)
        rad/s and m/s per unit of v.
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

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    two matrices (..., 6, nv)
        rad/s and m/s per unit of v.
    """
    screws = body_screws(robot, q, frame)
    V = link_twists(robot, screws, v, in_body_axes(robot, q, frame, base_motion)[0])
    dq = {k: lie.bracket(V[robot.structure.parents[k]][..., None, :], J) for k, J in screws.items()}
    return TwistDerivatives(jacobian_of(robot, dq), jacobian_of(robot, screws))


def mixed_twist_derivatives(
    robot: Robot, q: ConfigurationVector, v: JointVector, frame: str, *, base_motion: BaseMotion | None = None
) -> TwistDerivatives:
    """∂(ω, ṗ)/∂q and ∂(ω, ṗ)/∂v = J_m of a frame, in base axes [SRW22, (22); Sil81, (A.2), (A.3)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    two matrices (..., 6, nv)
        rad/s and m/s per unit of v.
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


@in_one_line
class AccelerationDerivatives(NamedTuple):
    """∂A/∂q, ∂A/∂v and ∂A/∂a = J (..., 6, nv); ∂/∂q along the tangent coordinates v, on the body side."""

    q: Jacobian
    v: Jacobian
    a: Jacobian


def space_acceleration_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> AccelerationDerivatives:
    """∂/∂q, ∂/∂v and ∂/∂a = J_s of a frame's spatial acceleration in base axes, V̇_s = J_s a + J̇_s v [SRW22, (22), (23)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three matrices (..., 6, nv)
        rad/s² and m/s² per unit of v (times 1, s and s²).
    """
    screws = space_screws(robot, q, frame)
    V_f, A_f, joints = _moving_chain(robot, screws, v, a, base_motion or (zeros(6), zeros(6)))
    dq, dv = {}, {}
    for k, (J, V_p, A_p, V_k) in joints.items():
        dq[k] = lie.bracket(J, A_f - A_p) + lie.bracket(lie.bracket(V_p, J), V_f - V_p)
        dv[k] = lie.bracket(V_k + V_p - V_f, J)
    return AccelerationDerivatives(*(jacobian_of(robot, part) for part in (dq, dv, screws)))


def body_acceleration_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> AccelerationDerivatives:
    """∂/∂q, ∂/∂v and ∂/∂a = J_b of a frame's spatial acceleration in its own axes, V̇_b = J_b a + J̇_b v [SRW22, (22), (23)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three matrices (..., 6, nv)
        rad/s² and m/s² per unit of v (times 1, s and s²).
    """
    screws = body_screws(robot, q, frame)
    V_f, _, joints = _moving_chain(robot, screws, v, a, in_body_axes(robot, q, frame, base_motion))
    dq, dv = {}, {}
    for k, (J, V_p, A_p, V_k) in joints.items():
        dq[k] = lie.bracket(A_p, J) + lie.bracket(lie.bracket(V_p, J), V_f - V_p)
        dv[k] = lie.bracket(V_k + V_p - V_f, J)
    return AccelerationDerivatives(*(jacobian_of(robot, part) for part in (dq, dv, screws)))


def mixed_acceleration_derivatives(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    frame: str,
    *,
    base_motion: BaseMotion | None = None,
) -> AccelerationDerivatives:
    """∂/∂q, ∂/∂v and ∂/∂a = J_m of (ω̇, p̈) of a frame in base axes, J_m a + J̇_m v [SRW22, (22), (23); PBP95, (76), (77)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    frame : str
        Name of a frame: a link, a tool, the base.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    three matrices (..., 6, nv)
        rad/s² and m/s² per unit of v (times 1, s and s²).
    """
    screws = mixed_screws(robot, q, frame)
    V_f, A_f, joints = _moving_chain(robot, screws, v, a, in_mixed_axes(robot, q, frame, base_motion))
    (w_f, v_f), (alpha_f, a_f) = _parts(V_f), _parts(A_f)
    p_dot_dot = a_f + cross(w_f, v_f)
    dq, dv = {}, {}
    for k, joint in joints.items():
        (w, u), (w_p, v_p), (alpha_p, a_p), (w_k, v_k) = map(_parts, joint)
        psi, phi = cross(w_p, w), cross(w_p, u) + cross(v_p, w)
        turned = cross(w, alpha_f - alpha_p) + cross(psi, w_f - w_p)
        moved = cross(w, p_dot_dot - a_p) + cross(alpha_p, u) + cross(psi, 2.0 * v_f - v_p) + cross(w_p, phi)
        dq[k] = concat([turned, moved])
        dv[k] = concat([cross(w_k + w_p - w_f, w), cross(w_k + w_p, u) + cross(w, 2.0 * v_f - v_k - v_p)])
    return AccelerationDerivatives(*(jacobian_of(robot, part) for part in (dq, dv, screws)))


class _Joint(NamedTuple):
    """Screws J (..., k, 6) of a joint; twist and acceleration of its parent, twist of its link, (..., 1, 6)."""

    J: Twist
    V_p: Twist
    A_p: Twist
    V: Twist


def _moving_chain(
    robot: Robot, screws: dict[int, Twist], v: JointVector, a: JointVector, base: BaseMotion
) -> tuple[Twist, Twist, dict[int, _Joint]]:
    """Twist and acceleration of the frame, and the joints that carry it: V = V_p + J v, A = A_p + J a + [V, J v]."""
    V, A = (x[..., None, :] for x in base)
    joints = {}
    for k, J in screws.items():
        place = robot.structure.coordinate_of(k).v
        own = matvec(transpose(J), v[..., place])[..., None, :]
        joints[k] = _Joint(J, V, A, V + own)
        V = V + own
        A = A + matvec(transpose(J), a[..., place])[..., None, :] + lie.bracket(V, own)
    return V, A, joints


def _parts(V: Twist) -> tuple[Vector3, Vector3]:
    """Angular and linear part."""
    return V[..., :3], V[..., 3:]
