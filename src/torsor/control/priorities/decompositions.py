"""Decompositions of small matrices by LAPACK itself: what NumPy does around each call takes as long as the call."""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any

import numpy as np

from torsor.arrays.typing import Array
from torsor.errors import MissingDependency

TOLD = 1e-11  # of the length of all rows: smaller parts are rounding error


@cache
def _lapack() -> Any:
    try:
        return importlib.import_module("scipy.linalg.lapack")
    except ImportError as error:
        raise MissingDependency("tasks in order of priority need SciPy: pip install 'torsor[qp]'.") from error


def singular_values(A: Array) -> tuple[Array, Array, Array]:
    """U (m, m), sizes (min(m, n),) and Vᵀ (n, n) with A = U diag(sizes) Vᵀ, of finite numbers."""
    if not A.size:
        return np.linalg.svd(A)
    U, sizes, Vt, failed = _lapack().dgesdd(A)
    return np.linalg.svd(A) if failed else (U, sizes, Vt)


def least_squares(part: Array, b: Array, size: float) -> Array:
    """The x of the least |part x − b|², itself as small as can be: by columns in order of size [GVL13, §5.5].

    ``part`` (m, k) are columns of a matrix of length ``size``, and b (m,). What of them is less than `TOLD` of that is zero: the
    columns may leave nothing of the matrix but rounding.
    """
    m, k = part.shape
    if not m or not k:
        return np.zeros(k)
    if m < k:
        b = np.concatenate([b, np.zeros(k - m)])
    solve, room = _lapack().dgelsy, 64 * (m + k + 1)
    R, x, *_ = solve(part, b, np.zeros(k, np.intc), TOLD, room)
    largest = abs(float(R[0, 0]))  # the length of the longest column
    if largest <= TOLD * size:
        return np.zeros(k)
    if largest < 0.01 * size:
        x = solve(part, b, np.zeros(k, np.intc), TOLD * size / largest, room)[1]
    return np.asarray(x[:k])
