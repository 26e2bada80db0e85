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

RELAX = "Raise that limit, lighten the payload, or lead the path elsewhere."


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


def obstacle(robot: Robot, path: Derivatives, grid: Grid, limits: JointLimits, found: Profile, ends: Ends) -> Obstacle:
    """The obstacle of one path (B = 1) without a profile."""
    rows = Rows(robot, path, limits)
    lines = rows.about(None, Excess(0.0, 0.0), grid)
    names = robot.structure.freedoms
    start, end = float(ends.start[0]), float(ends.end[0])
    least, most = found.sets.least[0], found.sets.most[0]
    missing = np.flatnonzero(most < 0.0)
    share = np.abs(path.first[0, len(grid.spacing)]) / limits.velocity
    if end * float(share.max()) ** 2 > 1.0:
        return _end_too_fast(names, share, end)
    if not len(missing):
        held = _not_held(names, rows, lines, grid, 0)
        return _wrong_start(names, path.first[0, 0] / limits.velocity, start, end, (least[0], most[0]), held)
    place = int(missing[-1])  # the sets are found backward
    s = float(grid.points[place])
    held = _not_held(names, rows, lines, grid, place)
    if held is not None:
        return held._replace(reason=f"{held.reason}, and no swing leads through. {RELAX}")
    low = bounds_of_intervals(lines, grid, found.ceilings[:, :-1]).bounds.least[0, place]
    limit, k = rows.labels[int(np.argmax(low)) % len(rows.labels)] if rows.labels else ("velocity", 0)
    what = f"the {limit} of {names[k]}"
    if found.ceilings[0, place] < 0.0:
        reason = f"no speed and no acceleration along the path keeps {what} and the other limits."
    elif end > 0.0 and place > len(grid.spacing) - 3:
        reason = f"`s_rate1` = {np.sqrt(end):.4g} cannot be reached: {what} is in the way."
    else:
        reason = f"from here the end cannot be reached at any speed: {what} is too small to brake, or to go on."
    return Obstacle(s, names[k], limit, f"{reason} {RELAX}")


def _end_too_fast(names: tuple[str, ...], share: Array, end: float) -> Obstacle:
    k = int(np.argmax(share))
    most = f"what the velocity limit of {names[k]} allows: pass at most {1.0 / share[k]:.6g}."
    reason = f"`s_rate1` = {np.sqrt(end):.4g} is beyond {most}"
    return Obstacle(1.0, names[k], "velocity", reason)


def _wrong_start(
    names: tuple[str, ...], share: Array, start: float, end: float, possible: tuple[float, float], held: Obstacle | None
) -> Obstacle:
    """The path can be followed, but not with the speed that is asked for at its beginning."""
    low, high = (float(np.sqrt(max(x, 0.0))) for x in possible)
    said = f"`s_rate0` = {np.sqrt(start):.4g} is too"
    if start > possible[1]:
        return Obstacle(
            0.0,
            names[int(np.argmax(np.abs(share)))],
            "velocity",
            f"{said} fast for what follows: pass at most {high:.6g}.",
        )
    if held is None:
        reason = f"{said} slow to reach `s_rate1` = {np.sqrt(end):.4g}: pass {low:.6g} to {high:.6g}, or a smaller `s_rate1`."
        return Obstacle(0.0, names[int(np.argmax(np.abs(share)))], "velocity", reason)
    reason = f"{held.reason}, and {said} slow to swing through: pass {low:.6g} to {high:.6g}. Or: {RELAX[0].lower()}{RELAX[1:]}"
    return held._replace(reason=reason)


def _not_held(names: tuple[str, ...], rows: Rows, lines: Limits, grid: Grid, place: int) -> Obstacle | None:
    """Forces at rest that are beyond their limits at a point or after it, which is usually the reason."""
    if not any(label[0] == "effort" for label in rows.labels):
        return None
    points = len(grid.points)
    force = 0.5 * (lines.low + lines.high)[0, place:points]  # minus the force at rest: bounds are ± effort − force
    reach = 0.5 * (lines.high - lines.low)[0, place:points]
    beyond = np.where([label[0] == "effort" for label in rows.labels], np.abs(force) - reach, -1.0)
    if not np.any(beyond > 0.0):
        return None
    here = int(np.argmax(np.any(beyond > 0.0, axis=1)))
    row = int(np.argmax(beyond[here] / rows.scale))
    worst = int(np.argmax(beyond[:, row]))
    effort, name = float(rows.scale[row]), names[rows.labels[row][1]]
    reason = (
        f"gravity alone takes more of {name} than its effort limit, {effort:.4g} N·m or N (at most "
        f"{effort + float(beyond[worst, row]):.4g}, at s = {grid.points[place + worst]:.4g})"
    )
    return Obstacle(float(grid.points[place + here]), name, "effort", reason)
