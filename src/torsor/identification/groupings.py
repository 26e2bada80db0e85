"""Base parameters as people write them: Izz_2 + Iyy_3 + x_3² m_3, with the robot's own lengths for what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import combinations, product
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.identification.row_spaces import POWERS, Regrouping, length_unit, scales
from torsor.model import Robot

SHORT = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz")


class Grouping(NamedTuple):
    """A base parameter in words: its ``terms`` ("Izz_1", "+ x_2² m_2"), and the ``lengths`` that they name."""

    terms: tuple[str, ...]
    lengths: tuple[Length, ...]

    def __str__(self) -> str:
        return " ".join(self.terms)


def symbols(n: int) -> list[str]:
    """Short names of the 10 n parameters: m_1, mcx_1, …, Izz_1, m_2, …; links are counted from 1."""
    return [f"{short}_{link + 1}" for link in range(n) for short in SHORT]


def relative_matrix(robot: Robot, found: Regrouping) -> Array:
    """The matrix (count, 10 n) with lengths in units of the robot's: sizes that can be compared."""
    per = scales(robot.n, length_unit(robot))
    return found.matrix / per * per[found.columns][:, None]


def groupings(robot: Robot, found: Regrouping, probe: Regrouping, negligible: float) -> tuple[Grouping, ...]:
    """The rows of a regrouping in words, without terms that are ``negligible`` in the robot's own units.

    ``probe`` is that of the robot with `changed_lengths`. If it keeps other columns, coefficients are plain numbers.
    """
    names, own = symbols(robot.n), lengths_of_links(robot, changed_lengths(robot))
    named = np.array_equal(probe.columns, found.columns)
    seen = np.abs(relative_matrix(robot, found)) > negligible
    tables: dict[tuple[int, int, int], Products] = {}
    texts = []
    for k, kept in enumerate(int(column) for column in found.columns):
        sums: dict[tuple[str, str], list[str]] = {}  # by sign and coefficient, the parameters that share them
        lengths: dict[Length, None] = {}
        for j in (int(column) for column in np.flatnonzero(seen[k]) if column != kept):
            value = found.matrix[k, j]
            key = kept // 10, j // 10, int(POWERS[kept % 10] - POWERS[j % 10])
            if key not in tables:
                tables[key] = Products(lengths_between(robot, own, *key[:2]), key[2])
            product = tables[key].find(np.array([value, probe.matrix[k, j]])) if named else None
            text = f"{abs(value):.6g}" if product is None else product.text
            plus = value > 0 if product is None else value * product.values[0] > 0
            sums.setdefault(("+" if plus else "−", text), []).append(names[j])
            lengths |= dict.fromkeys(product.lengths if product else ())
        terms = [term for (sign, text), some in sums.items() for term in _terms(sign, text, some)]
        texts.append(Grouping((names[kept], *terms), tuple(lengths)))
    return tuple(texts)


def _terms(sign: str, coefficient: str, names: list[str]) -> list[str]:
    """Parameters with one coefficient as terms of a sum: one term, unless the coefficient is 1."""
    if not coefficient:
        return [f"{sign} {name}" for name in names]
    return [f"{sign} {coefficient} {names[0] if len(names) == 1 else '(' + ' + '.join(names) + ')'}"]


# The lengths of a robot, and what may be made of them: candidates for the coefficients that regroup parameters.
#
# A number can be several products of lengths by chance, and links of equal length are common. So each candidate has two
# values: that of the robot, and that of a robot whose lengths are all changed a little, each by another factor. It must be
# right for both.

AGREEMENT = 1e-9  # relative: how well a product of lengths must give the coefficient
MANY = 8  # lengths from which on sums of three are left out
TOO_MANY = (
    24  # lengths from which on a coefficient is a long sum of products: its number says more, and is found sooner
)
_ROUNDING = 1e-12  # m: what should have been zero
_AXES = "xyz"
_SIGNS = {2: ((1, 1), (1, -1)), 3: ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))}


class Length(NamedTuple):
    """A coordinate of a link frame's home in its parent's frame, m: "x_3" of link 3."""

    name: str
    value: float


class Product(NamedTuple):
    """Something made of lengths: ``text`` ("2 x_3"), its ``values`` (2,) for both robots, and the ``lengths`` in it."""

    text: str
    values: Array
    lengths: tuple[Length, ...]


class Candidates(NamedTuple):
    """Things made of lengths: their ``values`` (k, 2) for both robots, and how to ``make`` the one of a number."""

    values: Array
    make: Callable[[int], Product]

    @classmethod
    def of(cls, some: list[Product]) -> Candidates:
        """Candidates that are made already, as a list."""
        return cls(np.array([one.values for one in some]).reshape(-1, 2), some.__getitem__)


