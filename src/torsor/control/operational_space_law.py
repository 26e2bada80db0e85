"""The law of operational-space control, of arguments that are checked: a function of arrays and a task.

Of all accelerations a with J a + J̇ v = ÿ the nearest to a_0, as the inertia measures it, needs the torques [Kha87]::

    τ = M a_0 + C v + g + friction + springs + Jᵀ Λ (ÿ − J̇ v − J a_0)         Λ = (J M⁻¹ Jᵀ)⁻¹

With Λ damped along directions that the robot can hardly move in, as in `tasks.singular_directions`, a_0 is freed of all that the
task feels before, damped or not: a posture pulls along no direction of the task. What the task gives up along them, −K_d v takes
over, or nothing would brake joints there.

An error along a direction that becomes weak asks joints for more and more: for ẏ = σ q̇ they must be the faster the smaller σ is,
and a task that is to keep its speed as σ falls, J̇ v made up for, makes them so. So along weak directions what pulls joints, all
but the braking, is no more than what would pull them from half a turn away, K_p π: then they are no faster than K_p π/K_d. Small
errors and slow motions ask for less, and are followed exactly.

A motion across the workspace may ask for more without any weak direction: light joints do most of it, as those of a wrist whose
tool is led to a place, or a self-motion that the rest throws about. So for targets out of reach the same is demanded of every
joint. On the way from braking only, −β K_d v, to the acceleration a that the task needs, d being half a turn::

    a' = s a − (1 − s) β K_d v          with the largest s ≤ 1 for which |a' + β K_d v| ≤ β K_p d for every joint

Then d/dt |v_k| ≤ β (K_p d − K_d |v_k|), whatever else the robot does, and no joint becomes faster than d K_p/K_d. The spring of
the task is softened by s, its damper is not. Where motors cannot do what is asked of them, nothing is cancelled as it should be,
and heavy links throw light ones about. So β ≤ 1 is such that motors can brake: all joints in proportion, as hard as they can.
And s is also such that torques are within the effort limits, and no joint is pulled to more than twice its velocity limit, for
of faster ones not even the Coriolis forces may be within the effort limits.

At the edge itself y = y* − c θ²/2, the pull along the direction that is damped falls as a high power of θ, and robots would creep
on for minutes. So along damped directions nothing pulls to a target out of reach that is near, or where it pulls joints slowly;
and close to it, where a direction becomes weak, springs pull half as much again: kp e is but half of what brings θ to 0 as fast.

The way to a pose out of reach may come to an edge elsewhere, and leads along it: most of the error is along a direction that is
lost, and the small rest that the robot can follow would take it along the edge slowly. So that rest is made as large as the whole
error. Where it is hardly any share of it, the robot is at, or near, a place from where no small motion leads nearer: it rests.
Stiff gains lead on soon enough with nearly twice that rest: by the whole error a robot that starts at such a place would be many
times as fast.

Between where robots rest and where they go on there is a border, and a pull that fades across it would let them creep there for
long. So a robot that moves goes on by less than what one at rest needs to start: the part of a pull that is given grows with the
speed that it causes, and steeply. Near the border a pull is then either not given, and the robot rests, or all of it is within
about 1/K_d. The speed counts, not its sense: what pulls more one way than the other would keep a swing about an edge alive.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.arrays import absolute, constant, dot, matvec, sqrt, stack, transpose, where, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar, TaskVector
from torsor.control.tracking_error import Reference, spring_force, task_command
from torsor.functions.public.dynamics import inverse_dynamics, mass_matrix
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.tasks import Task
from torsor.tasks._task_space_dynamics import lifted
from torsor.tasks.singular_directions import Directions, diagonal, directions
from torsor.tasks.weighted_inverse import weighted_inverse

WEAK = 50.0  # times the limit: directions with a mobility below are weak
FARTHEST = math.pi  # rad, or m: no joint is farther from where it should be than half a turn
SETTLED = 0.9  # times the limit: along directions with a mobility below nothing pulls to a target out of reach and near
NEAR = 0.5  # of FARTHEST: what pulls joints no more than that at a mobility of the limit is near
SLOW = 0.4  # of FARTHEST: what pulls resting joints less than that along a damped direction is no way out of it
SWING = 0.25  # of the speed that a pull leads to: so much less is enough for joints that move so fast
SHARE = 0.15  # of an error: if less of it can be followed, there is no way on from here for a robot at rest
STIFF = 25.0, 100.0  # 1/s²: between these gains what can be followed ceases to pull like all of the error
LED_ON = 1.8  # times what it pulls by itself: so it pulls with stiff gains
DISTANT = 2.5  # of an error that joints make up for by about 1 rad at a mobility of WEAK: farther away a tenth of SHARE will do
CLOSE, MORE = 0.25, 0.5  # the same: nearer than that springs along weak directions pull by so much more
ROOM = 0.25  # of the effort limit: what is left for braking where weight and Coriolis forces leave less
LEAST_ROOM = 0.01  # the same for the task, where braking leaves less
FASTEST = 2.0  # times the velocity limit: no joint is pulled to more


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
    nearness: Scalar | None = None,
    scales: TaskVector | None = None,
) -> JointVector:
    """τ (..., nv): ``target`` (..., k) as of `flat_target`, ``scales`` (m,) as of `limit_scales`, none for the exact Λ.

    ``nearness`` (...), 1/rad or 1/m: the inverse of d for targets out of reach; 0, or none, for others.
    """
    held, pushed, command, drift, given = _parts(
        robot, q, v, task, Reference(target, velocity, acceleration, kp, kd), a_0, nearness, scales
    )
    return held + given * pushed(command - drift)


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
    nearness: Scalar | None = None,
    scales: TaskVector | None = None,
) -> JointVector:
    """The same with the task's acceleration scaled, so that τ (..., nv) is within the effort limits."""
    held, pushed, command, drift, given = _parts(
        robot, q, v, task, Reference(target, velocity, acceleration, kp, kd), a_0, nearness, scales
    )
    return within(robot.structure.limits.effort, held - given * pushed(drift), given * pushed(command))


