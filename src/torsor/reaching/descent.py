"""Many Newton steps of many states: a kernel for each robot, frame and kind of target, and the loop that drops what is done."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.backend import compiles
from torsor.compile_function import scan
from torsor.functions import mixed_jacobian
from torsor.model import Robot
from torsor.reaching.box_coordinates import columns, numbers
from torsor.reaching.newton_step import KINDS, START, Aim, error, newton_step, rows

BETWEEN = (10, 5)  # steps to the first look at what is done, and from each look to the next
BETWEEN_FEW = (20, 10)  # of few states, for which a look takes longer than a step
FEW = 64
SLOW = 0.5  # a state whose E falls by less from look to look is stuck

Advance = Callable[[Array, Array, Array, int], tuple[Array, ...]]  # (q, μ, target, steps) → (q, μ, e, what is left)


class Descent(NamedTuple):
    """Where states came to: ``q`` (K, nq), error ``e`` (K, m), whether it is ``within`` the tolerance, steps taken."""

    q: Array
    e: Array
    within: Array
    steps: Array

    @property
    def merit(self) -> Array:
        """E (K,)."""
        E: Array = 0.5 * np.sum(self.e * self.e, axis=-1)
        return E


def errors(aim: Aim, e: Array) -> tuple[Array, Array]:
    """Angle, rad, and distance, m, of errors (..., m); zero for what is not asked for."""
    angle = np.zeros(e.shape[:-1]) if aim.kind == "position" else np.linalg.norm(e[..., :3], axis=-1)
    distance = (
        np.zeros(e.shape[:-1]) if aim.kind == "orientation" else np.linalg.norm(e[..., -3:], axis=-1) * aim.length
    )
    return angle, distance


def descend(
    robot: Robot,
    aim: Aim,
    q: Array,
    targets: Array,
    tolerance: float,
    most: int,
    *,
    owners: Array | None = None,
    patient: bool = False,
) -> Descent:
    """At most ``most`` steps from each q (K, nq) towards its target.

    States that are stuck stop, unless ``patient``; so do those of whose owner, ``owners`` (K,), another has arrived.
    """
    advance = stepper(robot, aim)
    between = BETWEEN_FEW if len(q) <= FEW else BETWEEN
    q, mu, E = np.array(q), np.full(len(q), START), np.full(len(q), np.inf)
    e = np.empty((len(q), 6 if aim.kind == "pose" else 3))
    within, steps = np.zeros(len(q), bool), np.zeros(len(q), int)
    active = np.arange(len(q))
    taken = 0
    while active.size and taken < most:
        count = min(between[taken > 0], most - taken)
        q[active], mu[active], e[active], left = advance(q[active], mu[active], targets[active], count)
        taken += count
        steps[active] = taken
        now = 0.5 * np.sum(e[active] * e[active], axis=-1)
        arrived = left <= tolerance
        going = ~arrived
        if not patient:
            going &= now < SLOW * E[active]
        if owners is not None and arrived.any():
            going &= ~np.isin(owners[active], owners[active[arrived]])
        E[active], within[active] = now, arrived
        active = active[going]
    return Descent(q, e, within, steps)


@functools.lru_cache(maxsize=64)
def _compiled(robot: Robot, aim: Aim) -> Advance:
    def newton_steps(robot: Robot, q: Array, damping: Array, target: Array) -> dict[str, Array]:
        return newton_step(robot, q, damping, target, aim=aim)

    loop = scan(newton_steps, robot, {"q": robot.nq, "damping": ()}, constants={"target": KINDS[aim.kind]})

    def advance(q: Array, damping: Array, targets: Array, steps: int) -> tuple[Array, ...]:
        end = loop(steps=steps, every=steps, q=q, damping=damping, target=targets)
        return tuple(x[:, 0] for x in end.values())

    return advance


def stepper(robot: Robot, aim: Aim) -> Advance:
    """Several steps of many states, compiled or as the backend says."""
    if compiles():
        return _compiled(robot, aim)

    def advance(q: Array, damping: Array, targets: Array, steps: int) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            for _ in range(steps):
                q, damping, e, left = newton_step(robot, q, damping, targets, aim=aim).values()
        return q, damping, e, left

    return advance


def pressed(robot: Robot, aim: Aim, q: Array, targets: Array) -> Array:
    """Which bounds the way to the target would cross: −1 lower, 1 upper, 0 none, for each entry of a step (K, k)."""
    J = columns(aim.box, q, rows(aim, mixed_jacobian(robot, q, aim.frame)))
    x, g = numbers(aim.box, q), np.einsum("...mk,...m->...k", J, error(robot, q, targets, aim))
    above = (x >= np.array(aim.box.upper)) & (g > 0.0)
    below = (x <= np.array(aim.box.lower)) & (g < 0.0)
    return above.astype(int) - below.astype(int)
