"""What each joint of a robot needs for the mass matrix to be constant, or why nothing can make it so.

G_c is the inertia of everything beyond joint c, J_a the screw of joint a. The mass matrix is constant if and only if
J_aᵀ Ġ_c J_b (a ≤ b < c) and [J_a, J_b]ᵀ G_c J_c (a < b ≤ c) vanish [PBP95, (53)]. For a joint c that turns:

"nothing"        no joint before it moves its axis, except along itself
"first moment"   all axes before it are parallel to its own: the centre of mass of what lies beyond is on its axis, so that no
                 turn of c moves mass; moments about other directions never meet [BSP93, §5, E000-13]. The same for a spherical
                 joint about its centre, if all joints before it slide
"revolution"     axes before it are not all parallel to its own: what lies beyond is an inertial solid of revolution about the
                 axis, so that Ġ_c = 0

What is left are the terms ∂_b M_ac = I_c (z_a × z_b)·z_c, a < b < c. No counterweight removes them: their mean over a turn of c
is the same for every distribution of mass with the same I_c. See `skew_axes`.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.balancing.variation import sampled
from torsor.errors import ModelError
from torsor.lie import unchecked as lie
from torsor.mechanics.kinematics.poses import poses_in_base
from torsor.mechanics.recursions.joint_motion import joint_screws
from torsor.model import Robot

PARALLEL = 1e-5  # rad: files print π/2 as 1.5708; whether the result is good enough, the report after says
SAMPLES = 4


class Axes(NamedTuple):
    """Unit vectors in base axes at a few configurations: ``turning[i]`` (c, k, 3) of joint i, ``sliding[i]`` (c, k, 3)."""

    turning: list[Array]
    sliding: list[Array]


def axes_of(who: str, robot: Robot) -> Axes:
    """The directions in which every joint turns its link, and those in which it slides it without turning."""
    q = sampled(who, robot, SAMPLES, 0)
    turning, sliding = [], []
    for i, T in enumerate(poses_in_base(robot, q)):
        S = lie.transform_twist(np.broadcast_to(T, (len(q), 4, 4))[:, None], joint_screws(robot, i))
        turns, moves = (np.linalg.norm(S[0, :, part], axis=-1) > 0 for part in (slice(0, 3), slice(0, 6)))
        turning.append(_unit(S[:, turns, :3]))
        sliding.append(_unit(S[:, moves & ~turns, 3:]))  # a mimic joint of ratio 0 does not move at all
    return Axes(turning, sliding)


def all_parallel(some: Array, others: Array) -> bool:
    """Whether each of some vectors (c, k, 3) is always parallel to each of others (c, l, 3)."""
    across = np.cross(some[:, :, None], others[:, None, :])
    return bool(np.all(np.abs(across) <= PARALLEL))


def needs_of(who: str, robot: Robot, axes: Axes) -> list[str]:
    """For each joint "nothing", "first moment" or "revolution"; a ModelError for one that can never be balanced."""
    loaded = {
        a for i, row in enumerate(robot.parameters.inertias) if row.any() for a in robot.structure.path_from_base(i)
    }
    return [_need(who, robot, axes, i) if i in loaded else "nothing" for i in range(robot.n)]


def _need(who: str, robot: Robot, axes: Axes, i: int) -> str:
    kind, before = robot.structure.kinds[i], robot.structure.path_from_base(i)[:-1]
    if not before or not (axes.turning[i].size or axes.sliding[i].size):
        return "nothing"
    turning = np.concatenate([axes.turning[a] for a in before], axis=1)
    sliding = np.concatenate([axes.sliding[a] for a in before], axis=1)
    if kind in ("planar", "free") or (kind == "spherical" and turning.size):
        raise _refusal(who, robot, i, f"is {kind}, with joints before it that move its axes")
    if kind == "spherical":
        return "first moment"
    if kind == "prismatic":
        if not all_parallel(axes.sliding[i], turning):
            raise _refusal(who, robot, i, "slides mass across an axis that carries it")
        return "nothing"
    if not all_parallel(axes.turning[i], turning):
        if kind == "helical":
            raise _refusal(who, robot, i, "is helical: it moves mass along an axis that others turn")
        return "revolution"
    return "first moment" if turning.size or not all_parallel(axes.turning[i], sliding) else "nothing"


def _refusal(who: str, robot: Robot, i: int, trouble: str) -> ModelError:
    name = robot.joints[i]
    return ModelError(
        f"{who}: joint {name!r} of robot {robot.name!r} {trouble}: no counterweights make the mass matrix constant. Hold it "
        f"(robot.lock), or make the variation small with least_change_balancing."
    )


def not_parallel(robot: Robot, axes: Axes, i: int) -> str:
    """The name of a joint before joint i whose axis is not parallel to its own."""
    before = robot.structure.path_from_base(i)[:-1]
    return next(robot.joints[a] for a in before if not all_parallel(axes.turning[i], axes.turning[a]))


def skew_axes(robot: Robot, axes: Axes) -> tuple[str, str, str] | None:
    """Three joints a, b, c, one beyond the other, with (z_a × z_b)·z_c ≠ 0 somewhere, by name; None if there are none."""
    for c in range(robot.n):
        for a, b in combinations(robot.structure.path_from_base(c)[:-1], 2):
            za, zb, zc = (
                axes.turning[a][:, :, None, None],
                axes.turning[b][:, None, :, None],
                axes.turning[c][:, None, None],
            )
            if np.any(np.abs(np.sum(np.cross(za, zb) * zc, axis=-1)) > PARALLEL):
                return robot.joints[a], robot.joints[b], robot.joints[c]
    return None


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)
