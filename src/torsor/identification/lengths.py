"""The lengths of a robot, and what may be made of them: candidates for the coefficients that regroup parameters.

A number can be several products of lengths by chance, and links of equal length are common. So each candidate has two values:
that of the robot, and that of a robot whose lengths are all changed a little, each by another factor. It must be right for both.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.model import Robot

AGREEMENT = 1e-9  # relative: how well a product of lengths must give the coefficient
MANY = 8  # lengths from which on sums of three are left out
_ROUNDING = 1e-12  # m: what should have been zero
_AXES = "xyz"


class Length(NamedTuple):
    """A coordinate of a link frame's home in its parent's frame, m: "x_3" of link 3."""

    name: str
    value: float


class Product(NamedTuple):
    """Something made of lengths: ``text`` ("2 x_3"), its ``values`` (2,) for both robots, and the ``lengths`` in it."""

    text: str
    values: Array
    lengths: tuple[Length, ...]


class Products:
    """All that a coefficient of the dimension m^power may be, simplest first."""

    def __init__(self, lengths: list[Product], power: int) -> None:
        makers = {0: _numbers, 1: _of_one_length, 2: _of_two_lengths}
        self.all = list(makers[power](lengths)) if power in makers else []
        self.values = np.array([product.values for product in self.all]).reshape(-1, 2)

    def find(self, values: Array) -> Product | None:
        """The first that is ± the coefficient, whose ``values`` (2,) for both robots are given."""
        signed = np.sign(values[0] * self.values[:, :1]) * self.values
        right = np.all(np.abs(signed - values) <= AGREEMENT * np.abs(values), axis=1)
        return self.all[int(np.argmax(right))] if np.any(right) else None


def changed_lengths(robot: Robot) -> Robot:
    """A robot of the same structure with other distances between link frames."""
    poses = np.array(robot.parameters.poses)
    poses[:, :3, 3] *= np.random.default_rng(0).uniform(0.8, 1.25, (robot.n, 3))
    return robot.with_parameters(poses=poses)


def lengths_between(robot: Robot, other: Robot, start: int, end: int) -> list[Product]:
    """The coordinates of the link frames on the way from link ``start`` to link ``end``, with their values for both robots."""
    s = robot.structure
    back, there = s.path_from_base(start), s.path_from_base(end)
    found = []
    for link in [*(i for i in reversed(back) if i not in there), *(i for i in there if i not in back)]:
        values = np.stack([r.parameters.poses[link][:3, 3] for r in (robot, other)])
        for axis, pair in zip(_AXES, values.T, strict=True):
            if abs(pair[0]) > _ROUNDING:
                name = f"{axis}_{link + 1}"
                found.append(Product(name, pair, (Length(name, float(pair[0])),)))
    return found


def _numbers(lengths: list[Product]) -> Iterator[Product]:
    yield Product("", np.ones(2), ())
    yield Product("2", 2.0 * np.ones(2), ())


def _of_one_length(lengths: list[Product]) -> Iterator[Product]:
    for some in (lengths, [_bracketed(total) for total in _sums(lengths)]):
        yield from some
        yield from map(_twice, some)


def _of_two_lengths(lengths: list[Product]) -> Iterator[Product]:
    yield from map(_square, lengths)
    pairs = [_times(a, b) for a, b in combinations(lengths, 2)]
    yield from pairs
    yield from map(_twice, pairs)
    sums = [_bracketed(total) for total in _sums(lengths)]
    yield from map(_square, sums)
    yield from map(_bracketed, _sums([_square(a) for a in lengths]))
    if len(lengths) <= MANY:
        with_sums = [_times(a, total) for a in lengths for total in sums]
        yield from with_sums
        yield from map(_twice, with_sums)


def _sums(terms: list[Product]) -> Iterator[Product]:
    """Sums and differences of two, and of three if there are not too many."""
    for size in (2, 3) if len(terms) <= MANY else (2,):
        for some in combinations(terms, size):
            for signs in np.ndindex(*(2,) * (size - 1)):
                text, values = some[0].text, some[0].values
                for minus, term in zip(signs, some[1:], strict=True):
                    text += f" {'−' if minus else '+'} {term.text}"
                    values = values - term.values if minus else values + term.values
                yield Product(text, values, tuple(length for term in some for length in term.lengths))


def _bracketed(a: Product) -> Product:
    return a._replace(text=f"({a.text})")


def _twice(a: Product) -> Product:
    return a._replace(text=f"2 {a.text}", values=2.0 * a.values)


def _square(a: Product) -> Product:
    return a._replace(text=f"{a.text}²", values=a.values**2)


def _times(a: Product, b: Product) -> Product:
    return Product(f"{a.text} {b.text}", a.values * b.values, a.lengths + b.lengths)
