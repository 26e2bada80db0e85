"""Labels that keep out of one another's way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.plot.canvas import label

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

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
    points = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in _on_page(ax, np.asarray(avoid))]
    taken: list[_Box] = []
    for place, text in texts:
        ((x, y),) = _on_page(ax, np.asarray(place)[None])
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


def label_along(ax: Axes3D, start: Vector3, vector: Vector3, text: str, **style: Any) -> None:
    """Label the end of an arrow from ``start`` (3,) along ``vector`` (3,), m, beyond its head as seen on the page."""
    a, b = _on_page(ax, np.stack([start, start + vector]))
    length = float(np.linalg.norm(b - a))
    onward = (b - a) / length if length > 1.0 else np.array([0.7, 0.7])
    label(ax, start + vector, text, offset=tuple(10.0 * onward), ha="center", va="center", **style)


def _on_page(ax: Axes3D, points: Array) -> Array:
    """Where points (k, 3) of space are on the page, (k, 2), printer's points."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*points.T, ax.get_proj())
    pixels = ax.transData.transform(np.stack([np.asarray(x), np.asarray(y)], axis=1))
    return np.asarray(pixels * 72 / ax.figure.dpi)
