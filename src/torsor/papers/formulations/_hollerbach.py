"""Hollerbach's recursive Lagrangian with 3×3 rotations and vectors.

W_i now turns link i's axes into the base's, o_i is its origin, p_i leads from its joint to o_i (in link axes), b_i from
the parent's origin to the joint (in the parent's axes; zero in Denavit–Hartenberg frames) [Hol80; Sil81, §1.4]::

    Ẅ_i = Ẅ_p A_i + 2 Ẇ_p A′_i q̇_i + W_p A″_i q̇_i² + W_p A′_i q̈_i                    root to leaves
    ö_i = ö_p + Ẅ_p b_i + Ẅ_i p_i
    e_i = m_i ö_i + Ẅ_i h_i + Σ_c e_c                                                leaves to root
    D_i = J_i Ẅ_iᵀ + h_i ö_iᵀ + p_i e_iᵀ + Σ_c (A_c D_c + b_c e_cᵀ)
    c_i = h_i + M_i p_i + Σ_c (A_c c_c + M_c b_c)
    τ_i = tr(∂W_i/∂q_i D_i) − gᵀ ∂W_i/∂q_i c_i

with h, J the first and second moment of link i about its origin and M the mass of it and all links beyond. A joint that
slides by s per unit of q adds 2 Ẇ_i a s q̇ + W_i a s q̈ to ö_i (a its axis) and s z·(e_i − M_i g) to τ_i (z = W_i a); if it
does not turn, the trace is absent. The source has no helical joints: this is E003-6 in its terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torsor.arrays import dot, matmul, matvec, outer, transpose, zeros
from torsor.arrays.typing import Array, Scalar, Vector3
from torsor.papers.formulations.formulation import Published, formulation
from torsor.papers.formulations.links import (
    MatrixRates,
    Model,
    VectorLink,
    along,
    derivative_by_own_joint,
    lagrangian_model,
    matrix_model,
    matrix_rates,
    trace_of_product,
)

Derivative = Callable[[Model, MatrixRates, int], Array]  # ∂W_i/∂q_i of link i


@formulation(
    lagrangian_model,
    "Recursive Lagrangian, 3×3",
    "[Hol80; Sil81, §1.4]",
    published=Published((2_195, 1_719), ("412n − 277", "320n − 201")),
)
def hollerbach_3x3(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursive Lagrangian with 3×3 rotation matrices, O(n) [Hol80; Sil81, §1.4, E003-6].

    The recursion on given rotations and vectors.
    """
    return _by_rotations(model, v, a, derivative_by_own_joint)


@formulation(lagrangian_model, "Recursive Lagrangian, 3×3, shared products", "[Hol80; Sil81, §1.4]")
def hollerbach_3x3_shared(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursive Lagrangian with 3×3 rotation matrices and ∂W_i/∂q_i formed once, O(n) [Hol80; Sil81, §1.4].

    The recursion on given rotations and vectors, with the products W_p A′_i of the way out kept for the way back.
    """
    return _by_rotations(model, v, a, _formed_before)


def _formed_before(model: Model, rates: MatrixRates, i: int) -> Array:
    """∂W_i/∂q_i from the way out."""
    del model
    return rates.by_own_joint[i]


def _by_rotations(model: Model, v: Sequence[Array], a: Sequence[Array], derivative: Derivative) -> list[Scalar]:
    rates = matrix_rates(model, v, a)
    o_dd = _accelerations(model, rates, v, a)
    n = len(model.links)
    e: list[Array] = [None] * n
    D: list[Array] = [None] * n
    c: list[Array] = [None] * n
    tau: list[Scalar] = [None] * n
    for i in range(n - 1, -1, -1):
        link: VectorLink = model.links[i]
        e[i] = link.m[..., None] * o_dd[i] + matvec(rates.W_dd[i], link.h)
        D[i] = matmul(link.J, transpose(rates.W_dd[i])) + outer(link.h, o_dd[i])
        c[i] = link.h + link.beyond[..., None] * link.p
        for k in model.children(i):
            child: VectorLink = model.links[k]
            e[i] = e[i] + e[k]
            D[i] = D[i] + matmul(child.R, D[k]) + outer(child.b, e[k])
            c[i] = c[i] + matvec(child.R, c[k]) + child.beyond[..., None] * child.b
        D[i] = D[i] + outer(link.p, e[i])
        tau[i] = _project(model, rates, i, e[i], D[i], c[i], derivative)
    return tau


def _accelerations(model: Model, rates: MatrixRates, v: Sequence[Array], a: Sequence[Array]) -> list[Vector3]:
    """The accelerations ö_i of the origins of all links."""
    o_dd: list[Vector3] = []
    for i, p in enumerate(model.parents):
        link: VectorLink = model.links[i]
        at_joint = zeros(3) if p < 0 else o_dd[p] + matvec(rates.W_dd[p], link.b)
        here = at_joint + matvec(rates.W_dd[i], link.p)
        if link.slide is not None:
            W_a, W_d_a = matvec(rates.W[i], link.axis), matvec(rates.W_d[i], link.axis)
            here = here + along(2.0 * link.slide * v[i], W_d_a) + along(link.slide * a[i], W_a)
        o_dd.append(here)
    return o_dd


def _project(
    model: Model, rates: MatrixRates, i: int, e: Vector3, D: Array, c: Vector3, derivative: Derivative
) -> Scalar:
    """τ_i: the force along what the joint's motion does."""
    (g,) = model.base
    link: VectorLink = model.links[i]
    tau = None
    if link.turns:
        dW = derivative(model, rates, i)
        tau = trace_of_product(dW, transpose(D)) - dot(g, matvec(dW, c))
    if link.slide is not None:
        z = matvec(rates.W[i], link.axis)
        push = link.slide * dot(z, e - link.beyond[..., None] * g)
        tau = push if tau is None else tau + push
    return tau


@formulation(
    matrix_model,
    "Recursive Lagrangian, 4×4",
    "[Hol80; Sil81, §1.4]",
    published=Published((4_388, 3_586), ("830n − 592", "675n − 464")),
)
def hollerbach_4x4(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursive Lagrangian with 4×4 matrices, O(n) [Hol80; Sil81, §1.4].

    The recursion on given A, A′, A″, J.
    """
    return _by_poses(model, v, a, derivative_by_own_joint)


@formulation(matrix_model, "Recursive Lagrangian, 4×4, shared products", "[Hol80; Sil81, §1.4]")
def hollerbach_4x4_shared(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursive Lagrangian with 4×4 matrices and ∂W_i/∂q_i formed once, O(n) [Hol80; Sil81, §1.4].

    The recursion on given A, A′, A″, J, with the products W_p A′_i of the way out kept for the way back.
    """
    return _by_poses(model, v, a, _formed_before)


def _by_poses(model: Model, v: Sequence[Array], a: Sequence[Array], derivative: Derivative) -> list[Scalar]:
    (g,) = model.base
    rates = matrix_rates(model, v, a)
    D = [matmul(link.J, transpose(W_dd)) for link, W_dd in zip(model.links, rates.W_dd, strict=True)]
    c = [link.J[..., :, 3] for link in model.links]  # (m r, m), the last column of the pseudo-inertia
    tau: list[Scalar] = [None] * len(D)
    for i in range(len(D) - 1, -1, -1):
        dW = derivative(model, rates, i)
        tau[i] = trace_of_product(dW, transpose(D[i])) - dot(g, matvec(dW, c[i]))
        if (p := model.parents[i]) >= 0:
            A = model.links[i].A
            D[p] = D[p] + matmul(A, D[i])
            c[p] = c[p] + matvec(A, c[i])
    return tau
