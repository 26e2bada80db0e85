"""The mass matrix as a metric on the plane of two joints: an ellipse at each point, as mapmakers draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from torsor.arrays.typing import ConfigurationVector
from torsor.border import explained
from torsor.errors import ModelError
from torsor.functions.public.dynamics import mass_matrix
from torsor.model import Robot
from torsor.plot.canvas import BLUE, GREY, flat_axes
from torsor.plot.joint_plane import Joints, check_resolution, joint_plane
from torsor.plot.skeleton import one_configuration

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@explained
def mass_matrix_ellipse(
    robot: Robot,
    joints: Joints,
    *,
    q: ConfigurationVector | None = None,
    resolution: int = 9,
    ax: Axes | None = None,
    colour: str = BLUE,
) -> Axes:
    """Ellipses vᵀ M(q) v = 1 J over the plane of two joints, where v moves these two alone [BSP93, (8); PBP95, (65)].

    ``joints``: two joints with one degree of freedom, by name or position in `robot.coordinates`; the others stay as in
    ``q`` (nq,), rad or m (neutral if None). At ``resolution`` × ``resolution`` points, all to one scale: where ellipses are
    large the robot is light, where they all are equal the metric M is flat in these coordinates. The title states how many
    seconds of motion are drawn. Returns the Axes, rad or m.
    """
    plane = joint_plane("mass_matrix_ellipse", robot, joints)
    check_resolution("mass_matrix_ellipse", resolution)
    rest = one_configuration("mass_matrix_ellipse", robot, q)
    states = plane.grid(rest, resolution, inset=0.5 / resolution)
    pair = [plane.across.v, plane.up.v]
    M = np.asarray(mass_matrix(robot, states))[..., pair, :][..., pair]
    if np.any(np.linalg.eigvalsh(M)[..., 0] <= 0):
        raise ModelError(
            f"mass_matrix_ellipse: these joints of robot {robot.name!r} can move without moving any mass, so that the ellipse "
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
