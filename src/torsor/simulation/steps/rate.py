"""What a step is made from: the rate of the state, and what a step gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays.typing import Array


class Rate(NamedTuple):
    """Acceleration (..., nv), and the power (..., k) of everything whose work is kept, at one time and state."""

    a: Array
    power: Array


RateOf = Callable[[Array, Array, Array], Rate]  # of t (...), q (..., nq), v (..., nv)


class Stepped(NamedTuple):
    """A state one step later, the work (..., k) that was done in it, and the rate at its start."""

    q: Array
    v: Array
    work: Array
    start: Rate
