"""Why a path cannot be followed: where, which joint, which limit, and what to relax."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot
from torsor.motion.time_optimality.between_points import Excess
from torsor.motion.time_optimality.intervals import Grid, Limits, bounds_of_intervals
from torsor.motion.time_optimality.profile import Ends, Profile
from torsor.motion.time_optimality.rows import Derivatives, JointLimits, Rows



class Obstacle(NamedTuple):
    """Where a path cannot be followed, and why; as text, a sentence.

    Attributes
    ----------
    s : float
        The place, from 0 to 1.
    joint : str
        The joint whose limit is in the way.
    limit : str
        "effort", "acceleration" or "velocity".
    reason : str
        In words, with what to relax.
    """

    s: float
    joint: str
    limit: str
    reason: str

    def __str__(self) -> str:
        return f"s = {self.s:.4g}: {self.reason}"


def obstacle(
    robot: Robot, path: Derivatives, grid: Grid, limits: JointLimits, found: Profile, ends: Ends
) -> Obstacle:
    """The obstacle of one path (B = 1) without a profile."""
    rows = Rows(robot, path, limits)
    lines = rows.about(None, Excess(0.0, 0.0), grid)
    names = robot.structure.freedoms
    start, end = float(ends.start[0]), float(ends.end[0])
    least, most = found.sets.least[0], found.sets.most[0]
    missing = np.flatnonzero(most < 0.0)
    if not len(missing):
        return _wrong_speed(names, path, grid, limits, start, end, (float(least[0]), float(most[0])))
    place = int(missing[-1])  # the sets are found backward
    s = float(grid.points[place])
    held = _not_held(names, rows, lines, grid, found, place)
    if held is not None:
        return held
    bounds = bounds_of_intervals(lines, grid)
    low = np.concatenate([x[0, place] for x in bounds.least])
    limit, k = rows.labels[int(np.argmax(low)) % len(rows.labels)] if rows.labels else ("velocity", 0)
    what = f"the {limit} of {names[k]}"
    if found.ceilings[0, place] < 0.0:
        reason = f"no speed and no acceleration along the path keeps {what} and the other limits."
    elif end > 0.0 and place > len(grid.spacing) - 3:
        reason = f"`s_rate1` = {np.sqrt(end):.4g} cannot be reached: {what} is in the way."
    else:
        reason = f"from here the end cannot be reached at any speed: {what} is too small to brake, or to go on."
    return Obstacle(s, names[k], limit, f"{reason} Raise that limit, lighten the payload, or lead the path elsewhere.")


def _wrong_speed(
    names: tuple[str, ...],
    path: Derivatives,
    grid: Grid,
    limits: JointLimits,
    start: float,
    end: float,
    possible: tuple[float, float],
) -> Obstacle:
    """The path can be followed, but not with the speed that is asked for at its beginning or end."""
    count, low, high = len(grid.spacing), *(float(np.sqrt(max(x, 0.0))) for x in possible)
    share = np.abs(path.first[0, [0, count]]) / limits.velocity
    if low**2 <= start <= high**2:
        k = int(np.argmax(share[1]))
        most = 1.0 / share[1, k] if share[1, k] > 0.0 else np.inf
        reason = f"`s_rate1` = {np.sqrt(end):.4g} is beyond what the velocity of {names[k]} allows: pass at most {most:.6g}."
        return Obstacle(1.0, names[k], "velocity", reason)
    k = int(np.argmax(share[0]))
    if start > high**2:
        reason = f"`s_rate0` = {np.sqrt(start):.4g} is too fast to keep the limits that follow: pass at most {high:.6g}."
    else:
        reason = (
            f"`s_rate0` = {np.sqrt(start):.4g} is too slow to swing through what follows, where the drives cannot hold the robot: "
            f"pass {low:.6g} to {high:.6g}."
        )
    return Obstacle(0.0, names[k], "velocity", reason)


def _not_held(
    names: tuple[str, ...], rows: Rows, lines: Limits, grid: Grid, found: Profile, place: int
) -> Obstacle | None:
    """Forces at rest that are beyond their limits at the place or after it, which is usually the reason."""
    points = len(grid.points)
    force = 0.5 * (lines.low + lines.high)[0, :points]  # minus the force at rest: bounds are ± effort − force
    reach = 0.5 * (lines.high - lines.low)[0, :points]
    beyond = np.where([label[0] == "effort" for label in rows.labels] or [False], np.abs(force) - reach, -1.0)
    if not np.any(beyond[place:] > 0.0):
        return None
    here = place if np.any(beyond[place] > 0.0) else place + int(np.argmax(np.any(beyond[place:] > 0.0, axis=1)))
    row = int(np.argmax(beyond[here] / rows.scale))
    worst = place + int(np.argmax(beyond[place:, row]))
    effort, need = float(rows.scale[row]), float(rows.scale[row] + beyond[worst, row])
    name = names[rows.labels[row][1]]
    reason = (
        f"holding the robot still takes {float(rows.scale[row] + beyond[here, row]):.4g} of {name}, more than its effort limit "
        f"{effort:.4g} N·m or N, and no swing leads through. Raise the limit to {need:.4g}, which s = {grid.points[worst]:.4g} takes, "
        "lighten the payload, or lead the path elsewhere."
    )
    return Obstacle(float(grid.points[here]), name, "effort", reason)
