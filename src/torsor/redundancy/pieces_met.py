"""How much of what there is have random starts met? The number of pieces found is a lower bound.

Pieces that were met once or twice tell of others that were not met at all. With f₁ pieces met by one start and f₂ by two, of n
starts:

    f₁ / n                       probability that one more start meets a new piece [Good53]
    f₁ (f₁ − 1) / (2 (f₂ + 1))   how many pieces at least were not met, on average [Chao84], in its form without bias
    (1 − p)ⁿ                     probability that none of n starts meets a piece to which a share p of them leads
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from torsor.arrays.typing import Array

MISSED = 0.05  # probability with which a piece may be missed by all starts
FIRST = 10  # starts after which the pieces are counted first; then after twice as many, and so on


@dataclass(frozen=True)
class PiecesMet:
    """What random starts tell of the number of pieces.

    ``growth``: pairs (starts, pieces met by them), in the order of the starts, doubling, the last with all of them. ``once`` and
    ``twice``: how many pieces were met by one start, and by two.
    """

    growth: tuple[tuple[int, int], ...]
    once: int
    twice: int

    @property
    def chance_of_new(self) -> float:
        """About how probable it is that one more start meets a new piece [Good53]; 1 if there was no start."""
        starts = self.growth[-1][0]
        return self.once / starts if starts else 1.0

    @property
    def expected_more(self) -> float:
        """About how many pieces, at least, no start has met [Chao84]."""
        return self.once * (self.once - 1) / (2 * (self.twice + 1))

    @property
    def hidden_share(self) -> float:
        """Pieces to which a smaller share of the starts leads than this are missed with a probability above 5 %."""
        starts = self.growth[-1][0]
        return 1.0 - MISSED ** (1.0 / starts) if starts else 1.0

    def __str__(self) -> str:
        if not self.growth[-1][0]:
            return "no random start was led to where the task is, so nothing is known of others"
        counts = ", ".join(f"{pieces} by {count}" for count, pieces in self.growth)
        more = (
            f"{self.once} by one start only, which tells of {self.expected_more:.2g} more or above, and one more start meets a "
            f"new one with a probability of about {self.chance_of_new:.1g}"
        )
        return (
            f"a lower bound; met by random starts: {counts}; {more if self.once else 'none by one start only'}; a piece to which "
            f"fewer than {100 * self.hidden_share:.2g} % of the starts lead may be missing"
        )


def pieces_met(piece_of_start: Array) -> PiecesMet:
    """From the number of the piece that each random start met (n,), in their order."""
    n = len(piece_of_start)
    counts = np.unique(piece_of_start, return_counts=True)[1]
    marks = [FIRST * 2**k for k in range(32) if FIRST * 2**k < n] + [n]
    growth = tuple((mark, len(set(piece_of_start[:mark].tolist()))) for mark in marks)
    return PiecesMet(growth, int(np.sum(counts == 1)), int(np.sum(counts == 2)))
