"""What pictures of motions have in common: samples, numbers with names, units and limits, lines of single motions and of many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.model import Robot
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory
from torsor.plot.canvas import Axes, legend, plain_name
from torsor.plot.palette import GREY

SAMPLES = 300  # of a motion that is no trajectory
MOST_OF_A_BATCH = 100  # motions of a batch that are drawn; more are one grey area, and take long
QUANTITIES = {"position": "q", "velocity": "v", "acceleration": "a", "force": "tau"}
_UNITS = {
    "position": {"rad": "rad", "m": "m", "1": ""},
    "velocity": {"rad": "rad/s", "m": "m/s"},
    "acceleration": {"rad": "rad/s²", "m": "m/s²"},
    "force": {"rad": "N·m", "m": "N"},
}
TITLES = {"position": "position", "velocity": "velocity", "acceleration": "acceleration", "force": "joint force"}


class Number(NamedTuple):
    """One number of a robot's q, v, a or τ: the name and unit to show, its place, and its limits (±inf if none)."""

    name: str
    unit: str
    place: int
    low: float
    high: float


def samples_of(motion: Any, dt: float | None) -> Trajectory:
    """The samples of a motion: those of a trajectory, or of any motion in time every ``dt`` s, a 300th of it by default."""
    if isinstance(motion, Trajectory):
        run = motion
    elif isinstance(motion, Motion) or all(hasattr(motion, name) for name in ("robot", "duration", "sample")):
        run = motion.sample(dt if dt is not None else max(motion.duration / SAMPLES, 1e-9))
    else:
        raise ArgumentTypeError(
            f"`motion` must be a motion, such as a torsor.Trajectory, got {type(motion).__name__}. "
            "Numbers become one by torsor.Trajectory(robot, time, q, v)."
        )
    if not run.q.size:
        raise ArgumentError(f"`motion` must have at least one trajectory to draw, got a batch of {run.batch}.")
    return run


def numbers(robot: Robot, quantity: str, joints: str | Iterable[str] | None = None) -> list[Number]:
    """The numbers of ``quantity``, of all joints or of those named, in the robot's order."""
    refuse_unknown_word("quantity", quantity, QUANTITIES)
    s, limits = robot.structure, robot.structure.limits
    known = [c.name for c in s.coordinates]
    chosen = known if joints is None else [joints] if isinstance(joints, str) else list(joints)
    if not chosen:
        raise ArgumentError("`joints` must be names of joints, at least one, or None for all.")
    for name in chosen:
        if name not in known:
            leader = s.coordinate_of(s.joint_index(name)).name  # refuses unknown names
            raise ArgumentError(f"joint {name!r} follows {leader!r}; pass {leader!r} instead.")
    everywhere = np.full(robot.nv, np.inf)
    speed, effort = np.array(limits.velocity), np.array(limits.effort)
    low, high = {
        "position": (np.array(limits.lower), np.array(limits.upper)),
        "velocity": (-np.where(speed > 0.0, speed, np.inf), np.where(speed > 0.0, speed, np.inf)),  # 0 is no limit
        "acceleration": (-everywhere, everywhere),
        "force": (-effort, effort),
    }[quantity]
    found = []
    for c in s.coordinates:
        if c.name in chosen:
            kind = s.kind_of(s.joints.index(c.name))
            start, units = (c.q_start, kind.q_units) if quantity == "position" else (c.v_start, kind.v_units)
            for k, unit in enumerate(units):
                name = plain_name(c.name) if len(units) == 1 else f"{plain_name(c.name)}[{k}]"
                i = start + k
                found.append(Number(name, _UNITS[quantity][unit], i, float(low[i]), float(high[i])))
    return found


def values_of(run: Trajectory, quantity: str) -> Array:
    """The numbers of all trajectories in one row: (motions, N, n); at most a hundred of them, evenly out of the batch."""
    values = np.asarray(getattr(run, QUANTITIES[quantity]))
    return some(values.reshape(-1, *values.shape[-2:]))


def some(rows: Array) -> Array:
    """At most a hundred of the rows (k, ...), evenly from the first to the last."""
    if len(rows) <= MOST_OF_A_BATCH:
        return rows
    return rows[np.linspace(0, len(rows) - 1, MOST_OF_A_BATCH).round().astype(int)]


def title_of(run: Trajectory) -> str:
    """The robot's name, and how many trajectories of a batch are drawn."""
    many = int(np.prod(run.batch))
    drawn = min(many, MOST_OF_A_BATCH)
    which = f"all {many} motions" if drawn == many else f"{drawn} of {many} motions"
    return f"{plain_name(run.robot.name)}, {which}" if run.batch else plain_name(run.robot.name)


def unit_text(found: Iterable[Number]) -> str:
    """The units of some numbers: "rad", or "rad or m"."""
    return " or ".join(dict.fromkeys(number.unit for number in found if number.unit)) or "no unit"


def force_style(motion: Any) -> dict[str, Any]:
    """How joint forces are drawn: those of samples act from one to the next, those of other motions change all the time."""
    return {"drawstyle": "steps-post"} if isinstance(motion, Trajectory) else {}


def limit_look(found: Sequence[Number], number: Number, bound: float, colour: str) -> dict[str, Any]:
    """How a limit is drawn: dotted, in the colour of its joint, or grey if several joints have the same."""
    shared = sum(bound in (other.low, other.high) for other in found) > 1
    gid = f"limit of {number.name}"
    return {"color": GREY if shared else colour, "linewidth": 0.9, "linestyle": (0, (1, 2)), "zorder": 0, "gid": gid}


def legend_of_bundles(ax: Axes, handles: Iterable[Any], **place: Any) -> None:
    """A legend beside the Axes, whose lines are strong also where those of a batch are thin."""
    drawn = legend(ax, handles, **{"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "fontsize": 9, **place})
    for line in drawn.get_lines():
        line.set(alpha=1.0, linewidth=1.4)


def bundle(ax: Axes, time: Array, rows: Array, **look: Any) -> Any:
    """Lines of one look, one for each row (k, N); thin if they are many. The first is returned, for a legend."""
    many = len(rows) > 1
    style: dict[str, Any] = {"linewidth": 0.8 if many else 1.4, "alpha": max(0.25, len(rows) ** -0.5), **look}
    if len(time) == 1:
        style = {**style, "marker": "o", "markersize": 4}  # a line of one point has no length
    lines = [ax.plot(time, row, **style)[0] for row in rows]
    return lines[0]


def in_sight(bound: float, values: Array, margin: float = 0.15) -> bool:
    """Whether a limit is so near to the values that a picture of these should show it."""
    finite = values[np.isfinite(values)]
    if not np.isfinite(bound) or not finite.size:
        return False
    least, most = float(finite.min()), float(finite.max())
    room = margin * max(most - least, 1e-9)
    return least - room <= bound <= most + room
