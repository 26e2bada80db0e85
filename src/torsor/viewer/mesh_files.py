"""Meshes that robot files name: where they are, within folders that the user has declared, and what is in them.

A robot file may come from anywhere, so its words open nothing outside these folders: neither by `..`, nor by an absolute path,
nor through a symbolic link, nor over the network. What is read is handed to trimesh as bytes, without a way to other files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import ArgumentError, needed, printable
from torsor.model import Robot
from torsor.viewer.shapes import Shape, flat, joined

ENDINGS = ("stl", "obj", "ply", "off", "dae", "glb")
LARGEST = 200 * 2**20  # bytes


class NoMesh(Exception):
    """A mesh cannot be had; the message says why."""


class MeshPart(NamedTuple):
    """Triangles of one colour (3,), from 0 to 1, None if the file gives none."""

    shape: Shape
    colour: tuple[float, ...] | None


def declared_roots(robot: Robot, roots: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    """Folders in which meshes may be: those given, which must exist, and that of the robot's own file."""
    given = [roots] if isinstance(roots, (str, os.PathLike)) else list(roots)
    folders = []
    for root in given:
        folder = Path(os.fsdecode(root))
        if not folder.is_dir():
            raise ArgumentError(f"`mesh_roots` must be folders that exist, got {printable(str(folder))!r}.")
        folders.append(folder.resolve())
    own = None if robot.source is None else Path(robot.source.file)
    if own is not None and own.is_file():
        folders.append(own.parent.resolve())
    return folders


def find_mesh(name: str, roots: Sequence[Path]) -> Path:
    """The file that a robot file calls ``name``, in one of the folders; `NoMesh` if there is none.

    ``package://arm/meshes/link.stl`` is looked for as ``arm/meshes/link.stl`` in each folder, and as ``meshes/link.stl`` in a
    folder that is called ``arm``. Other names are relative to the folders, or absolute and inside one of them.
    """
    kind, separator, rest = name.partition("://")
    if not separator:
        kind, rest = "file", name
    if kind not in ("package", "model", "file"):
        raise NoMesh(f"{kind}:// is not read, only package:// and files")
    rest = unquote(rest) if separator else rest
    if "\0" in rest or not rest:
        raise NoMesh("it is not a path")
    if not roots:
        raise NoMesh("no folder is declared")
    for root in roots:
        candidates = [root / rest]  # an absolute name stands alone
        if kind != "file":
            package, _, inner = rest.partition("/")
            candidates = [root / package / inner, *([root / inner] if root.name == package else [])]
        for path in candidates:
            try:
                real = path.resolve()
                if real.is_file() and real.is_relative_to(root):  # after `..` and links are followed
                    return real
            except (OSError, RuntimeError, ValueError):
                continue
    raise NoMesh("it is not in the declared folders")


def read_mesh(path: Path) -> list[MeshPart]:
    """The triangles of a mesh file, by colour."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in ENDINGS:
        raise NoMesh(f"files of kind .{ending} are not read, only {', '.join(ENDINGS)}")
    trimesh = needed("trimesh", "meshes are read with trimesh: pip install 'torsor[view]'.")
    try:
        if path.stat().st_size > LARGEST:
            raise NoMesh(f"it has more than {LARGEST // 2**20} MB")
        content = path.read_bytes()
        if ending == "dae" and (b"<!DOCTYPE" in content or b"<!ENTITY" in content):
            raise NoMesh("it declares entities, which a mesh has no use for")
        scene = trimesh.load_scene(BytesIO(content), file_type=ending, resolver=None)
        parts = [
            _part(scene.geometry[geometry], np.asarray(pose))
            for pose, geometry in (scene.graph[node] for node in scene.graph.nodes_geometry)
            if hasattr(scene.geometry[geometry], "faces")
        ]
    except NoMesh:
        raise
    except Exception as error:  # whatever a broken file makes of the reader
        raise NoMesh(f"it cannot be read: {type(error).__name__}: {error}") from error
    parts = [part for part in parts if len(part.shape.triangles) and np.all(np.isfinite(part.shape.points))]
    if not parts:
        raise NoMesh("there are no triangles in it")
    by_colour: dict[tuple[float, ...] | None, list[Shape]] = {}
    for part in parts:
        by_colour.setdefault(part.colour, []).append(part.shape)
    return [MeshPart(joined(shapes), colour) for colour, shapes in by_colour.items()]


def _part(mesh: Any, pose: Array) -> MeshPart:
    points = np.asarray(mesh.vertices, float) @ pose[:3, :3].T + pose[:3, 3]
    faces = np.asarray(mesh.faces, int)
    look = getattr(mesh, "visual", None)
    source = getattr(look, "material", look) if getattr(look, "defined", False) else None
    colour = getattr(source, "main_color", None)
    return MeshPart(flat(points, faces), None if colour is None else tuple(float(x) / 255 for x in colour[:3]))