class _Task(NamedTuple):
    """The torques pushed(command − drift) (..., nv) by which the task does as it should."""

    pushed: Callable[[TaskVector], JointVector]
    command: TaskVector
    drift: TaskVector


class _Parts(NamedTuple):
    """τ = held + given · pushed(command − drift)."""

    held: JointVector
    pushed: Callable[[TaskVector], JointVector]
    command: TaskVector
    drift: TaskVector
    given: Array
    """s (..., 1)."""


def _parts(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task,
    reference: Reference,
    a_0: JointVector,
    nearness: Scalar | None,
    scales: TaskVector | None,
) -> _Parts:
    command, drift = task_command(robot, q, v, task, reference), task.drift(robot, q, v)
    if scales is None:
        up = weighted_inverse(robot, q, task)
        drift = drift + matvec(up.J, a_0)
        a = a_0 + up.motion(command - drift)
        pushed = _Task(lambda y: up.torques(up.weighed(y)), command, drift)
        return _bounded(robot, q, v, reference, a_0, a, nearness, pushed)
    J, lift = lifted(robot, q, task)
    along = directions(J, lift, scales)
    own = transpose(along.left) * scales  # of unit length, a row for each direction
    kp_along, kd_along = matvec(own * own, reference.kp), matvec(own * own, reference.kd)
    a_0 = along.unfelt(a_0) - along.left_over(v, kd_along)
    pull, stiffness = command - drift + reference.kd * matvec(J, v), _stiffness(kp_along, kd_along)
    braking = kd_along * matvec(along.rows, v)
    if nearness is not None:
        more = _along_edges(along, pull + drift, braking, _mean(stiffness), scales, nearness)
        command, pull = command + more, pull + more
    command = command - _too_much(along, pull, braking, stiffness, scales, nearness)
    a = a_0 + along.motion(command - drift)
    pushed = _Task(lambda y: matvec(transpose(J), along.forces(y)), command, drift)
    return _bounded(robot, q, v, reference, a_0, a, nearness, pushed)


