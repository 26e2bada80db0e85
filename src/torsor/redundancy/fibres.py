"""Fibres of a task, all configurations with one value of it: along, back onto, elsewhere on them, and where they are singular.

Near a configuration at which J loses one direction λ, λᵀJ = 0, a task moves along λ by the quadratic form ½ xᵀ H x of x in ker J
alone, H = Σ λ_a ∂J_a. The fibre of its value is where that vanishes: with nv − m = 1, ker J is a plane, and the fibre is two
curves that cross if the form is indefinite, this one configuration if it is definite [Bur89].

The values of all singular configurations are a surface with the normal λ, at a distance μ from that of a fibre that misses it.
Newton's method solves for q*, λ and μ together::

    y(q*) − y = μ λ,        J(q*)ᵀ λ = 0,        λᵀλ = 1

A fibre contains q* if |μ| is what rounding makes it. If not, the fibre passes q* at a distance of the order of √|μ|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot, random_configuration
from torsor.redundancy.configurations import LOST, is_regular, jacobian_at, room, turned_inside, vector
from torsor.redundancy.task_places import displacement, place
from torsor.tasks import Task
from torsor.tasks.public import pseudoinverse_lift

CORRECTIONS = 3  # from nearby, each doubles the number of digits
ROUNDING = 3e-16  # m or rad
SEARCH_STEPS = 60  # of Newton's method from each random start
SEARCH_LARGEST = 0.5  # step of it, rad or m: longer ones are shortened
ON_FIBRE = 1e-13  # of the largest singular value of J: how far off its value may be for a singular configuration to be on a fibre
NEWTON_STEPS = 12  # of Newton's method
NEWTON_LARGEST = 0.2  # step of it, rad or m
SOLVED = 1e-11  # of the same size: what is left of the equations
FLAT = 1e-6  # ratio of the two curvatures of the form below which it decides nothing


def self_motion_direction(robot: Robot, q: Array, task: Task) -> Array:
    """z (..., nv) with J z = 0 and Σ z² = 1 at q (..., nq), for nv − m = 1; NaN where J loses rank.

    Its sign is that of the minors of J, det (J; zᵀ) > 0, so that z changes smoothly with q between singular configurations.
    """
    J = jacobian_at(robot, q, task)
    if not np.isfinite(J).all():
        return np.full((*J.shape[:-2], robot.nv), np.nan)
    _, sigma, rows = np.linalg.svd(J)
    z = rows[..., -1, :]
    oriented = np.sign(np.linalg.det(np.concatenate([J, z[..., None, :]], axis=-2)))[..., None] * z
    lost = sigma[..., -1:] <= LOST * sigma[..., :1]
    return np.where(lost, np.nan, oriented)


def onto_fibre(robot: Robot, q: Array, task: Task, target: tuple[Array, ...]) -> Array:
    """The nearest configurations to q (..., nq) with the task at ``target``, where `place` has it: dq = J⁺ (y − y(q))."""
    target = tuple(np.broadcast_to(part, (*q.shape[:-1], *part.shape)) for part in target)
    for _ in range(CORRECTIONS):
        error = displacement(task, place(robot, q, task), target)
        if np.max(np.abs(error), initial=0.0) < ROUNDING:
            break
        J = jacobian_at(robot, q, task)
        # By singular values: near a singular configuration (J Jᵀ)⁻¹ would lose the digits that J still has. At one, nothing is
        # done about the direction that is lost.
        q = integrate(robot, q, np.einsum("...ia,...a->...i", np.linalg.pinv(J, rcond=0.1 * LOST), error))
    return np.asarray(q)


def solutions(
    robot: Robot,
    q: Array,
    task: Task,
    starts: int,
    seed: int | np.random.Generator,
    limit: float = 1.0 / LOST,
    *,
    within_limits: bool = False,
) -> Array:
    """Configurations (k, nq) that do to the task what q does, q first; regular with a condition up to ``limit``.

    ``within_limits``: only those within the limits of positions, where a joint is the same after a whole turn.
    """
    some = random_configuration(robot, seed=seed, batch=(starts,))
    target = tuple(np.broadcast_to(part, (starts, *part.shape)) for part in place(robot, q, task))
    for _ in range(SEARCH_STEPS):
        error = displacement(task, place(robot, some, task), target)
        dq = np.nan_to_num(np.einsum("kia,ka->ki", pseudoinverse_lift(robot, some, task), error))
        size = np.linalg.norm(dq, axis=-1, keepdims=True)
        some = integrate(robot, some, dq * np.minimum(1.0, SEARCH_LARGEST / np.maximum(size, 1e-300)))
    arrived = np.linalg.norm(displacement(task, place(robot, some, task), target), axis=-1) < 1e-9
    J = jacobian_at(robot, some, task)
    good = arrived & is_regular(robot, some, J, limit)
    if within_limits:
        some = turned_inside(robot, some)
        good &= room(robot, some) >= 0.0
    return np.concatenate([q[None], some[good]])


@dataclass(frozen=True, eq=False, repr=False)
class SingularConfiguration(Report):
    """A configuration of a self-motion at which J loses rank.

    Attributes
    ----------
    q : (nq,) array
        Rad or m.
    rank, rows : int
        Rank of J there, and how many rows it has.
    lost : (m,) array
        The direction of the task that is lost, a unit vector.
    directions : (k, nv) array
        Unit vectors along which curves of the fibre leave it: 4 where two curves cross, 0 if it is all of the fibre nearby, or if
        that is not known.
    known : bool
        The fibre is known to second order; not so where several directions are lost.
    off : float
        By how much the task is elsewhere than on the rest of the fibre, m or rad; rounding.
    """

    q: Array
    rank: int
    rows: int
    lost: Array
    directions: Array
    known: bool
    off: float

    @property
    def is_isolated(self) -> bool:
        """Whether the fibre near it is this configuration alone."""
        return self.known and not len(self.directions)

    def __str__(self) -> str:
        how = "two curves of the self-motion cross" if len(self.directions) else "the self-motion is this point alone"
        how = how if self.known else "it is not known to second order how many curves meet"
        return f"the singular configuration q = {vector(self.q)}, where J has rank {self.rank} of {self.rows} and {how}"


def singular_nearby(robot: Robot, q: Array, task: Task, target: tuple[Array, ...]) -> SingularConfiguration | None:
    """The singular configuration whose value is nearest to ``target``, by Newton's method from q (nq,); None if that fails."""
    m, n = task.size, robot.nv
    here, U = q, np.linalg.svd(task.jacobian(robot, q))[0]
    lost, mu = U[:, -1], 0.0
    for step in range(NEWTON_STEPS + 1):
        J = np.asarray(task.jacobian(robot, here))
        size = float(np.linalg.norm(J, 2))
        error = displacement(task, target, place(robot, here, task))
        left = np.concatenate([error - mu * lost, J.T @ lost, [0.5 * (lost @ lost - 1.0)]])
        solved = np.abs(left).max() <= SOLVED * max(size, 1e-300)
        if step == NEWTON_STEPS or not np.isfinite(left).all():
            break
        H = np.einsum("a,aik->ik", lost, task.derivative(robot, here))
        upper = np.hstack([J, -mu * np.eye(m), -lost[:, None]])
        middle = np.hstack([H, J.T, np.zeros((n, 1))])
        lower = np.concatenate([np.zeros(n), lost, [0.0]])
        move = np.linalg.lstsq(np.vstack([upper, middle, lower]), -left, rcond=1e-13)[0]
        if solved and np.linalg.norm(move[:n]) < 1e-13:
            break
        move *= min(1.0, NEWTON_LARGEST / max(float(np.linalg.norm(move[:n])), 1e-300))
        here, lost, mu = integrate(robot, here, move[:n]), lost + move[n:-1], mu + float(move[-1])
    return _described(robot, np.asarray(here), task, lost, abs(mu)) if solved else None


