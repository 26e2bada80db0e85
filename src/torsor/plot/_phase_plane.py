"""The phase plane of a path: how fast it is followed where, beneath the maximum velocity curve."""

from __future__ import annotations

import numpy as np

from torsor.border import explained
from torsor.errors import ArgumentError, ArgumentTypeError
from torsor.motion.time_optimality.report import TimeOptimalMotion
from torsor.plot.canvas import Axes, flat_axes, plain_name
from torsor.plot.palette import GREY, INK, MOST_LINES, line_look

TALLER = 1.15  # than the motion the picture is: the maximum velocity curve may be far above
SHORT = 4e-3  # of s: what is reached for less is not drawn


@explained
def phase_plane(found: TimeOptimalMotion, *, ax: Axes | None = None) -> Axes:
    """Picture of ṡ (N + 1,) over s of a motion in least time, with the maximum velocity curve and the limits reached [BDG85].

    Beyond the curve no acceleration along the path keeps all limits. Bars below the axis say which limit is reached where, those
    of upper bounds with +, those of lower bounds with −.

    Parameters
    ----------
    found : TimeOptimalMotion
        What `torsor.motion.time_optimal` found, of one path.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Of s and ṡ, 1/s.
    """
    if not isinstance(found, TimeOptimalMotion):
        raise ArgumentTypeError(
            f"`found` must be what torsor.motion.time_optimal returns, got {type(found).__name__} {found!r:.60}."
        )
    if found.s_rate.ndim > 1:
        raise ArgumentError("`found` must be of one path: pass time_optimal of that path alone.")
    ax = flat_axes(ax, (7.5, 4.4))
    s, rate, most = found.s, found.s_rate, found.s_rate_limit
    top = TALLER * float(np.max(rate if found else most[most < 1e5], initial=1e-9))
    ax.plot(
        s, most, color=INK, linewidth=1.0, linestyle="--", label="maximum velocity curve", gid="maximum velocity curve"
    )
    ax.fill_between(s, most, np.maximum(most, top), color=GREY, alpha=0.18, linewidth=0.0)
    if found:
        ax.plot(s, rate, label="motion in least time", gid="motion", **line_look(0))
        _limits(ax, found, top)
    for obstacle in found.obstacles.values():
        ax.axvline(obstacle.s, color=INK, linewidth=1.0, linestyle=":", gid="obstacle")
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(top=top)
    ax.set(xlabel="s", ylabel="ṡ (1/s)")
    took = f"{float(found.duration):.4g} s" if found else "cannot be followed"
    ax.set_title(f"{plain_name(found.robot.name)}: path, {took}", fontsize=10, loc="left")
    ax.set_yticks([tick for tick in ax.get_yticks() if 0.0 <= tick <= top])
    ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, fontsize=8, frameon=False)
    return ax


def _limits(ax: Axes, found: TimeOptimalMotion, top: float) -> None:
    """A bar for every limit over the stretches where it is reached."""
    told = [one for one in found.active if one.s[1] - one.s[0] > SHORT]
    names = list(dict.fromkeys((one.limit, one.joint, one.side) for one in told))[:MOST_LINES]
    step = 0.05 * top
    for row, name in enumerate(names):
        limit, joint, side = name
        look = line_look(row + 1)
        for one in told:
            if (one.limit, one.joint, one.side) == name:
                ax.plot(one.s, [-(row + 1) * step] * 2, linewidth=4.0, solid_capstyle="butt", color=look["color"])
        words = f"{limit} of {plain_name(joint)} {'+' if side > 0 else '−'}"
        ax.text(1.01, -(row + 1) * step, words, fontsize=7, va="center")
    ax.set_ylim(bottom=-(len(names) + 1) * step)
