"""Velocities and accelerations of frames, in the same three ways as Jacobians; each is J v, or J a + J̇ v."""

from __future__ import annotations

from torsor import lie
from torsor.arrays import concat, cross, matvec, transpose, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Twist
from torsor.lie.se3 import translation
from torsor.mechanics.supporting_chain import SupportingChain, refer_to, space_twists, supporting_chain
from torsor.model import Robot


def space_twist(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Twist:
    """V_s of a frame, [V_s] = Ṫ T⁻¹: in base axes, about the base origin [BSP93, §2.1; Kool04, (5)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6), rad/s and m/s.
    """
    chain = supporting_chain(robot, q, frame)
    return space_twists(robot, chain, v)[chain.last]


def body_twist(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Twist:
    """V_b of a frame, [V_b] = T⁻¹ Ṫ: in its own axes, about its own origin [BSP93, (5), (6); PBP95, (70)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6), rad/s and m/s.
    """
    chain = supporting_chain(robot, q, frame)
    return lie.transform_twist_inverse(chain.T_0f, space_twists(robot, chain, v)[chain.last])


def mixed_twist(robot: Robot, q: ConfigurationVector, v: JointVector, frame: str) -> Twist:
    """(ω, ṗ) of a frame in base axes: angular velocity, and velocity of its origin [Sil81, (3.13), (3.14)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6), rad/s and m/s.
    """
    chain = supporting_chain(robot, q, frame)
    return refer_to(translation(chain.T_0f), space_twists(robot, chain, v)[chain.last])


def space_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str) -> Twist:
    """V̇_s = J_s a + J̇_s v, the *spatial* acceleration in base axes: the rate of the space twist [Kool04, EK-2].

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s. Returns (..., 6), rad/s² and m/s².
    Not the acceleration of any point: for that use `classical_acceleration`.
    """
    chain = supporting_chain(robot, q, frame)
    return _space_acceleration(robot, chain, v, a)


def body_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str) -> Twist:
    """V̇_b = J_b a + J̇_b v, the *spatial* acceleration in the frame's own axes: the rate of the body twist [PBP95, (25)].

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s. Returns (..., 6), rad/s² and m/s².
    An accelerometer at the frame's origin feels its linear part plus ω × v, less gravity [PBP95, (76)].
    """
    chain = supporting_chain(robot, q, frame)
    # [V, V] = 0: the moving axes of the frame add nothing to the rate of its own twist.
    return lie.transform_twist_inverse(chain.T_0f, _space_acceleration(robot, chain, v, a))


def classical_acceleration(robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, frame: str) -> Twist:
    """(ω̇, p̈) of a frame in base axes, the *classical* acceleration of its origin: J_m a + J̇_m v [PBP95, (76), (77)].

    ``q`` (..., nq), rad or m; ``v``, ``a`` (..., nv), rad, m, s. Returns (..., 6), rad/s² and m/s².
    """
    chain = supporting_chain(robot, q, frame)
    p = translation(chain.T_0f)
    V = refer_to(p, space_twists(robot, chain, v)[chain.last])
    A = refer_to(p, _space_acceleration(robot, chain, v, a))
    return A + concat([zeros(3), cross(V[..., :3], V[..., 3:])])


def _space_acceleration(robot: Robot, chain: SupportingChain, v: JointVector, a: JointVector) -> Twist:
    """Σ_j J_j a_j + [V_j, J_j v_j] over the joints that carry the frame."""
    V, A = zeros(6), zeros(6)
    for j, J in chain.screws.items():
        place = robot.structure.coordinate_of(j).v
        S_v = matvec(transpose(J), v[..., place])
        V = V + S_v
        A = A + matvec(transpose(J), a[..., place]) + lie.bracket(V, S_v)
    return A
