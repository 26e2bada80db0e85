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
from torsor.arrays.typing import Array, ConfigurationVector, JointVector, Scalar
from torsor.border import checked
from torsor.lie import unchecked as lie
from torsor.mechanics.recursions.newton_euler import Wrenches
from torsor.model import Robot
from torsor.papers.formulations.links import (
    DenseLink,
    Model,
    ScrewLink,
    along,
    dense_model,
    joint_forces,
    moving_screw_model,
)


@checked
def park_dense(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by the recursion with every map a 6×6 matrix, O(n) [PBP95, (24)–(27), E001-1…3].

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
    return joint_forces(park_dense_core, dense_model, robot, q, v, a, wrenches)


@checked
def park_structured(
    robot: Robot, q: ConfigurationVector, v: JointVector, a: JointVector, *, wrenches: Wrenches | None = None
) -> JointVector:
    """Joint forces τ by the recursion with (R, p) in place of 6×6 matrices, O(n) [PBP95, (24)–(27), E001-1…3].

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
    return joint_forces(park_structured_core, moving_screw_model, robot, q, v, a, wrenches)


def park_dense_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """The recursion on given 6×6 matrices."""
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


def park_structured_core(model: Model, v: Sequence[Array], a: Sequence[Array]) -> list[Scalar]:
    """The recursion on given poses."""
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
