"""Lifts of a task: what users may pass as one, whether two agree, and what the lift of a function is.

A lift is a name, a metric, or a function of the configuration that gives a metric or the lift itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor._reports import Report, in_one_line
from torsor.arrays.primitives import namespace
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, TaskVector
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.arrays import as_floats
from torsor.border.numbers import numbers_of, refuse_bad_numbers, refuse_unknown
from torsor.errors import ArgumentError, ShapeError
from torsor.functions.public.dynamics import inverse_mass_matrix, mass_matrix
from torsor.functions.public.geometry import mass_matrix_derivative
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.redundancy.configurations import configurations_of, jacobian_at, vector
from torsor.redundancy.extended_jacobian import ExtendedJacobianLift
from torsor.tasks import Task, as_task, function_task
from torsor.tasks.public import horizontal_lift, pseudoinverse_lift

LIFTS = ("inertia", "pseudoinverse")
SYMMETRIC = 1e-9  # of the largest entry: how far a metric may be from its transpose
TRANSVERSAL = 1e-4  # sine of an angle: nearer to an algorithmic singularity, what is measured loses its digits
STEP = 1e-3  # rad or m, of central differences of order 6
Function = Callable[[Robot, Array], Array]  # (robot, q (nq,)) → a metric (nv, nv) or a lift K (nv, m)
Lift = str | Array | Function  # what the argument ``lift`` takes


class GivenLift(NamedTuple):
    """A lift as it was given: ``metric`` constant (nv, nv) or None; ``function`` of q or None, ``is_metric`` if that is one."""

    name: str
    metric: Array | None = None
    function: Function | None = None
    is_metric: bool = True
    exact: bool = False  # derivatives of the function: traced and compiled if that can be, else differences

    @property
    def is_inertia(self) -> bool:
        """Whether it is the horizontal lift of the inertia metric."""
        return self.name == "inertia" and self.metric is None and self.function is None

    @property
    def is_differenced(self) -> bool:
        """Whether its derivatives are known by differences only."""
        return self.function is not None and not self.exact and not isinstance(self.function, ExtendedJacobianLift)

    def is_regular_at(self, robot: Robot, q: Array, task: Task) -> Array:
        """Whether there is a lift (...) at q (..., nq) where J is regular, far from where it runs away."""
        if isinstance(self.function, ExtendedJacobianLift):
            return self.function.transversality(robot, q) > TRANSVERSAL
        if self.function is not None and not self.is_metric:
            return np.isfinite(evaluated(robot, self.function, q, (robot.nv, task.size))).all(axis=(-2, -1))
        return np.ones(np.shape(q)[:-1], bool)

    def why_singular(self, robot: Robot, q: Array) -> str:
        """What is wrong with the lift at q (nq,) besides J, in words; nothing if all is right."""
        return self.function.why_singular(robot, q) if isinstance(self.function, ExtendedJacobianLift) else ""

    def lift_at(self, robot: Robot, q: Array, task: Task) -> Array:
        """K (..., nv, m) at q (..., nq)."""
        if isinstance(self.function, ExtendedJacobianLift):
            return np.asarray(self.function(robot, q))
        if self.function is not None and not self.is_metric:
            return evaluated(robot, self.function, q, (robot.nv, task.size))
        if self.function is None and self.metric is None:
            return horizontal_lift(robot, q, task) if self.is_inertia else pseudoinverse_lift(robot, q, task)
        return horizontal_lift(robot, q, task, metric=self.metric_at(robot, q))

    def metric_at(self, robot: Robot, q: Array) -> Array:
        """The metric (..., nv, nv) that it is orthogonal in, at q (..., nq); the inertia of a lift that has none."""
        n = robot.nv
        if self.is_inertia or not self.is_metric:
            return np.asarray(mass_matrix(robot, q))
        if self.function is not None:
            metric = evaluated(robot, self.function, q, (n, n))
            _refuse_no_metric("the metric " + self.name, metric)
            return metric
        return np.broadcast_to(np.eye(n) if self.metric is None else self.metric, (*np.shape(q)[:-1], n, n))

    def metric_derivative_at(self, robot: Robot, q: Array) -> Array:
        """∂_k M_ij (..., nv, nv, nv), derivative index last."""
        n = robot.nv
        if self.is_inertia or not self.is_metric:
            return np.asarray(mass_matrix_derivative(robot, q))
        if self.function is None:
            return np.zeros((*np.shape(q)[:-1], n, n, n))
        return self.derivative_at(robot, q, (n, n))

    def derivative_at(self, robot: Robot, q: Array, shape: tuple[int, ...]) -> Array:
        """Derivative (..., *shape, nv) of the function along v."""
        assert self.function is not None
        if isinstance(self.function, ExtendedJacobianLift):
            return self.function.derivative(robot, q)
        size, hashable = int(np.prod(shape)), isinstance(self.function, Hashable)
        task = _traced(robot, self.function, size) if self.exact and hashable else None
        if task is None:
            return by_differences(robot, self.function, q, shape)
        slopes = jacobian_at(robot, q, task)
        return slopes.reshape(*slopes.shape[:-2], *shape, robot.nv)


def given_lift(robot: Robot, task: Task, lift: Any, q: Array, *, exact: bool = False) -> GivenLift:
    """The argument ``lift``, checked; what a function gives is seen at q (nq,)."""
    n, m = robot.nv, task.size
    if isinstance(lift, str):
        refuse_unknown_word("lift", lift, LIFTS, also=f"a metric ({n}, {n}), or a function (robot, q) → metric or K")
        return GivenLift(lift)
    if isinstance(lift, ExtendedJacobianLift):
        if lift.task != task:
            raise ArgumentError(
                f"this {lift.name} lift is one of the task {lift.task.title!r}, not of {task.title!r}. Make one for this "
                "task."
            )
        lift.refuse_other_robot(robot)
        return GivenLift(lift.name, None, lift, False)
    if callable(lift):
        name = str(getattr(lift, "__name__", "given"))
        name = "given" if name == "<lambda>" else name
        value = np.asarray(lift(robot, q), float)
        shape = value.shape
        if shape not in ((n, m), (n, n)):
            raise ShapeError(
                f"a function as `lift` gives K ({n}, {m}), or a metric ({n}, {n}), for one configuration; got {shape}."
            )
        return GivenLift(
            name, None, lift, shape != (n, m) or (n == m and _looks_like_a_metric(robot, q, task, value)), exact
        )
    metric = as_floats("lift", lift)
    if metric.shape != (n, n):
        raise ShapeError(f"a metric as `lift` has shape ({n}, {n}), got {metric.shape}.")
    _refuse_no_metric("the metric", metric)
    return GivenLift("given metric's", metric)


def _looks_like_a_metric(robot: Robot, q: Array, task: Task, value: Array) -> bool:
    """Whether a matrix (nv, nv), for a task of nv rows, is symmetric and positive definite, and not J⁻¹."""
    if np.allclose(task.jacobian(robot, q) @ value, np.eye(robot.nv)):
        return False
    symmetric = np.abs(value - value.T).max() <= SYMMETRIC * np.abs(value).max()
    return bool(symmetric and np.linalg.eigvalsh(value).min() > 0.0)


def _refuse_no_metric(what: str, metric: Array) -> None:
    """Raise unless matrices (..., n, n) are finite, symmetric and positive definite."""
    if not np.isfinite(metric).all():
        raise ArgumentError(f"{what} must be finite numbers, got NaN or infinity.")
    off = np.abs(metric - np.swapaxes(metric, -1, -2)).max(initial=0.0)
    if off > SYMMETRIC * np.abs(metric).max(initial=0.0):
        raise ArgumentError(f"{what} must be symmetric, and differs from its transpose by {off:.3g}.")
    least = float(np.linalg.eigvalsh(metric).min(initial=np.inf))
    if not least > 0.0:
        raise ArgumentError(f"{what} must be positive definite, and its least eigenvalue is {least:.3g}.")


def evaluated(robot: Robot, function: Function, q: Array, shape: tuple[int, ...]) -> Array:
    """A function of one configuration at q (..., nq): (..., *shape)."""
    flat = np.reshape(q, (-1, robot.nq))
    found = np.array([np.asarray(function(robot, one), float) for one in flat]).reshape(len(flat), *shape)
    return found.reshape(*np.shape(q)[:-1], *shape)


def by_differences(robot: Robot, function: Function, q: Array, shape: tuple[int, ...]) -> Array:
    """Derivatives (..., *shape, nv) of a function along v, by central differences."""
    weights = np.array([-1, 9, -45, 45, -9, 1]) / (60 * STEP)

    def moved(direction: Array, by: float) -> Array:
        there = integrate(robot, q, np.broadcast_to(direction, (*np.shape(q)[:-1], robot.nv)), by * STEP)
        return evaluated(robot, function, there, shape)

    along = [
        np.tensordot(weights, np.array([moved(direction, k) for k in (-3, -2, -1, 1, 2, 3)]), 1)
        for direction in np.eye(robot.nv)
    ]
    return np.stack(along, axis=-1)


@remembered(64)
def _traced(robot: Robot, function: Function, size: int) -> Task | None:
    """The function as a task, if it is made of what torsor can trace."""

    def numbers(robot: Robot, q: Array) -> Array:
        found = function(robot, q)
        return namespace(found).reshape(found, (size,))

    task = function_task(numbers, size)
    try:
        task.jacobian(robot, np.zeros((0, robot.nq)))
    except Exception:  # whatever a user's function does with numbers that are not there yet
        return None
    return task


@dataclass(frozen=True, eq=False, repr=False)
class LiftAgreement(Report):
    """The answer of `lifts_agree`, true if the two lifts are one at all configurations asked for.

    Norms are Frobenius norms, with rad and m as numbers.

    Attributes
    ----------
    robot : Robot
    agree : bool
    commutator : (...) array
        ‖M J⁺J − J⁺J M‖ as a fraction of ‖M‖, no unit; lifts agree where it is up to ``tolerance``.
    difference, relative : (...) arrays
        ‖K − J⁺‖, and that as a fraction of ‖J⁺‖.
    where : (nq,) array
        The configuration at which the commutator is largest, rad or m.
    """

    robot: Robot
    agree: bool
    commutator: Array
    difference: Array
    relative: Array
    tolerance: float
    where: Array

    def __bool__(self) -> bool:
        return self.agree

    def __str__(self) -> str:
        worst = np.unravel_index(int(np.argmax(self.commutator)), self.commutator.shape)
        q = vector(self.where)
        at = f"at q = {q}" if self.commutator.size == 1 else f"at {self.commutator.size} configurations"
        size = f"[M, J⁺J] is {float(self.commutator[worst]):.2g} of M"
        if self.agree:
            return (
                f"robot {self.robot.name!r}: the horizontal lift is the pseudoinverse {at}: {size} (tolerance "
                f"{self.tolerance:.0e}). The mass matrix maps ker J to itself there."
            )
        worst_at = "" if self.commutator.size == 1 else f", worst at q = {q}"
        return (
            f"robot {self.robot.name!r}: the horizontal lift is not the pseudoinverse {at}{worst_at}: {size}, and the lifts "
            f"differ by {float(self.difference[worst]):.3g}, which is {float(self.relative[worst]):.2g} of J⁺. The mass matrix "
            "does not map ker J to itself: least kinetic energy and least Σ v² are different motions."
        )


@explained
def lifts_agree(robot: Robot, q: ConfigurationVector, task: Task | str, *, tolerance: float = 1e-9) -> LiftAgreement:
    """Report that is true if `horizontal_lift` and `pseudoinverse_lift` are the same [Alt04, (23), E004-12].

    For every M > 0 and J of full rank: K = J⁺ ⟺ the rows of J span an invariant space of M ⟺ M ker J ⊆ ker J ⟺
    [M, J⁺J] = 0. Flatness of M, a Riemannian submersion and integrable horizontals together do not imply it: two slides in
    line are enough to see that (docs/papers/altafini_2004.md).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m.
    task : Task or str
        The name of a frame means its body twist.
    tolerance : float
        Of ‖[M, J⁺J]‖ / ‖M‖, no unit.

    Returns
    -------
    LiftAgreement
        It is true or false and says why when printed.
    """
    q = configurations_of(robot, q)
    refuse_bad_numbers(tolerance=tolerance)
    if q.size == 0:
        raise ArgumentError(f"there are no configurations to compare lifts at, `q` has shape {q.shape}.")
    refuse_unknown(q)
    J = as_task(robot, task).jacobian(robot, q)
    M, K, J_plus = mass_matrix(robot, q), horizontal_lift(robot, q, task), pseudoinverse_lift(robot, q, task)
    if not (np.isfinite(K).all() and np.isfinite(J_plus).all()):
        raise ArgumentError(
            f"at some of the configurations of robot {robot.name!r} J loses rank or M is singular: there is no lift "
            "to compare. torsor.tasks.task_rank(robot, q, task) tells where."
        )
    P = J_plus @ J
    commutator = _norm(M @ P - P @ M) / _norm(M)
    difference = _norm(K - J_plus)
    where = q.reshape(-1, robot.nq)[int(np.argmax(commutator))]
    agree = bool(np.all(commutator <= tolerance))
    return LiftAgreement(robot, agree, commutator, difference, difference / _norm(J_plus), tolerance, where)


def _norm(A: Array) -> Array:
    """Frobenius norm over the last two axes."""
    return np.asarray(np.sqrt(np.sum(A * A, axis=(-2, -1))))


@in_one_line
class LiftedFunction(NamedTuple):
    """``differential`` Jᵀ η (..., nv), the joint forces of a potential; ``gradient`` M⁻¹ Jᵀ η (..., nv), horizontal."""

    differential: JointVector
    gradient: JointVector


@explained
def lift_function(robot: Robot, q: ConfigurationVector, task: Task | str, eta: TaskVector) -> LiftedFunction:
    """Differential d(θ∘ρ) = Jᵀ η and gradient M⁻¹ Jᵀ η of a function θ of the task with differential η [Alt04, (24), E004-13].

    The gradient is horizontal, J grad = J M⁻¹ Jᵀ η. It is the lift of grad θ = g⁻¹ η in a metric g of the task for all θ only
    where J M⁻¹ Jᵀ = g⁻¹ (`is_riemannian_submersion`). The printed J⁺ in place of Jᵀ gives neither.

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configurations, rad or m.
    task : Task or str
        The name of a frame means its body twist.
    eta : (..., m) array
        The derivative of θ along each row of the task, so that θ̇ = η · ẏ.

    Returns
    -------
    LiftedFunction
        ``differential`` and ``gradient`` (..., nv), in units of θ per rad or m, and those by kg·m² or kg.
    """
    q = configurations_of(robot, q)
    found = as_task(robot, task)
    eta = numbers_of("eta", eta, (found.size,))
    try:
        np.broadcast_shapes(q.shape[:-1], eta.shape[:-1])
    except ValueError as error:
        raise ShapeError(f"batch axes of `q` {q.shape[:-1]} and `eta` {eta.shape[:-1]} do not go together.") from error
    differential: Any = np.einsum("...ai,...a->...i", found.jacobian(robot, q), eta)
    return LiftedFunction(differential, np.einsum("...ij,...j->...i", inverse_mass_matrix(robot, q), differential))
