"""Parts of a scene, which are shapes on bodies; and those that show what a robot is: frames, axes, masses, ellipsoids."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Matrix3, Pose, Vector3
from torsor.model import Robot
from torsor.plot.canvas import triad_of
from torsor.plot.ellipsoids import equivalent_ellipsoid
from torsor.plot.palette import AXIS_COLOURS, INK, KIND_COLOURS, ORANGE, PURPLE, SKY, VERMILION
from torsor.plot.skeleton import Skeleton

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


class Part(NamedTuple):
    """A shape on a body: its name in the scene, pose (4, 4) and scale (3,) there, colour (3,) from 0 to 1, and layer."""

    body: int
    shape: str
    pose: Pose
    scale: Vector3
    colour: tuple[float, ...]
    opacity: float
    layer: str


def rgb(colour: str | tuple[float, ...]) -> tuple[float, ...]:
    """A colour such as "#0072B2" as red, green and blue from 0 to 1."""
    return tuple(int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)) if isinstance(colour, str) else colour[:3]


def on_link(robot: Robot, frame: str) -> tuple[int, Pose]:
    """The body that a frame is fixed to, and its pose there."""
    place = robot.structure.frame(frame)
    pose = np.eye(4) if place.pose_row is None else np.asarray(robot.parameters.frame_poses[place.pose_row])
    return place.link + 1, pose


def segment(
    body: int,
    start: Vector3,
    end: Vector3,
    radius: float,
    colour: str | tuple[float, ...],
    layer: str,
    shape: str = "cylinder",
) -> Part:
    """A cylinder between two points, or an arrow from one to the other."""
    pose, length = np.eye(4), float(np.linalg.norm(end - start))
    pose[:3, :3] = triad_of(end - start) if length > 0 else np.eye(3)
    pose[:3, 3] = start if shape == "arrow" else (start + end) / 2
    return Part(body, shape, pose, np.array([radius, radius, length]), rgb(colour), 1.0, layer)


def ball(body: int, at: Vector3, radius: float, colour: str, layer: str) -> Part:
    """A ball at a point of a body."""
    pose = np.eye(4)
    pose[:3, 3] = at
    return Part(body, "sphere", pose, np.full(3, radius), rgb(colour), 1.0, layer)


def principal(robot: Robot, link: int) -> tuple[Vector3, Pose]:
    """Semi-axes of a link's equivalent ellipsoid, m, and its pose on the link."""
    ellipsoid = equivalent_ellipsoid(robot, robot.links[link])
    row, pose = np.asarray(robot.parameters.inertias[link]), np.eye(4)
    directions: Matrix3 = np.array(ellipsoid.directions)
    directions[:, 0] *= np.sign(np.linalg.det(directions))
    pose[:3, :3] = directions
    if row[0] > 0:
        pose[:3, 3] = row[1:4] / row[0]
    return np.asarray(ellipsoid.semi_axes), pose


def frame_parts(robot: Robot, size: float) -> list[Part]:
    """The axes of all frames."""
    parts = []
    for frame in robot.frames:
        body, pose = on_link(robot, frame)
        for k, colour in enumerate(AXIS_COLOURS):
            end = pose[:3, 3] + 0.09 * size * pose[:3, k]
            parts.append(segment(body, pose[:3, 3], end, 0.0045 * size, colour, "frames"))
    return parts


def axis_parts(robot: Robot, skeleton: Skeleton) -> list[Part]:
    """Joint axes as screws: an arrow along the axis, and which way it turns; a thread where it does both."""
    r, parts = skeleton.symbol, []
    for i, joint in enumerate(skeleton.joints):
        kind = robot.structure.kind_of(i)
        if not kind.has_screw or joint.axis is None:
            continue
        T = skeleton.poses[i]
        at, axis = T[:3, :3].T @ (joint.far - T[:3, 3]), T[:3, :3].T @ joint.axis
        colour = KIND_COLOURS[joint.kind]
        parts.append(segment(i + 1, at - 3.0 * r * axis, at + 5.0 * r * axis, 0.3 * r, colour, "joint axes", "arrow"))
        if kind.turns_about_axis:
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = triad_of(axis), at + (0.0 if kind.has_pitch else 2.6 * r) * axis
            shape = "coil" if kind.has_pitch else "turn"
            parts.append(Part(i + 1, shape, pose, np.full(3, 1.5 * r), rgb(colour), 1.0, "joint axes"))
    return parts


def mass_parts(robot: Robot, size: float) -> list[Part]:
    """Centres of mass of the links, of a volume proportional to the mass."""
    rows = np.asarray(robot.parameters.inertias)
    heaviest = max((float(row[0]) for row in rows), default=0.0)
    return [
        ball(i + 1, row[1:4] / row[0], 0.022 * size * max((row[0] / heaviest) ** (1 / 3), 0.2), INK, "centre of mass")
        for i, row in enumerate(rows)
        if row[0] > 0
    ]


def inertia_parts(robot: Robot) -> list[Part]:
    """The solid ellipsoids of uniform density that have the masses and inertias of the links."""
    parts = []
    for link in range(robot.n):
        semi_axes, pose = principal(robot, link)
        if np.any(semi_axes > 0):
            scale = np.maximum(semi_axes, 0.02 * semi_axes.max())
            parts.append(Part(link + 1, "sphere", pose, scale, rgb(ORANGE), 0.35, "inertia"))
    return parts


def marker_parts(robot: Robot, size: float, pushed: int) -> list[Part]:
    """The parts of bodies that are no links; see `Figure` for their numbers."""
    n, here, unit = robot.n, np.eye(4), np.ones(3)
    parts = [ball(n + 1, np.zeros(3), 0.028 * size, VERMILION, "centre of mass")]
    parts.append(Part(n + 2, "sphere", here, unit, rgb(SKY), 0.4, "manipulability"))
    for k in range(pushed):
        parts.append(Part(n + 3 + 2 * k, "arrow", here, unit, rgb(PURPLE), 1.0, "wrenches"))
        parts.append(Part(n + 4 + 2 * k, "arrow", here, unit, rgb(VERMILION), 1.0, "wrenches"))
    return parts
