"""Which configurations that do the same to a task can a self-motion lead from one to the other?

From each towards each other one the null-space flow is followed, q' = (1 − J⁺J) (q_other − q), in steps that Newton's method
takes back to the fibre. It gets there or stops where the rest of the way is orthogonal to the fibre; then another one may help.
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.functions.public.kinematics import integrate
from torsor.model import Robot
from torsor.redundancy.angle_difference import angle_difference
from torsor.redundancy.limit_margin import room
from torsor.redundancy.task_displacement import displacement, place
from torsor.tasks import Task
from torsor.tasks.public import pseudoinverse_lift

STEPS = 120
LARGEST = 0.15  # step, rad or m
THERE = 1e-4  # rad or m


def joined_groups(robot: Robot, task: Task, qs: Array, *, within_limits: bool = False) -> list[list[int]]:
    """Numbers of configurations (k, nq) in groups that self-motions join, within the limits if asked; the first one's first."""
    k = len(qs)
    group = list(range(k))
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    if pairs:
        first, second = np.array(pairs).T
        arrives = _arrives(robot, task, qs[first], qs[second], within_limits)
        for (i, j), there in zip(pairs, arrives, strict=True):
            if there and group[i] != group[j]:
                low, high = sorted((group[i], group[j]))
                group = [low if name == high else name for name in group]
    return [[i for i in range(k) if group[i] == name] for name in sorted(set(group))]


def _arrives(robot: Robot, task: Task, q: Array, goal: Array, within_limits: bool) -> Array:
    """Whether the flows from q (B, nq) towards goal (B, nq) get there (B,), and never leave the limits on the way if asked."""
    target, inside = place(robot, q, task), np.full(len(q), True)
    shape = (len(q), task.size, robot.nv)
    for _ in range(STEPS):
        to_goal = angle_difference(robot, q, goal)
        J = np.broadcast_to(task.jacobian(robot, q), shape)
        K = np.nan_to_num(pseudoinverse_lift(robot, q, task))
        along = to_goal - np.einsum("bia,baj,bj->bi", K, J, to_goal)
        back = np.einsum("bia,ba->bi", K, displacement(task, place(robot, q, task), target))
        q = integrate(robot, q, _shortened(along) + _shortened(back))
        if within_limits:
            inside &= room(robot, q) >= -THERE
    close = np.linalg.norm(angle_difference(robot, q, goal), axis=-1) < THERE
    return np.asarray(
        inside & close & (np.linalg.norm(displacement(task, place(robot, q, task), target), axis=-1) < THERE)
    )


def _shortened(step: Array) -> Array:
    size = np.linalg.norm(step, axis=-1, keepdims=True)
    return np.asarray(step * np.minimum(1.0, LARGEST / np.maximum(size, 1e-300)))
