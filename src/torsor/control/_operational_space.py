"""Operational-space control: a task driven to its target with the robot's own dynamics cancelled, the rest to a posture.

**Near singularities** torques stay bounded: along directions whose mobility is below the limit the task is followed only as far
as bounded forces do, all others exactly, as `damped_task_space_dynamics` says. The task may have more rows than the robot has
freedoms. Without a limit, 0.0, the task is followed exactly, with fewer operations, and torques are NaN where the rows of J are
dependent. Motion along a direction that is damped is braked with K_d, as far as the task does not brake it; and along
directions of a mobility below 50 times the limit nothing pulls joints more than if they were half a turn from where they should
be.

**A target out of reach** is replaced by the nearest that is not: followed to where it is lost, it would ask for infinite joint
velocities. Joint limits are not looked at. A target that comes again costs nothing, a new one that is near a tenth of a
millisecond. Targets that are inputs of a kernel, or JAX arrays, are taken as they are: pass `nearest_target` of them.

On the way there a factor softens all but the braking, so that nothing pulls a joint more than if it were ``farthest`` from
where it should be: no joint becomes faster than farthest · kp/kd (or kd²/4 for kp), nor than twice its velocity limit. Motors
that cannot brake so hard brake all joints in proportion, and torques are within effort limits if weight and Coriolis forces
are. Robots led to points come to rest near the nearest, to poses perhaps at a singularity on the way. Targets within reach, and
those of a kernel, are approached so if ``farthest`` is given.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

from torsor.arrays import zeros
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    GivenConfiguration,
    GivenJointVector,
    GivenNumbers,
    GivenTaskVector,
    JointVector,
    TaskVector,
)
from torsor.border import checked, explained
from torsor.control import operational_space_law as laws
from torsor.control._nearest_target import within_reach
from torsor.control.controller_decorator import Batch, checked_vectors, gains, law
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.tasks import Task, as_task
from torsor.tasks._task_space_dynamics import check_rows
from torsor.tasks.singular_directions import MOST_COMPILED, limit_scales
from torsor.tasks.targets import flat_target
from torsor.tasks.task import Value

NUMBERS = (int, float, np.integer, np.floating)
ANYWHERE, OUT_OF_REACH = np.array(0.0), np.array(1.0 / laws.FARTHEST)  # 1/rad or 1/m
# One for each way, chosen before the call: an argument that is no array would take calls off the fast entry.
_TORQUES = {False: law(laws.operational_space, "tau"), True: law(laws.operational_space_within_effort, "tau")}
_LONG_TORQUES: dict[bool, Callable[..., JointVector]] = {  # too long to be written out
    False: checked(laws.operational_space),
    True: checked(laws.operational_space_within_effort),
}
_posture_acceleration = law(laws.posture_acceleration, "a")


@explained
def operational_space(
    robot: Robot,
    q: GivenConfiguration,
    v: GivenJointVector,
    task: Task | str,
    target: Value,
    kp: GivenNumbers,
    kd: GivenNumbers,
    *,
    velocity: GivenTaskVector | None = None,
    acceleration: GivenTaskVector | None = None,
    posture: GivenConfiguration | None = None,
    posture_kp: GivenNumbers | None = None,
    posture_kd: GivenNumbers | None = None,
    limit: float = 1e-3,
    scales: GivenNumbers | None = None,
    nearest: bool = True,
    within_effort: bool = False,
    farthest: float | None = None,
) -> JointVector:
    """Joint forces of operational-space control: a task to its target, the rest of the robot to a posture [Kha87].

    τ = τ_0 + Jᵀ Λ (ÿ − J̇ v − J a_0), where τ_0 = M a_0 + C v + g + friction is what the posture alone would have: of all
    accelerations with which the task does as it should, the one that results is nearest to a_0 as the inertia measures it::

        a_0 = J_l(e)⁻ᵀ K_p e − K_d v                         with e = posture ⊖ q and its gains
        ÿ   = a_r + K_d (v_r − ẏ) + J_l(e)⁻ᵀ K_p e           with e from the task to its target

    A task error obeys ë + K_d ė + K_p e = 0, and on poses what `computed_torque` says of free joints. The module's text says
    what is done near singularities and for targets out of reach.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    target : array or a tuple of them
        The pose (..., 4, 4) of a frame in base axes, a rotation (..., 3, 3) or position (..., 3), by the kind of the task; a
        vector for a function; of a selection of rows, that of the whole task; of stacked tasks, a tuple.
    kp, kd : float or (..., m) array
        Gains of the task, 1/s² and 1/s.
    velocity, acceleration : (..., m) array, optional
        How the target moves, in its own axes; zero if not given.
    posture : (..., nq) array, optional
        Where the robot is to be in what the task leaves free, rad or m, with the gain ``posture_kp``.
    posture_kp, posture_kd : float or (..., nv) array, optional
        Gains of the posture, 1/s² and 1/s. **With fewer rows than freedoms** pass ``posture_kd``, 2√kp say: at 0.0 nothing
        brakes what the task leaves free, which then goes on when the task has arrived, and may become faster without bound. If
        it is not given, it is 0.0 for targets within reach and the mean of ``kd`` for others, at which no robot would come to
        rest without.
    limit, scales : float and (m,) array, optional
        Directions of a mobility below ``limit`` are damped, as `damped_task_space_dynamics` says; 0.0 for none. A robot whose
        numbers are inputs of a kernel needs ``scales``.
    nearest : bool
        Replace targets out of reach by the nearest that are not, as `nearest_target` finds them, where targets are plain
        numbers.
    within_effort : bool
        Scale the task's acceleration by one factor from 0 to 1, so that no torque is beyond the effort limit of its joint: the
        task is led in the same direction, more slowly. Where what remains at the factor 0 is beyond a limit, it is cut off
        there.
    farthest : float, optional
        Nothing pulls a joint more than if it were this far, rad or m, from where it should be; π if not given, for targets out
        of reach alone.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N.
    """
    moving, free = (velocity, acceleration), (posture, posture_kp, posture_kd)
    return _torques(robot, q, v, task, target, kp, kd, moving, free, limit, scales, nearest, within_effort, farthest)


def _torques(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task | str,
    target: Value,
    kp: Array,
    kd: Array,
    moving: tuple[TaskVector | None, TaskVector | None],
    free: tuple[ConfigurationVector | None, Array | None, Array | None],
    limit: float,
    scales: Array | None,
    nearest: bool,
    within_effort: bool,
    farthest: float | None,
) -> JointVector:
    """The arguments checked, and the law for them; ``moving`` is how the target moves, ``free`` a posture and its gains."""
    posture, posture_kp, posture_kd = free
    state = {"robot": robot, "q": q, "v": v}
    options = {"velocity": moving[0], "acceleration": moving[1], "posture": posture}
    given, batch = checked_vectors(operational_space, {**state, **options})
    own = _first_equal(as_task(robot, task))
    unit, goal = _unit(robot, own, limit, scales), flat_target(own, target)
    batch = _common(batch, tuple(goal.shape[:-1]))
    kp, kd = (gains(name, k, own.size, lambda: own.labels, batch) for name, k in (("kp", kp), ("kd", kd)))
    ydot_ref, yddot_ref = (_rows(name, given[name], own) for name in ("velocity", "acceleration"))
    q, v, asked = given["q"], given["v"], goal
    if nearest and isinstance(goal, np.ndarray) and robot.is_concrete:
        where_it_is = q if isinstance(q, np.ndarray) else None
        goal, (ydot_ref, yddot_ref) = within_reach(robot, own, goal, where_it_is, (ydot_ref, yddot_ref))
    if posture_kd is None:
        posture_kd = 0.0 if goal is asked else _brake(goal, asked, kd)
    a_0 = _wanted(robot, q, v, given["posture"], posture_kp, posture_kd, batch)
    ways = _TORQUES if unit is None or own.size <= MOST_COMPILED else _LONG_TORQUES
    bounds = (_nearness(farthest, goal, asked), *(() if unit is None else (unit,)))
    return ways[bool(within_effort)](robot, q, v, own, goal, kp, kd, ydot_ref, yddot_ref, a_0, *bounds)


def _brake(goal: Array, asked: Array, kd: Array) -> Array:
    """Of what the task leaves free (..., 1) or a number, 1/s: the task's own mean gain where its target is out of reach."""
    mean = np.mean(kd, axis=-1)
    if goal.ndim == 1 and mean.ndim == 0:
        return float(mean)
    return np.where(np.any(goal != asked, axis=-1), mean, 0.0)[..., None]


