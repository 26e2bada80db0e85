"""Is a task a Riemannian submersion? Then lengths of horizontal velocities are those of the task, the same at all of a fibre.

With G = J M⁻¹ Jᵀ, the inverse of the inertia that the task feels::

    G = g⁻¹                                     lengths are those of the metric g of the task
    ∂_z G = 0 for all z with J z = 0            they are those of some metric: G does not change along fibres
    ∂_k G = ∂_kJ M⁻¹Jᵀ + (∂_kJ M⁻¹Jᵀ)ᵀ − J M⁻¹ ∂_kM M⁻¹ Jᵀ
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor.arrays.typing import Array, ConfigurationVector, TaskMatrix
from torsor.errors import ShapeError, TorsorError
from torsor.model import Robot
from torsor.motion.border import refuse_bad_numbers, refuse_strangers
from torsor.redundancy.connection import Connection, connection
from torsor.redundancy.in_words import tried, vector
from torsor.redundancy.regular_configurations import regular_configurations
from torsor.tasks import Task, as_task

WHO = "is_riemannian_submersion"


@dataclass(frozen=True, eq=False)
class SubmersionReport:
    """The answer of `is_riemannian_submersion`, true if the task is one onto the target metric, and what it rests on.

    ``defect``: the largest entry of W G Wᵀ − 1, no unit, with target = WᵀW, found at ``where`` (nq,). ``variation``: the
    largest change of G along a fibre as a fraction of its largest term, no unit, found at ``varies_at`` (nq,);
    ``constant_along_fibres``: that there is none, so that G is a submersion onto some metric. ``configurations`` that were
    tried, and ``skipped`` ones, which were singular.
    """

    robot: str
    submersion: bool
    constant_along_fibres: bool
    defect: float
    where: Array
    variation: float
    varies_at: Array
    tolerance: float
    configurations: int
    skipped: int

    def __bool__(self) -> bool:
        return self.submersion

    def __str__(self) -> str:
        verdict = "is" if self.submersion else "is not"
        lines = [
            f"robot {self.robot!r}: the task {verdict} a Riemannian submersion onto the target metric: over "
            f"{tried(self.configurations, self.skipped)} J M⁻¹ Jᵀ is off by {self.defect:.2g} at most, at q = "
            f"{vector(self.where)}."
        ]
        if self.constant_along_fibres:
            lines.append(
                f"J M⁻¹ Jᵀ does not change along fibres ({self.variation:.1g} of its largest term): it is one onto some "
                "metric."
            )
        else:
            lines.append(
                f"J M⁻¹ Jᵀ changes along fibres (by {self.variation:.2g} of its largest term, at q = "
                f"{vector(self.varies_at)}): it is a Riemannian submersion onto no metric at all."
            )
        return "\n".join(lines)


def is_riemannian_submersion(
    robot: Robot,
    task: Task | str,
    target: TaskMatrix | None = None,
    *,
    q: ConfigurationVector | None = None,
    configurations: int = 12,
    seed: int = 0,
    tolerance: float = 1e-9,
) -> SubmersionReport:
    """Whether horizontal lengths are those of a metric of the task, J M⁻¹ Jᵀ = target⁻¹ [Alt04, Prop. II.1, E004-6].

    Flatness of the robot does not make it so, as printed there; most robots are far from it. The rows of the task must be a
    frame of what it moves in: a pose, orientation, position or function is, some rows of a body twist are not.

    ``task``: a `Task`, or the name of a frame for its body twist. ``target`` (m, m): the metric of the task, symmetric and
    positive definite; the identity if None. Asked at ``q`` (..., nq), rad or m, or at random ``configurations`` within the
    limits; ``tolerance``: of both answers, no unit. Returns a report that is true or false and says why when printed.
    """
    refuse_strangers(WHO, robot)
    refuse_bad_numbers(WHO, tolerance=tolerance)
    W = _root(robot, as_task(robot, task), target)
    drawn = regular_configurations(WHO, robot, task, q, configurations, seed)
    lift = connection(robot, drawn.q, task, "inertia")
    defect = np.max(np.abs(W @ lift.gram @ W.T - np.eye(len(W))), axis=(-2, -1))
    variation = _variation(lift)
    worst, most = int(np.argmax(defect)), int(np.argmax(variation))
    return SubmersionReport(
        robot.name,
        bool(defect[worst] <= tolerance),
        bool(variation[most] <= tolerance),
        float(defect[worst]),
        drawn.q[worst],
        float(variation[most]),
        drawn.q[most],
        tolerance,
        len(drawn.q),
        drawn.skipped,
    )


def _variation(lift: Connection) -> Array:
    """The largest change of G along unit velocities of the fibre (B,), over the terms that cancel in it."""
    Z = lift.vertical_frame()
    if Z.shape[-1] == 0:
        return np.zeros(len(Z))
    L = np.linalg.cholesky(lift.gram)
    unit = np.swapaxes(np.linalg.solve(L, np.swapaxes(lift.X, -1, -2)), -1, -2)  # M⁻¹ Jᵀ L⁻ᵀ, orthonormal in M
    rows = np.linalg.solve(L, lift.J_derivative.reshape(*L.shape[:-1], -1)).reshape(lift.J_derivative.shape)
    by_task = np.einsum("...aik,...ib,...kz->...abz", rows, unit, Z)
    by_metric = -np.einsum("...kij,...ia,...jb,...kz->...abz", lift.metric_derivative, unit, unit, Z)
    terms = [by_task, np.swapaxes(by_task, -3, -2), by_metric]
    # A derivative along z turns things by |z| rad: where all terms vanish, that is the size of their rounding.
    size = np.maximum(_largest(*terms), np.max(np.abs(Z), axis=(-2, -1)))
    return _largest(sum(terms)) / size


def _largest(*tensors: Any) -> Array:
    return np.max([np.max(np.abs(x), axis=(-3, -2, -1)) for x in tensors], axis=0)


def _root(robot: Robot, task: Task, target: Any) -> Array:
    """W with WᵀW = target."""
    m = task.size
    g = np.eye(m) if target is None else np.asarray(target, float)
    if g.shape != (m, m) or not np.allclose(g, g.T):
        raise ShapeError(f"{WHO}: `target` must be symmetric of shape ({m}, {m}) for this task, got {g.shape}.")
    try:
        return np.linalg.cholesky(g).T
    except np.linalg.LinAlgError as error:
        raise TorsorError(f"{WHO}: `target` must be positive definite.") from error
