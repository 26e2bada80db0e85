"""A stage as one page that plays by itself: the player of this package, and the scene as data. It loads nothing."""

from __future__ import annotations

import json
from base64 import b64encode
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.lie.unchecked import quaternion
from torsor.viewer.parts import Part
from torsor.viewer.picture import HALF_ANGLE, camera_for, grid_cell
from torsor.viewer.shapes import Shape
from torsor.viewer.stage import Stage


def written_page(stage: Stage) -> str:
    """The page, as HTML text."""
    here = files("torsor.viewer")
    page = here.joinpath("player.html").read_text(encoding="utf-8")
    pieces = {
        "title": escape(stage.name, quote=True),
        "scene": in_script(scene_data(stage)),
        "player": here.joinpath("player.js").read_text(encoding="utf-8"),
    }
    # Piece by piece: a robot whose name is "{{player}}" gets nothing in its place
    before, *rest = page.split("{{")
    for part in rest:
        name, _, after = part.partition("}}")
        before += pieces[name] + after
    return before


def in_script(data: Any) -> str:
    """JSON text that cannot end the script that it stands in, whatever strings are in it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)  # without letters beyond ASCII
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def scene_data(stage: Stage) -> dict[str, Any]:
    """What the player draws, as plain data; numbers in bulk as base64 of little-endian bytes."""
    times = stage.page_times()
    shapes: dict[tuple[int, str] | str, int] = {}
    meshes: list[dict[str, str]] = []
    parts: list[list[Any]] = []
    tracks, scales, scaled, count = [], [], [], 0
    for k, figure in stage.everyone():
        poses, sizes = stage.placed_over(k, figure, times, dict.fromkeys(stage.shown, True))
        used = sorted({part.body for part in figure.parts})
        tracks.append(poses[:, used])
        changing = [place for place, body in enumerate(used) if np.any(sizes[:, body] != 1.0)]
        scales.append(sizes[:, [used[place] for place in changing]])
        scaled += [count + place for place in changing]
        for part in figure.parts:
            # Meshes are the figure's own; unit shapes are everyone's
            key = (k, part.shape) if part.shape.startswith("mesh") else part.shape
            if key not in shapes:
                shapes[key] = len(meshes)
                meshes.append(_shape_data(figure.shapes[part.shape]))
            parts.append(_part_data(part, count + used.index(part.body), shapes[key]))
        count += len(used)
    view = stage.view()
    camera = camera_for(view, (1400, 1000))
    light = stage.ground_axes @ np.array([0.35, -0.45, 0.82])
    return {
        "layers": stage.shown,
        "bodies": count,
        "times": _base64(times, "<f4"),
        "tracks": _base64(_continuous(_positions_and_quaternions(np.concatenate(tracks, axis=1))), "<f4"),
        "scaled": scaled,
        "scales": _base64(np.concatenate(scales, axis=1), "<f4"),
        "shapes": meshes,
        "parts": parts,
        "centre": _rounded(view.centre),
        "radius": view.radius,
        "distance": 1.2 * float(np.linalg.norm(camera.eye - view.centre)),  # room for the controls
        "ground": view.ground,
        "axes": [_rounded(axis) for axis in stage.ground_axes.T],
        "seen_from": _rounded(view.seen_from),
        "light": _rounded(light / np.linalg.norm(light)),
        "cell": grid_cell(view.radius),
        "half_angle": float(HALF_ANGLE),
    }


def _rounded(numbers: Array) -> list[float]:
    return [float(f"{x:.7g}") for x in np.ravel(numbers)]


def _base64(numbers: Array, kind: str) -> str:
    return b64encode(np.ascontiguousarray(numbers, dtype=kind).tobytes()).decode("ascii")


def _shape_data(shape: Shape) -> dict[str, str]:
    normals = np.zeros((len(shape.normals), 4))
    normals[:, :3] = np.round(127 * shape.normals)
    return {
        "points": _base64(shape.points, "<f4"),
        "normals": _base64(normals, "i1"),
        "triangles": _base64(shape.triangles, "<u4"),
    }


def _part_data(part: Part, body: int, shape: int) -> list[Any]:
    pose = _positions_and_quaternions(part.pose)
    colour = [*_rounded(np.array(part.colour)), part.opacity]
    return [body, shape, _rounded(pose), _rounded(part.scale), colour, part.layer]


def _positions_and_quaternions(poses: Array) -> Array:
    """Poses (..., 4, 4) as (..., 7): x, y, z and a quaternion (x, y, z, w)."""
    return np.concatenate([poses[..., :3, 3], quaternion.from_rotation(poses[..., :3, :3])], axis=-1)


def _continuous(tracks: Array) -> Array:
    """Tracks (N, bodies, 7) whose quaternions do not jump to their opposites, for between two of them is a mean."""
    quaternions = tracks[..., 3:]
    flips = np.sum(quaternions[1:] * quaternions[:-1], axis=-1) < 0
    signs = np.cumprod(np.where(flips, -1.0, 1.0), axis=0)
    quaternions[1:] *= signs[..., None]
    return tracks