def is_on_fibre(found: SingularConfiguration, robot: Robot, task: Task, within: float = ON_FIBRE) -> bool:
    """Whether the task at a singular configuration is where it is on the rest of the fibre, up to rounding."""
    return found.off <= within * float(np.linalg.norm(task.jacobian(robot, found.q), 2))


def _described(robot: Robot, q: Array, task: Task, lost: Array, off: float) -> SingularConfiguration:
    _, sigma, rows = np.linalg.svd(task.jacobian(robot, q))
    rank = int(np.sum(sigma > LOST * sigma[0]))
    Z = rows[rank:].T  # an orthonormal basis of ker J
    form = np.zeros((0, 0))
    if rank == task.size - 1 and Z.shape[1] == 2:
        form = Z.T @ np.einsum("a,aik->ik", lost, task.derivative(robot, q)) @ Z
        form = 0.5 * (form + form.T)
    curvature, axes = np.linalg.eigh(form)
    known = bool(len(form)) and np.abs(curvature).min() > FLAT * np.abs(curvature).max()
    directions = np.zeros((0, robot.nv))
    if known and curvature[0] * curvature[1] < 0.0:  # c₀ x₀² + c₁ x₁² = 0
        a, b = (np.sqrt(abs(curvature[k])) * (Z @ axes[:, 1 - k]) for k in (0, 1))
        some = np.stack([a + b, a - b, -a - b, b - a])
        directions = some / np.linalg.norm(some, axis=-1, keepdims=True)
    return SingularConfiguration(q, rank, task.size, lost / np.linalg.norm(lost), directions, bool(known), off)
