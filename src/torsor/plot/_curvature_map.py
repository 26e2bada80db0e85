"""How the mass matrix is curved, as a map over two joints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from torsor.arrays.typing import Array, GivenConfiguration
from torsor.border import explained
from torsor.border.arguments import refuse_unknown_word
from torsor.errors import ArgumentError
from torsor.functions.public import geometry
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.plot.canvas import GREY, Axes, flat_axes, pyplot
from torsor.plot.joint_plane import JointPlane, Joints, check_resolution, joint_plane
from torsor.plot.skeleton import one_configuration

_ROUNDING = 1e-9  # of 1/(least eigenvalue of M): what curvature below this is, is rounding
_SHOWN = 95.0  # percent of the values within the colours, where the others have no bound


def _sectional(robot: Robot, q: Array, plane: JointPlane) -> Array:
    u, w = np.eye(robot.nv)[[plane.across.v, plane.up.v]]
    return geometry.sectional_curvature(robot, q, u, w)


def _scalar(robot: Robot, q: Array, plane: JointPlane) -> Array:
    return geometry.scalar_curvature(robot, q)


def _norm(robot: Robot, q: Array, plane: JointPlane) -> Array:
    return geometry.curvature_norm(robot, q)


_QUANTITIES: dict[str, tuple[Callable[[Robot, Array, JointPlane], Array], str]] = {
    "sectional": (_sectional, "sectional curvature $K$"),
    "scalar": (_scalar, "scalar curvature"),
    "norm": (_norm, r"curvature norm $\sqrt{R_{ijkl} R^{ijkl}}$"),
}


@explained
def curvature_map(
    robot: Robot,
    joints: Joints,
    *,
    q: GivenConfiguration | None = None,
    quantity: str = "sectional",
    resolution: int = 81,
    ax: Axes | None = None,
    limit: float | None = None,
) -> Axes:
    """Picture of the curvature of the metric M(q) over two joints, in 1/(kg·m²), as colours [PBP95, (66), §5].

    Signed quantities are blue below zero and red above, with a line at zero. Where M is singular the map is grey, and since
    curvature has no bound next to there, one value in twenty is then beyond the default ``limit``. One batched call evaluates
    resolution² states.

    Parameters
    ----------
    robot : Robot
    joints : pair of str or int
        Two joints with one degree of freedom, by name or position in `robot.coordinates`. The map covers their limits (±π, ±1 m
        if none).
    q : (nq,) array, optional
        Configuration of the other joints, rad or m; neutral by default.
    quantity : str
        "sectional", of the plane these two joints span; "scalar"; or "norm" of the whole tensor, zero just where it is flat.
    resolution : int
        Points along each axis.
    ax : Axes, optional
        Axes to draw into; new ones by default.
    limit : float, optional
        Where colours end, 1/(kg·m²); the largest value by default.

    Returns
    -------
    Axes
        Of the two joints, rad or m.
    """
    refuse_unknown_word("quantity", quantity, _QUANTITIES)
    check_resolution(resolution)
    plane = joint_plane(robot, joints)
    rest = one_configuration(robot, q)
    states = plane.grid(rest, resolution)
    evaluate, words = _QUANTITIES[quantity]
    with np.errstate(all="ignore"):  # where M is singular, NaN
        values = np.ma.masked_invalid(np.asarray(evaluate(robot, states, plane)))
    known = values.compressed()
    if not known.size:
        raise ArgumentError(
            f"the mass matrix of robot {robot.name!r} is singular everywhere on this map, and has no curvature; "
            "give every link a mass (see torsor.dynamics.mass_matrix_report)."
        )
    whole = known.size == values.size
    if limit is None:
        lightest = float(np.linalg.eigvalsh(np.asarray(mass_matrix(robot, rest)))[0])
        largest = float(np.max(np.abs(known)) if whole else np.percentile(np.abs(known), _SHOWN))
        limit = max(largest, _ROUNDING / lightest if lightest > 0 else 1.0)
    signed = quantity != "norm"
    ax = flat_axes(ax, (6.4, 5.2))
    x, y = states[0, :, plane.across.q], states[:, 0, plane.up.q]
    name, lowest = ("RdBu_r", -limit) if signed else ("cividis", 0.0)
    cmap = pyplot().get_cmap(name).with_extremes(bad=GREY)
    # Colours between points need values at all of them
    shading: Literal["gouraud", "nearest"] = "gouraud" if whole else "nearest"
    shown = values.data if whole else values
    image = ax.pcolormesh(x, y, shown, shading=shading, rasterized=True, cmap=cmap, vmin=lowest, vmax=limit)
    image.set_gid(f"{quantity} curvature")
    if signed and known.min() < -_ROUNDING * limit and known.max() > _ROUNDING * limit:
        ax.contour(x, y, shown, levels=[0.0], colors=[GREY], linewidths=0.8)
    bar = ax.figure.colorbar(image, ax=ax, pad=0.02)
    bar.set_label(f"{words}  (1/(kg·m²))", fontsize=9)
    bar.ax.tick_params(labelsize=8)
    bar.outline.set_visible(False)
    plane.label(ax)
    return ax
