"""From start to start until every target is reached or the starts are used up, all targets at once.

Searches start at random configurations within limits; of equal configurations the one with angles next to given ones is meant.

**How far a frame can get** from the first joint that carries it, at most, proves targets out of reach.
Every joint turns its link about a point that it leaves where it is: on the axis of a revolute or helical joint, at the centre
of a spherical one. The distance from one such point to the next does not change with the angles between, so that by the
triangle inequality ::

    |p − c_1| ≤ Σ |c_i − c_(i+1)| + Σ d_i

with c_i the point of joint i at its zero, c_(n+1) the frame's origin, and d_i the longest slide that the limits of joint i
allow: infinite for a prismatic, helical, planar or free joint without limits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.mechanics.kinematics.poses import path_to, pose_on_link
from torsor.model import Robot
from torsor.model.remembered import remembered
from torsor.tasks._inverse_kinematics.box_coordinates import Box, towards
from torsor.tasks._inverse_kinematics.descent import STUCK, Aim, Descent, descend, is_redundant, slid
from torsor.tasks.targets import leaves_of

FIRST, LATER = 8, 64  # starts side by side in the first round, and in those after it, if there are fewer targets
AT_HOPELESS = 8  # starts for a target that is known to be out of reach: enough for a good nearest approach
PATIENCE = 5  # times as many steps from where the search begins, and to the nearest approach, as from a random start
SLIDES, LAST_SLIDES = 8, 60  # steps along the self-motion of each solution, and of the nearest of a target
TURN = 2 * np.pi
FEW = 64  # starts of which what is drawn is kept


class Reach(NamedTuple):
    """A ball that the origin of a frame cannot leave: ``centre`` (3,) in base axes and ``radius``, m.

    ``size``, m, is its radius with slides of at most a metre: how large the robot is, always finite.
    """

    centre: Vector3
    radius: float
    size: float


Reaches = Sequence[Reach | None]  # of each part of a task, that of its frame if it asks for a place


class Effort(NamedTuple):
    """How long to search: tolerance, rad and m; most steps of a start; most starts of a target; whether to use all of them."""

    tolerance: float
    steps: int
    starts: int
    all_starts: bool
    seed: int | np.random.Generator


class Found(NamedTuple):
    """For N targets: the best ``q`` (N, nq) and its error ``e`` (N, m), whether reached, steps and starts used (N,).

    ``beyond`` (N, parts), m: how far targets are out of reach of each part, negative within; known only if one was not reached.
    """

    q: Array
    e: Array
    reached: Array
    steps: Array
    starts: Array
    beyond: Array | None


class Best:
    """The best that was found so far for each of N targets: reached and nearest to where it began, else of least error."""

    def __init__(self, count: int, nq: int, m: int) -> None:
        self.q, self.e = np.zeros((count, nq)), np.full((count, m), np.inf)
        self.reached = np.zeros(count, bool)
        self.rank = np.full((count, 2), np.inf)  # (0, distance) if reached, else (1, E): the smaller, the better
        self.steps, self.starts = np.zeros(count, int), np.zeros(count, int)

    def update(self, owners: Array, q: Array, e: Array, reached: Array, rank: Array) -> None:
        """Take what is better; ``owners`` (K,) says for which target each was found."""
        if not owners.size:
            return
        order = np.lexsort((rank[:, 1], rank[:, 0], owners))
        first = order[np.concatenate([[True], np.diff(owners[order]) > 0])]
        own = owners[first]
        old, new = self.rank[own], rank[first]
        better = (new[:, 0] < old[:, 0]) | ((new[:, 0] == old[:, 0]) & (new[:, 1] < old[:, 1]))
        own, first = own[better], first[better]
        self.q[own], self.e[own], self.reached[own], self.rank[own] = q[first], e[first], reached[first], rank[first]


def search(
    robot: Robot, aim: Aim, reaches: Reaches, targets: Array, home: Array, from_home: bool, effort: Effort
) -> Found:
    """Configurations for N targets, from ``home`` (N, nq) first if it is to be near there, then from random ones.

    Of the coordinates that do not move the task, home is where they stay.
    """
    home = within(aim.box, home)
    if from_home:
        owners, most = np.arange(len(targets)), PATIENCE * effort.steps
        end = descend(robot, aim, home, targets, effort.tolerance, most, enough=STUCK)
    else:
        owners = _owners(FIRST, np.arange(len(targets)), effort.starts)
        end = _random_round(robot, aim, targets, home, owners, effort.seed, False, effort)
    if len(targets) == 1 and not effort.all_starts and end.within.any():  # the call of a control loop: done
        first = slice(k := int(end.within.argmax()), k + 1)
        steps, starts = end.steps.sum(keepdims=True), np.array([len(owners)])
        return Found(unwound(robot, aim.box, end.q[first], home), end.e[first], end.within[first], steps, starts, None)

    beyond = _beyond(aim, reaches, targets)
    allowed = np.where(beyond.max(axis=-1) > effort.tolerance, min(AT_HOPELESS, effort.starts), effort.starts)
    best = Best(len(targets), robot.nq, aim.task.size)
    generator = np.random.default_rng((effort.seed, 1) if isinstance(effort.seed, int) else effort.seed)
    slides = effort.all_starts and is_redundant(robot, aim)
    while True:
        _take(best, robot, aim, end, owners, home, from_home)
        if slides:
            _slide(best, robot, aim, end.q[end.within], targets, home, owners[end.within], effort, SLIDES)
        unfinished = best.starts < allowed if effort.all_starts else (best.starts < allowed) & ~best.reached
        if not unfinished.any():
            break
        pending = np.flatnonzero(unfinished)
        owners = _owners(LATER, pending, (allowed - best.starts)[pending])
        end = _random_round(robot, aim, targets, home, owners, generator, from_home, effort)
    if slides:
        reached = np.flatnonzero(best.reached)
        _slide(best, robot, aim, best.q[reached], targets, home, reached, effort, LAST_SLIDES)
    lost = np.flatnonzero(~best.reached)
    if lost.size:  # those that were given up on the way go on to where they come nearest
        most = PATIENCE * effort.steps
        end = descend(robot, aim, best.q[lost], targets[lost], effort.tolerance, most, enough=np.inf)
        best.q[lost], best.e[lost], best.reached[lost] = end.q, end.e, end.within
        best.steps[lost] += end.steps
    return Found(best.q, best.e, best.reached, best.steps, best.starts, beyond)


def _beyond(aim: Aim, reaches: Reaches, targets: Array) -> Array:
    """How far targets are out of reach of each part of the task (N, parts), m; −∞ where no reach is known."""
    found = np.full((len(targets), len(reaches)), -np.inf)
    for k, (reach, target) in enumerate(zip(reaches, leaves_of(aim.task, targets), strict=True)):
        if reach is not None:
            found[:, k] = distance_beyond(reach, target if target.ndim == 2 else target[:, :3, 3])
    return found


def _owners(together: int, pending: Array, left: int | Array) -> Array:
    """The target of each start of a round: the fewer are pending, the more of each, as many as are ``left`` to it."""
    return np.repeat(pending, np.minimum(max(1, together // max(1, len(pending))), left))


def _random_round(
    robot: Robot,
    aim: Aim,
    targets: Array,
    home: Array,
    owners: Array,
    source: int | np.random.Generator,
    near: bool,
    effort: Effort,
) -> Descent:
    """From a random start for each of the owners (K,): all to their ends where one is to be near home, else until one
    reaches.
    """
    q = random_starts(aim.box, home[owners], source)
    one_is_enough = None if near else owners
    return descend(robot, aim, q, targets[owners], effort.tolerance, effort.steps, owners=one_is_enough)


def _take(best: Best, robot: Robot, aim: Aim, end: Descent, owners: Array, home: Array, near: bool) -> None:
    """Where a round came to, if it is better."""
    q = unwound(robot, aim.box, end.q, home[owners])
    np.add.at(best.steps, owners, end.steps)
    np.add.at(best.starts, owners, 1)
    best.update(owners, q, end.e, end.within, _rank(aim.box, q, end.within, end.merit, home[owners], near))


def _slide(
    best: Best, robot: Robot, aim: Aim, q: Array, targets: Array, home: Array, owners: Array, effort: Effort, steps: int
) -> None:
    """Solutions q (K, nq), moved towards home as far as they still reach their targets, where that is better."""
    if not owners.size:
        return
    q = slid(robot, aim, unwound(robot, aim.box, q, home[owners]), targets[owners], home[owners], steps)
    end = descend(robot, aim, q, targets[owners], effort.tolerance, effort.steps)
    reached = end.within
    rank = _rank(aim.box, end.q, reached, end.merit, home[owners], near=True)
    best.update(owners, end.q, end.e, reached, rank)


def _rank(box: Box, q: Array, reached: Array, E: Array, home: Array, near: bool) -> Array:
    """(0, distance from home) of what is reached, (1, E) of the rest; without a home to be near to, all distances are zero."""
    value = np.array(E)
    value[reached] = 0.0
    if near and reached.any():
        value[reached] = np.linalg.norm(towards(box, home[reached], q[reached]), axis=-1)
    return np.stack([np.where(reached, 0.0, 1.0), value], axis=-1)


def random_starts(box: Box, like: Array, source: int | np.random.Generator) -> Array:
    """Configurations ``like`` (K, nq), with the coordinates that move the task drawn at random within their limits.

    As `torsor.random_configuration` does: uniform between limits; where there are none, in (−π, π) for angles and (−1, 1) m
    for lengths; rotations uniform over SO(3). What is drawn from a number is always the same.
    """
    q = np.array(like)
    draw = _few_drawn if isinstance(source, int) and len(q) <= FEW else _drawn
    q[:, box.places], quaternions = draw(box, len(q), source)
    for quat, drawn in zip(box.quaternions, quaternions, strict=True):
        q[:, quat] = drawn
    return q


def _drawn(box: Box, count: int, source: int | np.random.Generator) -> tuple[Array, list[Array]]:
    """The numbers that add up, (count, ...), and quaternions (count, 4)."""
    generator = np.random.default_rng(source)
    low, span = _ranges(box)
    numbers = low + span * generator.random((count, len(low)))
    normal = [generator.normal(size=(count, 4)) for _ in box.quaternions]
    return numbers, [x / np.linalg.norm(x, axis=-1, keepdims=True) for x in normal]


_few_drawn = functools.lru_cache(maxsize=256)(_drawn)  # for one target a call: drawing takes as long as ten steps


@functools.lru_cache(maxsize=256)
def _ranges(box: Box) -> tuple[Array, Array]:
    """The least that is drawn for the numbers that add up, and how much more at most."""
    lower, upper = box.bounds
    turns = [b.kind in ("revolute", "helical") or (b.kind == "planar" and j == 2) for b, j in box.entries]
    free = np.where(turns, np.pi, 1.0)
    below, above = np.isfinite(lower), np.isfinite(upper)
    low = np.where(below, lower, np.where(above, upper - 2 * free, -free))
    high = np.where(above, upper, np.where(below, lower + 2 * free, free))
    return low, high - low


def within(box: Box, q: Array) -> Array:
    """The configurations with every number of q that has limits moved to them, if it is beyond; and the quaternions of what
    moves the task of unit length.
    """
    q = np.array(q) if box.limits is None else np.minimum(np.maximum(q, box.limits[0]), box.limits[1])
    for quat in box.quaternions:
        q[..., quat] /= np.linalg.norm(q[..., quat], axis=-1, keepdims=True)
    return q


def unwound(robot: Robot, box: Box, q: Array, near: Array) -> Array:
    """The same configurations, with angles changed by whole turns towards those of ``near``, as far as limits allow."""
    if not (np.abs(near - q) > 0.5 * TURN).any():
        return q
    places, lower, upper = _turning(robot, box)
    angle = q[..., places]
    turns = np.rint((near[..., places] - angle) / TURN)
    moved = angle + TURN * turns
    moved = np.where(moved > upper, moved - TURN, np.where(moved < lower, moved + TURN, moved))
    q = np.array(q)
    q[..., places] = np.where((turns != 0) & (moved <= upper) & (moved >= lower), moved, angle)
    return q


@remembered(256)
def _turning(robot: Robot, box: Box) -> tuple[Array, Array, Array]:
    """Where in q the angles are that a whole turn does not change, and their limits; no mimic joint follows them."""
    owners = [c.coordinate for c in robot.structure.couplings]
    names = robot.coordinates
    own = [
        b for b in box.blocks if b.kind in ("revolute", "planar") and owners.count(names.index(b.coordinate.name)) == 1
    ]
    own = [b for b in own if b.kind == "planar" or abs(_ratio(robot, b.coordinate.name)) == 1.0]
    entries = [b.start + b.bounded - 1 for b in own]
    return (
        np.array([b.coordinate.q.stop - 1 for b in own], int),
        np.array(box.lower)[entries],
        np.array(box.upper)[entries],
    )


def _ratio(robot: Robot, joint: str) -> float:
    return robot.structure.couplings[robot.structure.joint_index(joint)].ratio


def reach_of(robot: Robot, frame: str, limits: bool) -> Reach:
    """The ball of a frame; without ``limits``, that of the robot with none."""
    path = path_to(robot, frame)
    points = [_fixed_point(robot, i) for i in path]
    poses = [np.asarray(robot.parameters.poses[i]) for i in path]
    seen = [T[:3, :3] @ c + T[:3, 3] for T, c in zip(poses, points, strict=True)]  # c_i, from the parent's frame
    ends = [*seen[1:], np.asarray(pose_on_link(robot, frame))[:3, 3]]
    size = float(sum(np.linalg.norm(end - c) for c, end in zip(points, ends, strict=True)))
    slides = [_longest_slide(robot, i, limits) for i in path]
    return Reach(seen[0], size + sum(slides), size + sum(min(slide, 1.0) for slide in slides))


def _fixed_point(robot: Robot, i: int) -> Vector3:
    """The point of the axis next to the link's origin, in the link's frame; the origin where there is no axis."""
    if robot.structure.kinds[i] not in ("revolute", "helical"):
        return np.zeros(3)
    w, v = np.split(np.asarray(robot.parameters.screws[i]), 2)
    return np.cross(w, v) / (w @ w)


def _longest_slide(robot: Robot, i: int, limits: bool) -> float:
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
