"""Silver's Lagrangian in ω: the Lagrange equation with angular velocities instead of matrix rates, in fixed axes.

r_i is the centre of mass of link i, z_j the axis of joint j, p_ji = r_i − x_j with x_j a point on that axis
[Sil81, (3.11)–(3.16), E003-6]::

    τ_j = Σ_{i ≥ j} F_i·∂v_i/∂q̇_j + N_i·∂ω_i/∂q̇_j                     (3.12)
    F_i = m_i v̇_i,     N_i = I_i·ω̇_i + ω_i × (I_i·ω_i)                  (3.11)
    ∂v_i/∂q̇_j = z_j × p_ji (+ h z_j if helical)  or  z_j               (3.15)
    ∂ω_i/∂q̇_j = z_j                              or  0                 (3.16)

v̇_i less gravity comes from differentiating (3.13), (3.14), root to leaves: the base accelerates with *minus* gravity (E003-3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from torsor.arrays import cross, dot, matmul, matvec, transpose, zeros
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Matrix3, Rotation, Scalar, Vector3
from torsor.border import checked
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.papers.formulations.links import Model, VectorLink, along, joint_forces, newton_euler_model, total


class Place(NamedTuple):
    """Where a link is, in base axes: its axes, origin, joint, axis of the joint, centre of mass, and I about that."""

    W: Rotation
    o: Vector3
    x: Vector3
    z: Vector3
    r: Vector3
    I: Matrix3


@checked
def silver(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ_j = Σ_i F_i·∂v_i/∂q̇_j + N_i·∂ω_i/∂q̇_j, the Lagrangian in ω, O(n²) [Sil81, (3.11), (3.12), E003-6].

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
    return joint_forces(silver_core, newton_euler_model, robot, q, v, a, wrenches)


def silver_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """(3.12) on given rotations and vectors."""
    places = link_places(model)
    F, N = _forces_and_moments(model, places, v, a)
    tau = []
    for j in range(len(places)):
        terms = []
        for i in model.beyond(j):
            dv, dw = velocity_columns(model, places, i, j)
            terms.append(dot(F[i], dv))
            if dw is not None:
                terms.append(dot(N[i], dw))
        tau.append(total(terms))
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


def _forces_and_moments(
    model: Model, places: Sequence[Place], v: Sequence[Array], a: Sequence[Array]
) -> tuple[list[Vector3], list[Vector3]]:
    """F_i = m v̇_i and N_i of (3.11)."""
    motions: list[tuple[Vector3, Vector3, Vector3]] = []  # ω, ω̇, and the acceleration of the link's point at its joint
    F, N = [], []
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
        F.append(link.m[..., None] * (acc + cross(wd, lever) + cross(w, cross(w, lever))))
        N.append(matvec(place.I, wd) + cross(w, matvec(place.I, w)))
    return F, N
