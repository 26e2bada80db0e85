"""The largest and the smallest of several lines at one place, in traced arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from torsor.arrays import where
from torsor.arrays.typing import Array


class Line(NamedTuple):
    """start + slope x, with its value at some x."""

    value: Array
    start: Array
    slope: Array


def highest(starts: Array, slopes: Array, x: Array) -> Line:
    """The line start + slope x with the largest value, of lines (K,)."""
    return _best(starts, slopes, x, lambda one, other: one >= other)


def lowest(starts: Array, slopes: Array, x: Array) -> Line:
    """The line start + slope x with the smallest value, of lines (K,)."""
    return _best(starts, slopes, x, lambda one, other: one <= other)


def largest(starts: Array) -> Array:
    """The largest of numbers (K,)."""
    return _chosen([(starts[k],) for k in range(starts.shape[-1])], lambda one, other: one >= other)[0]


def _best(starts: Array, slopes: Array, x: Array, better: Callable[[Array, Array], Array]) -> Line:
    lines: list[tuple[Array, ...]] = [
        (starts[k] + slopes[k] * x, starts[k], slopes[k]) for k in range(starts.shape[-1])
    ]
    return Line(*_chosen(lines, better))


def _chosen(tuples: list[tuple[Array, ...]], better: Callable[[Array, Array], Array]) -> tuple[Array, ...]:
    """The tuple whose first entry is best, found in pairs, so that comparisons do not wait for each other."""
    while len(tuples) > 1:
        rest = tuples[len(tuples) // 2 * 2 :]
        won = []
        for one, other in zip(tuples[::2], tuples[1::2], strict=False):
            first = better(one[0], other[0])
            won.append(tuple(where(first, x, y) for x, y in zip(one, other, strict=True)))
        tuples = won + rest
    return tuples[0]
