"""What is seen of a robot: parts fixed to bodies (its base, its links, and markers), and where the bodies are.

The live page, the written page and the pictures draw the same parts. A part belongs to a layer, which is shown or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array, Matrix3, Pose, Vector3
from torsor.errors import printable
from torsor.functions.public.kinematics import link_poses, mixed_jacobian
from torsor.model import Robot
from torsor.model.joint_kinds import HUGE
from torsor.model.visuals import Visual, solid_parts
from torsor.plot.canvas import AXIS_COLOURS, GREY, INK, KIND_COLOURS, ORANGE, PURPLE, SKY, VERMILION, triad_of
from torsor.plot.ellipsoids import equivalent_ellipsoid
from torsor.plot.skeleton import FLOATING, Skeleton, skeleton_of, tip_frame
from torsor.viewer.mesh_files import MeshPart, NoMesh, find_mesh, read_mesh
from torsor.viewer.shapes import Shape, unit_shape

BODY, GHOST = "robot", "ghost"
LAYERS = {  # what switches are called, and whether they are on at first
    BODY: True,
    GHOST: True,
    "frames": False,
    "joint axes": False,
    "centre of mass": False,
    "inertia": False,
    "manipulability": False,
    "wrenches": True,
}
SHELL, JOINTED = "#D5D9DE", "#4A5562"  # links and joints of robots whose files say nothing
SECONDS = 0.25  # a manipulability ellipsoid shows how far its frame gets in this time, joints at 1 rad/s or 1 m/s


class Part(NamedTuple):
    """A shape on a body: its name in the scene, pose (4, 4) and scale (3,) there, colour (3,) from 0 to 1, and layer."""

    body: int
    shape: str
    pose: Pose
    scale: Vector3
    colour: tuple[float, ...]
    opacity: float
    layer: str


@dataclass(eq=False)
class Figure:
    """One robot of a scene.

    Bodies are numbered: 0 is the base, then the links, then markers: the centre of mass, the manipulability ellipsoid, and two
    arrows (force and torque) for each frame that a wrench may act on.
    """

    robot: Robot
    parts: list[Part]
    shapes: dict[str, Shape]
    tip: str
    pushed: tuple[str, ...]
    size: float
    ghost: bool = False
    offset: Vector3 = field(default_factory=lambda: np.zeros(3))
    newtons: float = 1.0  # of the largest force or torque that is to be shown
    missing: tuple[str, ...] = ()

    @property
    def n_bodies(self) -> int:
        """How many bodies there are, markers included."""
        return self.robot.n + 3 + 2 * len(self.pushed)

    def placed(
        self, q: Array, wrenches: Mapping[str, Array] | None = None, shown: Mapping[str, bool] = LAYERS
    ) -> tuple[Array, Array]:
        """Poses (N, bodies, 4, 4) and scales (N, bodies, 3) at configurations (N, nq); wrenches are (N, 6) by frame.

        The manipulability ellipsoid, which needs a Jacobian, is only placed if it is shown.
        """
        N, n = len(q), self.robot.n
        poses, scales = np.tile(np.eye(4), (N, self.n_bodies, 1, 1)), np.ones((N, self.n_bodies, 3))
        poses[:, 1 : n + 1] = link_poses(self.robot, q)
        poses[:, n + 1, :3, 3] = self._centre_of_mass(poses[:, 1 : n + 1])
        poses[:, n + 2] = self._frame(poses, self.tip)
        if shown.get("manipulability", False) and not self.ghost:
            poses[:, n + 2, :3, :3], scales[:, n + 2] = self._manipulability(q)
        for k, frame in enumerate(self.pushed):
            at = self._frame(poses, frame)
            wrench = np.zeros((N, 6)) if wrenches is None or frame not in wrenches else np.asarray(wrenches[frame])
            for half in (0, 1):  # torque, then force, in the axes of the frame
                body, vector = n + 3 + 2 * k + half, at[:, :3, :3] @ wrench[:, 3 * half : 3 * half + 3, None]
                poses[:, body, :3, 3] = at[:, :3, 3]
                poses[:, body, :3, :3], scales[:, body] = self._arrows(vector[..., 0])
        poses[:, :, :3, 3] += self.offset
        return poses, scales

    def _frame(self, poses: Array, frame: str) -> Array:
        body, pose = _on_link(self.robot, frame)
        return np.asarray(poses[:, body] @ pose)

    def _centre_of_mass(self, links: Array) -> Array:
        """That of the robot (N, 3), from the poses of its links (N, n, 4, 4); the origin if nothing has a mass."""
        rows = np.asarray(self.robot.parameters.inertias)
        total = float(rows[:, 0].sum())
        moments = links[:, :, :3, :3] @ rows[:, 1:4, None]
        whole = (moments[..., 0] + rows[:, :1] * links[:, :, :3, 3]).sum(axis=1)
        return np.asarray(whole / total if total > 0 else 0.0 * whole)

    def _manipulability(self, q: Array) -> tuple[Array, Array]:
        J = np.asarray(mixed_jacobian(self.robot, q, self.tip))[..., 3:, :]
        squares, axes = np.linalg.eigh(J @ np.swapaxes(J, -1, -2))
        axes[..., 0] *= np.linalg.det(axes)[..., None]  # a rotation
        return _without_jumps(axes, np.maximum(SECONDS * np.sqrt(np.maximum(squares, 0.0)), 2e-3 * self.size))

    def _arrows(self, vectors: Array) -> tuple[Array, Array]:
        lengths = np.linalg.norm(vectors, axis=-1) * (0.35 * self.size / self.newtons)
        rotations = np.array([triad_of(v) if np.any(v) else np.eye(3) for v in vectors])
        radius = np.where(lengths > 0, 0.016 * self.size, 0.0)
        return rotations, np.maximum(np.stack([radius, radius, lengths], axis=-1), 1e-9)


def _without_jumps(axes: Array, lengths: Array) -> tuple[Array, Array]:
    """The same ellipsoids, axes (N, 3, 3) and lengths (N, 3), each in the order and with the signs that are nearest to the one before.

    The eigenvectors of neighbours may point either way and change places: a page that turns one into the other would spin them.
    """
    for k in range(1, len(axes)):
        near = axes[k - 1].T @ axes[k]
        order = [int(np.argmax(np.abs(row))) for row in near]
        if sorted(order) != [0, 1, 2]:
            order = [0, 1, 2]
        axes[k], lengths[k] = axes[k][:, order], lengths[k][order]
        near = near[:, order]
        axes[k] *= np.where(np.diag(near) < 0, -1.0, 1.0)
        if np.linalg.det(axes[k]) < 0:
            axes[k][:, int(np.argmin(np.abs(np.diag(near))))] *= -1.0
    return axes, lengths


def figure_of(robot: Robot, *, roots: Sequence[Path] = (), pushed: Sequence[str] = (), ghost: bool = False) -> Figure:
    """What is seen of a robot; meshes are looked for in the folders ``roots``."""
    skeleton = skeleton_of(robot, np.asarray(robot.neutral))
    meshes = _Meshes(roots)
    layer = GHOST if ghost else BODY
    size = max(skeleton.extent, 1e-6)
    seen = [part for visual in robot.visuals for part in _visual_parts(robot, visual, layer, meshes)]
    dressed = {part.body for part in seen}
    parts = [*seen, *_plain_links(robot, skeleton, layer, dressed)]
    if ghost:
        # A little smaller, so that a ghost that coincides with its robot is inside it
        parts = [part._replace(colour=_rgb(SKY), opacity=0.35, scale=0.985 * part.scale) for part in parts]
    else:
        parts += [*_frames(robot, size), *_axes(robot, skeleton), *_masses(robot, size), *_inertias(robot)]
        parts += _markers(robot, size, len(pushed))
    return Figure(
        robot=robot,
        parts=parts,
        shapes={**{part.shape: unit_shape(part.shape) for part in parts if part.shape not in meshes.shapes}, **meshes.shapes},
        tip=tip_frame(robot) if robot.n else robot.frames[0],
        pushed=() if ghost else tuple(pushed),
        size=size,
        ghost=ghost,
        missing=tuple(meshes.missing),
    )


class _Meshes:
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


def _rgb(colour: str | tuple[float, ...]) -> tuple[float, ...]:
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)) if isinstance(colour, str) else colour[:3]


def _on_link(robot: Robot, frame: str) -> tuple[int, Pose]:
    """The body that a frame is fixed to, and its pose there."""
    place = robot.structure.frame(frame)
    pose = np.eye(4) if place.pose_row is None else np.asarray(robot.parameters.frame_poses[place.pose_row])
    return place.link + 1, pose


def _visual_parts(robot: Robot, visual: Visual, layer: str, meshes: _Meshes) -> list[Part]:
    body, at = _on_link(robot, visual.link)
    colour = visual.colour
    shown, opacity = (_rgb(SHELL), 1.0) if colour is None else (colour[:3], float(np.clip(colour[3], 0.05, 1.0)))
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


def _segment(
    body: int, start: Vector3, end: Vector3, radius: float, colour: str | tuple[float, ...], layer: str, shape: str = "cylinder"
) -> Part:
    """A cylinder between two points, or an arrow from one to the other."""
    pose, length = np.eye(4), float(np.linalg.norm(end - start))
    pose[:3, :3] = triad_of(end - start) if length > 0 else np.eye(3)
    pose[:3, 3] = start if shape == "arrow" else (start + end) / 2
    return Part(body, shape, pose, np.array([radius, radius, length]), _rgb(colour), 1.0, layer)


def _ball(body: int, at: Vector3, radius: float, colour: str, layer: str) -> Part:
    pose = np.eye(4)
    pose[:3, 3] = at
    return Part(body, "sphere", pose, np.full(3, radius), _rgb(colour), 1.0, layer)


def _plain_links(robot: Robot, skeleton: Skeleton, layer: str, dressed: set[int]) -> list[Part]:
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
                parts += [_segment(body, a, b, 0.55 * r, colour, layer), _ball(body, b, 0.55 * r, colour, layer)]
        if body:
            at = T[:3, :3].T @ (skeleton.joints[body - 1].far - T[:3, 3])
            parts += [_joint(skeleton, body, at, r, layer), *_rail(robot, skeleton, body, layer)]
        elif any(joint.kind not in FLOATING for joint in skeleton.joints):
            base = np.eye(4)
            base[:3, :3] = triad_of(-robot.gravity) if np.any(robot.gravity) else np.eye(3)
            parts.append(Part(0, "cylinder", base, np.array([1.7 * r, 1.7 * r, 0.5 * r]), _rgb(JOINTED), 1.0, layer))
    return parts + _inertia_boxes(robot, skeleton, layer, dressed)


def _inertia_boxes(robot: Robot, skeleton: Skeleton, layer: str, dressed: set[int]) -> list[Part]:
    """Boxes of uniform density with the masses and inertias of links: edges √(12 J_kk / m), of second moments J.

    A box much longer than the whole arm tells of inertias that no such links have, as identification gives them. Boxes would
    then hide the robot, and none is drawn; the switch "inertia" shows them.
    """
    bars = [float(np.linalg.norm(b - a)) for link in range(-1, robot.n) for a, b in skeleton.bars(link)]
    parts = []
    for link in range(robot.n):
        semi_axes, pose = _principal(robot, link)
        edges = 2 * np.sqrt(0.6) * semi_axes  # those of the ellipsoid are √(5 J_kk / m)
        if bars and edges.max() > 1.5 * max(bars):
            return []
        if link + 1 not in dressed and np.any(edges > 0):
            thick = np.maximum(edges, 0.02 * edges.max())
            parts.append(Part(link + 1, "box", pose, thick, _rgb(SHELL), 0.5, layer))
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
    return Part(body, shape, pose, r * np.array(scale), _rgb(KIND_COLOURS[joint.kind]), 1.0, layer)


def _rail(robot: Robot, skeleton: Skeleton, body: int, layer: str) -> list[Part]:
    """What a prismatic joint slides on, fixed to its parent: from limit to limit, or as far as the robot is large."""
    joint, parent = skeleton.joints[body - 1], robot.structure.parents[body - 1]
    if joint.kind != "prismatic" or joint.axis is None:
        return []
    T = np.eye(4) if parent < 0 else skeleton.poses[parent]
    at, axis = T[:3, :3].T @ (joint.near - T[:3, 3]), T[:3, :3].T @ joint.axis
    place = robot.structure.coordinate_of(body - 1).q_start
    half = skeleton.extent
    low, high = (float(np.clip(limit[place], -2 * half, 2 * half)) for limit in (robot.limits.lower, robot.limits.upper))
    if max(-robot.limits.lower[place], robot.limits.upper[place]) > HUGE:
        low, high = -half, half
    return [_segment(parent + 1, at + low * axis, at + high * axis, 0.3 * skeleton.symbol, GREY, layer)]


def _principal(robot: Robot, link: int) -> tuple[Vector3, Pose]:
    """Semi-axes of a link's equivalent ellipsoid, m, and its pose on the link."""
    ellipsoid = equivalent_ellipsoid(robot, robot.links[link])
    row, pose = np.asarray(robot.parameters.inertias[link]), np.eye(4)
    directions: Matrix3 = np.array(ellipsoid.directions)
    directions[:, 0] *= np.sign(np.linalg.det(directions))
    pose[:3, :3] = directions
    if row[0] > 0:
        pose[:3, 3] = row[1:4] / row[0]
    return np.asarray(ellipsoid.semi_axes), pose


