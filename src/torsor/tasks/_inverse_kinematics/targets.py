"""Targets and starts as people give them: numbers of the right shape, and rotations that are ones.

**How far a frame can get** from the first joint that carries it, at most, proves targets out of reach.
Every joint turns its link about a point that it leaves where it is: on the axis of a revolute or helical joint, at the centre
of a spherical one. The distance from one such point to the next does not change with the angles between, so that by the
triangle inequality ::

    |p − c_1| ≤ Σ |c_i − c_(i+1)| + Σ d_i

with c_i the point of joint i at its zero, c_(n+1) the frame's origin, and d_i the longest slide that the limits of joint i
allow: infinite for a prismatic, helical, planar or free joint without limits.
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.foreign import ForeignArray, refuse_foreign
from torsor.arrays.typing import Array, Rotation, Vector3
from torsor.errors import ModelError, ShapeError
from torsor.mechanics.kinematics.poses import path_to, pose_on_link
from torsor.model import Robot
from torsor.model.poses import check_pose
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.newton_step import KINDS

ROUNDING = 1e-12  # how far R Rᵀ of a rotation of doubles may be from 1
SINGLE = 1e-6  # and one computed in single precision, several products deep


def checked_targets(kind: str, targets: Any) -> Array:
    """Finite numbers of the right shape; what is nearly a rotation is replaced by the nearest one, and what is not refused."""
    shape = KINDS[kind]
    goals = _numbers(f"targets of kind {kind!r}", targets, shape)
    if goals.shape[goals.ndim - len(shape) :] != shape or goals.ndim < len(shape):
        raise ShapeError(f"targets of kind {kind!r} must have shape {_shape(shape)}, got {goals.shape}.")
    if kind == "position":
        if not np.isfinite(goals).all():
            raise ModelError("targets must be finite numbers, got NaN or infinity.")
        return goals
    if goals.ndim == 2:
        sound = _is_sound(goals.tolist(), ROUNDING)  # Python's numbers are quicker than NumPy's where there are few
    else:
        with np.errstate(all="ignore"):
            sound = _is_sound(np.moveaxis(goals, (-2, -1), (0, 1)), ROUNDING).all()
    return goals if sound else _nearest_sound(goals)


def _is_sound(rows: Any, tolerance: float) -> Any:
    """Whether R Rᵀ differs from 1 by no more than the tolerance and R is no reflection; of poses, that all else is as it
    should be too. Rows of numbers or of arrays; NaN is not sound.
    """
    (a, b, c, *x), (d, e, f, *y), (g, h, i, *z), *bottom = rows
    sound = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g) > 0.0
    for defect in (
        a * a + b * b + c * c - 1.0,
        d * d + e * e + f * f - 1.0,
        g * g + h * h + i * i - 1.0,
        a * d + b * e + c * f,
        a * g + b * h + c * i,
        d * g + e * h + f * i,
    ):
        sound = sound & (abs(defect) <= tolerance)
    if bottom:
        j, k, l, m = bottom[0]
        finite = x[0] - x[0] + y[0] - y[0] + z[0] - z[0] == 0.0
        sound = sound & finite & (j == 0.0) & (k == 0.0) & (l == 0.0) & (m == 1.0)
    return sound


def _nearest_sound(goals: Array) -> Array:
    """The same with rotations in place of what differs from them by rounding in single precision; the rest is refused."""
    poses = goals
    if goals.shape[-1] == 3:
        poses = np.zeros((*goals.shape[:-2], 4, 4))
        poses[..., :3, :3], poses[..., 3, 3] = goals, 1.0
    rows = np.moveaxis(poses, (-2, -1), (0, 1))
    with np.errstate(all="ignore"):
        exact, nearly = np.asarray(_is_sound(rows, ROUNDING)), np.asarray(_is_sound(rows, SINGLE))
    for k in map(tuple, np.argwhere(~nearly)):
        at = f" {list(map(int, k))}" if k else ""
        check_pose(f"inverse_kinematics: target{at}", poses[k])
    goals = np.array(goals)
    goals[~exact, :3, :3] = nearest_rotation(goals[~exact, :3, :3])
    return goals


def nearest_rotation(R: Array) -> Rotation:
    """The rotation nearest to what is nearly one: the Newton–Schulz iteration for the orthogonal polar factor.

    R ← ½ R (3 − Rᵀ R) squares the defect: twice is enough from 1e-6.
    """
    for _ in range(2):
        R = 1.5 * R - 0.5 * R @ (R.mT @ R)
    return R


def checked_start(robot: Robot, start: Any) -> Array:
    """Finite numbers (..., nq), with no quaternion of length zero."""
    begin = _numbers("`start`", start, (robot.nq,))
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


def _numbers(what: str, value: Any, shape: tuple[int, ...]) -> Array:
    """As float64; texts, complex numbers, ragged lists, None and arrays of other libraries are refused."""
    try:
        refuse_foreign(value)
    except ForeignArray as error:
        raise ForeignArray(f"{what}: {error}") from None
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "cOSUTMm":
            return given.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        pass
    raise ShapeError(f"{what} must be an array of numbers with shape {_shape(shape)}, got {value!r:.60}.")


def _shape(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, ('...', *shape)))})"


class Reach(NamedTuple):
    """A ball that the origin of a frame cannot leave: ``centre`` (3,) in base axes and ``radius``, m.

    ``size``, m, is its radius with slides of at most a metre: how large the robot is, always finite.
    """

    centre: Vector3
    radius: float
    size: float


def reach_of(robot: Robot, frame: str, limits: bool) -> Reach:
    """The ball of a frame; without ``limits``, that of the robot with none."""
    path = path_to(robot, frame)
    points = [_fixed_point(robot, i) for i in path]
    poses = [np.asarray(robot.parameters.poses[i]) for i in path]
    seen = [T[:3, :3] @ c + T[:3, 3] for T, c in zip(poses, points, strict=True)]  # c_i, from the parent's frame
    ends = [*seen[1:], np.asarray(pose_on_link(robot, frame))[:3, 3]]
    size = float(sum(np.linalg.norm(end - c) for c, end in zip(points, ends, strict=True)))
    slides = [_slide(robot, i, limits) for i in path]
    return Reach(seen[0], size + sum(slides), size + sum(min(slide, 1.0) for slide in slides))


def _fixed_point(robot: Robot, i: int) -> Vector3:
    """The point of the axis next to the link's origin, in the link's frame; the origin where there is no axis."""
    if robot.structure.kinds[i] not in ("revolute", "helical"):
        return np.zeros(3)
    w, v = np.split(np.asarray(robot.parameters.screws[i]), 2)
    return np.cross(w, v) / (w @ w)


def _slide(robot: Robot, i: int, limits: bool) -> float:
    s = robot.structure
    kind, (_, ratio, offset), c = s.kinds[i], s.couplings[i], s.coordinate_of(i)
    if kind in ("revolute", "spherical"):
        return 0.0
    if not limits:
        return inf
    bounds = np.array([s.limits.lower[c.q], s.limits.upper[c.q]])
    if kind in ("planar", "free"):
        return float(np.linalg.norm(np.abs(bounds).max(axis=0)[: 2 if kind == "planar" else 3]))
    farthest = float(np.abs(ratio * bounds + offset).max()) if ratio else abs(offset)  # 0 ∞ is no number
    S = np.asarray(robot.parameters.screws[i])
    along = S[3:] if kind == "prismatic" else S[:3] * (S[:3] @ S[3:]) / (S[:3] @ S[:3])
    return farthest * float(np.linalg.norm(along)) if np.any(along) else 0.0


def distance_beyond(reach: Reach, positions: Array) -> Array:
    """How far targets (..., 3) are outside the ball, m; negative within."""
    away = positions - reach.centre
    outside: Array = np.sqrt(np.vecdot(away, away)) - reach.radius
    return outside