def _bounded(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    reference: Reference,
    a_0: JointVector,
    a: JointVector,
    nearness: Scalar | None,
    task: _Task,
) -> _Parts:
    """β and s, as large as they may be: 1 if the target is within reach; ``a`` (..., nv) is the acceleration at s = 1."""
    if nearness is None:
        return _Parts(inverse_dynamics(robot, q, v, a_0), *task, constant(1.0))
    limits, M, kd = robot.structure.limits, mass_matrix(robot, q), _mean(reference.kd)
    still, rest = inverse_dynamics(robot, q, v, zeros(robot.nv)), matvec(M, a_0)
    braking = kd[..., None] * v
    brake = matvec(M, braking)
    hard = where(nearness > 0.0, _within_room(limits.effort, still, -brake, ROOM), 1.0)  # β
    brake, pull = hard[..., None] * brake, absolute(a + hard[..., None] * braking)
    stiffness = _stiffness(_mean(reference.kp), kd)
    times = _largest(pull) * nearness / where(stiffness > 0.0, stiffness, 1.0)
    times = _at_least(times, where(nearness > 0.0, _too_fast(limits.velocity, pull, kd), 0.0)) / hard
    given = 1.0 / _at_least(times, constant(1.0))
    driving = brake + rest + task.pushed(task.command - task.drift)
    most = where(nearness > 0.0, _within_room(limits.effort, still - brake, driving, LEAST_ROOM), 1.0)
    given = where(most < given, most, given)[..., None]
    return _Parts(still - (1.0 - given) * brake + given * rest, *task, given)


def _too_fast(limits: Sequence[float], pull: JointVector, kd: Array) -> Array:
    """How many times (...) a pull (..., nv) is more than what, braked with K_d, leads to `FASTEST`; a limit of 0 is none."""
    times = 0.0 * kd
    damping = where(kd > 0.0, kd, math.inf)
    for k, limit in enumerate(limits):
        if 0.0 < limit < math.inf:
            times = _at_least(times, pull[..., k] / (FASTEST * limit * damping))
    return times


def _at_least(x: Array, least: Array) -> Array:
    return where(x > least, x, least)


def _mean(gains: TaskVector) -> Array:
    rows = gains.shape[-1]
    total = gains[..., 0]
    for k in range(1, rows):
        total = total + gains[..., k]
    return total / rows


def _largest(x: JointVector) -> Array:
    most = x[..., 0]
    for k in range(1, x.shape[-1]):
        most = _at_least(x[..., k], most)
    return most


def _stiffness(kp: Array, kd: Array) -> Array:
    """K_p, or what the damping is made for, K_d²/4, if that is more."""
    critical = 0.25 * kd * kd
    return where(kp > critical, kp, critical)


def _within_room(limits: Sequence[float], held: JointVector, driving: JointVector, least: float) -> Array:
    """The largest s (...) from 0 to 1 that keeps held + s · driving within ±limits, or takes no more than ``least`` of them.

    A limit of 0 is none: it is what people write who know of none.
    """
    s = constant(1.0)
    for k, limit in enumerate(limits):
        if 0.0 < limit < math.inf:
            push = absolute(driving[..., k])
            room = where(driving[..., k] < 0.0, limit + held[..., k], limit - held[..., k])
            room = where(room > least * limit, room, least * limit)
            most = room / where(push > room, push, room)
            s = where(most < s, most, s)
    return s


