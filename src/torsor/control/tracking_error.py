"""From where something is to where it should be, on its group: the error, the reference's motion seen from here, the spring.

With X = g⁻¹ g_ref for a joint (or frame) at g that moves with body velocity v, and a reference at g_ref with v_ref, a_ref in
its own axes [BL05, §11; Bar17, (7.95)]::

    e   = log X                                          the error, in the tangent space at g
    v_r = Ad(X) v_ref                                    the reference velocity, in axes of g
    a_r = v̇_r = Ad(X) a_ref − [v, v_r]                   its rate as g and g_ref move
    ė   = J_l(e)⁻¹ (v_r − v)
    s   = J_l(e)⁻ᵀ K e                                   force of a spring with the energy ½ eᵀ K e

so that the energy changes at eᵀ K ė = sᵀ (v_r − v), exactly. For a joint with one number all of it is e = q_ref − q, v_r = v_ref,
a_r = a_ref, s = K e. With one gain for a whole joint, J_l(e)⁻ᵀ K e = K e for rotations; of free and planar joints never.

Tasks are led in the same way, by e from where a frame or a function is to its target. Targets are checked here, and made one
vector, which is how a control law takes them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays import (
    as_numbers,
    concat,
    constant,
    cross,
    is_concrete,
    matmul,
    matvec,
    reshape,
    stack,
    transpose,
    zeros,
)
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public.kinematics import difference, frame_pose
from torsor.lie.unchecked import bracket, se3, so3, transform_twist
from torsor.model import Robot
from torsor.model.poses import check_pose
from torsor.tasks import FrameTask, FunctionTask, SelectedTask, StackedTask, Task

Target = Array | Sequence[Array]
TOLERANCE = 1e-6  # of rotations: what single precision, or many steps of an integration, may be off
_SHAPES: dict[str, tuple[int, ...]] = {"pose": (4, 4), "orientation": (3, 3), "position": (3,)}
_WORDS = {"pose": "a pose", "orientation": "a rotation matrix"}


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


class Compared(NamedTuple):
    """v_r and a_r of one joint or frame."""

    velocity: Array
    acceleration: Array


class Group(NamedTuple):
    """How to compare motions on a group: (e, v, v_ref, a_ref) → (v_r, a_r); (e, v_r − v) → ė; (e, K e) → J_l(e)⁻ᵀ K e."""

    compare: Callable[[Array, Array, Array, Array], Compared]
    rate: Callable[[Array, Array], Array]
    spring: Callable[[Array, Array], Array]


def _groups(robot: Robot) -> list[tuple[slice, Group]] | None:
    """Where in v each coordinate is, and the group it moves on; None if all are numbers."""
    s = robot.structure
    if s.has_plain_velocities:
        return None
    return [(c.v, GROUPS[kind.group]) for c, kind in s.blocks]


def _compare_numbers(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(v_ref, a_ref)


def _of_numbers(e: Array, x: Array) -> Array:
    return x


def _compare_rotations(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = so3.exp(e)
    v_r = matvec(X, v_ref)
    a_r = matvec(X, a_ref) - cross(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_rotations(e: Array, relative: Array) -> Array:
    return matvec(so3.left_jacobian_inverse(e), relative)


def _spring_of_rotations(e: Array, pull: Array) -> Array:
    return matvec(so3.right_jacobian_inverse(e), pull)  # J_r = J_lᵀ


def _compare_motions(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    X = se3.exp(e)
    v_r = transform_twist(X, v_ref)
    a_r = transform_twist(X, a_ref) - bracket(v, v_r)
    return Compared(v_r, a_r)


def _rate_of_motions(e: Array, relative: Array) -> Array:
    return matvec(se3.left_jacobian_inverse(e), relative)


def _spring_of_motions(e: Array, pull: Array) -> Array:
    return matvec(transpose(se3.left_jacobian_inverse(e)), pull)


def _compare_planar(e: Array, v: Array, v_ref: Array, a_ref: Array) -> Compared:
    return Compared(*(x[..., 2:5] for x in _compare_motions(*map(_in_space, (e, v, v_ref, a_ref)))))


def _rate_of_planar(e: Array, relative: Array) -> Array:
    return _rate_of_motions(_in_space(e), _in_space(relative))[..., 2:5]


def _spring_of_planar(e: Array, pull: Array) -> Array:
    return _spring_of_motions(_in_space(e), _in_space(pull))[..., 2:5]


def _in_space(x: Array) -> Array:
    """The planar twist (ω, v_x, v_y) as (0, 0, ω, v_x, v_y, 0)."""
    return concat([zeros(2), x, zeros(1)])


NUMBERS = Group(_compare_numbers, _of_numbers, _of_numbers)
ROTATIONS = Group(_compare_rotations, _rate_of_rotations, _spring_of_rotations)
MOTIONS = Group(_compare_motions, _rate_of_motions, _spring_of_motions)
GROUPS = {
    "numbers": NUMBERS,
    "rotations": ROTATIONS,
    "motions": MOTIONS,
    "planar motions": Group(_compare_planar, _rate_of_planar, _spring_of_planar),
}


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


def target_shape(task: Task) -> tuple[int, ...]:
    """What the target of a task of a frame or a function has for its last axes."""
    if isinstance(task, FunctionTask):
        return (task.size,)
    if isinstance(task, FrameTask):
        return _SHAPES[task.kind]
    raise ArgumentError(
        f"the task {task.name!r} says how fast it moves, not where it is: targets are known of tasks of frames and of "
        "functions."
    )


def target_size(task: Task) -> int:
    """How many numbers the target of a task has."""
    if isinstance(task, StackedTask):
        return sum(map(target_size, task.tasks))
    return target_size(task.task) if isinstance(task, SelectedTask) else int(np.prod(target_shape(task)))


def flat_target(task: Task, target: Target) -> TaskVector:
    """The numbers (..., k) of a target, one task after the other; poses and rotations that are known are checked."""
    if isinstance(task, SelectedTask):
        return flat_target(task.task, target)
    if isinstance(task, StackedTask):
        count = len(task.tasks)
        if not isinstance(target, (tuple, list)) or len(target) != count:
            raise ShapeError(f"`target` of task {task.name!r} must be a tuple of {count}, one for each of its parts.")
        return concat([flat_target(*pair) for pair in zip(task.tasks, target, strict=True)])
    shape = target_shape(task)
    what = _WORDS.get(task.kind, "a vector") if isinstance(task, FrameTask) else "a vector"
    try:
        numbers = as_numbers(target)
    except (TypeError, ValueError) as error:
        raise ShapeError(f"`target` of task {task.name!r} is {what}, got {target!r:.60}.") from error
    got = tuple(numbers.shape)
    if got[len(got) - len(shape) :] != shape:
        wanted = ", ".join(map(str, shape))
        raise ShapeError(f"`target` of task {task.name!r} is {what} with shape (..., {wanted}), got {got}.")
    if len(shape) == 1:
        return numbers
    if is_concrete(numbers):
        _refuse_others(f"`target` of task {task.name!r}", numbers)
    return reshape(numbers, 2, shape[0] * shape[1])


def _refuse_others(what: str, T: Array) -> None:
    """Refuse what is not a pose (..., 4, 4), or not a rotation (..., 3, 3)."""
    if T.ndim == 2:
        sound = _is_sound(T)
    else:
        by_entry = np.ascontiguousarray(np.moveaxis(T, (-2, -1), (0, 1)))
        sound = all(np.abs(x).max(initial=0.0) <= TOLERANCE for x in _defects(by_entry))
    if not sound:
        place = next(place for place in np.ndindex(T.shape[:-2]) if not _is_sound(T[place]))
        state = f" in state {', '.join(map(str, place))}" if place else ""
        pose = np.eye(4)
        pose[: T.shape[-1], : T.shape[-1]] = T[place]
        try:
            check_pose(what + state, pose)  # says what is wrong with it
        except ModelError as error:
            raise ArgumentError(str(error)) from None


def _is_sound(T: Array) -> bool:
    """Of one pose or rotation: in Python's numbers, for it is looked at in every call of a loop."""
    return all(abs(x) <= TOLERANCE for x in _defects(T.tolist()))


