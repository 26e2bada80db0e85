"""A stage as a picture, drawn without a browser: the same parts as on the page, with light, shadow and a grid on the ground."""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Vector3
from torsor.errors import ArgumentError
from torsor.viewer.raster import Pixels, covered, visible
from torsor.viewer.scene import Figure
from torsor.viewer.shapes import moved
from torsor.viewer.stage import Stage, View

HALF_ANGLE = np.deg2rad(16.0)  # of what the camera sees
SKY_COLOUR, GROUND_COLOUR = np.array([0.975, 0.98, 0.985]), np.array([0.925, 0.935, 0.945])
LINE, STRONG_LINE = np.array([0.80, 0.82, 0.84]), np.array([0.66, 0.69, 0.72])
SHADOW = 0.86
LARGEST = 8192  # pixels


class Camera(NamedTuple):
    """An eye (3,) and axes as rows: right, down, into the picture; ``focal`` in pixels; depth from ``near`` to ``far``, m."""

    eye: Vector3
    axes: Matrix3
    focal: float
    size: tuple[int, int]
    near: float
    far: float

    def project(self, points: Array) -> Array:
        """Points (..., 3) as x and y in pixels, and depth from 0 to 1."""
        seen = (points - self.eye) @ self.axes.T
        z = np.maximum(seen[..., 2], 0.2 * self.near)
        x = self.focal * seen[..., 0] / z + 0.5 * self.size[0]
        y = self.focal * seen[..., 1] / z + 0.5 * self.size[1]
        return np.stack([x, y, self.far / (self.far - self.near) * (1.0 - self.near / z)], axis=-1)


def camera_for(view: View, size: tuple[int, int], seen_from: Vector3 | None = None) -> Camera:
    """A camera that sees the ball of a view."""
    into = -np.asarray(view.seen_from if seen_from is None else seen_from, float)
    if into.shape != (3,) or not np.all(np.isfinite(into)) or not np.any(into):
        raise ArgumentError("`seen_from` must be a direction of three numbers, such as (1, -1, 0.5).")
    into = into / np.linalg.norm(into)
    right = np.cross(into, view.up)
    if np.linalg.norm(right) < 1e-6:  # straight from above
        right = np.cross(into, np.roll(view.up, 1))
    right = right / np.linalg.norm(right)
    axes = np.stack([right, np.cross(into, right), into])
    focal = 0.5 * min(size) / np.tan(HALF_ANGLE)
    seen = (view.points - view.centre) @ axes.T
    needed = (
        2 * focal * np.abs(seen[:, :2]) / size - seen[:, 2:]
    )  # how far the eye must be for each point to be in the picture
    distance = max(1.08 * float(needed.max()), 1.05 * view.radius)
    return Camera(view.centre - distance * into, axes, focal, size, 0.02 * distance, distance + 3 * view.radius)


class _Mesh(NamedTuple):
    """All corners of a figure that are drawn in one way: on which body, and their colours."""

    points: Array
    normals: Array
    body: Array
    triangles: Array
    colours: Array
    closed: Array  # whether a triangle is part of a closed shape, whose back is never seen


