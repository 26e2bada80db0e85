"""Classes of generalised inverses of a matrix, and partial isometries.

Is a task a Riemannian submersion? Then lengths of horizontal velocities are those of the task, the same at all of a fibre.

With G = J M⁻¹ Jᵀ, the inverse of the inertia that the task feels::

    G = g⁻¹                                     lengths are those of the metric g of the task
    ∂_z G = 0 for all z with J z = 0            near each configuration they are those of some metric
    ∂_k G = ∂_kJ M⁻¹Jᵀ + (∂_kJ M⁻¹Jᵀ)ᵀ − J M⁻¹ ∂_kM M⁻¹ Jᵀ

A fibre may have several components, elbow up and elbow down; that G is the same on all of them is asked of configurations that
Newton's method finds for the same value of the task.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.foreign import refuse_foreign
from torsor.arrays.typing import Array, GivenConfiguration, TaskMatrix
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers, refuse_strangers, refuse_unknown
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.redundancy.brackets import Connection, connection
from torsor.redundancy.configurations import LIMIT, regular_configurations, tried, vector
from torsor.redundancy.fibres import solutions
from torsor.redundancy.lifts import GivenLift
from torsor.redundancy.task_places import is_frame
from torsor.tasks import Task, as_task
from torsor.tasks.targets import entries
from torsor.tasks.task_groups import MOTIONS, ROTATIONS

CONDITIONS = ("I", "II", "III", "IV")
MEANINGS = {"I": "A X A = A", "II": "X A X = X", "III": "A X symmetric", "IV": "X A symmetric"}


@dataclass(frozen=True, eq=False, repr=False)
class GeneralisedInverse(Report):
    """Which of Penrose's conditions hold of a matrix and its inverse.

    Attributes
    ----------
    holds : tuple of str
        Those of "I" … "IV" that hold.
    defects : dict
        Of all four, by how much they fail, relative, no unit; they hold up to ``tolerance``.
    """

    holds: tuple[str, ...]
    defects: dict[str, float]
    tolerance: float

    def __contains__(self, condition: str) -> bool:
        return condition in self.holds

    @property
    def is_moore_penrose(self) -> bool:
        """All four hold: X is A⁺, the only matrix of which that is true."""
        return len(self.holds) == 4

    @property
    def name(self) -> str:
        """The class as it is usually written, "{I, II, III}", with its name where it has one."""
        known = {
            CONDITIONS: "the Moore–Penrose inverse",
            ("I", "II", "III"): "reflexive, least squares",
            ("I", "II", "IV"): "reflexive, least norm",
            ("I", "III"): "least squares",
            ("I", "IV"): "least norm",
            ("I", "II"): "reflexive",
            ("I",): "an inner inverse",
            ("II",): "an outer inverse",
        }
        note = known.get(self.holds)
        return f"{{{', '.join(self.holds)}}}" + (f", {note}" if note else "")

    def __str__(self) -> str:
        failed = [f"{MEANINGS[c]} is off by {self.defects[c]:.2g}" for c in CONDITIONS if c not in self.holds]
        return f"X is {self.name}" + (f"; {', '.join(failed)}" if failed else "")


@explained
def generalised_inverse_class(A: Array, X: Array, *, tolerance: float = 1e-9) -> GeneralisedInverse:
    """Which of A X A = A (I), X A X = X (II), A X (III) and X A (IV) symmetric hold of a matrix X [Alt04, App. A].

    A horizontal lift is {I, II, III} of its Jacobian; (IV) is the condition under which it is the pseudoinverse, and it is what
    the proof of [Alt04, Th. III.2] fails to show [E004-10, E004-12].

    Parameters
    ----------
    A : (m, n) array
        In any unit.
    X : (n, m) array
        In any unit.
    tolerance : float
        Of Frobenius norms relative to those of the factors, no unit.

    Returns
    -------
    GeneralisedInverse
        ``"III" in`` it tells whether (III) holds; printed, it names the class.
    """
    refuse_bad_numbers(tolerance=tolerance)
    A, X = _matrix("A", A), _matrix("X", X)
    if X.shape != A.shape[::-1]:
        raise ShapeError(f"an inverse of A {A.shape} has shape {A.shape[::-1]}, got {X.shape}.")
    AX, XA = A @ X, X @ A
    defects = {
        "I": _relative(AX @ A - A, A),
        "II": _relative(XA @ X - X, X),
        "III": _relative(AX - AX.T, AX),
        "IV": _relative(XA - XA.T, XA),
    }
    return GeneralisedInverse(tuple(c for c in CONDITIONS if defects[c] <= tolerance), defects, tolerance)


@dataclass(frozen=True, repr=False)
class PartialIsometry(Report):
    """The answer of `is_partial_isometry`, true if the matrix is one.

    Attributes
    ----------
    defect : float
        ‖A Aᵀ A − A‖ as a fraction of ‖A‖ (Frobenius norms), no unit; it counts as rounding up to ``tolerance``.
    """

    defect: float
    tolerance: float

    def __bool__(self) -> bool:
        return self.defect <= self.tolerance

    def __str__(self) -> str:
        verdict = "a partial isometry" if self else "no partial isometry"
        return f"A is {verdict}: A Aᵀ A is off from A by {self.defect:.2g} of it (tolerance {self.tolerance:.0e})"


@explained
def is_partial_isometry(A: Array, *, tolerance: float = 1e-9) -> PartialIsometry:
    """Report that is true if A keeps lengths on the complement of its kernel: A Aᵀ A = A, A⁺ = Aᵀ [Alt04, Prop. A.1].

    Parameters
    ----------
    A : (m, n) array
        In any unit.
    tolerance : float
        Relative, no unit.

    Returns
    -------
    PartialIsometry
        If it is true, all singular values are 0 or 1. It says by how much A fails when printed.
    """
    refuse_bad_numbers(tolerance=tolerance)
    A = _matrix("A", A)
    return PartialIsometry(_relative(A @ A.T @ A - A, A), tolerance)


def _matrix(name: str, value: Any) -> Array:
    refuse_foreign(value, name)
    matrix = np.asarray(value, float)
    if matrix.ndim != 2:
        raise ShapeError(f"`{name}` must be one matrix, got shape {matrix.shape}.")
    return matrix


def _relative(defect: Array, scale: Array) -> float:
    size = float(np.linalg.norm(scale))
    return float(np.linalg.norm(defect)) / size if size > 0.0 else float(np.linalg.norm(defect))


FIBRES = 3  # configurations whose fibres are looked at as a whole, and from how many random starts
STARTS = 16
SOLVED = 1e-6  # relative difference that configurations found by Newton's method may have


@dataclass(frozen=True, eq=False, repr=False)
class SubmersionReport(Report):
    """The answer of `is_riemannian_submersion`, true if the task is one onto the target metric, and what it rests on.

    Attributes
    ----------
    robot : Robot
    submersion : bool
    constant_along_fibres : bool
        G = J M⁻¹ Jᵀ does not change along fibres, so that near each configuration it is a submersion onto some metric.
    defect : float
        The largest entry of W G Wᵀ − 1, no unit, with target = WᵀW, found at ``where`` (nq,), rad or m.
    variation : float
        The largest change of G along a fibre as a fraction of its largest term, no unit, found at ``varies_at`` (nq,).
    tolerance : float
        Of both, no unit.
    configurations, skipped : int
        How many configurations were tried, and how many more were singular.
    others : int
        How many configurations with the task where it is at one of the first were compared, on this or another component of the
        fibre.
    spread : float
        By how much G differs between two of them, as a fraction of G, no unit.
    apart : (2, nq) array
        These two, rad or m.
    """

    robot: Robot
    submersion: bool
    constant_along_fibres: bool
    defect: float
    where: Array
    variation: float
    varies_at: Array
    tolerance: float
    configurations: int
    skipped: int
    others: int
    spread: float
    apart: Array

    @property
    def same_on_components(self) -> bool:
        """Whether G is the same at all configurations found for one value of the task."""
        return self.spread <= max(self.tolerance, SOLVED)

    def __bool__(self) -> bool:
        return self.submersion

    def __str__(self) -> str:
        verdict = "is" if self.submersion else "is not"
        lines = [
            f"robot {self.robot.name!r}: the task {verdict} a Riemannian submersion onto the target metric: over "
            f"{tried(self.configurations, self.skipped)} J M⁻¹ Jᵀ is off by {self.defect:.2g} at most, at q = "
            f"{vector(self.where)}."
        ]
        if not self.constant_along_fibres:
            lines.append(
                f"J M⁻¹ Jᵀ changes along fibres (by {self.variation:.2g} of its largest term, at q = "
                f"{vector(self.varies_at)}): it is a Riemannian submersion onto no metric at all."
            )
        else:
            lines.append(
                f"J M⁻¹ Jᵀ does not change along fibres ({self.variation:.1g} of its largest term): locally, near each "
                f"configuration, it is one onto some metric.{self._components()}"
            )
        return "\n".join(lines)

    def _components(self) -> str:
        if not self.others:
            return ""
        if self.same_on_components:
            return f" It is the same at {self.others} more configurations found for the same values of the task."
        return (
            f" But it differs by {self.spread:.2g} between q = {vector(self.apart[0])} and {vector(self.apart[1])}, where the "
            "task is the same: onto one metric for all it is none."
        )


@explained
def is_riemannian_submersion(
    robot: Robot,
    task: Task | str,
    *,
    target: TaskMatrix | Callable[[Array], Array] | None = None,
    q: GivenConfiguration | None = None,
    configurations: int = 12,
    seed: int | np.random.Generator = 0,
    tolerance: float = 1e-9,
) -> SubmersionReport:
    """Report that is true if horizontal lengths are those of a metric of the task [Alt04, Prop. II.1, E004-6].

    That is so if J M⁻¹ Jᵀ = target⁻¹.

    Flatness of the robot does not make it so, as printed there; most robots are far from it. The rows of the task must be a
    frame of what it moves in: a pose, orientation, position or function is, some rows of a body twist are not.

    Parameters
    ----------
    robot : Robot
    task : Task or str
        The name of a frame means its body twist.
    target : (m, m) array or function, optional
        The metric of the task, symmetric and positive definite; the identity if None; or a function y → g (m, m) of where the
        task is, diag(1, r²) of polar coordinates say, with y (m,) the values of functions and coordinates of positions, or the
        pose (4, 4) of one frame.
    q : (..., nq) array, optional
        Configurations to ask at, rad or m; random ones within the limits if None.
    configurations : int
        How many random configurations.
    seed : int or numpy.random.Generator
        Of the random configurations.
    tolerance : float
        Of both answers, no unit.

    Returns
    -------
    SubmersionReport
        It is true or false and says why when printed.
    """
    refuse_strangers(robot)
    refuse_bad_numbers(tolerance=tolerance)
    found = as_task(robot, task)
    fixed = None if callable(target) else _factor_of(found, target)
    drawn = regular_configurations(robot, task, q, configurations, seed)
    lift = connection(robot, drawn.q, found, GivenLift("inertia"))
    W = _factors_along(robot, found, target, drawn.q) if fixed is None else fixed
    defect = np.max(np.abs(W @ lift.gram @ np.swapaxes(W, -1, -2) - np.eye(found.size)), axis=(-2, -1))
    variation = _variation(lift)
    worst, most = int(np.argmax(defect)), int(np.argmax(variation))
    return SubmersionReport(
        robot,
        bool(defect[worst] <= tolerance),
        bool(variation[most] <= tolerance),
        float(defect[worst]),
        drawn.q[worst],
        float(variation[most]),
        drawn.q[most],
        tolerance,
        len(drawn.q),
        drawn.skipped,
        *_compared(robot, found, drawn.q[: FIBRES if variation[most] <= tolerance else 0], drawn.q[0]),
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
    by_metric = -np.einsum("...ijk,...ia,...jb,...kz->...abz", lift.metric_derivative, unit, unit, Z)
    terms = [by_task, np.swapaxes(by_task, -3, -2), by_metric]
    # A derivative along z turns things by |z| rad: where all terms vanish, that is the size of their rounding.
    size = np.maximum(_largest(*terms), np.max(np.abs(Z), axis=(-2, -1)))
    return _largest(sum(terms)) / size


def _largest(*tensors: Any) -> Array:
    return np.max([np.max(np.abs(x), axis=(-3, -2, -1)) for x in tensors], axis=0)


def _compared(robot: Robot, task: Task, qs: Array, first: Array) -> tuple[int, float, Array]:
    """G at other configurations with the task where it is at qs: how many, the largest relative difference, and where."""
    count, spread, apart = 0, 0.0, np.stack([first, first])
    if not is_frame(task):
        return count, spread, apart
    for q in qs:
        some = solutions(robot, q, task, STARTS, 0, LIMIT)
        G = connection(robot, some, task, GivenLift("inertia")).gram
        off = np.max(np.abs(G - G[0]), axis=(-2, -1)) / np.max(np.abs(G[0]))
        worst = int(np.argmax(off))
        count += len(some) - 1
        if off[worst] > spread:
            spread, apart = float(off[worst]), np.stack([q, some[worst]])
    return count, spread, apart


def _factors_along(robot: Robot, task: Task, target: Any, qs: Array) -> Array:
    """W (B, m, m) of a target that is a function of where the task is."""
    pose = task.group in (MOTIONS, ROTATIONS)
    if not pose and not task.has_coordinates:
        raise ArgumentError("`target` as a function is known of functions, positions and poses of one frame.")
    y = task.value(robot, qs) if pose else entries(task, task.value(robot, qs))
    y = np.broadcast_to(y, (len(qs), *y.shape[1:]))
    return np.stack([_factor_of(task, target(one)) for one in y])


def _factor_of(task: Task, target: Any) -> Array:
    """Factor W (m, m) of the target metric, WᵀW = target; raises if it is no metric of this task."""
    m = task.size
    g = np.eye(m) if target is None else np.asarray(target, float)
    if g.shape != (m, m):
        raise ShapeError(f"`target` must have shape ({m}, {m}) for this task, got {g.shape}.")
    refuse_unknown(g, "the numbers of `target`")
    if (off := float(np.abs(g - g.T).max())) > 1e-9 * np.abs(g).max():
        raise ArgumentError(f"`target` must be symmetric, and differs from its transpose by {off:.3g}.")
    try:
        return np.linalg.cholesky(g).T
    except np.linalg.LinAlgError as error:
        raise ArgumentError("`target` must be positive definite.") from error
