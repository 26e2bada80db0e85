"""Counterweights against gravity, for robots with axes in any directions."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.balancing.conditions import PARALLEL, Axes, all_parallel, axes_of
from torsor.balancing.counterweights import (
    Amounts,
    Balancing,
    Composites,
    bring_onto_axis,
    carrying,
    check_limits,
    refuse_idle_names,
)
from torsor.balancing.reports import is_gravity_balanced
from torsor.border import explained
from torsor.errors import ModelError
from torsor.model import Robot


@explained
def gravity_counterweights(
    robot: Robot, *, masses: Amounts | None = None, distances: Amounts | None = None
) -> Balancing:
    """Robot with counterweights that stays where it is left: gravity forces vanish everywhere [LP, (9.84); BSP93, §5].

    The first moment of everything beyond a joint that turns comes to lie on its axis (at the centre of a spherical joint):
    the condition of [BSP93, §5, E000-13] with the first joints included, for axes of any direction. Joints that always turn
    about the vertical, or slide horizontally, need nothing. One that slides against gravity is refused: no mass on its link
    can hold it. From the tips inwards, each link gets one point mass.

    Parameters
    ----------
    robot : Robot
    masses : float or mapping from str to float, optional
        Masses of the counterweights, kg: a number for all links, or by link name. Where they sit follows.
    distances : float or mapping from str to float, optional
        Their distances from the joint's axis, m, instead. Their masses follow.

    Returns
    -------
    Balancing
        The new robot, the counterweights with positions (3,), m, in their links' frames, and the reports before and after.
    """
    check_limits(robot, masses, distances)
    axes = axes_of(robot)
    chosen = [i for i in range(robot.n) if _turned_by_gravity(robot, axes, i)]
    refuse_idle_names(robot, chosen, masses, distances, why="gravity does not move its joint")
    parts = Composites(robot)
    for i in reversed(range(robot.n)):
        if parts.rows[i][0] > 0 and (trouble := _beyond_help(robot, axes, i)):
            raise ModelError(
                f"joint {robot.joints[i]!r} of robot {robot.name!r} {trouble}: no mass on its link can hold it. Give it a "
                "spring or a brake, or hold it with robot.lock."
            )
        if i in chosen:
            bring_onto_axis(parts, i, robot, masses, distances)
        parts.pass_inwards(i)
    weights = tuple(parts.weights)
    after = carrying(robot, weights)
    return Balancing(after, weights, is_gravity_balanced(robot), is_gravity_balanced(after))


def _turned_by_gravity(robot: Robot, axes: Axes, i: int) -> bool:
    if "m" in robot.structure.kind_of(i).v_units:
        return False
    down = _down(robot)
    return down is not None and not all_parallel(axes.turning[i], down)


def _beyond_help(robot: Robot, axes: Axes, i: int) -> str:
    """Why gravity moves joint i whatever its link carries; empty if it need not."""
    down, kind = _down(robot), robot.structure.kind_of(i)
    if down is None or kind.has_fixed_point:
        return ""
    along = axes.turning[i] if kind.turns_about_axis else axes.sliding[i]
    return "moves its link up and down" if np.any(np.abs(np.sum(along * down, axis=-1)) > PARALLEL) else ""


def _down(robot: Robot) -> Array | None:
    """The direction of gravity (1, 1, 3); None without gravity."""
    g = np.asarray(robot.gravity)
    size = float(np.linalg.norm(g))
    return (g / size)[None, None] if size > 0 else None
