"""Energy, momentum and centre of mass of the whole robot."""

from __future__ import annotations

from torsor import lie
from torsor.arrays import dot, matvec, where, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Scalar, Twist, Vector3, Wrench
from torsor.lie.se3 import rotation, translation
from torsor.mechanics.joint_motion import gather_vector, joint_poses, project_on_joint
from torsor.mechanics.kinematics import poses_in_base
from torsor.mechanics.newton_euler import accumulate, link_motion
from torsor.model import Robot


def kinetic_energy(robot: Robot, q: ConfigurationVector, v: JointVector) -> Scalar:
    """½ Σ V_iᵀ G_i V_i + ½ armature · v², which is ½ vᵀ M v [LP, (9.59), (9.10); PBP95, (32), E001-4].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (...), J.
    """
    twists, momenta = _momenta(robot, q, v)
    energy = 0.5 * dot(robot.parameters.armature * v, v)
    for V, P in zip(twists, momenta, strict=True):
        energy = energy + 0.5 * dot(V, P)
    return energy


def potential_energy(robot: Robot, q: ConfigurationVector) -> Scalar:
    """−Σ m_i g · p_i, zero with all mass at the base origin's height [PBP95, (58), E001-8].

    ``q`` (..., nq), rad or m. Returns (...), J.
    """
    return -dot(robot.parameters.gravity, _first_moment(robot, q))


def centre_of_mass(robot: Robot, q: ConfigurationVector) -> Vector3:
    """Centre of mass of the moving links, in the base frame [LP, §9.2.1].

    ``q`` (..., nq), rad or m. Returns (..., 3), m; NaN for a robot without mass.
    """
    total = robot.parameters.inertias[..., 0].sum()
    return _first_moment(robot, q) / where(total > 0.0, total, float("nan"))


def generalised_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """p = M(q) v = ∂T/∂v, p_i = S_iᵀ Σ (momentum of the links beyond joint i), in O(n) [Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv), kg·m²/s or kg·m/s.
    """
    P = accumulate(robot, joint_poses(robot, q), _momenta(robot, q, v)[1])
    along = gather_vector(robot, [project_on_joint(robot, i, P_i) for i, P_i in enumerate(P)])
    return along + robot.parameters.armature * v


def spatial_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> Wrench:
    """Momentum of all moving links, (angular about the base origin, linear), in base axes [LP, (9.25); Kool04, (8)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., 6), kg·m²/s and kg·m/s.
    """
    total = zeros(6)
    for T_0i, P in zip(poses_in_base(robot, q), _momenta(robot, q, v)[1], strict=True):
        total = total + lie.transform_wrench_inverse(T_0i, P)
    return total


def _momenta(robot: Robot, q: ConfigurationVector, v: JointVector) -> tuple[list[Twist], list[Wrench]]:
    """Body twist V_i and momentum G_i V_i of every link [LP, (9.25)]."""
    twists: list[Twist] = link_motion(robot, joint_poses(robot, q), v, None, gravity=False, base_motion=None)[0]
    return twists, [lie.apply_inertia(G, V) for G, V in zip(robot.parameters.inertias, twists, strict=True)]


def _first_moment(robot: Robot, q: ConfigurationVector) -> Vector3:
    """Σ m_i p_i of the links' centres of mass, in the base frame."""
    total = zeros(3)
    for T, G in zip(poses_in_base(robot, q), robot.parameters.inertias, strict=True):
        total = total + G[0] * translation(T) + matvec(rotation(T), G[1:4])
    return total
