"""Nearest to a given configuration, of those that reach a target: sliding along the self-motion of a redundant robot.

With w = start ⊖ q in box coordinates, the distance |w| among configurations with e = 0 is least, to first order, where w has
no part that leaves the frame where it is: none along the null space of J, the entries held at a limit left out. A step that
goes there projects the way to the start (gradient projection) ::

    u = argmin ½ |u − α w|²     with J u = e,  x_min ≤ x + u ≤ x_max

which is u = α w + z, with z Newton's step for what α w leaves of the error, J z = e − α J w. Another Newton step brings the
frame back from where the curvature of the self-motion took it. What comes no nearer is not taken, and α follows success and
failure.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from torsor.arrays import dot, matvec, where
from torsor.arrays.typing import Array, ConfigurationVector, Scalar
from torsor.functions.compile import scan
from torsor.functions.public.kinematics import mixed_jacobian
from torsor.model import Robot, random_configuration
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import columns, moved, numbers, towards
from torsor.tasks._inverse_kinematics.newton_step import KINDS, Aim, constrained_step, error, rows

LITTLE = 1e-11  # damping, so that the system has a solution where J loses rank
CLOSE = 1e-3  # |e| that a later step makes good
MOST, LEAST = 8.0, 1e-3  # of α
ROUNDS = 3  # one is not enough: where entries are held at a limit, others that make up for them go over theirs
FASTER, SLOWER = 1.5, 0.3  # factors of α after a step that came nearer, and after one that did not

Slide = Callable[[Array, Array, Array, Array, int], tuple[Array, ...]]  # (q, α, target, start, steps) → (q, α)


def slide_step(
    robot: Robot, q: ConfigurationVector, rate: Scalar, target: Array, start: ConfigurationVector, *, aim: Aim
) -> dict[str, Array]:
    """The next q, nearer to ``start`` and still at the target, and α.

    ``q``, ``start`` (..., nq), rad or m, within the limits; ``rate`` α (...); ``target`` as for `newton_step`.
    """
    w = towards(aim.box, q, start)
    J = columns(aim.box, q, rows(aim, mixed_jacobian(robot, q, aim.frame)))
    along = rate[..., None] * w
    rest = error(robot, q, target, aim) - matvec(J, along)
    damping = LITTLE + 0.0 * rate
    u = along + constrained_step(aim.box, numbers(aim.box, q) + along, J, rest, damping, ROUNDS)
    q_aside = moved(robot, aim.box, q, u)
    J = columns(aim.box, q_aside, rows(aim, mixed_jacobian(robot, q_aside, aim.frame)))
    back = constrained_step(aim.box, numbers(aim.box, q_aside), J, error(robot, q_aside, target, aim), damping)
    q_next = moved(robot, aim.box, q_aside, back)
    e, w_next = error(robot, q_next, target, aim), towards(aim.box, q_next, start)
    better = (dot(w_next, w_next) < dot(w, w)) & (dot(e, e) < CLOSE * CLOSE)
    alpha = where(better, FASTER * rate, SLOWER * rate)
    alpha = where(alpha > MOST, MOST, where(alpha < LEAST, LEAST, alpha))
    return {"q": where(better[..., None], q_next, q), "rate": alpha}


def slid(robot: Robot, aim: Aim, q: Array, targets: Array, start: Array, steps: int) -> Array:
    """The configurations (K, nq) after some steps towards ``start`` (K, nq), all next to their targets."""
    end: Array = _slider(robot, aim)(q, np.ones(len(q)), targets, start, steps)[0]
    return end


@remembered(64)
def _slider(robot: Robot, aim: Aim) -> Slide:
    def slides(robot: Robot, q: Array, rate: Array, target: Array, start: Array) -> dict[str, Array]:
        return slide_step(robot, q, rate, target, start, aim=aim)

    fixed = {"target": KINDS[aim.kind], "start": (robot.nq,)}
    loop = scan(slides, robot, {"q": robot.nq, "rate": ()}, constants=fixed)

    def slide(q: Array, rate: Array, targets: Array, start: Array, steps: int) -> tuple[Array, ...]:
        end = loop(steps=steps, every=steps, q=q, rate=rate, target=targets, start=start)
        return tuple(x[:, 0] for x in end.values())

    return slide


@remembered(256)
def is_redundant(robot: Robot, aim: Aim) -> bool:
    """Whether there is a self-motion: more entries of a step than the rank of J, the largest at some configurations."""
    q = random_configuration(robot, seed=0, batch=(4,))
    J = columns(aim.box, q, rows(aim, mixed_jacobian(robot, q, aim.frame)))
    return bool(np.linalg.matrix_rank(J, rtol=1e-9).max() < aim.box.size)
