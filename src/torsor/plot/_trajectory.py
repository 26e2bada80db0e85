"""A motion over time: positions, velocities, joint forces and energies, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ArgumentError
from torsor.lie.unchecked import so3
from torsor.motion._pose_motions import PoseMotion
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory
from torsor.plot._energies import draw_energies
from torsor.plot.canvas import Axes, pyplot
from torsor.plot.over_time import (
    SAMPLES,
    TITLES,
    Number,
    force_style,
    in_sight,
    legend_of_bundles,
    limit_look,
    numbers,
    samples_of,
    title_of,
    unit_text,
    values_of,
)
from torsor.plot.palette import line_look

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # type hints can be read where matplotlib is missing
    Figure = Any

MOST_NAMES = 28  # that a legend has room for


@explained
def trajectory(motion: Motion | PoseMotion, *, joints: Any = None, dt: float | None = None) -> Figure:
    """Picture of a motion over time: q (N, nq), v (N, nv), joint forces (N, nv) and energies, J [LP, §9.5].

    Limits that are near are dotted lines in the colour of their joint, grey where several joints have
    the same. `torsor.plot.joints` draws each joint by itself. Of a pose: its position, m, its rotation from where it begins, rad,
    and its body twist, rad/s and m/s.

    Parameters
    ----------
    motion : Motion or PoseMotion
        A `torsor.Trajectory`, or any other motion, which is sampled.
    joints : sequence of str, optional
        Names of the joints to draw; all by default.
    dt : float, optional
        For a motion that is no trajectory: time between samples, s; by default a 300th of its duration.

    Returns
    -------
    matplotlib.figure.Figure
    """
    plt = pyplot()
    if dt is not None:
        refuse_bad_numbers(dt=dt)
    if isinstance(motion, PoseMotion):
        if joints is not None:
            raise ArgumentError("`joints` is for motions of robots, and this is a motion of a pose.")
        return _picture_of_pose(plt, motion, dt)
    run = samples_of(motion, dt)
    if run.batch:
        raise ArgumentError(
            f"a picture shows one trajectory; choose one of the batch {run.batch}, such as run.of(0). "
            "torsor.plot.joints, energies and phase draw all of them."
        )
    figure = plt.figure(figsize=(8.0, 9.0), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    for ax, quantity in zip(axes, ("position", "velocity", "force"), strict=False):
        found = numbers(run.robot, quantity, joints)
        (values,) = values_of(run, quantity)
        _draw(ax, run, values, found, force_style(motion) if quantity == "force" else {})
        ax.set_ylabel(f"{TITLES[quantity]} ({unit_text(found)})")
    found = numbers(run.robot, "velocity", joints)
    if len(found) <= MOST_NAMES:
        legend_of_bundles(axes[1], axes[1].lines[: len(found)])
    draw_energies(axes[3], run)
    axes[3].set_xlabel("time (s)")
    axes[0].set_title(title_of(run), fontsize=11)
    return figure  # type: ignore[no-any-return]


def _picture_of_pose(plt: Any, motion: PoseMotion, dt: float | None) -> Figure:
    run = motion.sample(dt or motion.duration / SAMPLES or 1.0)
    if run.pose.ndim > 3:
        raise ArgumentError(f"a picture shows one motion, and this is a batch {run.pose.shape[:-3]} of them.")
    R = run.pose[:, :3, :3]
    figure = plt.figure(figsize=(8.0, 9.0), layout="constrained")
    for ax, (title, values) in zip(
        figure.subplots(4, 1, sharex=True),
        (
            ("position (m)", run.pose[:, :3, 3]),
            ("rotation from the start (rad)", so3.log(R[0].T @ R)),
            ("angular velocity (rad/s)", run.twist[:, :3]),
            ("linear velocity (m/s)", run.twist[:, 3:]),
        ),
        strict=True,
    ):
        lines = [ax.plot(run.time, x, linewidth=1.4, label="xyz"[k], **line_look(k))[0] for k, x in enumerate(values.T)]
        ax.set_ylabel(title)
        legend_of_bundles(ax, lines)
    ax.set_xlabel("time (s)")
    return figure  # type: ignore[no-any-return]


def _draw(ax: Axes, run: Trajectory, values: Array, found: list[Number], more: dict[str, Any]) -> None:
    """A line for each number, no two alike, then the limits that are within sight of them."""
    style: dict[str, Any] = {"linewidth": 1.4, **more}
    if len(run) == 1:
        style["marker"] = "o"
    for k, number in enumerate(found):
        ax.plot(run.time, values[:, number.place], label=number.name, **style, **line_look(k))
    drawn = values[:, [number.place for number in found]]
    if not np.any(drawn):
        ax.set_ylim(-1.0, 1.0)  # nothing but zero: the scale means nothing, and should not look like one
    for k, number in enumerate(found):
        for bound in {number.low, number.high}:
            if in_sight(bound, drawn):
                ax.axhline(bound, **limit_look(found, number, bound, line_look(k)["color"]))
