"""Which number every link and joint has: the tree of a robot as a diagram, not to scale."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ModelError
from torsor.model import Robot
from torsor.model.joint_kinds import KINDS
from torsor.model.structure import Structure
from torsor.plot.canvas import (
    Axes,
    flat_axes,
    halo,
    legend,
    plain_name,
    quartered_disk,
)
from torsor.plot.palette import GREY, INK, KIND_COLOURS, LIGHT, VERMILION

_MARKERS = {"revolute": "o", "helical": "h", "prismatic": "s", "planar": "D", "spherical": "8", "free": "P"}


class Layout(NamedTuple):
    """A place on the page, (n, 2), for each joint and for the centre of mass of each link; ``rows`` and ``levels`` in all."""

    joints: Array
    coms: Array
    rows: int
    levels: int


@explained
def link_numbering(
    robot: Robot,
    *,
    ax: Axes | None = None,
    names: bool = False,
    vectors: Sequence[tuple[int, int]] = (),
) -> Axes:
    """Diagram of links and joints with their numbers, base (link 0) to tips [Sil81, Fig. 3.1].

    Joint i connects link i to its parent. In a chain it lies between links i − 1 and i; in a tree, a link may carry several
    joints, drawn in rows. ẑ_i is the axis of joint i (joints without one have none), p̃_i,i (m) points from the axis of joint i
    to the centre of mass of link i. Not to scale: for the true shape at a configuration (nq,) see `mechanism`.

    Parameters
    ----------
    robot : Robot
    ax : Axes, optional
        Axes to draw into; new ones by default.
    names : bool
        Whether names stand below the numbers.
    vectors : sequence of (int, int)
        Pairs (j, i) of numbers from 1, for which p̃_j,i is drawn too.

    Returns
    -------
    Axes
        Without units.
    """
    s = robot.structure
    layout = _layout(s)
    width, height = min(1.35 * (layout.levels + 0.9), 18.0), min(1.45 * layout.rows + 0.9, 14.0)
    ax = flat_axes(ax, (max(width, 4.0), max(height, 2.4)))
    _draw_base(ax, s, layout)
    for i in range(s.n):
        _draw_link(ax, s, layout, i)
    for i in range(s.n):
        _draw_joint(ax, s, layout, i, names)
        _vector(ax, layout, i, i, bend=0.0)
    for j, i in vectors:
        if not (1 <= j <= s.n and 1 <= i <= s.n):
            raise ModelError(f"`vectors` are pairs of numbers from 1 to {s.n}, got {(j, i)}.")
        _vector(ax, layout, j - 1, i - 1, bend=-0.32)
    ax.set_xlim(-0.3, layout.levels + 0.75)
    ax.set_ylim(-layout.rows + 0.42, 0.65)
    ax.set_aspect("equal")
    ax.set_axis_off()
    _legend(ax, s)
    return ax


def _layout(s: Structure) -> Layout:
    """Joints by their distance from the base, leaves in rows of their own, each joint midway between those after it."""
    children: list[list[int]] = [[] for _ in range(s.n + 1)]
    level = np.zeros(s.n)
    for i, parent in enumerate(s.parents):  # parents come first
        children[parent].append(i)
        level[i] = 0.5 if parent < 0 else level[parent] + 1.0
    row = np.zeros(s.n)
    leaves = 0
    for i in _depth_first(children):
        if not children[i]:
            row[i] = -leaves
            leaves += 1
    for i in reversed(range(s.n)):
        if children[i]:
            row[i] = np.mean([row[c] for c in children[i]])
    joints = np.stack([level, row], axis=1)
    coms = joints + np.array([0.5, 0.0])
    for i in range(s.n):
        if len(children[i]) == 1:
            coms[i] = (joints[i] + joints[children[i][0]]) / 2
    return Layout(joints, coms, max(leaves, 1), int(np.ceil(level.max(initial=0.0))))


def _depth_first(children: list[list[int]]) -> list[int]:
    order, stack = [], list(reversed(children[-1]))
    while stack:
        i = stack.pop()
        order.append(i)
        stack += reversed(children[i])
    return order


def _draw_base(ax: Axes, s: Structure, layout: Layout) -> None:
    from matplotlib.patches import Rectangle

    held = [layout.joints[i] for i in range(s.n) if s.parents[i] < 0]
    top, bottom = max(y for _, y in held) + 0.22, min(y for _, y in held) - 0.22
    ax.add_patch(
        Rectangle((-0.14, bottom), 0.14, top - bottom, facecolor="none", edgecolor=GREY, hatch="////", linewidth=0)
    )
    ax.plot([0, 0], [bottom, top], color=INK, linewidth=1.5)
    for x, y in held:
        ax.plot([0, x], [y, y], color=GREY, linewidth=5, solid_capstyle="butt", zorder=1)
    _note(ax, (-0.07, bottom - 0.06), "link 0\n(base)", "link 0", va="top")


def _draw_link(ax: Axes, s: Structure, layout: Layout, i: int) -> None:
    """A bar from joint i to the joints it carries, or a stub."""
    start = layout.joints[i]
    ends = [layout.joints[c] for c in range(s.n) if s.parents[c] == i] or [start + np.array([0.8, 0.0])]
    if len(ends) > 1:
        ends.append(layout.coms[i])
    for end in ends:
        ax.plot(
            *np.stack([start, end]).T, color=LIGHT, linewidth=9, solid_capstyle="round", zorder=1, gid=f"bar {i + 1}"
        )
    quartered_disk(ax, layout.coms[i], 0.055, f"centre of mass {i + 1}")
    _note(ax, layout.coms[i] - np.array([0.0, 0.12]), f"link {i + 1}", f"link {i + 1}", va="top")


def _draw_joint(ax: Axes, s: Structure, layout: Layout, i: int, names: bool) -> None:
    kind, at = s.kinds[i], layout.joints[i]
    ax.plot(*at, zorder=5, gid=f"joint {i + 1}", **_marker(kind, 11, 2.0))
    text = f"joint {i + 1}"
    leader = s.coordinate_of(i).name
    if leader != s.joints[i]:
        text += f"\nfollows {s.joints.index(leader) + 1}"
    _note(ax, at - np.array([0.0, 0.12]), text, f"number {i + 1}", va="top", color=KIND_COLOURS[kind])
    if names:
        below = 0.12 + 0.13 * (text.count("\n") + 1)
        words = f"{plain_name(s.joints[i], 20)}\n{plain_name(s.links[i], 20)}"
        _note(
            ax, at - np.array([0.0, below]), words, f"names {i + 1}", va="top", color=GREY, fontsize=6, style="italic"
        )
    if KINDS[kind].has_screw:
        end = at + np.array([0.0, 0.38])
        _arrow(ax, at, end, KIND_COLOURS[kind], f"axis {i + 1}", "-|>")
        name = rf"$\hat{{z}}_{{{i + 1}}}$"
        _note(ax, end, name, f"z {i + 1}", va="bottom", color=KIND_COLOURS[kind], fontsize=10)


def _marker(kind: str, size: float, edge: float) -> dict[str, Any]:
    """How the sign of a joint of some kind is drawn."""
    sign = {"marker": _MARKERS[kind], "markersize": size, "markerfacecolor": "white", "linestyle": "none"}
    return {**sign, "markeredgecolor": KIND_COLOURS[kind], "markeredgewidth": edge}


def _vector(ax: Axes, layout: Layout, j: int, i: int, *, bend: float) -> None:
    start, end = layout.joints[j], layout.coms[i]
    _arrow(ax, start, end, INK if bend else VERMILION, f"vector {j + 1},{i + 1}", "-|>", bend)
    along = end - start
    across = np.array([-along[1], along[0]])
    middle = start + 0.5 * along - (0.5 * bend * across if bend else -0.1 * across / np.linalg.norm(across))
    name = rf"$\tilde{{p}}_{{{j + 1},{i + 1}}}$"
    _note(ax, middle, name, f"p {j + 1},{i + 1}", va="bottom", color=INK if bend else VERMILION, fontsize=9)


def _arrow(ax: Axes, start: Array, end: Array, colour: str, gid: str, head: str, bend: float = 0.0) -> None:
    style: dict[str, Any] = {
        "arrowstyle": head,
        "color": colour,
        "linewidth": 1.2,
        "shrinkA": 0,
        "shrinkB": 4 if bend or start[0] != end[0] else 0,
        "connectionstyle": f"arc3,rad={bend}",
    }
    ax.annotate("", end, start, arrowprops=style, zorder=4).set_gid(gid)


def _note(ax: Axes, at: Any, text: str, gid: str, **style: Any) -> None:
    style = {"fontsize": 7.5, "color": INK, "ha": "center", "va": "center", "linespacing": 1.05, **style}
    x, y = at
    ax.text(x, y, text, gid=gid, zorder=8, path_effects=halo(), **style)


def _legend(ax: Axes, s: Structure) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], label=f"{kind} joint", **_marker(kind, 8, 1.6)) for kind in dict.fromkeys(s.kinds)]
    legend(ax, handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, borderaxespad=0.0)
