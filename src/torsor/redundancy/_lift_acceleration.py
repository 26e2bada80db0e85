"""Feedback of the task pulled back to the joints: accelerations of the lift of whatever motion the feedback makes.

A law of the workspace says ÿ = u. Of all joint accelerations with J a + J̇ v = u, that of the lifted motion v = K ẏ is ::

    a = K (u − J̇ v) + P K̇ ẏ − k P v        P = 1 − K J

for v̇ = K ÿ + K̇ ẏ and J K̇ = −J̇ K. The last term brakes self-motion: w = P v has P ẇ = −k w. The task does exactly as it would
if it were alone, for every lift K and every v; what the lift decides is which joint motion does it.

K̇ is the derivative of K along v. For the lift of a metric M, P removes M⁻¹Jᵀ and with it the derivative of Λ::

    P K̇ ẏ = P M⁻¹ (J̇ᵀ Λ ẏ − Ṁ K ẏ),    Λ = Kᵀ M K
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.border import explained
from torsor.border.numbers import numbers_of
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.redundancy.configurations import configurations_of, derivative_at, jacobian_at
from torsor.redundancy.lifts import GivenLift, Lift, given_lift
from torsor.tasks import Task, as_task


@explained
def lift_acceleration(
    robot: Robot,
    q: ConfigurationVector,
    v: JointVector,
    task: Task | str,
    acceleration: TaskVector,
    *,
    lift: Lift = "inertia",
    damping: float = 0.0,
) -> JointVector:
    """Joint accelerations a = K (ÿ − J̇ v) + P K̇ ẏ − k P v with which a task accelerates by ÿ, lifted [Alt04, §IV].

    With τ = `inverse_dynamics` (robot, q, v, a), which needs the exact model, a law ÿ = u(t, y, ẏ) of the workspace is one of the
    robot, and its error has the dynamics it was designed for: J a + J̇ v = u for every lift and every v. Paper and folklore say
    that of the horizontal lift; it is a property of J K = 1. From a start without self-motion, v = K ẏ, the joints move along the
    lift of the curve (`lift_curve`), so that with a repeatable lift they come back whenever the task does. `operational_space`
    does the task as well, with K of the inertia, but leaves the lifted curve: it has no K̇.

    Parameters
    ----------
    robot : Robot
        With as many degrees of freedom as the task has rows, or more.
    q : (..., nq) array
        Configurations, rad or m.
    v : (..., nv) array
        Velocities, rad/s or m/s; they may hold self-motion.
    task : Task or str
        The name of a frame means its body twist.
    acceleration : (..., m) array
        ÿ, units of the task per s².
    lift : str, metric or function
        "inertia", "pseudoinverse", a metric (nv, nv), or a function (robot, q) → metric (nv, nv) or K (nv, m). Of functions,
        `extended_jacobian_lift` and `section_lift` are differentiated exactly; others if they can be traced, else by differences.
    damping : float
        k, 1/s: how fast self-motion dies out. With 0 it is left as it is, also where integration makes some.

    Returns
    -------
    (..., nv) array
        a, rad/s² or m/s²; NaN where there is no lift.
    """
    q = configurations_of(robot, q)
    found = as_task(robot, task)
    v, wanted = numbers_of("v", v, (robot.nv,)), numbers_of("acceleration", acceleration, (found.size,))
    if not (np.ndim(damping) == 0 and np.isfinite(damping) and damping >= 0):
        raise ArgumentError(f"`damping` must be one number, finite and not negative, got {damping!r:.60}.")
    try:
        batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], wanted.shape[:-1])
    except ValueError as error:
        shapes = f"`q` {q.shape[:-1]}, `v` {v.shape[:-1]} and `acceleration` {wanted.shape[:-1]}"
        raise ShapeError(f"batch axes of {shapes} do not go together.") from error
    q, v = np.broadcast_to(q, (*batch, robot.nq)), np.broadcast_to(v, (*batch, robot.nv))
    start = q.reshape(-1, robot.nq)[0] if q.size else np.zeros(robot.nq)
    given = given_lift(robot, found, lift, start, exact=True)
    J = jacobian_at(robot, q, found)
    K = given.lift_at(robot, q, found)
    ydot = _times(J, v)
    turning = _lift_rate(robot, q, v, found, given, K, ydot) - damping * v
    needed = wanted - found.drift(robot, q, v) - _times(J, turning)
    return np.asarray(turning + _times(K, needed))  # K (u − J̇ v) + P (K̇ ẏ − k v)


def _lift_rate(robot: Robot, q: Array, v: Array, task: Task, given: GivenLift, K: Array, ydot: Array) -> Array:
    """K̇ ẏ (..., nv), but for what P = 1 − K J takes away."""
    n, m = robot.nv, task.size
    if not given.is_metric:
        return np.asarray(np.einsum("...ibk,...b,...k->...i", given.derivative_at(robot, q, (n, m)), ydot, v))
    M = given.metric_at(robot, q)
    horizontal = _times(K, ydot)
    force = _times(np.swapaxes(K, -1, -2), _times(M, horizontal))  # Λ ẏ = Kᵀ M K ẏ
    dJ = derivative_at(robot, q, task)
    by_task = np.einsum("...aik,...k,...a->...i", dJ, v, force)
    by_metric = np.einsum("...ijk,...k,...j->...i", given.metric_derivative_at(robot, q), v, horizontal)
    return np.asarray(np.linalg.solve(M, (by_task - by_metric)[..., None])[..., 0])


def _times(A: Array, x: Array) -> Array:
    """A (..., r, c) times x (..., c)."""
    return np.asarray(np.einsum("...rc,...c->...r", A, x))
