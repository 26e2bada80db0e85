"""Balls in space that capsules on the links must not touch.

A capsule is what is within a distance of a segment from a to b. Of a ball at c the nearest point of the segment is
a + s (b − a), s = (c − a)·(b − a)/|b − a|² within 0 and 1; the distance has the same gradient as if s were constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays import dot, matvec, sqrt, stack, where
from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ModelError
from torsor.mechanics.kinematics.poses import frame_pose
from torsor.model import Robot
from torsor.model.visuals import Visual
from torsor.motion.optimal_motions.terms import Term
from torsor.motion.optimal_motions.traced_terms import traced_term

SIZE = 0.1  # m, what distances are measured in
TINY = 1e-12  # m², so that a distance of zero has a derivative


class Capsule(NamedTuple):
    """A segment from a to b (3,), m, in a frame, and what is within a radius of it."""

    frame: str
    a: Array
    b: Array
    radius: float


def clear_of(robot: Robot, obstacles: Any, capsules: Any) -> tuple[Term, ...]:
    """The distances of all capsules to all balls, which must not be negative."""
    if obstacles is None:
        return ()
    try:
        balls = np.asarray(obstacles, float)
    except (TypeError, ValueError):
        balls = np.zeros((0, 0))
    if balls.ndim != 2 or balls.shape[1] != 4 or not np.all(np.isfinite(balls)) or np.any(balls[:, 3] < 0.0):
        raise ArgumentError(
            f"`obstacles` must be balls (k, 4): x, y, z and radius in base axes, m, got {obstacles!r:.60}."
        )
    bodies = _of_visuals(robot) if capsules is None else _given(robot, capsules)

    def distances(q: Any, v: Any, a: Any, tau: Any) -> Any:
        found = []
        for body in bodies:
            T = frame_pose(robot, q, body.frame)
            start, end = (matvec(T[:3, :3], x) + T[:3, 3] for x in (body.a, body.b))
            found += [_distance(start, end, ball[:3]) - body.radius - ball[3] for ball in balls]
        return stack(found)

    names = tuple(f"{body.frame} and obstacle {k}" for body in bodies for k in range(len(balls)))
    size = len(names)
    none, far = np.zeros(size), np.full(size, np.inf)
    return (traced_term(robot, distances, "distance", names, none, far, np.full(size, SIZE), ("m",) * size),)


def _distance(a: Any, b: Any, c: Array) -> Any:
    along = b - a
    length = dot(along, along)
    s = dot(c - a, along) / where(length > 0.0, length, 1.0)
    s = where(s < 0.0, 0.0, where(s > 1.0, 1.0, s))
    gap = a + s * along - c
    return sqrt(dot(gap, gap) + TINY)


def _given(robot: Robot, capsules: Any) -> list[Capsule]:
    """Of a sequence of (frame, a, b, radius)."""
    found = []
    if not isinstance(capsules, Sequence) or isinstance(capsules, (str, Mapping)) or not capsules:
        raise ArgumentError(f"`capsules` must be a list of (frame, a, b, radius), m, got {capsules!r:.60}.")
    for one in capsules:
        try:
            frame, a, b, radius = one
            capsule = Capsule(frame, np.asarray(a, float), np.asarray(b, float), float(radius))
        except (TypeError, ValueError):
            raise ArgumentError(f"`capsules` must be a list of (frame, a, b, radius), m, got {one!r:.60}.") from None
        if capsule.a.shape != (3,) or capsule.b.shape != (3,) or not capsule.radius >= 0.0:
            raise ArgumentError(f"a capsule has two points (3,) and a radius, m, got {one!r:.80}.")
        robot.structure.frame(frame)
        found.append(capsule)
    return found


def _of_visuals(robot: Robot) -> list[Capsule]:
    """The smallest capsules along an axis around the solids that a robot is drawn with."""
    solids = [visual for visual in robot.visuals if visual.is_solid]
    if not solids:
        raise ModelError(
            f"robot {robot.name!r} has no solids to keep clear of `obstacles`, meshes do not count: pass "
            "capsules=[(frame, a, b, radius), ...], m."
        )
    return [_around(visual) for visual in solids]


def _around(visual: Visual) -> Capsule:
    size, T = visual.size, np.asarray(visual.pose)
    if visual.kind in ("cylinder", "capsule"):
        axis, half, radius = 2, 0.5 * size[1], size[0]
    elif visual.kind == "sphere":
        axis, half, radius = 2, 0.0, size[0]
    else:
        edges = np.array(size) * (0.5 if visual.kind == "box" else 1.0)
        axis = int(np.argmax(edges))
        others = np.delete(edges, axis)
        radius = float(np.hypot(*others)) if visual.kind == "box" else float(others.max())
        half = float(edges[axis]) if visual.kind == "box" else max(float(edges[axis]) - radius, 0.0)
        if visual.kind == "ellipsoid":
            radius = max(radius, float(edges[axis]) - half)
    end = half * T[:3, axis]
    return Capsule(visual.link, T[:3, 3] - end, T[:3, 3] + end, radius)
