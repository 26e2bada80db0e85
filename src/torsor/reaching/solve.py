"""Inverse kinematics: the configurations that bring a frame to targets, thousands at a time."""

from __future__ import annotations

import functools
from numbers import Integral, Real
from typing import Any

import numpy as np

from torsor.arrays import is_concrete
from torsor.arrays.typing import Array, ConfigurationVector
from torsor.errors import ModelError, ShapeError, TorsorError
from torsor.model import Robot
from torsor.model.poses import check_pose
from torsor.reaching.box_coordinates import box_of
from torsor.reaching.descent import errors, pressed
from torsor.reaching.newton_step import KINDS, Aim
from torsor.reaching.reach import Reach, distance_beyond, reach_of
from torsor.reaching.result import InverseKinematics
from torsor.reaching.search import Effort, Found, search

WHO = "inverse_kinematics"
_UNIT, _BOTTOM = np.eye(3), np.diag([0.0, 0.0, 0.0, 1.0])
_ABOVE = np.array([[True], [True], [True], [False]])  # the bottom row


def inverse_kinematics(
    robot: Robot,
    frame: str,
    targets: Array,
    *,
    kind: str = "pose",
    start: ConfigurationVector | None = None,
    nearest: bool = False,
    limits: bool = True,
    tolerance: float = 1e-8,
    restarts: int = 100,
    iterations: int = 50,
    seed: int | np.random.Generator = 0,
) -> InverseKinematics:
    """Configurations q that bring a frame to targets: Newton's method on the group, damped, within the joint limits
    [Mar63; Sug11; Ber82].

    ``targets``: poses (..., 4, 4), m, in the base frame; with ``kind="position"`` points (..., 3), m, for the frame's origin;
    with ``kind="orientation"`` rotations (..., 3, 3). A target is reached when angle (rad) and distance (m) to it are at most
    ``tolerance``. The search begins at ``start`` (..., nq), rad or m, moved into the limits, if it is given, and then goes on
    from up to ``restarts`` random configurations (from ``seed``), with at most ``iterations`` steps each. Of solutions that
    are found together, the one nearest to ``start`` is taken; with ``nearest``, all starts are used and the nearest of all
    is taken; angles are given by whole turns as near to those of ``start`` as the limits allow. Coordinates that do not move
    the frame stay as in ``start``. Without a ``start``, read neutral for it in both. Without ``limits``, joints may go anywhere.

    The result has, for every target, ``q`` (..., nq) that reaches it or comes nearest, within the limits to the last bit,
    ``success``, the errors, and the ``reason`` in words. ::

        found = torsor.inverse_kinematics(arm, "hand_tcp", poses)       # poses (10000, 4, 4)
        print(found)                                                    # how many, how well, and why not
        q = found.q[found.success]
    """
    _refuse_strangers(robot, targets, start)
    _refuse_bad_numbers(tolerance, restarts, iterations)
    if kind not in KINDS:
        raise TorsorError(f"{WHO}: unknown kind {kind!r} of target. Kinds: {', '.join(KINDS)}.")
    if robot.structure.frame(frame).link < 0:
        raise ModelError(f"{WHO}: frame {frame!r} is fixed to the base of robot {robot.name!r}, and no joint moves it.")
    if nearest and start is None:
        raise TorsorError(f"{WHO}: nearest=True asks for the solution nearest to `start`; pass start=.")
    goals = _checked_targets(kind, targets)
    begin = None if start is None else _checked_start(robot, start)
    batch = _common_batch(goals.shape[: goals.ndim - len(KINDS[kind])], begin)
    flat = np.broadcast_to(goals, (*batch, *KINDS[kind])).reshape(-1, *KINDS[kind])
    home = np.broadcast_to(_neutral(robot, limits) if begin is None else begin, (*batch, robot.nq)).reshape(
        -1, robot.nq
    )

    aim, reach = _aim(robot, frame, kind, bool(limits))
    beyond = np.full(len(flat), -np.inf)
    if kind != "orientation":
        beyond = distance_beyond(reach, flat if kind == "position" else flat[:, :3, 3])
    effort = Effort(float(tolerance), int(iterations), 1 + int(restarts), nearest, seed)
    found = search(robot, aim, flat, home, begin is not None, beyond > tolerance, effort)

    angle, position = errors(aim, found.e)
    reason = _reasons(robot, aim, flat, found, beyond, reach)
    shaped = [x.reshape(batch) for x in (found.reached, angle, position, reason, found.steps, found.starts)]
    return InverseKinematics(robot.name, frame, found.q.reshape(*batch, robot.nq), *shaped)


def _neutral(robot: Robot, limits: bool) -> Array:
    """The neutral configuration, or what the limits allow that is next to it."""
    q = robot.neutral
    return np.minimum(np.maximum(q, robot.limits.lower), robot.limits.upper) if limits else q


@functools.lru_cache(maxsize=256)
def _aim(robot: Robot, frame: str, kind: str, limits: bool) -> tuple[Aim, Reach]:
    reach = reach_of(robot, frame, limits)
    length = 0.5 * reach.size if reach.size > 1e-9 else 1.0  # a robot that only turns has none
    return Aim(frame, kind, length, box_of(robot, frame, limits)), reach


