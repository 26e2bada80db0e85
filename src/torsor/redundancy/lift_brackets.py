"""Vertical brackets of the columns of a lift: how its vertical part changes along itself.

The columns K_a of a lift are vector fields on the configurations. P = 1 − K J removes M⁻¹ Jᵀ, so that the vertical part of
their derivatives needs no derivative of (J M⁻¹ Jᵀ)⁻¹::

    P ∂_k K = P M⁻¹ ((∂_k J)ᵀ Λ − (∂_k M) K)                     Λ = (J M⁻¹ Jᵀ)⁻¹
    P [K_a, K_b] = Σ_k P (∂_k K_b) K_ka − P (∂_k K_a) K_kb + Σ P s_kl K_ka K_lb

s are the brackets of the velocity frame, which vanish unless joints are planar, spherical or free. For the pseudoinverse M is
1 and does not change. Everything is exact: ∂J are the kinematic Hessians, ∂M is `mass_matrix_derivative`.
"""

from __future__ import annotations

from math import nan
from typing import Annotated

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
from torsor.arrays.symmetric import Factors
from torsor.arrays.typing import Array, ConfigurationVector, JointMatrix, JointTensor3
from torsor.functions.public.dynamics import mass_matrix
from torsor.functions.public.geometry import mass_matrix_derivative
from torsor.geometry.freedoms import structure_constants
from torsor.model import Robot
from torsor.model.link_inertias import may_be_singular
from torsor.tasks import Task, as_task
from torsor.tasks.weighted_inverse import WeightedInverse, pseudoinverse, weighted_inverse

LiftBrackets = Annotated[Array, "... nv * *"]


def inertia_brackets(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """P [K_a, K_b] (..., nv, m, m) of the horizontal lift of the inertia metric."""
    factors = factor(mass_matrix(robot, q), guarded=may_be_singular(robot))
    up = weighted_inverse(robot, q, task)
    return _brackets(robot, q, task, up, factors, mass_matrix_derivative(robot, q))


def pseudoinverse_brackets(robot: Robot, q: ConfigurationVector, task: Task | str) -> LiftBrackets:
    """The same of the pseudoinverse: M = 1."""
    return _brackets(robot, q, task, pseudoinverse(robot, q, task), None, None)


def metric_brackets(
    robot: Robot,
    q: ConfigurationVector,
    task: Task | str,
    metric: JointMatrix,
    metric_derivative: JointTensor3 | None = None,
) -> LiftBrackets:
    """The same of a metric with its derivatives, index last; constant if there are none."""
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
