"""Eigenvalues and eigenvectors of a symmetric matrix: by NumPy or JAX, and of constants and while tracing by Jacobi's rotations.

A trace has no loops that end when they have converged, so the number of sweeps is fixed. Convergence is quadratic; SWEEPS are
as many as the slowest of 20,000 random matrices took, with close and equal eigenvalues, and of ratios up to 1e12, among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy

from torsor.arrays.exact import is_exact
from torsor.arrays.primitives import absolute, matrix, namespace, sqrt, stack, where
from torsor.arrays.symmetric import rounding_of
from torsor.arrays.typing import Array

SWEEPS = {1: 0, 2: 1, 3: 5, 4: 6}
MOST_SWEEPS = 8
_PLAIN = 1e-9  # of determinants, to the size of the entries: a million times their rounding


class Eigen(NamedTuple):
    """A = U diag(values) Uᵀ, the largest value first."""

    values: Array
    """(..., m)."""
    vectors: Array
    """U (..., m, m), a column for each."""


def symmetric_eigen(A: Array) -> Eigen:
    """Of A (..., m, m), symmetric; NaN where A is not finite. Of equal eigenvalues, the vectors do not change for derivatives."""
    xp = namespace(A)
    if not hasattr(xp, "linalg") or (xp is numpy and is_exact()):  # LAPACK rounds as the processor does
        return jacobi_eigen(A)
    eigh = numpy.linalg.eigh if xp is numpy else _eigh_of_jax()
    sound = xp.isfinite(A).all(axis=(-1, -2))[..., None]
    values, vectors = eigh(xp.where(sound[..., None], A, numpy.eye(A.shape[-1])))
    values, vectors = values[..., ::-1], vectors[..., ::-1]
    return Eigen(xp.where(sound, values, numpy.nan), xp.where(sound[..., None], vectors, numpy.nan))


def is_plainly_definite(A: Array | Sequence[Sequence[float]]) -> bool:
    """Whether a matrix (3, 3) is symmetric and positive definite without any doubt: rounding could not have made it so.

    By the determinants of its corners, each compared with the size of the entries: where this says no, eigenvalues decide.
    """
    (a, b, c), (d, e, f), (g, h, i) = A.tolist() if isinstance(A, numpy.ndarray) else A
    if not (b == d and c == g and f == h):
        return False
    scale = max(a, e, i)
    corner, whole = a * e - b * b, a * (e * i - f * f) - b * (b * i - f * c) + c * (b * f - e * c)
    return bool(a > _PLAIN * scale and corner > _PLAIN * scale * scale and whole > _PLAIN * scale * scale * scale)


@cache
def _eigh_of_jax() -> Callable[[Array], tuple[Array, Array]]:
    """JAX's eigh with derivatives of any order that are finite where eigenvalues are equal.

    dσ_p = (Uᵀ dA U)_pp and dU = U Ω with Ω_pq = (Uᵀ dA U)_pq / (σ_q − σ_p), 0 where these are equal.
    """
    jax = import_module("jax")
    xp = jax.numpy
    eigh: Any = jax.custom_jvp(lambda A: tuple(xp.linalg.eigh(A)))

    def along(point: tuple[Array], step: tuple[Array]) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        values, U = eigh(point[0])
        B = xp.swapaxes(U, -1, -2) @ step[0] @ U
        gaps = values[..., None, :] - values[..., :, None]
        equal = abs(gaps) <= rounding_of(abs(values).sum(axis=-1))[..., None, None]
        return (values, U), (
            xp.diagonal(B, axis1=-2, axis2=-1),
            U @ xp.where(equal, 0.0, B / xp.where(equal, 1.0, gaps)),
        )

    eigh.defjvp(along)
    found: Callable[[Array], tuple[Array, Array]] = eigh
    return found


def jacobi_eigen(A: Array) -> Eigen:
    """By cyclic rotations of pairs of rows and columns, a fixed number of times [GVL13, §8.5]."""
    m = A.shape[-1]
    a = {(i, j): A[..., i, j] for i in range(m) for j in range(i, m)}
    U: list[list[Array]] = [[float(i == j) + 0.0 * A[..., 0, 0] for j in range(m)] for i in range(m)]
    tiny = rounding_of(sum(absolute(a[i, i]) for i in range(m)))
    with numpy.errstate(all="ignore"):
        for _ in range(SWEEPS.get(m, MOST_SWEEPS)):
            for p in range(m):
                for q in range(p + 1, m):
                    _rotate(a, U, p, q, tiny)
    values = [a[i, i] for i in range(m)]
    for last in range(m - 1, 0, -1):  # the smallest to the end, and so on
        for k in range(last):
            _order(values, U, k)
    return Eigen(stack(values), matrix(U))


def _rotate(a: dict[tuple[int, int], Array], U: list[list[Array]], p: int, q: int, tiny: Array) -> None:
    """The rotation in the plane of p and q that makes a_pq zero, by the smaller of its angles."""
    d, h = a[q, q] - a[p, p], 2.0 * a[p, q]
    root = sqrt(d * d + h * h)
    below = where(d >= 0.0, d + root, d - root)
    t = where(absolute(h) > tiny, h / where(root > 0.0, below, 1.0), 0.0)  # two that are equal are left alone
    c = 1.0 / sqrt(1.0 + t * t)
    s = t * c
    shift = t * a[p, q]
    a[p, p], a[q, q], a[p, q] = a[p, p] - shift, a[q, q] + shift, 0.0 * shift
    for k in range(len(U)):
        if k not in (p, q):
            at_p, at_q = (min(k, p), max(k, p)), (min(k, q), max(k, q))
            a[at_p], a[at_q] = c * a[at_p] - s * a[at_q], s * a[at_p] + c * a[at_q]
        U[k][p], U[k][q] = c * U[k][p] - s * U[k][q], s * U[k][p] + c * U[k][q]


def _order(values: list[Array], U: list[list[Array]], k: int) -> None:
    """Values k and k + 1 the larger first, their vectors with them."""
    wrong = values[k + 1] > values[k]
    for row in (values, *U):
        row[k], row[k + 1] = where(wrong, row[k + 1], row[k]), where(wrong, row[k], row[k + 1])
