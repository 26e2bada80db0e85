"""Task-space dynamics near singularities: only the directions that a robot can hardly move in are damped, and it is said how.

J M⁻¹ Jᵀ, the acceleration for forces along the task, becomes small in the direction u that is about to be lost, and its
inverse Λ large. With the mobilities σ_i of all directions (each row measured by what is usual for the robot), the inverse of a
mobility below the limit ε is replaced by a damped one, 1/σ → σ/(σ² + (ε² − σ²)) = σ/ε²: continuous at ε, at most 1/ε, and 0 at
the singularity. Of an acceleration demanded along u, (σ/ε)² is given and the rest given up; all other directions stay exact.

Eigenvectors have no derivatives where eigenvalues are equal, functions of matrices do. With B = Uᵀ A U, which is diagonal but for
rounding errors, f(A) = U (diag f(σ) + f[σ_p, σ_q] B_pq) Uᵀ by the divided differences of f: the second term adds nothing to the
value, and everything to the derivative, whatever that of U.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from torsor._reports import Report, one_line
from torsor.arrays import as_numbers, dot, identity, matmul, matrix, matvec, outer, sqrt, stack, transpose, where
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.symmetric_eigen import symmetric_eigen
from torsor.arrays.typing import (
    Array,
    ConfigurationVector,
    GivenConfiguration,
    GivenJointVector,
    JointMatrix,
    JointVector,
    TaskJacobian,
    TaskLift,
    TaskMatrix,
    TaskVector,
)
from torsor.border import checked
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.dispatch import public
from torsor.functions.public import dynamics
from torsor.model import Robot
from torsor.tasks._task_space_dynamics import Lift, TaskSpaceDynamics, lifted
from torsor.tasks.task import Task
from torsor.tasks.task_kinds import as_task
from torsor.tasks.typical_scales import usual_scales

ROUNDING = 1e-18  # of the largest mobility: what is below counts as not moving at all
MOST_COMPILED = 7  # rows; the eigenvectors of more take too many operations to write out


@dataclass(frozen=True, eq=False, repr=False)
class DampingReport(Report):
    """Which directions of a task were damped, and what was given up. m rows of the task; directions sorted by mobility."""

    robot: Robot
    labels: tuple[str, ...]
    """Names of the rows."""
    mobility: Array
    """σ (..., m), largest first: acceleration for a unit force along each direction, 1 being usual for the robot; no unit."""
    directions: Array
    """(..., m, m): column i is the unit vector, in task coordinates, that σ_i belongs to."""
    achieved: Array
    """(..., m): the fraction of an acceleration along each direction that is given, 1 where nothing was damped."""
    lost: TaskMatrix
    """1 − J J̄ (..., m, m): what takes from the acceleration needed the part that is given up."""
    needed: TaskVector
    """J M⁻¹ (C v + g) − J̇ v (..., m): what the robot's own motion and weight need on top of the acceleration demanded."""

    @property
    def is_damped(self) -> Array:
        """Whether any direction was damped, (...); so is what cannot be computed."""
        return ~(self.achieved >= 1.0).all(axis=-1)

    def given_up(self, acceleration: TaskVector) -> TaskVector:
        """The acceleration demanded less the one that follows, (..., m), per s², by `task_space_dynamics` forces Λ ÿ + η."""
        return matvec(self.lost, as_numbers(acceleration) + self.needed)

    def __str__(self) -> str:
        """In words: one state by its directions, a batch by how many of its states are damped."""
        if self.mobility.ndim > 1:
            many, worst = f"{int(self.is_damped.sum())} of {self.is_damped.size}", self.achieved.min(initial=1.0)
            return (
                f"{many} states are damped; of an acceleration, {100 * worst:.3g} % is achieved in the worst direction"
            )
        if np.isnan(self.mobility).any():
            return "nothing is known: the state, or the mass matrix, is not a number"
        damped = [k for k in range(len(self.labels)) if self.achieved[k] < 1.0]
        if not damped:
            return f"nothing is damped; the smallest mobility is {self.mobility[-1]:.3g} of the usual"
        return "\n".join(
            f"along {direction_in_words(self.labels, self.directions[:, k])}: {100 * (1 - self.achieved[k]):.3g} % of the "
            f"acceleration is given up (mobility {self.mobility[k]:.3g} of the usual)"
            for k in damped
        )


