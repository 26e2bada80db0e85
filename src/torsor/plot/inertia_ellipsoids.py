"""Inertia as ellipsoids: how easily the tip is moved in each direction, and where the mass of each link is."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from torsor import lie
from torsor.arrays.typing import Array, ConfigurationVector, Matrix3, Vector3
from torsor.border import explained
from torsor.errors import ModelError
from torsor.functions.public.dynamics import inverse_mass_matrix
from torsor.functions.public.kinematics import mixed_jacobian
from torsor.lie.se3 import pose
from torsor.lie.unchecked.inertias import rotational
from torsor.model import Robot
from torsor.plot import solids
from torsor.plot._mechanism import draw_bodies, draw_masses, mass_handle
from torsor.plot.canvas import INK, LIGHT, ORANGE, PURPLE, SKY, arrow, finish_space, label, legend, space_axes
from torsor.plot.skeleton import Skeleton, one_configuration, skeleton_of, tip_frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D


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
            f"mobility_ellipsoid: the mass matrix of robot {robot.name!r} is singular at this q; give every link a mass "
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
    robot: Robot, q: ConfigurationVector | None = None, frame: str | None = None, *, ax: Axes | None = None
) -> Axes:
    """The ellipsoid of J M⁻¹ Jᵀ at a frame's origin, on the mechanism: long where the robot is light [LP, (9.95)–(9.99)].

    ``q`` (nq,), rad or m (neutral if None); ``frame`` is the last named frame of the last link if None. The surface holds
    the velocities (also: the accelerations from rest) that joint motions of vᵀ M v = 1 J (torques of τᵀ M⁻¹ τ = 1) give to
    the frame's origin. Along each principal axis stands the mass in kg that a push there would feel, the inverse of the
    eigenvalue. Scaled to be seen. Returns the Axes, in m.
    """
    q = one_configuration("mobility_ellipsoid", robot, q)
    frame = tip_frame(robot) if frame is None else frame
    robot.structure.frame(frame)  # refuses unknown names
    found = mobility(robot, q, frame)
    with np.errstate(divide="ignore"):
        felt = [f"{mass:.3g} kg" for mass in found.semi_axes**-2.0]
    said = rf"$J M^{{-1}} J^T$ at {frame}, effective masses along its axes"
    return draw_at_frame("mobility_ellipsoid", robot, q, frame, found, felt, said, ax)


def draw_at_frame(
    where: str,
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
    ax = space_axes(where, ax, gravity=robot.gravity)
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
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    def on_page(point: Vector3) -> Array:
        x, y, _ = proj_transform(*point, ax.get_proj())
        return np.asarray(ax.transData.transform((x, y))) * 72 / ax.figure.dpi

    centre, choices = on_page(at), []
    for signs in product((1.0, -1.0), repeat=len(axes)):
        ends = [on_page(at + sign * axis) for sign, axis in zip(signs, axes, strict=True)]
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
def link_inertia_ellipsoids(robot: Robot, q: ConfigurationVector | None = None, *, ax: Axes | None = None) -> Axes:
    """Each link as the solid ellipsoid with its mass, centre of mass and inertia, at ``q`` (nq,), rad or m [BSP93, §3.1].

    Semi-axes a_k = √(5 J_kk / m) in m, with J the second moment about the centre of mass [Sil81, (2.11)], true to scale:
    a link whose ellipsoid is much larger than its body has wrong inertia. Links whose inertia no real body can have
    are drawn in another colour. Returns the Axes, in m.
    """
    q = one_configuration("link_inertia_ellipsoids", robot, q)
    ax = space_axes("link_inertia_ellipsoids", ax, gravity=robot.gravity)
    skeleton = skeleton_of(robot, q)
    scene, points, impossible = solids.Scene(), [skeleton.points()], False
    for i, link in enumerate(robot.links):
        found = equivalent_ellipsoid(robot, link)
        if found.semi_axes[2] <= 0:
            continue
        bad = bool(robot.inertia(link).violations())
        impossible = impossible or bad
        axes = skeleton.poses[i][:3, :3] @ (found.semi_axes * found.directions)
        scene.add(solids.ellipsoid(skeleton.coms[i], axes, 28), PURPLE if bad else ORANGE, 0.25)
        reach = np.linalg.norm(axes, axis=1)
        points.append(np.stack([skeleton.coms[i] - reach, skeleton.coms[i] + reach]))
    finish_space(ax, np.concatenate(points), pad=skeleton.symbol)
    draw_bodies(ax, skeleton, base=robot.structure.base)
    scene.draw(ax, "link ellipsoids", zorder=4)
    draw_masses(ax, skeleton)
    from matplotlib.patches import Patch

    handles = [Patch(color=ORANGE, alpha=0.5, label="solid ellipsoid of equal mass and inertia")]
    if impossible:
        handles.append(Patch(color=PURPLE, alpha=0.5, label="inertia that no real body has"))
    legend(ax, [Patch(color=LIGHT, label="link"), *handles, mass_handle()])
    return ax
