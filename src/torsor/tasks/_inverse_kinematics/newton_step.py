"""One step of Newton's method towards the target of any task, damped and within the limits: a pure function of one state.

With e the error of a task, each row in units of what is usual for it (angles in rad, lengths of a frame in units of l, half of
how far it reaches), what is to vanish is ::

    E = ½ eᵀ e        and for a pose        e = (log(R* Rᵀ), (p* − p)/l)

in base axes. A step u changes e by −J u, but for what no gradient of E has: `Task.residual` says which J that is. Newton's
equation J u = e is solved by damped least squares [Mar63; Sug11] ::

    u = argmin ½ |e − J u|² + ½ λ |u|²        λ = μ E

where λ falls with the error, so that convergence is quadratic where J has full rank, and μ follows success and failure of
steps. Where slides are long, E may be of any size, and λ = μ min(E, E_far): a thousand metres away, λ = μE would be so large
that steps crawl. Limits are a box, x_min ≤ x + u ≤ x_max. Entries at a bound that the gradient pushes outwards are held;
entries that the first solution would take over a bound go to the bound, and the others are solved for again (projected
Newton [Ber82]). A step that does not lower E is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from torsor.arrays import constant, dot, factor, identity, matmul, matvec, solve, sqrt, stack, transpose, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar
from torsor.model import Robot
from torsor.tasks._inverse_kinematics.box_coordinates import Box, columns, moved, numbers
from torsor.tasks._inverse_kinematics.reach import Reach
from torsor.tasks.targets import leaves_of
from torsor.tasks.task import Residual, Task, residual

FLOOR = 1e-13  # of λ, so that the system has a solution at singularities
START, LEAST, MOST = 0.1, 0.03, 1e12  # of μ; smaller ones overshoot far from the target, and help no more next to it
EASIER, HARDER = 0.25, 5.0  # factors of μ after a step as good as foreseen, and after one that was not
GOOD, POOR = 0.5, 0.1  # how much of the foreseen decrease makes it so
FAR = 10.0  # E_far: about the largest E of a frame without long slides, half a turn and four l away


class Norm(NamedTuple):
    """Rows of an error whose length is one number: an angle, "rad", a distance, "m", or that of a function, ""."""

    unit: str
    rows: tuple[int, ...]

    def length(self, e: Array) -> Scalar:
        """The length (...) of these rows of an error (..., m)."""
        first, last = self.rows[0], self.rows[-1]
        together = self.rows == tuple(range(first, last + 1))
        own = e[..., first : last + 1] if together else e[..., constant(self.rows)]
        return sqrt(dot(own, own))


@dataclass(frozen=True, eq=False)
class Aim:
    """What is asked of which task: fixed while a kernel is made."""

    task: Task
    unit: Array  # (m,): what rows are measured by
    norms: tuple[Norm, ...]
    box: Box
    reaches: tuple[Reach | None, ...]  # for each part of the task, that of its frame if it asks for a place
    far: bool = False  # whether targets may be many units away


def measured(robot: Robot, q: ConfigurationVector, target: Array, aim: Aim) -> Residual:
    """The error e (..., m) and its J (..., m, k) by steps in box coordinates, both in the units of the rows."""
    e, J = residual(aim.task, robot, q, leaves_of(aim.task, target))
    return Residual(e / aim.unit, columns(aim.box, q, J / aim.unit[:, None]))


def newton_step(robot: Robot, q: ConfigurationVector, damping: Scalar, target: Array, *, aim: Aim) -> dict[str, Array]:
    """The next q and damping μ, with the error after the step, the largest of its angles and distances, and all of them.

    ``q`` (..., nq), rad or m; ``damping`` (...); ``target`` (..., k), as of `flat_target`.
    """
    e, J = measured(robot, q, target, aim)
    E = 0.5 * dot(e, e)
    scale = where(E < FAR, E, FAR) if aim.far else E
    u = constrained_step(aim.box, numbers(aim.box, q), J, e, damping * scale + FLOOR)
    q_next = moved(robot, aim.box, q, u)
    e_next = measured(robot, q_next, target, aim).error
    E_next = 0.5 * dot(e_next, e_next)
    foreseen = e - matvec(J, u)
    gain = (E - E_next) / (E - 0.5 * dot(foreseen, foreseen) + 1e-300)
    better = (E_next < E)[..., None]  # not if it is NaN
    mu = next_damping(damping, gain)
    e_now = where(better, e_next, e)
    sizes = [norm.length(e_now * aim.unit) for norm in aim.norms]
    left = reduce(lambda a, b: where(a > b, a, b), sizes)
    return {"q": where(better, q_next, q), "damping": mu, "error": e_now, "left": left, "sizes": stack(sizes)}


def next_damping(damping: Scalar, gain: Scalar) -> Scalar:
    """μ (...) after a step with which E fell by ``gain`` (...) times what was foreseen."""
    mu = where(gain > GOOD, EASIER * damping, where(gain > POOR, damping, HARDER * damping))
    return where(mu < LEAST, LEAST, where(mu > MOST, MOST, mu))


def constrained_step(box: Box, x: Array, J: Array, e: Array, damping: Array, rounds: int = 1) -> Array:
    """The step u (..., k) from the numbers x (..., k), which it leaves within the limits or brings there.

    Entries that would cross a bound are held at it for as many ``rounds``; what crosses one in the last is left to `moved`.
    """
    sides = [(k, high, 1.0) for k, high in enumerate(box.upper) if high < np.inf]
    sides += [(k, low, -1.0) for k, low in enumerate(box.lower) if low > -np.inf]
    if not sides:
        return least_squares(J, e, damping)
    none, all_of_it = 0.0 * e[..., 0], 0.0 * e[..., 0] + 1.0
    free, held = [all_of_it] * box.size, [none] * box.size
    room = [side * (bound - x[..., k]) for k, bound, side in sides]
    g = matvec(transpose(J), e)
    for (k, _, side), rest in zip(sides, room, strict=True):
        free[k] = where((rest <= 0.0) & (side * g[..., k] > 0.0), 0.0, free[k])
    u = least_squares(_masked(J, free), e, damping)
    for _ in range(rounds):
        for (k, _, side), rest in zip(sides, room, strict=True):
            over = side * u[..., k] > rest
            free[k], held[k] = where(over, 0.0, free[k]), where(over, side * rest, held[k])
        to_bounds = stack(held)
        u = to_bounds + least_squares(_masked(J, free), e - matvec(J, to_bounds), damping)
    return u


def _masked(J: Array, free: list[Array]) -> Array:
    return J * stack(free)[..., None, :]


def least_squares(J: Array, e: Array, damping: Array) -> Array:
    """(JᵀJ + λ)⁻¹ Jᵀ e = Jᵀ (J Jᵀ + λ)⁻¹ e, by the smaller of the two systems."""
    m, k = J.shape[-2:]
    shift = damping[..., None, None]
    if m <= k:
        A = matmul(J, transpose(J)) + shift * identity(m)
        return matvec(transpose(J), solve(factor(A, guarded=False), e))
    A = matmul(transpose(J), J) + shift * identity(k)
    return solve(factor(A, guarded=False), matvec(transpose(J), e))
