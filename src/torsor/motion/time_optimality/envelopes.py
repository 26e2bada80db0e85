"""The largest and the smallest of several lines at one place, in traced arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torsor.arrays import where
from torsor.arrays.typing import Array


class Line(NamedTuple):
    """start + slope x, with its value at some x."""

    value: Array
    start: Array
    slope: Array


def highest(starts: Sequence[Array], slopes: Sequence[Array], x: Array) -> Line:
    """The line start + slope x with the largest value, of lines (R,) in several groups."""
    return _best(starts, slopes, x, lambda one, other: one >= other)


def lowest(starts: Sequence[Array], slopes: Sequence[Array], x: Array) -> Line:
    """The line start + slope x with the smallest value, of lines (R,) in several groups."""
    return _best(starts, slopes, x, lambda one, other: one <= other)


def largest(starts: Sequence[Array]) -> Array:
    """The largest number of several groups (R,)."""
    return _chosen([(x[k],) for x in starts for k in range(x.shape[-1])], lambda one, other: one >= other)[0]


def _best(starts: Sequence[Array], slopes: Sequence[Array], x: Array, better: Callable[[Array, Array], Array]) -> Line:
    lines = [
        (start[k] + slope[k] * x, start[k], slope[k])
        for start, slope in zip(starts, slopes, strict=True)
        for k in range(start.shape[-1])
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


def groups_of(given: dict[str, Array], name: str) -> list[Array]:
    """name0, name1, … of the inputs of a loop."""
    return [given[f"{name}{k}"] for k in range(3)]


def shapes_of(rows: int, *names: str) -> dict[str, tuple[int, ...]]:
    """Shapes of name0, name1, … for each name."""
    return {f"{name}{k}": (rows,) for name in names for k in range(3)}
