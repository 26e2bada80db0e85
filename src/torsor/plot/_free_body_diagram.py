"""One link cut free: its frame, its twist, and every wrench that acts on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from torsor import lie
from torsor._reports import Report, in_one_line
from torsor.arrays.typing import (
    Array,
    GivenConfiguration,
    GivenJointVector,
    Pose,
    Twist,
    Vector3,
    Wrench,
)
from torsor.border import explained
from torsor.errors import ModelError
from torsor.functions.public.dynamics import joint_wrenches
from torsor.functions.public.kinematics import body_twist
from torsor.lie import se3
from torsor.model import Robot
from torsor.plot import solids
from torsor.plot._mechanism import joint_solid
from torsor.plot.canvas import (
    ArrowLabel,
    Axes,
    Axes3D,
    arrow,
    finish_space,
    label_arrows,
    plain_name,
    space_axes,
    triad,
    triad_of,
)
from torsor.plot.palette import BLUE, GREEN, GREY, INK, KIND_COLOURS, LIGHT, ORANGE, VERMILION
from torsor.plot.skeleton import Skeleton, one_configuration, one_velocity, skeleton_of

_NOTHING = 1e-9  # of the largest of its kind: what is smaller is not drawn
_LENGTHS = {"force": 0.55, "moment": 0.38, "velocity": 0.33}  # the longest arrow of each kind, of the link's size


@dataclass(frozen=True, eq=False, repr=False)
class FreeBody(Report):
    """A link cut free: ``twist`` V_i (6,), rad/s, m/s, ``loads``, and their sum (6,), N·m, N, all in the link's frame.

    The sum is the rate of momentum G_i V̇_i − ad(V_i)ᵀ G_i V_i [LP, (9.42)]. ``axes``: where it is drawn.
    """

    axes: Any
    twist: Twist
    loads: tuple[Load, ...]
    total: Wrench


class _Arrow(NamedTuple):
    kind: str
    name: str
    at: Vector3
    value: Vector3  # in base axes, SI units
    colour: str
    heads: int


@explained
def free_body_diagram(
    robot: Robot,
    q: GivenConfiguration | None = None,
    v: GivenJointVector | None = None,
    a: GivenJointVector | None = None,
    *,
    link: str | int,
    wrenches: Mapping[str, Wrench] | None = None,
    ax: Axes | None = None,
    table: bool = True,
) -> FreeBody:
    """Picture of the wrenches on one link of a moving robot, of one state only [LP, Fig. 9.1, (9.42)].

    Arrows, and a table of numbers. Drawn in base axes: the frame {i}, its twist V_i = (ω_i, v_i), the wrench F_i = (m_i, f_i)
    through joint i, −F_c of each link c it carries, its weight, and wrenches from outside. Forces are arrows where they act;
    moments, about the point where the force acts, have double heads; so has ω.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    v, a : (nv,) array, optional
        Velocity and acceleration, rad, m, s; zero by default.
    link : str or int
        Name of the link, or its number from 1.
    wrenches : mapping from str to (6,) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m and N.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.
    table : bool
        Whether the terms of (9.42) are listed: all about the origin and in the axes of frame {i}, so that rows add up.

    Returns
    -------
    FreeBody
        The Axes, in m, and the numbers.
    """
    state = one_configuration(robot, q), one_velocity("v", robot, v), one_velocity("a", robot, a)
    i = _link_number(robot, link)
    skeleton = skeleton_of(robot, state[0])
    motion = _cut_free(robot, skeleton, i, state, wrenches or {})
    ax = space_axes(ax, gravity=robot.gravity, size=(7.5, 7.0))
    points = _link_points(skeleton, i)
    size = max(float(np.ptp(points, axis=0).max()), 0.15 * skeleton.extent)
    shafts = _scaled(_arrows(skeleton.poses[i], motion, i), size)
    reached = [point for shaft, vector in shafts for point in (shaft.at, shaft.at + vector)]
    finish_space(ax, np.array([*points, *reached]), pad=0.1 * size)
    _draw_link(ax, skeleton, i, 0.05 * size)
    T, axis_length = skeleton.poses[i], 0.2 * size
    triad(ax, T, axis_length, f"frame {i + 1}", colours=(GREY,) * 3)
    texts = []
    for shaft, vector in shafts:
        gid = f"{shaft.kind} {shaft.name}"
        arrow(ax, shaft.at, vector, shaft.colour, gid, head=0.07 * size, heads=shaft.heads, linewidth=2.0)
        texts.append(ArrowLabel(shaft.at, vector, shaft.name, {"color": shaft.colour}))
    for k, letter in enumerate("xyz"):
        small = {"color": GREY, "fontsize": 8}
        texts.append(ArrowLabel(T[:3, 3], axis_length * T[:3, k], rf"${letter}_{{{i + 1}}}$", small))
    label_arrows(ax, texts)
    ax.set_title(f"link {i + 1} ({plain_name(robot.links[i])}) of {plain_name(robot.name)}", fontsize=10)
    if table:
        _draw_table(ax, motion, i)
    return FreeBody(ax, motion.twist, motion.loads, motion.total)


def _arrows(T: Pose, motion: _Motion, i: int) -> list[_Arrow]:
    """All vectors to draw, in base axes, each moment about the point where its force acts."""
    R, p = T[:3, :3], T[:3, 3]
    found = []
    for symbol, _, point, wrench, colour in motion.loads:
        force = R @ wrench[3:]
        moment = R @ wrench[:3] - np.cross(point - p, force)
        found.append(_Arrow("force", symbol.replace("F", "f"), point, force, colour, 1))
        found.append(_Arrow("moment", symbol.replace("F", "m"), point, moment, colour, 2))
    return [
        *found,
        _Arrow("velocity", rf"$\omega_{{{i + 1}}}$", p, R @ motion.twist[:3], GREEN, 2),
        _Arrow("velocity", f"$v_{{{i + 1}}}$", p, R @ motion.twist[3:], GREEN, 1),
    ]


def _scaled(arrows: list[_Arrow], size: float) -> list[tuple[_Arrow, Vector3]]:
    """Each arrow with its shaft (3,), m: forces to one scale, moments to another, ω and v each full length.

    A velocity that would lie on a force or moment is moved aside.
    """
    kept: list[tuple[_Arrow, Vector3]] = []
    for arrow_ in arrows:
        mine = [other for other in arrows if other.kind == arrow_.kind]
        if arrow_.kind == "velocity":
            mine = [arrow_]
        largest = max(float(np.linalg.norm(other.value)) for other in mine)
        # A moment that is nothing beside the forces' own, force times size, is rounding.
        rounding = max(float(np.linalg.norm(other.value)) for other in arrows if other.kind == "force") * size
        floor = max(largest, rounding) if arrow_.kind == "moment" else max(largest, 1e-3)
        if np.linalg.norm(arrow_.value) > _NOTHING * floor:
            shaft = _LENGTHS[arrow_.kind] * size * arrow_.value / largest
            if arrow_.kind == "velocity" and any(_covers(other, arrow_, size) for other, _ in kept):
                arrow_ = arrow_._replace(at=arrow_.at + 0.07 * size * triad_of(shaft)[:, 0])
            kept.append((arrow_, shaft))
    return kept


def _covers(one: _Arrow, other: _Arrow, size: float) -> bool:
    """Whether two arrows begin in one place and lie on one line."""
    scale = float(np.linalg.norm(one.value) * np.linalg.norm(other.value))
    return bool(np.linalg.norm(one.at - other.at) < 0.05 * size and abs(one.value @ other.value) > 0.97 * scale)


def _link_points(skeleton: Skeleton, i: int) -> Array:
    ends = [end for _, end in skeleton.bars(i)]
    held = [skeleton.coms[i]] if skeleton.masses[i] > 0 else []
    return np.array([skeleton.joints[i].far, skeleton.poses[i][:3, 3], *held, *ends])


def _draw_link(ax: Axes3D, skeleton: Skeleton, i: int, r: float) -> None:
    """The link alone, with ghosts of the joints it was cut from."""
    scene = solids.Scene()
    for start, end in skeleton.bars(i):
        scene.add(solids.bar(start, end, 0.45 * r), LIGHT)
    if skeleton.masses[i] > 0:
        for start in (skeleton.joints[i].far, *(end for _, end in skeleton.bars(i))):
            scene.add(solids.bar(start, skeleton.coms[i], 0.2 * r), GREY)
        dot = ax.scatter(*skeleton.coms[i], s=30, color=INK, edgecolors="white", depthshade=False, zorder=7)
        dot.set_gid("centre of mass")
    own = skeleton.joints[i]
    held = [skeleton.joints[c] for c in skeleton.children(i)]
    for joint in (own, *(joint._replace(far=joint.near) for joint in held)):
        scene.add(joint_solid(joint, 0.7 * r), KIND_COLOURS[joint.kind], 0.55)
    scene.draw(ax, "link")


def _draw_table(ax: Axes3D, motion: _Motion, i: int) -> None:
    """Draw the table of numbers under the picture."""
    wrenches = [load.wrench for load in motion.loads]
    values = [*wrenches, motion.total]
    places = [_places(np.array(values)[:, part]) for part in (slice(0, 3), slice(3, 6))]
    texts = [[_numbers(wrench[:3], places[0]), _numbers(wrench[3:], places[1])] for wrench in values]
    rows = [[load.symbol, plain_name(load.meaning), *text] for load, text in zip(motion.loads, texts, strict=False)]
    rows.append([r"$\Sigma$", "rate of momentum", *texts[-1]])
    twist = [_numbers(part, _places(part, 3)) for part in (motion.twist[:3], motion.twist[3:])]
    rows.append([f"$V_{{{i + 1}}}$", "twist (rad/s; m/s)", *twist])
    height = 0.045 * (len(rows) + 1)
    drawn = ax.table(
        cellText=rows,
        colLabels=["", f"in frame {{{i + 1}}}", "moment (N·m)", "force (N)"],
        colWidths=[0.08, 0.24, 0.34, 0.34],
        cellLoc="center",
        edges="horizontal",
        bbox=(0.0, -height, 1.0, height),
    )
    drawn.auto_set_font_size(False)
    drawn.set_fontsize(8)
    drawn.set_gid("wrenches")
    for (row, column), cell in drawn.get_celld().items():
        cell.set_edgecolor(LIGHT)
        cell.set_linewidth(0.6)
        if row == 0:
            cell.get_text().set_color(GREY)
        elif column == 0 and row <= len(motion.loads):
            cell.get_text().set_color(motion.loads[row - 1].colour)
        elif row == len(rows):
            cell.get_text().set_color(GREEN)


def _places(values: Array, digits: int = 4) -> int:
    """Decimal places that show the largest number with so many digits."""
    largest = float(np.abs(values).max())
    return int(np.clip(digits - 1 - np.floor(np.log10(largest)), 0, 6)) if largest > 1e-12 else 0


def _numbers(values: Vector3, places: int) -> str:
    rounded = np.round(np.asarray(values), places) + 0.0  # without the minus of −0
    return ",  ".join(f"{x:.{places}f}".replace("-", "−") for x in rounded.tolist())


# The wrenches on one link of a moving robot, as numbers.


@in_one_line
class Load(NamedTuple):
    """A wrench on a link: symbol, meaning, the point (3,) where it acts in base axes, m, and its value.

    ``wrench`` (6,), N·m and N, is about the origin and in the axes of the link's frame; ``colour`` is that of its arrows.
    """

    symbol: str
    meaning: str
    point: Vector3
    wrench: Wrench
    colour: str


class _Motion(NamedTuple):
    """A link cut free: its twist V_i (6,), rad/s, m/s, in its frame, and every wrench on it."""

    twist: Twist
    loads: tuple[Load, ...]

    @property
    def total(self) -> Wrench:
        """The sum of all wrenches (6,), N·m and N."""
        return np.sum([load.wrench for load in self.loads], axis=0)


def _link_number(robot: Robot, link: str | int) -> int:
    """Position of a link given by name or by number from 1."""
    if isinstance(link, str):
        i = robot.structure.link_index(link)
        if i < 0:
            raise ModelError(f"{link!r} is the base, which no joint moves; choose one of robot.links.")
        return i
    if not 1 <= link <= robot.n:
        raise ModelError(f"robot {robot.name!r} has links 1 to {robot.n}, got {link}.")
    return link - 1


def _cut_free(
    robot: Robot, skeleton: Skeleton, i: int, state: tuple[Array, Array, Array], wrenches: Mapping[str, Wrench]
) -> _Motion:
    """Link i in the state (q, v, a): F_i − Σ Ad(T_ci)ᵀ F_c + weight + wrenches from outside [LP, (9.42)]."""
    q, v, a = state
    F = np.asarray(joint_wrenches(robot, q, v, a, wrenches=dict(wrenches) or None))
    T = skeleton.poses
    loads = [Load(f"$F_{{{i + 1}}}$", f"through {robot.joints[i]}", skeleton.joints[i].far, F[i], VERMILION)]
    for c in skeleton.children(i):
        T_ci = se3.inverse(T[c]) @ T[i]
        F_c = -np.asarray(lie.transform_wrench(T_ci, F[c]))
        loads.append(Load(f"$-F_{{{c + 1}}}$", f"through {robot.joints[c]}", skeleton.joints[c].near, F_c, BLUE))
    if skeleton.masses[i] > 0 and np.any(robot.gravity != 0):
        force = T[i, :3, :3].T @ (skeleton.masses[i] * np.asarray(robot.gravity))
        arm = T[i, :3, :3].T @ (skeleton.coms[i] - T[i, :3, 3])
        weight = np.concatenate([np.cross(arm, force), force])
        loads.append(Load(f"$m_{{{i + 1}}} g$", "weight", skeleton.coms[i], weight, INK))
    for name, wrench in wrenches.items():
        frame = robot.structure.frame(name)
        if frame.link == i:
            T_if = np.eye(4) if frame.pose_row is None else np.asarray(robot.parameters.frame_poses[frame.pose_row])
            outside = np.asarray(lie.transform_wrench_inverse(T_if, np.asarray(wrench, float)))
            loads.append(Load(r"$F_\mathrm{ext}$", f"at {name}", (T[i] @ T_if)[:3, 3], outside, ORANGE))
    return _Motion(np.asarray(body_twist(robot, q, v, robot.links[i])), tuple(loads))
