"""A motion over time: positions, velocities, joint forces and energies, one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.border.numbers import refuse_bad_numbers
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.lie.unchecked import so3
from torsor.motion._pose_motions import PoseMotion
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory
from torsor.plot.canvas import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, SKY, VERMILION, pyplot

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # type hints can be read where matplotlib is missing
    Figure = Any

COLOURS = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY, INK)
STYLES = ("-", "--", "-.", ":")
MOST_NAMES = 28  # that a legend has room for


@explained
def trajectory(motion: Motion | PoseMotion, *, joints: Any = None, dt: float | None = None) -> Figure:
    """Picture of a motion over time: q (N, nq), v (N, nv), joint forces (N, nv) and energies, J [LP, §9.5]; limits as thin lines.

    Of a pose: its position, m, its rotation from where it begins, rad, and its body twist, rad/s and m/s.

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
    if not isinstance(motion, Motion):
        raise ArgumentTypeError(f"`motion` must be a motion, such as a torsor.Trajectory, got {type(motion).__name__}.")
    run = motion if isinstance(motion, Trajectory) else motion.sample(dt or _step(motion))
    if run.batch:
        raise ArgumentError(f"a picture shows one trajectory; choose one of the batch {run.batch}, such as run.of(0).")
    s, limits = run.robot.structure, run.robot.structure.limits
    known = [c.name for c in s.coordinates]
    chosen = known if joints is None else [joints] if isinstance(joints, str) else list(joints)
    for name in chosen:
        if name not in known:
            s.joint_index(name)  # says what there is
    coordinates = [c for c in s.coordinates if c.name in chosen]
    q_places = [k for c in coordinates for k in range(c.q.start, c.q.stop)]
    v_places = [k for c in coordinates for k in range(c.v.start, c.v.stop)]
    figure = plt.figure(figsize=(8.0, 9.0), layout="constrained")
    axes = figure.subplots(4, 1, sharex=True)
    lower, upper = np.array(limits.lower), np.array(limits.upper)
    speed, effort = np.array(limits.velocity), np.array(limits.effort)
    rows: list[tuple[str, Array, list[int], Array, Array]] = [
        ("position, rad or m", run.q, q_places, lower, upper),
        ("velocity, rad/s or m/s", run.v, v_places, -speed, speed),
        ("joint force, N·m or N", run.tau, v_places, -effort, effort),
    ]
    for ax, (title, values, places, low, high) in zip(axes, rows, strict=False):
        _draw(ax, run.time, values, places, low, high, steps=values is run.tau)
        ax.set_ylabel(title)
    names = [n for c in coordinates for n in ([c.name] if c.nv == 1 else [f"{c.name}[{k}]" for k in range(c.nv)])]
    if 0 < len(names) <= MOST_NAMES:
        axes[1].legend(
            axes[1].lines[: len(names)],
            [_plain(name) for name in names],
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            frameon=False,
        )
    for label, energy, colour in (
        ("kinetic", run.kinetic, BLUE),
        ("potential", run.potential, ORANGE),
        ("sum", run.energy, INK),
    ):
        axes[3].plot(run.time, energy, color=colour, label=label)
    axes[3].set_ylabel("energy, J")
    axes[3].set_xlabel("time, s")
    axes[3].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    axes[0].set_title(_plain(run.robot.name))
    return figure  # type: ignore[no-any-return]


def _plain(name: str) -> str:
    """A name that is not taken for a formula, as matplotlib takes what stands between dollars."""
    return name.replace("$", r"\$")


def _step(motion: Motion | PoseMotion) -> float:
    """Time between samples that a picture needs, s."""
    return motion.duration / 300 or 1.0


def _picture_of_pose(plt: Any, motion: PoseMotion, dt: float | None) -> Figure:
    run = motion.sample(dt or _step(motion))
    if run.pose.ndim > 3:
        raise ArgumentError(f"a picture shows one motion, and this is a batch {run.pose.shape[:-3]} of them.")
    R = run.pose[:, :3, :3]
    figure = plt.figure(figsize=(8.0, 9.0), layout="constrained")
    for ax, (title, values) in zip(
        figure.subplots(4, 1, sharex=True),
        (
            ("position, m", run.pose[:, :3, 3]),
            ("rotation from the start, rad", so3.log(R[0].T @ R)),
            ("angular velocity, rad/s", run.twist[:, :3]),
            ("linear velocity, m/s", run.twist[:, 3:]),
        ),
        strict=True,
    ):
        for name, colour, x in zip("xyz", COLOURS, values.T, strict=False):
            ax.plot(run.time, x, color=colour, linewidth=1.4, label=name)
        ax.set_ylabel(title)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    ax.set_xlabel("time, s")
    return figure  # type: ignore[no-any-return]


def _draw(ax: Any, time: Array, values: Array, places: list[int], low: Array, high: Array, *, steps: bool) -> None:
    """A line for each number, no two alike, then the limits that are within sight of them."""
    for line, k in enumerate(places):
        style = {"color": COLOURS[line % len(COLOURS)], "linestyle": STYLES[line // len(COLOURS) % len(STYLES)]}
        ax.plot(time, values[:, k], drawstyle="steps-post" if steps else "default", linewidth=1.4, **style)
    shown = values[:, places]
    if not np.any(np.isfinite(shown)):
        return
    least, most = float(np.nanmin(shown)), float(np.nanmax(shown))
    room = 0.15 * max(most - least, 1e-9)
    for bound in {float(x) for k in places for x in (low[k], high[k])}:
        if np.isfinite(bound) and least - room <= bound <= most + room:
            ax.axhline(bound, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=0)
