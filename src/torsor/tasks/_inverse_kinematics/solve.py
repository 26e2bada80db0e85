"""Inverse kinematics: the configurations that bring a task to its targets, thousands at a time."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import reduce
from math import hypot, inf, prod
from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, GivenNumbers, TaskVector
from torsor.border import explained
from torsor.border.numbers import refuse_strangers
from torsor.compiler.backend import compiles
from torsor.errors import ArgumentError, ArgumentTypeError, ModelError, ShapeError
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import box_of
from torsor.tasks._inverse_kinematics.descent import LOOKS_AT_ONE, Aim, FromNearby, Norm, pressed
from torsor.tasks._inverse_kinematics.search import PATIENCE, Effort, Found, Reach, Reaches, reach_of, search
from torsor.tasks.targets import is_sound, plain_numbers, plain_targets, target_size
from torsor.tasks.task import Part, Task, Value
from torsor.tasks.task_groups import MOTIONS, ROTATIONS
from torsor.tasks.task_kinds import FrameTask, as_task
from torsor.tasks.typical_scales import row_units

SHOWN = 5  # targets that were not reached, in a printed result
DOUBLE = np.dtype(np.float64)
FEWEST = -(-LOOKS_AT_ONE[-1] // PATIENCE)  # iterations that are no fewer than the first steps at once


@explained
def inverse_kinematics(
    robot: Robot,
    task: Task | str,
    targets: GivenNumbers,
    *,
    start: GivenConfiguration | None = None,
    nearest: bool = False,
    within_limits: bool = True,
    tolerance: float = 1e-8,
    starts: int = 101,
    iterations: int = 50,
    seed: int | np.random.Generator = 0,
) -> InverseKinematics:
    """Configurations that bring a task to targets, and how well (inverse kinematics, IK): thousands at a time.

    Newton's method on the group, damped, within the joint limits [Mar63; Sug11; Ber82]. ::

        found = torsor.inverse_kinematics(arm, "hand_tcp", poses)       # poses (10000, 4, 4)
        print(found)                                                    # how many, how well, and why not
        q = found.q[found.success]

        both = torsor.stack_tasks("left_hand", "right_hand")            # two hands at once
        found = torsor.inverse_kinematics(robot, both, (left, right))

    Parameters
    ----------
    robot : Robot
    task : Task or str
        A task that has a value, of frames, functions, rows, stacks or your own; the name of a frame means its pose.
    targets : (..., *task.target_shape) array, or of stacked tasks a tuple of them
        Poses (..., 4, 4), points (..., 3), m, or rotations (..., 3, 3) of a frame in the base frame; numbers of a function;
        of rows, those of the whole task, of which numbers for other rows do not matter. Where R Rᵀ differs from 1 by up to
        1e-6, as in single precision, the nearest rotation is meant; more is refused.
    start : (..., nq) array, optional
        Where the search begins, rad or m, moved into the limits; the neutral configuration if not given. Of solutions that are
        found together, the one nearest to it is taken; angles are given by whole turns as near to it as the limits allow, and
        coordinates that do not move the task stay as they are in it.
    nearest : bool
        Use all starts, let solutions of a redundant robot slide along their self-motion towards ``start``, and take the
        nearest, by the root of the sum of squares of rad and m: a local minimum of the distance, the least of those found, to
        the accuracy of a descent of first order.
    within_limits : bool
        Keep the joint limits, to the last bit; joints may go anywhere if False.
    tolerance : float
        A target is reached when angles (rad) and distances (m) to it are at most this; of functions, the length of the
        difference.
    starts : int
        How many configurations the search begins from at most: ``start``, then random ones. A solution from a random one may be
        far from ``start``: where a robot must not jump, pass 1, or look whether ``starts`` of the result is 1.
    iterations : int
        How many steps are made from each start at most; from a ``start`` that is given five times as many, while they lead on.
    seed : int or numpy.random.Generator
        For the random configurations. Targets of a batch share them, so which of its solutions a target gets may depend on the
        seed and on the batch it is in.

    Returns
    -------
    InverseKinematics
        For every target the configuration ``q`` (..., nq) that reaches it or comes nearest, ``success``, the errors, and the
        ``reason`` in words.
    """
    _refuse_bad_numbers(tolerance, starts, iterations)
    source = _checked_seed(seed)
    if type(start) is type(targets) is np.ndarray and not nearest and iterations >= FEWEST and _is_plain(robot, task):
        found = _again(robot, task, bool(within_limits)).at_once(robot, targets, start, tolerance)
        if found is not None:
            return found
    effort = Effort(float(tolerance), int(iterations), int(starts), bool(nearest), source)
    return _solved(robot, task, targets, start, bool(within_limits), effort)


def _solved(
    robot: Robot, task: Task | str, targets: Value, start: Any, limits: bool, effort: Effort
) -> InverseKinematics:
    refuse_strangers(robot, start, *(targets if isinstance(targets, (tuple, list)) else (targets,)))
    _refuse_bad_arguments(robot, task, effort.all_starts and start is None)
    ready = aimed(robot, task, limits)
    aim = ready.aim
    goals = plain_targets(aim.task, targets)
    begin = None if start is None else _checked_start(robot, start)
    batch = _common_batch(goals.shape[:-1], begin)
    flat = _flat(goals, batch, goals.shape[-1])
    home = _flat(ready.neutral if begin is None else begin, batch, robot.nq)
    end = search(robot, aim, ready.reaches, flat, home, begin is not None, effort)
    e = end.e * aim.unit
    angle, position = _largest(aim, e, "rad"), _largest(aim, e, "m")
    largest, reason = np.maximum(angle, position), _reasons(robot, aim, ready.reaches, flat, end)
    if "" in aim.task.units:
        largest = np.maximum(largest, _largest(aim, e, ""))
    shaped = [x.reshape(batch) for x in (end.reached, angle, position, largest, reason, end.steps, end.starts)]
    q, rows = end.q.reshape(*batch, robot.nq), e.reshape(*batch, aim.task.size)
    return InverseKinematics(robot, aim.task, q, rows, *shaped)


def _is_plain(robot: Any, task: Any) -> bool:
    return type(robot) is Robot and robot.is_concrete and isinstance(task, (str, Task))


def _flat(values: Array, batch: tuple[int, ...], size: int) -> Array:
    """One for each of the batch, (N, size)."""
    whole = values if values.shape == (*batch, size) else np.broadcast_to(values, (*batch, size))
    return whole.reshape(prod(batch), size)


_latest: tuple[weakref.ref[Robot], Task | str, bool, Aimed] | None = None


def _again(robot: Robot, task: Task | str, limits: bool) -> Aimed:
    """That of the call before, if it was for the very same: to look for an equal robot takes longer than a step."""
    global _latest
    known = _latest
    if known is not None and known[0]() is robot and known[1] is task and known[2] is limits:
        return known[3]
    found = aimed(robot, task, limits)
    _latest = weakref.ref(robot), task, limits, found
    return found


@remembered(256)
def aimed(robot: Robot, task: Task | str, limits: bool) -> Aimed:
    """How a robot is to reach targets of a task."""
    own = as_task(robot, task)
    coordinates = own.coordinates(robot) if target_size(own) else ()
    if not coordinates:
        raise ModelError(
            f"no joint of robot {robot.name!r} moves the task {own.title!r}: what it is about is fixed to the base."
        )
    balls = [_ball(robot, part.task, limits) for part in own.parts]
    unit, norms = np.ones(own.size), list[Norm]()
    for part, ball in zip(own.parts, balls, strict=True):
        units = [part.task.units[row] for row in part.rows]
        for kind in sorted(set(units), reverse=True):
            norms.append(Norm(kind, tuple(place for place, x in zip(part.places, units, strict=True) if x == kind)))
        unit[list(part.places)] = _units(robot, part, ball)
    reaches = tuple(
        ball if part.is_whole and "m" in part.task.units else None for part, ball in zip(own.parts, balls, strict=True)
    )
    far = any(ball is None or ball.radius > ball.size for ball in balls)
    aim = Aim(own, unit, tuple(norms), box_of(robot, coordinates, limits), far)
    return Aimed(robot, aim, reaches)


class Aimed:
    """A robot and a task, made ready: how a search is done, and the shortest way for one target from a start next to it."""

    def __init__(self, robot: Robot, aim: Aim, reaches: Reaches) -> None:
        self.reaches = reaches
        self.aim, self.neutral, self._steps = aim, robot.neutral, FromNearby(robot, aim)
        self._shape, self._start = aim.task.target_shape, (robot.nq,)
        parts = aim.task.parts
        self._is_one = (
            len(parts) == 1
            and all(norm.span is not None for norm in aim.norms)
            and not any(kind in ("spherical", "free") for kind in robot.structure.kinds)
        )
        self._turns = parts[0].task.group in (MOTIONS, ROTATIONS)
        self._rows = [norm.span or slice(0, 0) for norm in aim.norms]
        self._angles, self._lengths = (
            [k for k, norm in enumerate(aim.norms) if norm.unit == unit] for unit in ("rad", "m")
        )

    def at_once(self, robot: Robot, target: Array, start: Array, tolerance: float) -> InverseKinematics | None:
        """The answer for plain arrays, if the first steps come to it; None if it takes more, or is to be refused."""
        if not self._is_one or target.shape != self._shape or start.shape != self._start or not compiles():
            return None
        if target.dtype != DOUBLE or start.dtype != DOUBLE or (self._turns and not is_sound(target)):
            return None
        end = self._steps(start, target.reshape(-1), tolerance)
        if end is None:
            return None
        q, e, steps = end
        left = e.tolist()
        sizes = [hypot(*left[rows]) for rows in self._rows]
        angle = max([sizes[k] for k in self._angles]) if self._angles else 0.0
        distance = max([sizes[k] for k in self._lengths]) if self._lengths else 0.0
        found = object.__new__(InverseKinematics)
        found.__dict__.update(  # what __init__ does, which of a frozen class takes a call for each
            robot=robot,
            task=self.aim.task,
            q=q,
            error=e,
            success=np.array(True),
            angle_error=np.array(angle),
            position_error=np.array(distance),
            residual=np.array(max(sizes)),
            reason=np.array("reached", object),
            iterations=np.array(steps),
            starts=np.array(1),
        )
        return found


def _largest(aim: Aim, e: Array, unit: str) -> Array:
    """The largest of the angles, distances or others, by their unit, of errors (N, m) in rad and m; zero if there is none."""
    lengths = [norm.length(e) for norm in aim.norms if norm.unit == unit]
    return reduce(np.maximum, lengths) if lengths else np.zeros(len(e))


def _ball(robot: Robot, task: Task, limits: bool) -> Reach | None:
    """How far it reaches, which is known of frames that a joint moves."""
    if isinstance(task, FrameTask) and robot.structure.frame(task.frame).link >= 0:
        return reach_of(robot, task.frame, limits)
    return None


def _units(robot: Robot, part: Part, ball: Reach | None) -> Array:
    """What the rows of a part are measured by: rad and l of frames, of others what joints usually do to them."""
    if ball is None:
        return row_units(part.task, robot)[list(part.rows)]
    length = 0.5 * ball.size if ball.size > 1e-9 else 1.0  # a robot that only turns has none
    return np.array([1.0 if part.task.units[row] == "rad" else length for row in part.rows])


def _reasons(robot: Robot, aim: Aim, reaches: Reaches, targets: Array, found: Found) -> Array:
    reason = np.full(len(targets), "reached", dtype=object)
    if found.beyond is None or found.reached.all():
        return reason
    lost = np.flatnonzero(~found.reached)
    units = {norm.unit for norm in aim.norms}
    angle, position, other = (_largest(aim, found.e[lost] * aim.unit, unit) for unit in ("rad", "m", ""))
    held = pressed(robot, aim, found.q[lost], targets[lost])
    for j, k in enumerate(lost):
        parts = [f"{100 * position[j]:.3g} cm"] if "m" in units else []
        parts += [f"{np.degrees(angle[j]):.3g}°"] if "rad" in units else []
        parts += [f"{other[j]:.3g} in its own unit"] if "" in units else []
        near = f"nearest {', '.join(parts)}"
        most = int(np.argmax(found.beyond[k]))
        if found.beyond[k, most] > 0.0 and (reach := reaches[most]) is not None:
            whose = f" of {aim.task.parts[most].task.name!r}" if len(reaches) > 1 else ""
            away = f"{reach.radius + found.beyond[k, most]:.4g} m from the first joint"
            reason[k] = f"target{whose} out of reach: {away}, at most {reach.radius:.4g} m is possible; {near}"
            continue
        within = " within limits" if held[j].any() else ""  # elsewhere they are not what is in the way
        starts = f"{found.starts[k]} start{'s' if found.starts[k] > 1 else ''}"
        reason[k] = f"no solution{within} after {starts}; {near}"
        if held[j].any():
            sides = {n: "upper" if s > 0 else "lower" for n, s in zip(aim.box.names, held[j], strict=True) if s}
            reason[k] += f"; stuck at a limit: {', '.join(f'{name} ({side})' for name, side in sides.items())}"
    return reason


def _refuse_bad_arguments(robot: Robot, task: Any, near_nothing: bool) -> None:
    if not isinstance(task, (str, Task)):
        raise ArgumentTypeError(
            f"`task` must be a task or the name of a frame, got {type(task).__name__}: it comes before its targets, as in "
            f"torsor.inverse_kinematics(robot, {robot.frames[-1]!r}, targets)."
        )
    if near_nothing:
        raise ArgumentError("nearest=True asks for the solution nearest to `start`; pass start=.")


def _refuse_bad_numbers(tolerance: float, starts: int, iterations: int) -> None:
    if not (isinstance(tolerance, (float, Real)) and 0.0 < tolerance < inf):
        raise ArgumentError(f"`tolerance` must be finite and positive, got {tolerance!r:.60}.")
    for name, value in (("starts", starts), ("iterations", iterations)):
        if not isinstance(value, (int, Integral)) or value < 1:
            raise ArgumentError(f"`{name}` must be a whole number of at least 1, got {value!r:.60}.")


def _checked_seed(seed: Any) -> int | np.random.Generator:
    if isinstance(seed, np.random.Generator):
        return seed
    if isinstance(seed, (int, np.integer)) and seed >= 0:
        return int(seed)
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"`seed` must be a whole number of at least 0 or a numpy.random.Generator, got {seed!r:.60}."
        ) from None


def _common_batch(batch: tuple[int, ...], begin: Array | None) -> tuple[int, ...]:
    if begin is None or begin.shape[:-1] == batch:
        return batch
    try:
        return np.broadcast_shapes(batch, begin.shape[:-1])
    except ValueError:
        raise ShapeError(
            f"the batch axes of the targets {batch} and of `start` {begin.shape[:-1]} do not broadcast."
        ) from None


def _checked_start(robot: Robot, start: Any) -> Array:
    """Finite numbers (..., nq), with no quaternion of length zero."""
    try:
        begin = plain_numbers(start)
    except (TypeError, ValueError):
        raise ShapeError(
            f"`start` must be an array of numbers with shape (..., {robot.nq}), got {start!r:.60}."
        ) from None
    if begin.shape[-1:] != (robot.nq,):
        raise ShapeError(f"`start` must have shape (..., {robot.nq}) for robot {robot.name!r}, got {begin.shape}.")
    if not np.isfinite(begin).all():
        raise ModelError("`start` must hold finite numbers, got NaN or infinity.")
    for joint, place in _quaternions(robot):
        if np.any(np.all(begin[..., place] == 0.0, axis=-1)):
            raise ModelError(f"the quaternion of joint {joint!r} in `start` has length zero.")
    return begin


@remembered(256)
def _quaternions(robot: Robot) -> list[tuple[str, slice]]:
    s = robot.structure
    ends = [(s.joints[i], s.coordinate_of(i).q.stop) for i, kind in enumerate(s.kinds) if kind in ("spherical", "free")]
    return [(joint, slice(end - 4, end)) for joint, end in ends]


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics(Report):
    """Answer of `inverse_kinematics`, batch axes first; true if every target is reached.

    Attributes
    ----------
    robot, task : Robot and Task
        What was asked of.
    q : (..., nq) array
        The configuration that reaches the target or, where none was found, that comes nearest, rad or m.
    success : (...) array
        Whether each target is reached.
    error : (..., m) array
        What is left of every row of the task, rad, m or the unit of the function; of a pose (log(R* Rᵀ), p* − p) in base axes.
    angle_error, position_error : (...) array
        The largest angle and distance that are left, rad and m; zero for what was not asked for.
    residual : (...) array
        The largest of these, and of what is left of functions: at most the tolerance where the target is reached.
    reason : (...) array
        The same in words.
    iterations, starts : (...) array
        Steps of Newton's method over all starts, and how many starts were used.
    """

    robot: Robot
    task: Task
    q: ConfigurationVector
    error: TaskVector
    success: Array
    angle_error: Array
    position_error: Array
    residual: Array
    reason: Array
    iterations: Array
    starts: Array

    def __bool__(self) -> bool:
        return bool(np.all(self.success))

    def __str__(self) -> str:
        count, reached = self.success.size, int(np.sum(self.success))
        what = f"{self.task.title!r} of robot {self.robot.name!r}"
        if self.success.ndim == 0:
            return f"{what}: {self.reason}"
        if not count:
            return f"{what}: no targets"
        head = f"{what}: {reached} of {count} targets reached ({100 * reached / count:.2f} %)"
        if reached:
            units = sorted(set(self.task.units), reverse=True)
            errors = {"rad": self.angle_error, "m": self.position_error, "": self.residual}
            head += f", to {' and '.join(f'{errors[unit][self.success].max():.1e} {unit}'.strip() for unit in units)}"
        head += f"; {np.median(self.iterations):.0f} iterations over all starts (median), at most {self.starts.max()} starts"
        lost = np.argwhere(~self.success)
        lines = [f"  {list(map(int, k))}: {self.reason[tuple(k)]}" for k in lost[:SHOWN]]
        more = [f"  and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else []
        return "\n".join([head, *lines, *more])
