"""Lifts made to be repeatable: the extended Jacobian, a task together with functions that its motions hold constant.

Beside the m rows of a task stand nv − m functions h of the configuration [Bai85]::

    E = (J; ∂h)        E v = (ẏ, ḣ)        K = E⁻¹ (1; 0)

v = K ẏ does the task, J K = 1, and leaves h as it is, ∂h K = 0. So the columns of K span ker ∂h, the tangent spaces of the
surfaces h = constant, and their brackets stay among them: the lift is repeatable for every task, whatever the robot weighs
[SY88; Alt04, §III.B]. Lifted curves stay on one surface, a section above the values of the task [Alt04, Th. III.1].

With ∂_k E, exact from the kinematic Hessian and the second derivatives of h ::

    ∂_k K = −E⁻¹ (∂_k E) K

K is also the horizontal lift of the metric EᵀE, in which ker J and ker ∂h are orthogonal. Where J has full rank and E has not,
some self-motion leaves h as it is: an algorithmic singularity, in which the choice of h fails and not the robot.

Such functions are found from an objective g: along a fibre of the task it is stationary where its slope has no part in ker J.
With P = 1 − J⁺J, and a basis Z₀ of ker J at one configuration, that is nv − m equations [Bai85]::

    h(q) = Z₀ᵀ P(q) ∂g(q) = 0

as long as Z₀ᵀ is regular on ker J, as it is near q₀. Bases of ker J itself cannot in general be carried along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from torsor.arrays import as_numbers, concat, constant, matmul, matvec, transpose
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, JointMatrix, TaskLift
from torsor.border import explained
from torsor.border.numbers import refuse_strangers
from torsor.errors import ArgumentError
from torsor.functions.dispatch import public
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot, random_configuration
from torsor.redundancy.configurations import LOST, derivative_at, jacobian_at, single_configuration, vector
from torsor.redundancy.task_places import WHY, is_integrable
from torsor.tasks import Task, as_task, function_task
from torsor.tasks.public import task_rank
from torsor.tasks.task_kinds import refuse_other_arguments
from torsor.tasks.weighted_inverse import inverse_in_metric, pseudoinverse

SAMPLES = 8  # configurations at which functions are looked at first
# What is near enough to be the reason why a motion could not go on; angles are as the square roots of the steps left.
NEARLY_DEPENDENT = 1e-3  # singular value, as a fraction of the largest
NEARLY_TANGENT = 2e-2  # sine of an angle
Constraint = Task | str | Callable[[Robot, Array], Array]  # a task, or a function (robot, q) → h (nv − m,)
Objective = Callable[[Robot, Array], Array]  # (robot, q (nq,)) → a number


@dataclass(frozen=True)
class ExtendedJacobianLift:
    """A lift that holds functions h of the configuration constant, for every argument ``lift``; called, it gives K.

    It does not depend on units or on the scale of h. Small, immutable and hashable; it can be pickled if its functions can.

    Attributes
    ----------
    task : Task
        With m rows.
    constraint : Task
        The nv − m rows of ∂h.
    name : str
    """

    task: Task
    constraint: Task
    name: str = "extended Jacobian"

    def __call__(self, robot: Robot, q: ConfigurationVector) -> TaskLift:
        """K (..., nv, m) at q (..., nq), rad or m, by machine code made once; NaN where E is singular."""
        return self.inverse(robot, q)[..., :, : self.task.size]

    def inverse(self, robot: Robot, q: ConfigurationVector) -> JointMatrix:
        """E⁻¹ (..., nv, nv): v from (ẏ, ḣ). NaN where E is singular."""
        self.refuse_other_robot(robot)
        return _compiled_inverse(robot, q, self.task, self.constraint)

    def derivative(self, robot: Robot, q: Array) -> Array:
        """∂_k K (..., nv, m, nv) at q (..., nq), derivative index last, along v: exact."""
        inverse = self.inverse(robot, q)
        K = inverse[..., :, : self.task.size]
        parts = [derivative_at(robot, q, one) for one in (self.task, self.constraint)]
        change = np.einsum("...rik,...ib->...rbk", np.concatenate(parts, axis=-3), K)  # (∂_k E) K
        return np.asarray(-np.einsum("...ir,...rbk->...ibk", inverse, change))

    def vertical_derivative(self, robot: Robot, q: Array) -> Array:
        """P ∂_k K = −E⁻¹ (0; (∂_k ∂h) K) (..., nv, m, nv): of `derivative` what is self-motion, without the rest that cancels."""
        m, inverse = self.task.size, self.inverse(robot, q)
        slopes = derivative_at(robot, q, self.constraint)
        change = np.einsum("...rik,...ib->...rbk", slopes, inverse[..., :, :m])
        return np.asarray(-np.einsum("...ir,...rbk->...ibk", inverse[..., :, m:], change))

    def projector(self, robot: Robot, q: Array) -> Array:
        """P = 1 − K J = E⁻¹ (0; ∂h) (..., nv, nv): the self-motion in a joint velocity."""
        H = jacobian_at(robot, q, self.constraint)
        return np.asarray(self.inverse(robot, q)[..., :, self.task.size :] @ H)

    def metric(self, robot: Robot, q: ConfigurationVector) -> JointMatrix:
        """EᵀE (..., nv, nv), a metric in which this is the horizontal lift: for `split_velocity` and all that take a metric."""
        self.refuse_other_robot(robot)
        E = _compiled_jacobian(robot, q, self.task, self.constraint)
        return matmul(transpose(E), E)

    def transversality(self, robot: Robot, q: Array) -> Array:
        """How far from an algorithmic singularity (...): the sine of the least angle between ker J and ker ∂h, no unit.

        From 0, where a self-motion leaves h as it is, to 1; 0 also where the rows of J or of ∂h are dependent. Angles are taken
        in the metric of the diagonal of the mass matrix.
        """
        n, m, batch = robot.nv, self.task.size, np.shape(q)[:-1]
        weights = np.einsum("...ii->...i", np.broadcast_to(mass_matrix(robot, q), (*batch, n, n)))
        unit = 1.0 / np.sqrt(np.where(weights > 0.0, weights, 1.0))
        J, H = (jacobian_at(robot, q, one) * unit[..., None, :] for one in (self.task, self.constraint))
        known = np.asarray(np.isfinite(J).all(axis=(-2, -1)) & np.isfinite(H).all(axis=(-2, -1)))
        (_, of_J, rows_J), (_, of_H, rows_H) = (
            np.linalg.svd(_of_unit_rows(np.where(known[..., None, None], A, 0.0))) for A in (J, H)
        )
        Z, N = rows_J[..., m:, :], rows_H[..., : n - m, :]
        sines = np.linalg.svd(N @ np.swapaxes(Z, -1, -2), compute_uv=False)
        full = (of_J[..., -1] > LOST * of_J[..., 0]) & (of_H[..., -1] > LOST * of_H[..., 0])
        return np.asarray(np.where(full & known, sines[..., -1], 0.0))

    def refuse_other_robot(self, robot: Robot) -> None:
        """Raise for a robot of other degrees of freedom, for which E is not square."""
        if (n := self.task.size + self.constraint.size) != robot.nv:
            raise ArgumentError(
                f"this {self.name} lift is one for {n} degrees of freedom, and robot {robot.name!r} has {robot.nv}. Make one "
                "for this robot."
            )

    def why_singular(self, robot: Robot, q: Array) -> str:
        """What is wrong with E at q (nq,), in words; nothing where J itself loses rank, or nothing is wrong."""
        J, H = self.task.jacobian(robot, q), self.constraint.jacobian(robot, q)
        if not np.isfinite(J).all():
            return ""
        if not np.isfinite(H).all():
            return f"The functions h of {self.constraint.name!r} have no derivative there."
        _, sigma, rows = np.linalg.svd(J)
        if sigma[-1] < NEARLY_DEPENDENT * sigma[0] or float(self.transversality(robot, q)) > NEARLY_TANGENT:
            return ""
        Z = rows[len(J) :]
        still = np.linalg.svd(_of_unit_rows(H) @ Z.T)[2][-1] @ Z  # the self-motion that moves h least
        return (
            "It is an algorithmic singularity: J has full rank, but (J; ∂h) has not, for the self-motion along v = "
            f"{vector(still)} leaves the functions h of {self.constraint.name!r} as they are. Choose other functions."
        )


@explained
def extended_jacobian_lift(robot: Robot, task: Task | str, constraint: Constraint) -> ExtendedJacobianLift:
    """Lift K = (J; ∂h)⁻¹ (1; 0) of a task that holds nv − m functions h of the configuration constant [Bai85]. Extended Jacobian.

    It is repeatable, `is_repeatable`, by construction: closed paths of the task that can be drawn together to a point close in
    the joints, because they stay on the surface h(q) = h(q₀) [SY88; Alt04, §III.B]. The horizontal lift and J⁺ in general are
    not. It is accepted wherever a ``lift`` is, and its ``metric`` wherever a metric is. ::

        elbow = torsor.redundancy.extended_jacobian_lift(arm, "hand_tcp", lambda robot, q: q[2:3])  # the third joint still
        torsor.redundancy.closed_path_drift(arm, q, "hand_tcp", path, lift=elbow)

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    task : Task or str
        m rows; the name of a frame means its body twist.
    constraint : Task or function
        nv − m functions of the configuration: a function (robot, q) → (nv − m,) made of torsor's functions and NumPy's, in any
        unit, as for `function_task`, or a task that is no mere velocity. `stationary_constraint` makes that of an objective.

    Returns
    -------
    ExtendedJacobianLift
        Called with (robot, q), q (..., nq), rad or m, it gives K (..., nv, m), NaN where (J; ∂h) is singular.
    """
    refuse_strangers(robot)
    if not robot.is_concrete:
        raise ArgumentError(
            f"looks at numbers of the robot, and those of {robot.name!r} are being traced or differentiated: make the lift "
            "outside, and call it inside."
        )
    found = as_task(robot, task)
    rest = robot.nv - found.size
    refuse_no_redundancy(robot, found)
    held = _constraint(robot, constraint, rest)
    if held.size != rest:
        raise ArgumentError(
            f"robot {robot.name!r} has {robot.nv} degrees of freedom and the task {found.size} rows: the constraint needs "
            f"{rest} rows, and {held.title!r} has {held.size}."
        )
    if not is_integrable(robot, held, np.zeros((0, robot.nq))):
        raise ArgumentError(
            f"the constraint {held.title!r} is no function of the configuration: {WHY}. What holds it still does not stay "
            "on a surface, and the lift would not be repeatable. Pass functions (robot, q) → h, a position or a whole pose."
        )
    lift = ExtendedJacobianLift(found, held)
    some = random_configuration(robot, seed=0, batch=(SAMPLES,))
    if np.isfinite(held.jacobian(robot, some)).all() and np.all(lift.transversality(robot, some) < LOST):
        raise ArgumentError(
            f"(J; ∂h) is singular at {SAMPLES} random configurations of robot {robot.name!r}. "
            f"{lift.why_singular(robot, some[0])}"
        )
    return lift


def refuse_no_redundancy(robot: Robot, task: Task) -> None:
    """Raise unless a task leaves the robot something to choose."""
    if robot.nv > task.size:
        return
    only = "J⁻¹ is its only lift" if robot.nv == task.size else "it has no lift"
    raise ArgumentError(
        f"robot {robot.name!r} has {robot.nv} degrees of freedom and the task {task.size} rows: {only}, and there is "
        "nothing to choose."
    )


def _constraint(robot: Robot, constraint: Constraint, size: int) -> Task:
    if isinstance(constraint, (Task, str)):
        return as_task(robot, constraint)
    if not callable(constraint):
        raise ArgumentError(
            f"`constraint` is a function (robot, q) → ({size},), or a task; got {type(constraint).__name__} "
            f"{constraint!r:.60}."
        )
    held = function_task(constraint, size)
    held.key_for(robot)  # traces it: what cannot be traced, or gives other shapes, is refused here
    return held


def _of_unit_rows(A: Array) -> Array:
    """Each row of A (..., m, n) divided by its length; a row of zeros as it is."""
    lengths = np.linalg.norm(A, axis=-1, keepdims=True)
    return np.asarray(A / np.where(lengths > 0.0, lengths, 1.0))


def extended_jacobian(robot: Robot, q: ConfigurationVector, task: Task, constraint: Task) -> JointMatrix:
    """E = (J; ∂h) (..., nv, nv)."""
    return concat([task.jacobian(robot, q), constraint.jacobian(robot, q)], axis=-2)


def extended_inverse(robot: Robot, q: ConfigurationVector, task: Task, constraint: Task) -> JointMatrix:
    """E⁻¹ (..., nv, nv); NaN where the rows of E are dependent."""
    return inverse_in_metric(extended_jacobian(robot, q, task, constraint), None, None, guarded=False).lift()


_compiled_jacobian = public(extended_jacobian, "E", registered=False)
_compiled_inverse = public(extended_inverse, "E_inverse", registered=False)


@explained
def stationary_constraint(robot: Robot, q0: GivenConfiguration, task: Task | str, objective: Objective) -> Task:
    """Constraint h = Z₀ᵀ (1 − J⁺J) ∂g for `extended_jacobian_lift`: where h = 0, g is stationary along self-motions [Bai85].

    Lifts of curves that begin where h = 0 stay where g is stationary, best if they began at the best; others keep the h that they
    began with. Algorithmic singularities are where the second derivative of g along some self-motion vanishes: a best and a
    worst configuration meet there. The lift needs two derivatives of g and `is_repeatable` three: of the manipulability of seven
    joints they are compiled in a second and in some ten.

    Parameters
    ----------
    robot : Robot
        With more degrees of freedom than the task has rows.
    q0 : (nq,) array
        The configuration where Z₀ is taken, rad or m. h is good where self-motions are not orthogonal to those here.
    task : Task or str
        m rows; the name of a frame means its body twist.
    objective : function
        g(robot, q) → a number, in any unit, made of torsor's functions and NumPy's: ``torsor.tasks.manipulability`` of a task, a
        distance, a sum of squares.

    Returns
    -------
    Task
        nv − m rows, the values and derivatives of h, in units of g per rad or m.
    """
    q0 = single_configuration(robot, q0)
    found = as_task(robot, task)
    refuse_no_redundancy(robot, found)
    refuse_other_arguments("`objective` must take (robot, q)", objective, robot, q0)
    Z = vertical_basis(robot, found, q0)
    held = function_task(ProjectedSlope(found, _Number(objective), tuple(map(tuple, Z.tolist()))), len(Z))
    held.key_for(robot)  # traces it: what cannot be traced is refused here
    return held


@dataclass(frozen=True)
class ProjectedSlope:
    """h of one configuration: the slope of g along the directions of ``rows`` (nv − m of nv), what J feels taken out."""

    task: Task
    objective: _Number
    rows: tuple[tuple[float, ...], ...]

    @property
    def __name__(self) -> str:
        return f"stationary {self.objective.__name__}"

    def __call__(self, robot: Robot, q: Array) -> Array:
        """Value of h, (nv − m,)."""
        slope = function_task(self.objective, 1).jacobian(robot, q)[..., 0, :]
        return matvec(constant(np.array(self.rows)), slope - pseudoinverse(robot, q, self.task).horizontal(slope))


@dataclass(frozen=True)
class _Number:
    """An objective as a function of one row, whether it gives a number () or (1,)."""

    objective: Objective

    @property
    def __name__(self) -> str:
        return str(getattr(self.objective, "__name__", "objective"))

    def __call__(self, robot: Robot, q: Array) -> Array:
        value = as_numbers(self.objective(robot, q))
        return value if np.shape(value) == (1,) else value[..., None]


def vertical_basis(robot: Robot, task: Task, q: Array) -> Array:
    """Z (nv − m, nv), orthonormal rows with J Zᵀ = 0 at q (nq,); raises where J loses rank."""
    _, sigma, rows = np.linalg.svd(np.asarray(task.jacobian(robot, q)))
    if not sigma[-1] > LOST * sigma[0]:
        raise ArgumentError(
            f"the task is singular at q0 = {vector(q)} of robot {robot.name!r}: J has {task_rank(robot, q, task)}. "
            "Take another q0."
        )
    return np.asarray(rows[task.size :])
