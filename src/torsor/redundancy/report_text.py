"""Numbers in the sentences of reports."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Structure


def vector(x: Array, precision: int = 4) -> str:
    """The numbers of a vector as text on one line."""
    return np.array2string(
        np.round(np.asarray(x), precision) + 0.0,
        precision=precision,
        separator=", ",
        suppress_small=True,
        max_line_width=10_000,
    )


def tried(configurations: int, skipped: int) -> str:
    """How many configurations an answer rests on."""
    count = f"{configurations} configuration{'' if configurations == 1 else 's'}"
    return count + (f" ({skipped} more singular)" if skipped else "")


def units_of_freedoms(structure: Structure) -> tuple[str, ...]:
    """For each of v (nv,), "rad" or "m"."""
    return tuple(unit for _, kind in structure.blocks for unit in kind.v_units)
