"""From where a robot or a task is to where it should be: the error, the reference's motion seen from here, the spring.

`tasks.task_groups` has the equations. With e in the tangent space where the robot is, v_r and a_r the motion of the reference
seen from there, ė = J_l(e)⁻¹ (v_r − v), and a spring with the energy ½ eᵀ K e has the force J_l(e)⁻ᵀ K e. With one gain for a
whole joint that is K e for numbers and rotations; of free and planar joints never.
"""

from __future__ import annotations

from typing import NamedTuple

from torsor.arrays import concat, constant, matvec
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.tasks import Task
from torsor.tasks.targets import leaves_of
from torsor.tasks.task import joined
from torsor.tasks.task_groups import MOTIONS, NUMBERS, PLANAR, ROTATIONS, Group


class TrackingError(NamedTuple):
    """What a controller makes zero, and the motion of the reference: all (..., nv), in the tangent space where the robot is."""

    error: JointVector
    """e, rad or m."""
    velocity: JointVector
    """v_r, the reference velocity seen from here, rad/s or m/s."""
    acceleration: JointVector
    """a_r = v̇_r, rad/s² or m/s²."""


def tracking_error(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
) -> TrackingError:
    """e, v_r and a_r of a robot and its reference, each with velocity and acceleration in its own axes."""
    e = difference(robot, q, q_ref)
    groups = _groups(robot)
    if groups is None:
        return TrackingError(e, v_ref, a_ref)
    parts = [group.compare(*(x[..., at] for x in (e, v, v_ref, a_ref))) for at, group in groups]
    velocities, accelerations = (concat(list(column)) for column in zip(*parts, strict=True))
    return TrackingError(e, velocities, accelerations)


def error_rate(robot: Robot, e: JointVector, relative: JointVector) -> JointVector:
    """ė = J_l(e)⁻¹ (v_r − v) (..., nv), rad/s or m/s, of the relative velocity v_r − v."""
    groups = _groups(robot)
    if groups is None:
        return relative
    return concat([group.rate(e[..., at], relative[..., at]) for at, group in groups])


def spring_force(robot: Robot, e: JointVector, stiffness: JointVector) -> JointVector:
    """J_l(e)⁻ᵀ K e (..., nv): minus the gradient, as the robot moves, of ½ eᵀ K e with e = difference(robot, q, q_ref)."""
    pull = stiffness * e
    groups = _groups(robot)
    if groups is None:
        return pull
    return concat([group.spring(e[..., at], pull[..., at]) for at, group in groups])


_GROUPS = {"numbers": NUMBERS, "rotations": ROTATIONS, "motions": MOTIONS, "planar motions": PLANAR}


def _groups(robot: Robot) -> list[tuple[slice, Group]] | None:
    """Where in v each coordinate is, and the group it moves on; None if all are numbers."""
    s = robot.structure
    if s.has_plain_velocities:
        return None
    return [(c.v, _GROUPS[kind.group]) for c, kind in s.blocks]


class Sliding(NamedTuple):
    """v_s = v_r + Λ e, its rate v̇_s = a_r + Λ ė, and s = v − v_s, all (..., nv), rad, m, s."""

    velocity: JointVector
    acceleration: JointVector
    s: JointVector


def sliding_velocity(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    q_ref: ConfigurationVector,
    v_ref: JointVector,
    a_ref: JointVector,
    rate: Array,
) -> Sliding:
    """v_s, v̇_s and s; where s = 0, and one rate λ belongs to each joint, ė = −λ e, whatever its kind [SL87]."""
    error = tracking_error(robot, q, v, q_ref, v_ref, a_ref)
    e_rate = error_rate(robot, error.error, error.velocity - v)
    velocity = error.velocity + rate * error.error
    return Sliding(velocity, error.acceleration + rate * e_rate, v - velocity)


class Reference(NamedTuple):
    """Where a task should be (..., k), by `flat_target`, how it should move there (..., m), and the gains (..., m)."""

    target: TaskVector
    velocity: TaskVector
    acceleration: TaskVector
    kp: TaskVector
    kd: TaskVector


def task_command(robot: Robot, q: ConfigurationVector, v: JointVector, task: Task, reference: Reference) -> TaskVector:
    """ÿ = a_r + K_d (v_r − ẏ) + J_l(e)⁻ᵀ K_p e (..., m), on the group of each part of the task.

    Rows that are not selected pull with no force; of a selection ``target`` is that of the whole task.
    """
    asked, commands = [], []
    for part, target in zip(task.parts, leaves_of(task, reference.target), strict=True):
        if not part.rows:
            continue
        one, (velocity, acceleration, kp, kd) = part.task, map(part.own, reference[1:])
        e = one.error(one.value(robot, q), target)
        ydot = matvec(one.jacobian(robot, q), v)
        motion = one.group.compare(e, ydot, velocity, acceleration)
        command = motion.acceleration + kd * (motion.velocity - ydot) + one.group.spring(e, kp * e)
        asked.append(part)
        commands.append(command if part.is_whole else command[..., constant(part.rows)])
    return joined(asked, commands)
