"""Pictures of redundancy: a self-motion, where the robot moves and its task does not, and the drift over a closed path."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ShapeError
from torsor.model import Robot
from torsor.plot.canvas import (
    Axes,
    Axes3D,
    finish_space,
    flat_axes,
    label,
    legend,
    plain_name,
    polyline,
    rgb,
    space_axes,
    triad,
)
from torsor.plot.palette import BLUE, GREY, INK, MARKERS, ORANGE, line_look
from torsor.plot.skeleton import Skeleton, skeleton_of
from torsor.redundancy import PathDrift, SelfMotion

STILL = 1e-6  # m: what a point that does not move may move by


@explained
def self_motion(robot: Robot, motion: SelfMotion | Array, *, shown: int = 9, ax: Axes | None = None) -> Axes:
    """Picture of a robot at several configurations of a self-motion, and of the paths of its joints [Alt04, §II.B].

    From blue at the first to orange at the last; thin lines are the paths of all joint centres. Triads are the named frames at
    the first configuration, with names at those whose origin does not move.

    Parameters
    ----------
    robot : Robot
    motion : SelfMotion or (k, nq) array
        What `torsor.redundancy.self_motion` has found, or configurations, rad or m.
    shown : int
        How many configurations are drawn, evenly along the samples.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        In m.
    """
    q = np.asarray(getattr(motion, "q", motion), float)
    q = q.reshape(-1, q.shape[-1]) if q.ndim == 3 else q
    if q.ndim != 2 or q.shape[-1] != robot.nq or len(q) < 1 or shown < 1:
        raise ShapeError(f"configurations of robot {robot.name!r} have shape (k, {robot.nq}), got {q.shape}.")
    closed = bool(getattr(motion, "closed", False))
    chosen = np.unique(np.linspace(0, len(q) - 1, shown + closed).round().astype(int))[: shown or None]
    ax = space_axes(ax, gravity=robot.gravity)
    skeletons = [skeleton_of(robot, one) for one in q]
    some = [skeletons[k] for k in chosen]
    finish_space(ax, np.concatenate([skeleton.points() for skeleton in skeletons]), pad=0.05 * some[0].extent)
    _ways(ax, skeletons)
    for k, skeleton in enumerate(some):
        share = k / max(len(some) - 1, 1)
        _bars(ax, skeleton, tuple((1 - share) * rgb(BLUE) + share * rgb(ORANGE)), f"configuration {k}")
    for name, pose in some[0].tips.items():
        triad(ax, pose, 0.12 * some[0].extent, f"frame {name}")
        if max(np.abs(skeleton.tips[name] - pose)[:3, 3].max() for skeleton in skeletons) < STILL:
            label(ax, pose[:3, 3], plain_name(name), offset=(-10, -12), ha="right", gid=f"name of {name}")
    legend(ax, _key(some, closed=closed))
    return ax


def _key(some: list[Skeleton], *, closed: bool) -> list[Any]:
    """The legend entries that say what the colours mean."""
    from matplotlib.lines import Line2D

    if len(some) == 1:
        return [Line2D([], [], color=BLUE, linewidth=2.2, label="the configuration")]
    last = "last, before it closes" if closed else "last"
    return [
        Line2D([], [], color=BLUE, linewidth=2.2, label=f"first of {len(some)} configurations"),
        Line2D([], [], color=ORANGE, linewidth=2.2, label=last),
        Line2D([], [], color=GREY, linewidth=0.8, label="paths of the joints"),
    ]


def _ways(ax: Axes3D, skeletons: list[Skeleton]) -> None:
    """The paths of the joint centres, where they move at all."""
    for i, joint in enumerate(skeletons[0].joints):
        way = np.array([skeleton.joints[i].far for skeleton in skeletons])
        if np.ptp(way, axis=0).max() > 1e-6:
            polyline(ax, way, GREY, f"path of {joint.name}", linewidth=0.8, zorder=2, alpha=0.7)


def _bars(ax: Axes3D, skeleton: Skeleton, colour: tuple[float, ...], gid: str) -> None:
    for link in range(-1, len(skeleton.parents)):
        for start, end in skeleton.bars(link):
            own: Any = INK if link < 0 else colour
            polyline(ax, np.array([start, end]), own, gid, linewidth=2.2, alpha=0.85, zorder=4, solid_capstyle="round")
    places = np.array([joint.far for joint in skeleton.joints])
    ax.plot(*places.T, linestyle="none", marker="o", markersize=3.5, color=colour, zorder=5)


# How far the joints drift while a task goes round and round.


@explained
def path_drift(
    drifts: PathDrift | Sequence[PathDrift], *, labels: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """Picture of how far joints drift with each round of a closed path, a line for each lift [Alt04, §III.B, E004-14].

    Shown is the largest displacement of a joint after each round. A repeatable lift stays at zero.

    Parameters
    ----------
    drifts : PathDrift or sequence of PathDrift
        What `torsor.redundancy.closed_path_drift` has measured, with displacements (k, nv), rad or m.
    labels : sequence of str, optional
        One text for each; the name of the lift by default.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Rounds, and rad or m.
    """
    all_of_them = [drifts] if isinstance(drifts, PathDrift) else list(drifts)
    texts = [f"{drift.lift} lift" for drift in all_of_them] if labels is None else list(labels)
    if len(texts) != len(all_of_them):
        raise ShapeError(f"{len(all_of_them)} drifts have {len(texts)} labels; pass one for each.")
    ax = flat_axes(ax)
    handles = []
    for k, (drift, text) in enumerate(zip(all_of_them, texts, strict=True)):
        handles += ax.plot(
            np.arange(len(drift.drift)),
            np.max(np.abs(drift.drift), axis=-1),
            **line_look(k),
            marker=MARKERS[k % len(MARKERS)],
            markersize=4,
            linewidth=1.4,
            label=text,
            gid=f"drift {k}",
        )
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("rounds of the path")
    units = {unit for drift in all_of_them for unit in drift.units}
    ax.set_ylabel(f"largest displacement of a joint ({' or '.join(sorted(units, reverse=True))})")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    legend(ax, handles)
    return ax
