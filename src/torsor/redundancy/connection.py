"""How a lift turns from place to place: its vertical part changes along itself by brackets.

The columns K_a of a lift are vector fields on the configurations. With P = 1 − K J, which removes M⁻¹ Jᵀ, the vertical part
of their derivatives needs no derivative of (J M⁻¹ Jᵀ)⁻¹::

    P ∂_k K = P M⁻¹ ((∂_k J)ᵀ Λ − (∂_k M) K)                     Λ = (J M⁻¹ Jᵀ)⁻¹
    P [K_a, K_b] = Σ_k P (∂_k K_b) K_ka − P (∂_k K_a) K_kb + Σ P s_kl K_ka K_lb

s are the brackets of the velocity frame, which vanish unless joints are planar, spherical or free. For the pseudoinverse M is
1 and does not change. Everything is exact: ∂J are the kinematic Hessians, ∂M is `mass_matrix_derivative`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.checked import check
from torsor.arrays.typing import Array
from torsor.errors import ShapeError, TorsorError
from torsor.functions import mass_matrix, mass_matrix_derivative
from torsor.geometry.freedoms import structure_constants
from torsor.model import Robot
from torsor.motion.border import refuse_strangers
from torsor.tasks import Task, as_task

LIFTS = ("inertia", "pseudoinverse")
SINGULAR = 1e-14  # ratio of eigenvalues that is all rounding
LiftName = str | Array  # "inertia", "pseudoinverse", or a constant metric (nv, nv)


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

    def vertical(self) -> Array:
        """P = 1 − K J (..., nv, nv)."""
        return np.asarray(np.eye(self.robot.nv) - self.K @ self.J)

    def bracket_terms(self) -> list[Array]:
        """(∂_a J)ᵀ Λ and −(∂_a M) K (..., nv, m, m), [i, a, b]: column b changes along column a by P M⁻¹ of their sum."""
        Lambda = _solved(self.gram, np.eye(self.gram.shape[-1]))
        turned = np.einsum("...cia,...cb->...iab", self.J_derivative @ self.K[..., None, :, :], Lambda)
        n, m = self.K.shape[-2:]
        pulled = self.metric_derivative @ self.K[..., None, :, :]  # (∂_k M) K, [k, i, b]
        columns = np.swapaxes(self.K, -1, -2) @ pulled.reshape(*pulled.shape[:-3], n, n * m)  # [a, (i, b)]
        stretched = np.moveaxis(columns.reshape(*columns.shape[:-1], n, m), -3, -2)
        return [turned, -stretched]

    def vertical_brackets(self) -> Array:
        """P [K_a, K_b] (..., nv, m, m)."""
        by_task, by_metric = self.bracket_terms()
        lowered = by_task + by_metric
        change = _solved(self.metric, _flat(lowered)).reshape(lowered.shape)
        brackets = change - np.swapaxes(change, -1, -2)
        if (s := structure_constants(self.robot.structure)) is not None:
            brackets = brackets + np.einsum("kli,...ka,...lb->...iab", s, self.K, self.K)
        return (self.vertical() @ _flat(brackets)).reshape(brackets.shape)

    def vertical_frame(self) -> Array:
        """Z (..., nv, nv − m): an orthonormal frame of ker J, J Z = 0 and Zᵀ M Z = 1."""
        L = np.linalg.cholesky(self.metric)
        whitened = np.swapaxes(np.linalg.solve(L, np.swapaxes(self.J, -1, -2)), -1, -2)  # J N⁻¹ with N = Lᵀ
        kernel = np.linalg.svd(whitened)[2][..., self.J.shape[-2] :, :]
        return np.linalg.solve(np.swapaxes(L, -1, -2), np.swapaxes(kernel, -1, -2))


def connection(robot: Robot, q: Array, task: Task | str, lift: LiftName) -> Connection:
    """The lift of a task at configurations q (..., nq) with everything that its derivatives are made of."""
    q = np.asarray(q, float)
    batch, n = q.shape[:-1], robot.nv
    found = as_task(robot, task)
    J = np.broadcast_to(found.jacobian(robot, q), (*batch, found.size, n))
    J_derivative = np.broadcast_to(found.derivative(robot, q), (*batch, found.size, n, n))
    metric = metric_of(robot, q, lift)
    metric_derivative = mass_matrix_derivative(robot, q) if is_inertia(lift) else np.zeros((n, n, n))
    X = _solved(metric, np.swapaxes(J, -1, -2))
    gram = J @ X
    K = np.swapaxes(_solved(gram, np.swapaxes(X, -1, -2)), -1, -2)
    return Connection(robot, J, J_derivative, metric, np.broadcast_to(metric_derivative, (*batch, n, n, n)), X, gram, K)


def metric_of(robot: Robot, q: Array, lift: LiftName) -> Array:
    """The metric (..., nv, nv) that a lift is orthogonal in, at q (..., nq)."""
    n = robot.nv
    if is_inertia(lift):
        return np.asarray(mass_matrix(robot, q))
    metric = np.eye(n) if isinstance(lift, str) else np.asarray(lift, float)
    return np.broadcast_to(metric, (*np.shape(q)[:-1], n, n))


def is_inertia(lift: LiftName) -> bool:
    """Whether it is the horizontal lift of the inertia metric."""
    return isinstance(lift, str) and lift == "inertia"


def refuse_no_lift(who: str, robot: Robot, lift: Any) -> None:
    """Raise unless ``lift`` is one of the two names or a constant metric (nv, nv)."""
    if isinstance(lift, str):
        if lift not in LIFTS:
            names = ", ".join(map(repr, LIFTS))
            raise TorsorError(
                f"{who}: `lift` is one of {names}, or a constant metric ({robot.nv}, {robot.nv}); got {lift!r}."
            )
    elif np.shape(lift) != (robot.nv, robot.nv):
        raise ShapeError(f"{who}: a metric as `lift` has shape ({robot.nv}, {robot.nv}), got {np.shape(lift)}.")


def configurations_of(who: str, robot: Robot, q: Any) -> Array:
    """``q`` (..., nq) checked, as NumPy numbers."""
    refuse_strangers(who, robot, q)
    return np.asarray(check(who, "q", q, ("nq",), robot), float)


def _flat(tensor: Array) -> Array:
    """(..., nv, m, m) as matrices (..., nv, m²)."""
    return tensor.reshape(*tensor.shape[:-2], tensor.shape[-1] * tensor.shape[-2])


def _solved(A: Array, B: Array) -> Array:
    """A⁻¹ B of symmetric A, with NaN where A is singular but for rounding."""
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(A), A, 0.0)
        values = np.abs(np.linalg.eigvalsh(finite))
        regular = (values.min(axis=-1) > SINGULAR * values.max(axis=-1))[..., None, None]
        return np.where(regular, np.linalg.solve(np.where(regular, finite, np.eye(A.shape[-1])), B), np.nan)
