"""Colours and line styles of all pictures: people with any colour vision can tell them apart, and no two lines look alike."""

from __future__ import annotations

from typing import Any

# Okabe and Ito's colours. Under every kind of colour blindness any two are at least 16 apart in CIELAB, where 2 can be seen.
BLUE, ORANGE, GREEN, PURPLE = "#0072B2", "#E69F00", "#009E73", "#CC79A7"
VERMILION, SKY, YELLOW = "#D55E00", "#56B4E9", "#F0E442"
INK, GREY, LIGHT = "#222222", "#8C8C8C", "#C9CDD2"
KIND_COLOURS = {
    "revolute": BLUE,
    "prismatic": ORANGE,
    "helical": PURPLE,
    "planar": SKY,
    "spherical": GREEN,
    "free": YELLOW,
}
AXIS_COLOURS = (VERMILION, GREEN, BLUE)  # x, y, z of a frame

LINE_COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK)  # yellow is too light for a line on white
DASHES: tuple[Any, ...] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (8, 2)),
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (2, 2)),
    (0, (8, 2, 2, 2, 2, 2)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
MOST_LINES = len(LINE_COLOURS) * len(DASHES)  # after so many, looks repeat


def line_look(k: int) -> dict[str, Any]:
    """Colour and dashes of line number ``k`` from 0, as keywords for matplotlib: all colours in turn, then with other dashes."""
    round_ = k // len(LINE_COLOURS)
    return {"color": LINE_COLOURS[k % len(LINE_COLOURS)], "linestyle": DASHES[round_ % len(DASHES)]}