def _frames(robot: Robot, size: float) -> list[Part]:
    parts = []
    for frame in robot.frames:
        body, pose = _on_link(robot, frame)
        for k, colour in enumerate(AXIS_COLOURS):
            end = pose[:3, 3] + 0.09 * size * pose[:3, k]
            parts.append(_segment(body, pose[:3, 3], end, 0.0045 * size, colour, "frames"))
    return parts


def _axes(robot: Robot, skeleton: Skeleton) -> list[Part]:
    """Joint axes as screws: an arrow along the axis, and which way it turns; a thread where it does both."""
    r, parts = skeleton.symbol, []
    for i, joint in enumerate(skeleton.joints):
        kind = robot.structure.kind_of(i)
        if not kind.has_screw or joint.axis is None:
            continue
        T = skeleton.poses[i]
        at, axis = T[:3, :3].T @ (joint.far - T[:3, 3]), T[:3, :3].T @ joint.axis
        colour = KIND_COLOURS[joint.kind]
        parts.append(_segment(i + 1, at - 3.0 * r * axis, at + 5.0 * r * axis, 0.3 * r, colour, "joint axes", "arrow"))
        if kind.turns_about_axis:
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = triad_of(axis), at + (0.0 if kind.has_pitch else 2.6 * r) * axis
            shape = "coil" if kind.has_pitch else "turn"
            parts.append(Part(i + 1, shape, pose, np.full(3, 1.5 * r), _rgb(colour), 1.0, "joint axes"))
    return parts


