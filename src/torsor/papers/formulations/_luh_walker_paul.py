"""Luh, Walker and Paul: Newton–Euler in vectors, every quantity of link i in its own axes.

z is the joint's axis in the parent's axes (a coordinate axis in Denavit–Hartenberg frames), p the vector from the joint to
the link's origin, s and r the centre of mass from origin and joint, b the joint from the parent's origin in the parent's
axes (zero in such frames), c over the children of i [LWP80; Sil81, §1.3, §3.2, E003-3]::

    ω_i = Rᵀ (ω_p + z q̇)                                                         root to leaves
    ω̇_i = Rᵀ (ω̇_p + z q̈ + ω_p × z q̇)
    v̇_i = Rᵀ (v̇_p + ω̇_p × b + ω_p × (ω_p × b)) + ω̇_i × p + ω_i × (ω_i × p)
    F_i = m (v̇_i + ω̇_i × s + ω_i × (ω_i × s)),     N_i = I ω̇_i + ω_i × I ω_i
    f_i = F_i + Σ_c R_c f_c                                                       leaves to root
    n_i = N_i + r × F_i + Σ_c (R_c n_c + (p + b_c) × R_c f_c)
    τ_i = (Rᵀ z)·n_i

v̇ starts with minus gravity. A joint that slides by s per unit of q adds Rᵀ z s q̈ + 2 ω_i × Rᵀ z s q̇ to v̇_i and (Rᵀ z)·s f_i
to τ_i; one that does not turn has none of the terms with z above [Sil81, (3.13)–(3.16), E003-6].
"""

from __future__ import annotations

from collections.abc import Sequence

from torsor.arrays import cross, dot, matvec, transpose
from torsor.arrays.typing import Array, Scalar, Vector3
from torsor.papers.formulations.formulation import Published, formulation
from torsor.papers.formulations.links import Model, VectorLink, along, newton_euler_model


@formulation(
    newton_euler_model,
    "Newton–Euler in vectors",
    "[LWP80; Sil81, §1.3]",
    published=Published((852, 738), ("150n − 48", "131n − 48")),
)
def luh_walker_paul(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ by the Newton–Euler recursion in vectors, O(n) [LWP80; Sil81, §1.3, E003-3, E003-6].

    The recursion on given rotations and vectors.
    """
    F, N = total_forces(model, v, a)
    f, n = list(F), list(N)
    tau: list[Scalar] = [None] * len(F)
    for i in range(len(F) - 1, -1, -1):
        link: VectorLink = model.links[i]
        n[i] = n[i] + cross(link.r, F[i])
        for k in model.children(i):
            child: VectorLink = model.links[k]
            Rf = matvec(child.R, f[k])
            f[i] = f[i] + Rf
            n[i] = n[i] + matvec(child.R, n[k]) + cross(link.p + child.b, Rf)
        axis = matvec(transpose(link.R), link.z)
        turning = dot(axis, n[i]) if link.turns else None
        if link.slide is not None:
            push = link.slide * dot(axis, f[i])
            turning = push if turning is None else turning + push
        tau[i] = turning
    return tau


def total_forces(model: Model, v: Sequence[Array], a: Sequence[Array]) -> tuple[list[Vector3], list[Vector3]]:
    """F_i and N_i, the total force and the total moment about its centre of mass on every link."""
    motions: list[tuple[Vector3, Vector3, Vector3]] = []
    F, N = [], []
    for i, parent in enumerate(model.parents):
        link: VectorLink = model.links[i]
        w_p, wd_p, vd_p = motions[parent] if parent >= 0 else model.base
        vd_joint = vd_p + cross(wd_p, link.b) + cross(w_p, cross(w_p, link.b))
        w, wd = w_p, wd_p
        if link.turns:
            z_v = along(v[i], link.z)
            w, wd = w_p + z_v, wd_p + along(a[i], link.z) + cross(w_p, z_v)
        if link.slide is not None:  # w_p × z = w × z
            z_v = along(link.slide * v[i], link.z)
            vd_joint = vd_joint + along(link.slide * a[i], link.z) + 2.0 * cross(w_p, z_v)
        R_ip = transpose(link.R)
        w, wd = matvec(R_ip, w), matvec(R_ip, wd)
        vd = matvec(R_ip, vd_joint) + cross(wd, link.p) + cross(w, cross(w, link.p))
        motions.append((w, wd, vd))
        F.append(link.m[..., None] * (vd + cross(wd, link.s) + cross(w, cross(w, link.s))))
        N.append(matvec(link.I, wd) + cross(w, matvec(link.I, w)))
    return F, N
