"""From start to start until every target is reached or the starts are used up, all targets at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions import difference
from torsor.model import Robot
from torsor.reaching.descent import BETWEEN_FEW, descend, stepper
from torsor.reaching.newton_step import START, Aim
from torsor.reaching.starts import random_starts, unwound, within

FIRST, LATER = 8, 64  # starts side by side in the first round, and in those after it, if there are fewer targets
AT_HOPELESS = 8  # starts for a target that is known to be out of reach: enough for a good nearest approach


class Effort(NamedTuple):
    """How long to search: tolerance, rad and m; most steps of a start; most starts of a target; whether to use all of them."""

    tolerance: float
    steps: int
    starts: int
    all_starts: bool
    seed: int | np.random.Generator


class Found(NamedTuple):
    """For N targets: the best ``q`` (N, nq) and its error ``e`` (N, m), whether reached, steps and starts used (N,)."""

    q: Array
    e: Array
    reached: Array
    steps: Array
    starts: Array


class Best:
    """The best that was found so far for each of N targets: reached and nearest to where it began, else of least error."""

    def __init__(self, count: int, nq: int, m: int) -> None:
        self.q, self.e = np.zeros((count, nq)), np.full((count, m), np.inf)
        self.reached = np.zeros(count, bool)
        self.rank = np.full((count, 2), np.inf)  # (0, distance) if reached, else (1, E): the smaller, the better

    def update(self, owners: Array, q: Array, e: Array, reached: Array, rank: Array) -> None:
        """Take what is better; ``owners`` (K,) says for which target each was found."""
        order = np.lexsort((rank[:, 1], rank[:, 0], owners))
        first = order[np.concatenate([[True], np.diff(owners[order]) > 0])]
        own = owners[first]
        old, new = self.rank[own], rank[first]
        better = (new[:, 0] < old[:, 0]) | ((new[:, 0] == old[:, 0]) & (new[:, 1] < old[:, 1]))
        own, first = own[better], first[better]
        self.q[own], self.e[own], self.reached[own], self.rank[own] = q[first], e[first], reached[first], rank[first]


def search(
    robot: Robot, aim: Aim, targets: Array, home: Array, from_home: bool, hopeless: Array, effort: Effort
) -> Found:
    """Configurations for N targets, from ``home`` (N, nq) first if it is to be near there, then from random ones.

    Of the coordinates that do not move the frame, home is where they stay.
    """
    count, home = len(targets), within(aim.box, home)
    if count == 1 and not effort.all_starts and (quick := _at_once(robot, aim, targets, home, from_home, effort)):
        return quick
    generator = np.random.default_rng(effort.seed)
    best = Best(count, robot.nq, 6 if aim.kind == "pose" else 3)
    steps, used = np.zeros(count, int), np.zeros(count, int)
    allowed = np.where(hopeless, min(AT_HOPELESS, effort.starts), effort.starts)
    pending = np.arange(count)
    while pending.size:
        first = not used.any()
        together = 1 if first and from_home else max(1, (FIRST if first else LATER) // len(pending))
        owners = np.repeat(pending, np.minimum(together, allowed[pending] - used[pending]))
        q = home[owners]
        if not (first and from_home):
            q = random_starts(aim.box, q, generator)
        one_is_enough = None if from_home else owners
        end = descend(robot, aim, q, targets[owners], effort.tolerance, effort.steps, owners=one_is_enough)
        q = unwound(robot, aim.box, end.q, home[owners])
        np.add.at(steps, owners, end.steps)
        np.add.at(used, owners, 1)
        rank = _rank(robot, q, end.within, end.merit, home[owners], from_home)
        best.update(owners, q, end.e, end.within, rank)
        going = used[pending] < allowed[pending]
        if not effort.all_starts:
            going &= ~best.reached[pending]
        pending = pending[going]
    lost = np.flatnonzero(~best.reached)
    if lost.size:  # those that were given up on the way go on to where they come nearest
        end = descend(robot, aim, best.q[lost], targets[lost], effort.tolerance, 5 * effort.steps, patient=True)
        best.q[lost], best.e[lost], best.reached[lost] = end.q, end.e, end.within
        steps[lost] += end.steps
    return Found(best.q, best.e, best.reached, steps, used)


def _at_once(robot: Robot, aim: Aim, target: Array, home: Array, from_home: bool, effort: Effort) -> Found | None:
    """One target from its home, or from some random starts side by side, in a single run of few steps; None if that fails.

    What `search` does too, without what many targets need: this is the call of a control loop.
    """
    steps = min(BETWEEN_FEW[0], effort.steps)
    q = home
    if not from_home:
        q = random_starts(aim.box, home.repeat(min(FIRST, effort.starts), axis=0), np.random.default_rng(effort.seed))
    count = len(q)
    q, _, e, left = stepper(robot, aim)(q, np.full(count, START), target.repeat(count, axis=0), steps)
    k = int(left.argmin())
    if not left[k] <= effort.tolerance:
        return None
    q, e = unwound(robot, aim.box, q[k : k + 1], home), e[k : k + 1]
    return Found(q, e, np.array([True]), np.array([steps * count]), np.array([count]))


def _rank(robot: Robot, q: Array, reached: Array, E: Array, home: Array, near: bool) -> Array:
    """(0, distance from home) of what is reached, (1, E) of the rest; without a home to be near to, all distances are zero."""
    value = np.array(E)
    value[reached] = 0.0
    if near and reached.any():
        value[reached] = np.linalg.norm(difference(robot, home[reached], q[reached]), axis=-1)
    return np.stack([np.where(reached, 0.0, 1.0), value], axis=-1)
