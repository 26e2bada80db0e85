"""Energy, momentum and centre of mass of the whole robot."""

from __future__ import annotations

from torsor.arrays import dot, zeros
from torsor.arrays.typing import ConfigurationVector, JointVector, Pose, Scalar, Twist, Vector3, Wrench
from torsor.lie import unchecked as lie
from torsor.mechanics.dynamics.springs import plus_spring_energy
from torsor.mechanics.recursions.first_moments import centre, first_moment
from torsor.mechanics.recursions.joint_motion import gather_vector, joint_poses, project_on_joint
from torsor.mechanics.recursions.newton_euler import accumulate, link_motion
from torsor.mechanics.recursions.velocity_tree import roots
from torsor.model import Robot


def kinetic_energy(robot: Robot, q: ConfigurationVector, v: JointVector) -> Scalar:
    """½ Σ V_iᵀ G_i V_i + ½ armature · v², which is ½ vᵀ M v [LP, (9.59), (9.10); PBP95, (32), E001-4].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (...) array
        J.
    """
    twists, momenta = link_momenta(robot, joint_poses(robot, q), v)
    energy = 0.5 * dot(robot.parameters.armature * v, v)
    for V, P in zip(twists, momenta, strict=True):
        energy = energy + 0.5 * dot(V, P)
    return energy


def potential_energy(robot: Robot, q: ConfigurationVector) -> Scalar:
    """−Σ m_i g · p_i + ½ Σ stiffness · (q − rest)², of gravity and joint springs [PBP95, (58), E001-8].

    Zero with all mass at the height of the base's origin and all springs at rest.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (...) array
        J.
    """
    return plus_spring_energy(robot, q, gravity_energy(robot, q))


def gravity_energy(robot: Robot, q: ConfigurationVector) -> Scalar:
    """−Σ m_i g · p_i (...), J: the potential energy without springs, whose gradient is `gravity_forces`."""
    return -dot(robot.parameters.gravity, first_moment(robot, joint_poses(robot, q)))


def centre_of_mass(robot: Robot, q: ConfigurationVector) -> Vector3:
    """Centre of mass of the moving links, in the base frame [LP, §9.2.1].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., 3) array
        m; NaN for a robot without mass.
    """
    return centre(robot, joint_poses(robot, q))


def generalised_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """p = M(q) v = ∂T/∂v, p_i = S_iᵀ Σ (momentum of the links beyond joint i), in O(n) [Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., nv) array
        kg·m²/s or kg·m/s.
    """
    T_pi = joint_poses(robot, q)
    P = accumulate(robot, T_pi, link_momenta(robot, T_pi, v)[1])
    along = gather_vector(robot, [project_on_joint(robot, i, P_i) for i, P_i in enumerate(P)])
    return along + robot.parameters.armature * v


def spatial_momentum(robot: Robot, q: ConfigurationVector, v: JointVector) -> Wrench:
    """Momentum of all moving links, (angular about the base origin, linear), in base axes [LP, (9.25); Kool04, (8)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.

    Returns
    -------
    (..., 6) array
        kg·m²/s and kg·m/s.
    """
    T_pi = joint_poses(robot, q)
    P = accumulate(robot, T_pi, link_momenta(robot, T_pi, v)[1])
    total = zeros(6)
    for i in roots(robot):
        total = total + lie.transform_wrench_inverse(T_pi[i], P[i])
    return total


def link_momenta(robot: Robot, T_pi: list[Pose], v: JointVector) -> tuple[list[Twist], list[Wrench]]:
    """Body twist V_i and momentum G_i V_i of every link [LP, (9.25)]."""
    twists: list[Twist] = link_motion(robot, T_pi, v, None, gravity=False, base_motion=None)[0]
    return twists, [lie.apply_inertia(G, V) for G, V in zip(robot.parameters.inertias, twists, strict=True)]
