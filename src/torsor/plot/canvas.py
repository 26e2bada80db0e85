"""Matplotlib, imported when the first picture is drawn: axes, arrows, labels. No global setting is touched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Pose, Vector3
from torsor.errors import ArgumentError, needed, printable
from torsor.plot.palette import AXIS_COLOURS, GREY, INK, LIGHT

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Axes
    from matplotlib.text import Text
    from mpl_toolkits.mplot3d import Axes3D as Axes3D
else:  # type hints can be read where matplotlib is missing
    Axes = Axes3D = Any


def pyplot() -> Any:
    """The module matplotlib.pyplot, or an error that says how to get it."""
    return needed(
        "matplotlib.pyplot", "torsor.plot draws with matplotlib, which is missing: pip install 'torsor[plot]'."
    )


def flat_axes(ax: Axes | None, size: tuple[float, float] = (6.0, 5.0)) -> Axes:
    """The Axes given, or new ones in a figure of ``size`` inches."""
    plt = pyplot()
    if ax is not None:
        return ax
    new: Axes = plt.figure(figsize=size, layout="constrained").add_subplot()
    return new


def space_axes(ax: Axes | None, *, gravity: Vector3, size: tuple[float, float] = (7.0, 6.5)) -> Axes3D:
    """The 3-D Axes given, or new ones looked at so that gravity points down the page."""
    plt = pyplot()
    if ax is not None:
        if ax.name != "3d":
            raise ArgumentError("`ax` must be a 3-D Axes; make it with `figure.add_subplot(projection='3d')`.")
        given: Axes3D = ax
        given.computed_zorder = False  # what is drawn over what is decided here, not by mean depth
        return given
    figure = plt.figure(figsize=size, layout="constrained")
    new: Axes3D = figure.add_subplot(projection="3d", computed_zorder=False)
    gravity = np.asarray(gravity)
    strength = np.linalg.norm(gravity)
    upright = int(np.argmax(np.abs(gravity))) if strength > 0 else 2
    if strength == 0 or abs(gravity[upright]) < 0.9 * strength:
        upright = 2
    new.view_init(elev=20, azim=-58, vertical_axis="xyz"[upright])
    return new


def finish_space(ax: Axes3D, points: Array, pad: float) -> None:
    """Equal scales in all directions, limits that hold ``points`` (k, 3), m, and ``pad`` m around, calm panes."""
    low, high = points.min(axis=0) - pad, points.max(axis=0) + pad
    middle, widths = (low + high) / 2, high - low
    widths = np.maximum(widths, 0.35 * widths.max())
    for axis, name, c, w in zip((ax.xaxis, ax.yaxis, ax.zaxis), "xyz", middle, widths, strict=True):
        axis.set_pane_color((0.965, 0.968, 0.972, 1.0))
        axis.set_tick_params(labelsize=7, labelcolor=GREY, pad=0)
        axis.label.set_size(8)
        axis.get_major_locator().set_params(nbins=5)
        axis.line.set_color(LIGHT)
        getattr(ax, f"set_{name}label")(f"{name} (m)", labelpad=-2)
        getattr(ax, f"set_{name}lim")(c - w / 2, c + w / 2)
    ax.set_box_aspect(widths, zoom=0.88)
    ax.grid(False)


Colour = str | tuple[float, ...]  # a name, or red, green and blue from 0 to 1


def rgb(colour: Colour) -> Array:
    """A colour as three numbers from 0 to 1."""
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(colour))


def halo() -> list[Any]:
    """A white edge around letters, so that they can be read on top of lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.0, foreground="white")]


def label(ax: Axes3D, point: Vector3, text: str, *, offset: tuple[float, float] = (6.0, 4.0), **style: Any) -> Text:
    """Text beside a point of space (3,), m, shifted by ``offset`` printer's points on the page."""
    from matplotlib.transforms import ScaledTranslation

    shift = ScaledTranslation(offset[0] / 72, offset[1] / 72, ax.figure.dpi_scale_trans)
    style = {"fontsize": 8, "color": INK, "zorder": 20, "path_effects": halo(), **style}
    drawn: Text = ax.text(*point, text, transform=ax.transData + shift, **style)
    return drawn


