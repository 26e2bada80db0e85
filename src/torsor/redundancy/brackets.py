"""Brackets of the columns of a lift: does a closed path of the task close in the joints? And O'Neill's tensor, half of them.

The columns K_a of a lift are vector fields on the configurations. P = 1 − K J removes M⁻¹ Jᵀ, so that the vertical part of
their derivatives needs no derivative of (J M⁻¹ Jᵀ)⁻¹::

    P ∂_k K = P M⁻¹ ((∂_k J)ᵀ Λ − (∂_k M) K)                     Λ = (J M⁻¹ Jᵀ)⁻¹
    P [K_a, K_b] = Σ_k P (∂_k K_b) K_ka − P (∂_k K_a) K_kb + Σ P s_kl K_ka K_lb

s are the brackets of the velocity frame, which vanish unless joints are planar, spherical or free. For the pseudoinverse M is
1 and does not change. Everything is exact: ∂J are the kinematic Hessians, ∂M is `mass_matrix_derivative`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from typing import Annotated, Any, NamedTuple

import numpy as np

from torsor.arrays import (
    absolute,
    concat,
    constant,
    factor,
    matmul,
    permute,
    reshape,
    solve_columns,
    take,
    transpose,
    where,
)
from torsor.arrays.primitives import is_concrete
from torsor.arrays.symmetric import Factors
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointTensor3
from torsor.border import explained
from torsor.border.numbers import refuse_no_robot
from torsor.errors import ArgumentError
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import mass_matrix_derivative
from torsor.geometry.freedoms import structure_constants
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.redundancy.configurations import configurations_of, derivative_at, jacobian_at
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift
from torsor.redundancy.lifts import GivenLift, Lift, given_lift
from torsor.tasks import Task, as_task
from torsor.tasks.weighted_inverse import WeightedInverse, pseudoinverse, weighted_inverse

LARGE = 10_000  # products of ∂J and ∂M with K, more or less: ten joints and a pose; beyond, compiling takes too long
LiftBrackets = Annotated[Array, "... nv * *"]


@explained
def vertical_brackets(
    robot: Robot, q: ConfigurationVector, task: Task | str, *, lift: Lift = "inertia"
) -> LiftBrackets:
    """Vertical brackets B[:, a, b] = (1 − K J) [K_a, K_b]: the joints' drift, per area, after a small closed path of the task.

    Doing rows a, b, −a, −b by ε one after the other displaces the joints by ε² B[:, a, b], a self-motion. If B vanishes
    everywhere the lift is repeatable: every closed path of the task that can be drawn together to a point closes in the
    joints too [Alt04, Cor. III.2 and §III.B, E004-7, E004-8, E004-14]. Exact, by the derivatives of J and M.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m.
    task : Task or str
        The name of a frame means its body twist.
    lift : str, metric or function
        "inertia" for `horizontal_lift`, "pseudoinverse", a metric (nv, nv), or a function (robot, q) of one configuration that
        gives a metric (nv, nv) or K (nv, m) and is differentiated: exactly, compiled once, if it is made of torsor's functions
        and NumPy's (it must not change afterwards), else by differences.

    Returns
    -------
    (..., nv, m, m) array
        Antisymmetric, rad or m per squared unit of the task; NaN where J loses rank.
    """
    refuse_no_robot(robot)
    found = as_task(robot, task)
    by = COMPILED if robot.nv**2 * found.size * (robot.nv + found.size) <= LARGE else WRITTEN
    if is_concrete(q) and robot.is_concrete:
        q = configurations_of(robot, q)
        start = q.reshape(-1, robot.nq)[0] if q.size else np.zeros(robot.nq)
        return brackets_of(robot, q, task, given_lift(robot, found, lift, start, exact=True), by)
    if callable(lift):
        raise ArgumentError("a lift that is a function needs plain numbers, and q is being traced.")
    return brackets_of(robot, q, task, given_lift(robot, found, lift, q), by)


@explained
def oneill_tensor(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """O'Neill's tensor A[:, a, b] = ½ [K_a, K_b]^v of a Riemannian submersion, ∇_{K_a} K_b vertical [ONe66; Alt04, E004-8].

    Where the task is a Riemannian submersion (`is_riemannian_submersion`), planes of the task are more curved than those of
    the robot above them: K_base = K_Q + ¾ |[X, Y]^v|² = K_Q + 3 |A_X Y|² for orthonormal X and Y.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m.
    task : Task or str
        The name of a frame means its body twist.

    Returns
    -------
    (..., nv, m, m) array
        Antisymmetric, rad or m per squared unit of the task.
    """
    return 0.5 * vertical_brackets(robot, q, task, lift="inertia")


def inertia_brackets(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """P [K_a, K_b] (..., nv, m, m) of the horizontal lift of the inertia metric."""
    factors = factor(mass_matrix(robot, q), guarded=may_be_singular(robot))
    up = weighted_inverse(robot, q, task)
    return _brackets(robot, q, task, up, factors, mass_matrix_derivative(robot, q))


def pseudoinverse_brackets(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """P [K_a, K_b] (..., nv, m, m) of the pseudoinverse, the lift of the metric M = 1."""
    return _brackets(robot, q, task, pseudoinverse(robot, q, task), None, None)


def metric_brackets(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    metric: JointMatrix,
    metric_derivative: JointTensor3 | None = None,
) -> LiftBrackets:
    """P [K_a, K_b] (..., nv, m, m) of the lift of a metric with its derivatives, index last; constant if there are none."""
    up = weighted_inverse(robot, q, task, metric)
    return _brackets(robot, q, task, up, factor(metric, guarded=True), metric_derivative)


def lowered_by_task(K: Array, Lambda: Array, dJ: Array) -> Array:
    """(∂_a J)ᵀ Λ (..., nv, m, m), [i, a, b]; dJ (..., m, nv, nv), derivative index last."""
    m, n = dJ.shape[-3], dJ.shape[-1]
    turned = matmul(reshape(dJ, 3, m * n, n), K)  # ∂_a J_ci, [(c, i), a]
    turned = permute(reshape(turned, 2, m, n, m), (1, 2, 0))
    return reshape(matmul(reshape(turned, 3, n * m, m), Lambda), 2, n, m, m)


def lowered_by_metric(K: Array, dM: Array) -> Array:
    """−(∂_a M) K (..., nv, m, m), [i, a, b]; dM (..., nv, nv, nv), derivative index last."""
    n, m = K.shape[-2:]
    pulled = matmul(reshape(permute(dM, (2, 0, 1)), 3, n * n, n), K)  # (∂_k M) K, [(k, i), b]
    along = matmul(transpose(K), reshape(pulled, 2, n, n * m))  # [a, (i, b)]
    return -permute(reshape(along, 2, m, n, m), (1, 0, 2))


def frame_brackets(robot: Robot, K: Array) -> Array | None:
    """Σ s_kl K_ka K_lb (..., nv, m, m), [i, a, b], of body velocities that do not commute; None if all do."""
    s = structure_constants(robot.structure)
    if s is None:
        return None
    n, m = K.shape[-2:]
    half = matmul(constant(s.transpose(0, 2, 1).reshape(n * n, n)), K)  # [(k, i), b]
    return permute(reshape(matmul(transpose(K), reshape(half, 2, n, n * m)), 2, m, n, m), (1, 0, 2))


def _brackets(
    robot: Robot, q: Array, task: Task | str, up: WeightedInverse, factors: Factors | None, dM: Array | None
) -> LiftBrackets:
    found = as_task(robot, task)
    m = found.size
    K, Lambda = up.lift(), up.inertia()
    none = where(absolute(K[..., :, :1]) > -1.0, 0.0, nan)  # [K_a, K_a] = 0, but NaN where there is no K
    if m == 1:
        return none[..., None]
    lowered = lowered_by_task(K, Lambda, found.derivative(robot, q))
    if dM is not None:
        lowered = lowered + lowered_by_metric(K, dM)
    a, b = (constant(index) for index in zip(*((a, b) for b in range(m) for a in range(b)), strict=True))  # pairs, once
    lowered = lowered[..., :, a, b] - lowered[..., :, b, a]
    change = lowered if factors is None else solve_columns(factors, lowered)
    if (own := frame_brackets(robot, K)) is not None:
        change = change + own[..., :, a, b]
    change = change - matmul(up.projector(), change)
    last = m * (m - 1) // 2
    number = [[_pair(min(i, j), max(i, j)) if i != j else last for j in range(m)] for i in range(m)]
    sign = constant([[-1.0 if i > j else 1.0 for j in range(m)] for i in range(m)])
    return take(concat([change, none]), constant(number)) * sign


def _pair(a: int, b: int) -> int:
    """The number of the pair a < b in the order above."""
    return b * (b - 1) // 2 + a


class Algorithms(NamedTuple):
    """Brackets of the lifts that are known by their metric."""

    inertia: Callable[..., Array]
    pseudoinverse: Callable[..., Array]
    metric: Callable[..., Array]


WRITTEN = Algorithms(inertia_brackets, pseudoinverse_brackets, metric_brackets)
COMPILED = Algorithms(*(public(algorithm, "B", registered=False) for algorithm in WRITTEN))  # for each robot and task


class Connection(NamedTuple):
    """A lift at configurations and all that its derivatives are made of.

    ``J`` (..., m, nv) and ``J_derivative`` (..., m, nv, nv), derivative index last; ``metric`` (..., nv, nv) and
    ``metric_derivative`` (..., nv, nv, nv), derivative index last; ``X`` = M⁻¹ Jᵀ (..., nv, m), ``gram`` = J X, ``K``
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
    J, J_derivative = jacobian_at(robot, q, task), derivative_at(robot, q, task)
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


