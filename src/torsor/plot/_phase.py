"""Velocity over position: the phase portrait of a motion."""

from __future__ import annotations

from typing import Any

from torsor.arrays.typing import Array
from torsor.border import explained
from torsor.errors import ArgumentError, ModelError
from torsor.motion.motions import Motion
from torsor.plot.canvas import Axes, flat_axes
from torsor.plot.over_time import (
    in_sight,
    legend_of_bundles,
    limit_look,
    numbers,
    samples_of,
    title_of,
    unit_text,
    values_of,
)
from torsor.plot.palette import MOST_LINES, line_look


@explained
def phase(
    motion: Motion, *, joints: str | list[str] | None = None, dt: float | None = None, ax: Axes | None = None
) -> Axes:
    """Picture of velocity over position of each joint (..., N), rad/s over rad or m/s over m [LP, §9.5].

    A ring marks the start of each line, a disk its end; limits that are near are dotted lines in the colour of their joint. Of a
    batch every motion is a thin line, of at most a hundred.

    Parameters
    ----------
    motion : Motion
        A `torsor.Trajectory`, or any other motion, which is sampled.
    joints : str or list of str, optional
        Names of joints with one degree of freedom; all of these by default.
    dt : float, optional
        For a motion that is no trajectory: time between samples, s; by default a 300th of its duration.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Of position and velocity.
    """
    run = samples_of(motion, dt)
    s = run.robot.structure
    single = [c.name for c in s.coordinates if c.nq == c.nv == 1]
    if not single:
        raise ModelError(
            f"robot {run.robot.name!r} has no joint with one degree of freedom, so there is no phase plane."
        )
    chosen = single if joints is None else [joints] if isinstance(joints, str) else list(joints)
    places, speeds = numbers(run.robot, "position", chosen), numbers(run.robot, "velocity", chosen)
    if several := [name for name in chosen if name not in single]:
        raise ArgumentError(
            f"`joints` must have one degree of freedom each, got {several[0]!r}; these have: {', '.join(map(repr, single))}."
        )
    if len(places) > MOST_LINES:
        raise ArgumentError(
            f"`joints` must be chosen: {len(places)} lines are too many to tell apart, at most {MOST_LINES}."
        )
    ax = flat_axes(ax, (7.0, 4.8))
    q, v = values_of(run, "position"), values_of(run, "velocity")
    seen = q[..., [x.place for x in places]], v[..., [x.place for x in speeds]]
    handles = []
    for k, (place, speed) in enumerate(zip(places, speeds, strict=True)):
        handles.append(_portrait(ax, q[..., place.place], v[..., speed.place], place.name, line_look(k)))
        colour = line_look(k)["color"]
        for draw, number, found, values in ((ax.axvline, place, places, seen[0]), (ax.axhline, speed, speeds, seen[1])):
            for bound in {number.low, number.high}:
                if in_sight(bound, values):
                    draw(bound, **limit_look(found, number, bound, colour))
    ax.set_xlabel(f"position ({unit_text(places)})")
    ax.set_ylabel(f"velocity ({unit_text(speeds)})")
    ax.set_title(title_of(run), fontsize=10)
    legend_of_bundles(ax, handles)
    return ax


def _portrait(ax: Axes, q: Array, v: Array, name: str, look: dict[str, Any]) -> Any:
    """The lines of one joint (motions, N) and the marks at their ends; the first line is returned."""
    many = len(q) > 1
    style: dict[str, Any] = {
        "linewidth": 0.8 if many else 1.4,
        "alpha": max(0.25, len(q) ** -0.5),
        "label": name,
        **look,
    }
    lines = [ax.plot(x, y, **style)[0] for x, y in zip(q, v, strict=True)]
    ends: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 3 if many else 5}
    colour = look["color"]
    ax.plot(q[:, 0], v[:, 0], markerfacecolor="white", markeredgecolor=colour, gid=f"start of {name}", **ends)
    ax.plot(q[:, -1], v[:, -1], markerfacecolor=colour, markeredgecolor=colour, gid=f"end of {name}", **ends)
    return lines[0]
