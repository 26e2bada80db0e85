"""Inverse dynamics: the joint forces for a given motion, in O(n); and its terms that do not multiply the acceleration."""

from __future__ import annotations

from torsor.arrays import stack_vectors
from torsor.arrays.typing import ConfigurationVector, JointVector, LinkWrenches, Wrench
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.recursions.joint_motion import gather_vector, project_on_joint
from torsor.mechanics.recursions.luh_walker_paul import luh_walker_paul
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches, newton_euler
from torsor.mechanics.recursions.revolute_chain import revolute_chain
from torsor.model import Robot


def inverse_dynamics(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """Joint forces for the acceleration ``a``: τ = M a + C v + g + friction + springs − Σ JᵀF [PBP95, (22)–(27), E001-1…3].

    The recursive Newton–Euler algorithm (RNEA), τ_i = S_iᵀ F_i (27), plus armature · a, friction(v) and springs(q).

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
    (..., nv) array
        N·m or N.
    """
    tau = _project(robot, newton_euler(robot, q, v, a, wrenches=wrenches, base_motion=base_motion))
    return plus_springs(robot, q, tau + robot.parameters.armature * a + friction_forces(robot, v))


def joint_wrenches(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> LinkWrenches:
    """Wrench F_i transmitted to link i through joint i, reaction and drive together [PBP95, (26), E001-3; LP, (9.42)].

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
    (..., n, 6) array
        N·m and N, each in its link's frame. Its part along the joint's screw is the joint force without armature, friction and
        springs, which act inside the joint.
    """
    return stack_vectors(newton_euler(robot, q, v, a, wrenches=wrenches, base_motion=base_motion))


def gravity_forces(robot: Robot, q: ConfigurationVector) -> JointVector:
    """g(q): joint forces that hold the robot still against gravity; the gradient of gravity's energy [LP, (9.84), E002-7].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv) array
        N·m or N.
    """
    return _project(robot, newton_euler(robot, q))


def coriolis_forces(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """c(q, v) = C(q, v) v: joint forces due to velocity alone, Coriolis and centrifugal [LP, (9.83), E002-9].

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
        N·m or N.
    """
    return _project(robot, newton_euler(robot, q, v, gravity=False))


def bias_forces(
    robot: Robot, q: ConfigurationVector, v: JointVector, *, base_motion: BaseMotion | None = None
) -> JointVector:
    """C(q, v) v + g(q): joint forces at zero acceleration, friction and springs excluded [LP, (9.1), (9.89)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves. What that asks of the joints is part of the result.

    Returns
    -------
    (..., nv) array
        N·m or N.
    """
    return _project(robot, newton_euler(robot, q, v, base_motion=base_motion))


# The same by the recursion of Luh, Walker and Paul: fewer operations when compiled, more calls of NumPy when not.


def vector_inverse_dynamics(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """What `inverse_dynamics` gives (..., nv), N·m or N, for the same arguments, by vectors [LWP80]."""
    tau = _project(robot, luh_walker_paul(robot, q, v, a, wrenches=wrenches, base_motion=base_motion))
    return plus_springs(robot, q, tau + robot.parameters.armature * a + friction_forces(robot, v))


def looped_inverse_dynamics(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    a: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """What `inverse_dynamics` gives (..., nv), N·m, for a chain of revolute joints, by loops over the links [LWP80].

    With wrenches, on a moving base, or for a robot whose numbers are not known, by vectors without a loop.
    """
    if wrenches or base_motion is not None or not robot.is_concrete:
        return vector_inverse_dynamics(robot, q, v, a, wrenches=wrenches, base_motion=base_motion)
    tau = revolute_chain(robot, q, v, a) + robot.parameters.armature * a + friction_forces(robot, v)
    return plus_springs(robot, q, tau)


def vector_gravity_forces(robot: Robot, q: ConfigurationVector) -> JointVector:
    """What `gravity_forces` gives (..., nv), N·m or N, by vectors [LWP80]."""
    return _project(robot, luh_walker_paul(robot, q))


def vector_coriolis_forces(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """What `coriolis_forces` gives (..., nv), N·m or N, by vectors [LWP80]."""
    return _project(robot, luh_walker_paul(robot, q, v, gravity=False))


def vector_bias_forces(
    robot: Robot, q: ConfigurationVector, v: JointVector, *, base_motion: BaseMotion | None = None
) -> JointVector:
    """What `bias_forces` gives (..., nv), N·m or N, by vectors [LWP80]."""
    return _project(robot, luh_walker_paul(robot, q, v, base_motion=base_motion))


def _project(robot: Robot, F: list[Wrench]) -> JointVector:
    return gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
