"""Resolved rates and accelerations: the joint motion of a task, the rest of it as near as can be to a second aim.

Of all v with J v = ẏ the nearest to v_0 in a metric W is [Whi69; Lie77; NH86]::

    v = v_0 + K (ẏ − J v_0)         K = W⁻¹ Jᵀ (J W⁻¹ Jᵀ + d² 1)⁻¹

and of all a with J a + J̇ v = ÿ likewise [Luh80]. K v of W = 1 is the pseudoinverse, of W = M the motion of least kinetic energy.
With damping d > 0 no motion is large near singularities: v is then the least of |ẏ − J v|² + d² |v − v_0|²_W.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays import as_numbers, factor, identity, is_concrete, matvec, solve, solve_columns, transpose
from torsor.arrays.typing import ConfigurationVector, JointMatrix, JointVector, Scalar, TaskJacobian, TaskVector
from torsor.model import Robot
from torsor.tasks import Task, as_task
from torsor.tasks.task_space_dynamics import check_rows, symmetric_product
from torsor.tasks.usual import refuse_dependent_rows, without_vanished_rows
from torsor.tasks.weighted_inverse import metric_factors


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
    """v = v_0 + K (ẏ − J v_0): the joint velocities of a task, nearest to v_0 in a metric [Whi69; Lie77; NH86].

    ``null`` v_0 (..., nv), rad/s or m/s, is what the robot would do if the task left it free: minus a gain times
    `limit_gradient` or `posture_gradient`, plus one times `manipulability_gradient`; zero if not given, which makes v as small
    as can be. What is small, ``metric`` (..., nv, nv) says: `mass_matrix` for the kinetic energy, none for |v|.

    ``q`` (..., nq), rad or m; ``velocity`` ẏ (..., m), per s; ``damping`` d (...), in units of J W^−½. Returns (..., nv), rad/s
    or m/s; undamped, NaN where the rows of J are dependent, and an error if they always are; NaN where the metric is not
    symmetric and positive definite. Limits are not its concern: see `prioritised_velocities`.
    """
    task = as_task(robot, task)
    check_rows("resolved_rate", "velocity", velocity, task)
    return _nearest(robot, task, task.jacobian(robot, q), velocity, null, metric, damping)


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
    """a = a_0 + K (ÿ − J̇ v − J a_0): the joint accelerations of a task, nearest to a_0 in a metric [Luh80; HHS89].

    ``null`` a_0 (..., nv), rad/s² or m/s²: damp in it, −k v for instance, what the task leaves free, or that drifts on.
    ``metric`` and ``damping`` are those of `resolved_rate`.

    ``q`` (..., nq), rad or m; ``v`` (..., nv), rad/s or m/s; ``acceleration`` ÿ (..., m), per s². Returns (..., nv), rad/s² or
    m/s²; undamped, NaN where the rows of J are dependent, and an error if they always are.
    """
    task = as_task(robot, task)
    check_rows("resolved_acceleration", "acceleration", acceleration, task)
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
    if is_concrete(damping) and not np.any(damping):
        refuse_dependent_rows(task, robot)
    X = J if metric is None else transpose(solve_columns(metric_factors(metric), transpose(J)))
    d = as_numbers(damping)[..., None, None]
    gram = without_vanished_rows(robot, task, J, symmetric_product(J, X)) + d * d * identity(J.shape[-2])
    needed = y if null is None else y - matvec(J, null)
    x = matvec(transpose(X), solve(factor(gram, guarded=True), needed))
    return x if null is None else null + x