class Products:
    """All that a coefficient of the dimension m^power may be, simplest first; no more than a number if there are too many.

    There are thousands for a few of them that are right, so that only values are worked out beforehand.
    """

    def __init__(self, lengths: list[Product], power: int) -> None:
        makers = {0: _numbers} if len(lengths) > TOO_MANY else {0: _numbers, 1: _of_one_length, 2: _of_two_lengths}
        self._families = list(makers[power](Candidates.of(lengths))) if power in makers else []
        self._values = np.concatenate([np.zeros((0, 2)), *(family.values for family in self._families)])

    def find(self, values: Array) -> Product | None:
        """The first that is ± the coefficient, whose ``values`` (2,) for both robots are given."""
        if not len(self._values):
            return None
        signed = np.sign(values[0] * self._values[:, :1]) * self._values
        right = np.all(np.abs(signed - values) <= AGREEMENT * np.abs(values), axis=1)
        first = int(np.argmax(right))
        if not right[first]:
            return None
        for family in self._families:
            if first < len(family.values):
                return family.make(first)
            first -= len(family.values)
        return None


def changed_lengths(robot: Robot) -> Robot:
    """A robot of the same structure with other distances between link frames."""
    poses = np.array(robot.parameters.poses)
    poses[:, :3, 3] *= np.random.default_rng(0).uniform(0.8, 1.25, (robot.n, 3))
    return robot.with_parameters(poses=poses)


def lengths_of_links(robot: Robot, other: Robot) -> list[list[Product]]:
    """The coordinates, other than zero, of each link frame's home in its parent's, with their values for both robots."""
    places = np.stack([r.parameters.poses[:, :3, 3] for r in (robot, other)], axis=-1)
    return [
        [
            Product(name, pair, (Length(name, float(pair[0])),))
            for name, pair in ((f"{axis}_{link}", pair) for axis, pair in zip(_AXES, place, strict=True))
            if abs(pair[0]) > _ROUNDING
        ]
        for link, place in enumerate(places, start=1)
    ]


def lengths_between(robot: Robot, own: list[list[Product]], start: int, end: int) -> list[Product]:
    """The lengths, of those of each link, on the way from link ``start`` to link ``end``."""
    back, there = (robot.structure.path_from_base(link) for link in (start, end))
    shared = len(set(back) & set(there))  # paths part once
    return [length for link in (*reversed(back[shared:]), *there[shared:]) for length in own[link]]


def _numbers(lengths: Candidates) -> Iterator[Candidates]:
    yield Candidates.of([Product("", np.ones(2), ()), Product("2", 2.0 * np.ones(2), ())])


def _of_one_length(lengths: Candidates) -> Iterator[Candidates]:
    for some in (lengths, _sums(lengths)):
        yield some
        yield _twice(some)


def _of_two_lengths(lengths: Candidates) -> Iterator[Candidates]:
    yield _square(lengths)
    count = len(lengths.values)
    pairs = _times(lengths, lengths, list(combinations(range(count), 2)))
    yield pairs
    yield _twice(pairs)
    sums = _sums(lengths)
    yield _square(sums)
    yield _sums(_square(lengths))
    if count <= MANY:
        with_sums = _times(lengths, sums, list(product(range(count), range(len(sums.values)))))
        yield with_sums
        yield _twice(with_sums)


class Choices(NamedTuple):
    """Of some terms, those that are ``chosen`` for a sum with their signs, and the same as ``weights`` (sums, terms)."""

    chosen: list[tuple[tuple[int, ...], tuple[int, ...]]]
    weights: Array


@cache
def _choices(count: int) -> Choices:
    """Sums and differences of two of the terms, and of three if there are not too many."""
    chosen = [
        (some, signs)
        for size in ((2, 3) if count <= MANY else (2,))
        for some in combinations(range(count), size)
        for signs in _SIGNS[size]
    ]
    weights = np.zeros((len(chosen), count))
    for row, (some, signs) in zip(weights, chosen, strict=True):
        row[list(some)] = signs
    return Choices(chosen, weights)


def _sums(terms: Candidates) -> Candidates:
    """Sums and differences of two, and of three if there are not too many, in brackets."""
    chosen, weights = _choices(len(terms.values))

    def make(k: int) -> Product:
        some = [terms.make(i) for i in chosen[k][0]]
        text = some[0].text
        for sign, term in zip(chosen[k][1][1:], some[1:], strict=True):
            text += f" {'−' if sign < 0 else '+'} {term.text}"
        return Product(
            f"({text})", weights[k] @ terms.values, tuple(length for term in some for length in term.lengths)
        )

    return Candidates(weights @ terms.values, make)


def _twice(some: Candidates) -> Candidates:
    return _each(some, "2 {}", lambda values: 2.0 * values)


def _square(some: Candidates) -> Candidates:
    return _each(some, "{}²", lambda values: values**2)


def _each(some: Candidates, said: str, of: Callable[[Array], Array]) -> Candidates:
    def make(k: int) -> Product:
        text, values, lengths = some.make(k)
        return Product(said.format(text), of(values), lengths)

    return Candidates(of(some.values), make)


def _times(some: Candidates, others: Candidates, pairs: list[tuple[int, int]]) -> Candidates:
    def make(k: int) -> Product:
        a, b = some.make(pairs[k][0]), others.make(pairs[k][1])
        return Product(f"{a.text} {b.text}", a.values * b.values, a.lengths + b.lengths)

    first, second = np.array(pairs, dtype=int).reshape(-1, 2).T
    return Candidates(some.values[first] * others.values[second], make)
