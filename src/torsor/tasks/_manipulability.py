"""How well a robot can do a task: volumes √det of what unit joint velocities, unit energy or unit joint forces give [Yos85].

The three differ in what is bounded, and so in the matrix W of J W Jᵀ:

    manipulability            |v| ≤ 1        W = 1        task velocities        depends on the units of joints
    inertia_manipulability    vᵀ M v ≤ 1     W = M⁻¹      task velocities        of the robot alone
    dynamic_manipulability    |τ| ≤ 1        W = M⁻²      task accelerations     depends on the units of joints

All depend on the units of the task. The volume of J = Rᵀ Q is that of Q times Π R_ii: near singularities as good as J is.

The ellipsoids of the same sets are those of J W^½. Whether a task is singular, and what is lost, the singular values of J say.
Assumptions A1 (J is onto) and A2 (its kernel has dimension n − m) are one and the same; the kernel never has less, and has
more where the task is singular [Alt04, §II.B, E004-5].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import nan
from operator import mul

import numpy as np

from torsor._reports import Report
from torsor.arrays import OrthonormalRows, dot, factor, matmul, orthonormal_rows, reshape, sqrt, where
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, JointVector, Scalar
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_strangers
from torsor.functions.public import dynamics
from torsor.model import Robot
from torsor.tasks.singular_directions import direction_in_words, half_axes, root_of
from torsor.tasks.task import Task
from torsor.tasks.task_kinds import as_task
from torsor.tasks.typical_scales import VANISHED, refuse_dependent_rows, usual_rank, usual_rows, vanished_rows
from torsor.tasks.weighted_inverse import symmetric_product

BOUNDED = ("velocity", "energy", "force")


def manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """Manipulability w = √det(J Jᵀ): the volume, up to a constant, of the task velocities of |v| ≤ 1 [Yos85].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    (...) array
        In units of the task; 0 where the rows of J are dependent.
    """
    J = as_task(robot, task).jacobian(robot, q)
    return _volume(J, orthonormal_rows(J, twice=False))


def manipulability_gradient(robot: Robot, q: ConfigurationVector, task: Task | str) -> JointVector:
    """Gradient of the manipulability along tangent coordinates, ∂_k w = w tr(J⁺ ∂_k J) [Yos85].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    (..., nv) array
        Units of w per unit of v; NaN where w = 0, for w is not smooth there.
    """
    task = as_task(robot, task)
    refuse_dependent_rows(task, robot)
    J = task.jacobian(robot, q)
    rows = orthonormal_rows(J, vanished_rows(robot, task, J), twice=True)
    transposed = rows.R.solve_columns(rows.Q)  # J⁺ᵀ (..., m, nv)
    m, nv = J.shape[-2:]
    slopes = reshape(task.derivative(robot, q), 3, m * nv, nv)
    traces = matmul(reshape(transposed, 2, 1, m * nv), slopes)[..., 0, :]
    return _volume(J, rows)[..., None] * traces


def inertia_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """Volume √det(J M⁻¹ Jᵀ) = 1/√det Λ of the task velocities of vᵀ M v ≤ 1 [Yos85; Alt04].

    It does not depend on the joint coordinates.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    (...) array
        In units of the task and kg; 0 where the rows of J are dependent.
    """
    J, M_inverse = as_task(robot, task).jacobian(robot, q), dynamics.inverse_mass_matrix(robot, q)
    rows = orthonormal_rows(J, twice=False)
    pivots = factor(symmetric_product(rows.Q, matmul(rows.Q, M_inverse)), guarded=False).inverses
    return _volume(J, rows, 1.0 / sqrt(reduce(mul, pivots)))


def dynamic_manipulability(robot: Robot, q: ConfigurationVector, task: Task | str) -> Scalar:
    """Volume √det(J M⁻² Jᵀ) of the task accelerations of joint forces |τ| ≤ 1, from rest, without gravity [Yos85].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).

    Returns
    -------
    (...) array
        In units of the task, kg and s; 0 where the rows of J are dependent.
    """
    X = matmul(as_task(robot, task).jacobian(robot, q), dynamics.inverse_mass_matrix(robot, q))
    return _volume(X, orthonormal_rows(X, twice=False))


def _volume(A: Array, rows: OrthonormalRows, of_rows: Array = 1.0) -> Scalar:
    """√det(A W Aᵀ) (...) of A = Rᵀ Q and √det(Q W Qᵀ); 0 where the rows of A are dependent, NaN where it is not finite."""
    squares = sum(dot(A[..., k, :], A[..., k, :]) for k in range(A.shape[-2]))
    volume = where(rows.dependent, 0.0, reduce(mul, rows.R.diagonal) * of_rows)
    return where(squares >= 0.0, volume, nan)


@dataclass(frozen=True, eq=False, repr=False)
class ManipulabilityEllipsoid(Report):
    """An ellipsoid in task coordinates: its half axes, longest first. Made by `manipulability_ellipsoid`."""

    robot: Robot
    axes: Array
    """(..., m, m): column i is the unit vector of axis i; no unit."""
    lengths: Array
    """(..., m): half its length, in units of the task; 0 in directions that are lost."""

    @property
    def volume(self) -> Array:
        """The product of all lengths (...): `manipulability` and its kin."""
        return np.prod(self.lengths, axis=-1)

    def __str__(self) -> str:
        """In words: the half axes of one state, the volumes of a batch."""
        what = f"of robot {self.robot.name!r}"
        if self.lengths.ndim == 1:
            return f"ellipsoid {what}: half axes {', '.join(f'{x:.3g}' for x in self.lengths)}"
        if not self.volume.size:
            return f"no ellipsoids {what}"
        return (
            f"{self.volume.size} ellipsoids {what}: volumes from {np.min(self.volume):.3g} to {np.max(self.volume):.3g}"
        )


def manipulability_ellipsoid(
    robot: Robot, q: ConfigurationVector, task: Task | str, *, bounded: str = "velocity"
) -> ManipulabilityEllipsoid:
    """Manipulability ellipsoid: half axes of the task velocities J v, or accelerations J M⁻¹ τ, of a unit bound [Yos85].

    For NumPy arrays.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    bounded : {"velocity", "energy", "force"}
        What is at most one: |v|; vᵀ M v, which does not depend on joint coordinates; or |τ|, the dynamic manipulability
        ellipsoid, from rest and without gravity.

    Returns
    -------
    ManipulabilityEllipsoid
        ``axes`` (..., m, m) and ``lengths`` (..., m), longest first.
    """
    refuse_unknown_word("bounded", bounded, BOUNDED)
    refuse_strangers(robot, q)
    q = np.asarray(q, dtype=float)
    B = as_task(robot, task).jacobian(robot, q)
    if bounded != "velocity":
        M_inverse = dynamics.inverse_mass_matrix(robot, q)
        root, sound = root_of(M_inverse)
        B = B @ (root if bounded == "energy" else np.where(sound[..., None, None], M_inverse, 0.0))
    U, s = half_axes(B)
    if bounded != "velocity":
        s = np.where(sound[..., None], s, np.nan)
    return ManipulabilityEllipsoid(robot, U, s)


@dataclass(frozen=True, eq=False, repr=False)
class TaskRank(Report):
    """Rank of a task's Jacobian at a configuration, and how far it is from losing more; m rows. Made by `task_rank`."""

    robot: Robot
    labels: tuple[str, ...]
    """Names of the rows."""
    rank: Array
    """(...): how many independent velocities the task has here."""
    usual_rank: int
    """The rank at almost all configurations."""
    null_dimension: Array
    """(...): dimension of the kernel of J, the motions that the task does not see: nv − rank."""
    singular_values: Array
    """(..., m), largest first, in units of the task; zeros for rows beyond the number of freedoms."""
    smallest: Array
    """(...): the smallest singular value among the ``usual_rank`` largest; 0 at a singularity."""
    condition: Array
    """(...): the largest by the smallest; no unit, ∞ at a singularity."""
    lost: Array
    """(..., m): unit vector in task coordinates along which the robot can move least, of those where it usually can."""

    @property
    def is_onto(self) -> Array:
        """A1, which is A2: every velocity of the task is possible (...) [Alt04, E004-5]."""
        return self.rank == len(self.labels)

    @property
    def is_singular(self) -> Array:
        """Whether the rank is less than it usually is (...)."""
        return self.rank < self.usual_rank

    def __str__(self) -> str:
        """In words, for one state; how many are singular, for a batch."""
        if self.singular_values.ndim > 1:
            return (
                f"{int(self.is_singular.sum())} of {self.rank.size} states are singular; usual rank {self.usual_rank}"
            )
        if np.isnan(self.singular_values).any():
            return "nothing is known: the configuration is not a number"
        if not self.usual_rank:
            return f"rank 0 of {len(self.labels)}: no joint moves it"
        direction = direction_in_words(self.labels, self.lost)
        end = f"lost: {direction}" if self.is_singular else f"next to be lost: {direction}, {self.smallest:.3g}"
        return f"rank {int(self.rank)} of {len(self.labels)} (usually {self.usual_rank}), condition {self.condition:.3g}; {end}"