class DampedTaskSpaceDynamics(NamedTuple):
    """Task-space dynamics that stay bounded, and the report of what that cost."""

    dynamics: TaskSpaceDynamics
    """As `task_space_dynamics` has it, with Λ bounded. Its projector is exact: null torques never disturb the task."""
    report: DampingReport
    """Which directions were damped."""

    def __repr__(self) -> str:
        return one_line(self)


def damped_task_space_dynamics(
    robot: Robot,
    q: GivenConfiguration,
    v: GivenJointVector,
    task: Task | str,
    *,
    limit: float = 1e-3,
    scales: Array | None = None,
) -> DampedTaskSpaceDynamics:
    """Task-space dynamics that never blow up: directions of little mobility are damped, the others exact [Kha87].

    Rows may be dependent, and more than the robot has freedoms. May be part of what `torsor.compile` compiles.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Joint velocities, rad/s or m/s.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    limit : float
        Mobility, eigenvalue of J M⁻¹ Jᵀ, below which a direction is damped; no unit.
    scales : (m,) array, optional
        What each row of the task is measured by, the square root of its usual mobility; as it is at random configurations, if
        not given.

    Returns
    -------
    DampedTaskSpaceDynamics
        ``dynamics``, as of `task_space_dynamics`, and the ``report`` of what was damped. NaN where M is singular.
    """
    task = as_task(robot, task)
    unit = limit_scales(task, robot, limit, scales)
    evaluate = _damped_terms if task.size <= MOST_COMPILED else checked(damped_terms)
    found = evaluate(robot, q, v, task, unit)
    bias = found.coriolis + found.gravity
    dynamics = TaskSpaceDynamics(found.inertia, bias, *found[1:7])
    report = DampingReport(
        robot, task.labels, limit * found.mobility, found.directions, found.achieved, found.lost, found.needed
    )
    return DampedTaskSpaceDynamics(dynamics, report)


class DampedTerms(NamedTuple):
    """The arrays of damped dynamics and their report; mobility in units of the limit."""

    inertia: TaskMatrix
    coriolis: TaskVector
    gravity: TaskVector
    jacobian: TaskJacobian
    drift: TaskVector
    inverse: TaskLift
    projector: JointMatrix
    mobility: TaskVector
    directions: TaskMatrix
    achieved: TaskVector
    lost: TaskMatrix
    needed: TaskVector


def damped_terms(robot: Robot, q: ConfigurationVector, v: JointVector, task: Task, scales: TaskVector) -> DampedTerms:
    """All arrays of damped dynamics, for rows measured by ``scales`` (m,) such that the limit is a mobility of 1."""
    J, lift = lifted(robot, q, task)
    along = directions(J, lift, scales)
    inertia = matmul(matmul(along.left, along.gain), transpose(along.left))
    drift = task.drift(robot, q, v)
    from_velocity = matvec(lift.transposed, dynamics.coriolis_forces(robot, q, v)) - drift
    from_weight = matvec(lift.transposed, dynamics.gravity_forces(robot, q))
    projector = identity(robot.nv) - matmul(matmul(transpose(along.lifts), along.weights), along.rows)
    right = along.left * (scales * scales)[..., :, None]
    return DampedTerms(
        inertia,
        matvec(inertia, from_velocity),
        matvec(inertia, from_weight),
        J,
        drift,
        matmul(transpose(lift.transposed), inertia),
        projector,
        along.mobility,
        right / sqrt(dot(transpose(right), transpose(right)))[..., None, :],
        along.achieved,
        _spread(right, 1.0 - along.achieved, along.left),
        from_velocity + from_weight,
    )


