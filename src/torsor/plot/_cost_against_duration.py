"""What optimal motions cost, against how long they take."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torsor.border import explained
from torsor.errors import ArgumentTypeError
from torsor.motion.optimal_motions.many import OptimalMotions
from torsor.motion.optimal_motions.report import OptimalMotion
from torsor.plot.canvas import Axes, flat_axes, legend, plain_name
from torsor.plot.palette import GREY, INK


@explained
def cost_against_duration(motions: OptimalMotions | Sequence[OptimalMotion], *, ax: Axes | None = None) -> Axes:
    """Picture of the costs of optimal motions [LKPKB05] of several durations between the same ends; a cross where none was found.

    Parameters
    ----------
    motions : (N,) OptimalMotions or sequence of OptimalMotion
        As `torsor.motion.optimal` gives them.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Of duration, s, and cost.
    """
    found: Any = motions.reports if isinstance(motions, OptimalMotions) else motions
    if not isinstance(found, Sequence) or not found or not all(isinstance(one, OptimalMotion) for one in found):
        raise ArgumentTypeError(
            f"`motions` must be results of torsor.motion.optimal, at least one, got {type(motions).__name__} {motions!r:.60}."
        )
    ax = flat_axes(ax, (6.0, 4.0))
    times, costs, good = (np.array([getattr(x, name) for x in found]) for name in ("duration", "cost", "converged"))
    order = np.argsort(times[good])
    handles = ax.plot(times[good][order], costs[good][order], color=INK, marker="o", markersize=4, label="optimal")
    if not good.all():
        low = np.full((~good).sum(), float(np.min(costs[good], initial=np.inf)) if good.any() else 0.0)
        handles += ax.plot(times[~good], low, color=GREY, marker="x", linestyle="", label="no optimum found")
    ax.set(xlabel="duration (s)", ylabel="cost", title=plain_name(found[0].robot.name))
    legend(ax, handles, loc="upper right")
    return ax
