"""Forward dynamics: the accelerations that given joint forces produce."""

from __future__ import annotations

from collections.abc import Callable

from torsor.arrays import factor, solve
from torsor.arrays.typing import ConfigurationVector, JointVector
from torsor.mechanics.dynamics.articulated_body import articulated_body_acceleration
from torsor.mechanics.dynamics.friction import friction_forces
from torsor.mechanics.dynamics.mass_matrix import mass_matrix
from torsor.mechanics.dynamics.springs import plus_springs
from torsor.mechanics.recursions.joint_motion import gather_vector, project_on_joint
from torsor.mechanics.recursions.luh_walker_paul import luh_walker_paul
from torsor.mechanics.recursions.newton_euler import BaseMotion, Wrenches
from torsor.model import Robot
from torsor.model.link_inertias import has_degenerate_links, may_be_singular


def forward_dynamics(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """Accelerations that joint forces ``tau`` produce: M a = τ − C v − g − friction − springs + Σ JᵀF [LP, (9.2), (9.89)].

    By the articulated-body algorithm (ABA); by mass matrix and factorisation for robots with mimic joints, and for those with
    massless or point-mass links, whose mass matrix can become singular.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., nv) array
        rad/s² or m/s²; NaN where the mass matrix is singular (see `mass_matrix_report`).
    """
    return sound_algorithms(robot)[0](robot, q, v, tau, wrenches=wrenches, base_motion=base_motion)


def sound_algorithms(robot: Robot) -> list[Callable[..., JointVector]]:
    """The algorithms that give forward dynamics for a robot; mimic joints and possibly singular M leave only one."""
    if robot.structure.has_couplings or has_degenerate_links(robot):
        return [factorised_acceleration]
    return [articulated_body_acceleration, factorised_acceleration]


def factorised_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    tau: JointVector,
    *,
    wrenches: Wrenches | None = None,
    base_motion: BaseMotion | None = None,
) -> JointVector:
    """Joint accelerations from M a = τ − b, b by inverse dynamics at zero acceleration: GetJointAccel [LP, §9.5, (9.89)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    tau : (..., nv) array
        Joint forces, N·m or N.
    wrenches : mapping, optional
        Frame name → (..., 6) wrench of the environment on the robot, N·m and N, in the axes of that frame.
    base_motion : pair of (..., 6) arrays, optional
        Twist and acceleration of the base in base axes, if it moves.

    Returns
    -------
    (..., nv) array
        rad/s² or m/s².
    """
    F = luh_walker_paul(robot, q, v, wrenches=wrenches, base_motion=base_motion)
    bias = gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
    bias = plus_springs(robot, q, bias)
    return solve(factor(mass_matrix(robot, q), guarded=may_be_singular(robot)), tau - bias - friction_forces(robot, v))
