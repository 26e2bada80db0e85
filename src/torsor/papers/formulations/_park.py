"""Park's recursion (24)–(27), with 6×6 matrices and with rotations and vectors.

All quantities of link i in frame i, X_i = Ad(T_pi)⁻¹, c over the children [PBP95, (22)–(27), E001-1…3]::

    V_i = X_i V_p + S_i q̇_i                                                root to leaves   (24)
    V̇_i = S_i q̈_i + X_i V̇_p + ad(V_i) S_i q̇_i                                                (25)
    F_i = Σ_c X_cᵀ F_c + J_i V̇_i − ad(V_i)ᵀ J_i V_i                         leaves to root   (26)
    τ_i = S_iᵀ F_i                                                                           (27)

Gravity enters as V̇_0 = (0, −g) [LP, E002-7].
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import dot, matvec, transpose
from torsor.arrays.typing import Array, Scalar
from torsor.lie import unchecked as lie
from torsor.papers.formulations.formulation import Published, formulation
from torsor.papers.formulations.links import DenseLink, Model, ScrewLink, along, dense_model, moving_screw_model


@formulation(dense_model, "Lie-group recursion, 6×6", "[PBP95, (24)–(27)]", frames="modified")
def park_dense(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursion with every map a 6×6 matrix, O(n) [PBP95, (24)–(27), E001-1…3].

    The recursion on given 6×6 matrices.
    """
    motions: list[tuple[Array, Array]] = []
    F = []
    for i, p in enumerate(model.parents):
        link: DenseLink = model.links[i]
        V_p, A_p = motions[p] if p >= 0 else model.base
        S_v = along(v[i], link.S)
        V = matvec(link.X, V_p) + S_v
        A = along(a[i], link.S) + matvec(link.X, A_p) + matvec(lie.ad(V), S_v)
        motions.append((V, A))
        F.append(matvec(link.G, A) - matvec(transpose(lie.ad(V)), matvec(link.G, V)))
    for i in range(len(F) - 1, -1, -1):
        if (p := model.parents[i]) >= 0:
            F[p] = F[p] + matvec(transpose(model.links[i].X), F[i])
    return [dot(link.S, F_i) for link, F_i in zip(model.links, F, strict=True)]


@formulation(
    moving_screw_model,
    "Lie-group recursion, (R, p)",
    "[PBP95, (24)–(27)]",
    published=Published((712, 550), ("130n − 68", "101n − 56")),  # Featherstone's own, as [PBP95, §3] quotes them
    frames="modified",
)
def park_structured(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the recursion with (R, p) in place of 6×6 matrices, O(n) [PBP95, (24)–(27), E001-1…3].

    The recursion on given poses.
    """
    motions: list[tuple[Array, Array]] = []
    F = []
    for i, p in enumerate(model.parents):
        link: ScrewLink = model.links[i]
        V_p, A_p = motions[p] if p >= 0 else model.base
        S_v = along(v[i], link.S)
        V = lie.transform_twist_inverse(link.T, V_p) + S_v
        A = along(a[i], link.S) + lie.transform_twist_inverse(link.T, A_p) + lie.bracket(V, S_v)
        motions.append((V, A))
        F.append(lie.apply_inertia(link.G, A) - lie.bracket_dual(V, lie.apply_inertia(link.G, V)))
    for i in range(len(F) - 1, -1, -1):
        if (p := model.parents[i]) >= 0:
            F[p] = F[p] + lie.transform_wrench_inverse(model.links[i].T, F[i])
    return [dot(link.S, F_i) for link, F_i in zip(model.links, F, strict=True)]
