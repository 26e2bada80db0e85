"""Inertia as ellipsoids: how easily the tip is moved in each direction, and where the mass of each link is."""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from torsor import lie
from torsor.arrays.typing import Array, ConfigurationVector, GivenConfiguration, Matrix3, Vector3
from torsor.border import explained
from torsor.errors import ArgumentError, ModelError
from torsor.functions.public.dynamics import inverse_mass_matrix, mass_matrix
from torsor.functions.public.kinematics import frame_pose, mixed_jacobian
from torsor.lie.se3 import pose
from torsor.lie.unchecked.inertias import rotational
from torsor.model import Robot
from torsor.plot import solids
from torsor.plot._mechanism import draw_bodies, draw_masses, mass_handle
from torsor.plot.canvas import (
    Axes,
    Axes3D,
    arrow,
    finish_space,
    flat_axes,
    label,
    legend,
    on_page,
    plain_name,
    space_axes,
)
from torsor.plot.joint_maps import Joints, check_resolution, joint_plane
from torsor.plot.palette import BLUE, GREY, INK, LIGHT, ORANGE, PURPLE, SKY, VERMILION
from torsor.plot.skeleton import Skeleton, one_configuration, skeleton_of, tip_frame
from torsor.redundancy.configurations import units_of_freedoms
from torsor.tasks import FrameTask, SelectedTask, Task, position_task
from torsor.tasks.public import manipulability_ellipsoid as ellipsoid_of


class Ellipsoid(NamedTuple):
    """Semi-axes (3,), ascending, and the rotation (3, 3) whose columns are their directions."""

    semi_axes: Vector3
    directions: Matrix3


def mobility(robot: Robot, q: ConfigurationVector, frame: str) -> Ellipsoid:
    """Velocities of the frame's origin that joint velocities with vᵀ M v ≤ 1 J reach: J M⁻¹ Jᵀ [LP, (9.95); Alt04, Prop. II.1].

    J (3, nv) are the linear rows of the mixed Jacobian, base axes. ``q`` (nq,), rad or m. Semi-axes in m/s; their inverse
    squares are the masses (kg) felt at the frame along them.
    """
    J = np.asarray(mixed_jacobian(robot, q, frame))[3:]
    A = J @ np.asarray(inverse_mass_matrix(robot, q)) @ J.T
    if not np.all(np.isfinite(A)):
        raise ModelError(
            f"the mass matrix of robot {robot.name!r} is singular at this q; give every link a mass "
            "(torsor.dynamics.mass_matrix_report says which joints move none)."
        )
    squares, directions = np.linalg.eigh(A)
    return Ellipsoid(np.sqrt(np.maximum(squares, 0.0)), directions)


def equivalent_ellipsoid(robot: Robot, link: str) -> Ellipsoid:
    """The solid ellipsoid of uniform density with a link's mass and inertia: a_k² = 5 J_kk / m about its centre of mass.

    J = ½ tr(I) 1 − I is the second moment ∫ r rᵀ dm [Sil81, (2.7), (2.11)]. Semi-axes in m, directions (3, 3) in the link's
    frame; an inertia that no real body has gives zero along the axis where its second moment is negative.
    """
    row = np.asarray(robot.parameters.inertias[robot.structure.link_index(link)])
    if row[0] <= 0:
        return Ellipsoid(np.zeros(3), np.eye(3))
    about_com = rotational(lie.transform_inertia(pose(np.eye(3), -row[1:4] / row[0]), row))
    moments, directions = np.linalg.eigh(np.asarray(lie.second_moment(about_com)))
    return Ellipsoid(np.sqrt(5.0 * np.maximum(moments, 0.0) / row[0]), directions)


