"""Joint velocities for several tasks in strict order of priority, within joint limits.

Every task is least squares, |ẏ − J v|², among all v that do the tasks before it equally well: none takes anything from those
before it. What all of them leave free goes to v_0: the least (v − v_0)ᵀ W (v − v_0) remains. Without limits in the way it is
v_0 + K (ẏ − J v_0) of `resolved_rate` for one task, and the recursion of null spaces for several.

Limits are hard in every level: |v| of the robot's velocity limits, and its position limits at the end of a step (exactly for
joints with one number, to first order for the place of planar and free ones). A robot beyond a position limit comes back over
the time ``recovery``; if velocity limits do not let it, it comes back as fast as they do and the result names the limits.

With acceleration limits also |v − previous| ≤ a_max dt, and what positions allow is less: enough is left to brake. A loop that
starts at rest within limits then never meets limits that contradict each other, whatever its tasks [`joint_limit_rows`]. Where
they do, position limits give way, then velocity limits.

A task that wants what cannot be reached leads the robot to rest at the edge: joints go no more than half the way in a step to
where the task turns back, and lower levels do not move them away from there [`edge_of_reach`]. Where no step would pass such a
place, the result is the least squares above, exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from torsor.arrays.typing import (
    GivenConfiguration,
    GivenJointVector,
    GivenTaskVector,
    JointMatrix,
    Scalar,
)
from torsor.border import explained
from torsor.control.priorities.added_limits import Limit, added_rows
from torsor.control.priorities.joint_limit_rows import velocity_rows
from torsor.control.priorities.limit_rows import all_rows
from torsor.control.priorities.priority_result import PrioritisedVelocities
from torsor.control.priorities.quadratic_program import piqp_module
from torsor.control.priorities.states import (
    Rest,
    acceleration_limits_from,
    check_numbers,
    in_batch,
    kinds_kept,
    metric_root,
    pairs_of,
    plain_tasks,
    resolved_states,
    terms_of,
    vectors,
)
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.tasks import Task


@explained
def prioritised_velocities(
    robot: Robot,
    q: GivenConfiguration,
    tasks: Sequence[tuple[Task | str, GivenTaskVector]],
    dt: float,
    *,
    null: GivenJointVector | None = None,
    metric: JointMatrix | None = None,
    within_limits: bool | Collection[str] = True,
    previous: GivenJointVector | None = None,
    acceleration_limits: GivenJointVector | Scalar | None = None,
    limits: Sequence[Limit] = (),
    recovery: float = 0.1,
    damping: float = 0.0,
) -> PrioritisedVelocities:
    """Joint velocities within limits that do the first task as well as can be, then the second, and so on [KLW11; EMW14].

    Hierarchical QP: differential inverse kinematics by a hierarchy of quadratic programs; the module's text says what is
    solved. Tasks that contradict each other, limits or the robot's abilities give up what they must: print the result.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m. States of a batch are solved one after the other.
    tasks : sequence of pairs (Task or str, (..., m) array)
        Each with its ẏ, per s, highest priority first.
    dt : float
        The step, s.
    null, metric : (..., nv) and (..., nv, nv) array, optional
        v_0, rad/s or m/s, zero if not given; W, symmetric and positive definite, 1 if not given.
    within_limits : bool or a collection of "position", "velocity"
        Which limits of the robot are kept: all, none, or those that are listed.
    previous, acceleration_limits : (..., nv) array; float or (nv,) array, optional
        The v of the step before, and limits, rad/s² or m/s². They go together.
    limits : sequence of Limit
        Other limits, made by `task_limit` or of a class of your own.
    recovery : float
        The time in which what is beyond a limit comes back, s.
    damping : float
        d ≥ 0 in units of J adds d² |change of v|² to every task, for motions that stay small near singularities.

    Returns
    -------
    PrioritisedVelocities
        With ``v`` (..., nv), rad/s or m/s. Needs the QP solver of ``pip install 'torsor[qp]'``.
    """
    listed = plain_tasks(
        "prioritised_velocities", robot, tasks, (q, dt, null, metric, previous, acceleration_limits, recovery, damping)
    )
    piqp_module()
    nv = robot.nv
    kinds = kinds_kept(within_limits, ("position", "velocity"))
    check_numbers(dt=(dt, True), recovery=(recovery, False), damping=(damping, False))
    if (previous is None) != (acceleration_limits is None):
        raise ArgumentError("`acceleration_limits` and `previous` go together; pass both or none.")
    most = acceleration_limits_from(acceleration_limits, nv)
    pairs, root = pairs_of("velocity", robot, listed), metric_root(robot, metric)
    state = in_batch(
        [
            ("q", vectors("q", q, robot.nq)),
            ("null", np.zeros(nv) if null is None else vectors("null", null, nv)),
            ("previous", np.zeros(nv) if previous is None else vectors("previous", previous, nv)),
        ],
        "velocity",
        pairs,
    )
    q, null, last, *wanted = state
    terms = [terms_of(robot, task, y, task.jacobian(robot, q), y) for (task, _), y in zip(pairs, wanted, strict=True)]
    change = None if previous is None else (last, most)
    rows = velocity_rows(robot, q, dt, recovery, **kinds, change=change)
    rows = all_rows(nv, [rows, *added_rows(limits, robot, q, None, dt, recovery)])
    rest = Rest.of_velocities(dt, last, most)
    states, v = resolved_states(robot, q, terms, null, root, rows, damping, rest)
    return PrioritisedVelocities(robot, states, v.shape[:-1], v=v)
