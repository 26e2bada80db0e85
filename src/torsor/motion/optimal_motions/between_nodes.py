"""Where limits are passed between the nodes of a problem."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from torsor.arrays.typing import Array
from torsor.motion.optimal_motions.nodes import Nodes
from torsor.motion.optimal_motions.problem import Problem
from torsor.motion.optimal_motions.splines import Spline

FINER = 10  # times as many places as nodes of integrals are looked at


def passed_between(problem: Problem, y: Array, overshoot: float, apart: float) -> Array:
    """Places s (k,) between nodes where a limit is passed by more than ``overshoot``, in units of its scale: at the peaks.

    Nearer to a node than the part ``apart`` of the distance between two, nothing is added.
    """
    everywhere = [k for k, term in enumerate(problem.terms) if term.places is None]
    if not everywhere:
        return np.zeros(0)
    fine = fine_nodes(problem.spline.pieces, problem.orders)
    c = problem.limited(problem.states(y, fine))
    peaks = np.zeros(len(fine.s), bool)
    for k in everywhere:
        columns, term = problem.columns(k), problem.terms[k]
        over = np.maximum(c[:, columns] - term.upper, term.lower - c[:, columns]) / term.scale
        inner = over[1:-1]
        peaks[1:-1] |= ((inner > overshoot) & (inner >= over[:-2]) & (inner > over[2:])).any(axis=1)
    s, places = problem.nodes.s, fine.s[peaks]
    if not len(places):
        return places
    k = np.clip(np.searchsorted(s, places), 1, len(s) - 1)
    width = s[k] - s[k - 1]
    far = np.minimum(np.abs(places - s[k - 1]), np.abs(s[k] - places)) > apart * width
    places, width = places[far], width[far]
    return places[np.diff(places, prepend=-1.0) > max(apart, 0.2) * width]


@lru_cache(maxsize=16)
def fine_nodes(pieces: int, orders: int) -> Nodes:
    """The nodes of integrals with more between them."""
    spline = Spline(pieces)
    s, _ = spline.nodes()
    fine = np.append((s[:-1, None] + np.diff(s)[:, None] * (np.arange(FINER) / FINER)).ravel(), 1.0)
    return Nodes.at(spline, orders, fine, np.zeros(len(fine)))
