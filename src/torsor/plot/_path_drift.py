"""How far the joints drift while a task goes round and round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from torsor.border import explained
from torsor.errors import ShapeError
from torsor.plot.canvas import BLUE, GREEN, ORANGE, PURPLE, VERMILION, flat_axes, legend
from torsor.redundancy import PathDrift

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (VERMILION, BLUE, GREEN, ORANGE, PURPLE)
MARKERS = ("o", "s", "^", "D", "v")


@explained
def path_drift(
    drifts: PathDrift | Sequence[PathDrift], *, labels: Sequence[str] | None = None, ax: Axes | None = None
) -> Axes:
    """The largest displacement of a joint after each loop of a closed path, one line for each lift [Alt04, §III.B, E004-14].

    ``drifts``: what `torsor.redundancy.closed_path_drift` has measured, with displacements (k, nv), rad or m.
    ``labels``: one text for each
    (the name of the lift if None). A repeatable lift stays at zero. ``ax``: new if None. Returns the Axes, loops and rad or m.
    """
    all_of_them = [drifts] if isinstance(drifts, PathDrift) else list(drifts)
    texts = [f"{drift.lift} lift" for drift in all_of_them] if labels is None else list(labels)
    if len(texts) != len(all_of_them):
        raise ShapeError(f"path_drift: {len(all_of_them)} drifts have {len(texts)} labels; pass one for each.")
    ax = flat_axes(ax)
    handles = []
    for k, (drift, text) in enumerate(zip(all_of_them, texts, strict=True)):
        handles += ax.plot(
            np.arange(drift.loops + 1),
            np.max(np.abs(drift.drift), axis=-1),
            color=COLOURS[k % len(COLOURS)],
            marker=MARKERS[k % len(MARKERS)],
            markersize=4,
            linewidth=1.4,
            label=text,
            gid=f"drift {k}",
        )
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("loops of the task")
    units = {unit for drift in all_of_them for unit in drift.units}
    ax.set_ylabel(f"largest displacement of a joint ({' or '.join(sorted(units, reverse=True))})")
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=8)
    legend(ax, handles)
    return ax
