"""Linear recurrences X_k+1 = A_k X_k + B_k over many steps, by products of many matrices at once."""

from __future__ import annotations

import math

import numpy as np

from torsor.arrays.typing import Array


def recurrence(A: Array, start: Array, more: Array | None = None) -> Array:
    """All X_k after ``start`` (B, n, m), shape (B, N, n, m), for A (B, N, n, n) and B_k (B, N, n, m), or nothing added.

    The N steps are cut into √N blocks. Within them products grow in all blocks at once; then each block begins where the
    one before has ended: 2 √N calls of twice the products, in place of N calls.
    """
    batch, N, n = A.shape[:-2][0], A.shape[1], A.shape[-1]
    m = start.shape[-1]
    length = max(1, math.isqrt(N))
    blocks = -(-N // length)
    cut = np.broadcast_to(np.eye(n), (batch, blocks * length, n, n)).copy()
    cut[:, :N] = A
    cut = cut.reshape(batch, blocks, length, n, n)
    products = np.empty_like(cut)
    products[:, :, 0] = cut[:, :, 0]
    for j in range(1, length):
        np.matmul(cut[:, :, j], products[:, :, j - 1], out=products[:, :, j])
    added = None if more is None else _added(cut, more)
    found = np.empty((batch, blocks, length, n, m))
    x = start
    for b in range(blocks):
        found[:, b] = products[:, b] @ x[:, None]
        if added is not None:
            found[:, b] += added[:, b]
        x = found[:, b, -1]
    return found.reshape(batch, blocks * length, n, m)[:, :N]


def _added(cut: Array, more: Array) -> Array:
    """What the B_k of each block make of zero, (B, blocks, length, n, m)."""
    batch, blocks, length, n = cut.shape[:4]
    rows = np.zeros((batch, blocks * length, n, more.shape[-1]))
    rows[:, : more.shape[1]] = more
    rows = rows.reshape(batch, blocks, length, n, -1)
    for j in range(1, length):
        rows[:, :, j] += cut[:, :, j] @ rows[:, :, j - 1]
    return rows