def triad_of(axis: Vector3) -> Matrix3:
    """A rotation (3, 3) whose third column is the direction of ``axis`` (3,)."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(np.eye(3)[np.argmin(np.abs(z))], z)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)


def polyline(ax: Axes3D, points: Array, colour: str, gid: str, **style: Any) -> None:
    """A line through points (k, 3), m, of space."""
    (line,) = ax.plot(*np.asarray(points).T, color=colour, **{"linewidth": 1.0, "zorder": 3, **style})
    line.set_gid(gid)


def arrow(
    ax: Axes3D,
    start: Vector3,
    vector: Vector3,
    colour: str,
    gid: str,
    *,
    head: float,
    heads: int = 1,
    zorder: float = 6.0,
    linewidth: float = 1.6,
) -> None:
    """An arrow in space from ``start`` (3,) along ``vector`` (3,), m, with one or two heads of length ``head``, m.

    Two heads are the sign for turning: an angular velocity or a moment about the arrow, right-handed.
    """
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    length = float(np.linalg.norm(vector))
    if length == 0.0:
        return
    start, vector = np.asarray(start), np.asarray(vector)
    direction, head = vector / length, min(head, 0.45 * length)
    shaft_end = start + vector
    polyline(ax, np.array([start, shaft_end]), colour, gid, linewidth=linewidth, zorder=zorder, solid_capstyle="butt")
    for k in range(heads):
        apex = start + vector - 0.75 * k * head * direction
        cone = Poly3DCollection(_cone(apex, direction, head), color=colour, linewidths=0.0, zorder=zorder)
        cone.set_gid(f"head of {gid}")
        ax.add_collection3d(cone)


def _cone(apex: Vector3, direction: Vector3, head: float) -> list[Array]:
    x, y = triad_of(direction)[:, :2].T
    angle = np.linspace(0.0, 2 * np.pi, 13)[:, None]
    rim = apex - head * direction + 0.32 * head * (np.cos(angle) * x + np.sin(angle) * y)
    floor = apex - head * direction
    return [np.array([rim[k], rim[k + 1], tip]) for k in range(12) for tip in (apex, floor)]


def triad(
    ax: Axes3D,
    pose: Pose,
    length: float,
    gid: str,
    *,
    letters: bool = False,
    colours: tuple[str, ...] = AXIS_COLOURS,
) -> None:
    """The axes of a frame at ``pose`` (4, 4), m: x vermilion, y green, z blue, or as ``colours`` say."""
    for k, (letter, colour) in enumerate(zip("xyz", colours, strict=True)):
        vector = length * pose[:3, k]
        arrow(ax, pose[:3, 3], vector, colour, f"{letter} of {gid}", head=0.3 * length, linewidth=1.2, zorder=5)
        if letters:
            label(ax, pose[:3, 3] + 1.25 * vector, letter, offset=(0, 0), color=colour, ha="center", va="center")


def quartered_disk(ax: Axes, at: Array, r: float, gid: str) -> Any:
    """Draw the sign of a centre of mass at a point (2,) of the page, with radius ``r``."""
    from matplotlib.patches import Circle, Wedge

    disk = ax.add_patch(Circle(at, r, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=7, gid=gid))
    for start in (0.0, 180.0):
        ax.add_patch(Wedge(at, r, start, start + 90.0, facecolor=INK, linewidth=0.0, zorder=8))
    return disk


LONGEST = 32  # letters of a name in a picture


def plain_name(name: str, longest: int = LONGEST) -> str:
    """A name as matplotlib is to draw it, letter for letter: no mathematics, one line, its middle left out if it is long.

    Names come from files: a ``$`` would begin a formula, which may be none, and a line break would push other texts away.
    """
    text = printable(name)
    if len(text) > longest:
        half = (longest - 1) // 2
        text = f"{text[: longest - 1 - half]}…{text[-half:]}"
    return text.replace("$", r"\$")


def legend(ax: Axes, handles: Iterable[Any], **style: Any) -> Any:
    """A plain legend of handles with labels, if there is anything to explain."""
    handles = list(handles)
    if not handles:
        return None
    style = {"fontsize": 8, "frameon": False, "loc": "upper left", **style}
    drawn = ax.legend(handles, [" "] * len(handles), **style)
    # Labels are set afterwards: matplotlib leaves out those that begin with an underscore, as names may.
    for text, handle in zip(drawn.get_texts(), handles, strict=True):
        text.set_text(handle.get_label())
    return drawn


# Labels that keep out of one another's way.


# Where a label may go, in printer's points from its place, and which part of it comes to lie there: 0 its beginning,
# ½ its middle, 1 its end.
_PLACES = [
    (x, y, part)
    for x, y in ((9, 4), (9, -7), (14, 12), (14, -16), (20, 24), (20, -28))
    for x, part in ((x, 0.0), (-x, 1.0))
] + [(0, 13, 0.5), (0, -16, 0.5)]


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def overlap(self, other: _Box) -> float:
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0.0) * max(height, 0.0)


def label_apart(
    ax: Axes3D, texts: Sequence[tuple[Vector3, str]], *, avoid: Array, fontsize: float = 8, **style: Any
) -> None:
    """Label points (3,), m, each where it covers least of the other labels and of the points ``avoid`` (k, 3), m.

    The places suit the present view; turned by hand, labels stay beside their points.
    """
    points = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in on_page(ax, np.asarray(avoid))]
    taken: list[_Box] = []
    for place, text in texts:
        ((x, y),) = on_page(ax, np.asarray(place)[None])
        lines = text.split("\n")
        width, height = 0.62 * fontsize * max(map(len, lines)), 1.15 * fontsize * len(lines)
        boxes = [_box(x + dx, y + dy, width, height, part, below=dy < 0) for dx, dy, part in _PLACES]
        costs = [
            sum(box.overlap(point) for point in points)
            + 3 * sum(box.overlap(other) for other in taken)
            + 2 * float(np.hypot(dx, dy))  # a label far from its point is taken for another's
            for box, (dx, dy, _) in zip(boxes, _PLACES, strict=True)
        ]
        best = int(np.argmin(costs))
        taken.append(boxes[best])
        dx, dy, part = _PLACES[best]
        ha, va = {0.0: "left", 0.5: "center", 1.0: "right"}[part], "top" if dy < 0 else "bottom"
        label(ax, place, text, offset=(dx, dy), fontsize=fontsize, ha=ha, va=va, linespacing=1.0, **style)


def _box(x: float, y: float, width: float, height: float, part: float, *, below: bool) -> _Box:
    left, bottom = x - part * width, y - height if below else y
    return _Box(left, bottom, left + width, bottom + height)


class ArrowLabel(NamedTuple):
    """A text for the end of an arrow from ``start`` (3,) along ``vector`` (3,), m."""

    start: Vector3
    vector: Vector3
    text: str
    style: dict[str, Any]


def label_arrows(ax: Axes3D, labels: Sequence[ArrowLabel], fontsize: float = 10) -> None:
    """Label the ends of arrows, each beyond its head where it covers least of the arrows and of the other labels.

    The places suit the present view; turned by hand, labels stay beside their arrows.
    """
    steps = np.linspace(0.0, 1.0, 12)[:, None]
    along = [on_page(ax, one.start + steps * one.vector) for one in labels]
    points = [_Box(x - 2, y - 2, x + 2, y + 2) for shaft in along for x, y in shaft]
    taken: list[_Box] = []
    for one, shaft in zip(labels, along, strict=True):
        way = shaft[-1] - shaft[0]
        length = float(np.linalg.norm(way))
        onward = way / length if length > 1.0 else np.array([0.7, 0.7])
        letters = len(re.sub(r"\\[a-z]+", "o", one.text).translate(str.maketrans("", "", "${}_\\ ")))
        half = np.array([0.36 * fontsize * max(letters, 1), 0.6 * fontsize])
        best, least = np.zeros(2), np.inf
        for turn in np.radians([0, 25, -25, 50, -50, 80, -80, 115, -115, 150, -150, 180]):
            c, s = np.cos(turn), np.sin(turn)
            for far in (10.0, 15.0, 21.0):
                offset = far * np.array([c * onward[0] - s * onward[1], s * onward[0] + c * onward[1]])
                low, high = shaft[-1] + offset - half, shaft[-1] + offset + half
                box = _Box(low[0], low[1], high[0], high[1])
                cost = sum(box.overlap(point) for point in points) + 4 * sum(box.overlap(other) for other in taken)
                cost += 1.5 * far + 8.0 * abs(turn)  # best is near, and straight ahead
                if cost < least - 1e-9:
                    best, least = offset, cost
        place = shaft[-1] + best
        taken.append(_Box(*(place - half), *(place + half)))
        style = {"fontsize": fontsize, "ha": "center", "va": "center", **one.style}
        label(ax, one.start + one.vector, one.text, offset=(float(best[0]), float(best[1])), **style)


def on_page(ax: Axes3D, points: Array) -> Array:
    """Where points (k, 3) of space are on the page, (k, 2), printer's points."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*points.T, ax.get_proj())
    pixels = ax.transData.transform(np.stack([np.asarray(x), np.asarray(y)], axis=1))
    return np.asarray(pixels * 72 / ax.figure.dpi)
