"""Two joints as the axes of a map: which numbers of q they are, how far they go, a grid over them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, ModelError
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE, KINDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Joints = Sequence[str | int]


class Direction(NamedTuple):
    """A joint as one axis of a map: its place in q and in v, its range (rad or m), and whether it turns round and round."""

    name: str
    q: int
    v: int
    low: float
    high: float
    turns: bool
    unit: str

    @property
    def continuous(self) -> bool:
        """Whether −π and π are one place."""
        return self.turns and (self.low, self.high) == (-np.pi, np.pi)


class JointPlane(NamedTuple):
    """Two joints to draw a map over, the first to the right, the second up."""

    across: Direction
    up: Direction

    def grid(self, q: Array, resolution: int, *, inset: float = 0.0) -> Array:
        """Configurations (resolution, resolution, nq): rows go up, columns across; other joints as in ``q`` (nq,).

        ``inset``: the part of each range left free at both ends.
        """
        states = np.broadcast_to(q, (resolution, resolution, q.shape[0])).copy()
        x, y = (
            np.linspace(d.low + inset * (d.high - d.low), d.high - inset * (d.high - d.low), resolution) for d in self
        )
        states[..., self.across.q], states[..., self.up.q] = np.meshgrid(x, y)
        return states

    def label(self, ax: Axes) -> None:
        """Limits, names and units of the two axes; angles of whole turns are marked in multiples of π."""
        for name, d in (("x", self.across), ("y", self.up)):
            getattr(ax, f"set_{name}lim")(d.low, d.high)
            getattr(ax, f"set_{name}label")(f"{d.name} ({d.unit})")
            if d.turns and np.isclose(d.high, -d.low) and (np.isclose(d.high, np.pi) or np.isclose(d.high, 2 * np.pi)):
                step = d.high / 2
                words = {np.pi: ["−π", "−π/2", "0", "π/2", "π"]}.get(d.high, ["−2π", "−π", "0", "π", "2π"])
                getattr(ax, f"set_{name}ticks")(step * np.arange(-2, 3), words)
        ax.tick_params(labelsize=8)


def joint_plane(robot: Robot, joints: Joints) -> JointPlane:
    """The plane of two joints, by name or by position in `robot.coordinates`, each with one degree of freedom."""
    listed = list(joints) if isinstance(joints, Iterable) and not isinstance(joints, str) else []
    if len(listed) != 2 or not all(isinstance(joint, (str, Integral)) for joint in listed):
        names = ", ".join(map(repr, robot.coordinates[:2]))
        raise ArgumentError(
            f"`joints` must be two joints, by name or position, as in ({names}) or (0, 1), got {joints!r:.60}. "
            "A configuration is passed by name: q=."
        )
    across, up = (_direction(robot, joint) for joint in listed)
    if across.q == up.q:
        raise ArgumentError(f"`joints` must be two different joints, got {across.name!r} twice.")
    return JointPlane(across, up)


def check_resolution(resolution: int) -> None:
    """Refuse what is no number of points along an axis."""
    if not isinstance(resolution, (int, np.integer)) or resolution < 2:
        raise ArgumentError(f"`resolution` must be a whole number, at least 2, got {resolution!r}.")


def _direction(robot: Robot, joint: str | int) -> Direction:
    s = robot.structure
    if not isinstance(joint, str):
        if not -len(s.coordinates) <= joint < len(s.coordinates):
            raise ArgumentError(f"robot {robot.name!r} has {len(s.coordinates)} coordinates, got joint {joint}.")
        joint = s.coordinates[joint].name
    i = s.joint_index(joint)
    kind, block = s.kinds[i], s.coordinate_of(i)
    if block.name != joint:
        raise ModelError(f"joint {joint!r} follows {block.name!r}; pass {block.name!r} instead.")
    if block.nq != 1:
        raise ModelError(
            f"joint {joint!r} is {kind}, with {block.nv} degrees of freedom; a map needs joints with one: "
            f"{', '.join(repr(c.name) for c in s.coordinates if c.nq == 1) or 'this robot has none'}."
        )
    turns = KINDS[kind].turns_about_axis
    free = float(KINDS[kind].half_ranges[0])
    low, high = s.limits.lower[block.q_start], s.limits.upper[block.q_start]
    if low < -HUGE:
        low = -free if high > HUGE else high - 2 * free
    if high > HUGE:
        high = low + 2 * free
    return Direction(joint, block.q_start, block.v_start, float(low), float(high), turns, KINDS[kind].q_units[0])
