"""Which degree of freedom moves which: the tables of a robot's structure that all derivatives of its mass matrix share.

A *freedom* is one row of one joint's screws. Freedom a is *above* b if its joint lies between the base and the joint of b,
*level* with b if they belong to one joint, and *reaches* b in either case. Only freedoms on one way from the base to a leaf
ever meet in an equation: the tables list those pairs, triples and quadruples, and where each value stands in the tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays.typing import Array
from torsor.lie import unchecked as lie
from torsor.model import Structure

Orders = Sequence[tuple[int, ...]]


class Freedoms(NamedTuple):
    """Joint and row of each freedom (f,), and ``above[a, b]``, ``level[a, b]`` (f, f)."""

    joints: Array
    rows: Array
    above: Array
    level: Array

    @property
    def size(self) -> int:
        """Number of freedoms: nv, or more if joints share coordinates."""
        return len(self.joints)

    @property
    def reaches(self) -> Array:
        """Whether freedom a is of the same joint as b, or of a joint that carries it, at [a, b]."""
        return self.above | self.level

    @property
    def reaches_once(self) -> Array:
        """The same, with one order of two freedoms that are level."""
        return self.above | np.triu(self.level)


@lru_cache(maxsize=256)
def freedoms_of(structure: Structure) -> Freedoms:
    """The freedoms in the order of v where joints have coordinates of their own, else in the order of the joints."""
    found = [(i, row) for i in range(structure.n) for row in range(structure.coordinate_of(i).nv)]
    if not structure.has_couplings:
        found.sort(key=lambda place: structure.coordinate_of(place[0]).v_start + place[1])
    joints, rows = np.array(found).T
    carries = np.zeros((structure.n, structure.n), bool)
    for i in range(structure.n):
        carries[structure.path_from_base(i)[:-1], i] = True
    return Freedoms(joints, rows, carries[np.ix_(joints, joints)], joints[:, None] == joints[None, :])


@lru_cache(maxsize=256)
def gathering(structure: Structure) -> Array | None:
    """E (f, nv) with one 1 in each row, the coordinate that drives the freedom; None where it would be the identity."""
    if not structure.has_couplings:
        return None
    f = freedoms_of(structure)
    E = np.zeros((f.size, structure.nv))
    starts = [structure.coordinate_of(i).v_start for i in f.joints]
    E[np.arange(f.size), starts + f.rows] = 1.0
    return E


class Pairs(NamedTuple):
    """Freedoms ``first`` and ``second`` (K,) of pairs, and the ``number`` (f, f) of each pair in the list."""

    first: Array
    second: Array
    number: Array


@lru_cache(maxsize=256)
def pairs_of(structure: Structure) -> Pairs:
    """All pairs (a, b) of freedoms in which a reaches b."""
    f = freedoms_of(structure)
    first, second = np.nonzero(f.reaches)
    number = np.zeros((f.size, f.size), int)
    number[first, second] = np.arange(len(first))
    return Pairs(first, second, number)


class Places(NamedTuple):
    """Freedoms a, b, c, … (rank, K) for each sort of value; ``index``: which of all values, after one zero, an entry is."""

    sorts: tuple[Array, ...]
    index: Array


@lru_cache(maxsize=256)
def matrix_places(structure: Structure) -> Places:
    """M_ab, a reaching b."""
    f = freedoms_of(structure)
    return _places(f.size, (_ways(f.reaches_once), [((0, 1), None), ((1, 0), None)]))


@lru_cache(maxsize=256)
def first_derivative_places(structure: Structure) -> Places:
    """In dM[k, i, j] = ∂_k M_ij: first ∂_c M_ab with a ≤ b < c, then ∂_b M_ac with a < b ≤ c. All others vanish."""
    f = freedoms_of(structure)
    inner, outer = _ways(f.reaches_once, f.above), _ways(f.above, f.reaches)
    return _places(
        f.size, (inner, [((2, 0, 1), None), ((2, 1, 0), None)]), (outer, [((1, 0, 2), None), ((1, 2, 0), None)])
    )


class Factors(NamedTuple):
    """Of each freedom b what is multiplied with what, by the numbers of freedoms and pairs.

    First derivatives of M are products of freedoms a that reach b, ``above``, with pairs (b, c), ``own``, of two kinds. Second
    derivatives are products of pairs (a, b), ``into``, with pairs (c, d) where b reaches c, ``beyond``; then of the other kinds,
    of two kinds again. ``row[a, b]``: which of ``above`` or ``into`` a is. ``own_column[pair]``: which of ``own`` a pair is;
    ``column[b, pair]``: which of ``beyond``.
    """

    above: tuple[Array, ...]
    own: tuple[Array, ...]
    into: tuple[Array, ...]
    beyond: tuple[Array, ...]
    row: Array
    own_column: Array
    column: Array


@lru_cache(maxsize=256)
def factors_of(structure: Structure) -> Factors:
    """The tables of `Factors`."""
    f, (first, second, _) = freedoms_of(structure), pairs_of(structure)
    everyone, reaches = range(f.size), f.reaches
    row = np.cumsum(reaches, axis=0) - 1
    own = tuple(np.flatnonzero(first == b) for b in everyone)
    column = np.cumsum(reaches[:, first], axis=1) - 1
    return Factors(
        tuple(np.flatnonzero(reaches[:, b]) for b in everyone),
        own,
        tuple(np.flatnonzero(second == b) for b in everyone),
        tuple(np.flatnonzero(reaches[b, first]) for b in everyone),
        row,
        np.arange(len(first)) - np.array([pairs[0] for pairs in own])[first],
        column,
    )


@lru_cache(maxsize=256)
def first_derivative_products(structure: Structure) -> Array:
    """Where the values of `first_derivative_places` stand in the products of all freedoms b, one after the other."""
    places, number, x = first_derivative_places(structure), pairs_of(structure).number, factors_of(structure)
    wide = np.array([2 * len(own) for own in x.own])
    start = _starts(wide * [len(above) for above in x.above])
    at = [start[b] + x.row[a, b] * wide[b] + x.own_column[number[b, c]] for a, b, c in places.sorts]
    return np.concatenate([at[0], at[1] + wide[places.sorts[1][1]] // 2])


@lru_cache(maxsize=32)
def second_derivative_index(structure: Structure) -> Array:
    """Where d²M[l, k, i, j] = ∂_l ∂_k M_ij is found in the products of all freedoms b, after a zero, by the way a ≤ b ≤ c ≤ d::

    ∂_c ∂_d M_ab with a ≤ b < c ≤ d in a first matrix; ∂_b ∂_d M_ac with a < b ≤ c < d and ∂_b ∂_c M_ad with a < b ≤ c ≤ d in a
    second. The two derivatives commute, unless they belong to one joint. (f, f, f, f).
    """
    f, number, x = freedoms_of(structure), pairs_of(structure).number, factors_of(structure)
    index = np.zeros((f.size,) * 4, np.int32)
    wide, tall = (np.array([len(one) for one in some]) for some in (x.beyond, x.into))
    start = 1 + _starts(3 * wide * tall)

    def fill(kind: int, ways: Array, orders: Orders) -> None:
        a, b, c, d = ways
        column = x.column[b, number[c, d]]
        inner = x.row[a, b] * wide[b] + column
        others = wide[b] * (tall[b] + 2 * x.row[a, b] + kind - 1) + column
        values = start[b] + (others if kind else inner)
        for order in orders:
            index[tuple(ways[list(order)])] = values

    inner = _ways(f.reaches_once, f.above, f.reaches)
    fill(0, inner, [(2, 3, 0, 1), (2, 3, 1, 0)])
    fill(0, inner[:, f.above[inner[2], inner[3]]], [(3, 2, 0, 1), (3, 2, 1, 0)])
    fill(1, _ways(f.above, f.reaches, f.above), [(1, 3, 0, 2), (1, 3, 2, 0), (3, 1, 0, 2), (3, 1, 2, 0)])
    outer = _ways(f.above, f.reaches, f.reaches)
    fill(2, outer, [(1, 2, 0, 3), (1, 2, 3, 0)])
    fill(2, outer[:, f.above[outer[1], outer[2]]], [(2, 1, 0, 3), (2, 1, 3, 0)])
    return index


def _starts(sizes: Array) -> Array:
    """Where each begins of what comes one after the other."""
    return np.cumsum(sizes) - sizes


def _ways(*relations: Array) -> Array:
    """All (a, b, c, …) (rank, K) with a related to b by the first table, b to c by the second, and so on."""
    ways = np.array(np.nonzero(relations[0]))
    for relation in relations[1:]:
        number, following = np.nonzero(relation[ways[-1]])
        ways = np.concatenate([ways[:, number], following[None]])
    return _sorted(ways)


@lru_cache(maxsize=256)
def structure_constants(structure: Structure) -> Array | None:
    """s[i, j, r] with [e_i, e_j] = Σ_r s_ij^r e_r, the brackets of the velocity frame (nv, nv, nv); None if all vanish.

    Velocities of planar, spherical and free joints are body twists, whose directions do not commute: s are the constants of
    their groups. All other joints have coordinates for velocities, and none.
    """
    if structure.has_plain_velocities:
        return None
    s = np.zeros((structure.nv,) * 3)
    for c, kind in structure.blocks:
        if (S := kind.rows) is not None:
            v = c.v
            s[v, v, v] = lie.bracket(S[:, None, :], S[None, :, :]) @ S.T
    return s


Sort = tuple[Array, list[tuple[tuple[int, ...], Array | None]]]


@lru_cache(maxsize=256)
def by_q_and_q_places(structure: Structure) -> Places:
    """In qq[i, j, k]: ∂_a ∂_b τ_c with a ≤ b ≤ c, ∂_a ∂_c τ_b with a ≤ b < c, then ∂_b ∂_c τ_a with a < b ≤ c.

    In both orders of the derivatives, unless they belong to one joint.
    """
    f = freedoms_of(structure)
    at_c, at_b, at_a = _ways(f.reaches, f.reaches), _ways(f.reaches, f.above), _ways(f.above, f.reaches)
    return _places(
        f.size,
        (at_c, [((2, 1, 0), None), ((2, 0, 1), f.above[at_c[0], at_c[1]])]),
        (at_b, [((1, 2, 0), None), ((1, 0, 2), None)]),
        (at_a, [((0, 2, 1), None), ((0, 1, 2), f.above[at_a[1], at_a[2]])]),
    )


@lru_cache(maxsize=256)
def by_q_and_v_places(structure: Structure) -> Places:
    """In qv[i, j, k], by q_j and v_k: ∂_b ∂τ_c/∂v_a with a < b ≤ c, ∂_c ∂τ_i/∂v_k with i and k < c, ∂_b ∂τ_a/∂v_c with a < b ≤ c,
    then ∂_a ∂τ_b/∂v_c with a ≤ b < c and its negative ∂_a ∂τ_c/∂v_b with a ≤ b ≤ c, which vanishes for b = c.
    """
    f = freedoms_of(structure)
    meet = (f.reaches | f.reaches.T)[:, :, None] & f.above[:, None, :] & f.above[None, :, :]
    once, before = _ways(f.above, f.reaches), _ways(f.reaches, f.reaches)
    before = before[:, before[1] != before[2]]
    return _places(
        f.size,
        (once, [((2, 1, 0), None)]),
        (_sorted(np.array(np.nonzero(meet))), [((0, 2, 1), None)]),
        (once, [((0, 1, 2), None)]),
        (before, [((1, 0, 2), f.above[before[1], before[2]])]),
        (before, [((2, 0, 1), None)]),
    )


def _places(size: int, *sorts: Sort) -> Places:
    """Number the values of all sorts, and set them at their freedoms in each of the orders, or where a condition holds."""
    index, first = np.zeros((size,) * len(sorts[0][0]), int), 1
    for ways, orders in sorts:
        numbers = first + np.arange(ways.shape[1])
        first += ways.shape[1]
        for order, condition in orders:
            some = slice(None) if condition is None else condition
            index[tuple(ways[list(order)][:, some])] = numbers[some]
    return Places(tuple(ways for ways, _ in sorts), index)


def _sorted(ways: Array) -> Array:
    return ways[:, np.lexsort(ways)]  # by the last, then the one before: neighbours share their factors
