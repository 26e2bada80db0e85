"""Silver's Lagrangian in ω: the Lagrange equation with angular velocities instead of matrix rates, in fixed axes.

r_i is the centre of mass of link i, z_j the axis of joint j, p_ji = r_i − x_j with x_j a point on that axis
[Sil81, (3.11)–(3.16), E003-6]::

    τ_j = Σ_{i ≥ j} F_i·∂v_i/∂q̇_j + N_i·∂ω_i/∂q̇_j                     (3.12)
    F_i = m_i v̇_i,     N_i = I_i·ω̇_i + ω_i × (I_i·ω_i)                  (3.11)
    ∂v_i/∂q̇_j = z_j × p_ji (+ h z_j if helical)  or  z_j               (3.15)
    ∂ω_i/∂q̇_j = z_j                              or  0                 (3.16)

Iterated from the tip to the base [Sil81, §3.2], the sums over i ≥ j are those of the next joint and one term more, over the
children c of link j in a tree::

    f_j = F_j + Σ_c f_c,     n_j = N_j + p_jj × F_j + Σ_c n_c + (x_c − x_j) × f_c
    τ_j = z_j·n_j (+ h z_j·f_j if helical)  or  z_j·f_j

v̇_i less gravity comes from differentiating (3.13), (3.14), root to leaves: the base accelerates with *minus* gravity (E003-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.arrays import cross, dot, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, Matrix3, Rotation, Scalar, Vector3
from torsor.papers.formulations.formulation import formulation
from torsor.papers.formulations.links import Model, VectorLink, along, newton_euler_model, total


class Place(NamedTuple):
    """Where a link is, in base axes: its axes, origin, joint, axis of the joint, centre of mass, and I about that."""

    W: Rotation
    o: Vector3
    x: Vector3
    z: Vector3
    r: Vector3
    I: Matrix3


class Load(NamedTuple):
    """On a link: force and moment (3.11), p_ii from its joint to its centre of mass, and from its parent's joint to its own."""

    F: Vector3
    N: Vector3
    lever: Vector3
    reach: Vector3


@formulation(newton_euler_model, "Lagrangian in ω", "[Sil81, (3.11)–(3.16)]")
def silver(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces τ_j = Σ_i F_i·∂v_i/∂q̇_j + N_i·∂ω_i/∂q̇_j, the Lagrangian in ω, O(n²) [Sil81, (3.11), (3.12), E003-6].

    (3.12) on given rotations and vectors.
    """
    places = link_places(model)
    on = loads(model, places, v, a)
    tau = []
    for j in range(len(places)):
        terms = []
        for i in model.beyond(j):
            dv, dw = velocity_columns(model, places, i, j)
            terms.append(dot(on[i].F, dv))
            if dw is not None:
                terms.append(dot(on[i].N, dw))
        tau.append(total(terms))
    return tau


@formulation(newton_euler_model, "Lagrangian in ω, tip to base", "[Sil81, §3.2]")
def silver_recursive(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """Joint forces by Silver's own iteration from the tip to the base, the Lagrangian in ω, O(n) [Sil81, §3.2, E003-5, E003-6].

    Forces f_j and moments n_j of all links from j on, in fixed axes.
    """
    places = link_places(model)
    on = loads(model, places, v, a)
    f = [load.F for load in on]
    n = [load.N + cross(load.lever, load.F) for load in on]
    for c in range(len(places) - 1, -1, -1):
        if (j := model.parents[c]) >= 0:
            f[j], n[j] = f[j] + f[c], n[j] + n[c] + cross(on[c].reach, f[c])
    tau = []
    for link, place, f_j, n_j in zip(model.links, places, f, n, strict=True):
        if not link.turns:
            tau.append(dot(along(link.slide, place.z), f_j))
        elif link.slide is None:
            tau.append(dot(place.z, n_j))
        else:
            tau.append(dot(place.z, n_j) + dot(along(link.slide, place.z), f_j))
    return tau


def link_places(model: Model) -> list[Place]:
    """The places of all links in base axes."""
    places: list[Place] = []
    for i, p in enumerate(model.parents):
        link: VectorLink = model.links[i]
        if p < 0:
            W, x, z = link.R, link.b, link.z
        else:
            W_p, o_p = places[p][:2]
            W, x, z = matmul(W_p, link.R), o_p + matvec(W_p, link.b), matvec(W_p, link.z)
        o, r = x + matvec(W, link.p), x + matvec(W, link.r)
        places.append(Place(W, o, x, z, r, matmul(matmul(W, link.I), transpose(W))))
    return places


def velocity_columns(model: Model, places: Sequence[Place], i: int, j: int) -> tuple[Vector3, Vector3 | None]:
    """∂v_i/∂q̇_j and ∂ω_i/∂q̇_j (3.15), (3.16) for a joint j that moves link i; None: zero."""
    link, z = model.links[j], places[j].z
    if not link.turns:
        return along(link.slide, z), None
    dv = cross(z, places[i].r - places[j].x)
    return dv if link.slide is None else dv + along(link.slide, z), z


def loads(model: Model, places: Sequence[Place], v: Sequence[Array], a: Sequence[Array]) -> list[Load]:
    """F_i = m v̇_i and N_i of (3.11), and the levers on the way."""
    motions: list[tuple[Vector3, Vector3, Vector3]] = []  # ω, ω̇, and the acceleration of the link's point at its joint
    found: list[Load] = []
    for i, p in enumerate(model.parents):
        link, place = model.links[i], places[i]
        w_p, wd_p, acc = motions[p] if p >= 0 else model.base
        reach = place.x - (places[p].x if p >= 0 else zeros(3))
        acc = acc + cross(wd_p, reach) + cross(w_p, cross(w_p, reach))
        w, wd = w_p, wd_p
        z_v = along(v[i], place.z)
        if link.turns:
            w, wd = w_p + z_v, wd_p + along(a[i], place.z) + cross(w_p, z_v)  # (3.14), (A.2)
        if link.slide is not None:
            acc = acc + along(link.slide, along(a[i], place.z) + 2.0 * cross(w_p, z_v))
        motions.append((w, wd, acc))
        lever = place.r - place.x
        F = link.m[..., None] * (acc + cross(wd, lever) + cross(w, cross(w, lever)))
        found.append(Load(F, matvec(place.I, wd) + cross(w, matvec(place.I, w)), lever, reach))
    return found
