"""Inverse kinematics: the configurations that bring a frame to targets, thousands at a time."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor._reports import Report
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, GivenNumbers
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.numbers import refuse_strangers
from torsor.errors import ArgumentError, ArgumentTypeError, ModelError, ShapeError
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import box_of
from torsor.tasks._inverse_kinematics.descent import errors, pressed
from torsor.tasks._inverse_kinematics.newton_step import KINDS, Aim
from torsor.tasks._inverse_kinematics.search import Effort, Found, search
from torsor.tasks._inverse_kinematics.targets import Reach, checked_start, checked_targets, reach_of

SHOWN = 5  # targets that were not reached, in a printed result


@explained
def inverse_kinematics(
    robot: Robot,
    frame: str,
    targets: GivenNumbers,
    *,
    kind: str = "pose",
    start: GivenConfiguration | None = None,
    nearest: bool = False,
    within_limits: bool = True,
    tolerance: float = 1e-8,
    starts: int = 101,
    iterations: int = 50,
    seed: int | np.random.Generator = 0,
) -> InverseKinematics:
    """Configurations that bring a frame to targets, and how well (inverse kinematics, IK): thousands at a time.

    Newton's method on the group, damped, within the joint limits [Mar63; Sug11; Ber82]. ::

        found = torsor.inverse_kinematics(arm, "hand_tcp", poses)       # poses (10000, 4, 4)
        print(found)                                                    # how many, how well, and why not
        q = found.q[found.success]

    Parameters
    ----------
    robot : Robot
    frame : str
        The name of the frame.
    targets : (..., 4, 4), (..., 3) or (..., 3, 3) array
        Poses in the base frame, m; points for the frame's origin, m, if ``kind`` is "position"; rotations if it is
        "orientation". Where R Rᵀ differs from 1 by up to 1e-6, as in single precision, the nearest rotation is meant; more is
        refused.
    kind : {"pose", "position", "orientation"}
    start : (..., nq) array, optional
        Where the search begins, rad or m, moved into the limits; the neutral configuration if not given. Of solutions that are
        found together, the one nearest to it is taken; angles are given by whole turns as near to it as the limits allow, and
        coordinates that do not move the frame stay as they are in it.
    nearest : bool
        Use all starts, let solutions of a redundant robot slide along their self-motion towards ``start``, and take the
        nearest, by the root of the sum of squares of rad and m: a local minimum of the distance, the least of those found, to
        the accuracy of a descent of first order.
    within_limits : bool
        Keep the joint limits, to the last bit; joints may go anywhere if False.
    tolerance : float
        A target is reached when angle (rad) and distance (m) to it are at most this.
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
    refuse_strangers(robot, targets, start)
    _refuse_bad_arguments(robot, frame, kind, nearest and start is None)
    _refuse_bad_numbers(tolerance, starts, iterations)
    source = _checked_seed(seed)
    goals = checked_targets(kind, targets)
    begin = None if start is None else checked_start(robot, start)
    batch = _common_batch(goals.shape[: goals.ndim - len(KINDS[kind])], begin)
    flat = _flat(goals, batch, KINDS[kind])
    home = _flat(robot.neutral if begin is None else begin, batch, (robot.nq,))

    aim, reach = _aim(robot, frame, kind, bool(within_limits))
    effort = Effort(float(tolerance), int(iterations), int(starts), bool(nearest), source)
    found = search(robot, aim, reach, flat, home, begin is not None, effort)

    angle, position = errors(aim, found.e)
    reason = _reasons(robot, aim, reach, flat, found)
    shaped = [x.reshape(batch) for x in (found.reached, angle, position, reason, found.steps, found.starts)]
    return InverseKinematics(robot, frame, found.q.reshape(*batch, robot.nq), *shaped)


def _flat(values: Array, batch: tuple[int, ...], shape: tuple[int, ...]) -> Array:
    """One for each of the batch, (N, *shape)."""
    whole = values if values.shape == batch + shape else np.broadcast_to(values, batch + shape)
    return whole.reshape(-1, *shape)


@remembered(256)
def _aim(robot: Robot, frame: str, kind: str, limits: bool) -> tuple[Aim, Reach]:
    reach = reach_of(robot, frame, limits)
    length = 0.5 * reach.size if reach.size > 1e-9 else 1.0  # a robot that only turns has none
    return Aim(frame, kind, length, box_of(robot, frame, limits), far=reach.radius > reach.size), reach


