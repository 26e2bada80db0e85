"""A robot as a mechanism in space: links, joints by kind, axes, centres of mass, base and tip frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration, Vector3
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.model import Robot
from torsor.model.visuals import solid_parts
from torsor.plot import solids
from torsor.plot.canvas import (
    Axes,
    Axes3D,
    Colour,
    arrow,
    finish_space,
    label,
    label_apart,
    legend,
    plain_name,
    polyline,
    space_axes,
    triad,
    triad_of,
)
from torsor.plot.palette import GREY, INK, KIND_COLOURS, LIGHT
from torsor.plot.skeleton import FLOATING, JointPlace, Skeleton, one_configuration, skeleton_of

FEW = 12  # joints whose names there is room for
SEEN_THROUGH = 0.3  # the opacity of what a robot looks like, so that its joints stay visible


class Look(NamedTuple):
    """Polygons (4, 3), m, and the colour of all."""

    polygons: list[Array]
    colour: Colour


@explained
def mechanism(
    robot: Robot,
    q: GivenConfiguration | None = None,
    *,
    ax: Axes | None = None,
    names: bool | str | None = "auto",
    axes: bool = True,
    masses: bool = True,
    frames: bool = True,
    visuals: bool = True,
) -> Axes:
    """Picture of a robot in space, of one state only [BSP93, Fig. 1].

    Links are bars from joint to joint. Joints show their kind: revolute a cylinder about its axis, prismatic a box on
    a rail, helical a cylinder in a thread, spherical a ball, planar a plate, free a small cube joined to nothing.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.
    names : bool, None or "auto"
        Joints by name, by number (False), or not (None). "auto", the default: by name if there are at most twelve.
    axes : bool
        Whether arrows show the joint axes.
    masses : bool
        Whether a dot shows each centre of mass, its area proportional to the mass (kg).
    frames : bool
        Whether the axes of the base and of the named frames are drawn.
    visuals : bool
        Whether the boxes, cylinders and balls of `Robot.visuals` are drawn, so that one sees through them; meshes are not opened.

    Returns
    -------
    Axes
        In m.
    """
    if isinstance(names, str):
        refuse_unknown_word("names", names, ["auto"], also="True, False or None")
        names = True if robot.n <= FEW else None
    q = one_configuration(robot, q)
    ax = space_axes(ax, gravity=robot.gravity)
    skeleton = skeleton_of(robot, q)
    looks = seen(robot, skeleton) if visuals else []
    corners = [polygon for polygons, _ in looks for polygon in polygons]
    finish_space(ax, np.concatenate([skeleton.points(), *corners]), pad=2.2 * skeleton.symbol)
    draw_bodies(ax, skeleton, base=robot.structure.base, looks=looks)
    if axes:
        draw_axes(ax, skeleton)
    if masses:
        draw_masses(ax, skeleton)
    if frames:
        draw_frames(ax, skeleton)
    if names is not None:
        texts = [plain_name(joint.name) if names else str(k) for k, joint in enumerate(skeleton.joints, 1)]
        label_joints(ax, skeleton, texts)
    legend(ax, kind_handles(skeleton) + ([mass_handle()] if masses and np.any(skeleton.masses > 0) else []))
    return ax


def seen(robot: Robot, skeleton: Skeleton) -> list[Look]:
    """The solids of `Robot.visuals` in base axes, each as polygons in its colour."""
    looks = []
    for visual in (part for whole in robot.visuals if whole.is_solid for part in solid_parts(whole)):
        place = robot.structure.frame(visual.link)
        T = np.eye(4) if place.link < 0 else skeleton.poses[place.link]
        if place.pose_row is not None:
            T = T @ robot.parameters.frame_poses[place.pose_row]
        T = T @ visual.pose
        at, axes, size = T[:3, 3], T[:3, :3], np.array(visual.size)
        if visual.kind == "box":
            polygons = solids.box(at, axes, 0.5 * size)
        elif visual.kind == "cylinder":
            polygons = solids.cylinder(at - 0.5 * size[1] * axes[:, 2], at + 0.5 * size[1] * axes[:, 2], size[0])
        else:  # a sphere has one radius, an ellipsoid three
            polygons = solids.ellipsoid(at, axes * size, sides=12)
        looks.append(Look(polygons, LIGHT if visual.colour is None else visual.colour[:3]))
    return looks


def draw_bodies(
    ax: Axes3D, skeleton: Skeleton, *, base: str = "base", alpha: float = 1.0, looks: Sequence[Look] = ()
) -> None:
    """Base, links, joints and what is seen around them, as one collection of shaded polygons."""
    r, scene = skeleton.symbol, solids.Scene()
    for polygons, colour in looks:
        scene.add(polygons, colour, SEEN_THROUGH * alpha)
    scene.add(solids.cylinder(np.array([0, 0, -0.35 * r]), np.zeros(3), 1.9 * r), GREY, alpha)
    for link in range(-1, len(skeleton.parents)):
        for start, end in skeleton.bars(link):
            scene.add(solids.bar(start, end, 0.33 * r), GREY if link < 0 else LIGHT, alpha)
    for joint in skeleton.joints:
        scene.add(joint_solid(joint, r), KIND_COLOURS[joint.kind], alpha)
        slid = np.linalg.norm(joint.far - joint.near)
        if slid > 1e-9 and joint.kind in FLOATING:
            path = np.array([joint.near, joint.far])
            polyline(ax, path, GREY, f"path of {joint.name}", linestyle=":", linewidth=0.8, zorder=1)
        elif slid > 1e-9:
            scene.add(solids.bar(joint.near, joint.far, 0.2 * r), KIND_COLOURS[joint.kind], alpha)
        if joint.kind == "helical" and joint.axis is not None:
            ends = joint.far - 1.3 * r * joint.axis, joint.far + 1.3 * r * joint.axis
            polyline(ax, solids.spring(*ends, 1.0 * r), INK, f"thread of {joint.name}", linewidth=0.7, alpha=0.7)
    scene.draw(ax, f"mechanism on {base}")


def joint_solid(joint: JointPlace, r: float) -> list[Array]:
    """The symbol of a joint, of size ``r`` (m), at its place on its link."""
    at, axis = joint.far, joint.axis
    if axis is None:
        if joint.kind == "spherical":
            return solids.ellipsoid(at, r * np.eye(3))
        return solids.box(at, np.eye(3), np.full(3, 0.55 * r))
    if joint.kind == "prismatic":
        return solids.box(at, triad_of(axis), r * np.array([0.75, 0.75, 1.2]))
    if joint.kind == "planar":
        return solids.box(at, triad_of(axis), r * np.array([1.6, 1.6, 0.12]))
    radius = 0.75 if joint.kind == "revolute" else 0.6
    return solids.cylinder(at - 1.2 * r * axis, at + 1.2 * r * axis, radius * r)


def draw_axes(ax: Axes3D, skeleton: Skeleton) -> None:
    """Centre lines through the joints, with an arrow head where the positive direction is."""
    r = skeleton.symbol
    for joint in skeleton.joints:
        if joint.axis is not None and joint.kind not in FLOATING:
            start, gid = joint.far - 2.2 * r * joint.axis, f"axis of {joint.name}"
            arrow(ax, start, 5.6 * r * joint.axis, KIND_COLOURS[joint.kind], gid, head=0.9 * r, linewidth=0.9, zorder=3)


def draw_masses(ax: Axes3D, skeleton: Skeleton, largest: float = 70.0) -> None:
    """Dots at the centres of mass; the heaviest link's has the area ``largest`` (square printer's points)."""
    held = skeleton.masses > 0
    if not np.any(held):
        return
    m = skeleton.masses[held]
    dots = ax.scatter(
        *skeleton.coms[held].T,
        s=np.maximum(largest * m / m.max(), 3.0),
        color=INK,
        edgecolors="white",
        linewidths=0.5,
        depthshade=False,
        zorder=7,
    )
    dots.set_gid("centres of mass")


def draw_frames(ax: Axes3D, skeleton: Skeleton) -> None:
    """Axes of the base and of the named frames; of frames in one place, the last is shown."""
    r = skeleton.symbol
    triad(ax, np.eye(4), 3.2 * r, "base", letters=True)
    for name, pose in _apart(skeleton.tips, r).items():
        triad(ax, pose, 2.6 * r, name)
        label(ax, pose[:3, 3], plain_name(name), offset=(7, -9), color=GREY, fontsize=7, style="italic")


def _apart(tips: dict[str, Array], r: float) -> dict[str, Array]:
    """Frames so far from one another that each can be seen; at most a dozen, for more would hide the robot."""
    kept: dict[str, Array] = {}
    for name, pose in reversed(tips.items()):
        if all(np.linalg.norm(pose[:3, 3] - other[:3, 3]) > 2.0 * r for other in kept.values()):
            kept[name] = pose
    return dict(list(kept.items())[:12])


def label_joints(ax: Axes3D, skeleton: Skeleton, texts: list[str]) -> None:
    """Texts beside the joints; those of joints in one place share a label, one line each."""
    groups: list[tuple[Vector3, list[str]]] = []
    for joint, text in zip(skeleton.joints, texts, strict=True):
        for place, lines in groups:
            if np.linalg.norm(place - joint.far) < 1.2 * skeleton.symbol:
                lines.append(text)
                break
        else:
            groups.append((joint.far, [text]))
    joined = [(place, (", " if max(map(len, lines)) <= 2 else "\n").join(lines)) for place, lines in groups]
    steps = np.linspace(0.0, 1.0, 9)[:, None]
    bars = [a + steps * (b - a) for link in range(-1, len(skeleton.parents)) for a, b in skeleton.bars(link)]
    label_apart(ax, joined, avoid=np.concatenate([skeleton.points(), *bars]), gid="joint label")


def kind_handles(skeleton: Skeleton) -> list[Any]:
    """One legend entry for each kind of joint there is."""
    from matplotlib.patches import Patch

    kinds = dict.fromkeys(joint.kind for joint in skeleton.joints)
    return [Patch(color=KIND_COLOURS[kind], label=f"{kind} joint") for kind in kinds]


def mass_handle() -> Any:
    """The legend entry of the dots."""
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="none", marker="o", color=INK, markersize=5, label="centre of mass (area ∝ mass)")