def brackets_of(robot: Robot, q: Array, task: Task | str, lift: GivenLift, by: Algorithms = WRITTEN) -> Array:
    """P [K_a, K_b] (..., nv, m, m) at q (..., nq), by the algorithms as they are written, or by compiled ones."""
    if lift.is_inertia:
        return by.inertia(robot, q, task)
    if lift.metric is None and lift.function is None:
        return by.pseudoinverse(robot, q, task)
    if lift.function is None:
        return by.metric(robot, q, task, lift.metric)
    if lift.is_metric:
        return by.metric(robot, q, task, lift.metric_at(robot, q), lift.metric_derivative_at(robot, q))
    there = connection(robot, q, as_task(robot, task), lift)
    lowered: Any = sum(bracket_terms(there, q, lift))
    return np.asarray(_applied(np.linalg.inv(there.metric), lowered))


def _antisymmetric(robot: Robot, halves: list[Array], K: Array, metric: Array) -> list[Array]:
    terms = [*halves, *(-np.swapaxes(half, -1, -2) for half in halves)]
    own = frame_brackets(robot, K)
    return terms if own is None else [*terms, _applied(metric, own)]


def _applied(A: Array, tensor: Array) -> Array:
    """A (..., n, n) times a tensor (..., n, m, m) in its first index."""
    m = tensor.shape[-1]
    return np.reshape(A @ np.reshape(tensor, (*tensor.shape[:-2], m * m)), tensor.shape)
