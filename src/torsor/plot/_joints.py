"""Each joint of a motion by itself, with its own unit and its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError
from torsor.motion.motions import Motion
from torsor.plot.canvas import Axes, pyplot
from torsor.plot.over_time import TITLES, Number, bundle, force_style, numbers, samples_of, title_of, values_of
from torsor.plot.palette import BLUE, GREY, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:  # type hints can be read where matplotlib is missing
    Figure = Any

MOST_PANELS = 60
NEAR = 0.6  # of the range of the values: a limit so near is drawn


@explained
def joints(
    motion: Motion, *, quantity: str = "position", joints: str | list[str] | None = None, dt: float | None = None
) -> Figure:
    """Picture of each joint over time, a panel for each with its unit and limits: q, v, a or τ (..., N, n) [LP, §9.5].

    Limits are written above each panel and drawn where the motion comes near to them; what is beyond is shaded. Of a batch every
    motion is a thin line, of at most a hundred.

    Parameters
    ----------
    motion : Motion
        A `torsor.Trajectory`, or any other motion, which is sampled.
    quantity : str
        "position" (rad or m), "velocity", "acceleration" or "force" (N·m or N).
    joints : str or list of str, optional
        Names of the joints to draw; all by default.
    dt : float, optional
        For a motion that is no trajectory: time between samples, s; by default a 300th of its duration.

    Returns
    -------
    matplotlib.figure.Figure
    """
    plt = pyplot()
    run = samples_of(motion, dt)
    found = numbers(run.robot, quantity, joints)
    if len(found) > MOST_PANELS:
        raise ArgumentError(
            f"`joints` must be chosen: {len(found)} panels are more than a page has room for (at most {MOST_PANELS}). "
            f"For example joints={list(run.robot.coordinates[:2])!r:.80}."
        )
    columns = 1 if len(found) <= 3 else 2 if len(found) <= 14 else 3 if len(found) <= 30 else 4
    rows = -(-len(found) // columns)
    size = min(4.6 * columns, 14.0) if columns > 1 else 7.0, 0.8 + 1.45 * rows
    figure = plt.figure(figsize=size, layout="constrained")
    axes = np.ravel(figure.subplots(rows, columns, sharex=True, squeeze=False))
    values = values_of(run, quantity)
    steps = force_style(motion) if quantity == "force" else {}
    for ax, number in zip(axes, found, strict=False):
        mine = values[..., number.place]
        bundle(ax, run.time, mine, color=BLUE, label=number.name, **steps)
        ax.set_ylabel(number.unit, fontsize=8)
        ax.set_title(_heading(number), fontsize=8, loc="left")
        ax.tick_params(labelsize=7)
        draw_limits(ax, number, mine)
    for ax in axes[len(found) :]:
        ax.set_axis_off()
    for ax in axes[max(len(found) - columns, 0) : len(found)]:
        ax.xaxis.set_tick_params(labelbottom=True)
    figure.supxlabel("time (s)", fontsize=9)
    figure.suptitle(f"{title_of(run)}: {TITLES[quantity]}", fontsize=10)
    return figure  # type: ignore[no-any-return]


def _heading(number: Number) -> str:
    """Name and limits of a panel."""
    if not np.isfinite([number.low, number.high]).any():
        return number.name
    if number.low == -number.high:
        return f"{number.name}    limit ±{number.high:.4g}"
    return f"{number.name}    limits {_bound(number.low)} … {_bound(number.high)}"


def _bound(x: float) -> str:
    return f"{x:.4g}".replace("-", "−").replace("inf", "∞")


def draw_limits(ax: Axes, number: Number, values: Array) -> None:
    """The limits that are near or broken, with what is beyond them shaded; the scale of the Axes holds them."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return
    least, most = float(finite.min()), float(finite.max())
    span = max(most - least, 1e-3 * max(abs(most), abs(least)), 1e-6)
    near = [x for x in (number.low, number.high) if np.isfinite(x) and least - NEAR * span <= x <= most + NEAR * span]
    for bound in near:
        ax.axhline(bound, color=VERMILION, linewidth=1.0, linestyle="--", gid=f"limit {bound!r}", zorder=1)
    low, high = min([least, *near]), max([most, *near])
    room = 0.08 * max(high - low, span)
    ax.set_ylim(low - room, high + room)
    for bound, edge in ((number.low, low - room), (number.high, high + room)):
        if bound in near:
            ax.axhspan(min(bound, edge), max(bound, edge), color=GREY, alpha=0.18, linewidth=0.0, zorder=0)
