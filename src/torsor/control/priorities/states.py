"""The problems of a batch of states: arguments checked, terms of all states at once, then one state after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_strangers
from torsor.control.priorities.edge_of_reach import SHARE
from torsor.control.priorities.fading_directions import RANK
from torsor.control.priorities.limit_rows import LimitRows
from torsor.control.priorities.priorities import Level, Problem, Resolved
from torsor.errors import ArgumentError, ShapeError
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks import Task, as_task
from torsor.tasks._task_space_dynamics import check_rows
from torsor.tasks.typical_scales import VANISHED, usual_rows
from torsor.tasks.weighted_inverse import ASYMMETRIC


class Rest(NamedTuple):
    """What is out of reach comes to rest by this: as `edge_of_reach` has it."""

    factor: Array
    """(...)."""
    aim: Array
    """(..., nv)."""
    held: bool

    @classmethod
    def of_velocities(cls, dt: float, v: Array, most: Array) -> Rest:
        """For steps dt after one with velocities ``v`` (..., nv), with acceleration limits ``most`` (nv,)."""
        return cls(SHARE * (dt + _braking_time(v, most)), np.zeros(v.shape), False)

    @classmethod
    def of_accelerations(cls, T: float, v: Array, most: Array) -> Rest:
        """For a time T at least."""
        times = T + _braking_time(v, most)
        return cls(SHARE * times**2, -2.0 / (math.sqrt(SHARE) * times[..., None]) * v, True)


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
    """What is usual for a task: the length of all rows, what of it counts for nothing, and squares of rounding errors (m,)."""

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
            levels,
            wanted[state],
            metric,
            rows.at(state),
            damping,
            float(rest.factor[state]),
            rest.aim[state],
            rest.held,
        )
        states.append(Resolved(problem))
    if not batch:
        return states, states[0].x
    return states, np.array([state.x for state in states]).reshape(*batch, robot.nv)


def terms_of(robot: Robot, task: Task, wanted: Array, A: Array, b: Array) -> Terms:
    """A level in all states, of finite numbers; entries of A that are rounding errors, beside what is usual, become 0.

    Near a singularity rows are small, and directions of such errors would be as large as others.
    """
    if not (all_finite(A) and all_finite(b)):
        raise ArgumentError(f"task {task.title!r} has numbers that are not finite.")
    usual = usual_of(task, robot)
    A = np.where(np.square(A) > usual.floors[:, None], A, 0.0)
    return Terms(task, wanted, A, b, usual)


@remembered(256)
def usual_of(task: Task, robot: Robot) -> Usual:
    """From rows at random configurations; rows that never move have vanished wherever they are."""
    usual = usual_rows(task, robot)
    never = usual <= VANISHED * max(1.0, float(usual.max(initial=0.0)))
    size = float(np.linalg.norm(usual))
    return Usual(size, RANK * size, np.where(never, np.inf, (VANISHED * usual) ** 2))


def in_batch(own: Sequence[tuple[str, Array]], what: str, wanted: Sequence[tuple[Task, Array]]) -> tuple[Array, ...]:
    """Arrays (..., k) by name, and ``what`` is wanted of tasks (..., m), all with the batch axes that they have together."""
    arrays = [x for _, x in own] + [y for _, y in wanted]
    if max(x.ndim for x in arrays) == 1:
        return tuple(arrays)
    named = [*own, *((f"{what} of {task.title}", y) for task, y in wanted)]
    batch = batch_of(**{name: x.shape[:-1] for name, x in named})
    return tuple(np.broadcast_to(x, (*batch, x.shape[-1])) for x in arrays)


def plain_tasks(who: str, robot: Any, tasks: Any, given: tuple[Any, ...]) -> list[Any]:
    """The list of tasks; an error unless the robot is one, and all are plain numbers: nothing that JAX or torsor traces."""
    refuse_strangers(robot, *_entries(given))
    try:
        listed = list(tasks)
    except TypeError:
        raise ArgumentError(f"`tasks` are a list of pairs, highest priority first, got {tasks!r:.60}.") from None
    refuse_strangers(robot, *_entries(listed))
    return listed


def _entries(values: Any) -> list[Any]:
    """Of nested lists and tuples, but for tasks, which are not made of numbers that could be traced."""
    entries: list[Any] = []
    for value in values:
        if isinstance(value, (list, tuple)):
            entries += _entries(value)
        elif not isinstance(value, Task):
            entries.append(value)
    return entries


def pairs_of(name: str, robot: Robot, tasks: Sequence[Any]) -> list[tuple[Task, Array]]:
    """Pairs (task, what it wants (..., m)), checked; ``name`` says what that is."""
    return [_pair(name, robot, pair) for pair in tasks]


def _pair(name: str, robot: Robot, pair: Any) -> tuple[Task, Array]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ArgumentError(f"`tasks` are pairs (task, {name}), highest priority first, got {pair!r:.60}.")
    task = as_task(robot, pair[0])
    y = pair[1] if _are_numbers(pair[1]) else _numbers(f"the {name} of task {task.title!r}", pair[1])
    if not y.ndim:
        raise ShapeError(f"the {name} of task {task.title!r} must have shape (..., {task.size}), got a number.")
    check_rows(name, y, task)
    if not all_finite(y):
        raise ArgumentError(f"the {name} of task {task.title!r} has numbers that are not finite.")
    return task, y


def metric_root(robot: Robot, metric: Any) -> Array | None:
    """L (..., nv, nv) with Lᵀ L = W, of a metric W that is checked; None if there is none."""
    if metric is None:
        return None
    W, nv = _numbers("`metric`", metric), robot.nv
    if W.shape[-2:] != (nv, nv):
        raise ShapeError(f"`metric` must have shape (..., {nv}, {nv}), got {W.shape}.")
    if not np.isfinite(W).all():
        raise ArgumentError("`metric` has numbers that are not finite.")
    off = np.abs(W - np.swapaxes(W, -1, -2)).max(axis=(-1, -2))
    if np.any(off > ASYMMETRIC * np.trace(np.abs(W), axis1=-2, axis2=-1)):
        raise ArgumentError(
            f"`metric` must be symmetric, and differs from its transpose by {off.max():.3g}. "
            "Pass 0.5 * (metric + metric.T) if that is what is meant."
        )
    try:
        return np.swapaxes(np.linalg.cholesky(W), -1, -2)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(W).min())
        raise ArgumentError(f"`metric` must be positive definite, and its least eigenvalue is {least:.3g}.") from None


def vectors(name: str, value: Any, size: int) -> Array:
    """Vectors (..., size) of finite numbers."""
    x: Array = value if _are_numbers(value) else _numbers(f"`{name}`", value)
    if x.ndim == 0 or x.shape[-1] != size:
        raise ShapeError(f"`{name}` must have shape (..., {size}), got {x.shape}.")
    if not all_finite(x):
        raise ArgumentError(f"`{name}` has numbers that are not finite.")
    return x


def all_finite(x: Array) -> bool:
    """Whether all numbers are finite; the sum of squares says so at once, unless it is too large itself."""
    return math.isfinite(np.vdot(x, x)) or bool(np.isfinite(x).all())


def batch_of(**given: tuple[int, ...]) -> tuple[int, ...]:
    """The batch axes that arguments with such axes have together."""
    try:
        return np.broadcast_shapes(*given.values())
    except ValueError:
        listing = ", ".join(f"{name} {axes}" for name, axes in given.items() if axes)
        raise ShapeError(f"batch axes must agree, or be 1; got {listing}.") from None


def _are_numbers(value: Any) -> bool:
    """Whether it is an array as it must be, which most often it is."""
    return type(value) is np.ndarray and value.dtype == float


def _numbers(what: str, value: Any) -> Array:
    try:
        return np.asarray(value, float)
    except (TypeError, ValueError):
        raise ShapeError(f"{what} must be numbers, got {value!r:.60}.") from None


def acceleration_limits_from(value: Any, nv: int) -> Array:
    """Acceleration limits (nv,) of a number or a vector; all infinite if None."""
    if value is None:
        return np.full(nv, np.inf)
    x = _numbers("`acceleration_limits`", value)
    if x.shape not in ((), (nv,)):
        raise ShapeError(f"`acceleration_limits` must be a number or of shape ({nv},), got {x.shape}.")
    if not np.all(x > 0.0):
        raise ArgumentError(f"`acceleration_limits` must be positive (infinite for none), got {x.min()}.")
    return np.array(np.broadcast_to(x, (nv,)))


def kinds_kept(within_limits: Any, kinds: tuple[str, ...]) -> dict[str, bool]:
    """Which kinds of limits of the robot are kept: all if True, none if False, or those that are listed."""
    if isinstance(within_limits, (bool, np.bool_)):
        return dict.fromkeys(kinds, bool(within_limits))
    try:
        listed = [within_limits] if isinstance(within_limits, str) else list(within_limits)
    except TypeError:
        listed = [within_limits]
    for word in listed:
        refuse_unknown_word("within_limits", word, kinds, also="several of these, True or False")
    return {kind: kind in listed for kind in kinds}


def check_numbers(**given: tuple[Any, bool]) -> None:
    """Refuse what is not one number, not finite, negative, or 0 where it says positive."""
    for name, (x, positive) in given.items():
        if type(x) is float and (0.0 < x < math.inf or (x == 0.0 and not positive)):
            continue
        wanted = "positive" if positive else "not negative"
        try:
            sound = np.ndim(x) == 0 and np.isfinite(x) and (x > 0.0 or (x == 0.0 and not positive))
        except TypeError:
            sound = False
        if not sound:
            raise ArgumentError(f"`{name}` must be finite and {wanted}, got {x!r:.60}.")
