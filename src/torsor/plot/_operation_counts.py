"""What each formulation of the dynamics costs, over the number of links."""

from __future__ import annotations

import math
from collections.abc import Iterable

from torsor.border import explained
from torsor.papers.formulations import FORMULATIONS
from torsor.papers.operation_counts import count_table
from torsor.plot.canvas import Axes, flat_axes
from torsor.plot.palette import LINE_COLOURS, MARKERS, line_look


@explained
def operation_counts(links: Iterable[int] = range(1, 11), *, level: str = "literal", ax: Axes | None = None) -> Axes:
    """Picture of the operations of each formulation over the number of links, log–log [Sil81, §1.2–§1.4].

    Multiplications and additions together. A line of slope 1 is O(n), of slope 4 O(n⁴). Counts have no unit.

    Parameters
    ----------
    links : iterable of int
        Numbers of joints (K,).
    level : str
        "literal", "structural" or "simplified", as in `torsor.papers.count_operations`.
    ax : Axes, optional
        Axes to draw into; new ones by default.

    Returns
    -------
    Axes
        Numbers of links and of operations.
    """
    ax = flat_axes(ax, (8.0, 4.6))
    links = tuple(links)
    table = count_table(links=links, level=level)
    order = sorted(table, key=lambda name: -sum(table[name][links[-1]][:2]))
    for k, name in enumerate(order):
        totals = [sum(table[name][n][:2]) for n in links]
        look = {
            **line_look(k),
            "marker": MARKERS[k // len(LINE_COLOURS) % len(MARKERS)],
            "markersize": 3,
            "linewidth": 1.4,
        }
        ax.plot(links, totals, label=FORMULATIONS[name].title, **look)
    ax.set(xscale="log", yscale="log", xlabel="links n", ylabel="multiplications and additions")
    ax.set_xticks(links, _ticks(links))
    ax.minorticks_off()
    ax.grid(True, which="major", color="0.9")
    ax.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _ticks(links: tuple[int, ...]) -> list[str]:
    """The numbers of links as texts; those that would touch the one before on a logarithmic scale are left out."""
    texts, last = [], 0.0
    room = 0.055 * math.log(max(links) / min(links)) if len(links) > 1 else 0.0
    for n in links:
        apart = not last or math.log(n / last) >= room
        texts.append(str(n) if apart else "")
        last = float(n) if apart else last
    return texts
