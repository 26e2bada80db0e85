"""The few shapes that a scene is made of, as triangles with normals, of unit size: parts scale them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Vector3
from torsor.plot.canvas import triad_of

SIDES = 24


class Shape(NamedTuple):
    """Corners (k, 3), m, their outward normals (k, 3), and triangles (m, 3) of corners, seen counter-clockwise from outside."""

    points: Array
    normals: Array
    triangles: Array


def joined(shapes: Iterable[Shape]) -> Shape:
    """Several shapes as one."""
    points, normals, triangles, count = [], [], [], 0
    for shape in shapes:
        points.append(shape.points)
        normals.append(shape.normals)
        triangles.append(shape.triangles + count)
        count += len(shape.points)
    return Shape(np.concatenate(points), np.concatenate(normals), np.concatenate(triangles))


def moved(shape: Shape, pose: Array, scale: Vector3) -> Shape:
    """The shape, scaled along its own axes by ``scale`` (3,), then at ``pose`` (4, 4); a mirrored one stays right side out."""
    points = (shape.points * scale) @ pose[:3, :3].T + pose[:3, 3]
    normals = (shape.normals / np.where(np.abs(scale) > 1e-12, scale, 1e-12)) @ pose[:3, :3].T
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    mirrored = np.prod(np.sign(scale)) < 0
    triangles = shape.triangles[:, ::-1] if mirrored else shape.triangles
    return Shape(points, normals / np.where(length > 0, length, 1.0), triangles)


def flat(points: Array, triangles: Array) -> Shape:
    """A shape whose every triangle has corners of its own, so that its edges are seen: meshes of files."""
    corners = points[triangles].reshape(-1, 3)
    a, b, c = corners[0::3], corners[1::3], corners[2::3]
    normals = np.cross(b - a, c - a)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0, length, 1.0)
    return Shape(corners, np.repeat(normals, 3, axis=0), np.arange(len(corners)).reshape(-1, 3))


def _surface(points: Array, normals: Array) -> Shape:
    """A grid of points (a, b, 3) as triangles."""
    rows, columns = points.shape[:2]
    corner = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return Shape(points.reshape(-1, 3), normals.reshape(-1, 3), triangles)


def _circle(sides: int = SIDES) -> Array:
    angle = np.linspace(0.0, 2 * np.pi, sides + 1)
    return np.stack([np.cos(angle), np.sin(angle), np.zeros(sides + 1)], axis=-1)


def _disc(height: float, radius: float, *, up: bool) -> Shape:
    circle = _circle() * radius + [0.0, 0.0, height]
    points = np.concatenate([[[0.0, 0.0, height]], circle])
    k = np.arange(1, len(circle))
    triangles = np.stack([np.zeros_like(k), k, k + 1] if up else [np.zeros_like(k), k + 1, k], axis=-1)
    normals = np.tile([0.0, 0.0, 1.0 if up else -1.0], (len(points), 1))
    return Shape(points, normals, triangles)


def _wall(low: float, high: float, bottom: float, top: float) -> Shape:
    """The side of a cone: radius ``bottom`` at height ``low``, ``top`` at ``high``."""
    circle = _circle()
    points = np.stack([circle * bottom + [0, 0, low], circle * top + [0, 0, high]], axis=1)
    outward = circle * (high - low) + [0, 0, bottom - top]
    outward /= np.linalg.norm(outward, axis=-1, keepdims=True)
    return _surface(points, np.stack([outward, outward], axis=1))


def _box() -> Shape:
    corners: list[Array] = []
    normals: list[Array] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in (-0.5, 0.5):
            u, v = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            if side < 0:
                u, v = v, u
            centre = 2 * side * np.eye(3)[axis]
            k = len(corners)
            corners += [0.5 * (centre + x * u + y * v) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            normals += [centre] * 4
            triangles += [(k, k + 1, k + 2), (k, k + 2, k + 3)]
    return Shape(np.array(corners), np.array(normals), np.array(triangles))


def _sphere() -> Shape:
    height = np.linspace(0.0, np.pi, SIDES // 2 + 1)[:, None, None]
    up = np.array([0.0, 0.0, 1.0])
    points = np.sin(height) * _circle()[None] + np.cos(height) * up
    return _surface(points, points)


def _cylinder() -> Shape:
    return joined([_wall(-0.5, 0.5, 1.0, 1.0), _disc(0.5, 1.0, up=True), _disc(-0.5, 1.0, up=False)])


def _arrow() -> Shape:
    """From the origin to (0, 0, 1); radius 1 at the head, to be scaled to what is wanted."""
    shaft = [_wall(0.0, 0.78, 0.45, 0.45), _disc(0.0, 0.45, up=False)]
    return joined([*shaft, _wall(0.78, 1.0, 1.0, 0.0), _disc(0.78, 1.0, up=False)])


def _cone(at: Vector3, direction: Vector3, radius: float) -> Shape:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = triad_of(direction), at
    return moved(
        joined([_wall(0.0, 1.0, 1.0, 0.0), _disc(0.0, 1.0, up=False)]), pose, np.array([radius, radius, 2.2 * radius])
    )


def _tube(curve: Array, radius: float, sides: int = 8) -> Shape:
    """A tube around a curve (k, 3) that turns about z."""
    along = np.gradient(curve, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    outward = curve * [1.0, 1.0, 0.0]
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    outward -= np.sum(outward * along, axis=1, keepdims=True) * along
    outward /= np.linalg.norm(outward, axis=1, keepdims=True)
    across = np.cross(along, outward)
    angle = np.linspace(0.0, 2 * np.pi, sides + 1)
    normals = np.cos(angle)[None, :, None] * outward[:, None] + np.sin(angle)[None, :, None] * across[:, None]
    return _surface((curve[:, None] + radius * normals)[:, ::-1], normals[:, ::-1])


def _turn() -> Shape:
    """An arrow that turns about z, radius 1: which way a joint turns."""
    angle = np.linspace(0.0, 1.6 * np.pi, 30)
    curve = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=-1)
    return joined([_tube(curve, 0.07), _cone(curve[-1], curve[-1] - curve[-2], 0.2)])


def _coil() -> Shape:
    """A thread about z, radius 1, from −1 to 1: a helical joint."""
    angle = np.linspace(0.0, 6 * np.pi, 80)
    curve = np.stack([np.cos(angle), np.sin(angle), np.linspace(-1.0, 1.0, 80)], axis=-1)
    return _tube(curve, 0.07)


_MAKERS: dict[str, Callable[[], Shape]] = {
    "box": _box,  # edges 1
    "cylinder": _cylinder,  # radius 1, length 1, along z
    "sphere": _sphere,  # radius 1
    "arrow": _arrow,
    "turn": _turn,
    "coil": _coil,
}


@cache
def unit_shape(name: str) -> Shape:
    """The shape of that name, of unit size, around the origin."""
    return _MAKERS[name]()
