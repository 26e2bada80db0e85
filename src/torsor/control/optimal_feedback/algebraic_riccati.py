"""Algebraic Riccati equations of small matrices, for a batch of them, by doubling.

The discrete one, X = AᵀX(1 + G X)⁻¹A + H with G = B R⁻¹ Bᵀ, is the limit of [CFLW04]::

    A ← A W A,     G ← G + A W G Aᵀ,     H ← H + AᵀH W A        with W = (1 + G H)⁻¹

each turn of which takes twice as many steps of time as the one before. The continuous one, AᵀX + X A − X G X + H = 0, has the
solution of a discrete one after Cayley's transform [CFL05]::

    A' = 1 + 2γ S⁻¹ with S = A_γ + G A_γ⁻ᵀ H,   G' = 2γ A_γ⁻¹ G S⁻ᵀ,   H' = 2γ S⁻ᵀ H A_γ⁻¹,      A_γ = A − γ 1
"""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array

TURNS = 60


def discrete(A: Array, G: Array, H: Array) -> Array:
    """The stabilising solution X (..., n, n); NaN where there is none."""
    one, X = np.eye(A.shape[-1]), H
    with np.errstate(all="ignore"):
        for _ in range(TURNS):
            W_A = _solved(one + G @ H, A)
            W_G = _solved(one + G @ H, G)
            A, G, X = A @ W_A, G + A @ W_G @ _t(A), H + _t(A) @ H @ W_A
            X, G = 0.5 * (X + _t(X)), 0.5 * (G + _t(G))
            small = np.abs(X - H).max(axis=(-2, -1)) <= 1e-15 * np.abs(X).max(axis=(-2, -1))
            H = X
            if np.all(small | ~np.isfinite(X).all(axis=(-2, -1))):
                break
    settled = small & (np.abs(A).max(axis=(-2, -1)) < 1.0)
    return np.where(settled[..., None, None], X, np.nan)


def continuous(A: Array, G: Array, H: Array) -> Array:
    """The stabilising solution X (..., n, n); NaN where there is none."""
    n = A.shape[-1]
    one = np.eye(n)
    # γ of the size of the fastest of the motions that are controlled
    size = [np.linalg.norm(x, axis=(-2, -1)) for x in (A, G, H)]
    gamma = (size[0] + np.sqrt(size[1] * size[2]))[..., None, None] / np.sqrt(n)
    A_g = A - gamma * one
    with np.errstate(all="ignore"):
        G_inner, H_inner = _solved(A_g, G), _t(_solved(_t(A_g), _t(H)))  # A_γ⁻¹ G and H A_γ⁻¹
        S = A_g + G @ _solved(_t(A_g), H)
        A_new = one + 2.0 * gamma * _solved(S, np.broadcast_to(one, S.shape))
        G_new = 2.0 * gamma * _t(_solved(S, _t(G_inner)))
        H_new = 2.0 * gamma * _solved(_t(S), H_inner)
    return discrete(A_new, G_new, H_new)


def _solved(A: Array, B: Array) -> Array:
    """A⁻¹ B, NaN where A is singular."""
    try:
        return np.linalg.solve(A, B)
    except np.linalg.LinAlgError:
        return np.full(np.broadcast_shapes(A.shape, B.shape), np.nan)


def _t(A: Array) -> Array:
    return np.swapaxes(A, -1, -2)
