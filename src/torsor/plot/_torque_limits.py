"""How much of its drives a motion asks for: joint forces as parts of their limits."""

from __future__ import annotations

import numpy as np

from torsor.border import explained
from torsor.errors import ArgumentError, ModelError
from torsor.motion.motions import Motion
from torsor.plot.canvas import Axes, flat_axes
from torsor.plot.over_time import bundle, force_style, legend_of_bundles, numbers, samples_of, title_of, values_of
from torsor.plot.palette import GREY, INK, MOST_LINES, line_look


@explained
def torque_limits(
    motion: Motion, *, joints: str | list[str] | None = None, dt: float | None = None, ax: Axes | None = None
) -> Axes:
    """Picture of joint forces (..., N, nv) over time as parts of the effort limits, in percent [LP, (9.84)].

    Each name has the largest force in N·m or N, and the limit. What is beyond ±100 % is shaded. Joints without a limit are left
    out and named above. Of a batch every motion is a thin line, of at most a hundred; the largest force is that of all.

    Parameters
    ----------
    motion : Motion
        A `torsor.Trajectory`, or any other motion, which is sampled; the forces are those it takes without contact.
    joints : str or list of str, optional
        Names of the joints to draw; all by default.
    dt : float, optional
        For a motion that is no trajectory: time between samples, s; by default a 300th of its duration.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Of time, s, and percent.
    """
    run = samples_of(motion, dt)
    found = numbers(run.robot, "force", joints)
    limited = [number for number in found if np.isfinite(number.high) and number.high > 0.0]
    if not limited:
        raise ModelError(
            f"robot {run.robot.name!r} has no effort limits on these joints; give them by robot.with_limits(effort=...), or "
            "draw the forces themselves by torsor.plot.joints(motion, quantity='force')."
        )
    if len(limited) > MOST_LINES:
        raise ArgumentError(
            f"`joints` must be chosen: {len(limited)} lines are too many to tell apart, at most {MOST_LINES}."
        )
    ax = flat_axes(ax, (7.5, 4.0))
    values, every = values_of(run, "force"), np.asarray(run.tau)
    handles = []
    for k, number in enumerate(limited):
        share = 100.0 * values[..., number.place] / number.high
        largest = float(np.nanmax(np.abs(every[..., number.place]), initial=0.0))
        label = f"{number.name}: {largest:.3g} of {number.high:.4g} {number.unit}"
        handles.append(bundle(ax, run.time, share, label=label, **line_look(k), **force_style(motion)))
    reach = max(100.0, *(float(np.nanmax(np.abs(every[..., n.place]), initial=0.0)) / n.high * 100.0 for n in limited))
    edge = 1.08 * min(reach, 1000.0)
    for side in (-1.0, 1.0):
        ax.axhline(100.0 * side, color=INK, linewidth=1.0, linestyle="--", gid="limit", zorder=1)
        ax.axhspan(
            min(100.0 * side, edge * side),
            max(100.0 * side, edge * side),
            color=GREY,
            alpha=0.18,
            linewidth=0.0,
            zorder=0,
        )
    ax.set_ylim(-edge, edge)
    ax.set(xlabel="time (s)", ylabel="part of the effort limit (%)")
    without = [number.name for number in found if number not in limited]
    some = ", ".join(without[:3]) + (f" and {len(without) - 3} more" if len(without) > 3 else "")
    ax.set_title(title_of(run) + (f"\nwithout a limit: {some}" if without else ""), fontsize=10)
    legend_of_bundles(ax, handles)
    return ax