def _too_much(
    along: Directions,
    pull: TaskVector,
    braking: TaskVector,
    stiffness: TaskVector,
    scales: TaskVector,
    nearness: Scalar | None,
) -> TaskVector:
    """Of what pulls a task (..., m), the part along weak directions that pulls joints more than if they were half a turn away.

    ``stiffness`` (..., m): of each direction. Where a direction is about to be no longer weak, more and more is allowed. For
    targets out of reach also the part along directions that are damped, if the target is near.
    """
    parts, gain, weights = matvec(transpose(along.left), pull), diagonal(along.gain), diagonal(along.weights)
    lengths = sqrt(dot(along.lifts, along.lifts))
    over = []
    for k in range(parts.shape[-1]):
        mobility, most = along.mobility[..., k], FARTHEST * stiffness[..., k]
        unit = absolute(parts[..., k]) * lengths[..., k]
        asked = unit * gain[..., k] * (1.0 - mobility / WEAK)
        given = where(asked > most, most / where(asked > most, asked, 1.0), 1.0)
        if nearness is not None:
            speed = absolute(braking[..., k]) * lengths[..., k] * weights[..., k]
            unit, speed = (x / where(most > 0.0, most, 1.0) for x in (unit, speed))
            given = given * where(nearness > 0.0, _unsettled(mobility, unit, speed), 1.0)
        over.append((1.0 - given) * parts[..., k])
    return matvec(along.left * (scales * scales)[..., :, None], stack(over))  # (S⁻¹ U)⁻ᵀ = S U


def _unsettled(mobility: Array, asked: Array, speed: Array) -> Array:
    """How much of a pull is left: 1 along directions that are not damped, 0 along others, unless it pulls joints far and fast.

    ``asked``: what would pull joints if 1/σ was 1. Far is what is so at a mobility of the limit, as it goes as the root of it.
    ``speed``: of joints along the direction, 1 being where `FARTHEST` leads.
    """
    damped = where(mobility < 1.0, mobility, 1.0)
    far = _ramp(asked / sqrt(where(damped > 0.0, damped, 1.0)), NEAR, 2.0 * NEAR)
    goes_on = _ramp(far * asked * damped + SWING * speed, SLOW, 1.1 * SLOW)
    return _at_least(goes_on, _ramp(mobility, SETTLED, 1.0))


def _along_edges(
    along: Directions, pull: TaskVector, braking: TaskVector, stiffness: Array, scales: TaskVector, nearness: Scalar
) -> TaskVector:
    """What is added to what pulls a task (..., m) to a target out of reach, along directions that are not damped.

    As much as makes them pull like the whole error, or `LED_ON` times as they do, where gains are stiff; all they pull is taken
    away if that is near and they are hardly a share of it and move slowly. ``braking`` (..., m): K_d times velocities along
    directions; ``stiffness`` (...): the mean of all.
    """
    parts = matvec(transpose(along.left), pull)
    count = parts.shape[-1]
    free = [_ramp(along.mobility[..., k], SETTLED, 1.0) for k in range(count)]
    whole, followed = dot(parts, parts), dot(stack(free) * parts, parts)
    share = _root(followed / where(whole > 0.0, whole, 1.0))
    speed = absolute(dot(stack(free) * parts, braking)) / where(followed > 0.0, _root(followed * whole), 1.0)
    size = _root(whole / WEAK) / where(stiffness > 0.0, stiffness, 1.0)
    distant, close = _ramp(size, DISTANT, 2.0 * DISTANT), 1.0 - _ramp(size, CLOSE, 2.0 * CLOSE)
    least = SHARE * (1.0 - 0.9 * distant)
    goes_on = _ramp((share + SHARE * speed) / least, 1.0, 1.2)
    most = 1.0 / SHARE + (LED_ON - 1.0 / SHARE) * _ramp(stiffness, *STIFF)
    times = goes_on / _at_least(share, 1.0 / most)
    more = []
    for k in range(count):
        weak = 1.0 - along.mobility[..., k] / WEAK
        factor = times * (1.0 + MORE * close * where(weak > 0.0, weak, 0.0))
        factor = where(nearness > 0.0, factor, 1.0)
        more.append(free[k] * (factor - 1.0) * parts[..., k])
    return matvec(along.left * (scales * scales)[..., :, None], stack(more))  # (S⁻¹ U)⁻ᵀ = S U


def _root(x: Array) -> Array:
    """√x, with a derivative at 0 too."""
    return where(x > 0.0, sqrt(where(x > 0.0, x, 1.0)), 0.0)


def _ramp(x: Array, low: float, high: float) -> Array:
    """From 0 at ``low`` to 1 at ``high``."""
    part = (x - low) / (high - low)
    return where(part < 0.0, 0.0, where(part > 1.0, 1.0, part))


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
