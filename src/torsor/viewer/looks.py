"""How a robot looks: the shapes of its file, and bars, joints and boxes of inertia for links of which a file says nothing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from torsor.arrays.typing import Vector3
from torsor.errors import printable
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.model.visuals import Visual, solid_parts
from torsor.plot.canvas import triad_of
from torsor.plot.palette import GREY, KIND_COLOURS
from torsor.plot.skeleton import FLOATING, Skeleton
from torsor.viewer.mesh_files import MeshPart, NoMesh, find_mesh, read_mesh
from torsor.viewer.parts import Part, ball, on_link, principal, rgb, segment
from torsor.viewer.shapes import Shape

SHELL, JOINTED = "#D5D9DE", "#4A5562"  # links and joints of robots whose files say nothing


class Meshes:
    """Meshes by name, each read once; those that cannot be had are named, with the reason."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self.roots = roots
        self.shapes: dict[str, Shape] = {}
        self.missing: list[str] = []
        self._known: dict[str, list[tuple[str, tuple[float, ...] | None]]] = {}

    def named(self, file: str) -> list[tuple[str, tuple[float, ...] | None]]:
        """Names of shapes, and the colours of the file."""
        if file not in self._known:
            try:
                found: list[MeshPart] = read_mesh(find_mesh(file, self.roots))
            except (NoMesh, ImportError) as reason:
                self.missing.append(printable(f"{file[:200]!r}: {reason!s:.200}"))
                found = []
            names = [f"mesh {len(self._known)}.{k}" for k in range(len(found))]
            self.shapes |= {name: part.shape for name, part in zip(names, found, strict=True)}
            self._known[file] = [(name, part.colour) for name, part in zip(names, found, strict=True)]
        return self._known[file]


def visual_parts(robot: Robot, visual: Visual, layer: str, meshes: Meshes) -> list[Part]:
    """The parts of a shape of the robot's file."""
    body, at = on_link(robot, visual.link)
    colour = visual.colour
    shown, opacity = (rgb(SHELL), 1.0) if colour is None else (colour[:3], float(np.clip(colour[3], 0.05, 1.0)))
    if not visual.is_bounded:
        return []
    if visual.kind == "mesh":
        pose, scale = at @ visual.pose, np.array(visual.size)
        return [
            Part(body, name, pose, scale, shown if colour is not None or own is None else own, opacity, layer)
            for name, own in meshes.named(visual.file)
        ]
    parts = []
    for solid in solid_parts(visual) if visual.is_solid else ():
        size = np.array(solid.size)
        shape = "sphere" if solid.kind == "ellipsoid" else solid.kind
        scale = size[[0, 0, 1]] if shape == "cylinder" else size * np.ones(3)
        parts.append(Part(body, shape, at @ solid.pose, scale, shown, opacity, layer))
    return parts


def plain_links(robot: Robot, skeleton: Skeleton, layer: str, dressed: set[int]) -> list[Part]:
    """Links without a look: bars from joint to joint, and boxes of their inertias."""
    r, parts = skeleton.symbol, []
    for body in range(robot.n + 1):
        if body in dressed:
            continue
        T = np.eye(4) if body == 0 else skeleton.poses[body - 1]
        for ends in skeleton.bars(body - 1):
            a, b = (T[:3, :3].T @ (point - T[:3, 3]) for point in ends)
            if np.linalg.norm(b - a) > 1e-6 * skeleton.extent:
                colour = SHELL if body else GREY
                parts += [segment(body, a, b, 0.55 * r, colour, layer), ball(body, b, 0.55 * r, colour, layer)]
        if body:
            at = T[:3, :3].T @ (skeleton.joints[body - 1].far - T[:3, 3])
            parts += [_joint(skeleton, body, at, r, layer), *_rail(robot, skeleton, body, layer)]
        elif any(joint.kind not in FLOATING for joint in skeleton.joints):
            base = np.eye(4)
            base[:3, :3] = triad_of(-robot.gravity) if np.any(robot.gravity) else np.eye(3)
            parts.append(Part(0, "cylinder", base, np.array([1.7 * r, 1.7 * r, 0.5 * r]), rgb(JOINTED), 1.0, layer))
    return parts + _inertia_boxes(robot, skeleton, layer, dressed)


def _inertia_boxes(robot: Robot, skeleton: Skeleton, layer: str, dressed: set[int]) -> list[Part]:
    """Boxes of uniform density with the masses and inertias of links: edges √(12 J_kk / m), of second moments J.

    A box much longer than the whole arm tells of inertias that no such links have, as identification gives them. Boxes would
    then hide the robot, and none is drawn; the switch "inertia" shows them.
    """
    bars = [float(np.linalg.norm(b - a)) for link in range(-1, robot.n) for a, b in skeleton.bars(link)]
    parts = []
    for link in range(robot.n):
        semi_axes, pose = principal(robot, link)
        edges = 2 * np.sqrt(0.6) * semi_axes  # those of the ellipsoid are √(5 J_kk / m)
        if bars and edges.max() > 1.5 * max(bars):
            return []
        if link + 1 not in dressed and np.any(edges > 0):
            thick = np.maximum(edges, 0.02 * edges.max())
            parts.append(Part(link + 1, "box", pose, thick, rgb(SHELL), 0.5, layer))
    return parts


def _joint(skeleton: Skeleton, body: int, at: Vector3, r: float, layer: str) -> Part:
    """The symbol of a joint: a cylinder about its axis, a box that slides, a ball, a plate."""
    joint = skeleton.joints[body - 1]
    pose = np.eye(4)
    pose[:3, 3] = at
    if joint.axis is not None:
        pose[:3, :3] = triad_of(skeleton.poses[body - 1, :3, :3].T @ joint.axis)
    shape, scale = {
        "prismatic": ("box", (1.6, 1.6, 2.6)),
        "planar": ("box", (3.2, 3.2, 0.3)),
        "spherical": ("sphere", (1.1, 1.1, 1.1)),
        "free": ("box", (1.2, 1.2, 1.2)),
    }.get(joint.kind, ("cylinder", (0.95, 0.95, 2.5)))
    return Part(body, shape, pose, r * np.array(scale), rgb(KIND_COLOURS[joint.kind]), 1.0, layer)


def _rail(robot: Robot, skeleton: Skeleton, body: int, layer: str) -> list[Part]:
    """What a prismatic joint slides on, fixed to its parent: from limit to limit, or as far as the robot is large."""
    joint, parent = skeleton.joints[body - 1], robot.structure.parents[body - 1]
    if joint.kind != "prismatic" or joint.axis is None:
        return []
    T = np.eye(4) if parent < 0 else skeleton.poses[parent]
    at, axis = T[:3, :3].T @ (joint.near - T[:3, 3]), T[:3, :3].T @ joint.axis
    place = robot.structure.coordinate_of(body - 1).q_start
    half = skeleton.extent
    low, high = (
        float(np.clip(limit[place], -2 * half, 2 * half)) for limit in (robot.limits.lower, robot.limits.upper)
    )
    if max(-robot.limits.lower[place], robot.limits.upper[place]) > HUGE:
        low, high = -half, half
    return [segment(parent + 1, at + low * axis, at + high * axis, 0.3 * skeleton.symbol, GREY, layer)]