def _masses(robot: Robot, size: float) -> list[Part]:
    """Centres of mass of the links, of a volume proportional to the mass."""
    rows = np.asarray(robot.parameters.inertias)
    heaviest = max((float(row[0]) for row in rows), default=0.0)
    return [
        _ball(i + 1, row[1:4] / row[0], 0.022 * size * max((row[0] / heaviest) ** (1 / 3), 0.2), INK, "centre of mass")
        for i, row in enumerate(rows)
        if row[0] > 0
    ]


def _inertias(robot: Robot) -> list[Part]:
    parts = []
    for link in range(robot.n):
        semi_axes, pose = _principal(robot, link)
        if np.any(semi_axes > 0):
            scale = np.maximum(semi_axes, 0.02 * semi_axes.max())
            parts.append(Part(link + 1, "sphere", pose, scale, _rgb(ORANGE), 0.35, "inertia"))
    return parts


def _markers(robot: Robot, size: float, pushed: int) -> list[Part]:
    n, here, unit = robot.n, np.eye(4), np.ones(3)
    parts = [_ball(n + 1, np.zeros(3), 0.028 * size, VERMILION, "centre of mass")]
    parts.append(Part(n + 2, "sphere", here, unit, _rgb(SKY), 0.4, "manipulability"))
    for k in range(pushed):
        parts.append(Part(n + 3 + 2 * k, "arrow", here, unit, _rgb(PURPLE), 1.0, "wrenches"))
        parts.append(Part(n + 4 + 2 * k, "arrow", here, unit, _rgb(VERMILION), 1.0, "wrenches"))
    return parts