class Directions(NamedTuple):
    """The directions of a task, from the easiest to the hardest; L = S⁻¹ U with the eigenvectors U of S⁻¹ J M⁻¹ Jᵀ S⁻¹."""

    mobility: TaskVector
    """σ (..., m)."""
    gain: TaskMatrix
    """Its inverse, damped (..., m, m): diagonal, with what differentiates it beside the diagonal."""
    achieved: TaskVector
    """σ · gain, of which what is missing to 1 is given up (..., m)."""
    left: TaskMatrix
    """L (..., m, m), a column for each."""
    rows: TaskJacobian
    """Lᵀ J (..., m, nv)."""
    lifts: TaskJacobian
    """Lᵀ J M⁻¹ (..., m, nv)."""
    weights: TaskMatrix
    """1/σ, undamped (..., m, m), and 0 for what does not move at all: diagonal, as the gain is."""
    given_up: TaskMatrix
    """(1 − achieved)/σ (..., m, m), and 0 for what does not move at all: diagonal, as the gain is."""

    def forces(self, acceleration: TaskVector) -> TaskVector:
        """Λ ÿ (..., m) with the damped Λ."""
        return matvec(self.left, matvec(self.gain, matvec(transpose(self.left), acceleration)))

    def motion(self, acceleration: TaskVector) -> JointVector:
        """M⁻¹ Jᵀ Λ ÿ (..., nv) with the damped Λ: what joints do for it."""
        return matvec(transpose(self.lifts), matvec(self.gain, matvec(transpose(self.left), acceleration)))

    def unfelt(self, motion: JointVector) -> JointVector:
        """N x (..., nv): of a motion what the task does not feel, damped or not."""
        return motion - matvec(transpose(self.lifts), matvec(self.weights, matvec(self.rows, motion)))

    def left_over(self, motion: JointVector, factors: TaskVector) -> JointVector:
        """Of a motion (..., nv) the part along directions that are damped, as far as they are, times a factor of each."""
        along = factors * matvec(self.rows, motion)
        return matvec(transpose(self.lifts), matvec(self.given_up, along))


def directions(J: TaskJacobian, lift: Lift, scales: TaskVector) -> Directions:
    """The directions of a task with rows measured by ``scales`` (m,): those of a mobility below 1 are damped."""
    unit = 1.0 / scales
    A = lift.gram * outer(unit, unit)
    U = symmetric_eigen(A).vectors
    B = matmul(transpose(U), matmul(A, U))
    mobility = diagonal(B)
    mobility = where(mobility < 0.0, 0.0, mobility)
    damped = mobility < 1.0
    inverse = 1.0 / where(damped, 1.0, mobility)
    left = U * unit[..., :, None]
    # By the rows of J along the directions, measured again: an eigenvalue near 0 is rounding error long before they are.
    rows, lifts = matmul(transpose(left), J), matmul(transpose(left), lift.transposed)
    C = matmul(rows, transpose(lifts))
    squares = [C[..., k, k] for k in range(C.shape[-1])]
    weights = [1.0 / where(square > ROUNDING * squares[0], square, math.inf) for square in squares]
    given_up = [where(square < 1.0, weight - square, 0.0) for square, weight in zip(squares, weights, strict=True)]
    return Directions(
        mobility,
        _by_differences(where(damped, mobility, inverse), B, partial(_damped_difference, mobility, inverse)),
        where(mobility >= 1.0, 1.0, mobility * mobility),  # NaN stays NaN
        left,
        rows,
        lifts,
        _by_differences(stack(weights), C, lambda p, q: -weights[p] * weights[q]),
        _by_differences(stack(given_up), C, partial(_given_up_difference, squares, weights, given_up)),
    )


def diagonal(A: TaskMatrix) -> TaskVector:
    """A_kk (..., m)."""
    return stack([A[..., k, k] for k in range(A.shape[-1])])


def _by_differences(values: TaskVector, B: TaskMatrix, difference: Callable[[int, int], Array]) -> TaskMatrix:
    """diag f(σ) + f[σ_p, σ_q] B_pq (..., m, m)."""
    m = B.shape[-1]
    beside = {(p, q): difference(p, q) * B[..., p, q] for p in range(m) for q in range(p + 1, m)}
    return matrix([[values[..., p] if p == q else beside[min(p, q), max(p, q)] for q in range(m)] for p in range(m)])


