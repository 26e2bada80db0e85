"""The problems of a batch of states: terms of all states at once, then one state after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.control.priorities.arguments import all_finite, batch_of
from torsor.control.priorities.edge_of_reach import SHARE
from torsor.control.priorities.limit_rows import LimitRows
from torsor.control.priorities.priorities import Level, Problem, Resolved
from torsor.errors import ArgumentError
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks import Task
from torsor.tasks.typical_scales import VANISHED, usual_rows


class Rest(NamedTuple):
    """What is out of reach comes to rest by this: as `edge_of_reach` has it."""

    factor: Array
    """(...)."""
    aim: Array
    """(..., nv)."""

    @classmethod
    def of_velocities(cls, dt: float, v: Array, most: Array) -> Rest:
        """For steps dt after one with velocities ``v`` (..., nv), with acceleration limits ``most`` (nv,)."""
        return cls(SHARE * (dt + _braking_time(v, most)), np.zeros(v.shape))

    @classmethod
    def of_accelerations(cls, T: float, v: Array, most: Array) -> Rest:
        """For a time T at least."""
        times = T + _braking_time(v, most)
        return cls(SHARE * times**2, -2.0 / (math.sqrt(SHARE) * times[..., None]) * v)


def _braking_time(v: Array, most: Array) -> Array:
    """How long it takes to stop (...), by acceleration limits (nv,): what is led to an edge must be able to."""
    if not np.vdot(v, v):
        return np.zeros(v.shape[:-1])
    return np.asarray(np.max(np.abs(v) / most, axis=-1, initial=0.0))


class Terms(NamedTuple):
    """A task in all states: A (..., m, nv) and b (..., m) of |A x − b|², what it wants, and what is usual for it."""

    task: Task
    wanted: Array
    A: Array
    b: Array
    usual: Usual

    def at(self, robot: Robot, q: Array, state: tuple[int, ...]) -> Level:
        """The level of one state with configuration ``q`` (nq,)."""
        A, b, wanted = self.A[state], self.b[state], self.wanted[state]
        return Level(self.task, wanted, A, b, self.usual.least, self.usual.size, _Bend(self.task, robot, q))


class Usual(NamedTuple):
    """What is usual for a task: the length of all rows, what of it is rounding error, and the same of each row (m,)."""

    size: float
    least: float
    floors: Array


@dataclass(frozen=True, eq=False)
class _Bend:
    """J̇(d) d of a task along directions d at one configuration."""

    task: Task
    robot: Robot
    q: Array

    def __call__(self, along: Array) -> Array:
        if len(along) == 1:
            return np.asarray(self.task.drift(self.robot, self.q, along[0]))[None]
        # A copy for each, side by side: kernels are called in the general way with arrays that repeat numbers in place.
        return np.asarray(self.task.drift(self.robot, self.q[None].repeat(len(along), axis=0), along))


def resolved_states(
    who: str,
    robot: Robot,
    q: Array,
    terms: Sequence[Terms],
    wanted: Array,
    root: Array | None,
    rows: LimitRows,
    damping: float,
    rest: Rest,
) -> tuple[list[Resolved], Array]:
    """What comes of each state, and x (..., nv) of all. All but ``root``, which may, have the batch axes of ``q`` (..., nq)."""
    batch = q.shape[:-1]
    states = []
    for state in np.ndindex(batch) if batch else ((),):
        own = q[state]
        levels = [term.at(robot, own, state) for term in terms]
        metric = root if root is None or root.ndim == 2 else root[state]
        problem = Problem(
            levels, wanted[state], metric, rows.at(state), damping, float(rest.factor[state]), rest.aim[state], who
        )
        states.append(Resolved(problem))
    if not batch:
        return states, states[0].x
    return states, np.array([state.x for state in states]).reshape(*batch, robot.nv)


def terms_of(who: str, robot: Robot, task: Task, wanted: Array, A: Array, b: Array) -> Terms:
    """A level in all states, of finite numbers; rows of A that are all rounding error, beside what is usual, become 0."""
    if not (all_finite(A) and all_finite(b)):
        raise ArgumentError(f"{who}: task {task.title!r} has numbers that are not finite.")
    usual = usual_of(task, robot)
    lengths = np.einsum("...ij,...ij->...i", A, A)
    vanished = lengths <= usual.floors
    if vanished.any():
        A = np.where(vanished[..., None], 0.0, A)
    return Terms(task, wanted, A, b, usual)


@remembered(256)
def usual_of(task: Task, robot: Robot) -> Usual:
    """From rows at random configurations; rows that never move have vanished wherever they are."""
    usual = usual_rows(task, robot)
    never = usual <= VANISHED * max(1.0, float(usual.max(initial=0.0)))
    size = float(np.linalg.norm(usual))
    return Usual(size, VANISHED * size, np.where(never, np.inf, (VANISHED * usual) ** 2))


def in_batch(
    who: str, own: Sequence[tuple[str, Array]], what: str, wanted: Sequence[tuple[Task, Array]]
) -> tuple[Array, ...]:
    """Arrays (..., k) by name, and ``what`` is wanted of tasks (..., m), all with the batch axes that they have together."""
    arrays = [x for _, x in own] + [y for _, y in wanted]
    if max(x.ndim for x in arrays) == 1:
        return tuple(arrays)
    named = [*own, *((f"{what} of {task.title}", y) for task, y in wanted)]
    batch = batch_of(who, **{name: x.shape[:-1] for name, x in named})
    return tuple(np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays)
