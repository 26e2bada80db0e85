"""Base parameters as people write them: Izz_2 + Iyy_3 + x_3² m_3, with the robot's own lengths for what is made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.identification.length_expressions import (
    Length,
    Products,
    changed_lengths,
    lengths_between,
    lengths_of_links,
)
from torsor.identification.regrouping import Regrouping
from torsor.identification.structural_base import POWERS, length_unit, scales
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
