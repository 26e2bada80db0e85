"""A lift at configurations, and how it turns from place to place."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import factor, solve_columns
from torsor.arrays.namespace import namespace
from torsor.arrays.typing import Array
from torsor.border.arrays import as_array
from torsor.border.numbers import refuse_strangers
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.redundancy import lift_brackets
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift
from torsor.redundancy.given_lift import GivenLift
from torsor.redundancy.lift_brackets import frame_brackets, lowered_by_metric, lowered_by_task
from torsor.tasks import Task, as_task


class Connection(NamedTuple):
    """A lift at configurations and all that its derivatives are made of.

    ``J`` (..., m, nv) and ``J_derivative`` (..., m, nv, nv), derivative index last; ``metric`` (..., nv, nv) and
    ``metric_derivative`` (..., nv, nv, nv), derivative index first; ``X`` = M⁻¹ Jᵀ (..., nv, m), ``gram`` = J X, ``K``
    (..., nv, m) the lift.
    """

    robot: Robot
    J: Array
    J_derivative: Array
    metric: Array
    metric_derivative: Array
    X: Array
    gram: Array
    K: Array

    def bracket_terms(self) -> list[Array]:
        """M times P [K_a, K_b] (..., nv, m, m) but for what P takes away, in the terms that may cancel."""
        Lambda = solve_columns(factor(self.gram, guarded=True), np.eye(self.gram.shape[-1]))
        halves = [
            lowered_by_task(self.K, Lambda, self.J_derivative),
            lowered_by_metric(self.K, self.metric_derivative),
        ]
        return _antisymmetric(self.robot, halves, self.K, self.metric)

    def vertical_frame(self) -> Array:
        """Z (..., nv, nv − m): an orthonormal frame of ker J, J Z = 0 and Zᵀ M Z = 1."""
        L = np.linalg.cholesky(self.metric)
        whitened = np.swapaxes(np.linalg.solve(L, np.swapaxes(self.J, -1, -2)), -1, -2)  # J N⁻¹ with N = Lᵀ
        kernel = np.linalg.svd(whitened)[2][..., self.J.shape[-2] :, :]
        return np.linalg.solve(np.swapaxes(L, -1, -2), np.swapaxes(kernel, -1, -2))


def connection(robot: Robot, q: Array, task: Task, lift: GivenLift) -> Connection:
    """The lift of a task at regular configurations q (..., nq) with everything that its derivatives are made of."""
    batch, n = q.shape[:-1], robot.nv
    J = np.broadcast_to(task.jacobian(robot, q), (*batch, task.size, n))
    J_derivative = np.broadcast_to(task.derivative(robot, q), (*batch, task.size, n, n))
    metric, metric_derivative = lift.metric_at(robot, q), lift.metric_derivative_at(robot, q)
    X = solve_columns(factor(metric, guarded=True), np.swapaxes(J, -1, -2))
    return Connection(robot, J, J_derivative, metric, metric_derivative, X, J @ X, lift.lift_at(robot, q, task))


def bracket_terms(there: Connection, q: Array, lift: GivenLift) -> list[Array]:
    """M P [K_a, K_b] (..., nv, m, m), but for what is orthogonal to ker J, in the terms that may cancel."""
    if lift.is_metric:
        return there.bracket_terms()
    n, m = there.K.shape[-2:]
    if isinstance(lift.function, ExtendedJacobianLift):
        slopes, P = lift.function.vertical_derivative(there.robot, q), lift.function.projector(there.robot, q)
    else:
        slopes, P = lift.derivative_at(there.robot, q, (n, m)), np.eye(n) - there.K @ there.J
    change = np.swapaxes(slopes @ there.K[..., None, :, :], -1, -2)  # of ∂_k K_ib, [i, b, k], to [i, a, b]
    terms = _antisymmetric(there.robot, [change], there.K, np.eye(n))
    return [_applied(there.metric @ P, term) for term in terms]


def brackets_of(robot: Robot, q: Array, task: Task | str, lift: GivenLift, by: Any = lift_brackets) -> Array:
    """P [K_a, K_b] (..., nv, m, m) at q (..., nq), ``by`` the algorithms as they are written, or compiled ones."""
    if lift.is_inertia:
        return by.inertia_brackets(robot, q, task)
    if lift.metric is None and lift.function is None:
        return by.pseudoinverse_brackets(robot, q, task)
    if lift.function is None:
        return by.metric_brackets(robot, q, task, lift.metric)
    if lift.is_metric:
        return by.metric_brackets(robot, q, task, lift.metric_at(robot, q), lift.metric_derivative_at(robot, q))
    there = connection(robot, q, as_task(robot, task), lift)
    lowered: Any = sum(bracket_terms(there, q, lift))
    return np.asarray(_applied(np.linalg.inv(there.metric), lowered))


def configurations_of(robot: Robot, q: Any) -> Array:
    """``q`` (..., nq) checked, as NumPy numbers."""
    if not isinstance(robot, Robot):
        refuse_strangers(robot)
    try:
        known = namespace(q) is np or np.asarray(q, float) is not None
    except Exception:  # each library has its own for values that are not there yet
        known = False
    if not (known and robot.is_concrete):
        raise ArgumentError(
            "decides by numbers, and cannot run inside jit, grad, vmap or torsor.compile, where they are not known yet: "
            "call it outside. torsor.redundancy.horizontal_lift, split_velocity, velocity_projectors and vertical_brackets run "
            "inside."
        )
    return np.asarray(as_array("q", q, ("nq",), robot), float)


def _antisymmetric(robot: Robot, halves: list[Array], K: Array, metric: Array) -> list[Array]:
    terms = [*halves, *(-np.swapaxes(half, -1, -2) for half in halves)]
    own = frame_brackets(robot, K)
    return terms if own is None else [*terms, _applied(metric, own)]


def _applied(A: Array, tensor: Array) -> Array:
    """A (..., n, n) times a tensor (..., n, m, m) in its first index."""
    m = tensor.shape[-1]
    return np.reshape(A @ np.reshape(tensor, (*tensor.shape[:-2], m * m)), tensor.shape)