@explained
def mobility_ellipsoid(
    robot: Robot, q: GivenConfiguration | None = None, frame: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """Picture of the ellipsoid of J M⁻¹ Jᵀ at a frame's origin, of one state only [LP, (9.95)–(9.99)].

    Drawn on the mechanism, long where the robot is light. The surface holds the velocities (also: the accelerations from rest)
    that joint motions of vᵀ M v = 1 J (torques of τᵀ M⁻¹ τ = 1) give to the frame's origin. Along each principal axis stands
    the mass in kg that a push there would feel, the inverse of the eigenvalue. Scaled to be seen.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    frame : str, optional
        Name of the frame; the last named frame of the last link by default.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        In m.
    """
    q = one_configuration(robot, q)
    frame = tip_frame(robot) if frame is None else frame
    robot.structure.frame(frame)  # refuses unknown names
    found = mobility(robot, q, frame)
    with np.errstate(divide="ignore"):
        felt = [f"{mass:.3g} kg" for mass in found.semi_axes**-2.0]
    said = rf"$J M^{{-1}} J^T$ at {plain_name(frame)}, effective masses along its axes"
    return draw_at_frame(robot, q, frame, found, felt, said, ax)


def draw_at_frame(
    robot: Robot,
    q: ConfigurationVector,
    frame: str,
    found: Ellipsoid,
    texts: list[str],
    said: str,
    ax: Axes | None,
) -> Axes:
    """The mechanism with an ellipsoid at a frame's origin, scaled to be seen: a text at the end of each axis, one for all."""
    skeleton = skeleton_of(robot, q)
    at = np.zeros(3) if robot.structure.frame(frame).link < 0 else _origin(robot, skeleton, frame)
    scale = 0.28 * skeleton.extent / max(float(found.semi_axes.max()), 1e-12)
    axes = scale * found.semi_axes * found.directions
    ax = space_axes(ax, gravity=robot.gravity)
    reached = np.concatenate([at + axes.T, at - axes.T])
    finish_space(ax, np.concatenate([skeleton.points(), reached]), pad=2.0 * skeleton.symbol)
    draw_bodies(ax, skeleton, base=robot.structure.base)
    scene = solids.Scene()
    scene.add(solids.ellipsoid(at, axes, 36), SKY, 0.35)
    scene.draw(ax, "ellipsoid", zorder=4)
    seen = [k for k in range(3) if found.semi_axes[k] > 1e-6 * found.semi_axes.max()]
    for k, (axis, offset) in zip(seen, _apart(ax, at, [axes[:, k] for k in seen]), strict=True):
        arrow(ax, at, axis, INK, f"semi-axis {k + 1}", head=0.6 * skeleton.symbol, linewidth=1.2)
        label(ax, at + axis, texts[k], offset=offset, gid=f"text {k + 1}", ha="center", va="center")
    from matplotlib.patches import Patch

    legend(ax, [Patch(color=SKY, alpha=0.6, label=said)])
    return ax


def _apart(ax: Axes3D, at: Vector3, axes: list[Vector3]) -> list[tuple[Vector3, tuple[float, float]]]:
    """Each axis, or its opposite, and where its text goes from its end, printer's points: so that no text lies on another."""
    (centre,), choices = on_page(ax, at[None]), []
    for signs in product((1.0, -1.0), repeat=len(axes)):
        ends = list(
            on_page(ax, np.reshape([at + sign * axis for sign, axis in zip(signs, axes, strict=True)], (-1, 3)))
        )
        ways = [end - centre for end in ends]
        lengths = [max(float(np.linalg.norm(way)), 1e-9) for way in ways]
        places = [centre + way / n * max(n + 18.0, 44.0) for way, n in zip(ways, lengths, strict=True)]
        # A text is about three times as wide as it is high.
        gaps = [np.hypot(*((a - b) / [3.0, 1.0])) for a, b in combinations(places, 2)]
        offsets = [tuple(map(float, place - end)) for place, end in zip(places, ends, strict=True)]
        choices.append((min(gaps, default=0.0), signs, offsets))
    _, signs, offsets = max(choices, key=lambda choice: round(float(choice[0]), 6))
    return [(sign * axis, offset) for sign, axis, offset in zip(signs, axes, offsets, strict=True)]  # type: ignore[misc]


def _origin(robot: Robot, skeleton: Skeleton, frame: str) -> Vector3:
    origin: Vector3 = skeleton.tips[frame][:3, 3] if frame in skeleton.tips else None
    return skeleton.poses[robot.structure.frame(frame).link][:3, 3] if origin is None else origin


@explained
def link_inertia_ellipsoids(robot: Robot, q: GivenConfiguration | None = None, *, ax: Axes | None = None) -> Axes:
    """Picture of each link as the solid ellipsoid with its mass and inertia, of one state only [BSP93, §3.1].

    Semi-axes a_k = √(5 J_kk / m) in m, with J the second moment about the centre of mass [Sil81, (2.11)], true to scale:
    a link whose ellipsoid is much larger than its body has another inertia than that body. Identified numbers often are such:
    ellipsoids longer than the robot itself are pale and have their link's name. Links whose inertia no real body can have are
    drawn in another colour.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        In m.
    """
    q = one_configuration(robot, q)
    ax = space_axes(ax, gravity=robot.gravity)
    skeleton = skeleton_of(robot, q)
    scene, points, impossible, named = solids.Scene(), [skeleton.points()], False, []
    for i, link in enumerate(robot.links):
        found = equivalent_ellipsoid(robot, link)
        if found.semi_axes[2] <= 0:
            continue
        bad = bool(robot.inertia(link).violations())
        impossible = impossible or bad
        axes = skeleton.poses[i][:3, :3] @ (found.semi_axes * found.directions)
        large = 2 * found.semi_axes[2] > skeleton.extent
        colour = VERMILION if large else PURPLE if bad else ORANGE
        scene.add(solids.ellipsoid(skeleton.coms[i], axes, 28), colour, 0.12 if large else 0.3)
        if large:
            named.append((skeleton.coms[i] + axes[:, 2] * np.sign(axes[2, 2] or 1.0), link))
        reach = np.linalg.norm(axes, axis=1)
        points.append(np.stack([skeleton.coms[i] - reach, skeleton.coms[i] + reach]))
    finish_space(ax, np.concatenate(points), pad=skeleton.symbol)
    draw_bodies(ax, skeleton, base=robot.structure.base)
    scene.draw(ax, "link ellipsoids", zorder=4)
    draw_masses(ax, skeleton)
    for place, link in named:
        label(ax, place, plain_name(link), color=VERMILION, gid=f"name of {link}")
    from matplotlib.patches import Patch

    handles = [Patch(color=ORANGE, alpha=0.5, label="solid ellipsoid of equal mass and inertia")]
    if named:
        handles.append(Patch(color=VERMILION, alpha=0.3, label="such an ellipsoid, longer than the robot"))
    if impossible:
        handles.append(Patch(color=PURPLE, alpha=0.5, label="inertia that no real body has"))
    legend(ax, [Patch(color=LIGHT, label="link"), *handles, mass_handle()])
    return ax


# The ellipsoid of a frame's velocities or accelerations, on the mechanism

_UNITS = {"velocity": "m/s", "energy": "m/s", "force": "m/s²"}
_SAID = {
    "velocity": r"velocities of {} for $|\dot q| \leq 1$ {}",
    "energy": r"velocities of {} for $\dot q^T M \dot q \leq 1$ J",
    "force": r"accelerations of {} for $|\tau| \leq 1$ {}",
}
_JOINT_UNITS = {"velocity": {"rad": "rad/s", "m": "m/s"}, "force": {"rad": "N m", "m": "N"}}


@explained
def manipulability_ellipsoid(
    robot: Robot,
    q: GivenConfiguration | None = None,
    frame: str | Task | None = None,
    *,
    bounded: str = "velocity",
    ax: Axes | None = None,
) -> Axes:
    """Picture of the manipulability ellipsoid of a frame's origin, of one state only [Yos85].

    Drawn on the mechanism, long where the robot moves the frame easily. At each axis stands its half length, m/s or m/s².
    Scaled to be seen.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    frame : str or Task, optional
        The last named frame of the last link by default. It may be a task of one to three linear rows of a frame: a
        `torsor.position_task` with some rows is drawn as an ellipse or line along these.
    bounded : str
        "velocity", "energy" or "force", as for `torsor.tasks.manipulability_ellipsoid`.
    ax : Axes, optional
        3-D Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        In m.
    """
    q = one_configuration(robot, q)
    frame = tip_frame(robot) if frame is None else frame
    task = position_task(frame) if isinstance(frame, str) else frame
    name, rows = _linear_rows(robot, q, task)
    found = ellipsoid_of(robot, q, task, bounded=bounded)
    lengths, directions = np.zeros(3), np.zeros((3, 3))
    lengths[: task.size], directions[:, : task.size] = np.nan_to_num(found.lengths), rows @ found.axes
    texts = [f"{length:.3g} {_UNITS[bounded]}" for length in lengths]
    said = _SAID[bounded].format(plain_name(name), _joint_units(robot, bounded))
    drawn = Ellipsoid(lengths, directions)
    return draw_at_frame(robot, q, name, drawn, texts, said, ax)


def _linear_rows(robot: Robot, q: ConfigurationVector, task: Task) -> tuple[str, Array]:
    """The frame of a task of linear rows, and the directions of these (3, m) in base axes."""
    whole, rows = (task.task, task.rows) if isinstance(task, SelectedTask) else (task, tuple(range(task.size)))
    if isinstance(whole, FrameTask) and all(whole.labels[row].startswith("v") for row in rows):
        axes = np.eye(3) if whole.kind == "position" else np.asarray(frame_pose(robot, q, whole.frame))[:3, :3]
        return whole.frame, axes[:, ["xyz".index(whole.labels[row][1]) for row in rows]]
    raise ArgumentError(
        f"drawn are velocities of a point, one to three linear rows (vx, vy, vz) of one frame; "
        f"this task has {', '.join(task.labels)}. torsor.tasks.manipulability_ellipsoid has the numbers of every task."
    )


def _joint_units(robot: Robot, bounded: str) -> str:
    """Of what is bounded, if all joints have the same."""
    units = (
        {_JOINT_UNITS[bounded][unit] for unit in units_of_freedoms(robot.structure)} if bounded != "energy" else set()
    )
    return units.pop() if len(units) == 1 else "in the unit of each joint"


# The mass matrix as a metric on the plane of two joints: an ellipse at each point, as mapmakers draw them


@explained
def mass_matrix_ellipse(
    robot: Robot,
    joints: Joints,
    *,
    q: GivenConfiguration | None = None,
    resolution: int = 9,
    ax: Axes | None = None,
    colour: str = BLUE,
) -> Axes:
    """Picture of ellipses vᵀ M(q) v = 1 J over two joints, where v moves these two alone [BSP93, (8); PBP95, (65)].

    All to one scale: where ellipses are large the robot is light, where they all are equal the metric M is flat in these
    coordinates. The title states how many seconds of motion are drawn.

    Parameters
    ----------
    robot : Robot
    joints : pair of str or int
        Two joints with one degree of freedom, by name or position in `robot.coordinates`.
    q : (nq,) array, optional
        Configuration of the other joints, rad or m; neutral by default.
    resolution : int
        Ellipses along each axis.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    colour : str
        Of the ellipses.

    Returns
    -------
    Axes
        Of the two joints, rad or m.
    """
    plane = joint_plane(robot, joints)
    check_resolution(resolution)
    rest = one_configuration(robot, q)
    states = plane.grid(rest, resolution, inset=0.5 / resolution)
    pair = [plane.across.v, plane.up.v]
    M = np.asarray(mass_matrix(robot, states))[..., pair, :][..., pair]
    if np.any(np.linalg.eigvalsh(M)[..., 0] <= 0):
        raise ModelError(
            f"these joints of robot {robot.name!r} can move without moving any mass, so that the ellipse "
            "has no end; give every link a mass (see torsor.dynamics.mass_matrix_report)."
        )
    angle = np.linspace(0.0, 2 * np.pi, 73)
    circle = np.stack([np.cos(angle), np.sin(angle)], axis=-1)
    # Every v with vᵀ M v = 1 is L⁻ᵀ u, where M = L Lᵀ and |u| = 1.
    v = np.swapaxes(np.linalg.solve(np.swapaxes(np.linalg.cholesky(M), -1, -2), circle.T), -1, -2)
    cell = np.array([d.high - d.low for d in plane]) / resolution
    seconds = 0.46 * float(np.min(cell / np.abs(v).max(axis=(0, 1, 2))))
    ax = flat_axes(ax)
    centres = states[..., [plane.across.q, plane.up.q]]
    for row in range(resolution):
        for column in range(resolution):
            ellipse = centres[row, column] + seconds * v[row, column]
            ax.fill(*ellipse.T, facecolor=colour, alpha=0.18, edgecolor="none")
            ax.plot(*ellipse.T, color=colour, linewidth=1.0, gid=f"ellipse {row},{column}")
    ax.plot(*centres.reshape(-1, 2).T, linestyle="none", marker=".", markersize=2, color=GREY)
    plane.label(ax)
    ax.set_title(rf"$v^T M v = 1$ J, after {seconds:.2g} s", fontsize=9)
    return ax
