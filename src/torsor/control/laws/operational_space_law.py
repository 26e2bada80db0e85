"""The law of operational-space control, of arguments that are checked: a function of arrays and a task.

Of all accelerations a with J a + J̇ v = ÿ the nearest to a_0, as the inertia measures it, needs the torques [Kha87]::

    τ = M a_0 + C v + g + friction + Jᵀ Λ (ÿ − J̇ v − J a_0)         Λ = (J M⁻¹ Jᵀ)⁻¹

With Λ damped along directions that the robot can hardly move in, as in `tasks.singular_directions`, a_0 is freed of all that the
task feels before, damped or not: a posture pulls along no direction of the task. What the task gives up along them, −K_d v takes
over, or nothing would brake joints there.

An error along a direction that becomes weak asks joints for more and more: for ẏ = σ q̇ they must be the faster the smaller σ is,
and a task that is to keep its speed as σ falls, J̇ v made up for, makes them so. So along weak directions what pulls joints, all
but the braking, is no more than what would pull them from half a turn away, K_p π: then they are no faster than K_p π/K_d. Small
errors and slow motions ask for less, and are followed exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.arrays import absolute, dot, matvec, sqrt, stack, transpose, where
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.control.laws.task_command import Reference, task_command
from torsor.control.laws.tracking_error import spring_force
from torsor.functions.public.dynamics import inverse_dynamics
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.tasks import Task
from torsor.tasks._task_space_dynamics import lifted
from torsor.tasks.singular_directions import Directions, diagonal, directions
from torsor.tasks.weighted_inverse import weighted_inverse

WEAK = 50.0  # times the limit: directions with a mobility below are weak
FARTHEST = math.pi  # rad, or m: no joint is farther from where it should be than half a turn


def operational_space(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task,
    target: TaskVector,
    kp: TaskVector,
    kd: TaskVector,
    velocity: TaskVector,
    acceleration: TaskVector,
    a_0: JointVector,
    scales: TaskVector | None = None,
) -> JointVector:
    """τ (..., nv): ``target`` (..., k) as of `flat_target`, ``scales`` (m,) as of `limit_scales`, none for the exact Λ."""
    held, pushed, command, drift = _parts(
        robot, q, v, task, Reference(target, velocity, acceleration, kp, kd), a_0, scales
    )
    return held + pushed(command - drift)


def operational_space_within_effort(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task,
    target: TaskVector,
    kp: TaskVector,
    kd: TaskVector,
    velocity: TaskVector,
    acceleration: TaskVector,
    a_0: JointVector,
    scales: TaskVector | None = None,
) -> JointVector:
    """The same with the task's acceleration scaled, so that τ (..., nv) is within the effort limits."""
    held, pushed, command, drift = _parts(
        robot, q, v, task, Reference(target, velocity, acceleration, kp, kd), a_0, scales
    )
    return within(robot.structure.limits.effort, held - pushed(drift), pushed(command))


class _Parts(NamedTuple):
    """τ = held + pushed(command − drift)."""

    held: JointVector
    pushed: Callable[[TaskVector], JointVector]
    command: TaskVector
    drift: TaskVector


def _parts(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task,
    reference: Reference,
    a_0: JointVector,
    scales: TaskVector | None,
) -> _Parts:
    command, drift = task_command(robot, q, v, task, reference), task.drift(robot, q, v)
    if scales is None:
        up = weighted_inverse(robot, q, task)
        held = inverse_dynamics(robot, q, v, a_0)
        return _Parts(held, lambda y: up.torques(up.weighed(y)), command, drift + matvec(up.J, a_0))
    J, lift = lifted(robot, q, task)
    along = directions(J, lift, scales)
    own = transpose(along.left) * scales  # of unit length, a row for each direction
    kp_along, kd_along = matvec(own * own, reference.kp), matvec(own * own, reference.kd)
    a_0 = along.unfelt(a_0) - along.left_over(v, kd_along)
    pull = command - drift + reference.kd * matvec(J, v)
    command = command - _too_much(along, pull, kp_along, kd_along, scales)
    held = inverse_dynamics(robot, q, v, a_0)
    return _Parts(held, lambda y: matvec(transpose(J), along.forces(y)), command, drift)


def _too_much(along: Directions, pull: TaskVector, kp: TaskVector, kd: TaskVector, scales: TaskVector) -> TaskVector:
    """Of what pulls a task (..., m), the part along weak directions that pulls joints more than if they were half a turn away.

    ``kp``, ``kd`` (..., m): of each direction. Where a direction is about to be no longer weak, more and more is allowed.
    """
    parts = matvec(transpose(along.left), pull)
    joints = along.lifts * diagonal(along.gain)[..., :, None]
    lengths = sqrt(dot(joints, joints))
    over = []
    for k in range(parts.shape[-1]):
        critical = 0.25 * kd[..., k] * kd[..., k]  # the stiffness that the damping is made for, if there is no other
        most = FARTHEST * where(kp[..., k] > critical, kp[..., k], critical)
        asked = absolute(parts[..., k]) * lengths[..., k] * (1.0 - along.mobility[..., k] / WEAK)
        given = where(asked > most, most / where(asked > most, asked, 1.0), 1.0)
        over.append((1.0 - given) * parts[..., k])
    return matvec(along.left * (scales * scales)[..., :, None], stack(over))  # (S⁻¹ U)⁻ᵀ = S U


def within(limits: Sequence[float], held: JointVector, driving: JointVector) -> JointVector:
    """held + s · driving (..., nv) with the largest s from 0 to 1 that keeps every entry within ±limits, or cut off at s = 0."""
    s: Array = 0.0 * held[..., 0] + 1.0
    for k, limit in enumerate(limits):
        if limit < math.inf:
            rest, push = held[..., k], driving[..., k]
            room = where(push < 0.0, limit + rest, limit - rest)
            most = where(absolute(push) > room, room / where(push == 0.0, 1.0, absolute(push)), 1.0)
            s = where(most < s, most, s)
    s = where(s < 0.0, 0.0, s)
    tau = held + s[..., None] * driving
    entries = [_cut(tau[..., k], limit) for k, limit in enumerate(limits)]
    return stack(entries)


def _cut(tau: Array, limit: float) -> Array:
    if limit == math.inf:
        return tau
    return where(tau > limit, limit, where(tau < -limit, -limit, tau))


def posture_acceleration(
    robot: Robot, q: ConfigurationVector, v: JointVector, posture: ConfigurationVector, kp: JointVector, kd: JointVector
) -> JointVector:
    """a_0 = J_l(e)⁻ᵀ K_p e − K_d v (..., nv), with e = posture ⊖ q."""
    return spring_force(robot, difference(robot, q, posture), kp) - kd * v
