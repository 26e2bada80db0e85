"""Energies of a motion over time, and the work that changes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from torsor.border import explained
from torsor.motion.motions import Motion
from torsor.motion.trajectory import Trajectory
from torsor.plot.canvas import Axes, flat_axes
from torsor.plot.over_time import bundle, legend_of_bundles, samples_of, some, title_of
from torsor.plot.palette import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

WORK = (
    ("drives", "work of the joint forces", GREEN, "--"),
    ("wrenches", "work of wrenches", PURPLE, "-."),
    ("friction", "taken by friction", VERMILION, ":"),
    ("stops", "work of the stops", SKY, (0, (8, 2))),
)


@explained
def energies(motion: Motion, *, dt: float | None = None, ax: Axes | None = None) -> Axes:
    """Picture of kinetic and potential energy over time (..., N), J, their sum, and the work that changes it [LP, (9.59)].

    The work of joint forces, wrenches, friction and stops is drawn where it is known, as `torsor.simulate` knows it, and is
    not zero. Of a batch every motion is a thin line, of at most a hundred.

    Parameters
    ----------
    motion : Motion
        A `torsor.Trajectory`, or any other motion, which is sampled.
    dt : float, optional
        For a motion that is no trajectory: time between samples, s; by default a 300th of its duration.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Of time, s, and energy, J.
    """
    run = samples_of(motion, dt)
    ax = flat_axes(ax, (7.0, 4.0))
    draw_energies(ax, run, work=True)
    ax.set_xlabel("time (s)")
    ax.set_title(title_of(run), fontsize=10)
    return ax


def draw_energies(ax: Axes, run: Trajectory, *, work: bool = False) -> None:
    """Lines and their legend."""
    parts: list[tuple[str, Any, str, Any]] = [
        ("kinetic", run.kinetic, BLUE, "-"),
        ("potential", run.potential, ORANGE, "-"),
        ("sum", run.energy, INK, "-"),
    ]
    if work and run.work is not None:
        found = ((label, getattr(run.work, name), colour, dashes) for name, label, colour, dashes in WORK)
        parts += [part for part in found if np.any(np.asarray(part[1]))]
    handles = []
    for label, values, colour, dashes in parts:
        rows = some(np.asarray(values).reshape(-1, len(run)))
        handles.append(bundle(ax, run.time, rows, color=colour, linestyle=dashes, label=label))
    ax.set_ylabel("energy (J)")
    legend_of_bundles(ax, handles)