class Painter:
    """Pictures of a stage through one camera: ``size`` (width, height) in pixels, ``fine`` samples a side for each of them."""

    def __init__(
        self, stage: Stage, size: tuple[int, int] = (960, 720), *, seen_from: Vector3 | None = None, fine: int = 2
    ) -> None:
        width, height = _checked_size(size)
        self.stage, self.size, self.fine = stage, (width, height), fine
        self.view = stage.view()
        self.camera = camera_for(self.view, (width * fine, height * fine), seen_from)
        light = stage.ground_axes @ np.array([0.35, -0.45, 0.82])
        self.light = light / np.linalg.norm(light)
        self._meshes: dict[tuple[int, tuple[str, ...]], _Mesh | None] = {}
        self._ground_colours = self._ground()

    def paint(self, placed: list[tuple[Figure, Array, Array]] | None = None) -> Array:
        """The picture (height, width, 3), numbers to 255: of figures with poses and scales, or of the stage as it is now."""
        if placed is None:
            placed = [(figure, *self.stage.placed(k, figure)) for k, figure in self.stage.everyone()]
        on = tuple(layer for layer, shown in self.stage.shown.items() if shown)
        solid: list[tuple[float, Array, Array, Array]] = []
        veils: list[tuple[float, Array, Array, Array]] = []
        for figure, poses, scales in placed:
            for opacity in sorted({part.opacity for part in figure.parts if part.layer in on}, reverse=True):
                mesh = self._mesh(figure, on, opacity)
                if mesh is not None:
                    (solid if opacity >= 1.0 else veils).append((opacity, *self._lit(mesh, poses, scales)))
        image, depth = self._ground_colours.copy(), None
        if solid:
            triangles = np.concatenate([points[front] for _, points, _, front in solid])
            colours = np.concatenate([shades[front] for _, _, shades, front in solid])
            self._shade_ground(image, triangles)
            corners = self.camera.project(triangles)
            seen = visible(corners, self.camera.size)
            image[seen.place] = _mixed(colours, seen)
            depth = np.ones(len(image))
            depth[seen.place] = np.sum(seen.weights * corners[seen.triangle, :, 2], axis=-1)
        for opacity, points, colours, front in veils:
            seen = visible(self.camera.project(points[front]), self.camera.size, depth)
            image[seen.place] += opacity * (_mixed(colours[front], seen) - image[seen.place])
        width, height, fine = *self.size, self.fine
        blocks = image.reshape(height, fine, width, fine, 3)
        rows = sum(blocks[:, k] for k in range(fine))  # slices add up faster than `mean` does
        mean = sum(rows[:, :, k] for k in range(fine)) * np.float32(255 / fine**2)
        return (np.clip(mean, 0.0, 255.0) + 0.5).astype(np.uint8)

    def _mesh(self, figure: Figure, on: tuple[str, ...], opacity: float) -> _Mesh | None:
        key = (id(figure), (*on, str(opacity)))
        if key not in self._meshes:
            parts = [part for part in figure.parts if part.layer in on and part.opacity == opacity]
            shapes = [moved(figure.shapes[part.shape], part.pose, part.scale) for part in parts]
            counts = [len(shape.points) for shape in shapes]
            starts = np.cumsum([0, *counts])
            self._meshes[key] = (
                _Mesh(
                    np.concatenate([shape.points for shape in shapes]),
                    np.concatenate([shape.normals for shape in shapes]),
                    np.repeat([part.body for part in parts], counts),
                    np.concatenate([shape.triangles + start for shape, start in zip(shapes, starts[:-1], strict=True)]),
                    np.repeat([part.colour for part in parts], counts, axis=0),
                    np.repeat(
                        [not part.shape.startswith("mesh") for part in parts], [len(s.triangles) for s in shapes]
                    ),
                )
                if parts
                else None
            )
        return self._meshes[key]

    def _lit(self, mesh: _Mesh, poses: Array, scales: Array) -> tuple[Array, Array, Array]:
        """Corners (k, 3) in space with their colours in the light (k, 3), and triangles (m, 3) that face the camera."""
        R, s = poses[mesh.body, :3, :3], scales[mesh.body]
        points = np.einsum("kij,kj->ki", R, mesh.points * s) + poses[mesh.body, :3, 3]
        normals = np.einsum("kij,kj->ki", R, mesh.normals / s)
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        to_eye = self.camera.eye - points
        normals *= np.where(np.sum(normals * to_eye, axis=1, keepdims=True) < 0, -1.0, 1.0)
        bright = 0.50 + 0.14 * (normals @ self.view.up) + 0.46 * np.maximum(normals @ self.light, 0.0)
        a, b, c = (points[mesh.triangles[:, k]] for k in range(3))
        facing = np.sum(np.cross(b - a, c - a) * (self.camera.eye - a), axis=1) > 0
        return points, mesh.colours * bright[:, None], mesh.triangles[facing | ~mesh.closed]

    def _ground(self) -> Array:
        """Colours (samples, 3) of sky and ground, with a grid of a round length; one for each pixel, as its lines are smooth."""
        camera, (width, height), fine = self.camera, self.size, self.fine
        x, y = np.meshgrid(np.arange(width) + 0.5 - width / 2, np.arange(height) + 0.5 - height / 2)
        focal = camera.focal / fine
        rays = np.stack([x.ravel() / focal, y.ravel() / focal, np.ones(x.size)], axis=-1) @ camera.axes
        rise = rays @ self.view.up
        above = float(camera.eye @ self.view.up) - self.view.ground
        hits = rise * above < -1e-6
        far = np.where(hits, -above / np.where(hits, rise, -1.0), np.inf)
        colours = np.tile(SKY_COLOUR, (len(rise), 1))
        place = camera.eye + rays[hits] * far[hits, None]
        along = place @ self.stage.ground_axes[:, :2]
        away = np.linalg.norm(place - self.view.centre, axis=1) / self.view.radius
        clear = np.clip(1.0 - (away - 1.2) / 3.0, 0.0, 1.0)[:, None] ** 1.5
        cell = grid_cell(self.view.radius)
        pixel = far[hits] / focal * (1.0 + 0.7 / np.maximum(np.abs(rise[hits]), 0.05))  # how wide a pixel is there
        ground = np.tile(GROUND_COLOUR, (len(place), 1))
        for step, colour, thick in ((cell, LINE, 0.7), (5 * cell, STRONG_LINE, 0.9)):
            off = np.abs(along / step - np.round(along / step)).min(axis=1) * step
            ground += (colour - ground) * np.clip(thick + 0.5 - off / pixel, 0.0, 1.0)[:, None]
        colours[hits] += (ground - SKY_COLOUR) * clear
        image = colours.astype(np.float32).reshape(height, width, 3)
        return image.repeat(fine, axis=0).repeat(fine, axis=1).reshape(-1, 3)

    def _shade_ground(self, image: Array, points: Array) -> None:
        """Darken the shadow of triangles (m, 3, 3): where they fall along the light on the ground."""
        height = points @ self.view.up - self.view.ground
        if float(self.camera.eye @ self.view.up) <= self.view.ground:
            return
        fallen = points - self.light * (np.maximum(height, 0.0) / (self.light @ self.view.up))[..., None]
        image[covered(self.camera.project(fallen), self.camera.size)] *= SHADOW


def _mixed(colours: Array, seen: Pixels) -> Array:
    return np.einsum("ki,kij->kj", seen.weights, colours[seen.triangle])


def grid_cell(radius: float) -> float:
    """Edge of a cell of the ground's grid, m: a power of ten, so that some ten of them lie across the robots."""
    return float(10.0 ** np.round(np.log10(radius / 5.0)))


def _checked_size(size: tuple[int, int]) -> tuple[int, int]:
    numbers = tuple(size) if isinstance(size, (tuple, list)) else ()
    if len(numbers) != 2 or not all(isinstance(n, (int, np.integer)) and 1 <= n <= LARGEST for n in numbers):
        raise ArgumentError(f"`size` must be a width and a height in pixels, from 1 to {LARGEST}, got {size!r:.60}.")
    return int(numbers[0]), int(numbers[1])


def png(image: Array) -> bytes:
    """A picture (height, width, 3), numbers to 255, as the bytes of a PNG file."""
    height, width = image.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with the number of its filter, none
    rows[:, 1:] = image.reshape(height, -1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(rows.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
