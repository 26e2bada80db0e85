"""The signs of planar drawings: pivots, slides, ground, quartered disks, named vectors. Lengths in m, on the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.plot.canvas import GREY, INK, halo

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def foot(ax: Axes, at: Array, r: float) -> None:
    """The ground under a pivot at ``at`` (2,)."""
    from matplotlib.patches import Polygon

    stand = at + r * np.array([[0.0, 0.0], [-1.5, -2.6], [1.5, -2.6]])
    ax.add_patch(Polygon(stand, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=2))
    ground = at + r * np.array([[-2.4, -3.4], [2.4, -3.4], [2.4, -2.6], [-2.4, -2.6]])
    ax.add_patch(Polygon(ground, facecolor="none", edgecolor=GREY, hatch="/////", linewidth=0.0, zorder=2))
    ax.plot(*ground[2:].T, color=INK, linewidth=1.2, zorder=2)


def joint(ax: Axes, at: Array, r: float, gid: str, *, square: bool = False, slide: Array | None = None) -> Any:
    """A circle for a pivot, a square, or a box along ``slide`` (2,), the direction of a prismatic joint."""
    from matplotlib.patches import Circle, Rectangle

    style: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.4, "zorder": 4, "gid": gid}
    patch: Any
    if slide is not None:
        angle = float(np.degrees(np.arctan2(slide[1], slide[0])))
        corner = (float(at[0] - 2.0 * r), float(at[1] - 1.3 * r))
        patch = Rectangle(corner, 4.0 * r, 2.6 * r, angle=angle, rotation_point="center", **{**style, "zorder": 3})
    elif square:
        patch = Rectangle((float(at[0] - r), float(at[1] - r)), 2 * r, 2 * r, **style)
    else:
        patch = Circle(at, 0.85 * r, **style)
    return ax.add_patch(patch)


def quartered_disk(ax: Axes, at: Array, r: float, gid: str) -> Any:
    """The sign of a centre of mass."""
    from matplotlib.patches import Circle, Wedge

    disk = ax.add_patch(Circle(at, r, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=7, gid=gid))
    for start in (0.0, 180.0):
        ax.add_patch(Wedge(at, r, start, start + 90.0, facecolor=INK, linewidth=0.0, zorder=8))
    return disk


def vector(
    ax: Axes,
    start: Array,
    end: Array,
    name: str,
    colour: str,
    r: float,
    patches: tuple[Any, Any],
    *,
    side: float,
    beside: bool,
) -> None:
    """An arrow from ``start`` to ``end`` (2,) with its name on one ``side`` (±1), drawn between the edges of ``patches``.

    ``beside`` shifts it off the line, so that two vectors along one link can both be seen.
    """
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-6 * r:
        return
    across = side * np.array([-along[1], along[0]]) / length
    shift = 0.4 * r * across if beside else np.zeros(2)
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "color": colour,
        "shrinkA": 0,
        "shrinkB": 0,
        "linewidth": 1.4,
        "mutation_scale": 11,
    }
    if length > 2 * r:
        style |= {"patchA": patches[0], "patchB": patches[1]}
    arrow = ax.annotate("", end + shift, start + shift, arrowprops=style, zorder=6)
    arrow.set_gid(f"vector {name}")
    note(ax, start + 0.5 * along + 2.0 * r * across, name, f"name {name}", color=colour)


def note(ax: Axes, at: Array, text: str, gid: str, **style: Any) -> None:
    """A short text centred at a point (2,)."""
    x, y = at
    ax.text(x, y, text, ha="center", va="center", fontsize=10, zorder=9, path_effects=halo(), gid=gid, **style)


def parallel(a: Array, b: Array) -> bool:
    """Whether two vectors (2,) point the same way, to within a few degrees."""
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return scale > 0 and float(a @ b) > 0.99 * scale


def widest_gap(directions: list[Array], r: float) -> Array:
    """The unit vector (2,) in the middle of the widest gap between directions; those shorter than ``r`` do not count."""
    unit = [np.arctan2(d[1], d[0]) for d in directions if np.linalg.norm(d) > min(r, 0.999)]
    if not unit:
        return np.array([-0.7, 0.7])
    angles = np.sort(np.array(unit))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    widest = int(np.argmax(gaps))
    middle = angles[widest] + gaps[widest] / 2
    return np.array([np.cos(middle), np.sin(middle)])
