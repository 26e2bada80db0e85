"""The matrix exponential and its integral, for a batch of small matrices of any norm [Hig05]."""

from __future__ import annotations

import numpy as np

from torsor.arrays.typing import Array

REACH = 5.371920351148152  # θ₁₃ of the source, table 2.3, for doubles
_B = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0, 129060195264000.0, 10559470521600.0,
    670442572800.0, 33522128640.0, 1323241920.0, 40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def exponential_and_integral(X: Array, Y: Array) -> tuple[Array, Array]:
    """eˣ and φ(X) Y: where ẋ = X x + Y u leads in unit time from x, and from a u that is held.

    ``X`` (..., n, n), ``Y`` (..., n, m), no unit. Returns shapes as given; NaN where X is not finite.
    """
    norm = np.abs(X).sum(axis=-2).max(axis=-1, initial=0.0)
    finite = np.isfinite(norm)
    halvings = np.ceil(np.log2(np.where(finite & (norm > REACH), norm / REACH, 1.0))).astype(int)
    scale = np.where(finite, np.ldexp(1.0, -halvings), np.nan)[..., None, None]
    E, F = _approximants(scale * X, scale * Y)
    for k in range(int(halvings.max(initial=0))):
        more = halvings > k
        E_k, F_k = E[more], F[more]
        E[more], F[more] = E_k @ E_k, E_k @ F_k + F_k
    return E, F


def _approximants(X: Array, Y: Array) -> tuple[Array, Array]:
    """Both for a small X, in six products and one solution, as the source's (2.8)–(2.10) order them."""
    b, one = _B, np.eye(X.shape[-1])
    X2 = X @ X
    X4 = X2 @ X2
    X6 = X2 @ X4
    W = X6 @ (b[13] * X6 + b[11] * X4 + b[9] * X2) + b[7] * X6 + b[5] * X4 + b[3] * X2 + b[1] * one
    V = X6 @ (b[12] * X6 + b[10] * X4 + b[8] * X2) + b[6] * X6 + b[4] * X4 + b[2] * X2 + b[0] * one
    U = X @ W
    both = np.linalg.solve(V - U, np.concatenate([V + U, 2.0 * W @ Y], axis=-1))
    return both[..., : X.shape[-1]], both[..., X.shape[-1] :]