def _defects(T: Array) -> list[Array]:
    """What is 0 of a pose or a rotation, by its rows: two of unit length and at right angles, the third their cross product."""
    (a, b, c), (d, e, f), (g, h, i) = (row[:3] for row in T[:3])
    found = [a * a + b * b + c * c - 1.0, d * d + e * e + f * f - 1.0, a * d + b * e + c * f]
    found += [b * f - c * e - g, c * d - a * f - h, a * e - b * d - i]
    if len(T) == 4:
        found += [*T[3][:3], T[3][3] - 1.0, *(0.0 * row[3] for row in T[:3])]  # where it is need only be finite
    return found


class Reference(NamedTuple):
    """Where a task should be (..., k), by `flat_target`, how it should move there (..., m), and the gains (..., m)."""

    target: TaskVector
    velocity: TaskVector
    acceleration: TaskVector
    kp: TaskVector
    kd: TaskVector


def task_command(robot: Robot, q: ConfigurationVector, v: JointVector, task: Task, reference: Reference) -> TaskVector:
    """ÿ = a_r + K_d (v_r − ẏ) + J_l(e)⁻ᵀ K_p e (..., m); on poses and rotations as in `tracking_error`.

    Rows that are not selected pull with no force; of a selection ``target`` is that of the whole task.
    """
    if isinstance(task, StackedTask):
        return _stacked(robot, q, v, task, reference)
    if isinstance(task, SelectedTask):
        full = Reference(reference.target, *(_spread(x, task) for x in reference[1:]))
        return task_command(robot, q, v, task.task, full)[..., constant(task.rows)]
    group, e = task_error(robot, q, task, reference.target)
    ydot = matvec(task.jacobian(robot, q), v)
    motion = group.compare(e, ydot, reference.velocity, reference.acceleration)
    return motion.acceleration + reference.kd * (motion.velocity - ydot) + group.spring(e, reference.kp * e)