def _reasons(robot: Robot, aim: Aim, reach: Reach, targets: Array, found: Found) -> Array:
    reason = np.full(len(targets), "reached", dtype=object)
    if found.beyond is None or found.reached.all():
        return reason
    lost = np.flatnonzero(~found.reached)
    angle, position = errors(aim, found.e[lost])
    held = pressed(robot, aim, found.q[lost], targets[lost])
    for j, k in enumerate(lost):
        parts = [] if aim.kind == "orientation" else [f"{100 * position[j]:.3g} cm"]
        parts += [] if aim.kind == "position" else [f"{np.degrees(angle[j]):.3g}°"]
        near = f"nearest {', '.join(parts)}"
        if found.beyond[k] > 0.0:
            away = (
                f"{reach.radius + found.beyond[k]:.4g} m from the first joint, at most {reach.radius:.4g} m is possible"
            )
            reason[k] = f"target out of reach: {away}; {near}"
            continue
        within = " within limits" if held[j].any() else ""  # elsewhere they are not what is in the way
        starts = f"{found.starts[k]} start{'s' if found.starts[k] > 1 else ''}"
        reason[k] = f"no solution{within} after {starts}; {near}"
        if held[j].any():
            sides = {n: "upper" if s > 0 else "lower" for n, s in zip(aim.box.names, held[j], strict=True) if s}
            reason[k] += f"; stuck at a limit: {', '.join(f'{name} ({side})' for name, side in sides.items())}"
    return reason


def _refuse_bad_arguments(robot: Robot, frame: Any, kind: Any, near_nothing: bool) -> None:
    if not isinstance(frame, str):
        raise ArgumentTypeError(
            f"`frame` must be the name of a frame, got {type(frame).__name__}: the frame comes before its targets, as in "
            f"torsor.inverse_kinematics(robot, {robot.frames[-1]!r}, targets)."
        )
    refuse_unknown_word("kind", kind, KINDS)
    if robot.structure.frame(frame).link < 0:
        raise ModelError(f"frame {frame!r} is fixed to the base of robot {robot.name!r}, and no joint moves it.")
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


@dataclass(frozen=True, eq=False, repr=False)
class InverseKinematics(Report):
    """Answer of `inverse_kinematics`, batch axes first; true if every target is reached.

    Attributes
    ----------
    robot, frame : Robot and str
        What was asked of.
    q : (..., nq) array
        The configuration that reaches the target or, where none was found, that comes nearest, rad or m.
    success : (...) array
        Whether each target is reached.
    angle_error, position_error : (...) array
        What is left, rad and m; zero for what was not asked for.
    reason : (...) array
        The same in words.
    iterations, starts : (...) array
        Steps of Newton's method over all starts, and how many starts were used.
    """

    robot: Robot
    frame: str
    q: ConfigurationVector
    success: Array
    angle_error: Array
    position_error: Array
    reason: Array
    iterations: Array
    starts: Array

    @property
    def residual(self) -> Array:
        """The larger of the two errors (...), rad or m: at most the tolerance where the target is reached."""
        larger: Array = np.maximum(self.angle_error, self.position_error)
        return larger

    def __bool__(self) -> bool:
        return bool(np.all(self.success))

    def __str__(self) -> str:
        count, reached = self.success.size, int(np.sum(self.success))
        what = f"frame {self.frame!r} of robot {self.robot.name!r}"
        if self.success.ndim == 0:
            return f"{what}: {self.reason}"
        if not count:
            return f"{what}: no targets"
        head = f"{what}: {reached} of {count} targets reached ({100 * reached / count:.2f} %)"
        if reached:
            angle, position = self.angle_error[self.success].max(), self.position_error[self.success].max()
            head += f", to {angle:.1e} rad and {position:.1e} m"
        head += f"; {np.median(self.iterations):.0f} iterations over all starts (median), at most {self.starts.max()} starts"
        lost = np.argwhere(~self.success)
        lines = [f"  {list(map(int, k))}: {self.reason[tuple(k)]}" for k in lost[:SHOWN]]
        more = [f"  and {len(lost) - SHOWN} more"] if len(lost) > SHOWN else []
        return "\n".join([head, *lines, *more])
