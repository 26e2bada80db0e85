"""Small solids as shaded polygons: bars, cylinders, boxes, balls. Drawn together, they hide one another rightly.

Every polygon has four corners (two may fall together), for a collection of unequal ones is slow and, in some versions of
matplotlib, scaled wrongly.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.plot.canvas import Colour, rgb, triad_of

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

SIDES = 20
_LIGHT = np.array([0.35, -0.5, 0.79])


def cylinder(start: Vector3, end: Vector3, radius: float) -> list[Array]:
    """Polygons of a cylinder between two points (3,), m."""
    if np.linalg.norm(end - start) < 1e-12:
        return []
    R = triad_of(end - start)
    angle = np.linspace(0.0, 2 * np.pi, SIDES + 1)
    circle = np.cos(angle)[:, None] * R[:, 0] + np.sin(angle)[:, None] * R[:, 1]
    bottom, top = start + radius * circle, end + radius * circle
    wall = [np.array([bottom[k], bottom[k + 1], top[k + 1], top[k]]) for k in range(SIDES)]
    floor = [np.array([start, bottom[k + 1], bottom[k], bottom[k]]) for k in range(SIDES)]
    lid = [np.array([end, top[k], top[k + 1], top[k + 1]]) for k in range(SIDES)]
    return wall + floor + lid


def bar(start: Vector3, end: Vector3, radius: float) -> list[Array]:
    """A cylinder with its wall cut into pieces, so that what is in front of one end and behind the other is drawn so."""
    whole = cylinder(start, end, radius)
    pieces = max(1, min(12, int(np.linalg.norm(end - start) / (4 * radius))))
    steps = np.linspace(0.0, 1.0, pieces + 1)
    wall = [
        np.stack([(1 - t) * a + t * d, (1 - t) * b + t * c, (1 - u) * b + u * c, (1 - u) * a + u * d])
        for a, b, c, d in whole[:SIDES]
        for t, u in pairwise(steps)
    ]
    return wall + whole[SIDES:]


def box(centre: Vector3, axes: Matrix3, half: Vector3) -> list[Array]:
    """A box at ``centre`` (3,) with half edges ``half`` (3,), m, along the columns of ``axes`` (3, 3)."""
    faces = []
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        for side in (-1.0, 1.0):
            corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)][:: int(side)]
            local = np.zeros((4, 3))
            local[:, k], local[:, [i, j]] = side, corners
            faces.append(np.asarray(centre + (local * half) @ axes.T))
    return faces


def ellipsoid(centre: Vector3, axes: Matrix3, sides: int = SIDES) -> list[Array]:
    """An ellipsoid at ``centre`` (3,) with the columns of ``axes`` (3, 3) as semi-axes, m; some may be zero."""
    u = np.linspace(0.0, 2 * np.pi, sides + 1)
    v = np.linspace(0.0, np.pi, sides // 2 + 1)
    ball = np.stack(
        [np.outer(np.cos(u), np.sin(v)), np.outer(np.sin(u), np.sin(v)), np.outer(np.ones_like(u), np.cos(v))], axis=-1
    )
    grid = centre + ball @ axes.T
    return [
        np.array([grid[i, j], grid[i, j + 1], grid[i + 1, j + 1], grid[i + 1, j]])
        for i in range(sides)
        for j in range(sides // 2)
    ]


def spring(start: Vector3, end: Vector3, radius: float, turns: int = 4) -> Array:
    """Points (k, 3), m, of a helix about the line between two points: the symbol of a helical joint."""
    t = np.linspace(0.0, 1.0, 24 * turns)[:, None]
    R = triad_of(end - start)
    angle = 2 * np.pi * turns * t
    return np.asarray(start + t * (end - start) + radius * (np.cos(angle) * R[:, 0] + np.sin(angle) * R[:, 1]))


class Scene:
    """Polygons gathered from all solids of a picture, to be drawn as one collection sorted by depth."""

    def __init__(self) -> None:
        self.polygons: list[Array] = []
        self.colours: list[Array] = []

    def add(self, polygons: list[Array], colour: Colour, alpha: float = 1.0) -> None:
        """Add a solid in one colour; each polygon is lit by how it faces the light."""
        if not polygons:
            return
        corners = np.array(polygons)
        normals = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
        lengths = np.linalg.norm(normals, axis=1)
        facing = np.where(lengths > 0, np.abs(normals @ _LIGHT) / np.where(lengths > 0, lengths, 1.0), 1.0)
        shades = (0.62 + 0.38 * facing)[:, None] * rgb(colour)
        self.polygons += polygons
        self.colours += list(np.concatenate([shades, np.full((len(shades), 1), alpha)], axis=1))

    def draw(self, ax: Axes3D, gid: str, zorder: float = 2.0) -> None:
        """Draw everything into a 3-D Axes."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        if not self.polygons:
            return
        colours = np.array(self.colours)
        edges = colours if np.all(colours[:, 3] == 1.0) else "none"  # edges of their own colour close the seams
        collection = Poly3DCollection(self.polygons, facecolors=colours, edgecolors=edges, linewidths=0.25)
        collection.set_gid(gid)
        collection.set_zorder(zorder)
        ax.add_collection3d(collection)
