"""How link matrices W_i = W_p A_i change with time: Hollerbach's forward recursion, for 4×4 poses and 3×3 rotations alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.arrays import dot, matmul, reshape
from torsor.arrays.typing import Array, Scalar
from torsor.papers.formulations.model import Model, scaled


class MatrixRates(NamedTuple):
    """W, Ẇ and Ẅ of every link, in base axes."""

    W: list[Array]
    W_d: list[Array]
    W_dd: list[Array]


def matrix_rates(model: Model, v: Sequence[Array], a: Sequence[Array]) -> MatrixRates:
    """Ẇ_i = Ẇ_p A_i + W_p A′_i q̇_i and Ẅ_i = Ẅ_p A_i + 2 Ẇ_p A′_i q̇_i + W_p A″_i q̇_i² + W_p A′_i q̈_i [Hol80; Sil81, §1.4].

    A link's record starts with A, A′, A″: its matrix in the parent's axes and the derivatives by the joint's variable.
    """
    W, W_d, W_dd = rates = MatrixRates([], [], [])
    for i, p in enumerate(model.parents):
        A, A1, A2 = model.links[i][:3]
        if p < 0:
            W.append(A)
            W_d.append(scaled(v[i], A1))
            W_dd.append(scaled(v[i] * v[i], A2) + scaled(a[i], A1))
            continue
        dW, ddW = matmul(W[p], A1), matmul(W[p], A2)
        W.append(matmul(W[p], A))
        W_d.append(matmul(W_d[p], A) + scaled(v[i], dW))
        W_dd.append(
            matmul(W_dd[p], A) + scaled(2.0 * v[i], matmul(W_d[p], A1)) + scaled(v[i] * v[i], ddW) + scaled(a[i], dW)
        )
    return rates


def derivative_by_own_joint(model: Model, rates: MatrixRates, i: int) -> Array:
    """∂W_i/∂q_i = W_p A′_i."""
    A1, p = model.links[i][1], model.parents[i]
    return A1 if p < 0 else matmul(rates.W[p], A1)


def trace_of_product(X: Array, Y: Array) -> Scalar:
    """tr(X Yᵀ) of square matrices, without forming the product."""
    size = X.shape[-1] * X.shape[-1]
    return dot(reshape(X, 2, size), reshape(Y, 2, size))
