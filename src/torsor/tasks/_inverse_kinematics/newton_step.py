"""One step of Newton's method towards a target, damped and within the limits: a pure function of one state.

With T_0f = (R, p) the pose of the frame, (R*, p*) the target and a length l, the error and what is to vanish are ::

    e = (log(R* Rᵀ), (p* − p)/l)        E = ½ eᵀ e

in base axes. With J the mixed Jacobian, (ω, ṗ/l) = J u of a step u, its position changes by −J u and its rotation by
−J_r⁻¹ J u, where J_r is the right Jacobian of the logarithm. But J_r e = e = J_rᵀ e: the gradient of E is −Jᵀ e exactly, and
Newton's equation is J u = e, without J_r. It is solved by damped least squares [Mar63; Sug11] ::

    u = argmin ½ |e − J u|² + ½ λ |u|²        λ = μ E

where λ falls with the error, so that convergence is quadratic where J has full rank, and μ follows success and failure of
steps. Where slides are long, E may be of any size, and λ = μ min(E, E_far): a thousand metres away, λ = μE would be so large
that steps crawl. Limits are a box, x_min ≤ x + u ≤ x_max. Entries at a bound that the gradient pushes outwards are held;
entries that the first solution would take over a bound go to the bound, and the others are solved for again (projected
Newton [Ber82]). A step that does not lower E is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays import concat, dot, factor, identity, matmul, matvec, solve, sqrt, stack, transpose, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar
from torsor.functions.public.kinematics import frame_pose, mixed_jacobian
from torsor.lie.unchecked import se3, so3
from torsor.model import Robot
from torsor.tasks._inverse_kinematics.box_coordinates import Box, columns, moved, numbers

KINDS = {"pose": (4, 4), "position": (3,), "orientation": (3, 3)}  # what may be asked for, and the shape of a target
FLOOR = 1e-13  # of λ, so that the system has a solution at singularities
START, LEAST, MOST = 0.1, 0.03, 1e12  # of μ; smaller ones overshoot far from the target, and help no more next to it
EASIER, HARDER = 0.25, 5.0  # factors of μ after a step as good as foreseen, and after one that was not
GOOD, POOR = 0.5, 0.1  # how much of the foreseen decrease makes it so
FAR = 10.0  # E_far: about the largest E there is without long slides, half a turn and four l away


@dataclass(frozen=True, eq=False)
class Aim:
    """What is asked of which frame: fixed while a kernel is made."""

    frame: str
    kind: str
    length: float  # l, m
    box: Box
    far: bool = False  # whether slides are so long that targets may be many l away


def newton_step(robot: Robot, q: ConfigurationVector, damping: Scalar, target: Array, *, aim: Aim) -> dict[str, Array]:
    """The next q and damping μ, with the error after the step, and the larger of angle and distance that is left.

    ``q`` (..., nq), rad or m; ``damping`` (...); ``target`` (..., 4, 4), (..., 3) or (..., 3, 3), m.
    """
    e = error(robot, q, target, aim)
    J = columns(aim.box, q, rows(aim, mixed_jacobian(robot, q, aim.frame)))
    E = 0.5 * dot(e, e)
    scale = where(E < FAR, E, FAR) if aim.far else E
    u = constrained_step(aim.box, numbers(aim.box, q), J, e, damping * scale + FLOOR)
    q_next = moved(robot, aim.box, q, u)
    e_next = error(robot, q_next, target, aim)
    E_next = 0.5 * dot(e_next, e_next)
    foreseen = e - matvec(J, u)
    gain = (E - E_next) / (E - 0.5 * dot(foreseen, foreseen) + 1e-300)
    better = (E_next < E)[..., None]  # not if it is NaN
    mu = next_damping(damping, gain)
    e_now = where(better, e_next, e)
    return {"q": where(better, q_next, q), "damping": mu, "error": e_now, "left": _left(aim, e_now)}


def next_damping(damping: Scalar, gain: Scalar) -> Scalar:
    """μ (...) after a step with which E fell by ``gain`` (...) times what was foreseen."""
    mu = where(gain > GOOD, EASIER * damping, where(gain > POOR, damping, HARDER * damping))
    return where(mu < LEAST, LEAST, where(mu > MOST, MOST, mu))


def error(robot: Robot, q: ConfigurationVector, target: Array, aim: Aim) -> Array:
    """The error e (..., m), rad and m/l."""
    T = frame_pose(robot, q, aim.frame)
    R, p = se3.rotation(T), se3.translation(T)
    if aim.kind == "position":
        return (target - p) / aim.length
    if aim.kind == "orientation":
        return so3.log(matmul(target, transpose(R)))
    turn = so3.log(matmul(se3.rotation(target), transpose(R)))
    return concat([turn, (se3.translation(target) - p) / aim.length])


def _left(aim: Aim, e: Array) -> Scalar:
    """The larger of angle, rad, and distance, m."""
    angle, distance = sqrt(dot(e[..., :3], e[..., :3])), aim.length * sqrt(dot(e[..., -3:], e[..., -3:]))
    if aim.kind == "pose":
        return where(angle > distance, angle, distance)
    return distance if aim.kind == "position" else angle


def rows(aim: Aim, J: Array) -> Array:
    """Of the mixed Jacobian (..., 6, nv), those of the error (..., m, nv), lengths in units of l."""
    if aim.kind == "orientation":
        return J[..., :3, :]
    linear = J[..., 3:, :] / aim.length
    return linear if aim.kind == "position" else concat([J[..., :3, :], linear], axis=-2)


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
