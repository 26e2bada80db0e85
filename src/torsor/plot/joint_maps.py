"""Maps over two joints: curves in configuration space, and how the mass matrix is curved."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.border.arrays import as_floats
from torsor.errors import ArgumentError, ModelError, ShapeError
from torsor.functions.public import geometry
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE, KINDS
from torsor.plot.canvas import (
    Axes,
    flat_axes,
    legend,
    plain_name,
    pyplot,
)
from torsor.plot.palette import GREY, INK, line_look
from torsor.plot.skeleton import one_configuration

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
            getattr(ax, f"set_{name}label")(f"{plain_name(d.name)} ({d.unit})")
            if d.turns and np.isclose(d.high, -d.low) and (np.isclose(d.high, np.pi) or np.isclose(d.high, 2 * np.pi)):
                step = d.high / 2
                words = {np.pi: ["−π", "−π/2", "0", "π/2", "π"]}.get(d.high, ["−2π", "−π", "0", "π", "2π"])
                getattr(ax, f"set_{name}ticks")(step * np.arange(-2, 3), words)
        ax.tick_params(labelsize=8)

    def make_room(self, ax: Axes, points: Array) -> None:
        """Limits of the Axes that hold ``points`` (k, 2); lines at limits of joints that they come to or go beyond."""
        for name, d, x, line in (
            ("x", self.across, points[:, 0], ax.axvline),
            ("y", self.up, points[:, 1], ax.axhline),
        ):
            low, high = getattr(ax, f"get_{name}lim")()
            near = 0.005 * (high - low)
            known = x[np.isfinite(x)]
            if d.continuous or not known.size:
                continue
            below, above = float(known.min()), float(known.max())
            if below < low + near:
                low = below - 8 * near
            if above > high - near:
                high = above + 8 * near
            for bound, met in ((d.low, below < d.low + near), (d.high, above > d.high - near)):
                if met:
                    line(bound, color=INK, linewidth=1.0, linestyle="--", gid=f"limit of {d.name}", zorder=4)
            getattr(ax, f"set_{name}lim")(low, high)


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


@explained
def paths(
    robot: Robot,
    curves: Any,
    joints: Joints,
    *,
    ax: Axes | None = None,
    labels: Sequence[str] | None = None,
    colours: Sequence[str] | None = None,
    linewidth: float = 1.4,
) -> Axes:
    """Picture of curves q(t) over two joints: geodesics [Alt04, (6), (7)], simulated motions, plans.

    A ring marks the start, a disk the end. A joint without limits turns on where it leaves the map: at ±π the line is cut. A
    curve that comes to a limit or goes beyond is shown whole: the Axes reach farther, and a dashed line is the limit.

    Parameters
    ----------
    robot : Robot
    curves : (k, nq) array, or several
        One curve or a list, rad or m; several in one array (..., k, nq); or an object with such an array as ``q``, a
        `torsor.Trajectory` for instance.
    joints : pair of str or int
        As in `curvature_map`, into whose Axes they may be drawn.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    labels : sequence of str, optional
        One text for each curve.
    colours : sequence of str, optional
        Used in turn. By default all curves are black, or if they have labels, no two look alike.
    linewidth : float
        In printer's points.

    Returns
    -------
    Axes
        Of the two joints, rad or m.
    """
    plane = joint_plane(robot, joints)
    lines = _curves(robot, curves)
    if labels is not None and len(labels) != len(lines):
        raise ShapeError(f"{len(lines)} curves have {len(labels)} labels; pass one for each.")
    fresh = ax is None
    ax = flat_axes(ax)
    handles, reached = [], []
    for k, line in enumerate(lines):
        look = {"color": colours[k % len(colours)]} if colours else {"color": INK} if labels is None else line_look(k)
        colour = look["color"]
        points = cut(plane, line[:, [plane.across.q, plane.up.q]])
        text = "" if labels is None else labels[k]
        handles += ax.plot(*points.T, **look, linewidth=linewidth, label=text or "_", gid=f"path {k}", zorder=5)
        ends: dict[str, Any] = {
            "linestyle": "none",
            "marker": "o",
            "markersize": 5,
            "zorder": 6,
            "clip_on": False,
            "markeredgecolor": colour,
        }
        ax.plot(*points[0], markerfacecolor="white", gid=f"start {k}", **ends)
        ax.plot(*points[-1], markerfacecolor=colour, gid=f"end {k}", **ends)
        reached.append(points)
    if fresh:
        plane.label(ax)
    plane.make_room(ax, np.concatenate(reached))
    if labels is not None:
        legend(ax, handles, loc="best", frameon=True, framealpha=0.8, edgecolor="none")
    return ax


def cut(plane: JointPlane, points: Array) -> Array:
    """Points (k, 2) brought onto the map, with a row of NaN wherever a continuous joint jumps from π to −π or back.

    Before and after a cut the line is drawn on to the edge of the map.
    """
    turns = np.array([d.continuous for d in plane])
    round_ = np.where(turns, 2 * np.pi * np.floor((points + np.pi) / (2 * np.pi)), 0.0)
    pieces: list[Array] = [points[:1] - round_[0]]
    for k in range(1, len(points)):
        if np.any(round_[k] != round_[k - 1]):
            pieces += _jump(points[k - 1], points[k], round_[k - 1], round_[k])
        pieces.append(points[k : k + 1] - round_[k])
    return np.concatenate(pieces)


def _jump(a: Array, b: Array, round_a: Array, round_b: Array) -> list[Array]:
    """The way from a to b over the edge of the map: on to the edge, a gap, and from the opposite edge onwards."""
    changed = round_a != round_b
    edges = np.maximum(round_a, round_b) - np.pi
    with np.errstate(divide="ignore", invalid="ignore"):
        when = np.where(changed, (edges - a) / (b - a), np.inf)
    over = a + float(np.clip(when.min(), 0.0, 1.0)) * (b - a)
    return [(over - round_a)[None], np.full((1, 2), np.nan), (over - round_b)[None]]


def _curves(robot: Robot, curves: Any) -> list[Array]:
    if hasattr(curves, "q"):
        curves = curves.q
    if isinstance(curves, (list, tuple)) and curves and (hasattr(curves[0], "q") or np.ndim(curves[0]) > 1):
        return [line for curve in curves for line in _curves(robot, curve)]
    array = as_floats("curves", curves)
    if array.ndim < 2 or array.shape[-1] != robot.nq or array.shape[-2] < 1:
        raise ShapeError(
            f"a curve of robot {robot.name!r} has shape (k, {robot.nq}), k samples of q; got {array.shape}."
        )
    return list(array.reshape(-1, *array.shape[-2:]))


_ROUNDING = 1e-9  # of 1/(least eigenvalue of M): what curvature below this is, is rounding
_SHOWN = 95.0  # percent of the values within the colours, where the others have no bound


def _sectional(robot: Robot, q: Array, plane: JointPlane) -> Array:
    u, w = np.eye(robot.nv)[[plane.across.v, plane.up.v]]
    return geometry.sectional_curvature(robot, q, u, w)


_QUANTITIES: dict[str, tuple[Callable[[Robot, Array, JointPlane], Array], str]] = {
    "sectional": (_sectional, "sectional curvature $K$"),
    "scalar": (lambda robot, q, _: geometry.scalar_curvature(robot, q), "scalar curvature"),
    "norm": (lambda robot, q, _: geometry.curvature_norm(robot, q), r"curvature norm $\sqrt{R_{ijkl} R^{ijkl}}$"),
}


@explained
def curvature_map(
    robot: Robot,
    joints: Joints,
    *,
    q: GivenConfiguration | None = None,
    quantity: str = "sectional",
    resolution: int = 81,
    ax: Axes | None = None,
    limit: float | None = None,
) -> Axes:
    """Picture of the curvature of the metric M(q) over two joints, in 1/(kg·m²), as colours [PBP95, (66), §5].

    Signed quantities are blue below zero and red above, with a line at zero. Where M is singular the map is grey, and since
    curvature has no bound next to there, one value in twenty is then beyond the default ``limit``. One batched call evaluates
    resolution² states.

    Parameters
    ----------
    robot : Robot
    joints : pair of str or int
        Two joints with one degree of freedom, by name or position in `robot.coordinates`. The map covers their limits (±π, ±1 m
        if none).
    q : (nq,) array, optional
        Configuration of the other joints, rad or m; neutral by default.
    quantity : str
        "sectional", of the plane these two joints span; "scalar"; or "norm" of the whole tensor, zero just where it is flat.
    resolution : int
        Points along each axis.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    limit : float, optional
        Where colours end, 1/(kg·m²); the largest value by default.

    Returns
    -------
    Axes
        Of the two joints, rad or m.
    """
    refuse_unknown_word("quantity", quantity, _QUANTITIES)
    check_resolution(resolution)
    plane = joint_plane(robot, joints)
    rest = one_configuration(robot, q)
    states = plane.grid(rest, resolution)
    evaluate, words = _QUANTITIES[quantity]
    with np.errstate(all="ignore"):  # where M is singular, NaN
        values = np.ma.masked_invalid(np.asarray(evaluate(robot, states, plane)))
    known = values.compressed()
    if not known.size:
        raise ArgumentError(
            f"the mass matrix of robot {robot.name!r} is singular everywhere on this map, and has no curvature; "
            "give every link a mass (see torsor.dynamics.mass_matrix_report)."
        )
    whole = known.size == values.size
    if limit is None:
        lightest = float(np.linalg.eigvalsh(np.asarray(mass_matrix(robot, rest)))[0])
        largest = float(np.max(np.abs(known)) if whole else np.percentile(np.abs(known), _SHOWN))
        limit = max(largest, _ROUNDING / lightest if lightest > 0 else 1.0)
    signed = quantity != "norm"
    ax = flat_axes(ax, (6.4, 5.2))
    x, y = states[0, :, plane.across.q], states[:, 0, plane.up.q]
    name, lowest = ("RdBu_r", -limit) if signed else ("cividis", 0.0)
    cmap = pyplot().get_cmap(name).with_extremes(bad=GREY)
    # Colours between points need values at all of them
    shading: Literal["gouraud", "nearest"] = "gouraud" if whole else "nearest"
    shown = values.data if whole else values
    image = ax.pcolormesh(x, y, shown, shading=shading, rasterized=True, cmap=cmap, vmin=lowest, vmax=limit)
    image.set_gid(f"{quantity} curvature")
    if signed and known.min() < -_ROUNDING * limit and known.max() > _ROUNDING * limit:
        ax.contour(x, y, shown, levels=[0.0], colors=[GREY], linewidths=0.8)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(f"{words}  (1/(kg·m²))")
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    plane.label(ax)
    return ax
