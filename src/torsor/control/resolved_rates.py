"""Resolved rates and accelerations: the joint motion of a task, the rest of it as near as can be to a second aim.

Of all v with J v = ẏ the nearest to v_0 in a metric W is [Whi69; Lie77; NH86]::

    v = v_0 + K (ẏ − J v_0)         K = W⁻¹ Jᵀ (J W⁻¹ Jᵀ + d² 1)⁻¹

and of all a with J a + J̇ v = ÿ likewise [Luh80]. K v of W = 1 is the pseudoinverse, of W = M the motion of least kinetic energy.
With damping d > 0 no motion is large near singularities: v is then the least of |ẏ − J v|² + d² |v − v_0|²_W.

What a redundant robot may care for besides its task are functions of the configuration, given by their gradients along v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

import numpy as np

from torsor.arrays import as_numbers, block, concat, constant, identity, is_concrete, matvec, take, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointVector, Scalar, TaskJacobian, TaskVector
from torsor.control.priorities.joint_limit import named_limits, rate_columns
from torsor.control.tracking_error import spring_force
from torsor.functions.dispatch import public
from torsor.functions.public.kinematics import difference
from torsor.model import Robot
from torsor.tasks import Task, as_task
from torsor.tasks._task_space_dynamics import check_rows
from torsor.tasks.typical_scales import refuse_dependent_rows, vanished_rows
from torsor.tasks.weighted_inverse import inverse_in_metric, symmetric_or_nan

P = ParamSpec("P")
R = TypeVar("R")


def _compiled(result: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a public function of an algorithm: checked at the border, compiled for each robot and task."""
    return lambda algorithm: public(algorithm, result, module=__name__)


@_compiled("v")
def resolved_rate(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    velocity: TaskVector,
    *,
    null: JointVector | None = None,
    metric: JointMatrix | None = None,
    damping: Scalar = 0.0,
) -> JointVector:
    """Joint velocities of a task, v = v_0 + K (ẏ − J v_0), nearest to v_0 in a metric [Whi69; Lie77; NH86].

    Differential inverse kinematics (differential IK, resolved-rate control). Limits are not its concern: see
    `prioritised_velocities`.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    velocity : (..., m) array
        ẏ, in units of the task, per s.
    null : (..., nv) array, optional
        v_0, rad/s or m/s, what the robot would do if the task left it free: minus a gain times `limit_gradient` or
        `posture_gradient`, plus one times `manipulability_gradient`. Zero if not given, which makes v as small as can be.
    metric : (..., nv, nv) array, optional
        W, which says what is small: `mass_matrix` for the kinetic energy, none for |v|.
    damping : float or (...) array
        d, in units of J W^−½.

    Returns
    -------
    (..., nv) array
        Rad/s or m/s. Undamped, NaN where the rows of J are dependent, and an error if they always are; NaN where the metric is
        not symmetric and positive definite.
    """
    task = as_task(robot, task)
    check_rows("velocity", velocity, task)
    return _nearest(robot, task, task.jacobian(robot, q), velocity, null, metric, damping)


@_compiled("a")
def resolved_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task | str,
    acceleration: TaskVector,
    *,
    null: JointVector | None = None,
    metric: JointMatrix | None = None,
    damping: Scalar = 0.0,
) -> JointVector:
    """Joint accelerations of a task, a = a_0 + K (ÿ − J̇ v − J a_0), nearest to a_0 in a metric [Luh80; HHS89].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    acceleration : (..., m) array
        ÿ, in units of the task, per s².
    null : (..., nv) array, optional
        a_0, rad/s² or m/s²: damp in it, −k v for instance, what the task leaves free, or that drifts on. Zero if not given.
    metric : (..., nv, nv) array, optional
        W, which says what is small: `mass_matrix` for the kinetic energy, none for |a|.
    damping : float or (...) array
        d, in units of J W^−½.

    Returns
    -------
    (..., nv) array
        Rad/s² or m/s². Undamped, NaN where the rows of J are dependent, and an error if they always are.
    """
    task = as_task(robot, task)
    check_rows("acceleration", acceleration, task)
    needed = acceleration - task.drift(robot, q, v)
    return _nearest(robot, task, task.jacobian(robot, q), needed, null, metric, damping)


def _nearest(
    robot: Robot,
    task: Task,
    J: TaskJacobian,
    y: TaskVector,
    null: JointVector | None,
    metric: JointMatrix | None,
    damping: Scalar,
) -> JointVector:
    n = J.shape[-1]
    W = None if metric is None else symmetric_or_nan(metric)
    vanished = vanished_rows(robot, task, J)
    if is_concrete(damping) and not np.any(damping):
        refuse_dependent_rows(task, robot)
    else:
        J, W, vanished = _damped(J, W, vanished, as_numbers(damping))
    needed = y if null is None else y - matvec(J[..., :n], null)
    x = inverse_in_metric(J, W, vanished, guarded=True).motion(needed)[..., :n]
    return x if null is None else null + x


def _damped(
    J: TaskJacobian, W: JointMatrix | None, vanished: list[Array] | None, d: Array
) -> tuple[Array, Array | None, list[Array] | None]:
    """(J, d 1) and the metric of W and 1: its inverse solves J v + d s = ẏ with the least |v|²_W + |s|², where d s is left."""
    m, n = J.shape[-2:]
    beside = d[..., None, None] * identity(m)
    wide = concat([J, beside])
    if W is not None:
        W = block([[W, zeros(n, m)], [zeros(m, n), identity(m)]])
    return wide, W, None if vanished is None else [lost & (d == 0.0) for lost in vanished]


@_compiled("slope")
def limit_gradient(robot: Robot, q: ConfigurationVector) -> JointVector:
    """Gradient of H = ½ Σ ((q_j − middle) / (half the range))², over all numbers of q with two limits [Lie77].

    Quaternions have none. H is 0 in the middle of all ranges, and a number at a limit adds ½. Along tangent coordinates: −∂H
    leads a robot away from its limits.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.

    Returns
    -------
    (..., nv) array
        Per rad or per m.
    """
    lower, upper = np.array(robot.limits.lower), np.array(robot.limits.upper)
    limited = named_limits(robot).q
    bounded = limited[(np.isfinite(lower) & np.isfinite(upper) & (upper > lower))[limited]]
    if not len(bounded):
        return 0.0 * difference(robot, q, q)
    lower, upper = lower[bounded], upper[bounded]
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    slope = (take(q, bounded) - constant(middle)) / constant(half**2)
    return matvec(take(rate_columns(robot, q), bounded), slope)


@_compiled("slope")
def posture_gradient(
    robot: Robot, q: ConfigurationVector, posture: ConfigurationVector, *, weights: JointVector | None = None
) -> JointVector:
    """Gradient of H = ½ eᵀ W e with e = posture ⊖ q, along tangent coordinates [Lie77; BL05, §11].

    −∂H leads a robot to the posture. Exact for every kind of joint.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    posture : (..., nq) array
        Rad or m.
    weights : (..., nv) array, optional
        The diagonal of W; 1 if not given.

    Returns
    -------
    (..., nv) array
        Rad or m.
    """
    e = difference(robot, q, posture)
    return -spring_force(robot, e, constant(1.0) if weights is None else weights)
