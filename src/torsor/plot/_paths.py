"""Curves in configuration space, drawn on the map of two joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.arrays import as_floats
from torsor.errors import ShapeError
from torsor.model import Robot
from torsor.plot.canvas import INK, Axes, flat_axes, legend
from torsor.plot.joint_plane import JointPlane, Joints, joint_plane


@explained
def paths(
    robot: Robot,
    curves: Any,
    joints: Joints,
    *,
    ax: Axes | None = None,
    labels: Sequence[str] | None = None,
    colours: Sequence[str] = (INK,),
    linewidth: float = 1.4,
) -> Axes:
    """Picture of curves q(t) over two joints: geodesics [Alt04, (6), (7)], simulated motions, plans.

    A ring marks the start, a disk the end. A joint without limits turns on where it leaves the map: at ±π the line is cut.

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
    colours : sequence of str
        Used in turn.
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
    handles = []
    for k, line in enumerate(lines):
        colour = colours[k % len(colours)]
        points = cut(plane, line[:, [plane.across.q, plane.up.q]])
        text = "" if labels is None else labels[k]
        handles += ax.plot(*points.T, color=colour, linewidth=linewidth, label=text or "_", gid=f"path {k}", zorder=5)
        ends: dict[str, Any] = {
            "linestyle": "none",
            "marker": "o",
            "markersize": 5,
            "zorder": 6,
            "markeredgecolor": colour,
        }
        ax.plot(*points[0], markerfacecolor="white", gid=f"start {k}", **ends)
        ax.plot(*points[-1], markerfacecolor=colour, gid=f"end {k}", **ends)
    if fresh:
        plane.label(ax)
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
