"""Subspaces of ℝᵏ as orthonormal rows, grown by vectors and closed under linear maps, with a record of how clear it was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array


class Gap(NamedTuple):
    """How clearly what counts and what does not are told apart: the smallest of the first, the largest of the second.

    Both relative, 1 being a full effect; ``kept`` is infinite and ``dropped`` zero where there is none.
    """

    kept: float
    dropped: float

    @property
    def ratio(self) -> float:
        """Of the two; infinite if nothing was dropped but zeros."""
        return self.kept / self.dropped if self.dropped else float("inf")


class Subspaces:
    """Operations on subspaces that take what is shorter than ``tolerance`` for zero, and remember how close that was."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.gap = Gap(float("inf"), 0.0)

    def sum(self, space: Array, vectors: Array) -> Array:
        """Orthonormal rows of span(space, vectors): ``space`` (r, k) orthonormal, ``vectors`` (s, k) of length about 1."""
        left = vectors - (vectors @ space.T) @ space
        left = left - (left @ space.T) @ space  # twice is enough: the first leaves rounding errors of size 1 · ε
        _, sizes, directions = np.linalg.svd(left, full_matrices=False)
        fresh = sizes > self.tolerance
        self._note(sizes[fresh], sizes[~fresh])
        return np.concatenate([space, directions[fresh]])

    def span(self, vectors: Array) -> Array:
        """Orthonormal rows (r, k) of the span of ``vectors`` (s, k)."""
        return self.sum(np.zeros((0, vectors.shape[1])), vectors)

    def closure(self, vectors: Array, maps: Sequence[Array]) -> Array:
        """Orthonormal rows of the smallest space with ``vectors`` (s, k) in it that the ``maps`` (k, k) map into itself."""
        space, done = self.span(vectors), 0
        while done < len(space):
            fresh, done = space[done:], len(space)
            space = self.sum(space, np.concatenate([fresh @ A.T for A in maps]))
        return space

    def _note(self, kept: Array, dropped: Array) -> None:
        smallest, largest = (
            (float(kept.min()) if kept.size else np.inf),
            (float(dropped.max()) if dropped.size else 0.0),
        )
        self.gap = Gap(min(self.gap.kept, smallest), max(self.gap.dropped, largest))
