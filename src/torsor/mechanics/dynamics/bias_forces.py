"""The terms of the equations of motion that do not multiply the acceleration, together and separately."""

from __future__ import annotations

from torsor.arrays.typing import ConfigurationVector, JointVector, Wrench
from torsor.mechanics.recursions.joint_motion import gather_vector, project_on_joint
from torsor.mechanics.recursions.newton_euler import BaseMotion, newton_euler
from torsor.model import Robot


def gravity_forces(robot: Robot, q: ConfigurationVector) -> JointVector:
    """g(q): joint forces that hold the robot still against gravity; the gradient of potential energy [LP, (9.84), E002-7].

    ``q`` (..., nq), rad or m. Returns (..., nv), N·m or N.
    """
    return _project(robot, newton_euler(robot, q))


def coriolis_forces(robot: Robot, q: ConfigurationVector, v: JointVector) -> JointVector:
    """c(q, v) = C(q, v) v: joint forces due to velocity alone, Coriolis and centrifugal [LP, (9.83), E002-9].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s. Returns (..., nv), N·m or N.
    """
    return _project(robot, newton_euler(robot, q, v, gravity=False))


def bias_forces(
    robot: Robot, q: ConfigurationVector, v: JointVector, *, base_motion: BaseMotion | None = None
) -> JointVector:
    """C(q, v) v + g(q): joint forces at zero acceleration, friction excluded [LP, (9.1), (9.89)].

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``base_motion`` as in inverse dynamics: what the motion of the
    base asks of the joints is then part of it. Returns (..., nv), N·m or N.
    """
    return _project(robot, newton_euler(robot, q, v, base_motion=base_motion))


def _project(robot: Robot, F: list[Wrench]) -> JointVector:
    return gather_vector(robot, [project_on_joint(robot, i, F_i) for i, F_i in enumerate(F)])
