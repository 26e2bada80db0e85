"""Planes of motion: bivectors over pairs i < j, and the symmetric operators on them that curvature tensors are.

A tensor with R_ijkl = −R_jikl = −R_ijlk = R_klij is a symmetric matrix R_AB over the pairs A = (i, j), B = (k, l); its
*entries* are those with A ≤ B, n²(n² − 1)/8 or so numbers instead of n⁴.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from torsor.arrays import concat, reshape, take, zeros
from torsor.arrays.typing import Array


class Planes(NamedTuple):
    """Of n dimensions: pairs ``first`` < ``second`` (P,); entries by their four indices ``ijkl`` (4, E); the entry of each
    pair of pairs, ``matrix`` (P, P); and of all four indices, ``tensor`` (n, n, n, n): 0 for zero, e + 1, or E + e + 1 for −.
    """

    first: Array
    second: Array
    ijkl: Array
    matrix: Array
    tensor: Array

    @property
    def weights(self) -> Array:
        """How often each entry stands in the matrix (E,): once on the diagonal, twice off it."""
        i, j, k, l = self.ijkl
        return np.where((i == k) & (j == l), 1.0, 2.0)


@lru_cache(maxsize=64)
def planes_of(n: int) -> Planes:
    """The tables for n dimensions."""
    first, second = np.triu_indices(n, 1)
    A, B = np.triu_indices(len(first))
    ijkl = np.array([first[A], second[A], first[B], second[B]])
    entries = np.arange(len(A))
    matrix = np.zeros((len(first),) * 2, int)
    matrix[A, B] = matrix[B, A] = entries
    tensor = np.zeros((n,) * 4, int)
    for order in ((0, 1, 2, 3), (2, 3, 0, 1)):
        i, j, k, l = ijkl[list(order)]
        tensor[i, j, k, l] = tensor[j, i, l, k] = 1 + entries
        tensor[j, i, k, l] = tensor[i, j, l, k] = 1 + len(A) + entries
    return Planes(first, second, ijkl, matrix, tensor)


def tensor_of(entries: Array, n: int) -> Array:
    """All n⁴ components (..., n, n, n, n) from the entries (..., E)."""
    return take(concat([zeros(1), entries, -entries]), planes_of(n).tensor)


def matrix_of(entries: Array, n: int) -> Array:
    """The operator on planes (..., P, P) from its entries (..., E)."""
    return take(entries, planes_of(n).matrix)


def wedge(u: Array, w: Array) -> Array:
    """u ∧ w (..., P), the plane two vectors (..., n) span: u_i w_j − u_j w_i for i < j."""
    p = planes_of(u.shape[-1])
    return u[..., p.first] * w[..., p.second] - u[..., p.second] * w[..., p.first]


def wedge_square(X: Array) -> Array:
    """X ∧ X: the entries (..., E) of X_ik X_jl − X_il X_jk, the metric of planes if X is one of vectors (..., n, n)."""
    n = X.shape[-1]
    i, j, k, l = planes_of(n).ijkl
    flat = reshape(X, 2, n * n)
    return take(flat, n * i + k) * take(flat, n * j + l) - take(flat, n * i + l) * take(flat, n * j + k)
