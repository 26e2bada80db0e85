"""The Uicker/Kahn formulation: Lagrange's equation in 4×4 matrices, in three ways of evaluating one formula.

With W_j = A_1 ⋯ A_j the pose of link j and J_j its 4×4 pseudo-inertia [Sil81, (1.2), E003-2; Uic65; Kah69]::

    τ_i = Σ_{j ≥ i} tr(∂W_j/∂q_i J_j Ẅ_jᵀ) − m_j gᵀ ∂W_j/∂q_i r_j
    Ẅ_j = Σ_k ∂W_j/∂q_k q̈_k + Σ_kl ∂²W_j/∂q_k∂q_l q̇_k q̇_l

A derivative of W_j is the same product with ∂A_k/∂q_k (or ∂²A_k/∂q_k²) in place of A_k. Helical joints need nothing more.
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import dot, matmul, matvec, transpose
from torsor.arrays.typing import Algebra, Array, ConfigurationVector, JointVector, Scalar
from torsor.border import checked
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.papers.formulations.links import (
    MatrixLink,
    Model,
    joint_forces,
    matrix_model,
    scaled,
    total,
    trace_of_product,
)

First = dict[int, Algebra]  # k → ∂W_j/∂q_k, for one link j
Second = dict[tuple[int, int], Algebra]  # (k, l) → ∂²W_j/∂q_k∂q_l, with k before or equal to l


@checked
def uicker_kahn(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by (1.2) as written: two 4×4 products under every trace, O(n⁴) [Sil81, (1.2)].

    The traces are tr(∂W_j/∂q_i J_j ∂²W_jᵀ/∂q_k∂q_l).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping from str to (..., 6) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m, N.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N, as `torsor.inverse_dynamics`.
    """
    return joint_forces(uicker_kahn_core, matrix_model, robot, q, v, a, wrenches)


