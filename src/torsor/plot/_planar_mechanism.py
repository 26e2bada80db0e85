"""A planar robot in its plane, with the vectors that decide how its masses balance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration, Vector3
from torsor.border import explained
from torsor.errors import ModelError, ShapeError
from torsor.model import Robot
from torsor.plot.canvas import Axes, flat_axes, halo, legend, quartered_disk
from torsor.plot.palette import BLUE, GREEN, GREY, INK, LIGHT, VERMILION
from torsor.plot.skeleton import Skeleton, one_configuration, skeleton_of

_PARALLEL = 1e-6  # sine of the angle up to which axes count as parallel
Counterweight = tuple[str, float, Vector3]


class _Plane(NamedTuple):
    """Unit vectors (3,) to the right, up the page and towards the reader."""

    right: Vector3
    up: Vector3
    normal: Vector3

    def project(self, points: Array) -> Array:
        return np.stack([points @ self.right, points @ self.up], axis=-1)


@explained
def planar_mechanism(
    robot: Robot,
    q: GivenConfiguration | None = None,
    *,
    ax: Axes | None = None,
    notation: bool = True,
    counterweights: Iterable[Counterweight] = (),
) -> Axes:
    """Picture of a planar robot, seen along its joint axes, of one state only [BSP93, Fig. 2].

    Revolute joints are circles, prismatic ones squares, centres of mass quartered disks. The notation is, numbered from
    1, the frames k̄ (at joint k) and k (at the centre of mass of link k), the vectors p_k̄k from joint k to the centre of
    mass of link k, and d_k from joint k to joint k + 1 (d_k,c to joint c where a link carries several), the d_k of the
    balancing condition m_k p_k̄k + (Σ_{j>k} m_j) d_k = 0, k = 2 … n [BSP93, §5, E000-13, E000-14].
    Gravity points down the page if it acts in the plane.

    Parameters
    ----------
    robot : Robot
    q : (nq,) array, optional
        Configuration, rad or m; neutral by default.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    notation : bool
        Whether frames and vectors are drawn with their names.
    counterweights : iterable of (str, float, (3,) array)
        Bodies to show: name of the link, mass in kg, position in the link's frame, m.

    Returns
    -------
    Axes
        In m.
    """
    q = one_configuration(robot, q)
    skeleton = skeleton_of(robot, q)
    plane = _plane_of(robot, skeleton)
    weights = [_placed(robot, skeleton, weight) for weight in counterweights]
    ax = flat_axes(ax, (6.5, 5.5))
    points = plane.project(np.array([*skeleton.points(), *(place for *_, place in weights)]))
    size = float(np.ptp(points, axis=0).max()) or 1.0
    r = 0.022 * size
    _draw_links(ax, skeleton, plane, r)
    _draw_counterweights(ax, skeleton, plane, weights)
    patches = _draw_symbols(ax, skeleton, plane, r)
    if notation:
        _draw_vectors(ax, skeleton, plane, r, patches)
        _draw_numbers(ax, skeleton, plane, r)
    _finish(ax, plane, points, 5 * r)
    _legend(ax, skeleton, notation, bool(weights))
    return ax


def _plane_of(robot: Robot, skeleton: Skeleton) -> _Plane:
    """The plane of motion, or a ModelError that names the joint that leaves it."""
    normals = [joint.axis for joint in skeleton.joints if joint.kind in ("revolute", "planar")]
    if not normals:
        raise ModelError(
            f"robot {robot.name!r} has no revolute or planar joint to say which its plane is; "
            "use torsor.plot.mechanism."
        )
    normal = np.asarray(normals[0])
    for joint in skeleton.joints:
        if joint.kind not in ("revolute", "planar", "prismatic") or joint.axis is None:
            trouble = f"is {joint.kind}"
        elif joint.kind == "prismatic" and abs(joint.axis @ normal) > _PARALLEL:
            trouble = "slides out of the plane of the others"
        elif joint.kind != "prismatic" and np.linalg.norm(np.cross(joint.axis, normal)) > _PARALLEL:
            trouble = "has an axis that is not parallel to the first one"
        else:
            continue
        raise ModelError(
            f"robot {robot.name!r} is not planar: joint {joint.name!r} {trouble}. "
            "Use torsor.plot.mechanism, or `robot.lock` the joints that leave the plane."
        )
    up = -np.asarray(robot.gravity) + (np.asarray(robot.gravity) @ normal) * normal
    if np.linalg.norm(up) < 1e-9:
        up = np.eye(3)[int(np.argsort(np.abs(normal), kind="stable")[1])]  # for axes along z: y
        up = up - (up @ normal) * normal
    up = up / np.linalg.norm(up)
    return _Plane(np.cross(up, normal), up, normal)


def _placed(robot: Robot, skeleton: Skeleton, weight: Counterweight) -> tuple[int, float, Vector3]:
    """A counterweight as (link, mass, place (3,) in base axes)."""
    name, mass, position = weight
    link = robot.structure.link_index(name)
    position = np.asarray(position, float)
    if position.shape != (3,):
        raise ShapeError(
            f"the position of a counterweight has shape (3,), in the frame of link {name!r}; got {position.shape}."
        )
    T = np.eye(4) if link < 0 else skeleton.poses[link]
    return link, float(mass), T[:3, :3] @ position + T[:3, 3]


def _draw_links(ax: Axes, skeleton: Skeleton, plane: _Plane, r: float) -> None:
    for link in range(-1, len(skeleton.parents)):
        for start, end in plane.project(np.array(skeleton.bars(link)).reshape(-1, 2, 3)):
            style: dict[str, Any] = {"color": LIGHT, "linewidth": 7.0, "solid_capstyle": "round", "zorder": 1}
            if link < 0:
                style |= {"color": GREY, "linewidth": 2.0}
            ax.plot(*np.stack([start, end]).T, gid=f"link {link + 1}", **style)
    for k, joint in enumerate(skeleton.joints, 1):
        near, far = plane.project(np.stack([joint.near, joint.far]))
        if joint.kind == "prismatic":
            ends = np.stack([near, far]) + np.array([[-3 * r], [3 * r]]) * plane.project(joint.axis)
            ax.plot(*ends.T, color=GREY, linewidth=1.2, zorder=2, gid=f"rail {k}")
        elif skeleton.parents[k - 1] < 0 and joint.kind == "revolute":
            _foot(ax, near, r)


def _draw_symbols(ax: Axes, skeleton: Skeleton, plane: _Plane, r: float) -> tuple[list[Any], list[Any]]:
    """Joints and centres of mass; the patches of both, so that arrows can stop at their edges."""
    joints = []
    for k, joint in enumerate(skeleton.joints, 1):
        far = plane.project(joint.far)
        slide = plane.project(joint.axis) if joint.kind == "prismatic" else None
        joints.append(_joint_symbol(ax, far, r, f"joint {k}", square=joint.kind == "planar", slide=slide))
    coms = [
        quartered_disk(ax, com, r, f"centre of mass {k}") if mass > 0 else None
        for k, (com, mass) in enumerate(zip(plane.project(skeleton.coms), skeleton.masses, strict=True), 1)
    ]
    return joints, coms


def _draw_vectors(ax: Axes, skeleton: Skeleton, plane: _Plane, r: float, patches: tuple[list[Any], list[Any]]) -> None:
    """The vectors p and d with their names."""
    joints, coms = patches
    for k, joint in enumerate(skeleton.joints, 1):
        at, com = plane.project(np.stack([joint.far, skeleton.coms[k - 1]]))
        children = skeleton.children(k - 1)
        ends = [plane.project(skeleton.joints[c].near) for c in children]
        beside = any(_parallel(end - at, com - at) for end in ends)
        for c, end in zip(children, ends, strict=True):
            name = f"$d_{{{k}}}$" if len(children) == 1 else f"$d_{{{k},{c + 1}}}$"
            _vector(ax, at, end, name, VERMILION, r, (joints[k - 1], joints[c]), side=-1.0, beside=beside)
        if coms[k - 1] is not None:
            name = rf"$p_{{\bar{{{k}}}{k}}}$"
            _vector(ax, at, com, name, BLUE, r, (joints[k - 1], coms[k - 1]), side=1.0, beside=beside)


def _draw_numbers(ax: Axes, skeleton: Skeleton, plane: _Plane, r: float) -> None:
    """The names of the frames: k̄ at joint k, in the widest gap between what meets there, and k at centre of mass k."""
    coms = plane.project(skeleton.coms)
    for k, com in enumerate(coms, 1):
        if skeleton.masses[k - 1] > 0:
            _note(ax, com + np.array([0.0, 2.0 * r]), f"${k}$", f"frame {k}")
    places = plane.project(np.array([joint.far for joint in skeleton.joints]))
    for k, place in enumerate(places, 1):
        together = [j for j, other in enumerate(places, 1) if np.linalg.norm(other - place) < r]
        if together[0] < k:
            continue
        meeting = [np.array([0.0, -1.0])] if skeleton.parents[k - 1] < 0 else []
        if np.min(np.linalg.norm(coms - place, axis=-1)) < r:
            meeting.append(np.array([0.0, 1.0]))
        for j in together:
            parent = skeleton.parents[j - 1]
            meeting.append((places[parent] if parent >= 0 else np.zeros(2)) - place)
            meeting.append(coms[j - 1] - place)
            meeting += [places[c] - place for c in skeleton.children(j - 1)]
            if skeleton.joints[j - 1].kind == "prismatic":
                meeting += [sign * plane.project(skeleton.joints[j - 1].axis) for sign in (-1.0, 1.0)]
        text = ", ".join(rf"$\bar{{{j}}}$" for j in together)
        away = (3.2 if any(skeleton.joints[j - 1].kind == "prismatic" for j in together) else 2.3) * r
        _note(ax, place + away * _widest_gap(meeting, r), text, f"frame {k}-bar")


def _draw_counterweights(
    ax: Axes, skeleton: Skeleton, plane: _Plane, weights: list[tuple[int, float, Vector3]]
) -> None:
    heaviest = max([*skeleton.masses, *(mass for _, mass, _ in weights)], default=1.0)
    for link, mass, place in weights:
        joint = np.zeros(3) if link < 0 else skeleton.joints[link].far
        (at, start) = plane.project(np.stack([place, joint]))
        ax.plot(*np.stack([start, at]).T, color=GREEN, linewidth=2.5, alpha=0.6, zorder=3)
        dot = ax.scatter(at[:1], at[1:], s=300 * mass / heaviest, color=GREEN, edgecolors=INK, linewidths=0.8, zorder=5)
        dot.set_gid(f"counterweight on link {link + 1}")
        below: dict[str, Any] = {"xytext": (0, -14), "textcoords": "offset points", "ha": "center", "va": "top"}
        ax.annotate(f"{mass:.3g} kg", at, fontsize=8, color=GREEN, **below)


def _finish(ax: Axes, plane: _Plane, points: Array, pad: float) -> None:
    for name, direction, column in (("x", plane.right, 0), ("y", plane.up, 1)):
        k = int(np.argmax(np.abs(direction)))
        straight = abs(direction[k]) > 1 - 1e-9
        word = ("−" if direction[k] < 0 else "") + "xyz"[k] if straight else {"x": "across", "y": "up"}[name]
        getattr(ax, f"set_{name}label")(f"{word} (m)")
        getattr(ax, f"set_{name}lim")(points[:, column].min() - pad, points[:, column].max() + pad)
    ax.set_aspect("equal", adjustable="box")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)


def _legend(ax: Axes, skeleton: Skeleton, notation: bool, weights: bool) -> None:
    from matplotlib.lines import Line2D

    def entry(name: str, **style: Any) -> Any:
        return Line2D([], [], label=name, **{"linestyle": "none", "color": INK, **style})

    kinds = dict.fromkeys(joint.kind for joint in skeleton.joints)
    found = [
        entry(f"{kind} joint", marker="o" if kind == "revolute" else "s", markerfacecolor="white") for kind in kinds
    ]
    found.append(entry("centre of mass", marker="o", fillstyle="left", markerfacecoloralt="white"))
    if notation:
        found.append(entry("joint to centre of mass, p", linestyle="-", color=BLUE))
        found.append(entry("joint to next joint, d", linestyle="-", color=VERMILION))
    if weights:
        found.append(entry("counterweight", marker="o", color=GREEN, markeredgecolor=INK))
    # Above the picture: an arm stretched along it leaves no room inside.
    legend(ax, found, loc="lower center", bbox_to_anchor=(0.5, 1.02), borderaxespad=0.0, ncols=2)


# The signs of planar drawings: pivots, slides, ground, quartered disks, named vectors. Lengths in m, on the page.


def _foot(ax: Axes, at: Array, r: float) -> None:
    """The ground under a pivot at ``at`` (2,)."""
    from matplotlib.patches import Polygon

    stand = at + r * np.array([[0.0, 0.0], [-1.5, -2.6], [1.5, -2.6]])
    ax.add_patch(Polygon(stand, facecolor="white", edgecolor=INK, linewidth=1.0, zorder=2))
    ground = at + r * np.array([[-2.4, -3.4], [2.4, -3.4], [2.4, -2.6], [-2.4, -2.6]])
    ax.add_patch(Polygon(ground, facecolor="none", edgecolor=GREY, hatch="/////", linewidth=0.0, zorder=2))
    ax.plot(*ground[2:].T, color=INK, linewidth=1.2, zorder=2)


def _joint_symbol(ax: Axes, at: Array, r: float, gid: str, *, square: bool = False, slide: Array | None = None) -> Any:
    """A circle for a pivot, a square, or a box along ``slide`` (2,), the direction of a prismatic joint."""
    from matplotlib.patches import Circle, Rectangle

    style: dict[str, Any] = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.4, "zorder": 4, "gid": gid}
    patch: Any
    if slide is not None:
        angle = float(np.degrees(np.arctan2(slide[1], slide[0])))
        corner = (float(at[0] - 2.0 * r), float(at[1] - 1.3 * r))
        patch = Rectangle(corner, 4.0 * r, 2.6 * r, angle=angle, rotation_point="center", **{**style, "zorder": 3})
    elif square:
        patch = Rectangle((float(at[0] - r), float(at[1] - r)), 2 * r, 2 * r, **style)
    else:
        patch = Circle(at, 0.85 * r, **style)
    return ax.add_patch(patch)


def _vector(
    ax: Axes,
    start: Array,
    end: Array,
    name: str,
    colour: str,
    r: float,
    patches: tuple[Any, Any],
    *,
    side: float,
    beside: bool,
) -> None:
    """An arrow from ``start`` to ``end`` (2,) with its name on one ``side`` (±1), drawn between the edges of ``patches``.

    ``beside`` shifts it off the line, so that two vectors along one link can both be seen.
    """
    along = end - start
    length = float(np.linalg.norm(along))
    if length < 1e-6 * r:
        return
    across = side * np.array([-along[1], along[0]]) / length
    shift = 0.4 * r * across if beside else np.zeros(2)
    style: dict[str, Any] = {
        "arrowstyle": "-|>",
        "color": colour,
        "shrinkA": 0,
        "shrinkB": 0,
        "linewidth": 1.4,
        "mutation_scale": 11,
    }
    if length > 2 * r:
        style |= {"patchA": patches[0], "patchB": patches[1]}
    arrow = ax.annotate("", end + shift, start + shift, arrowprops=style, zorder=6)
    arrow.set_gid(f"vector {name}")
    _note(ax, start + 0.5 * along + 2.0 * r * across, name, f"name {name}", color=colour)


def _note(ax: Axes, at: Array, text: str, gid: str, **style: Any) -> None:
    """A short text centred at a point (2,)."""
    x, y = at
    ax.text(x, y, text, ha="center", va="center", fontsize=10, zorder=9, path_effects=halo(), gid=gid, **style)


def _parallel(a: Array, b: Array) -> bool:
    """Whether two vectors (2,) point the same way, to within a few degrees."""
    scale = float(np.linalg.norm(a) * np.linalg.norm(b))
    return scale > 0 and float(a @ b) > 0.99 * scale


def _widest_gap(directions: list[Array], r: float) -> Array:
    """The unit vector (2,) in the middle of the widest gap between directions; those shorter than ``r`` do not count."""
    unit = [np.arctan2(d[1], d[0]) for d in directions if np.linalg.norm(d) > min(r, 0.999)]
    if not unit:
        return np.array([-0.7, 0.7])
    angles = np.sort(np.array(unit))
    gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
    widest = int(np.argmax(gaps))
    middle = angles[widest] + gaps[widest] / 2
    return np.array([np.cos(middle), np.sin(middle)])
