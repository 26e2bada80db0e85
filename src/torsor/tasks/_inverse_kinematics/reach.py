"""How far a frame can get from the first joint that carries it, at most: it proves targets out of reach.

Every joint turns its link about a point that it leaves where it is: on the axis of a revolute or helical joint, at the centre
of a spherical one. The distance from one such point to the next does not change with the angles between, so that by the
triangle inequality ::

    |p − c_1| ≤ Σ |c_i − c_(i+1)| + Σ d_i

with c_i the point of joint i at its zero, c_(n+1) the frame's origin, and d_i the longest slide that the limits of joint i
allow: infinite for a prismatic, helical, planar or free joint without limits.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.mechanics.kinematics.poses import path_to, pose_on_link
from torsor.model import Robot


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