@checked
def uicker_kahn_shared(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by (1.2) with ∂W_j/∂q_i J_j formed once, and of each further product only its trace, O(n⁴) [Sil81, (1.2)].

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping from str to (..., 6) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m, N.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N, as `torsor.inverse_dynamics`.
    """
    return joint_forces(uicker_kahn_shared_core, matrix_model, robot, q, v, a, wrenches)


@checked
def uicker_kahn_accelerations(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by (1.2) with the acceleration Ẅ_j of each link formed once [Sil81, (1.2)].

    τ_i = Σ_j tr(∂W_j/∂q_i J_j Ẅ_jᵀ).

    Parameters
    ----------
    robot : Robot
    q : (..., nq) array
        Configuration, rad or m.
    v : (..., nv) array
        Velocity, rad/s or m/s.
    a : (..., nv) array
        Acceleration, rad/s² or m/s².
    wrenches : mapping from str to (..., 6) array, optional
        For frames by name what the environment does to the robot there, in that frame, N·m, N.

    Returns
    -------
    (..., nv) array
        Joint forces, N·m or N, as `torsor.inverse_dynamics`.
    """
    return joint_forces(uicker_kahn_accelerations_core, matrix_model, robot, q, v, a, wrenches)


def uicker_kahn_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """(1.2) as written, with the derivatives of W_j from those of the link before."""
    terms: list[list[Scalar]] = [[] for _ in model.links]
    derivatives = _derivatives_by_recursion(model)
    for j, (U, UU) in enumerate(derivatives):
        J, path = model.links[j].J, model.path(j)
        for i in path:
            for k in path:
                terms[i].append(_trace(matmul(matmul(U[i], J), transpose(U[k]))) * a[k])
            for k in path:
                for l in path:
                    UU_kl = UU[min(k, l), max(k, l)]
                    terms[i].append(_trace(matmul(matmul(U[i], J), transpose(UU_kl))) * v[k] * v[l])
    return _less_gravity(model, terms, [U for U, _ in derivatives])


def uicker_kahn_shared_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """(1.2) with shared products, and every derivative of W_j a product of its own, as its definition says."""
    terms: list[list[Scalar]] = [[] for _ in model.links]
    derivatives = _derivatives_by_products(model)
    for j, (U, UU) in enumerate(derivatives):
        path = model.path(j)
        for i in path:
            UJ = matmul(U[i], model.links[j].J)
            for k in path:
                terms[i].append(trace_of_product(UJ, U[k]) * a[k])
            for k in path:
                for l in path:
                    terms[i].append(trace_of_product(UJ, UU[min(k, l), max(k, l)]) * v[k] * v[l])
    return _less_gravity(model, terms, [U for U, _ in derivatives])


def uicker_kahn_accelerations_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """(1.2) by Ẅ_j, the mixed second derivatives taken once for both orders."""
    terms: list[list[Scalar]] = [[] for _ in model.links]
    derivatives = _derivatives_by_products(model)
    for j, (U, UU) in enumerate(derivatives):
        W_dd = total(
            [scaled(a[k], U[k]) for k in model.path(j)]
            + [scaled(v[k] * v[k] if k == l else 2.0 * v[k] * v[l], UU_kl) for (k, l), UU_kl in UU.items()]
        )
        JW = matmul(model.links[j].J, transpose(W_dd))
        for i in model.path(j):
            terms[i].append(trace_of_product(U[i], transpose(JW)))
    return _less_gravity(model, terms, [U for U, _ in derivatives])


def _less_gravity(model: Model, terms: list[list[Scalar]], derivatives: list[First]) -> list[Scalar]:
    """Σ terms − Σ_j m_j gᵀ ∂W_j/∂q_i r_j for every joint i."""
    (g,) = model.base
    tau = [total(own) for own in terms]
    for j, U in enumerate(derivatives):
        for i in model.path(j):
            link = model.links[j]
            tau[i] = tau[i] - link.m * dot(g, matvec(U[i], link.r))
    return tau


def _derivatives_by_recursion(model: Model) -> list[tuple[First, Second]]:
    """Derivatives of W_j = W_p A_j by the product rule: those of W_p times A_j, and those that ∂A_j/∂q_j brings."""
    W: list[Array] = []
    found: list[tuple[First, Second]] = []
    for j, p in enumerate(model.parents):
        link: MatrixLink = model.links[j]
        if p < 0:
            W.append(link.A)
            found.append(({j: link.A1}, {(j, j): link.A2}))
            continue
        U, UU = found[p]
        own = {k: matmul(U_k, link.A) for k, U_k in U.items()} | {j: matmul(W[p], link.A1)}
        mixed = {(k, j): matmul(U_k, link.A1) for k, U_k in U.items()}
        old = {kl: matmul(UU_kl, link.A) for kl, UU_kl in UU.items()}
        W.append(matmul(W[p], link.A))
        found.append((own, old | mixed | {(j, j): matmul(W[p], link.A2)}))
    return found


def _derivatives_by_products(model: Model) -> list[tuple[First, Second]]:
    """Derivatives of W_j, each multiplied out from the base: A_1 ⋯ ∂A_k/∂q_k ⋯ A_j."""
    found = []
    for j in range(len(model.links)):
        path = model.path(j)
        U = {k: _product(model, path, (k,)) for k in path}
        UU = {(k, l): _product(model, path, (k, l)) for k in path for l in path if k <= l}
        found.append((U, UU))
    return found


def _product(model: Model, path: list[int], by: tuple[int, ...]) -> Algebra:
    """A_1 ⋯ A_j along a path, differentiated by the given joints."""
    result = None
    for i in path:
        factor = model.links[i][by.count(i)]  # A, ∂A/∂q or ∂²A/∂q²
        result = factor if result is None else matmul(result, factor)
    return result


def _trace(X: Array) -> Scalar:
    return X[..., 0, 0] + X[..., 1, 1] + X[..., 2, 2] + X[..., 3, 3]