def _reasons(robot: Robot, aim: Aim, targets: Array, found: Found, beyond: Array, reach: Reach) -> Array:
    reason = np.full(len(targets), "reached", dtype=object)
    if found.reached.all():
        return reason
    lost = np.flatnonzero(~found.reached)
    angle, position = errors(aim, found.e[lost])
    held = pressed(robot, aim, found.q[lost], targets[lost])
    limited = bool(np.isfinite([*aim.box.lower, *aim.box.upper]).any())
    for j, k in enumerate(lost):
        parts = [] if aim.kind == "orientation" else [f"{100 * position[j]:.3g} cm"]
        parts += [] if aim.kind == "position" else [f"{np.degrees(angle[j]):.3g}°"]
        near = f"nearest {', '.join(parts)}"
        if beyond[k] > 0.0:
            away = f"{reach.radius + beyond[k]:.4g} m from the first joint, at most {reach.radius:.4g} m is possible"
            reason[k] = f"target out of reach: {away}; {near}"
            continue
        within = " within limits" if limited else ""
        starts = f"{found.starts[k]} start{'s' if found.starts[k] > 1 else ''}"
        reason[k] = f"no solution{within} after {starts}; {near}"
        if held[j].any():
            sides = {n: "upper" if s > 0 else "lower" for n, s in zip(aim.box.names, held[j], strict=True) if s}
            reason[k] += f"; stuck at a limit: {', '.join(f'{name} ({side})' for name, side in sides.items())}"
    return reason


def _refuse_strangers(robot: Any, *values: Any) -> None:
    if not isinstance(robot, Robot):
        got = "nothing" if robot is None else f"{type(robot).__name__} {robot!r:.60}"
        raise TorsorError(f"{WHO}: the first argument must be a torsor.Robot, got {got}.")
    if not robot.is_concrete or any(_is_traced(value) for value in values):
        raise TorsorError(
            f"{WHO} works with plain numbers, and cannot run inside jit, grad, vmap or torsor.compile: call it outside, and "
            "pass its result in."
        )


def _is_traced(value: Any) -> bool:
    """Whether JAX or torsor's compiler stands in for numbers not known yet; asked by name, for JAX is not imported here."""
    if value is None or is_concrete(value):
        return False
    return any(kind.__name__ in ("Tracer", "TracedArray") for kind in type(value).__mro__)


def _refuse_bad_numbers(tolerance: float, restarts: int, iterations: int) -> None:
    if not (isinstance(tolerance, Real) and np.isfinite(tolerance) and tolerance > 0):
        raise TorsorError(f"{WHO}: `tolerance` must be finite and positive, got {tolerance!r:.60}.")
    for name, value, least in (("restarts", restarts, 0), ("iterations", iterations, 1)):
        if not isinstance(value, Integral) or value < least:
            raise TorsorError(f"{WHO}: `{name}` must be a whole number of at least {least}, got {value!r:.60}.")


def _checked_targets(kind: str, targets: Array) -> Array:
    """Finite numbers of the right shape; rotations, where there are any, that are ones."""
    goals = np.asarray(targets, dtype=np.float64)
    shape = KINDS[kind]
    if goals.shape[goals.ndim - len(shape) :] != shape or goals.ndim < len(shape):
        wanted = ", ".join(map(str, ("...", *shape)))
        raise ShapeError(f"{WHO}: targets of kind {kind!r} must have shape ({wanted}), got {goals.shape}.")
    if kind == "position":
        if not np.all(np.isfinite(goals)):
            raise ModelError(f"{WHO}: targets must be finite numbers, got NaN or infinity.")
        return goals
    poses = goals
    if kind == "orientation":
        poses = np.zeros((*goals.shape[:-2], 4, 4))
        poses[..., :3, :3], poses[..., 3, 3] = goals, 1.0
    suspicious = _suspicious(poses)
    for k in np.argwhere(suspicious) if suspicious.any() else ():
        at = f" {list(map(int, k))}" if len(k) else ""
        check_pose(f"{WHO}: target{at}", poses[tuple(k)])
    return goals


def _suspicious(poses: Array) -> Array:
    """Which poses (..., 4, 4) `check_pose` is to look at: all that it could refuse, those with NaN among them."""
    R = poses[..., :3, :3]
    with np.errstate(all="ignore"):
        defect = np.abs(R @ R.mT - _UNIT).max(axis=(-2, -1))
        sound = (defect < 1e-9) & (np.linalg.det(R) > 0.0)
    whole = np.isfinite(poses) & ((poses == _BOTTOM) | _ABOVE)
    return np.asarray(~(sound & whole.all(axis=(-2, -1))))


def _checked_start(robot: Robot, start: Array) -> Array:
    begin = np.asarray(start, dtype=np.float64)
    if begin.shape[-1:] != (robot.nq,):
        raise ShapeError(
            f"{WHO}: `start` must have shape (..., {robot.nq}) for robot {robot.name!r}, got {begin.shape}."
        )
    if not np.all(np.isfinite(begin)):
        raise ModelError(f"{WHO}: `start` must hold finite numbers, got NaN or infinity.")
    s = robot.structure
    for i, joint_kind in enumerate(s.kinds):
        last = s.coordinate_of(i).q.stop
        if joint_kind in ("spherical", "free") and np.any(np.all(begin[..., last - 4 : last] == 0.0, axis=-1)):
            raise ModelError(f"{WHO}: the quaternion of joint {s.joints[i]!r} in `start` has length zero.")
    return begin


def _common_batch(batch: tuple[int, ...], begin: Array | None) -> tuple[int, ...]:
    if begin is None:
        return batch
    try:
        return np.broadcast_shapes(batch, begin.shape[:-1])
    except ValueError:
        raise ShapeError(
            f"{WHO}: the batch axes of the targets {batch} and of `start` {begin.shape[:-1]} do not broadcast."
        ) from None