def task_rank(robot: Robot, q: GivenConfiguration, task: Task | str, *, tolerance: float = 1e-9) -> TaskRank:
    """Rank of a task's Jacobian, its singular values and the direction nearest to being lost [Alt04, A1, A2, E004-5].

    For NumPy arrays.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    task : Task or str
        A task, or the name of a frame for its pose (body twist).
    tolerance : float
        Singular values below this fraction of the largest count as zero, as do those that are all rounding error beside what is
        usual.

    Returns
    -------
    TaskRank
        Print it to be told. Of a q that is NaN, the rank is 0 and the rest NaN.
    """
    refuse_strangers(robot, q)
    task = as_task(robot, task)
    U, s = half_axes(task.jacobian(robot, np.asarray(q, dtype=float)))
    vanished = VANISHED * usual_rows(task, robot).max(initial=0.0)
    rank, usual = np.sum(s > np.maximum(tolerance * s[..., :1], vanished), axis=-1), usual_rank(task, robot)
    last = max(usual, 1) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        condition = np.where(rank < usual, np.inf, s[..., 0] / s[..., last])
    smallest = np.where(rank < usual, 0.0, s[..., last])
    return TaskRank(robot, task.labels, rank, usual, robot.nv - rank, s, smallest, condition, U[..., :, last])