def _damped_difference(mobility: TaskVector, inverse: TaskVector, p: int, q: int) -> Array:
    """f[σ_p, σ_q] of the damped inverse f, for p before q: 1 if both are damped, −1/(σ_p σ_q) if none is."""
    larger, smaller = mobility[..., p], mobility[..., q]
    one_damped = (larger >= 1.0) & (smaller < 1.0)
    apart = where(one_damped, larger - smaller, 1.0)
    mixed = (inverse[..., p] - smaller) / apart
    none_damped = -inverse[..., p] * inverse[..., q]
    return where(one_damped, mixed, where(larger < 1.0, 1.0, none_damped))


def _given_up_difference(squares: list[Array], weights: list[Array], given_up: list[Array], p: int, q: int) -> Array:
    """f[σ_p, σ_q] of f = 1/σ − σ below 1 and 0 above, for p before q."""
    one_damped = (squares[p] >= 1.0) & (squares[q] < 1.0)
    apart = where(one_damped, squares[p] - squares[q], 1.0)
    both_damped = -weights[p] * weights[q] - 1.0
    return where(one_damped, -given_up[q] / apart, where(squares[p] < 1.0, both_damped, 0.0))


_damped_terms = public(damped_terms, DampedTerms, registered=False)


def _spread(left: TaskMatrix, diagonal: TaskVector, right: TaskMatrix) -> TaskMatrix:
    """left diag rightᵀ."""
    return matmul(left * diagonal[..., None, :], transpose(right))


def direction_in_words(labels: tuple[str, ...], direction: Array) -> str:
    """A direction in task coordinates by the rows that matter in it, the largest first: "0.98 vx − 0.2 wz"."""
    order = [k for k in np.argsort(-np.abs(direction), kind="stable") if abs(direction[k]) > 0.05]
    sign = 1.0 if direction[order[0]] > 0 else -1.0
    terms = [f"{'+' if sign * direction[k] > 0 else '−'} {abs(direction[k]):.2g} {labels[k]}" for k in order]
    return " ".join(terms).removeprefix("+ ")


def half_axes(B: Array) -> tuple[Array, Array]:
    """Of what B (..., m, n) makes of the unit ball: U (..., m, m), a column for each axis, and half their lengths s (..., m).

    Zeros for what n < m columns cannot have; NaN where B is not finite.
    """
    sound = np.isfinite(B).all(axis=(-2, -1))[..., None]
    U, s, _ = np.linalg.svd(np.where(sound[..., None], B, 0.0), full_matrices=True)
    return np.where(sound[..., None], U, np.nan), np.where(sound, _padded(s, B.shape[-2]), np.nan)


def root_of(M_inverse: Array) -> tuple[Array, Array]:
    """K (..., nv, nv) with K Kᵀ = M⁻¹, and where M⁻¹ exists (...); 1 elsewhere."""
    sound = np.isfinite(M_inverse).all(axis=(-1, -2))
    return np.linalg.cholesky(np.where(sound[..., None, None], M_inverse, np.eye(M_inverse.shape[-1]))), sound


def limit_scales(task: Task, robot: Robot, limit: float, scales: Array | None = None) -> Array:
    """What to measure rows by (m,) so that a mobility of ``limit`` in units of ``scales``, or of the usual ones, is 1."""
    if not limit > 0.0:
        raise ArgumentError(f"`limit` must be positive, got {limit!r}.")
    return (usual_scales(task, robot) if scales is None else _checked_scales(task, scales)) * math.sqrt(limit)


def _checked_scales(task: Task, scales: Array) -> Array:
    refuse_foreign(scales, "scales")
    given = np.asarray(scales, dtype=float)
    if given.shape != (task.size,) or not np.all(given > 0.0):
        raise ShapeError(
            f"`scales` must be {task.size} positive numbers, one for each of "
            f"{', '.join(task.labels)}, got {scales!r:.80}."
        )
    return given


def _padded(s: Array, size: int) -> Array:
    """The first numbers of the last axis, or zeros after them."""
    missing = max(size - s.shape[-1], 0)
    return np.concatenate([s[..., :size], np.zeros((*s.shape[:-1], missing))], axis=-1)
