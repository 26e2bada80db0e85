"""Joint accelerations and torques for several tasks in strict order of priority, within joint limits.

Every task is least squares, |ÿ − J̇ v − J a|², among all a that do the tasks before it equally well. What all of them leave
free goes to a_0: the least (a − a_0)ᵀ W (a − a_0) remains. Without limits in the way it is that of `resolved_acceleration` for
one task.

Limits are hard in every level: |a| of acceleration limits; |v + a dt| of the robot's velocity limits; |τ| of its effort limits,
friction included; and of its position limits as much as leaves room to brake [Del18; `joint_limit_rows`]. With acceleration
limits, a loop that starts at rest within limits stays within those of position, velocity and acceleration and never meets any
that contradict each other, whatever its tasks. Without, a robot within its position limits stays there by whatever deceleration
that takes, and comes to rest near them over the time ``recovery``. Both hold for joints with one number if a is constant over
steps dt, or if v + a dt is; the place of planar and free ones keeps its limits to first order in dt. A motion that effort
limits do not let brake passes a limit: acceleration limits should be such that they do.

Where limits contradict each other, those of position give way, then velocity, then acceleration, and ``conflicts`` names them.
A robot beyond a limit comes back over the time ``recovery``, by no more than its acceleration limits.

A task that wants what cannot be reached leads the robot to rest at the edge, as with velocities: what is out of reach pulls
joints to where the task turns back like a critically damped spring, in a time of a few steps, at least a tenth of ``recovery``
[`edge_of_reach`]. There, and nowhere else, directions along which the task moves by less than 1e-4 of what is usual are left to
lower levels: torques that are held for a step disturb the robot by more [`fading_directions`].
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
from torsor.control.priorities.joint_limit_rows import acceleration_rows
from torsor.control.priorities.limit_rows import all_rows
from torsor.control.priorities.priority_result import PrioritisedAccelerations
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
from torsor.functions.public import dynamics
from torsor.model import Robot
from torsor.tasks import Task

RESTING = 2.0  # steps, at least, in which what is out of reach comes to rest
OF_RECOVERY = 0.1  # and at least this part of the time in which robots come back from beyond limits


@explained
def prioritised_accelerations(
    robot: Robot,
    q: GivenConfiguration,
    v: GivenJointVector,
    tasks: Sequence[tuple[Task | str, GivenTaskVector]],
    dt: float,
    *,
    null: GivenJointVector | None = None,
    metric: JointMatrix | None = None,
    within_limits: bool | Collection[str] = True,
    acceleration_limits: GivenJointVector | Scalar | None = None,
    limits: Sequence[Limit] = (),
    recovery: float = 0.1,
    damping: float = 0.0,
) -> PrioritisedAccelerations:
    """Joint accelerations and torques within limits, for tasks in strict order of priority [KLW11; EMW14].

    Hierarchical QP: differential inverse kinematics by a hierarchy of quadratic programs; the module's text says what is
    solved. **Damp in a_0, −k v for instance, what the tasks leave free, or that drifts on.**

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m. States of a batch are solved one after the other.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    tasks : sequence of pairs (Task or str, (..., m) array)
        Each with its ÿ, per s², highest priority first.
    dt : float
        The step, s.
    null, metric : (..., nv) and (..., nv, nv) array, optional
        a_0, rad/s² or m/s², zero if not given; W, symmetric and positive definite, 1 if not given.
    within_limits : bool or a collection of "position", "velocity", "effort"
        Which limits of the robot are kept: all, none, or those that are listed.
    acceleration_limits : float or (nv,) array, optional
        Rad/s² or m/s²; none if not given.
    limits : sequence of Limit
        Other limits, made by `task_limit` or of a class of your own.
    recovery : float
        The time in which what is beyond a limit comes back, s.
    damping : float
        d ≥ 0 in units of J adds d² |change of a|² to every task, for motions that stay small near singularities.

    Returns
    -------
    PrioritisedAccelerations
        ``a``, ``tau`` (..., nv), rad/s² and N·m, or m/s² and N. Needs the QP solver of ``pip install 'torsor[qp]'``.
    """
    listed = plain_tasks(
        "prioritised_accelerations", robot, tasks, (q, v, dt, null, metric, acceleration_limits, recovery, damping)
    )
    piqp_module()
    nv = robot.nv
    kinds = kinds_kept(within_limits, ("position", "velocity", "effort"))
    check_numbers(dt=(dt, True), recovery=(recovery, False), damping=(damping, False))
    most = acceleration_limits_from(acceleration_limits, nv)
    pairs, root = pairs_of("acceleration", robot, listed), metric_root(robot, metric)
    state = in_batch(
        [
            ("q", vectors("q", q, robot.nq)),
            ("v", vectors("v", v, nv)),
            ("null", np.zeros(nv) if null is None else vectors("null", null, nv)),
        ],
        "acceleration",
        pairs,
    )
    q, v, null, *wanted = state
    terms = [
        terms_of(robot, task, y, task.jacobian(robot, q), y - np.asarray(task.drift(robot, q, v)))
        for (task, _), y in zip(pairs, wanted, strict=True)
    ]
    rows = acceleration_rows(robot, q, v, dt, recovery, **kinds, most=most)
    rows = all_rows(nv, [rows, *added_rows(limits, robot, q, v, dt, recovery)])
    rest = Rest.of_accelerations(max(RESTING * dt, OF_RECOVERY * recovery), v, most)
    states, a = resolved_states(robot, q, terms, null, root, rows, damping, rest)
    tau = dynamics.inverse_dynamics(robot, q, v, a)
    return PrioritisedAccelerations(robot, states, a.shape[:-1], a=a, tau=tau)