def _nearness(farthest: float | None, goal: Array, asked: Array) -> Array | None:
    """1/``farthest`` (...) or, if that is not given, that of targets out of reach and 0 elsewhere; None if none can be known."""
    if farthest is not None:
        if isinstance(farthest, bool) or not isinstance(farthest, NUMBERS) or not farthest > 0.0:
            raise ArgumentError(f"`farthest` must be a plain positive number, rad or m, got {farthest!r:.60}.")
        return np.asarray(1.0 / farthest)
    if goal is asked:
        return ANYWHERE if isinstance(goal, np.ndarray) else None
    if goal.ndim == 1:
        return OUT_OF_REACH
    return np.where(np.any(goal != asked, axis=-1), OUT_OF_REACH, ANYWHERE)


def _common(batch: Batch, of_target: Batch) -> Batch:
    """The batch axes of both; if they do not go together, the law itself will say so."""
    if batch == of_target:
        return batch
    with contextlib.suppress(ValueError):
        return np.broadcast_shapes(batch, of_target)
    return batch


@lru_cache(maxsize=256)
def _first_equal(task: Task) -> Task:
    """The first of tasks that are equal: the way to machine code is shortest for the very task of the call before."""
    return task


def _unit(robot: Robot, task: Task, limit: float, scales: Array | None) -> Array | None:
    """What rows are measured by, so that the limit is a mobility of 1; None if there is no limit."""
    if isinstance(limit, bool) or not isinstance(limit, NUMBERS) or not 0.0 <= limit < math.inf:
        raise ArgumentError(f"`limit` must be a plain number, positive or 0.0 for none, got {limit!r:.60}.")
    if not limit:
        return None
    if scales is None and not robot.is_concrete:
        raise ArgumentError(
            f"what is little mobility is measured with the numbers of the robot, and those of {robot.name!r} are being "
            "traced or differentiated: pass `scales`, as to damped_task_space_dynamics, or limit=0.0."
        )
    return limit_scales(task, robot, limit, scales)


def _rows(name: str, x: TaskVector | None, task: Task) -> TaskVector:
    if x is None:
        return _zeros(task.size)
    check_rows(name, x, task)
    return x


@lru_cache(maxsize=64)
def _zeros(size: int) -> Array:
    return zeros(size)


def _wanted(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    posture: ConfigurationVector | None,
    kp: Array | None,
    kd: Array,
    batch: Batch,
) -> JointVector:
    """a_0, what the posture alone would have."""
    if posture is None and kp is not None:
        raise ArgumentError("`posture_kp` pulls to a posture: pass it too, as `posture`; to damp, `posture_kd`.")
    if posture is not None and kp is None:
        raise ArgumentError("nothing pulls to `posture`: pass its gain too, as `posture_kp`, 1/s².")
    kd = gains("posture_kd", kd, robot.nv, lambda: robot.structure.freedoms, batch)
    if posture is None:
        return -kd * v
    kp = gains("posture_kp", kp, robot.nv, lambda: robot.structure.freedoms, batch)
    return _posture_acceleration(robot, q, v, posture, kp, kd)