def task_error(robot: Robot, q: ConfigurationVector, task: Task, target: TaskVector) -> tuple[Group, TaskVector]:
    """The group a task moves on, and e (..., m) from where it is to the target: log(T⁻¹ T_ref), log(Rᵀ R_ref), y_ref − y."""
    goal = reshape(target, 1, *target_shape(task))
    if isinstance(task, FunctionTask):
        return NUMBERS, goal - task.value(robot, q)
    assert isinstance(task, FrameTask), "target_shape knows of no others"
    T = frame_pose(robot, q, task.frame)
    if task.kind == "pose":
        return MOTIONS, se3.log(se3.compose(se3.inverse(T), goal))
    if task.kind == "orientation":
        return ROTATIONS, so3.log(matmul(transpose(T[..., :3, :3]), goal))
    return NUMBERS, goal - T[..., :3, 3]


def _stacked(
    robot: Robot, q: ConfigurationVector, v: JointVector, task: StackedTask, reference: Reference
) -> TaskVector:
    parts, row, number = [], 0, 0
    for one in task.tasks:
        rows, numbers = slice(row, row + one.size), slice(number, number + target_size(one))
        own = Reference(reference.target[..., numbers], *(x[..., rows] for x in reference[1:]))
        parts.append(task_command(robot, q, v, one, own))
        row, number = rows.stop, numbers.stop
    return concat(parts)


def _spread(x: Array, task: SelectedTask) -> Array:
    """Entries of the selected rows among zeros for the others."""
    columns = [x[..., task.rows.index(k)] if k in task.rows else zeros() for k in range(task.task.size)]
    return stack(columns)
