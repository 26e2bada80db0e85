"""Numbers in the sentences of reports."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array


def vector(x: Array, precision: int = 4) -> str:
    """A vector in one line."""
    return np.array2string(
        np.asarray(x) + 0.0, precision=precision, separator=", ", suppress_small=True, max_line_width=10_000
    )


def tried(configurations: int, skipped: int) -> str:
    """How many configurations an answer rests on."""
    count = f"{configurations} configuration{'' if configurations == 1 else 's'}"
    return count + (f" ({skipped} more singular)" if skipped else "")
